/* SPDX-License-Identifier: Apache-2.0 */
/* `berm hook-run NAME ARGUMENT...`: called by the dispatcher's scripts. Runs the repository's hook
 * in the sandbox. Takes no options, and nothing from the caller widens the sandbox. Every failure
 * exits with a status that stops git, and prints the reason. */
#include "common/cli/commands.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/githooks/hooks.h"
#include "common/context/inside.h"
#include "common/context/programs.h"
#include "common/cli/session.h"

static const char piece[] = "git-hook";

/* An invisible hook would fail as "not found", which users could mistake for a hook that passed. */
static int refuse_invisible(struct session *session, struct error *err)
{
	const struct context *context = &session->context;
	const char *path = session->self, *canonical;
	struct verdict verdict;

	if (path_resolve(context->fs, &session->arena, path_absolute(&session->arena, context->working_directory, path),
			 &canonical, NULL, NULL, err) < 0)
		return -1;
	verdict = plan_check_path(&session->plan, ACCESS_EXECUTE, canonical, false);
	if (verdict.is_allowed && plan_grant_for(&session->plan, canonical))
		return 0;
	error_set(err, "the hook %s is not visible in the sandbox and was not run", canonical);
	return error_hint(err, "in ~/.config/berm/berm.yml: files: {read: [%s]}", path_parent(&session->arena, canonical));
}

/* Returns the hook's path. Returns NULL if there is no hook to run, with err set on failure. */
static const char *find_hook(struct session *session, const char *name, struct error *err)
{
	struct context_request request = { .has_no_project = true, .is_narrowing = true };
	struct context context;
	const char *directory, *path;
	struct stat info;

	if (context_detect(&session->arena, &request, &context, err) < 0)
		return NULL;
	directory = hooks_own_directory(&session->arena, &context, err);
	if (!directory)
		return NULL;
	path = path_join(&session->arena, directory, name);
	if (stat(path, &info) < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			error_errno(err, errno, "cannot inspect the hook %s", path);
		return NULL;
	}
	if (access(path, X_OK) == 0)
		return path;
	/* Same hint as git's, which prints it only for hooks that it finds itself. */
	fprintf(stderr, "hint: The '%s' hook was ignored because it's not set as executable.\n", path);
	return NULL;
}

static int run_hook(struct session *session, const char *name, int count, char **arguments)
{
	struct error err = { 0 };
	const char *path = find_hook(session, name, &err);
	char **command;

	if (!path)
		return error_is_set(&err) ? report_error(&err) : 0;
	/* Without a slash the path would be looked up in PATH. */
	path = strchr(path, '/') ? path : arena_printf(&session->arena, "./%s", path);
	command = program_command(&session->arena, path, false, count, arguments);
	if (inside_sandbox()) {
		execv(command[0], command);
		error_errno(&err, errno, "cannot execute %s", command[0]);
		return report_error(&err);
	}
	session->is_narrowing = true;
	session->piece = piece;
	session->cache.words = session_narrow_words(&session->arena, piece);
	session->self = command[0];
	session->opened = refuse_invisible;
	return run_command(session, command);
}

int cmd_hook_run(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	int status;

	if (argc < 2 || !hooks_is_name(argv[1])) {
		error_set(&err, "hook-run needs the name of a git hook");
		error_hint(&err, "the scripts of `berm hooks install` call it");
		return report_error(&err);
	}
	status = run_hook(&session, argv[1], argc - 2, argv + 2);
	session_close(&session);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `berm hook-run NAME ARGUMENT...`: what the dispatcher's scripts call. Runs the repository's own hook of that name in the sandbox; no
 * argument is berm's, and nothing of the caller's widens the wall. Whatever goes wrong is a status that makes git stop, with the reason. */
#include "common/cli/commands.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/githooks/include_block.h"
#include "common/githooks/repository_hooks.h"
#include "common/context/programs.h"
#include "common/cli/session.h"

static const char piece[] = "git-hook";

/* A hook that the policy does not show would be "not found", which a user might take for a hook that passed. */
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
	error_set(err, "the hook %s cannot be seen in the sandbox, so it was not run", canonical);
	return error_hint(err, "in ~/.config/berm/berm.yml: files: {read: [%s]}", path_parent(&session->arena, canonical));
}

/* The hook's path; NULL if there is none to run, with err if that is a failure. */
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
			error_errno(err, errno, "cannot look at the hook %s", path);
		return NULL;
	}
	if (access(path, X_OK) == 0)
		return path;
	/* As git has it, which says so only where it looks itself. */
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
	/* The path must have a slash, or it would be looked for in PATH. */
	path = strchr(path, '/') ? path : arena_printf(&session->arena, "./%s", path);
	command = program_command(&session->arena, path, false, count, arguments);
	if (program_is_inside()) {
		execv(command[0], command);
		error_errno(&err, errno, "cannot execute %s", command[0]);
		return report_error(&err);
	}
	session->is_narrowing = true;
	session->piece = piece;
	session->words = session_narrow_words(&session->arena, piece);
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
		error_hint(&err, "it is called by what `berm hooks install` writes");
		return report_error(&err);
	}
	status = run_hook(&session, argv[1], argc - 2, argv + 2);
	session_close(&session);
	return status;
}

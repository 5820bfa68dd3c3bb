/* SPDX-License-Identifier: Apache-2.0 */
/* From options to a resolved plan. Reads policy files and looks at the file system; changes nothing, prints nothing. */
#include "common/session.h"

#include <errno.h>
#include <string.h>

#include "common/policy_file.h"

static const char policy_name[] = "berm.yml";

static int open_context(struct session *session, struct error *err)
{
	const struct options *options = &session->options;
	struct context_request request = {.project = options->project};
	char *text;
	size_t length;

	if (!options->context_file) {
		if (context_detect(&session->arena, &request, &session->context, err) < 0)
			return -1;
		if (!options->os)
			return 0;
		session->context.os = strcmp(options->os, "macos") == 0 ? OS_MACOS : OS_LINUX;
		return 0;
	}
	if (policy_file_read(NULL, &session->arena, options->context_file, &text, &length, err) < 0)
		return -1;
	if (context_parse(&session->arena, options->context_file, text, length, &session->context, err) < 0)
		return -1;
	if (options->os)
		session->context.os = strcmp(options->os, "macos") == 0 ? OS_MACOS : OS_LINUX;
	return 0;
}

/* The path if there is such a file, else NULL. A dangling or planted symlink counts as there: reading it then fails in words. */
static const char *existing(struct session *session, const char *directory)
{
	const char *path = arena_printf(&session->arena, "%s/%s", directory, policy_name);
	struct file_info info;
	if (session->context.fs->inspect(session->context.fs, path, &info) < 0 || info.type == FILE_ABSENT)
		return NULL;
	return path;
}

/* The policy file in use is protected inside, wherever it lies. */
static int protect_policy_file(struct session *session, const char *path, struct error *err)
{
	const struct context *context = &session->context;
	const char *absolute = path_absolute(&session->arena, context->working_directory ? context->working_directory : "/", path);
	const char *canonical;
	struct rule *rule;

	if (path_resolve(filesystem_host(), &session->arena, absolute, &canonical, NULL, NULL, err) < 0)
		return -1;
	rule = arena_push(&session->arena, &session->options.command_line.files.protect);
	*rule = (struct rule){.key = "files.protect", .text = canonical, .layer = LAYER_COMMAND_LINE};
	rule->origin.source = "command line";
	return 0;
}

/* A user's policy that the command could rewrite would be no policy (an agent may have set XDG_CONFIG_HOME). */
static int refuse_writable_policy(struct session *session, const char *path, struct error *err)
{
	const char *canonical;
	struct verdict verdict;
	if (!path)
		return 0;
	if (path_resolve(session->context.fs, &session->arena, path, &canonical, NULL, NULL, err) < 0)
		return -1;
	verdict = plan_check_path(&session->plan, ACCESS_WRITE, canonical, false);
	if (!verdict.is_allowed && !path_is_within(canonical, session->context.project))
		return 0;
	error_set(err, "the user's policy %s lies where the command could write", path);
	return error_hint(err, "move it out of the project, or unset XDG_CONFIG_HOME");
}

int session_open(struct session *session, struct error *err)
{
	struct policy_request request = {.read = policy_file_read, .command_line = &session->options.command_line};
	const struct options *options = &session->options;

	session->diagnostics.arena = &session->arena;
	if (open_context(session, err) < 0)
		return -1;
	if (!options->context_file) {
		request.user_file = existing(session, session->context.config_directory);
		request.project_file = existing(session, session->context.project);
	}
	if (options->policy_file) {
		request.explicit_file = options->policy_file;
		if (protect_policy_file(session, options->policy_file, err) < 0)
			return -1;
	}
	if (policy_load(&session->arena, &request, &session->policy, &session->diagnostics) < 0)
		return -1;
	if (plan_resolve(&session->arena, &session->policy, &session->context, &session->plan, &session->diagnostics) < 0)
		return -1;
	return refuse_writable_policy(session, request.user_file, err);
}

void session_close(struct session *session)
{
	arena_free(&session->arena);
}

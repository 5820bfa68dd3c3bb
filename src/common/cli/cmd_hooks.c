/* SPDX-License-Identifier: Apache-2.0 */
/* `berm hooks`: puts the dispatcher into git's configuration, takes it out, says whether it is in force. Changes nothing but the
 * dispatcher's own directory and one configuration file. */
#include "common/cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/context/context.h"
#include "common/githooks/git.h"
#include "common/githooks/include_block.h"
#include "common/githooks/files.h"
#include "common/githooks/repository_hooks.h"
#include "common/context/install_paths.h"
#include "common/context/programs.h"
#include "common/base/text.h"

enum { STATUS_NOT_IN_FORCE = 1 };

struct hooks_job {
	struct arena arena;
	struct options options;
	struct context context;
	struct install_paths paths;
	struct text out;
};

static int print_help(void)
{
	struct text out = { 0 };
	text_add(&out, "berm hooks install [--repo|--global]     run git hooks in the sandbox\n"
		       "berm hooks uninstall [--repo|--global]   as it was before\n"
		       "berm hooks status                        is it in force here?\n\n"
		       "Each hook of the repository, wherever core.hooksPath has it, then runs behind\n"
		       "the wall, with what git gives it: arguments, stdin, GIT_* variables; its\n"
		       "status is git's.\n\n");
	options_help(COMMAND_HOOKS, &out);
	fputs(out.data, stdout);
	text_free(&out);
	return 0;
}

static const char *in_home(struct hooks_job *job, const char *name)
{
	const char *home = getenv("HOME");
	return path_join(&job->arena, home && home[0] == '/' ? home : job->context.home, name);
}

/* The file that `git config --global` would write. */
static const char *global_file(struct hooks_job *job)
{
	const char *named = getenv("GIT_CONFIG_GLOBAL"), *base = getenv("XDG_CONFIG_HOME");
	const char *usual = in_home(job, ".gitconfig"), *other;
	if (named && named[0])
		return path_absolute(&job->arena, job->context.working_directory, named);
	if (access(usual, F_OK) == 0)
		return usual;
	other = path_join(&job->arena, base && base[0] == '/' ? base : in_home(job, ".config"), "git/config");
	return access(other, F_OK) == 0 ? other : usual;
}

/* The configuration that all worktrees of the repository share; NULL with err outside of one. */
static const char *repository_file(struct hooks_job *job, struct error *err)
{
	static const char *const question[] = { "rev-parse", "--git-common-dir", NULL };
	const char *common = git_ask_line(&job->arena, question, err);
	if (common)
		return path_join(&job->arena, path_absolute(&job->arena, job->context.working_directory, common), "config");
	error_set(err, "%s is in no git repository", job->context.working_directory);
	error_hint(err, "cd into one, or: berm hooks install --global");
	return NULL;
}

static const char *chosen_file(struct hooks_job *job, struct error *err)
{
	return job->options.wants_global ? global_file(job) : repository_file(job, err);
}

static void say(struct hooks_job *job, const char *what, const char *path)
{
	text_add(&job->out, "%s", what);
	text_add_visible(&job->out, path, strlen(path));
	text_add(&job->out, "\n");
}

/* What git itself says of core.hooksPath here, and where that stands. True if it leads to the dispatcher. */
static bool is_in_force(struct hooks_job *job, const char **where)
{
	static const char *const question[] = { "config",      "--null", "--show-origin",  "--includes",
						"--type=path", "--get",	 "core.hooksPath", NULL };
	struct git_answer answer;
	struct error ignored;
	const char *value;

	*where = "core.hooksPath is not set";
	if (git_ask(&job->arena, question, &answer, &ignored) < 0 || answer.status != 0)
		return false;
	/* "file:PATH" NUL "VALUE" NUL */
	value = answer.text + strlen(answer.text) + 1;
	if (value >= answer.text + answer.length)
		return false;
	*where = arena_printf(&job->arena, "core.hooksPath is %s (%s)", text_visible(&job->arena, value),
			      text_visible(&job->arena, answer.text));
	return hooks_is_dispatcher(&job->arena, &job->context, value);
}

static int install(struct hooks_job *job)
{
	struct error err = { 0 };
	const char *file = chosen_file(job, &err), *before, *after, *where;

	if (!file || hooks_read(&job->arena, file, &before, &err) < 0)
		return report_error(&err);
	after = hooks_add(&job->arena, before, hooks_include(&job->arena, job->context.home));
	if (hooks_write_dispatcher(&job->arena, job->context.home, job->paths.program, &err) < 0)
		return report_error(&err);
	if (!before || strcmp(before, after) != 0) {
		if (hooks_replace(&job->arena, file, after, &err) < 0)
			return report_error(&err);
		say(job, "added to ", file);
	} else {
		say(job, "is there already: ", file);
	}
	if (is_in_force(job, &where)) {
		text_add(&job->out, "git hooks run in the sandbox\n");
		return 0;
	}
	if (job->options.wants_global && !repository_file(job, &err)) {
		text_add(&job->out, "git hooks run in the sandbox, where no repository sets core.hooksPath itself\n");
		return 0;
	}
	error_set(&err, "it is not in force in this directory: %s", where);
	if (job->options.wants_global)
		error_hint(&err, "berm hooks install --repo");
	report_error(&err);
	return STATUS_NOT_IN_FORCE;
}

static int uninstall(struct hooks_job *job)
{
	struct error err = { 0 };
	const char *file = chosen_file(job, &err), *before, *after;
	bool is_made = false;

	if (!file || hooks_read(&job->arena, file, &before, &err) < 0)
		return report_error(&err);
	after = before ? hooks_remove(&job->arena, before, &is_made) : NULL;
	if (!after) {
		say(job, "nothing of berm in ", file);
		return 0;
	}
	if (hooks_replace(&job->arena, file, is_made && !after[0] ? NULL : after, &err) < 0)
		return report_error(&err);
	say(job, "taken out of ", file);
	return 0;
}

static void say_file(struct hooks_job *job, const char *title, const char *file)
{
	const char *text;
	struct error err = { 0 };
	bool is_made, is_read = hooks_read(&job->arena, file, &text, &err) == 0;
	bool has_block = is_read && text && hooks_remove(&job->arena, text, &is_made);
	text_add(&job->out, "%-12s%-15s", title, !is_read ? "not readable" : has_block ? "installed" : "not installed");
	say(job, "", file);
}

static void say_own_hooks(struct hooks_job *job)
{
	struct error ignored;
	const char *own = hooks_own_directory(&job->arena, &job->context, &ignored);
	struct text words = { 0 };
	size_t count = 0;
	if (!own)
		return;
	text_add(&words, "%s", "");
	for (size_t i = 0; hooks_names[i]; i++)
		if (access(path_join(&job->arena, own, hooks_names[i]), X_OK) == 0)
			text_add(&words, "%s%s", count++ > 0 ? ", " : "", hooks_names[i]);
	text_add(&words, "%s%s", count > 0 ? " in " : "none in ", text_visible(&job->arena, own));
	text_add(&job->out, "%-12s", "hooks");
	text_add_wrapped(&job->out, 12, words.data);
	text_free(&words);
}

static int status(struct hooks_job *job)
{
	struct error ignored;
	const char *repository = repository_file(job, &ignored), *where, *problem;
	bool in_force = is_in_force(job, &where);

	say_file(job, "global", global_file(job));
	if (repository)
		say_file(job, "repository", repository);
	text_add(&job->out, "%-12s%s\n", "in force", in_force ? "yes: git hooks run in the sandbox" : "no");
	if (!in_force)
		text_add(&job->out, "%-12s%s\n", "", where);
	if (repository)
		say_own_hooks(job);
	if (!in_force)
		return STATUS_NOT_IN_FORCE;
	hooks_check_dispatcher(&job->arena, job->context.home, job->paths.program, &problem);
	if (!problem)
		return 0;
	say(job, "damaged, or of another berm (berm hooks install writes it anew): ", problem);
	return STATUS_NOT_IN_FORCE;
}

static int dispatch(struct hooks_job *job, const char *word)
{
	struct context_request request = { .has_no_project = true };
	const struct options *options = &job->options;
	struct error err = { 0 };
	bool wants_uninstall = options->wants_uninstall || (word && strcmp(word, "uninstall") == 0);

	if (options->wants_help)
		return print_help();
	if (options->wants_global && options->wants_repository) {
		error_set(&err, "--global and --repo do not go together");
		return report_error(&err);
	}
	if (program_is_inside()) {
		error_set(&err, "git's configuration is not changed from inside the sandbox");
		return report_error(&err);
	}
	if (context_detect(&job->arena, &request, &job->context, &err) < 0)
		return report_error(&err);
	install_paths_find(&job->arena, job->context.fs, job->context.executable, &job->paths);
	if (wants_uninstall)
		return uninstall(job);
	if (word && strcmp(word, "install") == 0)
		return install(job);
	if (!word || strcmp(word, "status") == 0)
		return status(job);
	error_set(&err, "berm hooks %s: no such word", word);
	error_hint(&err, "install, uninstall or status");
	return report_error(&err);
}

int cmd_hooks(int argc, char **argv)
{
	struct hooks_job job = { 0 };
	struct error err = { 0 };
	const char *word;
	int result;

	if (words_parse(&job.arena, COMMAND_HOOKS, argc, argv, &job.options, &word, &err) < 0)
		result = report_error(&err);
	else
		result = dispatch(&job, word);
	if (job.out.data)
		fputs(job.out.data, stdout);
	text_free(&job.out);
	arena_free(&job.arena);
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `berm hooks`: adds the dispatcher to git's configuration, removes it, and reports whether it is
 * in force. Changes only the dispatcher's directory and one configuration file. */
#include "common/cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/context/context.h"
#include "common/githooks/hooks.h"
#include "common/context/install_paths.h"
#include "common/base/text.h"
#include "common/cli/table.h"

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
	return report_help("berm hooks install [--repo|--global]     run git hooks in the sandbox\n"
			   "berm hooks uninstall [--repo|--global]   restore the configuration\n"
			   "berm hooks status                        report whether it is in force here\n\n"
			   "Every hook of the repository, also with core.hooksPath, then runs in the sandbox\n"
			   "with the arguments, stdin and GIT_* variables that git passes. git gets its exit\n"
			   "status.\n",
			   COMMAND_HOOKS, "Exit status: 0 done, or in force; 1 not in force; 125 an error.\n");
}

static const char *in_home(struct hooks_job *job, const char *name)
{
	const char *home = getenv("HOME");
	return path_join(&job->arena, home && home[0] == '/' ? home : job->context.home, name);
}

/* Returns the file that `git config --global` would write. */
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

static const char *chosen_file(struct hooks_job *job, struct error *err)
{
	return job->options.wants_global ? global_file(job) : hooks_repository_config(&job->arena, &job->context, err);
}

static void add_line(struct hooks_job *job, const char *what, const char *path)
{
	text_add(&job->out, "%s", what);
	text_add_visible(&job->out, path, strlen(path));
	text_add(&job->out, "\n");
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
		add_line(job, "added to ", file);
	} else {
		add_line(job, "already in ", file);
	}
	if (hooks_are_in_force(&job->arena, &job->context, &where)) {
		text_add(&job->out, "git hooks run in the sandbox\n");
		return 0;
	}
	if (job->options.wants_global && !hooks_repository_config(&job->arena, &job->context, &err)) {
		text_add(&job->out, "git hooks run in the sandbox, except where a repository sets core.hooksPath\n");
		return 0;
	}
	error_set(&err, "not in force in this directory: %s", where);
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
		add_line(job, "no block of berm in ", file);
		return 0;
	}
	if (hooks_replace(&job->arena, file, is_made && !after[0] ? NULL : after, &err) < 0)
		return report_error(&err);
	add_line(job, "removed from ", file);
	return 0;
}

static void add_file(struct hooks_job *job, struct table *table, const char *title, const char *file)
{
	const char *text;
	struct error err = { 0 };
	bool is_made, is_read = hooks_read(&job->arena, file, &text, &err) == 0;
	bool has_block = is_read && text && hooks_remove(&job->arena, text, &is_made);
	const char *cells[TABLE_COLUMNS_MAX] = { title,
						 !is_read    ? "unreadable"
						 : has_block ? "installed"
							     : "not installed",
						 file };
	table_add(table, !is_read ? MARK_BAD : has_block ? MARK_GOOD : MARK_NONE, cells);
}

enum { TITLE_COLUMNS = 12 };

static void print_own_hooks(struct hooks_job *job)
{
	struct error ignored;
	const char *own = hooks_own_directory(&job->arena, &job->context, &ignored), *names = "";
	if (!own)
		return;
	for (size_t i = 0; hooks_names[i]; i++)
		if (access(path_join(&job->arena, own, hooks_names[i]), X_OK) == 0)
			names = arena_printf(&job->arena, "%s%s%s", names, names[0] ? ", " : "", hooks_names[i]);
	report_item(MARK_NONE, "hooks       ",
		    arena_printf(&job->arena, "%s in %s", names[0] ? names : "none", text_visible(&job->arena, own)));
}

static int status(struct hooks_job *job)
{
	struct table table = { .arena = &job->arena,
			       .titles = { "git config", "state", "file" },
			       .marked = 1,
			       .home = job->context.home,
			       .is_verbose = job->options.is_verbose };
	struct error ignored;
	const char *repository = hooks_repository_config(&job->arena, &job->context, &ignored), *where, *problem;
	bool in_force = hooks_are_in_force(&job->arena, &job->context, &where);

	add_file(job, &table, "global", global_file(job));
	if (repository)
		add_file(job, &table, "repository", repository);
	table_print(&table);
	report_item(in_force ? MARK_GOOD : MARK_BAD, "in force    ", in_force ? "yes: git hooks run in the sandbox" : "no");
	if (!in_force)
		report_detail(TITLE_COLUMNS, where);
	if (repository)
		print_own_hooks(job);
	if (!in_force)
		return STATUS_NOT_IN_FORCE;
	hooks_check_dispatcher(&job->arena, job->context.home, job->paths.program, &problem);
	if (!problem)
		return 0;
	add_line(job, "damaged, or of another berm (repair: berm hooks install): ", problem);
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
		error_set(&err, "--global and --repo exclude each other");
		return report_error(&err);
	}
	if (arguments_refuse_inside("git's configuration cannot be changed from inside", &err) < 0 ||
	    context_detect(&job->arena, &request, &job->context, &err) < 0)
		return report_error(&err);
	install_paths_find(&job->arena, job->context.fs, job->context.executable, &job->paths);
	if (wants_uninstall)
		return uninstall(job);
	if (word && strcmp(word, "install") == 0)
		return install(job);
	if (!word || strcmp(word, "status") == 0)
		return status(job);
	error_set(&err, "unknown: `berm hooks %s`", word);
	error_hint(&err, "install, uninstall or status");
	return report_error(&err);
}

int cmd_hooks(int argc, char **argv)
{
	struct hooks_job job = { 0 };
	struct error err = { 0 };
	const char *word;
	int result;

	if (arguments_parse(&job.arena, COMMAND_HOOKS, argc, argv, &job.options, &word, &err) < 0)
		result = report_error(&err);
	else
		result = dispatch(&job, word);
	if (job.out.data)
		fputs(job.out.data, stdout);
	text_free(&job.out);
	arena_free(&job.arena);
	return result;
}

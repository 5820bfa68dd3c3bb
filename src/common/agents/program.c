/* SPDX-License-Identifier: Apache-2.0 */
/* The program of an agent. It gets the user's credentials, so it must be one that no command can
 * write or replace. It is started by its canonical path, with the canonical path of its
 * interpreter: neither PATH nor a link is looked up inside. */
#include "common/agents/agents.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"

enum { LINE_MAX_BYTES = 256, WORDS_MAX = 8 };

/* After PATH and the places of the agent. */
static const char *const common_places[] = { "/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", NULL };

struct search {
	struct arena *arena;
	const struct context *context;
	const char *name;
	struct text tried; /* the directories */
};

static const char *shown(const struct search *search, const char *path)
{
	const char *home = search->context->home;
	if (path_is_within(path, home))
		return arena_printf(search->arena, "~%s", path + strlen(home));
	return path;
}

static bool is_program(struct search *search, const char *directory, const char **found)
{
	const char *path = path_join(search->arena, directory, search->name);
	struct file_info info;
	struct error ignored;
	const char *canonical;

	if (!search->tried.data || !strstr(search->tried.data, shown(search, directory)))
		text_add(&search->tried, "%s%s", search->tried.length > 0 ? ", " : "", shown(search, directory));
	if (path_resolve(search->context->fs, search->arena, path, &canonical, NULL, &info, &ignored) < 0 ||
	    info.type != FILE_REGULAR || access(path, X_OK) < 0)
		return false;
	*found = path;
	return true;
}

/* Relative entries of PATH are skipped: they mean another directory for each caller. */
static bool is_in_path(struct search *search, const char **found)
{
	const char *at = context_variable(search->context, "PATH");
	while (at && *at) {
		size_t length = strcspn(at, ":");
		if (at[0] == '/' &&
		    is_program(search, path_absolute(search->arena, "/", arena_copy_n(search->arena, at, length)), found))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

static bool is_installed(struct search *search, const char *const *places, const char **found)
{
	if (is_in_path(search, found))
		return true;
	for (size_t i = 0; places && places[i]; i++)
		if (is_program(search, path_join(search->arena, search->context->home, places[i]), found))
			return true;
	for (size_t i = 0; common_places[i]; i++)
		if (is_program(search, common_places[i], found))
			return true;
	return false;
}

/* Reads the words after `#!`. Returns their number; 0 for a binary. */
static size_t read_first_line(struct arena *arena, const char *path, const char *words[WORDS_MAX])
{
	struct stat info;
	autoclose int fd = private_file_open(AT_FDCWD, path, 0, &info);
	char line[LINE_MAX_BYTES + 1] = { 0 };
	size_t count = 0;
	char *rest, *word;

	if (fd < 0 || text_read(fd, line, LINE_MAX_BYTES) < 2 || line[0] != '#' || line[1] != '!')
		return 0;
	line[strcspn(line, "\r\n")] = '\0';
	rest = line + 2;
	while (count < WORDS_MAX && (word = strsep(&rest, " \t")))
		if (*word)
			words[count++] = arena_copy(arena, word);
	return count;
}

/* `#!/usr/bin/env node` looks up node in PATH: here, not inside. */
static int find_interpreter(struct arena *arena, const struct context *context, struct agent_program *program,
			    struct error *err)
{
	const char *words[WORDS_MAX] = { 0 }, *found = NULL, **arguments;
	size_t count = read_first_line(arena, program->path, words), first = 0;

	if (count == 0)
		return 0;
	found = words[0];
	if (strcmp(path_base_name(words[0]), "env") == 0) {
		struct search search = { .arena = arena, .context = context };
		first = count > 2 && strcmp(words[1], "-S") == 0 ? 2 : 1;
		search.name = words[first];
		if (first >= count || words[first][0] == '-' || strchr(words[first], '/') || strchr(words[first], '=') ||
		    !is_installed(&search, NULL, &found)) {
			error_set(err, "%s needs %s, which is not installed", program->path,
				  first < count ? words[first] : "an interpreter");
			error_hint(err, "searched: %s", search.tried.data ? search.tried.data : "nothing");
			text_free(&search.tried);
			return -1;
		}
		text_free(&search.tried);
	}
	if (path_resolve(context->fs, arena, found, &program->interpreter, NULL, NULL, err) < 0)
		return -1;
	arguments = arena_alloc(arena, (WORDS_MAX + 1) * sizeof *arguments);
	for (size_t i = first + 1, k = 0; i < count; i++)
		arguments[k++] = words[i];
	program->interpreter_arguments = arguments;
	return 0;
}

int agent_program_find(struct arena *arena, const struct agent *agent, const struct context *context,
		       struct agent_program *program, struct error *err)
{
	struct search search = { .arena = arena, .context = context, .name = agent->name };
	*program = (struct agent_program){ 0 };
	if (!is_installed(&search, agent->places, &program->found)) {
		error_set(err, "%s is not installed: there is no program %s", agent->title, agent->name);
		error_hint(err, "searched: %s", search.tried.data);
		error_hint(err, "put its directory into PATH; another program: berm agent -- COMMAND");
		text_free(&search.tried);
		return -1;
	}
	text_free(&search.tried);
	if (path_resolve(context->fs, arena, program->found, &program->path, &program->links, NULL, err) < 0)
		return -1;
	return find_interpreter(arena, context, program, err);
}

static int refuse_writable(const char *path, struct error *err)
{
	error_set(err, "%s is in a directory that commands inside can write, and the agent gets your credentials", path);
	return error_hint(err, "install it elsewhere, for example with `npm install -g`, and start it from there");
}

/* The program's own grant is read-only, but an earlier command wrote what is below a writable one.
 * Paths below the home that no grant shows are in the private home, which commands write too. */
static int judge_file(const struct plan *plan, const char *path, struct error *err)
{
	if (plan_is_below_writable(plan, path))
		return refuse_writable(path, err);
	if (plan_grant_for(plan, path) && plan_check_path(plan, ACCESS_EXECUTE, path, false).is_allowed)
		return 0;
	error_set(err, "the policy hides %s, the program of the agent", path);
	return error_hint(err, "`berm check exec %s` names the rule", path);
}

/* Where PATH or a link leads through a writable directory, the next run might start another
 * program. */
int agent_program_judge(const struct agent_program *program, const struct plan *plan, struct error *err)
{
	if (plan_is_below_writable(plan, program->found))
		return refuse_writable(program->found, err);
	for (size_t i = 0; i < program->links.count; i++)
		if (plan_is_below_writable(plan, program->links.items[i].path))
			return refuse_writable(program->links.items[i].path, err);
	if (judge_file(plan, program->path, err) < 0)
		return -1;
	return program->interpreter ? judge_file(plan, program->interpreter, err) : 0;
}

char *const *agent_program_command(struct arena *arena, const char *const *own, const struct agent_program *program, int count,
				   char **arguments)
{
	struct {
		char **items;
		size_t count;
	} words = { 0 };
	if (program->interpreter)
		*arena_push(arena, &words) = arena_copy(arena, program->interpreter);
	for (size_t i = 0; program->interpreter && program->interpreter_arguments[i]; i++)
		*arena_push(arena, &words) = arena_copy(arena, program->interpreter_arguments[i]);
	*arena_push(arena, &words) = arena_copy(arena, program->path);
	for (size_t i = 0; own[i]; i++)
		*arena_push(arena, &words) = arena_copy(arena, own[i]);
	for (int i = 0; i < count; i++)
		*arena_push(arena, &words) = arguments[i];
	*arena_push(arena, &words) = NULL;
	return words.items;
}

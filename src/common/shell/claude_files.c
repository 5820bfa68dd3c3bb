/* SPDX-License-Identifier: Apache-2.0 */
/* The names follow from the user and the project's path alone: no variable of the caller can choose
 * another directory. A directory counts only if it is the user's own and no symlink leads to it. */
#include "common/shell/claude_files.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"
#include "common/context/context.h"

/* Of saved results: each session has a directory. The newest are those that a model asks for. */
enum { SESSIONS_MAX = 8 };

static bool is_own_directory(const char *path, struct stat *info)
{
	return lstat(path, info) == 0 && S_ISDIR(info->st_mode) && info->st_uid == getuid() &&
	       !(info->st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Claude Code names a workspace by its path with a dash for each other character. */
static const char *slug_of(struct arena *arena, const char *path)
{
	char *slug = arena_copy(arena, path);
	for (char *at = slug; *at; at++)
		if (!is_letter_or_digit(*at))
			*at = '-';
	return slug;
}

static void add(struct arena *arena, struct policy *policy, const char *path)
{
	*arena_push(arena, &policy->files.read) = (struct rule){
		.key = "files.read", .text = path, .origin = { .source = "files of Claude Code" }, .layer = LAYER_BASE
	};
}

struct session_results {
	const char *path;
	time_t time;
};

/* Keeps the newest directories. */
static void keep(struct session_results results[SESSIONS_MAX], const char *path, time_t time)
{
	size_t oldest = 0;
	for (size_t i = 1; i < SESSIONS_MAX; i++)
		if (results[i].time < results[oldest].time)
			oldest = i;
	if (!results[oldest].path || results[oldest].time < time)
		results[oldest] = (struct session_results){ path, time };
}

static bool is_plain_name(const char *name)
{
	for (const char *at = name; *at; at++)
		if (!is_letter_or_digit(*at) && *at != '-')
			return false;
	return name[0] != '\0';
}

static void add_results(struct arena *arena, struct policy *policy, const char *directory)
{
	struct session_results results[SESSIONS_MAX] = { { 0 } };
	struct stat info;
	autoclosedir DIR *list = is_own_directory(directory, &info) ? opendir(directory) : NULL;
	const struct dirent *entry;

	while (list && (entry = readdir(list))) {
		const char *path;
		if (!is_plain_name(entry->d_name))
			continue;
		path = arena_printf(arena, "%s/%s/tool-results", directory, entry->d_name);
		if (is_own_directory(path_parent(arena, path), &info) && is_own_directory(path, &info))
			keep(results, path, info.st_mtime);
	}
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (results[i].path)
			add(arena, policy, results[i].path);
}

void claude_files_rules(struct arena *arena, struct policy *policy)
{
	const char *top = arena_printf(arena, "/tmp/claude-%u", (unsigned)getuid()), *directory;
	struct context_request request = { 0 };
	struct context context;
	struct error ignored = { 0 };
	struct stat info;

	if (!is_own_directory(top, &info) || context_detect(arena, &request, &context, &ignored) < 0 || !context.project)
		return;
	/* A session may have been started in a directory of the project. */
	directory = context.working_directory ? context.working_directory : context.project;
	for (;; directory = path_parent(arena, directory)) {
		const char *slug = slug_of(arena, directory), *output = path_join(arena, top, slug);
		if (is_own_directory(output, &info))
			add(arena, policy, output);
		add_results(arena, policy, arena_printf(arena, "%s/.claude/projects/%s", context.home, slug));
		if (strcmp(directory, context.project) == 0 || !path_is_within(directory, context.project))
			return;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* See prefix.h. What comes from inside is never more than the answer to one question; where it does not fit, it is dropped. */
#include "common/shell/claude_prefix.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/context/programs.h"
#include "common/base/text.h"

static const char question[] = " && pwd -P >| ";
static const char source[] = "source ";

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("/._+-", c));
}

/* A word of the shell that means itself: plain characters, or all of it in single quotes. The length that it takes, 0 if it is none. */
static size_t take_word(struct arena *arena, const char *at, const char **word)
{
	size_t length = 0;
	if (at[0] == '\'') {
		length = strcspn(at + 1, "'\n");
		*word = arena_copy_n(arena, at + 1, length);
		return at[length + 1] == '\'' ? length + 2 : 0;
	}
	while (is_plain(at[length]))
		length++;
	*word = arena_copy_n(arena, at, length);
	return length;
}

/* claude-1a2b-cwd */
static bool is_report_name(const char *name)
{
	static const char head[] = "claude-", tail[] = "-cwd";
	size_t length = strlen(name), inner;
	if (length <= strlen(head) + strlen(tail) || !text_starts_with(name, head) || !text_ends_with(name, tail))
		return false;
	inner = length - strlen(head) - strlen(tail);
	return strspn(name + strlen(head), "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == inner;
}

static const char *find_last(const char *string, const char *part)
{
	const char *found = NULL;
	for (const char *at = strstr(string, part); at; at = strstr(at + 1, part))
		found = at;
	return found;
}

void prefix_parse(struct arena *arena, const char *string, struct prefix *prefix)
{
	const char *at = find_last(string, question), *word;
	size_t length;

	*prefix = (struct prefix){ 0 };
	if (!at)
		return;
	at += strlen(question);
	length = take_word(arena, at, &word);
	if (length == 0 || at[length] != '\0' || strlen(word) >= PATH_MAX || !path_is_absolute_clean(word) ||
	    !is_report_name(path_base_name(word)))
		return;
	prefix->file = word;
	prefix->file_offset = (size_t)(at - string);
	if (!text_starts_with(string, source))
		return;
	length = take_word(arena, string + strlen(source), &word);
	if (length == 0 || !path_is_absolute_clean(word) || !strstr(word, "/shell-snapshots/snapshot-") ||
	    !text_starts_with(string + strlen(source) + length, " && "))
		return;
	prefix->snapshot = word;
	prefix->snapshot_length = strlen(source) + length;
}

static bool is_visible(const struct plan *plan, const char *path)
{
	const char *canonical;
	struct error ignored;
	return path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, NULL, &ignored) == 0 &&
	       plan_check_path(plan, ACCESS_READ, canonical, false).is_allowed && plan_grant_for(plan, canonical);
}

const char *prefix_rewrite(const struct plan *plan, const char *string, const struct prefix *prefix, int descriptor)
{
	size_t from = prefix->snapshot && !is_visible(plan, prefix->snapshot) ? prefix->snapshot_length : 0;
	return arena_printf(plan->arena, "%s%.*s/dev/fd/%d", from ? ":" : "", (int)(prefix->file_offset - from), string + from,
			    descriptor);
}

const char *prefix_judge(const struct plan *plan, const char *bytes, size_t length)
{
	const struct context *context = &plan->context;
	const char *path, *canonical;
	struct file_info info;
	struct error ignored;

	if (length < 2 || length > PATH_MAX || bytes[length - 1] != '\n' || memchr(bytes, '\0', length) ||
	    text_has_control(bytes, length - 1))
		return NULL;
	path = arena_copy_n(plan->arena, bytes, length - 1);
	if (!path_is_absolute_clean(path) || !path_is_within(path, context->project))
		return NULL;
	/* Through a symlink it would be another directory by the time the host goes there. */
	if (path_resolve(context->fs, plan->arena, path, &canonical, NULL, &info, &ignored) < 0 ||
	    info.type != FILE_DIRECTORY || strcmp(canonical, path) != 0)
		return NULL;
	return path;
}

/* The system's /tmp or one of the user's own: nobody else can have put a name there for us to fall for. */
static int open_directory(struct arena *arena, const char *path, struct error *err)
{
	const char *canonical;
	struct stat info;
	autoclose int fd = -1;

	if (path_resolve(filesystem_host(), arena, path, &canonical, NULL, NULL, err) < 0)
		return -1;
	fd = open(canonical, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot open %s", path);
	if (!(info.st_uid == getuid() && !(info.st_mode & (S_IWGRP | S_IWOTH))) &&
	    !(program_is_roots(&info) && (info.st_mode & S_ISVTX)))
		return error_set(err, "%s is neither yours alone nor a /tmp", path);
	return steal_fd(&fd);
}

static int open_old(int directory, const char *name, struct error *err)
{
	autoclose int fd = openat(directory, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot open %s", name);
	if (!S_ISREG(info.st_mode) || info.st_uid != getuid() || info.st_nlink != 1 || info.st_size > PATH_MAX)
		return error_set(err, "%s is there already and not such a file", name);
	if (ftruncate(fd, 0) < 0)
		return error_errno(err, errno, "cannot empty %s", name);
	return steal_fd(&fd);
}

int prefix_deliver(struct arena *arena, const struct prefix *prefix, const char *directory, struct error *err)
{
	const char *line = arena_printf(arena, "%s\n", directory), *name = path_base_name(prefix->file);
	autoclose int place = open_directory(arena, path_parent(arena, prefix->file), err);
	autoclose int fd = -1;

	if (place < 0)
		return -1;
	fd = openat(place, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		fd = open_old(place, name, err);
	else if (fd < 0)
		error_errno(err, errno, "cannot create %s", prefix->file);
	if (fd < 0)
		return -1;
	if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		return error_errno(err, errno, "cannot write %s", prefix->file);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Parses strings and writes one file. Data from the sandbox is only ever one directory path;
 * anything else is dropped. */
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

static const char separator[] = " && ";
static const char question[] = "pwd -P >| ";
static const char source[] = "source ";
static const char evaluation[] = "eval ";
static const char input[] = " < /dev/null"; /* newer versions redirect eval itself */
static const char builtin[] = "\\builtin ", group[] = "{ \\builtin "; /* parts before the command, without a snapshot */
static const char tolerant[] = " 2>/dev/null || true"; /* newer versions tolerate a missing snapshot */

static const char snapshot_document[] = PLAN_DOCUMENTS "/shell-snapshot";
enum { SNAPSHOT_MAX = 1 << 20 };

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("/._+-", c));
}

/* Takes a shell word that needs no expansion: plain characters, or one single-quoted string.
 * Returns its length, or 0. */
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

/* Returns the end of the escape, quoted text or single character at `at`, or NULL if it is not
 * complete. */
static const char *skip_unit(const char *at)
{
	bool has_escapes = at[0] == '"' || (at[0] == '$' && at[1] == '\'');
	char quote = at[0] == '"' ? '"' : '\'';

	if (at[0] == '\\')
		return at[1] ? at + 2 : NULL;
	if (at[0] != '\'' && !has_escapes)
		return at + 1;
	for (at += at[0] == '$' ? 2 : 1; *at && *at != quote; at++)
		if (has_escapes && at[0] == '\\' && at[1])
			at++;
	return *at ? at + 1 : NULL;
}

/* True for words without an unquoted operator or expansion: the command is data of `eval`. */
static bool is_quoted(const char *at, const char *end)
{
	while (at && at < end) {
		if (strchr(";&|<>()`\n", *at) || (at[0] == '$' && at[1] != '\''))
			return false;
		at = skip_unit(at);
	}
	return at == end;
}

/* The parts of a string between its unquoted separators. */
struct parts {
	size_t first_length;
	const char *command, *command_end; /* the part before the last, or NULL */
	const char *last;
};

static bool split(const char *string, struct parts *parts)
{
	*parts = (struct parts){ .last = string };
	for (const char *at = string; *at;) {
		if (text_starts_with(at, separator)) {
			if (!parts->command)
				parts->first_length = (size_t)(at - string);
			parts->command = parts->last;
			parts->command_end = at;
			parts->last = at += strlen(separator);
		} else if (!(at = skip_unit(at))) {
			return false;
		}
	}
	return parts->command != NULL;
}

/* Matches names like claude-1a2b-cwd. */
static bool is_report_name(const char *name)
{
	static const char head[] = "claude-", tail[] = "-cwd";
	size_t length = strlen(name), inner;
	if (length <= strlen(head) + strlen(tail) || !text_starts_with(name, head) || !text_ends_with(name, tail))
		return false;
	inner = length - strlen(head) - strlen(tail);
	return strspn(name + strlen(head), "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == inner;
}

/* The host writes its file into /tmp, or directly into the directory that it names. */
static bool is_report_directory(struct arena *arena, const char *directory, const char *named)
{
	size_t length = named ? strlen(named) : 0;
	while (length > 1 && named[length - 1] == '/')
		length--;
	return strcmp(directory, "/tmp") == 0 || (length > 1 && strcmp(directory, arena_copy_n(arena, named, length)) == 0);
}

static bool is_report_file(struct arena *arena, const char *path, const char *named)
{
	for (const char *at = path; *at; at++)
		if (!is_plain(*at))
			return false;
	return strlen(path) < PATH_MAX && path_is_absolute_clean(path) && is_report_name(path_base_name(path)) &&
	       is_report_directory(arena, path_parent(arena, path), named);
}

/* Parses "source SNAPSHOT", the first part of a string that does not begin with its command. */
static bool parse_snapshot(struct arena *arena, const char *string, size_t part_length, struct claude_prefix *prefix)
{
	const char *word;
	size_t length;

	if (!text_starts_with(string, source))
		return false;
	length = take_word(arena, string + strlen(source), &word);
	if (length == 0 || !path_is_absolute_clean(word) || !strstr(word, "/shell-snapshots/snapshot-"))
		return false;
	prefix->snapshot = word;
	prefix->snapshot_length = strlen(source) + length;
	if (part_length == prefix->snapshot_length + strlen(tolerant) &&
	    text_starts_with(string + prefix->snapshot_length, tolerant))
		prefix->snapshot_length = part_length;
	return prefix->snapshot_length == part_length;
}

void claude_prefix_parse(struct arena *arena, const char *string, const char *named, struct claude_prefix *prefix)
{
	const char *at, *word;
	struct parts parts;
	size_t length;

	*prefix = (struct claude_prefix){ 0 };
	if (!split(string, &parts) || !text_starts_with(parts.last, question) || !text_starts_with(parts.command, evaluation))
		return;
	if ((size_t)(parts.command_end - parts.command) > strlen(evaluation) + strlen(input) &&
	    memcmp(parts.command_end - strlen(input), input, strlen(input)) == 0)
		parts.command_end -= strlen(input);
	if (!is_quoted(parts.command + strlen(evaluation), parts.command_end))
		return;
	at = parts.last + strlen(question);
	length = take_word(arena, at, &word);
	if (length == 0 || at[length] != '\0' || !is_report_file(arena, word, named))
		return;
	if (parts.command != string && !text_starts_with(string, builtin) && !text_starts_with(string, group) &&
	    !parse_snapshot(arena, string, parts.first_length, prefix)) {
		*prefix = (struct claude_prefix){ 0 };
		return;
	}
	prefix->file = word;
	prefix->file_offset = (size_t)(at - string);
}

static bool is_visible(const struct plan *plan, const char *path)
{
	const char *canonical;
	struct error ignored;
	return path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, NULL, &ignored) == 0 &&
	       plan_check_path(plan, ACCESS_READ, canonical, false).is_allowed && plan_grant_for(plan, canonical);
}

/* Returns the content of the snapshot, or NULL if it is not a file of the user's own. */
static const char *read_snapshot(struct arena *arena, const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;
	char *text;
	ssize_t length;

	if (fd < 0 || fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_uid != getuid() || info.st_size >= SNAPSHOT_MAX)
		return NULL;
	text = arena_alloc(arena, SNAPSHOT_MAX);
	length = read(fd, text, SNAPSHOT_MAX - 1);
	return length == info.st_size && !memchr(text, '\0', (size_t)length) ? text : NULL;
}

/* Returns the part that replaces "source SNAPSHOT". */
static const char *copy_snapshot(struct plan *plan, const char *path)
{
	const char *text = plan_has_mounts(plan) ? read_snapshot(plan->arena, path) : NULL;
	if (!text)
		return ":";
	*arena_push(plan->arena, &plan->added) = (struct plan_document){ snapshot_document, text };
	return arena_printf(plan->arena, "%s%s%s", source, snapshot_document, tolerant);
}

const char *claude_prefix_rewrite(struct plan *plan, const char *string, const struct claude_prefix *prefix, int descriptor)
{
	size_t from = prefix->snapshot && !is_visible(plan, prefix->snapshot) ? prefix->snapshot_length : 0;
	const char *head = from ? copy_snapshot(plan, prefix->snapshot) : "";

	if (!prefix->snapshot && prefix->functions && access(prefix->functions, R_OK) == 0)
		head = arena_printf(plan->arena, "%s%s", copy_snapshot(plan, prefix->functions), separator);
	return arena_printf(plan->arena, "%s%.*s/dev/fd/%d", head, (int)(prefix->file_offset - from), string + from,
			    descriptor);
}

const char *claude_prefix_judge(const struct plan *plan, const char *bytes, size_t length)
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
	/* A symlink could lead elsewhere by the time the host enters it. */
	if (path_resolve(context->fs, plan->arena, path, &canonical, NULL, &info, &ignored) < 0 ||
	    info.type != FILE_DIRECTORY || strcmp(canonical, path) != 0)
		return NULL;
	return path;
}

/* Opens a directory in which no other user can plant a name: the system's /tmp, or one that only
 * the user can write. */
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
		return error_set(err, "%s is neither a private directory of yours nor /tmp", path);
	return steal_fd(&fd);
}

static int open_old(int directory, const char *name, struct error *err)
{
	autoclose int fd = openat(directory, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot open %s", name);
	if (!S_ISREG(info.st_mode) || info.st_uid != getuid() || info.st_nlink != 1 || info.st_size > PATH_MAX)
		return error_set(err, "%s exists and is not a small file of yours", name);
	if (ftruncate(fd, 0) < 0)
		return error_errno(err, errno, "cannot empty %s", name);
	return steal_fd(&fd);
}

int claude_prefix_deliver(struct arena *arena, const struct claude_prefix *prefix, const char *directory, struct error *err)
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

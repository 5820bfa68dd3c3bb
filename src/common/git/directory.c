/* SPDX-License-Identifier: Apache-2.0 */
/* git's own tests, as in its setup.c: a git directory has a HEAD, and has `objects` and `refs`, or
 * a commondir that leads to a directory that has them. git follows one `.git` and one commondir,
 * never a chain of them, so there is no loop. Where git would look more closely (into HEAD, at the
 * owner), this accepts more than git. */
#include "common/git/directory.h"

#include <string.h>

#include "common/base/text.h"

enum { POINTER_BYTES = 8192 }; /* a path of PATH_MAX and its label */

static const char label_gitdir[] = "gitdir: ";

const char *git_directory_read_pointer(const struct filesystem *fs, struct arena *arena, const char *file, const char *label)
{
	char *text;
	size_t length;
	if (fs->read_small(fs, arena, file, POINTER_BYTES, &text, &length) < 0 || !text_starts_with(text, label))
		return NULL;
	length = strlen(text);
	while (length > 0 && strchr("\r\n", text[length - 1]))
		text[--length] = '\0';
	text += strlen(label);
	return text[0] ? path_absolute(arena, path_parent(arena, file), text) : NULL;
}

static bool has(const struct filesystem *fs, struct arena *arena, const char *directory, const char *name)
{
	struct file_info info;
	return fs->inspect(fs, path_join(arena, directory, name), &info) == 0 && info.type != FILE_ABSENT;
}

static const char *resolve_directory(const struct filesystem *fs, struct arena *arena, const char *path,
				     struct path_links *links)
{
	const char *canonical;
	struct file_info info;
	struct error ignored;
	if (path_resolve(fs, arena, path, &canonical, links, &info, &ignored) < 0 || info.type != FILE_DIRECTORY)
		return NULL;
	return canonical;
}

/* True for <git directory>/modules/<path>. */
static bool is_module(const struct filesystem *fs, struct arena *arena, const char *path)
{
	for (const char *at = path; (at = strstr(at, "/modules/")); at++)
		if (has(fs, arena, arena_copy_n(arena, path, (size_t)(at - path)), "HEAD"))
			return true;
	return false;
}

static enum git_kind kind_of(const struct filesystem *fs, struct arena *arena, const char *path, bool has_commondir)
{
	if (has_commondir && strcmp(path_base_name(path_parent(arena, path)), "worktrees") == 0)
		return GIT_WORKTREE;
	return is_module(fs, arena, path) ? GIT_MODULE : GIT_BARE;
}

static bool has_parts(const struct filesystem *fs, struct arena *arena, const char *common)
{
	return has(fs, arena, common, "objects") && has(fs, arena, common, "refs");
}

bool git_directory_examine(const struct filesystem *fs, struct arena *arena, const char *path, struct git_directory *found)
{
	const char *target;
	*found = (struct git_directory){ .path = path, .common = path, .kind = GIT_BARE };
	/* The usual case first: it costs two calls. */
	if (has(fs, arena, path, "objects") && has(fs, arena, path, "refs") && !has(fs, arena, path, "commondir")) {
		found->kind = kind_of(fs, arena, path, false);
		return true;
	}
	target = git_directory_read_pointer(fs, arena, path_join(arena, path, "commondir"), "");
	if (!target || !(found->common = resolve_directory(fs, arena, target, &found->links)) ||
	    !has_parts(fs, arena, found->common))
		return false;
	found->kind = kind_of(fs, arena, path, true);
	return true;
}

/* Puts the links on the way to a git directory before those that were found from there on. */
static void add_way(struct arena *arena, struct git_directory *found, struct path_links way)
{
	for (size_t i = 0; i < found->links.count; i++)
		*(struct path_link *)arena_push(arena, &way) = found->links.items[i];
	found->links = way;
	if (found->kind == GIT_BARE)
		found->kind = GIT_MAIN;
}

/* Follows the text of a `.git` file. */
static bool follow_file(const struct filesystem *fs, struct arena *arena, const char *file, struct git_directory *found)
{
	const char *target = git_directory_read_pointer(fs, arena, file, label_gitdir);
	struct path_links links = { 0 };
	const char *directory = target ? resolve_directory(fs, arena, target, &links) : NULL;
	if (!directory || !has(fs, arena, directory, "HEAD") || !git_directory_examine(fs, arena, directory, found))
		return false;
	add_way(arena, found, links);
	return true;
}

/* A `.git` directory needs no look at its parts, but its commondir would hold. */
static bool follow_directory(const struct filesystem *fs, struct arena *arena, const char *directory,
			     struct git_directory *found)
{
	const char *target = git_directory_read_pointer(fs, arena, path_join(arena, directory, "commondir"), "");
	const char *common;
	*found = (struct git_directory){ .path = directory, .common = directory, .kind = GIT_MAIN };
	common = target ? resolve_directory(fs, arena, target, &found->links) : NULL;
	if (common)
		found->common = common;
	return true;
}

/* A symlink to a directory or to a `.git` file. The links on the way to it come first. */
static bool follow_symlink(const struct filesystem *fs, struct arena *arena, const char *link, struct git_directory *found)
{
	struct path_links links = { 0 };
	struct file_info info;
	struct error ignored;
	const char *target;
	if (path_resolve(fs, arena, link, &target, &links, &info, &ignored) < 0)
		return false;
	if (info.type == FILE_REGULAR ? !follow_file(fs, arena, target, found)
				      : info.type != FILE_DIRECTORY || !has(fs, arena, target, "HEAD") ||
						!git_directory_examine(fs, arena, target, found))
		return false;
	add_way(arena, found, links);
	return true;
}

bool git_directory_follow(const struct filesystem *fs, struct arena *arena, const char *dot_git, enum file_type type,
			  struct git_directory *found)
{
	switch (type) {
	case FILE_DIRECTORY:
		return follow_directory(fs, arena, dot_git, found);
	case FILE_REGULAR:
		return follow_file(fs, arena, dot_git, found);
	case FILE_SYMLINK:
		return follow_symlink(fs, arena, dot_git, found);
	case FILE_ABSENT:
	case FILE_SOCKET:
	case FILE_DEVICE:
	case FILE_FIFO:
	case FILE_UNKNOWN:
		break;
	}
	return false;
}

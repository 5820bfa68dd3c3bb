/* SPDX-License-Identifier: Apache-2.0 */
/* path_resolve is the only code in berm that follows a symlink to make a decision. It inspects each
 * component by itself and never lets the C library follow a symlink. */
#include "common/fs/filesystem.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "common/base/cleanup.h"

enum {
	RESOLVED_MAX = 4096, /* PATH_MAX of Linux; a mount or a profile cannot name longer paths */
	LINKS_MAX = 40, /* the kernel's limit */
};

bool path_is_absolute_clean(const char *path)
{
	if (path[0] != '/')
		return false;
	if (path[1] == '\0')
		return true;
	for (const char *part = path; *part; part += 1 + strcspn(part + 1, "/")) {
		const char *name = part + 1;
		size_t length = strcspn(name, "/");
		if (length == 0 || (length == 1 && name[0] == '.') || (length == 2 && name[0] == '.' && name[1] == '.'))
			return false;
	}
	return true;
}

bool path_is_within(const char *path, const char *directory)
{
	size_t length = strlen(directory);
	if (length == 1 && directory[0] == '/')
		return path[0] == '/';
	return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

const char *path_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

char *path_parent(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return arena_copy(arena, "/");
	return arena_copy_n(arena, path, (size_t)(slash - path));
}

/* Joins with one slash. `out` has room for both, the slash and a NUL. */
static void write_joined(char *out, const char *directory, size_t length, const char *name, size_t name_length)
{
	memcpy(out, directory, length);
	if (length == 0 || directory[length - 1] != '/')
		out[length++] = '/';
	memcpy(out + length, name, name_length + 1);
}

char *path_join(struct arena *arena, const char *directory, const char *name)
{
	size_t length = strlen(directory), name_length = strlen(name);
	char *path = arena_alloc(arena, length + name_length + 2);
	write_joined(path, directory, length, name, name_length);
	return path;
}

bool path_join_into(char *out, size_t size, const char *directory, const char *name)
{
	size_t length = strlen(directory), name_length = strlen(name);
	if (length + name_length + 2 > size)
		return false;
	write_joined(out, directory, length, name, name_length);
	return true;
}

char *path_absolute(struct arena *arena, const char *base, const char *path)
{
	const char *from = path[0] == '/' ? path : path_join(arena, base, path);
	char *result = arena_alloc(arena, strlen(from) + 2);
	size_t used = 0;

	while (*from) {
		size_t length;
		from += strspn(from, "/");
		length = strcspn(from, "/");
		if (length > 0 && !(length == 1 && from[0] == '.')) {
			result[used++] = '/';
			memcpy(result + used, from, length);
			used += length;
		}
		from += length;
	}
	if (used == 0)
		result[used++] = '/';
	result[used] = '\0';
	return result;
}

/* The state of path_resolve: `done` is canonical, `rest` is not resolved yet. */
struct resolution {
	const struct filesystem *fs;
	struct arena *arena;
	const char *asked; /* the given path, for messages */
	char done[RESOLVED_MAX];
	size_t length;
	const char *rest;
	struct path_links *links;
	unsigned links_followed;
	struct file_info info; /* of done */
	struct error *err;
};

static int append_component(struct resolution *at, const char *name, size_t length)
{
	if (length > NAME_MAX || at->length + 1 + length >= sizeof at->done)
		return error_errno(at->err, ENAMETOOLONG, "cannot resolve %s", at->asked);
	at->done[at->length++] = '/';
	memcpy(at->done + at->length, name, length);
	at->length += length;
	at->done[at->length] = '\0';
	return 0;
}

static void remove_component(struct resolution *at)
{
	while (at->length > 0 && at->done[--at->length] != '/')
		;
	at->done[at->length] = '\0';
}

/* Removes the link from `done` and puts its target before `rest`. */
static int follow_link(struct resolution *at)
{
	char *target, *joined;
	size_t target_length, rest_length = strlen(at->rest);

	if (++at->links_followed > LINKS_MAX)
		return error_errno(at->err, ELOOP, "cannot resolve %s", at->asked);
	if (at->fs->read_link(at->fs, at->arena, at->done, &target) < 0)
		return error_errno(at->err, errno, "cannot read the link %s", at->done);
	target_length = strlen(target);
	if (target_length == 0 || target_length + rest_length >= 2 * (size_t)RESOLVED_MAX)
		return error_errno(at->err, target_length ? ENAMETOOLONG : ENOENT, "cannot resolve %s", at->asked);
	if (at->links) {
		struct path_link *link = arena_push(at->arena, at->links);
		link->path = arena_copy(at->arena, at->done);
		link->target = target;
	}
	joined = arena_alloc(at->arena, target_length + rest_length + 1);
	memcpy(joined, target, target_length);
	memcpy(joined + target_length, at->rest, rest_length + 1);
	at->rest = joined;
	remove_component(at);
	if (target[0] == '/') {
		at->length = 0;
		at->done[0] = '\0';
	}
	at->info = (struct file_info){ .type = FILE_DIRECTORY };
	return 0;
}

/* Appends the part that is absent or cannot be inspected as it was given. Refuses `..` in it: its
 * meaning depends on what will be created there. */
static int keep_rest(struct resolution *at)
{
	while (*at->rest) {
		const char *name;
		size_t length;
		at->rest += strspn(at->rest, "/");
		name = at->rest;
		length = strcspn(name, "/");
		at->rest += length;
		if (length == 0 || (length == 1 && name[0] == '.'))
			continue;
		if (length == 2 && name[0] == '.' && name[1] == '.')
			return error_errno(at->err, ENOENT, "cannot resolve %s: `..` after a missing directory", at->asked);
		if (append_component(at, name, length) < 0)
			return -1;
	}
	return 0;
}

/* `..` of the root is the root, as in the kernel. */
static int step_up(struct resolution *at)
{
	remove_component(at);
	at->info = (struct file_info){ .type = FILE_DIRECTORY };
	return 0;
}

/* Resolves one component. Returns 1 if it does not exist. */
static int step_down(struct resolution *at, const char *name, size_t length)
{
	if (append_component(at, name, length) < 0)
		return -1;
	at->info = (struct file_info){ 0 };
	if (at->fs->inspect(at->fs, at->done, &at->info) < 0) {
		if (errno != EACCES && errno != EPERM)
			return error_errno(at->err, errno, "cannot resolve %s", at->asked);
		at->info.type = FILE_UNKNOWN;
	}
	if (at->info.type == FILE_ABSENT || at->info.type == FILE_UNKNOWN)
		return 1;
	if (at->info.type == FILE_SYMLINK)
		return follow_link(at);
	if (at->info.type != FILE_DIRECTORY && at->rest[0] == '/')
		return error_errno(at->err, ENOTDIR, "cannot resolve %s: %s", at->asked, at->done);
	return 0;
}

static int resolve_all(struct resolution *at)
{
	while (*at->rest) {
		const char *name;
		size_t length;
		int step = 0;
		at->rest += strspn(at->rest, "/");
		name = at->rest;
		length = strcspn(name, "/");
		at->rest += length;
		if (length == 2 && name[0] == '.' && name[1] == '.')
			step = step_up(at);
		else if (length > 0 && !(length == 1 && name[0] == '.'))
			step = step_down(at, name, length);
		if (step < 0)
			return -1;
		if (step > 0)
			return keep_rest(at);
	}
	return 0;
}

int path_resolve(const struct filesystem *fs, struct arena *arena, const char *absolute, const char **canonical,
		 struct path_links *links, struct file_info *info, struct error *err)
{
	uninitialised struct resolution at;
	const char *result;

	if (absolute[0] != '/')
		return error_set(err, "not an absolute path: %s", absolute);
	/* One by one: `done` is large, and a scan resolves thousands of paths. */
	at.fs = fs;
	at.arena = arena;
	at.asked = at.rest = absolute;
	at.done[0] = '\0';
	at.length = 0;
	at.links = links;
	at.links_followed = 0;
	at.info = (struct file_info){ .type = FILE_DIRECTORY };
	at.err = err;
	if (resolve_all(&at) < 0)
		return -1;
	result = arena_copy(arena, at.length ? at.done : "/");
	if (info) {
		/* After `..`, and for the root, the result has not been inspected yet. */
		if (at.info.type == FILE_DIRECTORY && at.info.inode == 0 && fs->inspect(fs, result, &at.info) < 0)
			return error_errno(err, errno, "cannot inspect %s", result);
		*info = at.info;
	}
	*canonical = result;
	return 0;
}

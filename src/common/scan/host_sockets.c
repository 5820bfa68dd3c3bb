/* SPDX-License-Identifier: Apache-2.0 */
/* Hides sockets of the host where nothing is searched: in trees of software and in directories of
 * files.prune. A read-only mount does not stop connect(2). The kernel's list has the path of each
 * bound socket as its owner spelled it. A path is hidden if it is in a grant, is a socket now and
 * is not named by `sockets`.
 *
 * Not found: a socket that was renamed after it was bound, one that was bound by a relative path
 * from a directory that is not granted itself, and those of other network namespaces. */
#include "common/scan/internal.h"

#include <string.h>

enum { DIRECTORY_SLOTS = 256, RECENT_MAX = 64 };

/* A directory in which a socket was bound, or one above it. A list of hundreds of sockets has few
 * of them, so each is resolved once. */
struct socket_directory {
	const char *path; /* as it was bound */
	const char *canonical; /* NULL: cannot be resolved */
	bool is_granted;
};

struct socket_search {
	struct scan *scan;
	struct socket_directory directories[DIRECTORY_SLOTS]; /* by the hash of the path */
	size_t first; /* the first match of this search in scan->masked */
};

/* FNV-1a */
static struct socket_directory *slot_of(struct socket_search *search, const char *path, size_t length)
{
	uint32_t hash = UINT32_C(2166136261);
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)path[i]) * UINT32_C(16777619);
	return &search->directories[(hash ^ hash >> 16) % DIRECTORY_SLOTS];
}

/* Resolves with all symlinks and `..`. Returns NULL if that fails. */
static const char *resolve_fully(const struct plan *plan, const char *path)
{
	const char *canonical;
	struct error ignored;
	if (path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, NULL, &ignored) < 0)
		return NULL;
	return canonical;
}

static struct socket_directory resolve(struct socket_search *search, const char *path, size_t length);

/* A directory whose parent is known costs one call. */
static const char *resolve_in_parent(struct socket_search *search, const char *path)
{
	const struct plan *plan = search->scan->plan;
	const struct filesystem *fs = plan->context.fs;
	const char *name = path_base_name(path), *full;
	size_t parent_length = (size_t)(name - path) > 1 ? (size_t)(name - path) - 1 : 1;
	struct socket_directory parent = resolve(search, path, parent_length);
	struct file_info info;
	if (!parent.canonical)
		return NULL;
	full = path_join(plan->arena, parent.canonical, name);
	if (fs->inspect(fs, full, &info) < 0)
		return NULL;
	if (info.type == FILE_SYMLINK)
		return resolve_fully(plan, full);
	return info.type == FILE_DIRECTORY ? full : NULL;
}

static struct socket_directory resolve(struct socket_search *search, const char *path, size_t length)
{
	const struct plan *plan = search->scan->plan;
	struct socket_directory *slot = slot_of(search, path, length), found = { 0 };
	if (slot->path && strncmp(slot->path, path, length) == 0 && slot->path[length] == '\0')
		return *slot;
	found.path = arena_copy_n(plan->arena, path, length);
	if (length == 1)
		found.canonical = "/";
	else if (path_is_absolute_clean(found.path))
		found.canonical = resolve_in_parent(search, found.path);
	else
		found.canonical = resolve_fully(plan, path_absolute(plan->arena, "/", found.path));
	found.is_granted = found.canonical && plan_grant_for(plan, found.canonical);
	*slot = found;
	return found;
}

/* True if the path was recorded lately: a list may have it more than once. */
static bool is_recorded(const struct socket_search *search, const char *path)
{
	const struct scan_matches *masked = &search->scan->masked;
	size_t count = masked->count;
	for (size_t i = count; i-- > search->first && count - i <= RECENT_MAX;)
		if (strcmp(masked->items[i].path, path) == 0)
			return true;
	return false;
}

/* Takes an absolute path. bind(2) does not follow a symlink in the last component. */
static void hide(struct socket_search *search, const char *path)
{
	const struct plan *plan = search->scan->plan;
	const struct filesystem *fs = plan->context.fs;
	const char *name = path_base_name(path);
	size_t length = (size_t)(name - path) > 1 ? (size_t)(name - path) - 1 : 1;
	struct socket_directory directory;
	struct file_info info;

	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	directory = resolve(search, path, length);
	if (!directory.is_granted)
		return;
	path = path_join(plan->arena, directory.canonical, name);
	if (scan_is_named_socket(plan, path) || is_recorded(search, path) || fs->inspect(fs, path, &info) < 0 ||
	    info.type != FILE_SOCKET)
		return;
	scan_record(search->scan, &search->scan->masked, path, FILE_SOCKET, &rule_host_socket);
}

/* The directory from which a relative path was bound is not known. Daemons of a project are started
 * in it. */
static void hide_relative(struct socket_search *search, const char *path)
{
	const struct plan *plan = search->scan->plan;
	if (plan->context.working_directory)
		hide(search, path_absolute(plan->arena, plan->context.working_directory, path));
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].type == FILE_DIRECTORY)
			hide(search, path_absolute(plan->arena, plan->grants.items[i].path, path));
}

static void visit(void *self, const char *path)
{
	if (path[0] == '/')
		hide(self, path);
	else
		hide_relative(self, path);
}

void scan_hide_sockets(struct scan *scan)
{
	const struct plan *plan = scan->plan;
	const struct filesystem *fs = plan->context.fs;
	struct socket_search search = { .scan = scan, .first = scan->masked.count };
	struct error err = { 0 };
	/* Without mounts nothing can be hidden: there the filter and Landlock refuse sockets. */
	if (!fs->list_sockets || !plan_has_mounts(plan))
		return;
	if (fs->list_sockets(fs, visit, &search, &err) < 0)
		scan->results->unlisted_sockets = arena_copy(plan->arena, err.message);
}

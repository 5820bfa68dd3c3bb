/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of the new root: directories, empty files and symlinks, which are the mount points. It
 * contains nothing of the host but names. */
#include "linux/view/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/sha256.h"

int view_make_in(int parent, const char *name, bool is_directory)
{
	int result = is_directory ? mkdirat(parent, name, 0755) : mknodat(parent, name, S_IFREG | 0644, 0);
	return result < 0 && errno != EEXIST ? -1 : 0;
}

int view_make(int root, const char *path, bool is_directory)
{
	char copy[PATH_MAX];
	size_t length = strlen(path);

	/* The parents nearly always exist. */
	if (view_make_in(root, path + 1, is_directory) == 0)
		return 0;
	if (errno != ENOENT || length >= sizeof copy) {
		errno = errno == ENOENT ? ENAMETOOLONG : errno;
		return -1;
	}
	memcpy(copy, path, length + 1);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (view_make_in(root, copy + 1, true) < 0)
			return -1;
		*slash = '/';
	}
	return view_make_in(root, path + 1, is_directory);
}

/* Creates a symlink such as /bin -> usr/bin that no mount contains. */
static int make_link(int root, struct arena *arena, const char *path, const char *target, struct error *err)
{
	const char *slash = strrchr(path, '/');
	if (slash != path && view_make(root, arena_copy_n(arena, path, (size_t)(slash - path)), true) < 0)
		return error_errno(err, errno, "cannot create the directory of %s", path);
	if (symlinkat(target, root, path + 1) < 0 && errno != EEXIST)
		return error_errno(err, errno, "cannot create the link %s", path);
	return 0;
}

bool view_needs_var_tmp(const struct plan *plan)
{
	return !view_has_grant_at(plan, "/var/tmp") && !view_has_grant_at(plan, "/var");
}

static int make_links(int root, const struct plan *plan, const struct view_entries *entries, struct error *err)
{
	const struct path_links *links = &plan->links;
	for (size_t i = 0; i < links->count; i++)
		if (!view_around(entries, links->items[i].path, entries->count) &&
		    make_link(root, plan->arena, links->items[i].path, links->items[i].target, err) < 0)
			return -1;
	if (!view_needs_var_tmp(plan) || view_around(entries, "/var/tmp", entries->count))
		return 0;
	return make_link(root, plan->arena, "/var/tmp", "../tmp", err);
}

int root_layout_make(int root, const struct plan *plan, bool has_terminal, struct error *err)
{
	struct view_entries entries;
	view_list(plan, NULL, &entries);
	for (size_t i = 0; i < entries.count; i++) {
		const struct view_entry *entry = &entries.items[i];
		if (!view_around(&entries, entry->path, i) && view_make(root, entry->path, entry->is_directory) < 0)
			return error_errno(err, errno, "cannot create a mount point for %s", entry->path);
	}
	if (make_links(root, plan, &entries, err) < 0)
		return -1;
	if (view_make(root, "/proc", true) < 0 || view_make(root, PLAN_DOCUMENTS, true) < 0)
		return error_errno(err, errno, "cannot create the mount points of the new root");
	return view_devices_make(root, plan, has_terminal, err);
}

static void add(struct sha256 *hash, const char *text)
{
	sha256_add(hash, text, strlen(text) + 1);
}

void root_layout_name(const struct plan *plan, char name[VIEW_SHAPE_HEX])
{
	char hex[SHA256_HEX + 1];
	struct view_entries entries;
	struct sha256 hash;

	view_list(plan, NULL, &entries);
	sha256_start(&hash);
	add(&hash, "shape 1");
	for (size_t i = 0; i < entries.count; i++) {
		add(&hash, entries.items[i].is_directory ? "directory" : "file");
		add(&hash, entries.items[i].path);
	}
	for (size_t i = 0; i < plan->links.count; i++) {
		add(&hash, plan->links.items[i].path);
		add(&hash, plan->links.items[i].target);
	}
	add(&hash, view_needs_var_tmp(plan) ? "/var/tmp" : "");
	for (size_t i = 0; i < plan->devices.count; i++)
		add(&hash, plan->devices.items[i].value);
	sha256_finish_hex(&hash, hex);
	memcpy(name, hex, VIEW_SHAPE_HEX);
}

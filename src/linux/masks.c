/* SPDX-License-Identifier: Apache-2.0 */
/* Denied, protected and pinned paths, as mounts on what exists now.
 *
 * denied: an empty, mode-000, read-only file or directory lies over it (EACCES). protected: a read-only copy of itself. pinned: a
 * plain copy of itself, because a mount point cannot be renamed or removed, so that no ancestor of the two above can be moved
 * aside and replaced. Targets are opened without following symlinks; a path that changed since the scan ends the launch. */
#include "linux/view_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "linux/syscalls.h"
#include "linux/tree.h"

/* Mask sources lie on the root's tmpfs: a source on the targets' own mount makes the kernel's work quadratic. */
static const char mask_file[] = "/.denied-file", mask_directory[] = "/.denied-directory";

enum cover { COVER_PIN, COVER_LOCK, COVER_MASK };

struct sources {
	int file, directory;
};

struct step {
	const char *path;
	enum cover cover;
};

static int changed(const char *path, struct error *err)
{
	error_set(err, "%s changed while the sandbox was being set up", path);
	return error_hint(err, "something else is renaming files there; run the command again");
}

static int cover_with_copy(int target, bool is_read_only)
{
	autoclose int tree = tree_clone(target, true);
	if (tree < 0)
		return -1;
	if (is_read_only && tree_set(tree, ATTR_RDONLY, true) < 0)
		return -1;
	return tree_attach(tree, target);
}

static int cover_with_mask(int target, const struct sources *sources)
{
	autoclose int tree = -1;
	struct stat info;
	if (fstat(target, &info) < 0)
		return -1;
	tree = tree_clone(S_ISDIR(info.st_mode) ? sources->directory : sources->file, false);
	if (tree < 0)
		return -1;
	return tree_attach(tree, target);
}

static int apply_step(int root, const struct step *step, const struct sources *sources, struct error *err)
{
	autoclose int target = tree_open(root, step->path);
	int result;
	if (target < 0 && errno == ENOENT)
		return 0; /* gone since the scan: nothing to hide */
	if (target < 0 && (errno == ELOOP || errno == ENOTDIR))
		return changed(step->path, err);
	if (target < 0 && errno == EACCES)
		return 0; /* below a directory that this user may not enter, or that is masked already */
	if (target < 0)
		return error_errno(err, errno, "cannot open %s", step->path);
	if (step->cover == COVER_MASK)
		result = cover_with_mask(target, sources);
	else
		result = cover_with_copy(target, step->cover == COVER_LOCK);
	if (result < 0)
		return error_errno(err, errno, "cannot %s %s", step->cover == COVER_MASK ? "hide" : "protect", step->path);
	return 0;
}

/* Three sorted lists, walked as one: a parent always before what lies below it, or its copy would cover the mounts inside. */
static int apply_all(int root, const struct plan *plan, const struct sources *sources, struct error *err)
{
	const struct plan_matches *lists[] = { &plan->pinned, &plan->locked, &plan->masked };
	size_t at[3] = { 0 };
	for (;;) {
		int next = -1;
		for (int i = 0; i < 3; i++) {
			if (at[i] == lists[i]->count)
				continue;
			if (next < 0 || strcmp(lists[i]->items[at[i]].path, lists[next]->items[at[next]].path) < 0)
				next = i;
		}
		if (next < 0)
			return 0;
		struct step step = { .path = lists[next]->items[at[next]++].path, .cover = (enum cover)next };
		if (apply_step(root, &step, sources, err) < 0)
			return -1;
	}
}

/* The copies inherit the root's read-only flag, so not even the owner of the mask can chmod it. */
static int set_root_writable(int root, bool is_writable)
{
	struct mount_attributes change = { .set = is_writable ? 0 : ATTR_RDONLY, .clear = is_writable ? ATTR_RDONLY : 0 };
	return sys_mount_setattr(root, "", AT_EMPTY_PATH, &change);
}

int masks_apply(int root, const struct plan *plan, struct error *err)
{
	autoclose int file = -1, directory = -1;
	struct sources sources;

	file = view_skeleton(root, mask_file, false);
	directory = view_skeleton(root, mask_directory, true);
	if (file < 0 || directory < 0)
		return error_errno(err, errno, "cannot make the masks");
	if (fchmodat(root, mask_file + 1, 0, 0) < 0 || fchmodat(root, mask_directory + 1, 0, 0) < 0)
		return error_errno(err, errno, "cannot close the masks");
	if (set_root_writable(root, false) < 0)
		return error_errno(err, errno, "cannot make the root read-only");
	sources = (struct sources){ .file = file, .directory = directory };
	if (apply_all(root, plan, &sources, err) < 0)
		return -1;
	if (set_root_writable(root, true) < 0 || unlinkat(root, mask_file + 1, 0) < 0 ||
	    unlinkat(root, mask_directory + 1, AT_REMOVEDIR) < 0 || set_root_writable(root, false) < 0)
		return error_errno(err, errno, "cannot put the masks away");
	return 0;
}

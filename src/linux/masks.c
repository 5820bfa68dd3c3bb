/* SPDX-License-Identifier: Apache-2.0 */
/* Denied, protected and pinned paths, as mounts on what exists now.
 *
 * denied: a mode-000, read-only file or directory lies over it (EACCES); a file has the size and the time of what it hides (and no
 * content), so that git takes a tracked one for unchanged without opening it. protected: a read-only copy of itself; of a
 * submodule's configuration, one that git can live with (masks_git.c). pinned: a plain copy of itself, because a mount point
 * cannot be renamed or removed, so that no ancestor of the two above can be moved aside and replaced; a symlink too, which can be
 * mounted on if it is opened itself. Targets are opened without following symlinks; a path that changed since the scan ends the
 * launch. */
#include "linux/view_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "linux/syscalls.h"
#include "linux/tree.h"

/* Mask sources lie on a tmpfs of the view's own: a source on the targets' own mount makes the kernel's work quadratic. They are removed
 * once they are in place (what has no name cannot be mounted); the mounts keep them. */
static const char mask_directory[] = ".denied", mask_file[] = ".denied-file";

struct masks {
	int root, own;
	const struct plan *plan;
	bool has_directory; /* mask_directory was made */
};

enum cover { COVER_PIN, COVER_LOCK, COVER_MASK };

struct step {
	const char *path;
	enum file_type type;
	enum cover cover;
};

static int changed(const char *path, struct error *err)
{
	error_set(err, "%s changed while the sandbox was being set up", path);
	err->number = EAGAIN; /* a new scan may find it settled */
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

/* That tmpfs is writable for the moment that this takes; the copy must not be, or the owner of the mask could chmod it. */
static int cover_with(int own, const char *name, int target)
{
	autoclose int tree = sys_open_tree(own, name, TREE_CLONE | AT_SYMLINK_NOFOLLOW);
	if (tree < 0 || tree_set(tree, ATTR_RDONLY, false) < 0)
		return -1;
	return tree_attach(tree, target);
}

static int cover_with_file(int own, int target)
{
	return cover_with(own, mask_file, target) < 0 ? -1 : unlinkat(own, mask_file, 0);
}

static int make_file(int own, mode_t mode)
{
	return openat(own, mask_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

static int cover_with_directory(struct masks *masks, int target)
{
	if (!masks->has_directory && mkdirat(masks->own, mask_directory, 0) < 0)
		return -1;
	masks->has_directory = true;
	return cover_with(masks->own, mask_directory, target);
}

static int cover_with_mask(struct masks *masks, int target)
{
	autoclose int file = -1;
	struct stat hidden;
	if (fstat(target, &hidden) < 0)
		return -1;
	if (S_ISDIR(hidden.st_mode))
		return cover_with_directory(masks, target);
	file = make_file(masks->own, 0);
	/* A size that tmpfs cannot have is not worth failing for. */
	if (file < 0 || (ftruncate(file, hidden.st_size) < 0 && errno != EFBIG) ||
	    futimens(file, (const struct timespec[]){ hidden.st_atim, hidden.st_mtim }) < 0)
		return -1;
	return cover_with_file(masks->own, target);
}

static int cover_with_text(int own, int target, const char *text)
{
	autoclose int file = make_file(own, 0444);
	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(file, 0444) < 0)
		return -1;
	return cover_with_file(own, target);
}

static int cover_with_lock(const struct masks *masks, int target, const char *path)
{
	const char *text = masks_submodule_config(masks->root, masks->plan->arena, path);
	return text ? cover_with_text(masks->own, target, text) : cover_with_copy(target, true);
}

/* A symlink is only ever pinned: it is opened itself, and must still be one. */
static int open_target(int root, const struct step *step)
{
	autoclose int link = -1;
	struct stat info;
	if (step->type != FILE_SYMLINK)
		return tree_open(root, step->path);
	link = sys_openat2(root, step->path + 1, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (link < 0 || fstat(link, &info) < 0)
		return -1;
	if (!S_ISLNK(info.st_mode)) {
		errno = ELOOP;
		return -1;
	}
	return steal_fd(&link);
}

static int apply_step(struct masks *masks, const struct step *step, struct error *err)
{
	autoclose int target = open_target(masks->root, step);
	int result;
	/* Gone since the scan, and perhaps there again under another name. */
	if (target < 0 && (errno == ENOENT || errno == ELOOP || errno == ENOTDIR))
		return changed(step->path, err);
	if (target < 0 && errno == EACCES)
		return 0; /* below a directory that this user may not enter, or that is masked already */
	if (target < 0)
		return error_errno(err, errno, "cannot open %s", step->path);
	if (step->cover == COVER_MASK)
		result = cover_with_mask(masks, target);
	else if (step->cover == COVER_LOCK)
		result = cover_with_lock(masks, target, step->path);
	else
		result = cover_with_copy(target, false);
	if (result < 0)
		return error_errno(err, errno, "cannot %s %s", step->cover == COVER_MASK ? "hide" : "protect", step->path);
	return 0;
}

/* Three sorted lists, walked as one: a parent always before what lies below it, or its copy would cover the mounts inside. */
static int apply_all(struct masks *masks, struct error *err)
{
	const struct plan *plan = masks->plan;
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
		const struct plan_match *match = &lists[next]->items[at[next]++];
		struct step step = { .path = match->path, .type = match->type, .cover = (enum cover)next };
		if (apply_step(masks, &step, err) < 0)
			return -1;
	}
}

int masks_apply(int root, int own, const struct plan *plan, struct error *err)
{
	struct masks masks = { root, own, plan, false };
	if (apply_all(&masks, err) < 0)
		return -1;
	if (masks.has_directory && unlinkat(own, mask_directory, AT_REMOVEDIR) < 0)
		return error_errno(err, errno, "cannot put the masks away");
	return 0;
}

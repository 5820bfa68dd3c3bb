/* SPDX-License-Identifier: Apache-2.0 */
/* Denied, protected and pinned paths, as mounts on what exists now.
 *
 * denied: a mode-000, read-only file or directory lies over it (EACCES), which as a rule the launcher has made (furnish.h). protected: a read-only copy of itself; of a
 * submodule's configuration, one that git can live with (masks_git.c). pinned: a plain copy of itself, because a mount point
 * cannot be renamed or removed, so that no ancestor of the two above can be moved aside and replaced; a symlink too, which can be
 * mounted on if it is opened itself. Targets are opened without following symlinks; a path that changed since the scan ends the
 * launch. */
#include "linux/view/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/view/run_files.h"
#include "linux/syscalls.h"
#include "linux/view/mount.h"

/* Sources lie on a tmpfs of the view's own: a source on the targets' own mount makes the kernel's work quadratic. */
struct masks {
	int root, own;
	int mount; /* the one that `own` lies on */
	const struct plan *plan;
	size_t texts; /* that were made */
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

/* A directory by one call less, from inside it; where that cannot be entered, and for the rest, by descriptors. */
static int cover_with_itself(int target, enum file_type type)
{
	if (type == FILE_DIRECTORY && fchdir(target) == 0 && mount(".", ".", NULL, MS_BIND | MS_REC, NULL) == 0)
		return 0;
	return cover_with_copy(target, false);
}

/* Read-only is what copies of it have to be, or the owner of a mask could chmod it; writable it is for as long as something is made. */
static int set_writable(const struct masks *masks, bool is_writable)
{
	const struct mount_attributes change = { .set = is_writable ? 0 : ATTR_RDONLY, .clear = is_writable ? ATTR_RDONLY : 0 };
	return sys_mount_setattr(masks->mount, "", AT_EMPTY_PATH, &change);
}

/* Onto the descriptor itself, whatever its path is by now. The working directory is `own`. */
static int cover_with(const char *name, int target)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/self/fd/%d", target);
	return mount(name, path, NULL, MS_BIND, NULL);
}

/* `made`: 0, or -1 with errno. What wrote to it is closed by now, or the mount could not become read-only. */
static int cover_with_new(const struct masks *masks, const char *name, int target, int made)
{
	int number = errno == EEXIST ? ENOENT : errno; /* it was not the source that is missing */
	if (set_writable(masks, false) < 0)
		return -1;
	errno = number;
	return made < 0 ? -1 : cover_with(name, target);
}

/* All directories that are hidden have one in common, which the launcher makes if it sees one. */
static int cover_with_directory(const struct masks *masks, int target)
{
	static const char name[] = FURNISH_MASKS "/" FURNISH_DIRECTORY;
	if (cover_with(name, target) == 0)
		return 0;
	if (errno != ENOENT || set_writable(masks, true) < 0)
		return -1;
	return cover_with_new(masks, name, target, mkdirat(masks->own, name, 0));
}

static int cover_with_mask(const struct masks *masks, int target)
{
	char name[FURNISH_NAME];
	struct stat hidden;
	if (fstat(target, &hidden) < 0)
		return -1;
	if (S_ISDIR(hidden.st_mode))
		return cover_with_directory(masks, target);
	furnish_mask_name(&hidden, name);
	if (cover_with(name, target) == 0)
		return 0;
	/* Of what the launcher could not see, or saw something else for. */
	if (errno != ENOENT || set_writable(masks, true) < 0)
		return -1;
	return cover_with_new(masks, name, target, furnish_make_mask(masks->own, name, &hidden));
}

static int write_text(int own, const char *name, const char *text)
{
	autoclose int file = openat(own, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	ssize_t written = file < 0 ? -1 : write(file, text, strlen(text));
	if (written >= 0 && written != (ssize_t)strlen(text))
		errno = ENOSPC;
	return written != (ssize_t)strlen(text) || fchmod(file, 0444) < 0 ? -1 : 0;
}

static int cover_with_text(struct masks *masks, int target, const char *text)
{
	char name[FURNISH_NAME];
	snprintf(name, sizeof name, FURNISH_MASKS "/text-%zu", masks->texts++);
	if (set_writable(masks, true) < 0)
		return -1;
	return cover_with_new(masks, name, target, write_text(masks->own, name, text));
}

static int cover_with_lock(struct masks *masks, int target, const char *path)
{
	const char *text = masks_submodule_config(masks->root, masks->plan->arena, path);
	return text ? cover_with_text(masks, target, text) : cover_with_copy(target, true);
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
		result = cover_with_itself(target, step->type);
	if (result < 0 && errno == ENOENT)
		return changed(step->path, err); /* removed since it was opened */
	if (result < 0)
		return error_errno(err, errno, "cannot %s %s", step->cover == COVER_MASK ? "hide" : "protect", step->path);
	return 0;
}

int masks_pin(int root, const struct plan *plan, struct error *err)
{
	struct masks masks = { .root = root, .plan = plan };
	for (size_t i = 0; i < plan->pinned.count; i++) {
		const struct plan_match *match = &plan->pinned.items[i];
		struct step step = { match->path, match->type, COVER_PIN };
		if (apply_step(&masks, &step, err) < 0)
			return -1;
	}
	return 0;
}

/* Two sorted lists, walked as one: a parent always before what lies below it, or its copy would cover the mounts inside. Pins were there before: a
 * copy of what has pins in it has them too. */
int masks_apply(const struct masks_place *place, const struct plan *plan, struct error *err)
{
	struct masks masks = { place->root, place->own, place->mount, plan, 0 };
	const struct plan_matches *locked = &plan->locked, *masked = &plan->masked;
	if (set_writable(&masks, false) < 0 || fchdir(masks.own) < 0)
		return error_errno(err, errno, "cannot make the root read-only");
	for (size_t lock = 0, mask = 0; lock < locked->count || mask < masked->count;) {
		bool is_mask = lock == locked->count ||
			       (mask < masked->count && strcmp(masked->items[mask].path, locked->items[lock].path) < 0);
		size_t index = is_mask ? mask++ : lock++;
		const struct plan_match *match = is_mask ? &masked->items[index] : &locked->items[index];
		struct step step = { match->path, match->type, is_mask ? COVER_MASK : COVER_LOCK };
		if (apply_step(&masks, &step, err) < 0)
			return -1;
	}
	return 0;
}

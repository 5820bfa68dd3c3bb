/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts over denied, protected and pinned paths that exist now.
 *
 * Denied: a read-only file or directory of mode 000 is mounted over it (EACCES), usually one that
 * the launcher has made (run_files.h). Protected: a read-only copy of itself; for a submodule's
 * configuration a text with which git works (masks_git.c). Opened: a copy from before the lock, on
 * top of a protected directory. Pinned: a plain copy of itself. A mount point cannot be renamed or
 * removed, so no ancestor of a denied or protected path can be moved aside and replaced. That
 * includes symlinks, which can be mounted on if they are opened themselves.
 *
 * Targets are opened without following symlinks. A path that changed since the scan ends the
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

/* Sources are on the view's own tmpfs: with a source on the targets' mount the kernel's work would
 * be quadratic. */
struct masks {
	int fds; /* /proc/self/fd, the working directory while is_in_fds; -1: not opened yet */
	bool is_in_fds;
	int root, run_files;
	int mount; /* contains run_files */
	const struct plan *plan;
	size_t texts; /* number of text files created */
	/* After the launch (late_masks.h): run_files can be written, `mount` has the same files and
	 * is read-only, and there is no /proc. */
	bool is_late;
};

enum { PINS_MANY = 64 };

enum cover { COVER_PIN, COVER_LOCK, COVER_MASK };

struct step {
	const char *path;
	enum file_type type;
	enum cover cover;
};

static int changed(const char *path, struct error *err)
{
	error_set(err, "%s changed while the sandbox was being set up", path);
	err->number = EAGAIN; /* a new scan may succeed */
	return error_hint(err, "another process is renaming files there; run the command again");
}

static int cover_with_copy(int target, bool is_read_only)
{
	autoclose int tree = mount_clone(target, true);
	if (tree < 0)
		return -1;
	if (is_read_only && mount_set(tree, ATTR_RDONLY, true) < 0)
		return -1;
	return mount_attach(tree, target);
}

/* A directory takes one call less from inside it. One that cannot be entered, and all else, is
 * mounted by descriptor. */
static int cover_with_itself(struct masks *masks, int target, enum file_type type)
{
	masks->is_in_fds = false;
	if (type == FILE_DIRECTORY && fchdir(target) == 0 && mount(".", ".", NULL, MS_BIND | MS_REC, NULL) == 0)
		return 0;
	return cover_with_copy(target, false);
}

/* Copies inherit read-only, or the owner of a mask could chmod it. The mount is writable only while
 * a file is created. */
static int set_writable(const struct masks *masks, bool is_writable)
{
	const struct mount_attributes change = { .set = is_writable ? 0 : ATTR_RDONLY, .clear = is_writable ? ATTR_RDONLY : 0 };
	return masks->is_late ? 0 : sys_mount_setattr(masks->mount, "", AT_EMPTY_PATH, &change);
}

/* Opens the directory in which the name of a descriptor is its number: a path of one component, not
 * of four, which with thousands of mounts is a third of the time. */
static int enter_descriptors(struct masks *masks)
{
	if (masks->is_in_fds)
		return 0;
	if (masks->fds < 0)
		masks->fds = openat(AT_FDCWD, "/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (masks->fds < 0 || fchdir(masks->fds) < 0)
		return -1;
	masks->is_in_fds = true;
	return 0;
}

/* Mounts onto the descriptor itself, whatever its path is by now. `name` is below the source; ""
 * for the source itself. */
static int cover_with(struct masks *masks, int source, const char *name, int target)
{
	char from[RUN_FILES_NAME_MAX + 16], to[16];
	if (enter_descriptors(masks) < 0)
		return -1;
	snprintf(from, sizeof from, "%d%s%s", source, *name ? "/" : "", name);
	snprintf(to, sizeof to, "%d", target);
	return mount(from, to, NULL, MS_BIND, NULL);
}

/* Mounts a file of run_files onto the descriptor. */
static int cover_from(struct masks *masks, const char *name, int target)
{
	autoclose int source = -1;
	autoclose int tree = -1;
	if (!masks->is_late)
		return cover_with(masks, masks->run_files, name, target);
	source = openat(masks->mount, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	tree = source < 0 ? -1 : mount_clone(source, false);
	return tree < 0 ? -1 : mount_attach(tree, target);
}

/* `made`: 0, or -1 with errno. Its writer has been closed, or the mount could not become
 * read-only. */
static int cover_with_new(struct masks *masks, const char *name, int target, int made)
{
	int number = errno == EEXIST ? ENOENT : errno; /* then the target is missing, not the source */
	if (set_writable(masks, false) < 0)
		return -1;
	errno = number;
	return made < 0 ? -1 : cover_from(masks, name, target);
}

/* All masked directories share one mask, which the launcher creates if it sees such a directory. */
static int cover_with_directory(struct masks *masks, int target)
{
	static const char name[] = RUN_FILES_MASKS "/" RUN_FILES_DIRECTORY;
	if (cover_from(masks, name, target) == 0)
		return 0;
	if (errno != ENOENT || set_writable(masks, true) < 0)
		return -1;
	return cover_with_new(masks, name, target, mkdirat(masks->run_files, name, 0));
}

static int cover_with_mask(struct masks *masks, int target)
{
	char name[RUN_FILES_NAME_MAX];
	struct stat hidden;
	if (fstat(target, &hidden) < 0)
		return -1;
	if (S_ISDIR(hidden.st_mode))
		return cover_with_directory(masks, target);
	run_files_mask_name(&hidden, name);
	if (cover_from(masks, name, target) == 0)
		return 0;
	/* The launcher could not inspect this file, or saw another one at its path. */
	if (errno != ENOENT || set_writable(masks, true) < 0)
		return -1;
	return cover_with_new(masks, name, target, run_files_make_mask(masks->run_files, name, &hidden));
}

static int write_text(int run_files, const char *name, const char *text)
{
	autoclose int file = openat(run_files, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	ssize_t written = file < 0 ? -1 : write(file, text, strlen(text));
	if (written >= 0 && written != (ssize_t)strlen(text))
		errno = ENOSPC;
	return written != (ssize_t)strlen(text) || fchmod(file, 0444) < 0 ? -1 : 0;
}

static int cover_with_text(struct masks *masks, int target, const char *text)
{
	char name[RUN_FILES_NAME_MAX];
	snprintf(name, sizeof name, RUN_FILES_MASKS "/text-%zu", masks->texts++);
	if (set_writable(masks, true) < 0)
		return -1;
	return cover_with_new(masks, name, target, write_text(masks->run_files, name, text));
}

static int cover_with_lock(struct masks *masks, int target, const char *path)
{
	const char *text = masks_submodule_config(masks->root, masks->plan->arena, path);
	return text ? cover_with_text(masks, target, text) : cover_with_copy(target, true);
}

/* A symlink is only ever pinned. It is opened itself and must still be a symlink. */
static int open_target(int root, const struct step *step)
{
	autoclose int link = -1;
	struct stat info;
	if (step->type != FILE_SYMLINK)
		return mount_open(root, step->path);
	link = sys_openat2(root, step->path + 1, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (link < 0 || fstat(link, &info) < 0)
		return -1;
	if (!S_ISLNK(info.st_mode)) {
		errno = ELOOP;
		return -1;
	}
	return steal_fd(&link);
}

/* A path in a locked directory that stays writable: a copy of it that was made before the lock. */
struct opening {
	const char *path;
	int tree;
};

struct openings {
	struct opening *items;
	size_t count;
};

static void close_openings(struct openings *openings)
{
	for (size_t i = 0; i < openings->count; i++)
		close(openings->items[i].tree);
}

static bool is_below(const char *path, const char *directory)
{
	return path_is_within(path, directory) && strcmp(path, directory) != 0;
}

/* True if this is the innermost locked directory around the path. */
static bool is_innermost_lock(const struct plan *plan, const char *lock, const char *path)
{
	const struct plan_matches *locked = &plan->scan->locked;
	if (!is_below(path, lock))
		return false;
	for (size_t i = 0; i < locked->count; i++)
		if (is_below(locked->items[i].path, lock) && path_is_within(path, locked->items[i].path))
			return false;
	return true;
}

/* Copies the opened parts of the directory, with the mounts in it as they are now. */
static int copy_openings(const struct masks *masks, const char *lock, struct openings *openings, struct error *err)
{
	const struct plan_matches *opened = &masks->plan->scan->opened;
	for (size_t i = 0; i < opened->count; i++) {
		const char *path = opened->items[i].path;
		autoclose int target = -1;
		int tree;
		if (!is_innermost_lock(masks->plan, lock, path))
			continue;
		target = mount_open(masks->root, path);
		if (target < 0 && errno == EACCES)
			continue; /* this user may not enter it */
		tree = target < 0 ? -1 : mount_clone(target, true);
		if (tree < 0)
			return errno == ENOENT || errno == ELOOP || errno == ENOTDIR
				       ? changed(path, err)
				       : error_errno(err, errno, "cannot open %s", path);
		*(struct opening *)arena_push(masks->plan->arena, openings) = (struct opening){ path, tree };
	}
	return 0;
}

/* The copy is attached only to the directory of which it is a copy. */
static int attach_opening(const struct masks *masks, const struct opening *opening, struct error *err)
{
	autoclose int target = mount_open(masks->root, opening->path);
	struct stat copied, found;
	if (target < 0 || fstat(target, &found) < 0 || fstat(opening->tree, &copied) < 0)
		return errno == ENOENT || errno == ELOOP || errno == ENOTDIR
			       ? changed(opening->path, err)
			       : error_errno(err, errno, "cannot open %s", opening->path);
	if (found.st_dev != copied.st_dev || found.st_ino != copied.st_ino)
		return changed(opening->path, err);
	if (mount_attach(opening->tree, target) < 0)
		return error_errno(err, errno, "cannot keep %s writable", opening->path);
	return 0;
}

static int attach_openings(const struct masks *masks, const struct openings *openings, struct error *err)
{
	for (size_t i = 0; i < openings->count; i++)
		if (attach_opening(masks, &openings->items[i], err) < 0)
			return -1;
	return 0;
}

/* A socket outside of writable trees may end with its program, and needs no mask then. The command
 * cannot have moved it. */
static bool is_harmless_absence(const struct plan *plan, const struct step *step)
{
	return step->type == FILE_SOCKET && errno == ENOENT && !plan_is_below_writable(plan, step->path);
}

static int apply_step(struct masks *masks, const struct step *step, struct error *err)
{
	autoclose int target = open_target(masks->root, step);
	int result;
	/* Removed since the scan, or renamed. */
	if (target < 0 && (errno == ENOENT || errno == ELOOP || errno == ENOTDIR))
		return is_harmless_absence(masks->plan, step) ? 0 : changed(step->path, err);
	if (target < 0 && errno == EACCES)
		return 0; /* its directory is masked already, or this user may not enter it */
	if (target < 0)
		return error_errno(err, errno, "cannot open %s", step->path);
	if (step->cover == COVER_MASK)
		result = cover_with_mask(masks, target);
	else if (step->cover == COVER_LOCK)
		result = cover_with_lock(masks, target, step->path);
	else
		result = cover_with_itself(masks, target, step->type);
	if (result < 0 && errno == ENOENT)
		return changed(step->path, err); /* removed since it was opened */
	if (result < 0)
		return error_errno(err, errno, "cannot %s %s", step->cover == COVER_MASK ? "hide" : "protect", step->path);
	return 0;
}

/* Locks a path, except for its opened parts. */
static int apply_lock(struct masks *masks, const struct step *step, struct error *err)
{
	struct openings openings = { 0 };
	int status = step->type == FILE_DIRECTORY ? copy_openings(masks, step->path, &openings, err) : 0;
	if (status == 0)
		status = apply_step(masks, step, err);
	if (status == 0)
		status = attach_openings(masks, &openings, err);
	close_openings(&openings);
	return status;
}

/* Mounts a copy of the grant's mount in the host's tree, at the grant's own path. Returns it, or -1
 * with errno. A process reaches the host's tree only until it enters the new root. */
static int attach_bare_copy(int shown, const char *grant)
{
	autoclose int copy = shown < 0 ? -1 : mount_clone(shown, false);
	autoclose int host = copy < 0 ? -1 : mount_open(AT_FDCWD, grant);
	return host >= 0 && mount_attach(copy, host) == 0 ? steal_fd(&copy) : -1;
}

static int detach(int tree)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/self/fd/%d", tree);
	return umount2(path, MNT_DETACH);
}

/* The directory of a grant in the view, and its bare copy. */
struct twins {
	int shown, copy;
	size_t length; /* of the grant's path */
};

/* Pins a directory with its twin in the bare copy. False if that cannot be: the usual way
 * remains. */
static bool pin_with_twin(struct masks *masks, const struct twins *twins, const char *path)
{
	autoclose int target = mount_open(twins->shown, path + twins->length);
	autoclose int twin = target < 0 ? -1 : mount_open(twins->copy, path + twins->length);
	struct stat found, copied;
	if (twin < 0 || fstat(target, &found) < 0 || fstat(twin, &copied) < 0 || found.st_dev != copied.st_dev ||
	    found.st_ino != copied.st_ino)
		return false;
	return cover_with(masks, twin, "", target) == 0;
}

static int pin(struct masks *masks, const struct plan_match *match, const struct twins *twins, struct error *err)
{
	struct step step = { match->path, match->type, COVER_PIN };
	if (twins->copy >= 0 && match->type == FILE_DIRECTORY && pin_with_twin(masks, twins, match->path))
		return 0;
	return apply_step(masks, &step, err);
}

/* Pins `count` paths of one grant. To copy a directory the kernel looks at every mount in the mount
 * around it, so with many pins side by side its work would be quadratic: then the copies are made
 * of a mount without any. The targets are opened from the grant's directory, which is shorter; not
 * if that is pinned itself, because its descriptor would then be below its pin. */
static int pin_grant(struct masks *masks, const char *grant, const struct plan_match *pins, size_t count, struct error *err)
{
	autoclose int shown = -1;
	autoclose int copy = -1;
	struct twins twins = { -1, -1, strlen(grant) };
	if (count >= PINS_MANY && strcmp(pins[0].path, grant) != 0 && !view_has_mounts_below(grant)) {
		shown = mount_open(masks->root, grant);
		copy = attach_bare_copy(shown, grant);
		twins.shown = shown;
		twins.copy = copy;
	}
	for (size_t i = 0; i < count; i++)
		if (pin(masks, &pins[i], &twins, err) < 0)
			return -1;
	return copy >= 0 && detach(copy) < 0 ? error_errno(err, errno, "cannot detach a copy of %s", grant) : 0;
}

int masks_pin(int root, const struct plan *plan, struct error *err)
{
	struct masks masks = { .fds = -1, .root = root, .plan = plan };
	const struct plan_matches *pinned = &plan->scan->pinned;
	int status = 0;
	for (size_t i = 0, count; status == 0 && i < pinned->count; i += count) {
		const struct plan_grant *grant = plan_grant_for(plan, pinned->items[i].path);
		for (count = 1; i + count < pinned->count; count++)
			if (plan_grant_for(plan, pinned->items[i + count].path) != grant)
				break;
		status = pin_grant(&masks, grant ? grant->path : "/", &pinned->items[i], count, err);
	}
	cleanup_close(&masks.fds);
	return status;
}

/* Waits until the launcher has made the mask with this index; it makes them in the order of the
 * list. */
static int await_mask(const struct view_request *request, size_t index, size_t *made, struct error *err)
{
	while (index >= *made)
		if (request->await_run_files(request->self, made, err) < 0)
			return -1;
	return 0;
}

static int apply_match(struct masks *masks, const struct plan_match *match, bool is_mask, struct error *err)
{
	struct step step = { match->path, match->type, is_mask ? COVER_MASK : COVER_LOCK };
	return is_mask ? apply_step(masks, &step, err) : apply_lock(masks, &step, err);
}

/* Merges two sorted lists: a parent comes before its descendants, or its copy would cover their
 * mounts. Pins are mounted already: the recursive copy of a directory contains them. */
static int apply_all(struct masks *masks, const struct view_request *request, struct error *err)
{
	const struct plan_matches *locked = &masks->plan->scan->locked, *masked = &masks->plan->scan->masked;
	size_t made = 0;
	if (request->await_run_files(request->self, &made, err) < 0)
		return -1;
	if (set_writable(masks, false) < 0)
		return error_errno(err, errno, "cannot make the root read-only");
	for (size_t lock = 0, mask = 0; lock < locked->count || mask < masked->count;) {
		bool is_mask = lock == locked->count ||
			       (mask < masked->count && strcmp(masked->items[mask].path, locked->items[lock].path) < 0);
		if (is_mask && await_mask(request, mask, &made, err) < 0)
			return -1;
		if (apply_match(masks, is_mask ? &masked->items[mask++] : &locked->items[lock++], is_mask, err) < 0)
			return -1;
	}
	return masked->count > 0 ? await_mask(request, masked->count - 1, &made, err) : 0;
}

int masks_apply(const struct masks_place *place, const struct plan *plan, struct error *err)
{
	struct masks masks = {
		.fds = -1, .root = place->root, .run_files = place->run_files, .mount = place->mount, .plan = plan
	};
	int status = apply_all(&masks, place->request, err);
	cleanup_close(&masks.fds);
	return status;
}

int masks_apply_late(const struct masks_place *place, const struct plan *plan, const struct plan_match *match, bool is_mask,
		     size_t *texts, struct error *err)
{
	struct masks masks = { .fds = -1,
			       .root = place->root,
			       .run_files = place->run_files,
			       .mount = place->mount,
			       .plan = plan,
			       .texts = *texts,
			       .is_late = true };
	int status = apply_match(&masks, match, is_mask, err);
	*texts = masks.texts;
	return status;
}

int masks_pin_late(int root, const char *path)
{
	autoclose int target = mount_open(root, path);
	return target < 0 ? -1 : cover_with_copy(target, false);
}

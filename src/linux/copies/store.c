/* SPDX-License-Identifier: Apache-2.0 */
/* The directories of copies: opened, locked, prepared for a run, removed. The lock is on the copy's
 * directory, because the kernel allows two overlays with the same upper directory. A removal
 * renames the directory while it is locked, so that a run either keeps it or never sees it. */
#include "linux/copies/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/state/state.h"
#include "linux/syscalls.h"

enum {
	RACES_MAX = 100, /* a discard may remove what was just opened */
	CLOCK_WAIT_NS = 200000, /* between looks at the clock of the file system */
	CLOCK_WAITS_MAX = 20000, /* 4 s: longer than the coarsest time stamps, those of FAT */
	CLOCK_CERTAIN_S = 60, /* more than clocks of file servers differ */
	BOOT_ID_BYTES = 36,
};

static const char boot_id_file[] = "/proc/sys/kernel/random/boot_id";
static const char probe[] = "probe";

int copies_open_below(int root, const char *path, int flags)
{
	return sys_openat2(root, *path ? path : ".", (uint64_t)(unsigned)flags | O_NOFOLLOW | O_CLOEXEC,
			   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
}

bool copies_is_whiteout(const struct stat *info)
{
	return S_ISCHR(info->st_mode) && info->st_rdev == 0;
}

int copies_open_project(struct arena *arena, const char *state_directory, const char *project_key, bool is_creating,
			struct error *err)
{
	const char *shown = arena_printf(arena, "%s/%s/%s", state_directory, state_projects, project_key);
	autoclose int top = state_open(arena, state_directory, is_creating, err);
	autoclose int projects = top < 0 ? -1 : state_enter(top, state_projects, shown, is_creating, err);
	return projects < 0 ? -1 : state_enter(projects, project_key, shown, is_creating, err);
}

int copies_remove(int directory, const char *name, const char *shown, struct error *err)
{
	struct stat info;
	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "cannot inspect %s in %s", name, shown);
	if (!S_ISDIR(info.st_mode))
		return unlinkat(directory, name, 0) < 0 ? error_errno(err, errno, "cannot remove %s in %s", name, shown) : 0;
	return state_remove(directory, name, shown, err);
}

/* True if the open directory still has this name. */
static bool is_in_place(int parent, const char *name, int directory)
{
	struct stat named, open;
	return fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(directory, &open) == 0 &&
	       named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

static int refuse_absent(const char *name, struct error *err)
{
	error_set(err, "there is no copy '%s' of this project", name);
	err->number = ENOENT;
	return error_hint(err, "`berm copies` lists them; `berm run --copy=%s -- COMMAND` makes one", name);
}

static int refuse_busy(const char *name, struct error *err)
{
	error_set(err, "copy '%s' is in use by another run", name);
	err->number = EBUSY;
	return error_hint(err, "wait until it ends, or choose another name: berm run --copy=NAME");
}

/* Opens and locks the directory of the copy. err->number is EAGAIN if a concurrent removal
 * interfered. */
static int try_open(struct arena *arena, const char *state_directory, const char *project_key, bool may_create,
		    struct copy *copy, struct error *err)
{
	autoclose int state = copies_open_project(arena, state_directory, project_key, may_create, err);
	autoclose int copies = -1, own = -1;
	struct stat info;
	int locked;

	if (state >= 0)
		copies = state_enter(state, state_copies, copy->directory, may_create, err);
	if (copies >= 0) {
		own = state_enter(copies, copy->name, copy->directory, may_create, err);
	}
	if (own < 0)
		return err->number == ENOENT && !may_create ? refuse_absent(copy->name, err) : -1;
	locked = state_lock(own, false);
	if (locked == 1)
		return refuse_busy(copy->name, err);
	if (locked < 0)
		return error_errno(err, errno, "cannot lock %s", copy->directory);
	if (!is_in_place(copies, copy->name, own))
		return error_errno(err, EAGAIN, "cannot open %s", copy->directory);
	copy->is_full = fstatat(own, COPY_MADE, &info, AT_SYMLINK_NOFOLLOW) == 0;
	copy->is_new = !copy->is_full && fstatat(own, COPY_BASE, &info, AT_SYMLINK_NOFOLLOW) < 0 &&
		       fstatat(own, COPY_UPPER, &info, AT_SYMLINK_NOFOLLOW) < 0;
	copy->fd = steal_fd(&own);
	copy->state = steal_fd(&state);
	return 0;
}

int copy_open(struct arena *arena, const char *state_directory, const char *project, const char *project_key, const char *name,
	      bool may_create, struct copy *copy, struct error *err)
{
	int result = -1;

	*copy = (struct copy){ .fd = -1, .state = -1 };
	if (!copy_name_is_valid(name)) {
		error_set(err, "not a name of a copy: %s", text_visible(arena, name));
		return error_hint(err, "1 to %d letters, digits, dots, dashes and underscores; the first is no dot or dash",
				  COPY_NAME_MAX);
	}
	copy->name = arena_copy(arena, name);
	copy->project = arena_copy(arena, project);
	copy->directory =
		arena_printf(arena, "%s/%s/%s/%s/%s", state_directory, state_projects, project_key, state_copies, name);
	for (int tries = 0; tries < RACES_MAX; tries++) {
		*err = (struct error){ 0 };
		result = try_open(arena, state_directory, project_key, may_create, copy, err);
		if (result == 0 || (err->number != EAGAIN && !(err->number == ENOENT && may_create)))
			break;
	}
	if (result == 0)
		state_remember_project(copy->state, project);
	return result;
}

void copy_close(struct copy *copy)
{
	cleanup_close(&copy->fd);
	cleanup_close(&copy->state);
	copy->fd = copy->state = -1;
}

static int read_boot_id(char id[BOOT_ID_BYTES + 1])
{
	autoclose int fd = open(boot_id_file, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : text_read(fd, id, BOOT_ID_BYTES);
	id[length == BOOT_ID_BYTES ? BOOT_ID_BYTES : 0] = '\0';
	return length == BOOT_ID_BYTES ? 0 : -1;
}

/* A volatile overlay is not written to the disk until copy_finish, which removes the boot id. If
 * the machine loses power before, the id is one of another boot. */
int copies_write_boot_id(const struct copy *copy, struct error *err)
{
	const struct private_file_options options = { .mode = 0600 };
	char id[BOOT_ID_BYTES + 1];
	struct stat info;

	/* A doubt of an earlier run stays. */
	if (fstatat(copy->fd, COPY_BOOT, &info, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (read_boot_id(id) < 0)
		return error_errno(err, errno ? errno : EIO, "cannot read %s", boot_id_file);
	if (private_file_write(copy->fd, COPY_BOOT, id, BOOT_ID_BYTES, &options) < 0)
		return error_errno(err, errno, "cannot write %s/%s", copy->directory, COPY_BOOT);
	return 0;
}

bool copies_is_doubtful(const struct copy *copy)
{
	char id[BOOT_ID_BYTES + 1];
	struct private_file file;
	bool is_same;

	if (private_file_read(NULL, copy->fd, COPY_BOOT, PRIVATE_FILE_OWN, BOOT_ID_BYTES, &file) < 0)
		return errno != ENOENT;
	is_same = read_boot_id(id) == 0 && file.length == BOOT_ID_BYTES && memcmp(file.bytes, id, BOOT_ID_BYTES) == 0;
	free(file.bytes);
	return !is_same;
}

/* Returns after a new file would have a later ctime than `base`. Time stamps have the resolution of
 * the kernel's tick. */
static int wait_for_clock(const struct copy *copy, const struct timespec *base, struct error *err)
{
	const struct timespec moment = { .tv_nsec = CLOCK_WAIT_NS };
	for (int waits = 0; waits < CLOCK_WAITS_MAX; waits++) {
		struct stat now;
		autoclose int fd = openat(copy->fd, probe, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return error_errno(err, errno, "cannot write %s", copy->directory);
		if (unlinkat(copy->fd, probe, 0) < 0)
			return error_errno(err, errno, "cannot write %s", copy->directory);
		if (fd >= 0 && fstat(fd, &now) == 0 &&
		    (now.st_ctim.tv_sec > base->tv_sec ||
		     (now.st_ctim.tv_sec == base->tv_sec && now.st_ctim.tv_nsec > base->tv_nsec)))
			return 0;
		nanosleep(&moment, NULL);
	}
	return error_set(err, "the clock of the file system of %s does not advance", copy->directory);
}

int copies_make_mark(const struct copy *copy, const char *name, bool is_waiting, struct error *err)
{
	autoclose int fd = openat(copy->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat info;

	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0 || fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot write %s/%s", copy->directory, name);
	return is_waiting ? wait_for_clock(copy, &info.st_ctim, err) : 0;
}

int copies_make_base(const struct copy *copy, struct error *err)
{
	return copies_make_mark(copy, COPY_BASE, true, err);
}

int copy_await_clock(const struct copy *copy, struct error *err)
{
	struct timespec base, now;
	if (copies_read_base(copy, &base) < 0)
		return error_set(err, "%s has no baseline to detect changes of the project", copy->directory);
	/* One of an earlier run needs no trial. */
	if (clock_gettime(CLOCK_REALTIME_COARSE, &now) == 0 && now.tv_sec - base.tv_sec > CLOCK_CERTAIN_S)
		return 0;
	return wait_for_clock(copy, &base, err);
}

const char *copy_layer(const struct copy *copy)
{
	return copy->is_full ? COPY_TREE : COPY_UPPER;
}

const char *copy_start(const struct copy *copy)
{
	return copy->is_full ? COPY_MADE : COPY_BASE;
}

int copies_read_base(const struct copy *copy, struct timespec *base)
{
	struct stat info;
	if (fstatat(copy->fd, COPY_BASE, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(info.st_mode))
		return -1;
	*base = info.st_ctim;
	return 0;
}

int copies_make_directory(int parent, const char *name, mode_t mode)
{
	mode_t mask = umask(0);
	int result = mkdirat(parent, name, mode);
	umask(mask);
	return result;
}

int copies_make_upper(const struct copy *copy, struct error *err)
{
	struct stat info;
	if (copy->is_full)
		return 0;
	if (stat(copy->project, &info) < 0)
		return error_errno(err, errno, "cannot inspect %s", copy->project);
	if (copies_make_directory(copy->fd, COPY_UPPER, info.st_mode & 01777) < 0)
		return errno == EEXIST ? 0 : error_errno(err, errno, "cannot create %s/%s", copy->directory, COPY_UPPER);
	if (fchmodat(copy->fd, COPY_UPPER, info.st_mode & 07777, 0) < 0)
		return error_errno(err, errno, "cannot set the mode of %s/%s", copy->directory, COPY_UPPER);
	return 0;
}

static int open_layer(const struct copy *copy, const char *name, struct error *err)
{
	int fd = copies_open_below(copy->fd, name, O_PATH | O_DIRECTORY);
	return fd < 0 ? error_errno(err, errno, "cannot open %s/%s", copy->directory, name) : fd;
}

/* A used `work` of a volatile overlay cannot be mounted again. */
static int make_work(const struct copy *copy, struct error *err)
{
	if (copies_remove(copy->fd, COPY_WORK, copy->directory, err) < 0)
		return -1;
	if (mkdirat(copy->fd, COPY_WORK, 0700) < 0)
		return error_errno(err, errno, "cannot create %s/%s", copy->directory, COPY_WORK);
	return 0;
}

int copy_prepare(const struct copy *copy, int *upper, int *work, struct error *err)
{
	autoclose int own_upper = -1, own_work = -1;

	*upper = *work = -1;
	if (copies_refuse_pending(copy, err) < 0)
		return -1;
	*err = (struct error){ 0 };
	if (copies_make_upper(copy, err) < 0 || make_work(copy, err) < 0 || copies_write_boot_id(copy, err) < 0 ||
	    copies_make_mark(copy, COPY_BASE, false, err) < 0)
		return -1;
	own_upper = open_layer(copy, COPY_UPPER, err);
	own_work = own_upper < 0 ? -1 : open_layer(copy, COPY_WORK, err);
	if (own_work < 0)
		return -1;
	(void)futimens(copy->fd, NULL); /* the last use, for `berm copies` */
	*upper = steal_fd(&own_upper);
	*work = steal_fd(&own_work);
	return 0;
}

/* True for a directory without entries: then there is nothing to write to the disk. */
static bool is_empty(int directory)
{
	autoclosedir DIR *stream = NULL;
	int count = 0, fd = directory < 0 ? -1 : openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && !(stream = fdopendir(fd)))
		close(fd);
	while (stream && count <= 2 && readdir(stream))
		count++;
	return stream && count <= 2; /* . and .. */
}

int copy_finish(const struct copy *copy, struct error *err)
{
	autoclose int upper = copies_open_below(copy->fd, copy_layer(copy), O_RDONLY | O_DIRECTORY);

	if (copies_remove(copy->fd, COPY_WORK, copy->directory, err) < 0)
		return -1;
	/* The command may have removed the read permission. Any file of the file system will do. */
	if (!is_empty(upper) && syncfs(upper >= 0 ? upper : copy->fd) < 0)
		return error_errno(err, errno, "cannot write %s to the disk", copy->directory);
	if (unlinkat(copy->fd, COPY_BOOT, 0) < 0 && errno != ENOENT)
		return error_errno(err, errno, "cannot remove %s/%s", copy->directory, COPY_BOOT);
	return 0;
}

int copy_discard(struct copy *copy, struct error *err)
{
	autoclose int copies = state_enter(copy->state, state_copies, copy->directory, false, err);
	char removed[COPY_NAME_MAX + 32];

	if (copies < 0)
		return -1;
	/* The only version of a file of the project may be in upper, between two steps. */
	if (copies_refuse_pending(copy, err) < 0)
		return error_hint(err, "to give up what it replaced, with all state of the project: berm state reset");
	*err = (struct error){ 0 };
	snprintf(removed, sizeof removed, ".removed-%ld-%s", (long)getpid(), copy->name);
	if (renameat(copies, copy->name, copies, removed) < 0)
		return error_errno(err, errno, "cannot remove %s", copy->directory);
	return state_remove(copies, removed, copy->directory, err);
}

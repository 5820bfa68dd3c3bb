/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/view/late_masks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/syscalls.h"
#include "linux/view/internal.h"
#include "linux/view/mount.h"
#include "linux/view/run_files.h"

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x00002000
#endif

/* Its root has mode 000 and is never writable where the command sees it. A copy of it is what this
 * process writes to. */
static int mount_source(struct late_masks *late)
{
	const struct mount_attributes writable = { .clear = ATTR_RDONLY };
	autoclose int place = mount_open(late->root, PLAN_DOCUMENTS "/" RUN_FILES_MASKS);
	if (place < 0)
		return -1;
	late->source = mount_new("tmpfs", "mode=000,size=4m", ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
	if (late->source < 0 || mount_attach(late->source, place) < 0)
		return -1;
	late->writer = mount_clone(late->source, false);
	if (late->writer < 0 || sys_mount_setattr(late->writer, "", AT_EMPTY_PATH, &writable) < 0)
		return -1;
	return mkdirat(late->writer, RUN_FILES_MASKS, 0700);
}

int late_masks_open(struct late_masks *late, struct error *err)
{
	*late = (struct late_masks){ .writer = -1, .source = -1 };
	late->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (late->root < 0 || mount_source(late) < 0)
		return error_errno(err, errno, "cannot mount a place for new masks");
	return 0;
}

static int64_t nanoseconds(const struct statx_timestamp *time)
{
	return time->tv_sec * 1000000000 + time->tv_nsec;
}

static enum file_type type_of(unsigned mode)
{
	return S_ISDIR(mode)	? FILE_DIRECTORY
	       : S_ISREG(mode)	? FILE_REGULAR
	       : S_ISLNK(mode)	? FILE_SYMLINK
	       : S_ISSOCK(mode) ? FILE_SOCKET
	       : S_ISFIFO(mode) ? FILE_FIFO
				: FILE_DEVICE;
}

static int inspect(int fd, struct late_look *look)
{
	struct statx info;
	/* musl 1.2.3 has no statx(). */
	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, &info) < 0)
		return -1;
	look->state = (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) ? LATE_COVERED : LATE_OPEN;
	look->type = type_of(info.stx_mode);
	look->device = (uint64_t)info.stx_dev_major << 32 | info.stx_dev_minor;
	look->inode = info.stx_ino;
	look->owner = info.stx_uid;
	look->changed = nanoseconds(&info.stx_ctime);
	look->created = (info.stx_mask & STATX_BTIME) ? nanoseconds(&info.stx_btime) : 0;
	return 0;
}

/* A symlink on the way makes the path absent: the path that it leads to is looked at itself. */
int late_masks_look(const struct late_masks *late, const char *path, struct late_look *look)
{
	autoclose int fd = sys_openat2(late->root, path + 1, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	*look = (struct late_look){ .state = LATE_ABSENT };
	/* EACCES: the directory is hidden as a whole. */
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES ? 0 : -1;
	if (inspect(fd, look) < 0)
		return -1;
	if (look->type == FILE_SYMLINK && look->state == LATE_OPEN)
		look->state = LATE_LINK;
	return 0;
}

bool late_masks_link_shows(const struct late_masks *late, const char *path)
{
	autoclose int fd = sys_openat2(late->root, path + 1, O_PATH, RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT);
	struct late_look look;
	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP;
	return inspect(fd, &look) < 0 || look.state != LATE_COVERED;
}

int late_masks_cover(struct late_masks *late, const struct plan *plan, const struct plan_match *match, bool is_mask,
		     struct error *err)
{
	const struct masks_place place = { .root = late->root, .run_files = late->writer, .mount = late->source };
	return masks_apply_late(&place, plan, match, is_mask, &late->texts, err);
}

int late_masks_pin_above(const struct late_masks *late, const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	size_t stop = grant ? strlen(grant->path) : 0;
	char directory[PATH_MAX];
	char *slash;

	if (!grant || grant->kind != GRANT_WRITE || strlen(path) >= sizeof directory)
		return 0;
	strcpy(directory, path);
	while ((slash = strrchr(directory, '/')) && (size_t)(slash - directory) > stop) {
		struct late_look look;
		*slash = '\0';
		if (late_masks_look(late, directory, &look) < 0)
			return -1;
		if (look.state == LATE_OPEN && masks_pin_late(late->root, directory) < 0)
			return -1;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the files of a run.
 *
 * A mask has mode 000, no content, and the size and times of the file that it hides, so that git
 * takes a tracked file for unchanged without opening it. The launcher inspects that file by its
 * path, without following symlinks: another sandbox may swap one in, and the inside must not learn
 * about its target. The path may name another file by now. Then the mask has another name than the
 * one that init computes from the file that it opened, and init creates a mask itself. On network
 * file systems without stable inode numbers two files may share a mask.
 *
 * The masks stay where they were created, in a directory of mode 000. */
#include "linux/view/run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/context/inside.h"
#include "linux/channel.h"
#include "linux/syscalls.h"

enum {
	/* Masks: a message costs as much as one. Few enough for the messages of the longest list to
	 * fit into the socket's buffer. */
	NOTIFY_EVERY = 1024,
};

void run_files_mask_name(const struct stat *hidden, char name[RUN_FILES_NAME_MAX])
{
	snprintf(name, RUN_FILES_NAME_MAX, RUN_FILES_MASKS "/%llx-%llx", (unsigned long long)hidden->st_dev,
		 (unsigned long long)hidden->st_ino);
}

int run_files_offer(int channel, int directory, struct error *err)
{
	const struct message message = { .type = MESSAGE_RUN_FILES };
	return channel_send_with(channel, &message, &directory, 1) < 0 ? error_errno(err, errno, "cannot reach the launcher")
								       : 0;
}

int run_files_await(int channel, size_t *masks, struct error *err)
{
	struct message message;
	int got = channel_receive(channel, &message);
	if (got < 0)
		return error_errno(err, errno, "lost the connection to the launcher");
	if (got == 0 || message.type != MESSAGE_RUN_FILES_DONE || message.value < 0)
		return error_set(err, "the launcher exited");
	*masks = (size_t)message.value;
	return 0;
}

/* Returns the caller's limit (ulimit -f). Beyond it the kernel would send SIGXFSZ to the launcher,
 * which would forward it. */
static uint64_t size_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 0;
	return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit.rlim_cur;
}

static int write_document(int run_files, const struct plan_document *document, uint64_t limit, struct error *err)
{
	size_t length = strlen(document->text);
	autoclose int fd = -1;
	ssize_t written;
	/* Without this one a berm inside only counts on nothing of this run. */
	if (length > limit && strcmp(document->path, INSIDE_HELD) == 0)
		return 0;
	if (length > limit)
		return error_errno(err, EFBIG, "cannot write %s", document->path);
	fd = openat(run_files, path_base_name(document->path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	written = fd < 0 ? -1 : write(fd, document->text, length);
	if (written == (ssize_t)length)
		return 0;
	/* A short write: the file system is full. */
	return error_errno(err, written < 0 ? errno : ENOSPC, "cannot write %s", document->path);
}

/* A size that is over the limit or too large for tmpfs is ignored. */
static int make_mask(int masks, const char *name, const struct stat *hidden, uint64_t limit)
{
	autoclose int file = openat(masks, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0);
	bool has_size = hidden->st_size > 0 && (uint64_t)hidden->st_size <= limit;
	if (file < 0 || (has_size && ftruncate(file, hidden->st_size) < 0 && errno != EFBIG))
		return -1;
	return futimens(file, (const struct timespec[]){ hidden->st_atim, hidden->st_mtim });
}

int run_files_make_mask(int masks, const char *name, const struct stat *hidden)
{
	return make_mask(masks, name, hidden, size_limit());
}

/* The directory of the last file: the list is sorted, and thousands may be in one directory. */
struct parent {
	const char *path;
	size_t length;
	int fd;
};

static void enter_parent(struct parent *parent, const char *path, size_t length)
{
	uninitialised char copy[PATH_MAX];
	if (parent->path && parent->length == length && memcmp(parent->path, path, length) == 0)
		return;
	if (parent->fd >= 0)
		close(parent->fd);
	*parent = (struct parent){ path, length, -1 };
	if (length == 0 || length >= sizeof copy)
		return;
	memcpy(copy, path, length);
	copy[length] = '\0';
	parent->fd = sys_openat2(AT_FDCWD, copy, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

/* A file that cannot be inspected here is left to init. Directories share one mask, as do the names
 * of one file: EEXIST. */
static int make_mask_of(int masks, struct parent *parent, const char *path, uint64_t limit)
{
	const char *slash = strrchr(path, '/');
	struct stat hidden;
	char name[RUN_FILES_NAME_MAX];
	int made;
	enter_parent(parent, path, (size_t)(slash - path));
	if (parent->fd < 0 || fstatat(parent->fd, slash + 1, &hidden, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return 0;
	run_files_mask_name(&hidden, name);
	if (S_ISDIR(hidden.st_mode))
		made = mkdirat(masks, RUN_FILES_DIRECTORY, 0);
	else
		made = make_mask(masks, name + sizeof RUN_FILES_MASKS, &hidden, limit);
	return made < 0 && errno != EEXIST ? -1 : 0;
}

static int notify(int channel, size_t masks)
{
	const struct message done = { .type = MESSAGE_RUN_FILES_DONE, .value = (int)masks };
	return channel_has_failed(channel_send(channel, &done)) ? -1 : 0;
}

/* Init may create files there too, for locked paths. */
static int make_masks(int channel, int run_files, const struct plan *plan, uint64_t limit)
{
	struct parent parent = { .fd = -1 };
	autoclose int masks = -1;
	int status = 0;
	/* Empty, it is the place for masks that are made while the command runs. */
	if (plan->scan->masked.count == 0 && plan->scan->locked.count == 0)
		return mkdirat(run_files, RUN_FILES_MASKS, 0);
	if (mkdirat(run_files, RUN_FILES_MASKS, 0700) < 0)
		return -1;
	masks = openat(run_files, RUN_FILES_MASKS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (masks < 0)
		return -1;
	for (size_t i = 0; status == 0 && i < plan->scan->masked.count; i++) {
		if (i > 0 && i % NOTIFY_EVERY == 0)
			status = notify(channel, i);
		if (status == 0)
			status = make_mask_of(masks, &parent, plan->scan->masked.items[i].path, limit);
	}
	if (parent.fd >= 0)
		close(parent.fd);
	return status < 0 ? -1 : fchmod(masks, 0);
}

static int fill(int channel, int run_files, const struct plan *plan, const struct plan_documents *documents, struct error *err)
{
	uint64_t limit = size_limit();
	for (size_t i = 0; i < documents->count; i++)
		if (write_document(run_files, &documents->items[i], limit, err) < 0)
			return -1;
	return make_masks(channel, run_files, plan, limit) < 0 ? error_errno(err, errno, "cannot create masks for hidden files")
							       : 0;
}

int run_files_fill(int channel, const int *came, size_t count, const struct plan *plan, const struct plan_documents *documents,
		   struct error *err)
{
	mode_t mask = umask(022); /* the caller's umask is for the caller's files */
	/* The descriptor is lost if the caller's limit of open files is reached. */
	int status = count == 1 ? fill(channel, came[0], plan, documents, err)
				: error_set(err, "the directory of the run's files did not arrive");
	umask(mask);
	for (size_t i = 0; i < count; i++)
		close(came[i]);
	if (status < 0)
		return -1;
	if (notify(channel, plan->scan->masked.count) < 0)
		return error_errno(err, errno, "cannot notify init that its files are ready");
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A mask has mode 000, and the size and the time of what it hides (and no content), so that git takes a tracked file for unchanged without
 * opening it. What is hidden is looked at here by its path, without any symlink (another sandbox may swap one in, and what it leads to is not to be told inside), which may
 * lead to something else by now: such a mask has another name than the one that init looks for, which opens what it hides and makes a mask itself where it finds none. (Where numbers of files are not their
 * own, as on some network file systems, two may share a mask.) The masks stay where they were made, in a directory
 * of mode 000. */
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
#include "linux/channel.h"
#include "linux/syscalls.h"

void furnish_mask_name(const struct stat *hidden, char name[FURNISH_NAME])
{
	snprintf(name, FURNISH_NAME, FURNISH_MASKS "/%llx-%llx", (unsigned long long)hidden->st_dev,
		 (unsigned long long)hidden->st_ino);
}

int furnish_offer(int channel, int own, struct error *err)
{
	const struct message message = { .type = MESSAGE_OWN };
	return channel_send_with(channel, &message, &own, 1) < 0 ? error_errno(err, errno, "cannot reach the launcher") : 0;
}

int furnish_await(int channel, struct error *err)
{
	struct message message;
	int got = channel_receive(channel, &message);
	if (got < 0)
		return error_errno(err, errno, "cannot hear the launcher");
	return got == 0 || message.type != MESSAGE_FURNISHED ? error_set(err, "the launcher is gone") : 0;
}

/* The caller's limit (ulimit -f). Beyond it a signal would be sent, to the launcher, which would forward it. */
static uint64_t size_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 0;
	return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit.rlim_cur;
}

static int write_document(int own, const struct plan_document *document, uint64_t limit, struct error *err)
{
	size_t length = strlen(document->text);
	autoclose int fd = -1;
	ssize_t written;
	if (length > limit)
		return error_errno(err, EFBIG, "cannot write %s", document->path);
	fd = openat(own, path_base_name(document->path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	written = fd < 0 ? -1 : write(fd, document->text, length);
	if (written == (ssize_t)length)
		return 0;
	/* Some of it: there is no more room. */
	return error_errno(err, written < 0 ? errno : ENOSPC, "cannot write %s", document->path);
}

/* A size that may not or cannot be is not worth failing for. */
static int make_mask(int masks, const char *name, const struct stat *hidden, uint64_t limit)
{
	autoclose int file = openat(masks, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0);
	bool has_size = hidden->st_size > 0 && (uint64_t)hidden->st_size <= limit;
	if (file < 0 || (has_size && ftruncate(file, hidden->st_size) < 0 && errno != EFBIG))
		return -1;
	return futimens(file, (const struct timespec[]){ hidden->st_atim, hidden->st_mtim });
}

int furnish_make_mask(int masks, const char *name, const struct stat *hidden)
{
	return make_mask(masks, name, hidden, size_limit());
}

/* What cannot be seen from here is left to init. Of directories, and of a file with several names, there is one: EEXIST. */
static int make_mask_of(int masks, const char *path, uint64_t limit)
{
	autoclose int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	struct stat hidden;
	char name[FURNISH_NAME];
	int made;
	if (fd < 0 || fstat(fd, &hidden) < 0)
		return 0;
	furnish_mask_name(&hidden, name);
	if (S_ISDIR(hidden.st_mode))
		made = mkdirat(masks, FURNISH_DIRECTORY, 0);
	else
		made = make_mask(masks, name + sizeof FURNISH_MASKS, &hidden, limit);
	return made < 0 && errno != EEXIST ? -1 : 0;
}

/* Init may have something to put there too, for what is locked. */
static int make_masks(int own, const struct plan *plan, uint64_t limit)
{
	autoclose int masks = -1;
	if (plan->masked.count == 0 && plan->locked.count == 0)
		return 0;
	if (mkdirat(own, FURNISH_MASKS, 0700) < 0)
		return -1;
	masks = openat(own, FURNISH_MASKS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (masks < 0)
		return -1;
	for (size_t i = 0; i < plan->masked.count; i++)
		if (make_mask_of(masks, plan->masked.items[i].path, limit) < 0)
			return -1;
	return fchmod(masks, 0);
}

static int fill(int own, const struct plan *plan, struct error *err)
{
	uint64_t limit = size_limit();
	for (size_t i = 0; i < plan->documents.count; i++)
		if (write_document(own, &plan->documents.items[i], limit, err) < 0)
			return -1;
	return make_masks(own, plan, limit) < 0 ? error_errno(err, errno, "cannot make masks for what is hidden") : 0;
}

int furnish_fill(int channel, const int *came, size_t count, const struct plan *plan, struct error *err)
{
	const struct message done = { .type = MESSAGE_FURNISHED };
	mode_t mask = umask(022); /* the caller's is about the caller's files */
	/* A caller with no number left for a descriptor gets none. */
	int status =
		count == 1 ? fill(came[0], plan, err) : error_set(err, "the directory of the run's own files did not arrive");
	umask(mask);
	for (size_t i = 0; i < count; i++)
		close(came[i]);
	if (status < 0)
		return -1;
	if (channel_has_failed(channel_send(channel, &done)))
		return error_errno(err, errno, "cannot tell init that its own files are there");
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Slots are never removed, so their numbers have no gaps and a failed open ends the list. */
#include "common/state/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/checksum.h"
#include "common/base/cleanup.h"
#include "common/base/file_time.h"
#include "common/base/private_file.h"
#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/state/state.h"

enum { BASELINE_MAX = 16 << 20 };

static const char magic[8] = { 'b', 'e', 'r', 'm', 'r', 'u', 'n', '1' };

struct header {
	char magic[8];
	uint64_t is_set;
	uint64_t length, checksum; /* of the baseline after the header */
};

static int open_runs(struct arena *arena, const char *state_directory, struct error *err)
{
	autoclose int top = state_open(arena, state_directory, true, err);
	return top < 0 ? -1 : state_enter(top, "runs", state_directory, true, err);
}

static bool is_valid(const struct header *header, const char *bytes, size_t length)
{
	return memcmp(header->magic, magic, sizeof magic) == 0 && header->length == length &&
	       header->checksum == checksum_of(bytes, length);
}

/* Reads a locked slot. An empty or damaged file has no baseline; a damaged one counts as set. */
static int read_slot(struct arena *arena, struct unfinished_slot *slot)
{
	struct private_file file;
	struct header header;

	if (private_file_read_fd(arena, slot->fd, BASELINE_MAX, &file) < 0 || !private_file_is_private(&file.info))
		return -1;
	if (file.length == 0)
		return 0;
	slot->is_set = true;
	if (file.length < sizeof header)
		return 0;
	memcpy(&header, file.bytes, sizeof header);
	if (!is_valid(&header, file.bytes + sizeof header, file.length - sizeof header))
		return 0;
	slot->is_set = header.is_set;
	slot->is_valid = true;
	slot->bytes = file.bytes + sizeof header;
	slot->length = header.length;
	return 0;
}

/* Opens and locks one slot. Returns 0 with the fd -1 if another process has the lock, 1 if there is
 * no such slot. */
static int open_slot(struct arena *arena, int runs, const char *name, bool is_creating, struct unfinished_slot *slot)
{
	const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (is_creating ? O_CREAT : 0);
	autoclose int fd = openat(runs, name, flags, 0600);

	*slot = (struct unfinished_slot){ .fd = -1 };
	if (fd < 0)
		return errno == ENOENT ? 1 : -1;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? 0 : -1;
	slot->fd = fd;
	if (read_slot(arena, slot) < 0) {
		slot->fd = -1;
		return -1;
	}
	steal_fd(&fd);
	return 0;
}

/* Sorts a slot that was opened into its place. */
static void place_slot(struct unfinished *markers, struct unfinished_slot *slot, bool is_wanted)
{
	if (slot->fd < 0)
		markers->live++;
	else if (slot->is_set && markers->left_count < UNFINISHED_MAX)
		markers->left[markers->left_count++] = *slot;
	else if (is_wanted && markers->own.fd < 0)
		markers->own = *slot;
	else
		close(slot->fd);
}

/* is_wanted: this process needs a slot, too. */
static int look(struct arena *arena, const char *state_directory, const char *project_key, bool is_wanted,
		struct unfinished *markers, struct error *err)
{
	autoclose int runs = open_runs(arena, state_directory, err);
	if (runs < 0)
		return -1;
	for (int number = 0; number < UNFINISHED_MAX; number++) {
		const char *name = arena_printf(arena, "%s.%d", project_key, number);
		struct unfinished_slot slot;
		int status = open_slot(arena, runs, name, false, &slot);
		if (status == 1 && (!is_wanted || markers->own.fd >= 0))
			return 0;
		if (status == 1)
			status = open_slot(arena, runs, name, true, &slot);
		if (status < 0)
			return error_errno(err, errno, "cannot use %s/runs/%s", state_directory, name);
		place_slot(markers, &slot, is_wanted);
	}
	return 0;
}

int unfinished_take(struct arena *arena, const char *state_directory, const char *project_key, struct unfinished *markers,
		    struct error *err)
{
	*markers = (struct unfinished){ .own = { .fd = -1 } };
	return look(arena, state_directory, project_key, true, markers, err);
}

int unfinished_look(struct arena *arena, const char *state_directory, const char *project_key, struct unfinished *markers,
		    struct error *err)
{
	size_t held = markers->left_count + (markers->own.fd >= 0);
	markers->live = 0;
	if (look(arena, state_directory, project_key, false, markers, err) < 0)
		return -1;
	/* The slots that this process holds look locked, too. */
	markers->live -= held < markers->live ? held : markers->live;
	return 0;
}

static bool is_stored(const struct unfinished_slot *slot, const char *bytes, size_t length)
{
	return slot->bytes && slot->length == length && memcmp(slot->bytes, bytes, length) == 0;
}

static int write_flag(const struct unfinished_slot *slot, uint64_t is_set)
{
	if (!state_may_write(sizeof(struct header))) {
		errno = EFBIG;
		return -1;
	}
	return pwrite(slot->fd, &is_set, sizeof is_set, offsetof(struct header, is_set)) == (ssize_t)sizeof is_set ? 0 : -1;
}

int unfinished_set(struct unfinished_slot *slot, const char *bytes, size_t length)
{
	struct header header = { .is_set = 1, .length = length, .checksum = checksum_of(bytes, length) };
	struct text all = { 0 };
	int status;

	if (slot->fd < 0)
		return 0;
	slot->is_set = true;
	if (is_stored(slot, bytes, length))
		return write_flag(slot, 1);
	if (!state_may_write(sizeof header + length)) {
		errno = EFBIG;
		return -1;
	}
	memcpy(header.magic, magic, sizeof magic);
	text_add_n(&all, (const char *)&header, sizeof header);
	text_add_n(&all, bytes, length);
	status = pwrite(slot->fd, all.data, all.length, 0) == (ssize_t)all.length ? 0 : -1;
	if (status == 0)
		status = ftruncate(slot->fd, (off_t)all.length);
	slot->is_valid = status == 0;
	text_free(&all);
	return status;
}

int unfinished_clear(struct unfinished_slot *slot)
{
	if (slot->fd < 0)
		return 0;
	slot->is_set = false;
	/* A damaged file is emptied. */
	return slot->is_valid ? write_flag(slot, 0) : ftruncate(slot->fd, 0);
}

void unfinished_close(struct unfinished *markers)
{
	for (size_t i = 0; i < markers->left_count; i++)
		cleanup_close(&markers->left[i].fd);
	cleanup_close(&markers->own.fd);
	*markers = (struct unfinished){ .own = { .fd = -1 } };
}

enum { CLOCK_STEP_NS = 20000000 }; /* the clock of file times is behind by up to a tick */

static int open_loose(struct arena *arena, const char *state_directory, const char *project_key, int flags)
{
	struct error ignored = { 0 };
	autoclose int runs = open_runs(arena, state_directory, &ignored);
	if (runs < 0)
		return -1;
	return openat(runs, arena_printf(arena, "%s.loose", project_key), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags,
		      0600);
}

int unfinished_loose_begin(struct arena *arena, const char *state_directory, const char *project_key)
{
	int fd = open_loose(arena, state_directory, project_key, O_CREAT);
	/* Only for a moment is the lock held exclusively, by one that looks. */
	if (fd < 0 || flock(fd, LOCK_SH) < 0)
		return fd;
	(void)futimens(fd, NULL);
	return fd;
}

void unfinished_loose_end(int fd)
{
	if (fd < 0)
		return;
	(void)futimens(fd, NULL);
	close(fd);
}

bool unfinished_had_loose(struct arena *arena, const char *state_directory, const char *project_key,
			  const struct timespec *since)
{
	autoclose int fd = open_loose(arena, state_directory, project_key, 0);
	int64_t touched, begun = (int64_t)since->tv_sec * 1000000000 + since->tv_nsec - CLOCK_STEP_NS;
	struct stat info;
	if (fd < 0)
		return errno != ENOENT;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &info) < 0)
		return true;
	touched = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
	return touched >= begun;
}

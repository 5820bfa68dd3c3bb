/* SPDX-License-Identifier: Apache-2.0 */
/* A file of records: inode, ctime, length of the path, path. It only grows, until the copy is empty
 * and gets a new baseline. */
#include "linux/copies/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"

enum { KNOWN_MAX = 64 << 20 };

struct known_record {
	uint64_t inode;
	int64_t seconds;
	uint32_t nanoseconds, length;
};

/* Of equal paths the later record comes last, because it is after the earlier in the arena's
 * copy of the file. */
static int compare_files(const void *left, const void *right)
{
	const struct known_file *one = left, *two = right;
	int order = strcmp(one->path, two->path);
	if (order != 0)
		return order;
	return one->path < two->path ? -1 : one->path > two->path;
}

void own_files_read(struct arena *arena, const struct copy *copy, struct known_files *known)
{
	struct private_file file;
	struct known_record record;

	*known = (struct known_files){ 0 };
	if (private_file_read(arena, copy->fd, COPY_KNOWN, PRIVATE_FILE_OWN, KNOWN_MAX, &file) < 0)
		return;
	for (size_t at = 0; file.length - at > sizeof record; at += sizeof record + record.length) {
		const char *path = file.bytes + at + sizeof record;
		memcpy(&record, file.bytes + at, sizeof record);
		if (record.length == 0 || record.length > file.length - at - sizeof record ||
		    memchr(path, '\0', record.length) != path + record.length - 1)
			break;
		*arena_push(arena, known) = (struct known_file){
			.path = path,
			.identity = { .inode = record.inode, .seconds = record.seconds, .nanoseconds = record.nanoseconds },
		};
	}
	if (known->count > 0)
		qsort(known->items, known->count, sizeof *known->items, compare_files);
}

bool own_files_have(const struct known_files *known, const char *path, const struct copy_identity *identity)
{
	size_t low = 0, high = known->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(known->items[middle].path, path) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && strcmp(known->items[low - 1].path, path) == 0 &&
	       compare_is_same(&known->items[low - 1].identity, identity);
}

void own_files_add(const struct copy *copy, const struct known_files *more)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
	autoclose int fd = more->count == 0 ? -1 : openat(copy->fd, COPY_KNOWN, flags, 0600);
	struct text out = { 0 };

	if (fd < 0)
		return;
	for (size_t i = 0; i < more->count; i++) {
		const struct known_file *file = &more->items[i];
		const struct known_record record = {
			.inode = file->identity.inode,
			.seconds = file->identity.seconds,
			.nanoseconds = file->identity.nanoseconds,
			.length = (uint32_t)strlen(file->path) + 1,
		};
		text_add_n(&out, (const char *)&record, sizeof record);
		text_add_n(&out, file->path, record.length);
	}
	/* A record that is cut off ends the list, so that only conflicts can come of it. */
	(void)text_write(fd, out.data, out.length);
	text_free(&out);
}

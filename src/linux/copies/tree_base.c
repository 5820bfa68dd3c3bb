/* SPDX-License-Identifier: Apache-2.0 */
/* What a full copy began with: for each path the file of the tree that stands for the project's. A
 * file that is still the same has no change of the command. A list of records that only grows; of
 * equal paths the last one counts. A damaged list is refused: without it every file of the project
 * would look changed. */
#include "linux/copies/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"

enum { BASE_MAX = 256 << 20 };

struct base_record {
	uint64_t inode;
	int64_t seconds;
	uint32_t nanoseconds, mode, length, unused;
};

static int compare_entries(const void *left, const void *right)
{
	const struct tree_entry *one = left, *two = right;
	int order = strcmp(one->path, two->path);
	return order != 0 ? order : one->order < two->order ? -1 : one->order > two->order;
}

int tree_base_read(struct arena *arena, const struct copy *copy, struct tree_base *base, struct error *err)
{
	struct private_file file;
	struct base_record record;
	size_t at = 0;

	*base = (struct tree_base){ 0 };
	if (private_file_read(arena, copy->fd, COPY_TREE_BASE, PRIVATE_FILE_OWN, BASE_MAX, &file) < 0)
		return error_errno(err, errno, "cannot read %s/%s", copy->directory, COPY_TREE_BASE);
	for (; file.length - at > sizeof record; at += sizeof record + record.length) {
		const char *path = file.bytes + at + sizeof record;
		memcpy(&record, file.bytes + at, sizeof record);
		if (record.length == 0 || record.length > file.length - at - sizeof record ||
		    memchr(path, '\0', record.length) != path + record.length - 1)
			break;
		*(struct tree_entry *)arena_push(arena, base) = (struct tree_entry){
			.path = path,
			.mode = (mode_t)record.mode,
			.identity = { .inode = record.inode, .seconds = record.seconds, .nanoseconds = record.nanoseconds },
			.order = base->count,
		};
	}
	if (at != file.length)
		return error_set(err, "%s/%s is damaged", copy->directory, COPY_TREE_BASE);
	if (base->count > 0)
		qsort(base->items, base->count, sizeof *base->items, compare_entries);
	return 0;
}

const struct tree_entry *tree_base_find(const struct tree_base *base, const char *path)
{
	size_t low = 0, high = base->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(base->items[middle].path, path) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || strcmp(base->items[low - 1].path, path) != 0 || base->items[low - 1].mode == 0)
		return NULL;
	return &base->items[low - 1];
}

size_t tree_base_count(const struct tree_base *base, const char *directory)
{
	size_t length = strlen(directory), count = 0;
	for (size_t i = 0; i < base->count; i++) {
		const struct tree_entry *entry = &base->items[i];
		bool is_last = i + 1 == base->count || strcmp(base->items[i + 1].path, entry->path) != 0;
		count += is_last && entry->mode != 0 && strncmp(entry->path, directory, length) == 0 &&
			 entry->path[length] == '/';
	}
	return count;
}

void tree_base_add(struct arena *arena, struct tree_base *base, const char *path, const struct stat *info)
{
	struct tree_entry *entry = arena_push(arena, base);
	*entry = (struct tree_entry){ .path = path };
	if (info) {
		entry->mode = info->st_mode;
		entry->identity = compare_identity(info);
	}
}

int tree_base_append(const struct copy *copy, const struct tree_base *more, struct error *err)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
	autoclose int fd = openat(copy->fd, COPY_TREE_BASE, flags, 0600);
	struct text out = { 0 };
	struct stat info;
	int status = fd < 0 || fstat(fd, &info) < 0 ? -1 : 0;

	for (size_t i = 0; i < more->count; i++) {
		const struct tree_entry *entry = &more->items[i];
		const struct base_record record = {
			.inode = entry->identity.inode,
			.seconds = entry->identity.seconds,
			.nanoseconds = entry->identity.nanoseconds,
			.mode = (uint32_t)entry->mode,
			.length = (uint32_t)strlen(entry->path) + 1,
		};
		text_add_n(&out, (const char *)&record, sizeof record);
		text_add_n(&out, entry->path, record.length);
	}
	/* A record that is cut off would make the list unreadable. */
	if (status == 0 && out.length > 0 && text_write(fd, out.data, out.length) < 0) {
		int number = errno;
		(void)!ftruncate(fd, info.st_size);
		errno = number;
		status = -1;
	}
	text_free(&out);
	return status < 0 ? error_errno(err, errno, "cannot write %s/%s", copy->directory, COPY_TREE_BASE) : 0;
}

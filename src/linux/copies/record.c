/* SPDX-License-Identifier: Apache-2.0 */
/* Records of applies. A record is valid as soon as its journal is on the disk; a directory without
 * one is what a killed process left before it did anything. */
#include "linux/copies/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"
#include "common/state/state.h"

enum { NUMBER_NAME = 24, RECORD_MAX = 1 << 30 };

static void name_number(char name[NUMBER_NAME], uint64_t number)
{
	snprintf(name, NUMBER_NAME, "%llu", (unsigned long long)number);
}

int record_open_store(int state, bool is_creating, struct error *err)
{
	autoclose int store = state_enter(state, state_undo, state_undo, is_creating, err);
	int locked;

	if (store < 0)
		return -1;
	locked = state_lock(store, false);
	if (locked == 1) {
		error_set(err, "another apply or undo of this project is running");
		err->number = EBUSY;
		return -1;
	}
	if (locked < 0)
		return error_errno(err, errno, "cannot lock the undo store");
	return steal_fd(&store);
}

static int compare_numbers(const void *left, const void *right)
{
	uint64_t one = *(const uint64_t *)left, two = *(const uint64_t *)right;
	return one < two ? -1 : one > two;
}

int record_list(struct arena *arena, int store, struct record_numbers *numbers, struct error *err)
{
	autoclosedir DIR *stream = NULL;
	const struct dirent *entry;
	int fd = openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*numbers = (struct record_numbers){ 0 };
	if (fd >= 0 && !(stream = fdopendir(fd)))
		close(fd);
	if (!stream)
		return error_errno(err, errno, "cannot read the undo store");
	while ((entry = readdir(stream))) {
		uint64_t number;
		if (text_parse_u64(entry->d_name, INT64_MAX, &number) && number > 0)
			*arena_push(arena, numbers) = number;
	}
	if (numbers->count > 0)
		qsort(numbers->items, numbers->count, sizeof *numbers->items, compare_numbers);
	return 0;
}

static bool has_mark(const struct record *record, const char *name)
{
	struct stat info;
	return fstatat(record->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

bool record_read_states(struct arena *arena, const struct record *record, const char *name, struct journal_states *states)
{
	struct private_file file;
	return private_file_read(arena, record->fd, name, PRIVATE_FILE_OWN, RECORD_MAX, &file) == 0 &&
	       journal_decode_states(arena, file.bytes, file.length, states) && states->count == record->journal.count;
}

/* Copied files have the inodes that the mark names. */
static void read_ready(struct arena *arena, struct record *record)
{
	struct journal_states ready;
	if (!record->journal.is_copied || !record_read_states(arena, record, RECORD_READY, &ready))
		return;
	for (size_t i = 0; i < ready.count; i++)
		record->journal.items[i].source = ready.items[i].inode;
	record->has_ready = true;
}

static void read_state(struct arena *arena, struct record *record)
{
	bool is_done = record_read_states(arena, record, RECORD_DONE, &record->done);
	record->is_undoing = is_done && has_mark(record, RECORD_UNDOING);
	if (has_mark(record, RECORD_UNDONE))
		record->state = UNDO_TAKEN_BACK;
	else
		record->state = is_done && !record->is_undoing ? UNDO_DONE : UNDO_INTERRUPTED;
}

int record_open(struct arena *arena, int store, uint64_t number, struct record *record, struct error *err)
{
	struct private_file file;
	char name[NUMBER_NAME];

	*record = (struct record){ .number = number };
	name_number(name, number);
	record->fd = state_enter(store, name, name, false, err);
	if (record->fd < 0)
		return -1;
	if (private_file_read(arena, record->fd, RECORD_JOURNAL, PRIVATE_FILE_OWN, RECORD_MAX, &file) < 0) {
		error_errno(err, errno, "undo entry %s has no journal", name);
		record_close(record);
		return -1;
	}
	if (!journal_decode(arena, file.bytes, file.length, &record->journal)) {
		record_close(record);
		return error_set(err, "the journal of undo entry %s is damaged", name);
	}
	read_ready(arena, record);
	read_state(arena, record);
	return 0;
}

void record_close(struct record *record)
{
	cleanup_close(&record->fd);
	record->fd = -1;
}

static int write_synced(int directory, const char *name, const struct text *text, struct error *err)
{
	const struct private_file_options options = { .mode = 0600, .is_synced = true };
	if (private_file_write(directory, name, text->data ? text->data : "", text->length, &options) < 0)
		return error_errno(err, errno, "cannot write the journal (%s)", name);
	return 0;
}

int record_create(struct arena *arena, int store, const struct journal *journal, struct record *record, struct error *err)
{
	struct record_numbers numbers;
	struct text bytes = { 0 };
	char name[NUMBER_NAME];
	int status;

	*record = (struct record){ .fd = -1, .journal = *journal };
	if (record_list(arena, store, &numbers, err) < 0)
		return -1;
	record->number = numbers.count > 0 ? numbers.items[numbers.count - 1] + 1 : 1;
	name_number(name, record->number);
	record->fd = state_enter(store, name, name, true, err);
	if (record->fd < 0)
		return -1;
	journal_encode(journal, &bytes);
	status = write_synced(record->fd, RECORD_JOURNAL, &bytes, err);
	text_free(&bytes);
	if (status < 0) {
		struct error ignored = { 0 };
		record_close(record);
		(void)record_remove(store, record->number, &ignored);
	}
	return status;
}

int record_mark(const struct record *record, const char *name, const struct journal_states *states, struct error *err)
{
	struct text bytes = { 0 };
	int status;
	if (states)
		journal_encode_states(states, &bytes);
	status = write_synced(record->fd, name, &bytes, err);
	text_free(&bytes);
	return status;
}

/* The journal goes first: without it nothing of the rest counts. */
int record_remove(int store, uint64_t number, struct error *err)
{
	char name[NUMBER_NAME], journal[NUMBER_NAME + sizeof RECORD_JOURNAL + 1];
	name_number(name, number);
	snprintf(journal, sizeof journal, "%s/" RECORD_JOURNAL, name);
	(void)unlinkat(store, journal, 0);
	return copies_remove(store, name, name, err);
}

int record_find_pending(struct arena *arena, int store, struct record *record, struct error *err)
{
	struct record_numbers numbers;
	if (record_list(arena, store, &numbers, err) < 0)
		return -1;
	for (size_t i = numbers.count; i-- > 0;) {
		if (record_open(arena, store, numbers.items[i], record, err) < 0) {
			if (err->number != ENOENT || record_remove(store, numbers.items[i], err) < 0)
				return -1;
			*err = (struct error){ 0 };
			continue;
		}
		if (record->state == UNDO_INTERRUPTED)
			return 1;
		record_close(record);
	}
	*record = (struct record){ .fd = -1 };
	return 0;
}

void record_prune(struct arena *arena, int store, const struct record_bounds *bounds)
{
	struct record_numbers numbers;
	struct error err = { 0 };
	uint64_t bytes = 0;

	if (record_list(arena, store, &numbers, &err) < 0)
		return;
	for (size_t i = numbers.count, kept = 0; i-- > 0;) {
		struct record record;
		if (record_open(arena, store, numbers.items[i], &record, &err) < 0)
			continue;
		bytes += record.journal.bytes;
		if (record.state != UNDO_INTERRUPTED && kept > 0 && (kept >= bounds->count || bytes > bounds->bytes))
			(void)record_remove(store, record.number, &err);
		kept++;
		record_close(&record);
	}
}

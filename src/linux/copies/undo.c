/* SPDX-License-Identifier: Apache-2.0 */
/* `undo`: takes an apply back, the last operation first, because a name must be free before its
 * former owner gets it back. Refuses as a whole if a file changed since the apply. An undo that is
 * killed is completed by the next one. */
#include "linux/copies/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"

enum { DEPTH_MAX = 220 };

static bool is_later(const struct stat *info, const struct copy_identity *than)
{
	return info->st_ctim.tv_sec > than->seconds ||
	       (info->st_ctim.tv_sec == than->seconds && info->st_ctim.tv_nsec > (long)than->nanoseconds);
}

/* True if something in the directory was written, added or removed since. */
static bool has_changed_since(int directory, const char *name, const struct copy_identity *since, unsigned depth)
{
	int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	autoclosedir DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat info;

	if (!stream)
		cleanup_close(&fd);
	if (!stream || depth > DEPTH_MAX)
		return true;
	while ((entry = readdir(stream))) {
		if (strcmp(entry->d_name, "..") == 0)
			continue;
		if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0 || is_later(&info, since))
			return true;
		if (S_ISDIR(info.st_mode) && strcmp(entry->d_name, ".") != 0 &&
		    has_changed_since(fd, entry->d_name, since, depth + 1))
			return true;
	}
	return false;
}

/* Returns why an addition or a replacement cannot be taken back, or NULL. */
static const char *find_edit(const struct record *record, size_t index, int parent, const char *name, const struct stat *info)
{
	const struct journal_operation *operation = &record->journal.items[index];
	const struct copy_identity *left = &record->done.items[index];
	struct copy_identity now = compare_identity(info);
	if (!operation->is_directory)
		return compare_is_same(&now, left) ? NULL : "changed since";
	return now.inode == operation->source && !has_changed_since(parent, name, left, 0) ? NULL : "changed since";
}

/* Returns why one operation cannot be taken back, or NULL. */
static const char *find_change(const struct stage *stage, const struct record *record, size_t index)
{
	const struct journal_operation *operation = &record->journal.items[index];
	const char *name;
	autoclose int parent = step_open_parent(stage->arena, stage->project, operation->path, &name);
	struct stat info;
	bool is_there = parent >= 0 && fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0;

	if (operation->kind == JOURNAL_DELETE) {
		if (is_there)
			return operation->is_used_again ? NULL : "exists again";
		return parent < 0 && operation->parent != 0 ? "its directory is gone" : NULL;
	}
	if (!is_there)
		return "removed since";
	switch (operation->kind) {
	case JOURNAL_MAKE_DIRECTORY:
		return S_ISDIR(info.st_mode) ? NULL : "changed since";
	case JOURNAL_SET_MODE:
		if (info.st_ino != operation->before.inode)
			return "changed since";
		return (info.st_mode & 0777) == (operation->after_mode & 0777) ? NULL : "its mode changed since";
	case JOURNAL_ADD:
	case JOURNAL_REPLACE:
	case JOURNAL_DELETE:
	case JOURNAL_KINDS:
		break;
	}
	return find_edit(record, index, parent, name, &info);
}

static void find_changes(const struct stage *stage, const struct record *record, struct undo_report *report)
{
	for (size_t i = 0; i < record->journal.count; i++) {
		const char *reason = find_change(stage, record, i);
		if (reason)
			*(struct undo_refusal *)arena_push(stage->arena, report) =
				(struct undo_refusal){ .path = record->journal.items[i].path, .reason = reason };
	}
}

/* Copies the old versions to the project's mount, where they wait for their names. */
static int copy_originals(const struct stage *stage, struct record *record, struct error *err)
{
	struct journal_states back = { .count = record->journal.count };

	back.items = arena_alloc(stage->arena, (back.count + 1) * sizeof *back.items);
	for (size_t i = 0; i < back.count; i++) {
		const struct journal_operation *operation = &record->journal.items[i];
		char name[STEP_NAME];
		struct stat info;
		if (operation->kind != JOURNAL_REPLACE && operation->kind != JOURNAL_DELETE)
			continue;
		step_name(name, "", i);
		if (transfer_copy(record->fd, name, stage->store, name) < 0 ||
		    fstatat(stage->store, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
			return error_errno(err, errno, "cannot copy the old version of %s",
					   text_visible(stage->arena, operation->path));
		back.items[i] = compare_identity(&info);
	}
	return record_mark(record, RECORD_BACK, &back, err);
}

/* Opens the places of an undo. Copies that are not complete are made again. */
static int open_places(struct arena *arena, const struct copy *copy, struct record *record, struct stage *stage,
		       struct error *err)
{
	struct journal_states back;
	struct record plain = *record;
	bool has_back = record->journal.is_copied && record_read_states(arena, record, RECORD_BACK, &back);

	if (record->journal.is_copied && !has_back) {
		plain.journal.is_copied = false;
		if (stage_open(arena, copy, &plain, false, stage, err) < 0 || stage_remove(stage, record->number, err) < 0) {
			stage_close(stage);
			return -1;
		}
		stage_close(stage);
	}
	if (stage_open(arena, copy, record, !has_back, stage, err) < 0)
		return -1;
	if (!record->journal.is_copied)
		return 0;
	if (!has_back && copy_originals(stage, record, err) < 0)
		return -1;
	if (!record_read_states(arena, record, RECORD_BACK, &back))
		return error_set(err, "the undo entry cannot be read");
	for (size_t i = 0; i < back.count; i++)
		if (back.items[i].inode != 0)
			record->journal.items[i].before = back.items[i];
	return 0;
}

/* The copy gets its changes back: it needs a place for them, and a baseline after them. */
static int prepare_copy(const struct copy *copy, struct error *err)
{
	return copy->fd < 0 ? 0 : copies_make_upper(copy, err);
}

/* A restored file has another ctime than the earlier apply left. Tells the record of that apply, so
 * that it can be taken back, too. Best effort. */
static void refresh_record(const struct stage *stage, struct record *earlier, const struct record *undone,
			   const struct copy_identity *before)
{
	bool is_changed = false;
	struct error ignored = { 0 };

	for (size_t i = 0; i < undone->journal.count; i++)
		for (size_t k = 0; before[i].inode != 0 && k < earlier->done.count; k++) {
			const char *path = earlier->journal.items[k].path, *name;
			autoclose int parent = -1;
			struct stat info;
			if (!compare_is_same(&before[i], &earlier->done.items[k]) ||
			    strcmp(path, undone->journal.items[i].path) != 0)
				continue;
			parent = step_open_parent(stage->arena, stage->project, path, &name);
			if (parent < 0 || fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
			    info.st_ino != undone->journal.items[i].before.inode)
				continue;
			earlier->done.items[k] = compare_identity(&info);
			is_changed = true;
		}
	if (is_changed)
		(void)record_mark(earlier, RECORD_DONE, &earlier->done, &ignored);
}

static void refresh_earlier(const struct stage *stage, int store, const struct record *undone,
			    const struct copy_identity *before)
{
	struct record_numbers numbers;
	struct error ignored = { 0 };

	if (record_list(stage->arena, store, &numbers, &ignored) < 0)
		return;
	for (size_t i = 0; i < numbers.count && numbers.items[i] < undone->number; i++) {
		struct record earlier;
		if (record_open(stage->arena, store, numbers.items[i], &earlier, &ignored) < 0)
			continue;
		if (earlier.state == UNDO_DONE)
			refresh_record(stage, &earlier, undone, before);
		record_close(&earlier);
	}
}

static struct copy_identity *list_before(struct arena *arena, const struct journal *journal)
{
	struct copy_identity *before = arena_alloc(arena, (journal->count + 1) * sizeof *before);
	for (size_t i = 0; i < journal->count; i++)
		before[i] = journal->items[i].before;
	return before;
}

static int take_back(struct arena *arena, const struct copy *copy, int store, struct record *record, struct undo_report *report,
		     struct error *err)
{
	struct stage stage = { .project = -1, .upper = -1, .store = -1, .sources = -1 };
	const struct copy_identity *before = list_before(arena, &record->journal);
	int status = prepare_copy(copy, err);

	if (status == 0 && !record->is_undoing)
		status = record_mark(record, RECORD_UNDOING, NULL, err);
	if (status == 0)
		status = open_places(arena, copy, record, &stage, err);
	if (status == 0)
		status = act_backward(&stage, &report->kept, err);
	if (status == 0)
		refresh_earlier(&stage, store, record, before);
	if (status == 0 && copy->fd >= 0)
		status = copies_make_base(copy, err);
	if (status == 0)
		status = stage_sync(&stage, err);
	if (status == 0)
		status = record_mark(record, RECORD_UNDONE, NULL, err);
	if (status == 0 && record->journal.is_copied)
		status = stage_remove(&stage, record->number, err);
	stage_close(&stage);
	if (status == 0 && (report->kept == 0 || record->journal.is_copied))
		status = record_remove(store, record->number, err);
	return status;
}

static int undo_record(struct arena *arena, const struct copy *copy, int store, struct record *record,
		       struct undo_report *report, struct error *err)
{
	struct stage stage;
	struct record plain = *record;
	int status;

	report->number = record->number;
	report->undone = record->journal.count;
	report->was_interrupted = record->state == UNDO_INTERRUPTED;
	if (record->state == UNDO_INTERRUPTED && !record->is_undoing)
		return act_roll_back(arena, copy, store, record, err);
	plain.journal.is_copied = false;
	status = stage_open(arena, copy, &plain, false, &stage, err);
	if (status == 0 && !record->is_undoing)
		find_changes(&stage, record, report);
	stage_close(&stage);
	if (status == 0 && report->count > 0)
		report->undone = 0;
	return status == 0 && report->count == 0 ? take_back(arena, copy, store, record, report, err) : status;
}

/* Finds the record to take back: an interrupted one, the one with this number, or the last. */
static int find_record(struct arena *arena, int store, uint64_t number, struct record *record, struct error *err)
{
	struct record_numbers numbers;
	int pending = record_find_pending(arena, store, record, err);

	if (pending != 0 || record_list(arena, store, &numbers, err) < 0)
		return pending > 0 ? 0 : -1;
	for (size_t i = numbers.count; i-- > 0;) {
		if (number != 0 && numbers.items[i] != number)
			continue;
		if (record_open(arena, store, numbers.items[i], record, err) < 0)
			return -1;
		if (record->state == UNDO_DONE)
			return 0;
		record_close(record);
	}
	if (number == 0)
		return error_set(err, "there is nothing to undo in this project");
	error_set(err, "there is no apply %llu to undo", (unsigned long long)number);
	return error_hint(err, "`berm undo --list` shows their numbers");
}

/* Opens the copy of a record. It may have been discarded. */
static int open_copy(struct arena *arena, const char *state_directory, const char *project, const char *project_key,
		     const struct record *record, struct copy *copy, struct error *err)
{
	int status = copy_open(arena, state_directory, project, project_key, record->journal.copy, false, copy, err);
	if (status < 0 && err->number == ENOENT) {
		*err = (struct error){ 0 };
		return 0;
	}
	return status;
}

int undo_apply(struct arena *arena, const char *state_directory, const char *project, const char *project_key, uint64_t number,
	       struct undo_report *report, struct error *err)
{
	struct record record = { .fd = -1 };
	struct copy copy = { .fd = -1, .state = -1 };
	autoclose int state = -1, store = -1;
	int status = -1;

	*report = (struct undo_report){ 0 };
	state = copies_open_project(arena, state_directory, project_key, false, err);
	store = state < 0 ? -1 : record_open_store(state, false, err);
	if (store < 0) {
		if (err->number == ENOENT)
			error_set(err, "there is nothing to undo in this project");
		return -1;
	}
	status = find_record(arena, store, number, &record, err);
	if (status == 0)
		status = open_copy(arena, state_directory, project, project_key, &record, &copy, err);
	if (status == 0)
		status = undo_record(arena, &copy, store, &record, report, err);
	copy_close(&copy);
	record_close(&record);
	return status;
}

static void add_entry(struct arena *arena, int store, uint64_t number, struct undo_entries *entries)
{
	struct undo_entry *entry = arena_push(arena, entries);
	struct error err = { 0 };
	struct record record;

	*entry = (struct undo_entry){ .number = number };
	if (record_open(arena, store, number, &record, &err) < 0) {
		entry->problem = arena_copy(arena, err.message);
		return;
	}
	entry->copy = record.journal.copy;
	entry->time = record.journal.time;
	entry->state = record.state;
	entry->changes = record.journal.count;
	entry->bytes = record.journal.bytes;
	record_close(&record);
}

int undo_list(struct arena *arena, const char *state_directory, const char *project_key, struct undo_entries *entries,
	      struct error *err)
{
	autoclose int state = copies_open_project(arena, state_directory, project_key, false, err);
	autoclose int store = state < 0 ? -1 : record_open_store(state, false, err);
	struct record_numbers numbers;

	*entries = (struct undo_entries){ 0 };
	if (store < 0) {
		if (err->number != ENOENT)
			return -1;
		*err = (struct error){ 0 };
		return 0;
	}
	if (record_list(arena, store, &numbers, err) < 0)
		return -1;
	for (size_t i = numbers.count; i-- > 0;)
		add_entry(arena, store, numbers.items[i], entries);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A whole journal, forwards and backwards. On one mount the copy's files are renamed into the
 * project and the old ones into the record. Otherwise copies of them wait in a directory of the
 * project, `.berm-apply-N`, so that the same renames can be used; the old versions are copied to
 * the record afterwards. */
#include "linux/copies/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"

enum { WAITING_NAME = 48, DEPTH_MAX = 220 };

static void name_waiting(char name[WAITING_NAME], uint64_t number)
{
	snprintf(name, WAITING_NAME, ".berm-apply-%llu", (unsigned long long)number);
}

static int open_waiting(const struct stage *stage, uint64_t number, bool is_creating, struct error *err)
{
	char name[WAITING_NAME];
	int fd;
	name_waiting(name, number);
	if (is_creating && mkdirat(stage->project, name, 0700) < 0)
		return error_errno(err, errno, "cannot create %s/%s", stage->copy->project, name);
	fd = copies_open_below(stage->project, name, O_RDONLY | O_DIRECTORY);
	return fd < 0 ? error_errno(err, errno, "cannot open %s/%s", stage->copy->project, name) : fd;
}

int stage_open(struct arena *arena, const struct copy *copy, const struct record *record, bool is_creating, struct stage *stage,
	       struct error *err)
{
	*stage = (struct stage){ .arena = arena,
				 .copy = copy,
				 .journal = &record->journal,
				 .upper = -1,
				 .store = -1,
				 .sources = -1,
				 .record = record->fd };
	stage->project = open(copy->project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (stage->project < 0)
		return error_errno(err, errno, "cannot open %s", copy->project);
	if (copy->fd >= 0)
		stage->upper = copies_open_below(copy->fd, copy_layer(copy), O_RDONLY | O_DIRECTORY);
	if (record->journal.is_copied) {
		stage->sources = open_waiting(stage, record->number, is_creating, err);
		if (stage->sources < 0)
			return -1;
	}
	stage->store = fcntl(stage->sources >= 0 ? stage->sources : record->fd, F_DUPFD_CLOEXEC, 0);
	return stage->store < 0 ? error_errno(err, errno, "cannot open the undo store") : 0;
}

void stage_close(struct stage *stage)
{
	cleanup_close(&stage->project);
	cleanup_close(&stage->upper);
	cleanup_close(&stage->store);
	cleanup_close(&stage->sources);
	stage->project = stage->upper = stage->store = stage->sources = -1;
}

/* On one mount of these the journal of the file system has each rename before a later mark. */
static bool keeps_order(int fd)
{
	struct statfs info;
	return fstatfs(fd, &info) == 0 &&
	       (info.f_type == EXT4_SUPER_MAGIC || info.f_type == XFS_SUPER_MAGIC || info.f_type == TMPFS_MAGIC);
}

int stage_sync(const struct stage *stage, struct error *err)
{
	if (!stage->journal->is_copied && keeps_order(stage->project))
		return 0;
	return syncfs(stage->project) < 0 ? error_errno(err, errno, "cannot write %s to the disk", stage->copy->project) : 0;
}

int stage_remove(const struct stage *stage, uint64_t number, struct error *err)
{
	char name[WAITING_NAME];
	name_waiting(name, number);
	return copies_remove(stage->project, name, name, err);
}

static bool keeps_original(const struct journal_operation *operation)
{
	return operation->kind == JOURNAL_REPLACE || operation->kind == JOURNAL_DELETE;
}

/* Copies the old versions from the project's mount to the record. */
static int save_originals(const struct stage *stage, const struct record *record, struct error *err)
{
	for (size_t i = 0; i < record->journal.count; i++) {
		char name[STEP_NAME];
		struct error ignored = { 0 };
		if (!keeps_original(&record->journal.items[i]))
			continue;
		step_name(name, "", i);
		(void)copies_remove(record->fd, name, name, &ignored);
		if (transfer_copy(stage->store, name, record->fd, name) < 0)
			return error_errno(err, errno, "cannot keep the old version of %s",
					   text_visible(stage->arena, record->journal.items[i].path));
	}
	return 0;
}

static bool look_at(const struct stage *stage, const char *path, struct stat *info)
{
	const char *name;
	autoclose int parent = step_open_parent(stage->arena, stage->project, path, &name);
	return parent >= 0 && fstatat(parent, name, info, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Remembers the state of each file directly after its operation: a later change is not berm's. */
int act_forward(struct stage *stage, struct record *record, struct error *err)
{
	struct journal_states *states = &record->done;
	states->count = record->journal.count;
	states->items = arena_alloc(stage->arena, (states->count + 1) * sizeof *states->items);
	for (size_t i = 0; i < record->journal.count; i++) {
		if (step_forward(stage, i, &states->items[i], err) < 0)
			return -1;
	}
	if (record->journal.is_copied && save_originals(stage, record, err) < 0)
		return -1;
	if (stage_sync(stage, err) < 0)
		return -1;
	return record_mark(record, RECORD_DONE, &record->done, err);
}

/* Opens the directory of a path in upper, and makes what is missing with the modes of the project.
 * Returns -1 if something else is in the way. */
static int make_parents(const struct stage *stage, const char *path, const char **name)
{
	autoclose int at = fcntl(stage->upper, F_DUPFD_CLOEXEC, 0);
	const char *rest = path;

	for (const char *slash; at >= 0 && (slash = strchr(rest, '/')); rest = slash + 1) {
		const char *component = arena_copy_n(stage->arena, rest, (size_t)(slash - rest));
		struct stat info;
		bool is_there = look_at(stage, arena_copy_n(stage->arena, path, (size_t)(slash - path)), &info);
		int next;
		(void)copies_make_directory(at, component, is_there ? info.st_mode & 01777 : 0755);
		next = openat(at, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		cleanup_close(&at);
		at = next;
	}
	*name = rest;
	return steal_fd(&at);
}

/* Copies beside upper first: what a killed process left there has not the name of a file. */
static bool copy_back(const struct stage *stage, const char *stored, int parent, const char *name)
{
	static const char unfinished[] = "unfinished";
	struct error ignored = { 0 };
	if (copies_remove(stage->copy->fd, unfinished, unfinished, &ignored) < 0 ||
	    transfer_copy(stage->store, stored, stage->copy->fd, unfinished) < 0)
		return false;
	return transfer_rename(stage->copy->fd, unfinished, parent, name, false, 0) == 0 || errno == EEXIST;
}

/* Gives back what is made anew in upper: the mark of a deletion, or a directory. */
static bool make_again(const struct journal_operation *operation, int parent, const char *name)
{
	if (operation->kind == JOURNAL_DELETE && operation->is_used_again)
		return true;
	if (parent < 0)
		return false;
	if (operation->kind == JOURNAL_DELETE)
		return transfer_make_whiteout(parent, name) == 0 || errno == EEXIST;
	if (copies_make_directory(parent, name, operation->after_mode | 0700) < 0 && errno != EEXIST)
		return false;
	return operation->kind == JOURNAL_MAKE_DIRECTORY || fchmodat(parent, name, operation->after_mode, 0) == 0;
}

/* Gives the copy's version of one operation back to it. Returns false if it stays in the store. */
static bool give_back(const struct stage *stage, size_t index)
{
	const struct journal_operation *operation = &stage->journal->items[index];
	const bool has_mode_only = operation->kind == JOURNAL_SET_MODE;
	const int store = has_mode_only ? stage->record : stage->store;
	const char *name = "";
	autoclose int parent = stage->upper < 0 ? -1 : make_parents(stage, operation->path, &name);
	char stored[STEP_NAME];
	struct stat info;

	if (operation->kind == JOURNAL_DELETE || operation->kind == JOURNAL_MAKE_DIRECTORY ||
	    (has_mode_only && operation->is_directory))
		return make_again(operation, parent, name);
	step_name(stored, "", index);
	if (fstatat(store, stored, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	if (parent < 0)
		return false;
	if (stage->sources >= 0 && !has_mode_only)
		return copy_back(stage, stored, parent, name);
	return transfer_rename(store, stored, parent, name, operation->is_directory, operation->after_mode) == 0;
}

static void add_known(const struct stage *stage, const char *path, const struct stat *info, struct known_files *known)
{
	*arena_push(stage->arena, known) = (struct known_file){ .path = path, .identity = compare_identity(info) };
}

/* Adds what was restored at a path. In a directory that was copied, each file is new. */
static void add_restored(const struct stage *stage, int directory, const char *name, const char *path,
			 struct known_files *known, unsigned depth)
{
	const struct dirent *entry;
	autoclosedir DIR *stream = NULL;
	struct stat info;
	int fd;

	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (!S_ISDIR(info.st_mode))
		add_known(stage, path, &info, known);
	if (!S_ISDIR(info.st_mode) || stage->sources < 0 || depth == DEPTH_MAX)
		return;
	fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || !(stream = fdopendir(fd))) {
		cleanup_close(&fd);
		return;
	}
	while ((entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			add_restored(stage, fd, entry->d_name, arena_printf(stage->arena, "%s/%s", path, entry->d_name), known,
				     depth + 1);
}

/* The tree of a full copy never lost its versions. They are changes again. */
static int note_unapplied(const struct stage *stage, struct error *err)
{
	struct tree_base base = { 0 };
	/* Of two operations on a name the first knows what was there. */
	for (size_t i = stage->journal->count; i-- > 0;) {
		const struct journal_operation *operation = &stage->journal->items[i];
		struct stat was = { .st_mode = S_IFREG | operation->before_mode };
		if (operation->is_directory)
			was.st_mode = S_IFDIR | operation->before_mode;
		tree_base_add(stage->arena, &base, operation->path,
			      operation->kind == JOURNAL_ADD || operation->kind == JOURNAL_MAKE_DIRECTORY ? NULL : &was);
	}
	return tree_base_append(stage->copy, &base, err);
}

int act_note_applied(const struct stage *stage, struct error *err)
{
	struct tree_base base = { 0 };
	for (size_t i = 0; i < stage->journal->count; i++) {
		const struct journal_operation *operation = &stage->journal->items[i];
		const char *name;
		struct stat info;
		autoclose int parent = step_open_parent(stage->arena, stage->upper, operation->path, &name);
		bool is_there = operation->kind != JOURNAL_DELETE && parent >= 0 &&
				fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
		tree_base_add(stage->arena, &base, operation->path, is_there ? &info : NULL);
	}
	return tree_base_append(stage->copy, &base, err);
}

/* Only what was restored here is known: a file that the project changed meanwhile stays a
 * conflict. */
int act_backward(const struct stage *stage, size_t *kept, struct error *err)
{
	struct known_files known = { 0 };
	int status = 0;
	for (size_t i = stage->journal->count; i-- > 0;) {
		const char *path = stage->journal->items[i].path;
		const char *name;
		struct error failure = { 0 };
		autoclose int parent = -1;
		int result = step_backward(stage, i, &failure);
		if (result < 0 && status == 0) {
			*err = failure;
			status = -1;
		}
		if (result > 0 && (parent = step_open_parent(stage->arena, stage->project, path, &name)) >= 0)
			add_restored(stage, parent, name, path, &known, 0);
	}
	if (stage->copy->fd >= 0)
		own_files_add(stage->copy, &known);
	if (status == 0 && stage->copy->is_full)
		return note_unapplied(stage, err);
	for (size_t i = 0; status == 0 && i < stage->journal->count; i++)
		*kept += !give_back(stage, i);
	return status;
}

/* Before the copied files were ready, nothing of the project had changed. */
static int remove_waiting(struct arena *arena, const struct copy *copy, const struct record *record, struct error *err)
{
	struct record plain = *record;
	struct stage stage;
	int status;

	plain.journal.is_copied = false;
	status = stage_open(arena, copy, &plain, false, &stage, err);
	if (status == 0)
		status = stage_remove(&stage, record->number, err);
	stage_close(&stage);
	return status;
}

int act_roll_back(struct arena *arena, const struct copy *copy, int store, struct record *record, struct error *err)
{
	struct stage stage;
	size_t kept = 0;
	int status = 0;

	if (!record->journal.is_copied || record->has_ready) {
		status = stage_open(arena, copy, record, false, &stage, err);
		if (status == 0)
			status = act_backward(&stage, &kept, err);
		if (status == 0)
			status = stage_sync(&stage, err);
		stage_close(&stage);
	}
	if (status == 0 && record->journal.is_copied)
		status = remove_waiting(arena, copy, record, err);
	/* What the copy could not take back must not be lost. */
	if (status == 0 && kept > 0)
		return record_mark(record, RECORD_UNDONE, NULL, err);
	return status == 0 ? record_remove(store, record->number, err) : -1;
}

void act_note_known(const struct stage *stage, const struct journal_states *done)
{
	struct known_files files = { 0 };
	for (size_t i = 0; i < stage->journal->count && i < done->count; i++)
		if (done->items[i].inode != 0 && !stage->journal->items[i].is_directory)
			*arena_push(stage->arena, &files) =
				(struct known_file){ .path = stage->journal->items[i].path, .identity = done->items[i] };
	own_files_add(stage->copy, &files);
}

int act_reset_copy(const struct copy *copy, struct error *err)
{
	if (copies_remove(copy->fd, COPY_UPPER, copy->directory, err) < 0 ||
	    copies_remove(copy->fd, COPY_KNOWN, copy->directory, err) < 0)
		return -1;
	return copies_remove(copy->fd, COPY_BASE, copy->directory, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `apply`: choose, write the journal, act, mark as done, clear the copy. After a failure everything
 * is taken back, so that an apply is complete or has no effect. */
#include "linux/copies/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"

static int refuse_pending(const struct record *pending, struct error *err)
{
	error_set(err, "%s of copy '%s' was interrupted", pending->is_undoing ? "an undo" : "an apply", pending->journal.copy);
	if (pending->is_undoing)
		return error_hint(err, "complete it: berm undo");
	return error_hint(err, "complete it: berm apply %s   |   take it back: berm undo", pending->journal.copy);
}

int copies_refuse_pending(const struct copy *copy, struct error *err)
{
	struct arena arena = { 0 };
	struct record pending = { .fd = -1 };
	autoclose int store = record_open_store(copy->state, false, err);
	int status = store < 0 ? 0 : record_find_pending(&arena, store, &pending, err);

	if (store < 0 && err->number != ENOENT && err->number != EBUSY)
		status = -1;
	/* Another copy may be applied while this one runs. */
	if (status == 1)
		status = strcmp(pending.journal.copy, copy->name) == 0 ? refuse_pending(&pending, err) : 0;
	record_close(&pending);
	arena_free(&arena);
	return status;
}

/* True if a file can be renamed from the record to the project. The kernel compares the mounts
 * before it looks for the file. Parts of one mount can be separate too (btrfs). */
static bool is_one_mount(const struct copy *copy, int store)
{
	static const char absent[] = ".berm-apply-absent";
	autoclose int project = open(copy->project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat one, two;

	if (project < 0 || fstat(project, &one) < 0 || fstat(store, &two) < 0 || one.st_dev != two.st_dev)
		return false;
	return syscall(SYS_renameat2, store, absent, project, absent, RENAME_NOREPLACE) < 0 && errno == ENOENT;
}

/* Replaces opaque directories by whiteouts. The copy shows the same as before, and shows it still
 * when a part of the directory was applied. */
static int spell_out_opaque(struct arena *arena, const struct copy *copy, const struct copy_changes *changes, struct error *err)
{
	autoclose int upper = copies_open_below(copy->fd, copy_layer(copy), O_RDONLY | O_DIRECTORY);
	if (upper < 0)
		return error_errno(err, errno, "cannot open %s/%s", copy->directory, copy_layer(copy));
	for (size_t i = 0; changes->opaque_count > 0 && i < changes->count; i++) {
		const struct copy_change *change = &changes->items[i];
		const char *name;
		autoclose int parent = -1;
		if (!change->is_implied || change->within != COPY_NO_CHANGE)
			continue;
		parent = step_open_parent(arena, upper, change->path, &name);
		if (parent < 0 || (transfer_make_whiteout(parent, name) < 0 && errno != EEXIST))
			return error_errno(err, errno, "cannot record the deletion of %s", text_visible(arena, change->path));
	}
	for (size_t i = 0; i < changes->opaque_count; i++) {
		autoclose int fd = copies_open_below(upper, changes->opaque[i], O_RDONLY | O_DIRECTORY);
		if (fd < 0 || (fremovexattr(fd, "user.overlay.opaque") < 0 && errno != ENODATA))
			return error_errno(err, errno, "cannot prepare %s", text_visible(arena, changes->opaque[i]));
	}
	return 0;
}

/* Copies the copy's files to the project's mount, where they wait for their names. */
static int copy_sources(struct stage *stage, struct record *record, struct error *err)
{
	struct journal_states ready = { .count = record->journal.count };

	ready.items = arena_alloc(stage->arena, (ready.count + 1) * sizeof *ready.items);
	for (size_t i = 0; i < ready.count; i++) {
		struct journal_operation *operation = &record->journal.items[i];
		char waiting[STEP_NAME];
		const char *name;
		struct stat info;
		autoclose int parent = -1;
		if (operation->kind != JOURNAL_ADD && operation->kind != JOURNAL_REPLACE)
			continue;
		step_name(waiting, "n", i);
		parent = step_open_parent(stage->arena, stage->upper, operation->path, &name);
		if (parent < 0 || transfer_copy(parent, name, stage->sources, waiting) < 0 ||
		    fstatat(stage->sources, waiting, &info, AT_SYMLINK_NOFOLLOW) < 0)
			return error_errno(err, errno, "cannot copy %s", text_visible(stage->arena, operation->path));
		ready.items[i] = compare_identity(&info);
		operation->source = info.st_ino;
	}
	if (record_mark(record, RECORD_READY, &ready, err) < 0)
		return -1;
	record->has_ready = true;
	return 0;
}

/* Removes from upper what is in the project now. What stays after a crash shows no difference. */
static void clear_applied(const struct stage *stage, const struct record *record)
{
	for (size_t i = record->journal.count; i-- > 0;) {
		const struct journal_operation *operation = &record->journal.items[i];
		char kept[STEP_NAME];
		const char *name;
		autoclose int parent = -1;
		if (stage->sources < 0 && (operation->kind == JOURNAL_ADD || operation->kind == JOURNAL_REPLACE))
			continue;
		parent = step_open_parent(stage->arena, stage->upper, operation->path, &name);
		if (parent < 0)
			continue;
		step_name(kept, "", i);
		if (operation->kind == JOURNAL_MAKE_DIRECTORY)
			(void)unlinkat(parent, name, AT_REMOVEDIR);
		else if (operation->kind == JOURNAL_SET_MODE && !operation->is_directory)
			(void)renameat(parent, name, record->fd, kept);
		else if (operation->kind == JOURNAL_DELETE || stage->sources >= 0)
			(void)unlinkat(parent, name, 0);
	}
}

/* How an apply ends. */
struct ending {
	bool is_whole; /* every change of the copy is applied */
	bool is_resumed;
	struct record_bounds kept;
};

static int finish(struct arena *arena, const struct copy *copy, int store, struct stage *stage, struct record *record,
		  const struct ending *ending, struct error *err)
{
	bool is_whole = ending->is_whole;
	struct copy_changes left;

	if (!copy->is_full)
		clear_applied(stage, record);
	else if (act_note_applied(stage, err) < 0)
		return -1;
	act_note_known(stage, &record->done);
	if (record->journal.is_copied && stage_remove(stage, record->number, err) < 0)
		return -1;
	record_prune(arena, store, &ending->kept);
	/* A full copy without changes begins anew at its next run. */
	if (copy->is_full)
		return 0;
	if (!is_whole)
		is_whole = copy_list_changes(arena, copy, NULL, &left, err) == 0 && left.count == 0;
	return is_whole ? act_reset_copy(copy, err) : 0;
}

/* Acts on a record. Takes it back after a failure. */
static int run(struct arena *arena, const struct copy *copy, int store, struct record *record, const struct ending *ending,
	       struct error *err)
{
	struct error ignored = { 0 };
	struct stage stage;
	int status = stage_open(arena, copy, record, !ending->is_resumed, &stage, err);

	stage.is_resumed = ending->is_resumed;
	if (status == 0 && record->journal.is_copied && !record->has_ready)
		status = copy_sources(&stage, record, err);
	if (status == 0)
		status = act_forward(&stage, record, err);
	if (status == 0) {
		status = finish(arena, copy, store, &stage, record, ending, err);
		stage_close(&stage);
		return status;
	}
	stage_close(&stage);
	if (act_roll_back(arena, copy, store, record, &ignored) < 0)
		error_hint(err, "it could not be taken back: %s; berm undo tries it again", ignored.message);
	else
		error_hint(err, "nothing was applied");
	return -1;
}

int copy_resume(struct arena *arena, const struct copy *copy, struct copy_report *report, struct error *err)
{
	const struct ending ending = { .is_resumed = true, .kept = { UNDO_KEEP, UNDO_KEEP_BYTES } };
	struct record pending = { .fd = -1 };
	autoclose int store = record_open_store(copy->state, false, err);
	int found;

	*report = (struct copy_report){ 0 };
	if (store < 0) {
		if (err->number != ENOENT)
			return -1;
		*err = (struct error){ 0 };
		return 0;
	}
	found = record_find_pending(arena, store, &pending, err);
	if (found == 1 && (pending.is_undoing || strcmp(pending.journal.copy, copy->name) != 0))
		found = refuse_pending(&pending, err);
	if (found == 1 && pending.journal.is_copied && !pending.has_ready) {
		found = act_roll_back(arena, copy, store, &pending, err);
	} else if (found == 1) {
		*report = (struct copy_report){ .number = pending.number,
						.applied = pending.journal.count,
						.is_continued = true,
						.is_copied = pending.journal.is_copied };
		found = run(arena, copy, store, &pending, &ending, err) < 0 ? -1 : 1;
	}
	record_close(&pending);
	return found;
}

static int write_and_run(struct arena *arena, const struct copy *copy, const struct copy_changes *changes,
			 const struct copy_apply_options *options, const bool *is_chosen, struct copy_report *report,
			 struct error *err)
{
	const struct ending ending = {
		.is_whole = report->applied == changes->count,
		.kept = { options->keep ? options->keep : UNDO_KEEP,
			  options->keep_bytes ? options->keep_bytes : UNDO_KEEP_BYTES },
	};
	struct journal journal = { .copy = copy->name, .time = (int64_t)time(NULL) };
	struct record record = { .fd = -1 };
	autoclose int store = record_open_store(copy->state, true, err);
	int pending, status;

	if (store < 0)
		return -1;
	pending = record_find_pending(arena, store, &record, err);
	if (pending != 0) {
		status = pending < 0 ? -1 : refuse_pending(&record, err);
		record_close(&record);
		return status;
	}
	report->is_copied = journal.is_copied = copy->is_full || !is_one_mount(copy, store);
	select_operations(arena, changes, is_chosen, &journal);
	if (spell_out_opaque(arena, copy, changes, err) < 0 || record_create(arena, store, &journal, &record, err) < 0)
		return -1;
	report->number = record.number;
	status = run(arena, copy, store, &record, &ending, err);
	record_close(&record);
	return status;
}

int copy_apply(struct arena *arena, const struct copy *copy, struct copy_changes *changes,
	       const struct copy_apply_options *options, struct copy_report *report, struct error *err)
{
	bool *is_chosen = arena_alloc(arena, changes->count + 1);

	*report = (struct copy_report){ 0 };
	if (select_changes(arena, changes, options, is_chosen, report, err) < 0)
		return -1;
	for (size_t i = 0; i < changes->count; i++)
		changes->items[i].is_chosen = is_chosen[i];
	if (changes->is_doubtful && !options->is_forced) {
		error_set(err, "the machine was restarted before copy '%s' was on the disk: its files may be damaged",
			  copy->name);
		return error_hint(err, "look at `berm diff %s`; to apply it nevertheless: berm apply --force %s", copy->name,
				  copy->name);
	}
	if (report->conflicts > 0 || report->applied == 0 || options->is_dry_run) {
		if (report->conflicts > 0)
			report->applied = 0;
		return 0;
	}
	if (write_and_run(arena, copy, changes, options, is_chosen, report, err) < 0) {
		report->applied = 0;
		report->number = 0;
		return -1;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Copies: what a disposable run changed in its view of the project, and the way into the project or
 * back. A copy is <state>/projects/<project key>/copies/<name>/ with the upper directory of an
 * overlay. Nothing is ever applied through a symlink, outside the project, or past the judge. A
 * process that is killed at any moment leaves a journal with which the next `apply` completes, and
 * the next `undo` takes back. */
#ifndef BERM_COMMON_COPIES_COPIES_H
#define BERM_COMMON_COPIES_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/fs/filesystem.h"
#include "common/state/remove_tree.h"

enum { COPY_NAME_MAX = 64, UNDO_KEEP = 20 };
#define COPY_NAME_DEFAULT "default"
#define UNDO_KEEP_BYTES (UINT64_C(1) << 30)

/* An opened copy, locked against other runs until copy_close. */
struct copy {
	const char *name;
	const char *directory; /* for messages */
	const char *project; /* absolute */
	int fd; /* of the directory, with the lock */
	int state; /* of <state>/projects/<project key> */
	bool is_new; /* nothing has run in it since it was made or applied as a whole */
	bool is_full; /* every file of the project was copied: it is no overlay */
};

/* True for 1 to COPY_NAME_MAX characters of [A-Za-z0-9._-] that do not begin with a dot or dash. */
bool copy_name_is_valid(const char *name);

/* Opens a copy and locks it. An absent one is created with may_create; otherwise err->number is
 * ENOENT. err->number is EBUSY if another run has it. copy_close closes it. */
int copy_open(struct arena *arena, const char *state_directory, const char *project, const char *project_key, const char *name,
	      bool may_create, struct copy *copy, struct error *err);
/* Prepares a run: `upper`, made with the project's mode and kept if it is there, an empty `work`,
 * the baseline `base`, and the boot id. Both fds are O_PATH directories that the caller closes.
 * Refuses a copy whose apply was interrupted. copy_await_clock follows before the command
 * starts. */
int copy_prepare(const struct copy *copy, int *upper, int *work, struct error *err);
/* Returns after the file system's clock has moved past the baseline: what others change in the
 * project from then on has a later ctime. */
int copy_await_clock(const struct copy *copy, struct error *err);
/* Prepares a run where no overlay can be had: copies the project as a whole, unless a full copy
 * with changes is there already. *tree is an O_PATH directory that the caller closes. Refuses a
 * project beyond COPY_FULL_FILES and COPY_FULL_BYTES with EFBIG in err->number. */
enum { COPY_FULL_FILES = 5000 };
#define COPY_FULL_BYTES (UINT64_C(200) << 20)
struct copy_full {
	void *self;
	/* True for a path, relative to the project, whose content must not be copied. */
	bool (*hides)(void *self, const char *path, bool is_directory);
	/* Set by copy_prepare_full. */
	bool is_new;
	uint64_t files, bytes; /* with is_new */
};
int copy_prepare_full(struct arena *arena, struct copy *copy, struct copy_full *options, int *tree, struct error *err);
/* What a run with a copy of the project would do here. */
struct copy_outlook {
	const char *reason; /* why it would be a full copy; NULL: an overlay */
	/* Of a full copy: */
	uint64_t files, bytes;
	bool is_too_large; /* it is refused */
};
void copy_foresee(struct arena *arena, const char *state_directory, const char *project, struct copy_outlook *outlook);
/* The directory of the copy's files, for messages and for the backend. */
const char *copy_layer(const struct copy *copy);
/* The name of the file whose ctime is the beginning of the command's changes. */
const char *copy_start(const struct copy *copy);
/* Ends a run whose processes are all dead: removes `work` and writes upper to the disk. */
int copy_finish(const struct copy *copy, struct error *err);
void copy_close(struct copy *copy);

/* Called for each path, relative to the project, that differs: also for entries of new directories,
 * and for deletions. Returns the reason why it must not be applied, or NULL. */
struct copy_judge {
	void *self;
	const char *(*refuses)(void *self, const char *path, enum file_type type, bool is_deletion);
};

/* Calls `look` in a child process that sees the copy, read-only, at the project's path. It writes
 * its result to `output` and returns 0, or -1: then there is no result. *bytes is in the arena. */
typedef int (*copy_look_function)(void *self, int output);
int copy_look(struct arena *arena, const struct copy *copy, copy_look_function look, void *self, char **bytes, size_t *length,
	      struct error *err);

enum copy_kind { COPY_ADDED, COPY_MODIFIED, COPY_MODE, COPY_DELETED, COPY_RETYPED };

/* Identifies one version of a file. Zero: absent. */
struct copy_identity {
	uint64_t inode;
	int64_t seconds; /* of the ctime */
	uint32_t nanoseconds;
};

struct copy_side {
	enum file_type type; /* FILE_ABSENT before an addition and after a deletion */
	mode_t mode; /* permission bits, without setuid and setgid of files */
	uint64_t size;
	const char *target; /* of a symlink, or NULL */
	struct copy_identity identity;
};

#define COPY_NO_CHANGE SIZE_MAX

struct copy_change {
	const char *path; /* relative to the project */
	enum copy_kind kind;
	struct copy_side before, after; /* in the project; in the copy */
	bool leads_out; /* a symlink whose target is outside the project */
	bool drops_set_id; /* the copy's file is setuid or setgid, which is not applied */
	const char *conflict; /* how the project changed since the baseline, or NULL */
	bool keeps_ours; /* the conflict can only be resolved for the project's version */
	const char *refused; /* why it is not applied, or NULL */
	/* The index of the added or deleted directory that contains this entry; COPY_NO_CHANGE:
	 * none. */
	size_t within;
	/* The git directory that is applied as a whole with this entry, or NULL. */
	const char *unit;
	uint64_t parent; /* inode of its directory in the project; 0: there is none yet */
	bool is_implied; /* deleted by an opaque directory: there is no whiteout */
	bool is_chosen; /* set by copy_apply */
};

struct copy_changes {
	struct copy_change *items; /* a directory before its entries, names sorted */
	size_t count;
	size_t conflicts, refused;
	bool is_doubtful; /* another boot than that of the run: files may hold zeros */
	/* Opaque directories that have a counterpart, with a slash at the end of each. */
	const char **opaque;
	size_t opaque_count;
};

/* Lists what a copy changes in its project. `judge` may be NULL. */
int copy_list_changes(struct arena *arena, const struct copy *copy, const struct copy_judge *judge,
		      struct copy_changes *changes, struct error *err);
/* Reads the content of one side of a regular file, at most `maximum` bytes. Returns 0, or -1 with
 * errno: EFBIG if it is larger, EAGAIN if it is not the listed file any more. */
enum copy_which { COPY_BEFORE, COPY_AFTER };
int copy_read(struct arena *arena, const struct copy *copy, const struct copy_change *change, enum copy_which which,
	      size_t maximum, char **bytes, size_t *length);

struct copy_apply_options {
	char *const *paths; /* relative to the project; only these and what is below them */
	size_t path_count; /* 0: all */
	const char *const *ours; /* conflicts below these stay as they are in the project */
	size_t ours_count;
	const char *const *theirs; /* conflicts below these are replaced by the copy's version */
	size_t theirs_count;
	bool is_dry_run;
	bool is_forced; /* apply a doubtful copy */
	/* Applied changes that stay for undo, and their disk space; 0: UNDO_KEEP and
	 * UNDO_KEEP_BYTES. */
	size_t keep;
	uint64_t keep_bytes;
};

struct copy_report {
	uint64_t number; /* of the undo entry; 0: nothing was applied */
	size_t applied; /* changes */
	size_t skipped; /* conflicts resolved with --ours, and paths that were not selected */
	size_t refused; /* not applied because of the judge */
	size_t conflicts; /* if any, nothing was applied */
	bool is_continued; /* this completed an interrupted apply */
	bool is_copied; /* by copying: the state is on another file system */
};

/* Applies changes to the project and keeps what they replace for undo. With a conflict that the
 * options do not resolve, nothing is applied. Marks in `changes` what was chosen. */
int copy_apply(struct arena *arena, const struct copy *copy, struct copy_changes *changes,
	       const struct copy_apply_options *options, struct copy_report *report, struct error *err);
/* Completes an interrupted apply of this copy. Returns 1 if there was one, 0 if not, -1 with err.
 * Another copy's interrupted apply is an error. */
int copy_resume(struct arena *arena, const struct copy *copy, struct copy_report *report, struct error *err);

/* Removes a copy that copy_open has opened, and everything in it. Refuses one whose apply was
 * interrupted. */
int copy_discard(struct copy *copy, struct error *err);

struct copy_entry {
	const char *name;
	struct state_size size;
	int64_t last_use; /* seconds since 1970 */
	bool is_in_use;
	bool is_full; /* as of struct copy */
	const char *problem; /* why it was not read, or NULL */
};
struct copy_entries {
	struct copy_entry *items;
	size_t count;
};
/* Lists the copies of one project, sorted by name. Sizes are measured only with has_sizes. */
int copies_list(struct arena *arena, const char *state_directory, const char *project_key, bool has_sizes,
		struct copy_entries *entries, struct error *err);

enum undo_state { UNDO_DONE, UNDO_INTERRUPTED, UNDO_TAKEN_BACK };
struct undo_entry {
	uint64_t number;
	const char *copy;
	int64_t time; /* seconds since 1970 */
	enum undo_state state;
	size_t changes;
	uint64_t bytes; /* of the kept files */
	const char *problem; /* why it was not read, or NULL */
};
struct undo_entries {
	struct undo_entry *items; /* newest first */
	size_t count;
};
int undo_list(struct arena *arena, const char *state_directory, const char *project_key, struct undo_entries *entries,
	      struct error *err);

struct undo_report {
	uint64_t number;
	size_t undone; /* changes */
	bool was_interrupted; /* the apply had not finished */
	/* Paths that changed since, with the reason. If any, nothing was undone. */
	struct undo_refusal {
		const char *path, *reason;
	} * items;
	size_t count;
	size_t kept; /* versions of the copy that could not go back to it; they stay in undo/N */
};
/* Takes one apply back: `number`, or 0 for the last. An interrupted apply is always taken back
 * first. The copy gets its changes back, unless it was discarded. */
int undo_apply(struct arena *arena, const char *state_directory, const char *project, const char *project_key, uint64_t number,
	       struct undo_report *report, struct error *err);

#endif

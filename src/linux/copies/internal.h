/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room: the layout of a copy and of the undo store, and the one way to
 * open something in a tree that others can change. */
#ifndef BERM_LINUX_COPIES_INTERNAL_H
#define BERM_LINUX_COPIES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/copies/copies.h"
#include "common/copies/journal.h"

#define COPY_UPPER "upper"
#define COPY_WORK "work"
#define COPY_BASE "base"
#define COPY_BOOT "boot"
#define COPY_KNOWN "known"
/* Of a full copy: the files, what they were when the copy was made, and the mark that it is
 * complete. */
#define COPY_TREE "tree"
#define COPY_TREE_BASE "tree-base"
#define COPY_MADE "made"

/* Opens a directory below `root`. Crosses no symlink and no mount point, and never leaves root. ""
 * is root itself. Returns an fd that the caller closes, or -1 with errno. */
int copies_open_below(int root, const char *path, int flags);
/* True for the mark of a deletion: a character device with number 0. */
bool copies_is_whiteout(const struct stat *info);
/* Opens <state>/projects/<project key>; with is_creating creates it. The caller closes the fd. -1
 * with err, whose number is ENOENT if there is none. */
int copies_open_project(struct arena *arena, const char *state_directory, const char *project_key, bool is_creating,
			struct error *err);
/* apply.c: refuses a copy whose apply or undo was interrupted. */
int copies_refuse_pending(const struct copy *copy, struct error *err);
/* True if the run was on another boot and its files may not be on the disk. */
bool copies_is_doubtful(const struct copy *copy);
/* Makes a directory with this mode at once, whatever the umask is. -1 with errno. */
int copies_make_directory(int parent, const char *name, mode_t mode);
/* Makes `upper`, if there is none, with the mode of the project: the command sees it as the
 * project's. */
int copies_make_upper(const struct copy *copy, struct error *err);
/* Makes the baseline, if there is none, and waits until the clock has moved past it. */
int copies_make_base(const struct copy *copy, struct error *err);
/* Makes an empty file, and with is_waiting waits until the clock has moved past its ctime. One that
 * exists stays. */
int copies_make_mark(const struct copy *copy, const char *name, bool is_waiting, struct error *err);
/* Writes the boot id, unless there is one. */
int copies_write_boot_id(const struct copy *copy, struct error *err);
/* Returns 0, or -1 if there is no baseline. */
int copies_read_base(const struct copy *copy, struct timespec *base);
/* Removes `name` of the copy with all its content, if it exists. */
int copies_remove(int directory, const char *name, const char *shown, struct error *err);

/* own_files.c: files of the project that berm itself left since the baseline, by an earlier apply
 * or undo of the copy. They are no conflicts. */
struct known_file {
	const char *path;
	struct copy_identity identity;
};
struct known_files {
	struct known_file *items; /* sorted by path; the last of equal ones counts */
	size_t count;
};
/* A missing or damaged file has none: the worst result is a conflict. */
void own_files_read(struct arena *arena, const struct copy *copy, struct known_files *known);
bool own_files_have(const struct known_files *known, const char *path, const struct copy_identity *identity);
/* Adds files. Best effort. */
void own_files_add(const struct copy *copy, const struct known_files *more);

/* tree_base.c: the state in which a full copy began. */
struct tree_entry {
	const char *path;
	mode_t mode; /* with the type; 0: there was none */
	struct copy_identity identity; /* of the file in the tree; 0: it is not the project's */
	size_t order;
};
struct tree_base {
	struct tree_entry *items; /* sorted after tree_base_read */
	size_t count;
};
int tree_base_read(struct arena *arena, const struct copy *copy, struct tree_base *base, struct error *err);
/* Returns the last entry of a path, or NULL if the copy began without it. */
const struct tree_entry *tree_base_find(const struct tree_base *base, const char *path);
/* Counts the paths below a directory. */
size_t tree_base_count(const struct tree_base *base, const char *directory);
/* Adds an entry for a file of the tree; for NULL: there is none. */
void tree_base_add(struct arena *arena, struct tree_base *base, const char *path, const struct stat *info);
int tree_base_append(const struct copy *copy, const struct tree_base *more, struct error *err);

/* compare.c: single files of both sides. */
struct copy_identity compare_identity(const struct stat *info);
bool compare_is_same(const struct copy_identity *left, const struct copy_identity *right);
/* True if the overlay has replaced the whole directory. */
bool compare_is_opaque(int directory);
/* True if a file of upper is a changed version of a file of the project, not a new file. */
bool compare_has_origin(int directory, const char *name);
/* True if both regular files, of this size, have the same bytes. In doubt false. */
bool compare_same_content(int left, int right, const char *name, uint64_t size);
/* Reads the target of a symlink, or NULL. */
const char *compare_target(struct arena *arena, int directory, const char *name);
/* True if a symlink at `path`, relative to the project, leads out of it. Textual. */
bool compare_leads_out(const char *project, const char *path, const char *target);

/* select.c: chooses what an apply takes, one bool for each change, and counts in `report` what it
 * leaves. -1 with err for paths that cannot be chosen. */
int select_changes(struct arena *arena, const struct copy_changes *changes, const struct copy_apply_options *options,
		   bool *is_chosen, struct copy_report *report, struct error *err);
/* Adds the operations for the chosen changes to the journal, in the order in which they are safe:
 * in a git directory objects first, then refs, logs, the index, and removals last. With is_copied
 * no directory is added as a whole. */
void select_operations(struct arena *arena, const struct copy_changes *changes, const bool *is_chosen, struct journal *journal);

/* transfer.c: files that leave the copy. Each returns 0, or -1 with errno. */
/* Removes every user.overlay.* attribute, setuid and setgid of a file, and for a directory the same
 * of everything in it, and its whiteouts. */
int transfer_strip(int directory, const char *name);
/* Copies a file, symlink, FIFO or directory tree to an unused name, with modes and times, without
 * user.overlay.* attributes. It is on the disk afterwards. An incomplete copy stays after a
 * failure. */
int transfer_copy(int from, const char *name, int to, const char *new_name);
/* Copies a single file, symlink or FIFO in the same way, but not to the disk. */
int transfer_copy_one(int from, const char *name, int to, const char *new_name, const struct stat *info);
/* Renames to an unused name. A directory that its owner cannot write is made writable and gets
 * `mode` afterwards. */
int transfer_rename(int from, const char *name, int to, const char *new_name, bool is_directory, mode_t mode);
int transfer_exchange(int from, const char *name, int to, const char *other);
/* Changes the permission bits of a file or directory with this inode. Its other bits stay. */
int transfer_set_mode(int directory, const char *name, uint64_t inode, mode_t mode);
/* Makes the mark of a deletion. */
int transfer_make_whiteout(int directory, const char *name);

/* steps.c: the operations of a journal, each decided by inodes: to do one again that was done, or
 * to take one back that was not, does nothing. */
struct stage {
	struct arena *arena;
	const struct copy *copy;
	const struct journal *journal;
	int project, upper;
	int store; /* has the project's files under the number of their operation */
	int record; /* the caller's; has files of which only the mode changed */
	int sources; /* has the copy's files as n and the number; -1: they are in upper */
	bool is_resumed;
};
enum { STEP_NAME = 24 };
void step_name(char name[STEP_NAME], const char *prefix, size_t index);
/* *left is what the project has then. */
int step_forward(const struct stage *stage, size_t index, struct copy_identity *left, struct error *err);
/* Returns 1 if it restored something, 0 if there was nothing to do, -1 with err. */
int step_backward(const struct stage *stage, size_t index, struct error *err);
/* Opens the directory of a path below `root`, and sets *name to the last component. */
int step_open_parent(struct arena *arena, int root, const char *path, const char **name);

/* record.c: the undo store, <state>/projects/<project key>/undo/<number>/. Each record has the
 * `journal`, the old versions under the number of their operation, and marks: `ready` (the copied
 * files wait in the project), `done`, `undoing`, `back` (the old versions wait in the project), and
 * `undone`. */
#define RECORD_JOURNAL "journal"
#define RECORD_READY "ready"
#define RECORD_DONE "done"
#define RECORD_UNDOING "undoing"
#define RECORD_BACK "back"
#define RECORD_UNDONE "undone"

struct record {
	uint64_t number;
	int fd; /* -1: none */
	struct journal journal; /* with the sources of `ready` */
	enum undo_state state;
	bool has_ready, is_undoing;
	struct journal_states done;
};
struct record_numbers {
	uint64_t *items; /* ascending */
	size_t count;
};

/* Opens the store and locks it. err->number is ENOENT if there is none and is_creating is false. */
int record_open_store(int state, bool is_creating, struct error *err);
int record_list(struct arena *arena, int store, struct record_numbers *numbers, struct error *err);
/* Reads one record. record_close closes it. */
int record_open(struct arena *arena, int store, uint64_t number, struct record *record, struct error *err);
/* Makes a record with this journal, which is on the disk afterwards. */
int record_create(struct arena *arena, int store, const struct journal *journal, struct record *record, struct error *err);
/* Writes a mark with states, or an empty one for NULL, to the disk. */
int record_mark(const struct record *record, const char *name, const struct journal_states *states, struct error *err);
/* Reads a mark with states. False if there is none. */
bool record_read_states(struct arena *arena, const struct record *record, const char *name, struct journal_states *states);
void record_close(struct record *record);
int record_remove(int store, uint64_t number, struct error *err);
/* Finds the apply or undo that was interrupted. Returns 1, 0 if there is none, or -1 with err. */
int record_find_pending(struct arena *arena, int store, struct record *record, struct error *err);
/* How much of the past is kept. */
struct record_bounds {
	size_t count;
	uint64_t bytes;
};
/* Removes the oldest records beyond these bounds, but never the newest. */
void record_prune(struct arena *arena, int store, const struct record_bounds *bounds);

/* act.c: whole journals. */
/* Opens the places of a record. With is_copied this is a directory in the project, made with
 * is_creating. stage_close closes them. */
int stage_open(struct arena *arena, const struct copy *copy, const struct record *record, bool is_creating, struct stage *stage,
	       struct error *err);
void stage_close(struct stage *stage);
/* Writes the names of the project's files to the disk, before a mark says that they are there. */
int stage_sync(const struct stage *stage, struct error *err);
/* Removes the directory in the project. */
int stage_remove(const struct stage *stage, uint64_t number, struct error *err);
/* Does all operations and marks the record as done. Fills record->done. */
int act_forward(struct stage *stage, struct record *record, struct error *err);
/* Takes all operations back, the last first, and gives the copy's files back to it. Goes on after a
 * failure, and returns -1 with the first. Adds to *kept the files that the copy could not take.
 * Records as known what it restored. */
int act_backward(const struct stage *stage, size_t *kept, struct error *err);
/* Takes an interrupted apply back and removes its record. */
int act_roll_back(struct arena *arena, const struct copy *copy, int store, struct record *record, struct error *err);
/* Records as known what the operations left in the project. */
void act_note_known(const struct stage *stage, const struct journal_states *done);
/* Records that the tree of a full copy is what the project has now. */
int act_note_applied(const struct stage *stage, struct error *err);
/* Makes an empty copy like a new one, with a new baseline at the next run. */
int act_reset_copy(const struct copy *copy, struct error *err);

#endif

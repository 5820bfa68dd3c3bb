/* SPDX-License-Identifier: Apache-2.0 */
/* After the run: what is new and would be obeyed by the host is moved to quarantine, edited or
 * reported. Never loses a file, never leaves one that was not there.
 *
 * Order of calls: sweep_leftovers before the scan of a launch, sweep_begin after it and before
 * anything runs, sweep_end when every process of the run is dead. */
#ifndef BERM_COMMON_SWEEP_SWEEP_H
#define BERM_COMMON_SWEEP_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "common/plan/plan.h"
#include "common/state/quarantine.h"
#include "common/state/unfinished.h"

struct tree_index;

/* What a new thing is. */
enum sweep_kind {
	SWEEP_NAME, /* a name of files.protect */
	SWEEP_GIT_PART, /* of a git directory: commondir, info/attributes, a link in place of a part */
	SWEEP_GIT_HOOK, /* a hook that is no sample */
	SWEEP_GIT_CONFIG, /* a configuration of a git directory */
	SWEEP_GIT_POINTER, /* a `.git` that is no directory, or the commondir of a worktree */
	SWEEP_GIT_TODO, /* the list of steps of a rebase */
};

enum sweep_verdict {
	SWEEP_FINE,
	SWEEP_STAYS, /* made by the host while the guard held: reported in a line of its own */
	SWEEP_REPORT, /* reported in one line with the others */
	SWEEP_OPENED, /* a directory without permission to list it: made readable */
	SWEEP_LEFT, /* a directory that git removed, except for protected names in it */
	SWEEP_QUARANTINE, /* moved */
	SWEEP_EDIT, /* what it executes becomes a comment; the original is kept in quarantine */
	SWEEP_UNDO, /* the text of the launch is written back; the new one is kept in quarantine */
};

/* What sweep_judge must know about it. Nothing here is read from a disk. */
struct sweep_question {
	enum sweep_kind kind;
	bool was_there; /* at launch, with the same content where content counts */
	bool is_place; /* NAME: in a directory where the host looks */
	bool is_users; /* NAME: the rule is not a built-in one */
	bool was_guarded; /* NAME: no command could have made it */
	bool sweeps_names; /* NAME: files.guard is not `launch` */
	bool is_born; /* of a git directory that was made inside */
	bool executes; /* CONFIG, TODO: has a line that runs a program or leads to one */
	bool is_readable; /* CONFIG, TODO, POINTER: a regular file of bounded size */
	bool leads_out; /* POINTER: to a place that this repository does not own */
	bool has_original; /* POINTER: its text at launch is known */
};

/* Says what to do about one new thing. Pure. */
enum sweep_verdict sweep_judge(const struct sweep_question *question);

struct sweep_item {
	enum sweep_verdict verdict;
	const char *path;
	const char *reason;
	char id[QUARANTINE_ID + 1]; /* of QUARANTINE, EDIT, UNDO; empty without a record */
	struct error failure; /* set if it could not be done, or not completely */
};
struct sweep_report {
	struct sweep_item *items;
	size_t count;
	struct error problem; /* set if the search itself failed */
};

/* Strings of one line each, sorted: what a later look is compared with. */
struct sweep_facts {
	const char **items;
	size_t count;
	bool is_sorted;
};

/* One run. */
struct sweep {
	struct sweep_facts baseline;
	struct unfinished markers;
	bool has_markers; /* the state directory could be used */
	bool has_begun;
	/* Live markers that belong to this run: 1 in a session, whose holder has one. */
	size_t companions;
	int loose; /* of a run without the guard: unfinished_loose_begin; -1: none */
	struct timespec started;
};

/* Takes a marker for this run, and sweeps what runs left that never finished: each against its own
 * baseline. The plan must be valid if has_leftovers(self) returned true. -1 with err: the caller
 * must not go on with this plan. */
int sweep_leftovers(struct sweep *sweep, const struct plan *plan, int (*has_leftovers)(void *self, struct error *err),
		    void *self, struct sweep_report *report, struct error *err);
/* Notes what is there at launch and sets the marker. */
void sweep_begin(struct sweep *sweep, const struct plan *plan, const struct scan_results *results);
/* Compares, acts and clears the marker. The index is that of the launch's scan, or NULL. */
void sweep_end(struct sweep *sweep, const struct plan *plan, struct tree_index *index, bool was_guarded,
	       struct sweep_report *report);
/* The same judgement about changes that are not made yet, for a copy of the project (copies.h).
 * sweep_note stores in *facts what is there now, in the arena of the plan; sweep_preview, called
 * where the project's path shows the copy, only reports verdicts. `started`: when the copy was
 * made. */
void sweep_note(const struct plan *plan, const struct scan_results *results, struct sweep_facts *facts);
void sweep_preview(const struct plan *plan, struct sweep_facts *facts, struct timespec started, struct sweep_report *report);
/* Releases the marker of an attempt in which nothing ran. */
void sweep_forget(struct sweep *sweep);

#endif

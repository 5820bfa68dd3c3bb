/* SPDX-License-Identifier: Apache-2.0 */
/* Matches of the plan's patterns in the project now. Reads names, never changes a file; the results
 * are the same for the same tree, in whatever order the threads find them. */
#ifndef BERM_COMMON_SCAN_SCAN_H
#define BERM_COMMON_SCAN_SCAN_H

#include "common/plan/plan.h"

struct tree_index;

/* Scans the project and sets plan->scan; the results are in the plan's arena. */
int plan_scan(struct plan *plan, struct error *err);
/* Scans into *results, with an index of earlier scans of this very plan (cache/tree_index.h), which
 * is used and updated; NULL: none. */
int scan_project(const struct plan *plan, struct tree_index *index, struct scan_results *results, struct error *err);
/* The names in the writable trees after a run. Each list is sorted by path and has every match,
 * also below another one. */
struct scan_found {
	struct plan_matches protected; /* matches of files.protect */
	struct plan_matches marks; /* entries `.git`, HEAD and commondir of any type */
	struct plan_matches links; /* symlinks */
	struct plan_matches closed; /* directories that cannot be listed */
	struct plan_matches pruned; /* skipped directories below a `.git` */
	struct plan_git_seen git_seen;
	bool has_all_links; /* and all of `pruned` */
	bool is_incomplete; /* there are more than a list can hold */
};
/* Searches the writable trees for names that the host obeys, without the rest of a scan. The index
 * is used and not updated; NULL: none. */
int scan_writable(const struct plan *plan, struct tree_index *index, struct scan_found *found, struct error *err);
/* True if the search has entered this directory: a `.git`, or `info`, `remotes` or `branches` in
 * it. */
bool scan_git_is_searched(const struct plan_git_seen *seen, const char *directory);
/* True if the search has found that a git directory lacks this part; false if it does not know. */
bool scan_git_lacks(const struct plan_git_seen *seen, const char *git_directory, const char *part);
/* True if the search has found this part; false if it has not, or under another spelling only. */
bool scan_git_has(const struct plan_git_seen *seen, const char *git_directory, const char *part);
/* True if the search has found no entry in `remotes` or `branches` of a git directory. */
bool scan_git_is_empty(const struct plan_git_seen *seen, const char *directory);
/* Adds a note if files of the project have names outside of it. For `plan` only: it inspects every
 * file. */
int plan_note_outside_links(struct plan *plan, struct error *err);

/* Whether the content of a file is public, for files.public. */
struct scan_content {
	enum scan_content_kind {
		CONTENT_PUBLIC,
		CONTENT_EMPTY, /* nothing to hide, and nothing that would be public */
		CONTENT_HIDDEN, /* anything else: other content, unreadable, not a plain file */
		CONTENT_ABSENT,
	} kind;
	const char *reason; /* in the plan's arena */
	size_t bytes; /* that were read */
};
/* Reads and judges the file at a canonical path as it is now. */
struct scan_content scan_judge_content(const struct plan *plan, const char *path);

/* The rules that hold for one name that appears after the scan. */
struct scan_entry {
	const struct rule *denied_by, *protected_by; /* NULL: no rule */
	bool is_pruned; /* a directory that is not searched */
};
struct scan;
/* Prepares judging single names by the patterns of this plan. In the plan's arena. */
struct scan *scan_entries_prepare(const struct plan *plan);
/* Judges an entry of a searched tree; `name` is the last component of its canonical path. Cheap for
 * the names that no pattern can match. */
struct scan_entry scan_entries_judge(struct scan *scan, const char *path, const char *name, bool is_directory);

#endif

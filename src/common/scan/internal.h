/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the scan only. */
#ifndef BERM_COMMON_SCAN_INTERNAL_H
#define BERM_COMMON_SCAN_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/scan/scan.h"
#include "common/scan/name_filter.h"

/* The most matches of one list and of all lists; with more, the scan fails. Each is a mount, and
 * the kernel allows 100000 by default. */
enum { SCAN_MATCHES_MAX = 65536, SCAN_MOUNTS_MAX = 98304 };
/* The most paths that are opened inside locked directories; further ones stay locked. Init holds a
 * descriptor of each while it locks the directory around them. */
enum { SCAN_OPENED_MAX = 256 };
/* Size of a path buffer; nothing can be mounted on a longer path. */
enum { SCAN_PATH_BYTES = 4096 };

/* hard_links.c */

/* Compares paths in an order in which the entries of a directory directly follow it. */
int scan_compare_paths(const char *left, const char *right);
/* Returns the match that is path or an ancestor of it, or NULL. The list must be in that order,
 * with no match below another. */
const struct plan_match *scan_find_above(const struct plan_matches *matches, const char *path);
/* Adds the other names (hard links) of hidden files to results->masked. */
int scan_hard_links(const struct plan *plan, struct scan_results *results, struct error *err);

/* git_pointers.c */

/* True if scan_is_git_pointer must be asked about a file of this name. */
bool scan_may_be_git_pointer(const char *name, enum file_type type);
/* True if the file, once rewritten, would make the host's git use another repository. */
bool scan_is_git_pointer(const struct plan *plan, const char *directory, const char *name);

/* pins.c: fills results->pinned; `links` are symlinks that must stay. Returns false if there are
 * too many. */
bool scan_pin(const struct plan *plan, struct scan_results *results, const struct plan_matches *links);

/* public_files.c: checks the files of scan->conditional, and hides those that are not public. */
void scan_judge_files(struct scan *scan);
/* public_files.c: corrects the verdicts when results->masked is complete. */
void scan_finish_judged(struct scan *scan);

/* too_many.c: the error of a list with more than SCAN_MATCHES_MAX matches. Names the directory with
 * most of them and a command that moves them aside. Returns -1. */
int scan_too_many(const struct plan *plan, const struct scan_results *results, struct error *err);

/* A directory that the search skipped. */
struct scan_tree {
	const char *path;
	bool is_writable;
};

/* A symlink in a writable tree, and a name under which it is reached. */
struct scan_link {
	const char *path; /* of the link itself */
	const char *name; /* the same, or a path through `outer` */
	const struct scan_link *outer; /* the link in whose target it was found; NULL: found by its own path */
	const char *target; /* canonical; set by linked.c */
	struct path_links passed; /* on the way to the target */
};

/* The rules that apply to one entry. */
struct scan_finding {
	const struct rule *denied_by, *protected_by, *opened_by;
	const struct rule *unless_public; /* denies it unless its content is public */
	bool is_pruned;
};

struct scan {
	const struct plan *plan;
	struct scan_results *results;
	struct tree_index *memory; /* or NULL */
	bool case_fold;
	const struct plan_grant *root; /* the grant that is being searched */
	bool has_inner_grants; /* below root */
	struct name_filter index; /* of deny, then protect, then prune, then unprotect */
	struct scan_matches {
		struct plan_match *items;
		size_t count;
	} masked, locked, opened, denied_links, protected_links, followed;
	struct scan_matches fifos; /* in writable trees */
	struct scan_matches conditional; /* denied unless their content is public */
	struct scan_matches git_searched, git_parts; /* for struct plan_git_seen */
	struct scan_matches gits; /* every `.git`, and as FILE_ABSENT every directory with a HEAD */
	struct scan_links {
		struct scan_link **items;
		size_t count;
	} links;
	const char *state_link; /* a symlink into berm's state, or NULL */
	bool ignores_deny; /* of anything but directories */
	bool is_strict; /* exceptions with directories do not count; changed between walks only */
	struct scan_trees {
		struct scan_tree *items;
		size_t count;
	} unsearched;
	pthread_mutex_t lock; /* of the lists above and the plan's arena */
	atomic_uint_least64_t directories, files;
	atomic_bool has_too_many, has_too_long, has_closed_root;
	atomic_bool has_too_many_parts; /* of git directories: the lists are dropped */
	bool has_too_many_opened; /* noted once */
};

/* git.c: true if scan_record_git must be called for an entry; the same answer at each scan. */
bool scan_is_git_entry(const struct scan *scan, const char *directory, const char *name, enum file_type type);
/* git.c: notes a `.git` or HEAD, from any thread. */
void scan_record_git(struct scan *scan, const char *directory, const char *name, enum file_type type);
/* git.c: resolves the git directories, locks what git would obey in and by them, and fills
 * results->git_directories and unheld_setting. */
void scan_git(struct scan *scan);
/* places.c: fills results->places; results->locked must be complete. */
void scan_list_places(struct scan *scan);

/* git_parts.c, from any thread: notes an entry that git obeys. True if every walk must visit it. */
bool scan_note_git_part(struct scan *scan, const char *directory, const char *name, enum file_type type);
/* git_parts.c, from any thread: notes a directory that the walk enters. */
void scan_note_git_search(struct scan *scan, const char *directory, const char *name);
/* git_parts.c: fills results->git_entries and results->unsearched, after scan_git. */
void scan_list_git_entries(const struct scan *scan);
/* git_parts.c: sorts what was noted; empty lists if there was too much. */
void scan_finish_git_parts(struct scan *scan, struct plan_git_seen *seen);

/* scan.c: adds a match, from any thread. If the list is full, the match is dropped and the scan
 * fails in the end. */
void scan_record(struct scan *scan, struct scan_matches *matches, const char *path, enum file_type type,
		 const struct rule *rule);

/* scan.c: true if hiding or locking path would cover a whole grant, which no pattern for a name
 * intends. */
bool scan_holds_grant(const struct plan *plan, const char *path);
/* scan.c: makes the scan fail if a denied name, or a directory, leads into berm's state, where the
 * private home and /tmp are. Both arguments must outlive the scan. */
void scan_check_state(struct scan *scan, const char *link, const char *target);
/* scan.c: adds a note. */
void scan_note(struct scan *scan, const struct rule *rule, const char *text);

/* search.c: visits every entry of the directories that a rule makes readable or writable. */
int scan_search(struct scan *scan, struct error *err);

/* lookup.c: looks up the paths that the policy spells out in trees of software and in skipped
 * directories. */
int scan_look_up(struct scan *scan, struct error *err);
/* snapshots.c: hides directories with older versions of the files in results->masked, which must be
 * finished. */
void scan_snapshots(struct scan *scan);
/* lookup.c: if root runs berm, hides files below /etc and the like that only root may read. */
int scan_hide_root_only(struct scan *scan, struct error *err);

/* search.c, for linked.c: */

/* Returns the rules that apply to an entry of this path; `name` is its last component. */
struct scan_finding scan_judge(const struct scan *scan, const char *path, const char *name, bool is_directory);
/* Records an entry that is denied, protected, opened or pruned. Returns whether the walk enters
 * it. */
enum walk_step scan_record_finding(struct scan *scan, const struct scan_finding *finding, const char *path,
				   enum file_type type);
/* Compiles the patterns of the plan, before the next functions. */
void scan_prepare_names(struct scan *scan);
/* True if scan_judge must be asked about a name. */
bool scan_has_candidate(const struct scan *scan, const char *name);
/* True if the file is a git pointer that must not be rewritten. */
bool scan_is_locked_pointer(struct scan *scan, const char *directory, const char *name, enum file_type type);
/* True for types of which every entry must be visited, by the next function. */
static inline bool scan_is_special(enum file_type type)
{
	return type == FILE_SOCKET || type == FILE_FIFO || type == FILE_UNKNOWN;
}
/* Hides an entry because of its type: a socket of the host, a FIFO that would take writes, or in a
 * writable tree a directory that its owner has closed and could open again inside. */
void scan_visit_special(struct scan *scan, const char *directory, const char *name, enum file_type type);
/* True if the path is that of a grant. */
bool scan_is_grant(const struct plan *plan, const char *path);
/* True if a grant is below the directory. */
bool scan_has_inner_grants(const struct plan *plan, const char *directory);
/* True if `sockets` names the path. */
bool scan_is_named_socket(const struct plan *plan, const char *path);

/* linked.c: adds a symlink to those that scan_search_links follows, from any thread. */
void scan_record_link(struct scan *scan, const char *path, const char *name, const struct scan_link *outer);
/* linked.c: searches the directories to which the recorded symlinks lead. */
int scan_search_links(struct scan *scan, struct error *err);

/* host_sockets.c: hides sockets of the host in directories that are not searched. Sets
 * results->unlisted_sockets if the kernel's list cannot be read. */
void scan_hide_sockets(struct scan *scan);

#endif

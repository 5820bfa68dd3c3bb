/* SPDX-License-Identifier: Apache-2.0 */
/* The rooms of one scan, between scan.c, scan_search.c and scan_lookup.c only: who looks where, and where all of them write down what they
 * find. */
#ifndef BERM_COMMON_SCAN_INTERNAL_H
#define BERM_COMMON_SCAN_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/scan/scan.h"
#include "common/scan/name_filter.h"

/* A directory that the search did not look into. */
struct scan_tree {
	const char *path;
	bool is_writable;
};

struct scan {
	struct plan *plan;
	struct walk_memory *memory; /* or NULL */
	bool case_fold;
	const struct plan_grant *root; /* being searched */
	bool has_inner_grants; /* below root */
	struct scan_index index; /* deny, then protect, then prune */
	struct scan_matches {
		struct plan_match *items;
		size_t count;
	} masked, locked, denied_links, protected_links, followed;
	struct scan_trees {
		struct scan_tree *items;
		size_t count;
	} unsearched;
	pthread_mutex_t lock; /* for the lists above and the plan's arena */
	atomic_uint_least64_t directories, files;
	atomic_bool has_too_many, has_too_long, has_closed_root;
};

/* scan.c: from any thread. What is too much for a list is left out, and the plan refused in the end. */
void scan_record(struct scan *scan, struct scan_matches *matches, const char *path, enum file_type type,
		 const struct rule *rule);

/* scan_search.c: every entry of the directories that are readable or writable by a rule. */
int scan_search(struct scan *scan, struct error *err);

/* scan_lookup.c: trees of software, and what the search left out, are only asked about paths that the policy spells out. */
int scan_look_up(struct scan *scan, struct error *err);
/* For root: what only root may read, where administrators keep such things. */
int scan_hide_root_only(struct scan *scan, struct error *err);

#endif

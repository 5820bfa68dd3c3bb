/* SPDX-License-Identifier: Apache-2.0 */
/* The rule table of the guard: whether a name may come into being at a path. Pure: it sees paths
 * and lists, never the file system. A wrong answer here is the one mistake that Landlock cannot
 * catch.
 *
 * Words. A place is a directory in which a host looks for names that it obeys. A root is the place
 * of a project. A holder is a directory that is looked into from a root, such as .github for
 * .github/hooks. A spine is a directory above a place. */
#ifndef BERM_LINUX_GUARD_RULES_H
#define BERM_LINUX_GUARD_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/plan/plan.h"
#include "common/scan/name_filter.h"

enum { GUARD_PATH_BYTES = 65536 }; /* a name with a longer path is refused */

enum { GUARD_FREE_MAX = 3 };

enum guard_thing { GUARD_FILE, GUARD_SYMLINK, GUARD_DIRECTORY };

struct guard_verdict {
	/* 0: it may. EACCES: it may not. EXDEV: a directory may not be moved there; the caller
	 * copies it, and each name is checked. */
	int error;
	const struct rule *rule; /* the deciding rule of a refusal; NULL for the shape of a place */
};

/* A path and its role; part of a hash table. */
struct guard_role {
	const char *path;
	size_t length;
	unsigned roles; /* bits, private to rules.c */
};

/* A pattern of plan->protect, prepared. */
struct guard_pattern {
	const struct plan_pattern *item;
	/* Of a pattern that matches anywhere, without its leading stars: so many components before
	 * the last one of a match the root is. 0: any number, or a pattern of one directory. */
	unsigned components;
	bool is_everywhere; /* refused wherever it matches */
};

struct guard_rules {
	const struct plan *plan;
	struct guard_pattern *patterns; /* as in plan->protect */
	struct name_filter names; /* of patterns; without those of submodules */
	/* Those with a directory that is looked into: first those that are everywhere, then those
	 * from a root, then those of one directory. */
	const struct guard_pattern **leading;
	size_t leading_everywhere, leading_anywhere, leading_count;
	struct guard_role *table;
	size_t mask; /* of the table */
	bool case_fold;
	const char *free[GUARD_FREE_MAX];
	size_t free_count;
};

/* Builds the table from the plan and its scan results, in the plan's arena. */
void guard_rules_build(struct guard_rules *rules, const struct plan *plan);
/* Judges a new name. The path is the canonical path of the open directory, a slash and the name.
 * has_moved: a directory is renamed there, with everything in it. */
struct guard_verdict guard_judge(const struct guard_rules *rules, const char *path, enum guard_thing thing, bool has_moved);
/* True if the path is a place or a spine, which is never renamed. */
bool guard_is_fixed(const struct guard_rules *rules, const char *path);

/* True for a git directory that existed at launch. */
bool guard_is_git(const struct guard_rules *rules, const char *path);
/* True for a directory in a write grant below which no file is ever refused, wherever the command
 * may move it to: no place and no holder, and with none below. */
bool guard_may_be_tree(const struct guard_rules *rules, const char *path);

/* Directories below which the command may create by itself: private to the sandbox, and with no
 * write grant below, because Landlock grants whole trees. The deputy performs everything else. */
size_t guard_free_directories(const struct plan *plan, const char *directories[GUARD_FREE_MAX]);
/* True if the path is below one of them. */
bool guard_is_free(const struct guard_rules *rules, const char *path);

#endif

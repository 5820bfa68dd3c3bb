/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned paths as a tree, so that thousands of them fit into a profile: if one directory has many
 * pinned entries, they become one entry that means every name. What the tree pins is never
 * less than what was added. */
#ifndef BERM_MACOS_PROFILE_PIN_TREE_H
#define BERM_MACOS_PROFILE_PIN_TREE_H

#include "common/base/arena.h"
#include "common/base/text.h"
#include "common/policy/policy.h"

struct pin_node {
	const char *name; /* NULL: any name */
	const struct rule *rule;
	bool is_pinned;
	struct pin_node *child, *next;
};

/* Adds an absolute path. The root must be zero at first. */
void pin_tree_add(struct arena *arena, struct pin_node *root, const char *path, const struct rule *rule);
/* Merges entries until the texts of all pinned paths have at most `most` bytes together, or only
 * one path of each depth is left. */
void pin_tree_fit(struct pin_node *root, size_t most);

/* Calls visit for every pinned path. If is_any, the text is a regular expression without its ends,
 * because a name in it means all; else it is the path. */
typedef void pin_tree_visit(void *self, const char *text, bool is_any, const struct rule *rule);
void pin_tree_walk(const struct pin_node *root, pin_tree_visit *visit, void *self);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of the project in which the command makes files by itself: directories that exist at launch
 * and below which no name is ever refused. Landlock allows files in them (MAKE_REG), so that a call
 * there can be continued, which takes half as long as performing it. Directories, symlinks, links
 * and renames are performed everywhere.
 *
 * A continued call is always safe: Landlock is the judge of it. A wrong tree would be a hole, so
 * the rule table chooses them (guard_may_be_tree). To continue a call that Landlock refuses would
 * be a wrong EACCES, so a call is continued only if its path leads into a tree without a symlink;
 * in doubt it is performed. */
#ifndef BERM_LINUX_GUARD_TREES_H
#define BERM_LINUX_GUARD_TREES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "linux/guard/rules.h"

enum { GUARD_TREES_MAX = 64 }; /* a rule takes some 10 µs of a launch */

struct guard_tree {
	const char *path; /* in the plan's arena */
	size_t length;
	int fd; /* O_PATH; -1 once the command has started */
	dev_t device;
	ino_t inode; /* not used again while the command's Landlock layer has it */
};

struct guard_trees {
	struct guard_tree items[GUARD_TREES_MAX];
	size_t count;
	atomic_uint changes; /* calls that may have changed where a path leads */
};

/* Finds the trees, the outermost first, by listing places and the directories above them. */
void guard_trees_find(struct guard_trees *trees, const struct guard_rules *rules);
/* Closes their fds. */
void guard_trees_close(struct guard_trees *trees);

/* Directories that were found to be in a tree, for a short time: the host may replace one by a
 * symlink. Of one thread. */
enum { TREES_SEEN = 16, TREES_TEXT = 512 };
struct trees_seen {
	struct {
		char directory[TREES_TEXT];
		unsigned changes;
		int64_t at;
	} items[TREES_SEEN];
};

/* True if the kernel can make this file: path is the call's text, base its fd or AT_FDCWD.
 * may_follow: a symlink of that name would be followed. */
bool trees_lead_there(const struct guard_trees *trees, struct trees_seen *seen, pid_t caller, int base, const char *path,
		      bool may_follow);
/* Called after a directory was made at the path. */
void trees_note_directory(struct guard_trees *trees, const char *path);
/* Called after anything but a regular file has come to a path. */
void trees_note_change(struct guard_trees *trees);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Masks, locks and pins that are mounted while the command runs, by a process that has entered the
 * view's user and mount namespaces from outside. It is in another pid namespace, so the view's
 * /proc has no entry for it: everything is mounted by descriptor.
 *
 * The command may rename and replace everything on the way to a path meanwhile. Targets are opened
 * without following symlinks, and late_masks_look afterwards tells whether the path is covered. */
#ifndef BERM_LINUX_VIEW_LATE_MASKS_H
#define BERM_LINUX_VIEW_LATE_MASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/plan/plan.h"

struct late_masks {
	int root;
	int writer, source; /* two mounts of one tmpfs for new masks; `source` is read-only */
	size_t texts;
};

/* Opens the root and mounts a tmpfs for new masks at a place that the command cannot enter. */
int late_masks_open(struct late_masks *late, struct error *err);

struct late_look {
	enum late_state {
		LATE_ABSENT,
		LATE_COVERED, /* a mount point */
		LATE_OPEN, /* present, nothing is mounted there */
		LATE_LINK, /* a symlink that is not pinned */
	} state;
	enum file_type type;
	uint64_t device, inode;
	uint32_t owner;
	/* Real time in nanoseconds: the last change of the inode, a rename included; creation, or 0
	 * if it is unknown. */
	int64_t changed, created;
};
/* Inspects a path without changing anything. -1 with errno. */
int late_masks_look(const struct late_masks *late, const char *path, struct late_look *look);
/* True if the symlink at the path leads to something that is visible and not covered. */
bool late_masks_link_shows(const struct late_masks *late, const char *path);

/* Hides (is_mask) or locks one path. The number of the error is EAGAIN if it moved meanwhile. */
int late_masks_cover(struct late_masks *late, const struct plan *plan, const struct plan_match *match, bool is_mask,
		     struct error *err);
/* Pins the directories from the path up to the root of its writable grant, where that was lost.
 * After late_masks_cover: a process whose working directory is there stays below the pin, so the
 * cover must be on both sides of it. -1 with errno. */
int late_masks_pin_above(const struct late_masks *late, const struct plan *plan, const char *path);

#endif

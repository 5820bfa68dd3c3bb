/* SPDX-License-Identifier: Apache-2.0 */
/* What the command sees: a new root that holds only what the plan names.
 *
 * Theory of operation. In the new mount namespace the whole host tree is first made private, read-only, nosuid and nodev; before
 * that, detached copies are taken of what must stay writable. Then a new root is mounted over `/`: an empty tmpfs, or
 * one whose directories and links were kept since an earlier run (root_store.h), with a small tmpfs for what is new in each run. The
 * process's root still points below it, so absolute paths name the host and descriptors of the mount name the new root; each
 * planned path is attached there. At last chroot(".") moves over. The host's mounts stay below the new root: no path leads
 * there (`..` ends at the topmost mount of `/`), they cannot be uncovered without CAP_SYS_ADMIN over this namespace, and in a
 * nested user namespace they are locked. This costs 5 µs where pivot_root and umount cost 100-180. */
#ifndef BERM_LINUX_VIEW_VIEW_H
#define BERM_LINUX_VIEW_VIEW_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/plan/plan.h"
#include "common/state/state.h"

struct view_result {
	int git_events; /* of git_events_open, or -1: no repository here has a configuration to lock */
	bool has_proc; /* false: the procfs mount was refused (containers); /proc is empty */
};

/* Builds the view and enters it: root and working directory are inside afterwards. Needs CAP_SYS_ADMIN in the mount namespace's
 * user namespace, and a pid namespace of its own for /proc. */
struct view_request {
	const struct state *state;
	const struct state_place *root; /* a shape that was kept; path NULL: a new one is made */
	bool has_terminal; /* view_has_terminal */
	void *self;
	/* Called as soon as there is a directory for the run's own files: somebody fills it (furnish.h). */
	int (*offer)(void *self, int own, struct error *err);
	/* Called when all stands that the scan has no part in. Then the plan must have what the scan found. */
	int (*await)(void *self, struct error *err);
	/* Called when the directory has to be filled. */
	int (*await_own)(void *self, struct error *err);
};
int view_enter(const struct plan *plan, const struct view_request *request, struct view_result *result, struct error *err);
/* The same calls without a plan, in a throwaway namespace: can a view be built on this machine? */
int view_probe(struct view_result *result, struct error *err);

/* Is berm on a terminal that has a name inside? */
bool view_has_terminal(void);

/* Makes in the directory `root` all that mounts of this plan's view lie on; and a name that only plans of the same shape have. */
int view_shape_make(int root, const struct plan *plan, bool has_terminal, struct error *err);
enum { VIEW_SHAPE_HEX = 32 };
void view_shape_name(const struct plan *plan, char name[VIEW_SHAPE_HEX]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The new root's shape (view.h), kept in the private state of the project: some fifty directories, empty files and links that a launch would
 * otherwise make, and the kernel take apart at its end. It lies in the class directory, which no sandbox can write and whose lock keeps
 * `berm state reset` away while it is in use; its name is a hash of all that is in it, and it appears whole or not at all. */
#ifndef BERM_LINUX_VIEW_ROOT_CACHE_H
#define BERM_LINUX_VIEW_ROOT_CACHE_H

#include "common/plan/plan.h"
#include "common/state/state.h"
#include "linux/view/view.h"

/* The one of this name, made now if there is none. `place` has no path if it cannot be had, and the view makes its own. -1 if something else
 * lies in its place: as everywhere in the state that is refused, never repaired. */
int root_store_find(const struct plan *plan, const char name[VIEW_SHAPE_HEX], bool has_terminal, int class_directory,
		    struct state_place *place, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The rooms of the view, between view*.c, masks.c and masks_git.c only. */
#ifndef BERM_LINUX_VIEW_INTERNAL_H
#define BERM_LINUX_VIEW_INTERNAL_H

#include "common/base/error.h"
#include "common/plan/plan.h"
#include "common/state/state.h"
#include "linux/view/view.h"

/* view_entries.c */
enum view_kind {
	VIEW_PRIVATE, /* the private home or tmp, or a fresh tmpfs in its place: mount points may be made below it */
	VIEW_GRANT,
	VIEW_SOCKET,
};
/* One thing to attach: a detached tree and where it goes. */
struct view_entry {
	const char *path;
	enum view_kind kind;
	bool is_directory;
	bool is_writable;
	int tree; /* -1: root alone decides what lies at its path, and it is attached by that */
	const char *mode; /* of a private one */
	const struct state_place *place; /* of a private one; NULL: a new tmpfs */
};
struct view_entries {
	struct view_entry *items; /* by path */
	size_t count;
};
/* Without a state: the paths only. */
void view_list(const struct plan *plan, const struct state *state, struct view_entries *entries);
/* The entry that shows what lies around `path`, among the first `count`; NULL: nothing does, it is in the new root itself. */
const struct view_entry *view_around(const struct view_entries *entries, const char *path, size_t count);
bool view_has_grant_at(const struct plan *plan, const char *path);

/* view_shape.c */
bool view_needs_var_tmp(const struct plan *plan);

/* view_devices.c: their part of the root's shape; and the devices themselves, once the host's tree is locked. */
int view_devices_make(int root, const struct plan *plan, bool has_terminal, struct error *err);
int view_devices_attach(const struct plan *plan, int root, bool has_terminal, struct error *err);

/* view.c: the mount options of a tmpfs of this mode; with is_disk its files count as the disk's too. */
enum { VIEW_OPTIONS_MAX = 64 };
void view_tmpfs_options(const struct plan *plan, const char *mode, bool is_disk, char options[VIEW_OPTIONS_MAX]);

/* view_proc.c. Returns 1 if /proc is there, 0 if the kernel refuses it here, -1. `own` is a directory for files of berm's own. */
int view_proc_attach(int root, int own, struct error *err);

/* view_mounts.c: -1 if something of the kernel's own is mounted in what is writable. */
int view_refuse_mounts(const struct plan *plan, struct error *err);

/* masks.c: the plan's pins, after everything else is attached; then its locks and masks. `own` as above and filled (furnish.h); the mount it lies on
 * is read-only afterwards. */
int masks_pin(int root, const struct plan *plan, struct error *err);
struct masks_place {
	int root, own, mount;
};
int masks_apply(const struct masks_place *place, const struct plan *plan, struct error *err);
/* masks_git.c: what a submodule's configuration shall read like inside; NULL: as it is, or it is none. */
const char *masks_submodule_config(int root, struct arena *arena, const char *path);

/* view_shape.c: an empty file or directory in a root of ours, where nothing is a symlink that we did not make; parents as needed. -1 with
 * errno. The other one makes no parents. */
int view_make(int root, const char *path, bool is_directory);
int view_make_in(int parent, const char *name, bool is_directory);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of the room view. */
#ifndef BERM_LINUX_VIEW_INTERNAL_H
#define BERM_LINUX_VIEW_INTERNAL_H

#include "common/base/error.h"
#include "common/plan/plan.h"
#include "common/state/state.h"
#include "linux/view/view.h"

/* entries.c */
enum view_kind {
	/* The private home or tmp, or a new tmpfs instead. Mount points may be created below it. */
	VIEW_PRIVATE,
	VIEW_GRANT,
	VIEW_SOCKET,
	/* A directory of the private home that only leads to another entry: read-only, so that
	 * nothing is written beside the project which the host would never see. Its mount is made
	 * when it is attached. */
	VIEW_WAY,
};
/* A detached mount and the path at which it is attached. */
struct view_entry {
	const char *path;
	enum view_kind kind;
	bool is_directory;
	bool is_writable;
	int tree; /* -1: only root can change its path, so it is mounted by path; or VIEW_WAY */
	const char *mode; /* of VIEW_PRIVATE */
	const struct state_place *place; /* of VIEW_PRIVATE; NULL: a new tmpfs */
};
struct view_entries {
	struct view_entry *items; /* sorted by path */
	size_t count;
};
/* Lists the entries of a plan, in its arena. With state NULL no entry has a place. */
void view_list(const struct plan *plan, const struct state *state, struct view_entries *entries);
/* Returns the innermost of the first `count` entries that contains `path`; NULL: only the new root
 * does. */
const struct view_entry *view_around(const struct view_entries *entries, const char *path, size_t count);
/* True if programs keep their own files in an entry of the home with this name, which has `length`
 * bytes: it stays writable, also as the way to another entry. */
bool view_is_program_state(const char *name, size_t length);
/* True if the plan has a grant at exactly this path. */
bool view_has_grant_at(const struct plan *plan, const char *path);

/* root_layout.c: true if /var/tmp has to be a link to /tmp. */
bool view_needs_var_tmp(const struct plan *plan);

/* devices.c: creates the mount points of /dev; mounts the devices, once the host's tree is
 * locked. */
int view_devices_make(int root, const struct plan *plan, bool has_terminal, struct error *err);
int view_devices_attach(const struct plan *plan, int root, bool has_terminal, struct error *err);

/* view.c: writes the mount options of a tmpfs of this mode; with is_disk the limit of disk space
 * bounds it too. */
enum { VIEW_OPTIONS_MAX = 64 };
void view_tmpfs_options(const struct plan *plan, const char *mode, bool is_disk, char options[VIEW_OPTIONS_MAX]);

/* proc.c: returns 1 if /proc is mounted, 0 if the kernel refuses it here, -1 on failure. A
 * temporary file is created in the directory `run_files`. */
int view_proc_attach(int root, int run_files, struct error *err);

/* foreign_mounts.c: -1 if a kernel file system is mounted in a writable path. */
int view_refuse_mounts(const struct plan *plan, struct error *err);
/* True if anything is mounted below the path, in the host's tree or in the view, or if that is not
 * known. */
bool view_has_mounts_below(const char *path);

/* overlay.c: returns a detached overlay over the project, of which `lower` is an fd. -1 with
 * err. */
int view_overlay(const char *project, int lower, const struct run_copy *copy, struct error *err);
/* The same for a full copy of the project, which is mounted as it is. */
int view_full_copy(const struct run_copy *copy, struct error *err);

/* masks.c: mounts the plan's pins, after everything else is attached; then its locks and masks.
 * `run_files` is the directory of the run's files, which the launcher fills meanwhile; `mount`, the
 * mount that contains it, is read-only afterwards. */
int masks_pin(int root, const struct plan *plan, struct error *err);
struct masks_place {
	int root, run_files, mount;
	const struct view_request *request; /* its await_run_files */
};
int masks_apply(const struct masks_place *place, const struct plan *plan, struct error *err);
/* The same for one path, in a view that is in use (late_masks.h). place->mount is a read-only mount
 * of the files in place->run_files; *texts counts the files that were created for locks. */
int masks_apply_late(const struct masks_place *place, const struct plan *plan, const struct plan_match *match, bool is_mask,
		     size_t *texts, struct error *err);
/* Pins a directory of a view that is in use, with all mounts in it. -1 with errno. */
int masks_pin_late(int root, const char *path);
/* masks_git.c: returns the text of a submodule's configuration for the inside, in the arena; NULL:
 * unchanged, or the path is not such a file. */
const char *masks_submodule_config(int root, struct arena *arena, const char *path);

/* root_layout.c: creates an empty file or directory and its parents, in a root in which berm made
 * every symlink. An existing one is fine. -1 with errno. */
int view_make(int root, const char *path, bool is_directory);
/* The same without parents. */
int view_make_in(int parent, const char *name, bool is_directory);

#endif

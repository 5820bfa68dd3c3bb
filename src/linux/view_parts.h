/* SPDX-License-Identifier: Apache-2.0 */
/* The rooms of the view, between view.c, view_devices.c, view_mounts.c, view_proc.c, masks.c and masks_git.c only. */
#ifndef BERM_LINUX_VIEW_PARTS_H
#define BERM_LINUX_VIEW_PARTS_H

#include "common/error.h"
#include "common/plan.h"

/* view_devices.c. Nodes are copied before the host tree becomes nodev, and attached later. */
enum { VIEW_DEVICE_MAX = 64 };
struct view_devices {
	struct view_device {
		const char *path; /* inside, absolute */
		int tree;
	} nodes[VIEW_DEVICE_MAX];
	size_t count;
	bool is_restricted; /* all of /dev was, before the nodes were taken */
};
int view_devices_take(const struct plan *plan, struct view_devices *devices, struct error *err);
int view_devices_attach(const struct plan *plan, int root, const struct view_devices *devices, struct error *err);

/* view.c: the mount options of a tmpfs of this mode; with is_disk its files count as the disk's too. */
enum { VIEW_OPTIONS_MAX = 64 };
void view_tmpfs_options(const struct plan *plan, const char *mode, bool is_disk, char options[VIEW_OPTIONS_MAX]);

/* view_proc.c. Returns 1 if /proc is there, 0 if the kernel refuses it here, -1. */
int view_proc_attach(int root, struct error *err);

/* view_mounts.c: -1 if something of the kernel's own is mounted in what is writable. */
int view_refuse_mounts(const struct plan *plan, struct error *err);

/* masks.c: pins, locks and masks of the plan, after everything else is attached; leaves the root read-only. */
int masks_apply(int root, const struct plan *plan, struct error *err);
/* masks_git.c: what a submodule's configuration shall read like inside; NULL: as it is, or it is none. */
const char *masks_submodule_config(int root, struct arena *arena, const char *path);

/* An empty file or directory in our own tmpfs, where nothing is a symlink that we did not make; parents as needed. -1 with errno. */
int view_make(int root, const char *path, bool is_directory);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Directories with older versions of files. ZFS has one at the top of each file system; NFS servers
 * and CephFS have one in every directory. A listing usually omits the name, so the search does not
 * find it. It is looked up in every directory above a hidden file, up to the root of the grant, and
 * hidden if files.deny names it; not on file systems that list every name. Only inspects names. */
#include "common/scan/internal.h"

#include <string.h>

static const char *const names[] = { ".zfs", ".snapshot", ".snap" };

static void look_in(struct scan *scan, const char *directory)
{
	const struct plan *plan = scan->plan;
	const struct filesystem *fs = plan->context.fs;
	if (fs->may_omit_names && !fs->may_omit_names(fs, directory))
		return;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[SCAN_PATH_BYTES];
		const struct rule *rule;
		struct file_info info;
		if (!path_join_into(path, sizeof path, directory, names[i]) || fs->inspect(fs, path, &info) < 0 ||
		    info.type != FILE_DIRECTORY)
			continue;
		rule = plan_denied_by(plan, path, true);
		if (rule)
			scan_record(scan, &scan->masked, path, FILE_DIRECTORY, rule);
	}
}

/* Directories that are also above `previous` were inspected with it. */
static void look_above(struct scan *scan, const char *path, const char *previous)
{
	const struct plan *plan = scan->plan;
	const struct plan_grant *grant = plan_grant_for(plan, path);
	if (!grant || grant->kind == GRANT_SYSTEM)
		return;
	while (strcmp(path, grant->path) != 0) {
		path = path_parent(plan->arena, path);
		if (strcmp(path, grant->path) == 0 || (previous && path_is_within(previous, path)))
			return;
		look_in(scan, path);
	}
}

void scan_snapshots(struct scan *scan)
{
	const struct plan *plan = scan->plan;
	const struct plan_matches masked = scan->results->masked;
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind != GRANT_SYSTEM && plan->grants.items[i].type == FILE_DIRECTORY)
			look_in(scan, plan->grants.items[i].path);
	for (size_t i = 0; i < masked.count; i++)
		look_above(scan, masked.items[i].path, i > 0 ? masked.items[i - 1].path : NULL);
}

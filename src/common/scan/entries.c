/* SPDX-License-Identifier: Apache-2.0 */
/* Judges single names that appear after the scan, by the patterns that the scan uses. Looks at
 * names only: links are not followed and pointers of git are not read. */
#include "common/scan/internal.h"

struct scan *scan_entries_prepare(const struct plan *plan)
{
	struct scan *scan = arena_alloc(plan->arena, sizeof *scan);
	*scan = (struct scan){ .plan = plan, .case_fold = plan_folds_case(plan) };
	scan_prepare_names(scan);
	return scan;
}

struct scan_entry scan_entries_judge(struct scan *scan, const char *path, const char *name, bool is_directory)
{
	struct scan_entry entry = { 0 };
	struct scan_finding finding;
	if (!scan_has_candidate(scan, name))
		return entry;
	scan->root = plan_grant_for(scan->plan, path);
	if (!scan->root || scan->root->kind == GRANT_SYSTEM)
		return entry;
	finding = scan_judge(scan, path, name, is_directory);
	entry.denied_by = finding.denied_by ? finding.denied_by : finding.unless_public;
	entry.protected_by = finding.protected_by;
	entry.is_pruned = finding.is_pruned;
	return entry;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Names that programs of the host obey when they find them, and where these programs look. The one
 * table of them: the guard, the scan, `plan` and the documents read it. Never opens a file. */
#ifndef BERM_COMMON_PLAN_PLANTING_H
#define BERM_COMMON_PLAN_PLANTING_H

#include <stdbool.h>
#include <stddef.h>

#include "common/plan/plan.h"

/* A name that is absent is refused where a host looks for it, and reported elsewhere. */
struct planting_name {
	const char *pattern; /* as in files.protect */
	const char *obeyed_by;
};
extern const struct planting_name planting_table[];
extern const size_t planting_table_count;

/* Returns the programs that obey a name of this rule, or NULL for a rule of the user's own. */
const char *planting_obeyed_by(const struct rule *rule);
/* True if an absent name is refused wherever the pattern matches: the user's own rules, and
 * patterns that match in one directory only. Others are refused in places only. */
bool planting_is_everywhere(const struct plan_pattern *item);
/* True for built-in patterns of files in a git directory below `modules`. Directories that exist
 * are places themselves. A new one is a repository made inside, which is checked after the run. */
bool planting_is_of_modules(const struct plan_pattern *item);
/* True if a host that looks from the directory, which is the first root_length bytes of path, finds
 * path by this pattern. The pattern must be one that matches anywhere. */
bool planting_matches_from(const struct pattern *pattern, const char *path, size_t root_length, bool is_directory,
			   bool case_fold);
/* Returns the rule by which the guard refuses to create the path, or NULL: in a write grant, or in
 * a place that the scan has found. */
const struct rule *planting_refused_by(const struct plan *plan, const char *path, bool is_directory);
/* True if it would look for names below path. */
bool planting_leads_below(const struct pattern *pattern, const char *path, size_t root_length, bool case_fold);

#endif

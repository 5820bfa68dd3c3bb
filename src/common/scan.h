/* SPDX-License-Identifier: Apache-2.0 */
/* Inside plan_scan: what its two files share. */
#ifndef BERM_COMMON_SCAN_H
#define BERM_COMMON_SCAN_H

#include "common/plan_build.h"

/* explain.c: does the pattern, which matches this very path, apply to it? */
bool plan_deny_applies(const struct plan *plan, const struct plan_pattern *item, const char *path, bool is_directory);
bool plan_protect_applies(const struct plan *plan, const struct plan_pattern *item, const char *path);

/* scan_links.c */
/* Orders paths so that what lies below a directory follows it at once. */
int scan_compare_paths(const char *left, const char *right);
/* The match that is path or an ancestor of it, in a list that is sorted so and has nothing below another; or NULL. */
const struct plan_match *scan_find_above(const struct plan_matches *matches, const char *path);
/* Other names of hidden files become hidden too. */
int scan_hard_links(struct plan *plan, struct error *err);

#endif

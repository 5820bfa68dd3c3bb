/* SPDX-License-Identifier: Apache-2.0 */
/* Inside plan_scan: what its files share. */
#ifndef BERM_COMMON_SCAN_SCAN_H
#define BERM_COMMON_SCAN_SCAN_H

#include "common/plan/build.h"

/* Of each list: more is refused. Every one is a mount, of which the kernel allows 100000 by default. */
enum { SCAN_MATCHES_MAX = 65536 };
/* Room for a path; nothing can be mounted on a longer one. */
enum { SCAN_PATH_BYTES = 4096 };

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

/* scan_git.c */
/* Does a file of this name have to be asked about? */
bool scan_may_be_git_pointer(const char *name, enum file_type type);
/* Would it lead the host's git elsewhere if it were written? */
bool scan_is_git_pointer(const struct plan *plan, const char *directory, const char *name);

/* scan_pins.c */
/* Fills plan->pinned; `links` are symlinks that must stay. False if there are too many. */
bool scan_pin(struct plan *plan, const struct plan_matches *links);

#endif

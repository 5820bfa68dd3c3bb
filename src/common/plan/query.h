/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about a plan. `check`, the scan and every backend take their answers from here, so that
 * none of them derives a verdict itself. Nothing here changes the plan. Paths are canonical
 * (path_resolve) except for plan_check_spelling. */
#ifndef BERM_COMMON_PLAN_QUERY_H
#define BERM_COMMON_PLAN_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/context/context.h"
#include "common/fs/pattern.h"
#include "common/policy/policy.h"

struct plan;
struct plan_grant;
struct plan_judged_file;
struct plan_pattern;

/* Verdicts: evaluate.c, evaluate_connect.c, environment.c. */

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_EXECUTE };

struct verdict {
	bool is_allowed;
	const struct rule *rule; /* the deciding rule; NULL if no rule applies */
	const char *reason; /* one clause: "denied", "no rule grants it", "readable by a rule" */
};

struct verdict plan_check_path(const struct plan *plan, enum access access, const char *path, bool is_directory);
/* Checks an absolute path as the user wrote it, with symlinks and `..`. Sets *canonical to the
 * resolved path. A path that does not exist counts as a directory if needs_directory. Returns -1
 * with err if the path cannot be resolved. */
int plan_check_spelling(const struct plan *plan, enum access access, const char *absolute, bool needs_directory,
			const char **canonical, struct verdict *verdict, struct error *err);
struct verdict plan_check_connect(const struct plan *plan, const char *host, uint16_t port);
struct verdict plan_check_variable(const struct plan *plan, const char *name);

/* Grants and patterns before any verdict: path_rules.c. */

/* Returns the innermost grant that contains path, or NULL. The grants must be sorted, as in every
 * finished plan. */
const struct plan_grant *plan_grant_for(const struct plan *plan, const char *path);
/* True if the innermost grant that contains path is writable: by its grants the command may write
 * there. */
bool plan_is_writable(const struct plan *plan, const char *path);
/* True if any grant that contains path is writable, even if an inner grant makes path read-only
 * again. By renaming or replacing a directory above it, the command may change which file the path
 * leads to. Needs no order of the grants. */
bool plan_is_below_writable(const struct plan *plan, const char *path);
/* Return the rule of files.deny or files.protect that applies to path or to a directory above it,
 * or NULL. Grants, and files that the scan found, do not count. */
const struct rule *plan_denied_by(const struct plan *plan, const char *path, bool is_directory);
const struct rule *plan_protected_by(const struct plan *plan, const char *path, bool is_directory);
/* True if this rule, which denies the file at the path by its own name, does not count while the
 * content of the file is public. */
bool plan_deny_is_conditional(const struct plan *plan, const struct rule *denied_by, const char *path);
/* Returns the scan's verdict about a file whose content it has checked, or NULL. */
const struct plan_judged_file *plan_judged_file(const struct plan *plan, const char *path);
/* True if an exact entry of files.write with this rule lifts this protection. */
bool plan_may_lift(const struct rule *write, const struct rule *protect);
/* Returns the rule of files.prune because of which path is not searched, or NULL. */
const struct rule *plan_pruned_by(const struct plan *plan, const char *path);
/* True if the pattern, which matches path itself, applies to it: no exemption, exception or lifted
 * protection does. */
bool plan_deny_applies(const struct plan *plan, const struct plan_pattern *item, const char *path, bool is_directory);
/* The same, but an exception with directories does not count: it would say where a file is. */
bool plan_deny_applies_strictly(const struct plan *plan, const struct plan_pattern *item, const char *path, bool is_directory);
bool plan_protect_applies(const struct plan *plan, const struct plan_pattern *item, const char *path, bool is_directory);
/* True if the pattern matches the first `length` bytes of path, which are the path or a directory
 * above it, and protects the path by that: nothing below opens it again. */
bool plan_protect_covers(const struct plan *plan, const struct plan_pattern *item, const char *path, size_t length,
			 bool is_directory);
/* Returns the directory, at or below `tree`, at which a search for the pattern begins. */
const char *plan_search_start(const struct plan *plan, const struct pattern *pattern, const char *tree);

/* True if names match in any case. Seatbelt folds the paths of a profile on every volume. */
bool plan_folds_case(const struct plan *plan);
/* True if path is `directory` or below it, by the plan's system: path_is_within, on macOS in any
 * case. */
bool plan_is_within(const struct plan *plan, const char *path, const char *directory);

/* The sandbox around the command: state_names.c, evaluate_connect.c, environment_proxy.c. */

/* True if the plan is enforced with mounts, so that files can appear at other paths than the
 * host's. */
bool plan_has_mounts(const struct plan *plan);
/* True if the command uses the host's network without a filter, so that it reaches every
 * destination, metadata services included. */
bool plan_has_open_network(const struct plan *plan);
/* Returns the port inside at which the proxy listens. The port after it is the one that needs no
 * password. */
uint16_t plan_proxy_port(const struct plan *plan);

/* Devices that every command gets: devices.c. */

/* Returns the index-th device path on that system, or NULL past the last. A directory includes its
 * entries. */
const char *device_basic_at(enum operating_system os, size_t index);
/* Returns the index-th of those that are nodes of the host's /dev on Linux, or NULL past the last.
 * The others are symlinks or a file system private to the command. */
const char *device_node_at(size_t index);
/* True if path is one of these devices on that system. */
bool device_is_basic(enum operating_system os, const char *path);

/* Paths that programs on macOS need although no rule names them: macos_paths.c. */

struct platform_path {
	const char *path;
	bool is_tree; /* with everything below it */
};
/* Returns the index-th of these paths, or NULL past the last. */
const struct platform_path *plan_platform_at(size_t index);
/* The mount point of the volume with all files of users. A grant above it does not reach into
 * it. */
extern const char plan_data_volume[];
/* True if path is one of these paths and the plan is for macOS. */
bool plan_is_platform(const struct plan *plan, const char *path);
/* True if path is below the private home or private /tmp, which macOS keeps in berm's state
 * directory. */
bool plan_is_own_place(const struct plan *plan, const char *path);

/* Rules that no policy file holds: rules.c. Their layer is the floor; they are compared by address.
 * */
extern const struct rule rule_state, rule_config, rule_policy_file, rule_git_worktree, rule_git_pointer, rule_git_names,
	rule_marker, rule_root_only, rule_unsearchable, rule_host_socket, rule_host_fifo, rule_linked, rule_executable,
	rule_basic_devices, rule_own_proc, rule_platform, rule_network_files, rule_own_variable, rule_private_home,
	rule_private_tmp, rule_no_network;

#endif

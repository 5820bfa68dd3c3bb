/* SPDX-License-Identifier: Apache-2.0 */
/* Inside plan_resolve: what its parts share. Each part fills one room of the plan; nothing here is for other modules. */
#ifndef BERM_COMMON_PLAN_BUILD_H
#define BERM_COMMON_PLAN_BUILD_H

#include "common/plan/plan.h"

struct builder {
	struct plan *plan;
	struct diagnostics *diagnostics;
	struct path_links links; /* met while resolving grants */
	struct {
		struct followed_link *items;
		size_t count;
	} followed;
};

/* A symlink on the way from a rule to what it grants. */
struct followed_link {
	const char *link, *canonical;
	const struct rule *rule;
	bool is_plantable; /* it lies where commands can write */
};

/* Rules that no policy file holds; their layer is the floor. */
extern const struct rule rule_state, rule_config, rule_policy_file, rule_git_worktree, rule_git_pointer, rule_root_only,
	rule_unsearchable, rule_host_socket, rule_executable, rule_basic_devices, rule_own_proc, rule_platform,
	rule_network_files, rule_own_variable, rule_private_home, rule_private_tmp, rule_no_network;

/* An error in the policy at the rule's place. `hint` may be NULL. */
void build_error(struct builder *builder, const struct rule *rule, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void build_note(struct builder *builder, enum note_kind kind, const struct rule *rule, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* plan_expand.c: `~` and `$NAME` at the beginning of a path or pattern. NULL if the variable is not set; *unset is its name then.
 * With is_default the XDG directories are those below the home, whatever the environment says. With is_pattern what is put in is
 * quoted. */
const char *build_expand(const struct plan *plan, const char *text, bool is_pattern, bool is_default, const char **unset);
/* The canonical path that a rule's text means here, what is there, and the links on the way to it, which are the caller's to judge. NULL,
 * with a note, if a variable is not set or the way leads nowhere. */
const char *build_resolve(struct builder *builder, const struct rule *rule, struct path_links *links, struct file_info *info);
/* The value of a variable in the context's environment, or NULL. */
const char *context_variable(const struct context *context, const char *name);

/* plan_patterns.c */
void build_patterns(struct builder *builder);
/* One pattern that is absolute already; it is valid, because berm wrote it. */
void build_pattern(struct builder *builder, struct plan_patterns *patterns, const char *text, const struct rule *rule);
/* A literal pattern for one canonical path. */
void build_literal(struct builder *builder, struct plan_patterns *patterns, const char *path, const struct rule *rule);

/* plan_links.c: a link that commands could have planted decides nothing. Grants are collected first and judged together; what comes
 * later asks at once: true if the rule was refused, and told so. */
void build_followed(struct builder *builder, const struct rule *rule, const struct path_links *links, const char *canonical);
void build_refuse_links(struct builder *builder);
bool build_refuses_link(struct builder *builder, const struct rule *rule, const struct path_links *links,
			const char *canonical);

/* plan_grants.c: build_grants collects, build_grants_finish sorts and applies deny and protect to the grants themselves. */
void build_grants(struct builder *builder);
void build_grant(struct builder *builder, const char *canonical, enum file_type type, enum grant_kind kind,
		 const struct rule *rule);
/* The same after judging the place: false if it is refused, which is then said. */
bool build_judged_grant(struct builder *builder, const char *canonical, enum file_type type, enum grant_kind kind,
			const struct rule *rule);
void build_grants_finish(struct builder *builder);

/* plan_named.c: fills plan->named and plan->searches, after the grants are final. */
void build_named(struct builder *builder);
/* Where below `tree`, or at it, a search for the pattern begins. */
const char *plan_search_start(const struct plan *plan, const struct pattern *pattern, const char *tree);

/* plan_git.c: git directories that lie outside the project they belong to. */
void build_git(struct builder *builder);

/* plan_network.c */
void build_network(struct builder *builder);
/* plan_devices.c */
void build_sockets(struct builder *builder);
void build_devices(struct builder *builder);
/* Is this one of the device nodes that every command gets on that system? */
bool device_is_basic(enum operating_system os, const char *path);
/* The index-th of them; NULL past the last. A directory stands for what lies in it. */
const char *device_basic_at(enum operating_system os, size_t index);
/* environment.c */
void build_environment(struct builder *builder);
/* The rule of environment.pass that a name falls under, or NULL. */
const struct rule *environment_passed_by(const struct policy *policy, const char *name);
/* A variable that berm itself sets; replaces one of that name. */
void environment_put(struct plan *plan, const char *name, const char *value);
bool environment_has(struct plan *plan, const char *name);
/* The environment of a stored plan: the caller's variables as they are now, berm's own and the policy's as they were. */
void environment_restore(struct plan *plan, const struct plan_variables *own);
/* environment_git.c: git's configuration through the environment. */
void environment_add_git(struct plan *plan);
/* environment_proxy.c: the proxy's address in the variables that programs know. */
void environment_add_proxy(struct plan *plan);
/* Of these: what is left out where the caller passes it, and is decided at every launch. */
void environment_add_java(struct plan *plan);
bool environment_is_for_java(const struct plan_variable *variable);
/* git_user.c: fills plan->git_user. */
void build_git_user(struct builder *builder);
/* plan_documents.c: the names of the documents in plan->state.documents. */
#define DOCUMENT_GIT_EXCLUDES "git-excludes"
#define DOCUMENT_GIT_CONFIG "gitconfig"
#define DOCUMENT_SUMMARY "summary"
/* plan_summary.c */
void build_summary(struct builder *builder);
/* plan_state.c */
void build_state(struct builder *builder);

/* plan_platform.c: what programs on macOS read although no rule names it, and the private home and directory for temporary files,
 * which lie in berm's own state there. */
struct platform_path {
	const char *path;
	bool is_tree; /* with what lies below */
};
const struct platform_path *plan_platform_at(size_t index); /* NULL past the last */
bool plan_is_platform(const struct plan *plan, const char *path);
bool plan_is_own_place(const struct plan *plan, const char *path);

/* explain.c: do names count whatever their case? Seatbelt folds the paths of a profile, on every volume. */
bool plan_folds_case(const struct plan *plan);
/* path_is_within as that system sees it. */
bool plan_is_within(const struct plan *plan, const char *path, const char *directory);
/* Is this canonical path below a directory that files.prune leaves unsearched? */
const struct rule *plan_pruned_by(const struct plan *plan, const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the plan: plan_resolve is split into parts, each of which fills one area of the plan.
 * The parts share a struct builder and the functions below. Other rooms use plan.h. */
#ifndef BERM_COMMON_PLAN_BUILD_H
#define BERM_COMMON_PLAN_BUILD_H

#include "common/plan/plan.h"

struct builder {
	struct plan_grants absent; /* of files.write, which do not exist */
	struct plan *plan;
	struct diagnostics *diagnostics;
	struct path_links links; /* found while grants were resolved */
	struct {
		struct followed_link *items;
		size_t count;
	} followed;
	/* Of the pieces registry-*, from files of the user and the system. */
	struct {
		const struct rule *rule; /* the first piece that allows something, or NULL */
		struct rules allow, local;
		struct plan_variables settings; /* for the command */
	} registries;
};

/* A symlink on the path from a rule to its grant. */
struct followed_link {
	const char *link, *canonical;
	const struct rule *rule;
	bool is_plantable; /* commands can write the directory of the link */
};

/* resolve.c */

/* Adds an error at the rule's position in the policy. `hint` may be NULL. */
void build_error(struct builder *builder, const struct rule *rule, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void build_note(struct builder *builder, enum note_kind kind, const struct rule *rule, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* expand.c */

/* Replaces `~` or `$NAME` at the beginning of a path or pattern. Returns NULL with the name in
 * *unset if the variable is not set. With is_default the XDG directories are those below the home,
 * whatever their variables hold. With is_pattern the replacement is quoted. */
const char *build_expand(const struct plan *plan, const char *text, bool is_pattern, bool is_default, const char **unset);
/* Returns the canonical path of a rule's text. Sets *info, and *links to the symlinks on the path,
 * which the caller must check. Returns NULL, with a note, if a variable is not set or the path
 * cannot be resolved. */
const char *build_resolve(struct builder *builder, const struct rule *rule, struct path_links *links, struct file_info *info);

/* patterns.c */

/* Fills plan->deny, except, protect, unprotect and prune. */
void build_patterns(struct builder *builder);
/* Adds one absolute pattern of berm's own, which must be valid. */
void build_pattern(struct builder *builder, struct plan_patterns *patterns, const char *text, const struct rule *rule);
/* Adds a literal pattern for one canonical path. */
void build_literal(struct builder *builder, struct plan_patterns *patterns, const char *path, const struct rule *rule);

/* macos_paths.c: adds the denials of macOS, with their exceptions. */
void build_macos_patterns(struct builder *builder);
/* True if the path is on the data volume as /System/Volumes/Data shows it. */
bool plan_is_on_data_volume(const struct plan *plan, const char *path);

/* Refuses exceptions below a denied directory. Needs the final grants. */
void build_check_exceptions(struct builder *builder);

/* links.c: a grant must not depend on a symlink that commands can replace. */

/* Records the links of one grant, for build_refuse_links. */
void build_followed(struct builder *builder, const struct rule *rule, const struct path_links *links, const char *canonical);
/* Drops every grant that was reached through a replaceable link, with a note or an error. */
void build_refuse_links(struct builder *builder);
/* Checks one rule at once. Returns true, with a note or an error, if the rule is refused. */
bool build_refuses_link(struct builder *builder, const struct rule *rule, const struct path_links *links,
			const char *canonical);

/* grants.c */

/* Collects the grants of the policy. */
void build_grants(struct builder *builder);
void build_grant(struct builder *builder, const char *canonical, enum file_type type, enum grant_kind kind,
		 const struct rule *rule);
/* Adds a grant unless the path may not be granted. Returns false, with a note or an error, if it
 * may not. */
bool build_judged_grant(struct builder *builder, const char *canonical, enum file_type type, enum grant_kind kind,
			const struct rule *rule);
/* Sorts the grants and applies deny and protect to them. */
void build_grants_finish(struct builder *builder);

/* registries.c: fills builder->registries. */
void build_registries(struct builder *builder);

/* software_denies.c: fills plan->named and plan->searches from the final grants. */
void build_named(struct builder *builder);

/* git_worktrees.c: grants git directories outside of the project that they belong to. */
void build_git(struct builder *builder);
/* git_settings.c: protects what the user's git configuration names. Needs the final grants. */
void build_git_settings(struct builder *builder);
/* git_identity.c: fills plan->git_user. */
void build_git_user(struct builder *builder);

/* network.c */
void build_network(struct builder *builder);
/* settings.c */
void build_settings(struct builder *builder);

/* lists.c */

/* Resolves every list of PLAN_LISTS. Needs the final grants. */
void build_lists(struct builder *builder);
/* Adds a value to a list unless the list has it. */
void build_item(struct builder *builder, struct plan_items *list, const char *value, const struct rule *rule);
/* Each adds the values of one rule to its list, or an error or a note. */
#define PLAN_LIST_RESOLVER(field, ...) void resolve_##field(struct builder *builder, const struct rule *rule);
PLAN_LISTS(PLAN_LIST_RESOLVER)
#undef PLAN_LIST_RESOLVER

/* held.c: fills plan->held. */
void build_held(struct builder *builder);
/* summary.c: fills plan->summary. */
void build_summary(struct builder *builder);
/* state_names.c: fills plan->state. */
void build_state(struct builder *builder);

/* environment.c */

void build_environment(struct builder *builder);
/* Returns the rule of environment.pass that passes the variable, or NULL. */
const struct rule *environment_passed_by(const struct policy *policy, const char *name);
/* Sets a variable of berm's own, in place of any of that name. */
void environment_put(struct plan *plan, const char *name, const char *value);
bool environment_has(struct plan *plan, const char *name);

/* environment_git.c: adds git configuration. */
void environment_add_git(struct plan *plan);
/* environment_callers.c: variables that depend on how this launch was started. */
void environment_add_callers(struct plan *plan);
/* True if environment_add_callers added the variable. */
bool environment_is_callers(const struct plan_variable *variable);
/* environment_proxy.c: adds the proxy's address in the variables that programs read. */
void environment_add_proxy(struct plan *plan);
/* Returns Java's options for a proxy with a password, with placeholders; NULL without a proxy. */
const char *environment_java_proxy(const struct plan *plan);
/* environment_macos.c: adds the variables of programs that ignore HOME and TMPDIR on macOS. */
void environment_add_macos(struct plan *plan);
/* Adds Java's options. Called at every launch, because a variable that the caller passes is left
 * alone. */
void environment_add_java(struct plan *plan);
bool environment_is_for_java(const struct plan_variable *variable);

/* run_documents.c: file names in plan->state.documents. */
#define DOCUMENT_GIT_EXCLUDES "git-excludes"
#define DOCUMENT_GIT_CONFIG "gitconfig"
#define DOCUMENT_SUMMARY "summary"

/* Verdicts. */

enum { PLAN_PATH_BYTES = 4096 }; /* a longer path is denied */

static inline struct verdict verdict_allow(const struct rule *rule, const char *reason)
{
	return (struct verdict){ .is_allowed = true, .rule = rule, .reason = reason };
}

static inline struct verdict verdict_deny(const struct rule *rule, const char *reason)
{
	return (struct verdict){ .is_allowed = false, .rule = rule, .reason = reason };
}

/* path_rules.c: true if both paths name the same file by the plan's system. */
bool plan_is_same_path(const struct plan *plan, const char *left, const char *right);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The patterns of the policy made absolute. A pattern that starts with directories applies to where these really are: where a
 * symlink is on the way, both spellings are kept, so that a deny holds however the path is reached. Never drops a deny or protect
 * in silence: what cannot be expanded is an error. */
#include "common/plan/build.h"

#include <string.h>

#include "common/base/text.h"

static void push_pattern(struct builder *builder, struct plan_patterns *patterns, const struct pattern *pattern,
			 const struct rule *rule)
{
	struct plan_pattern *item;
	for (size_t i = 0; i < patterns->count; i++) {
		const struct pattern *known = &patterns->items[i].pattern;
		/* The first one stands, unless only the second is of the floor and so cannot be lifted. */
		if (strcmp(known->text, pattern->text) == 0 && known->is_directory_only == pattern->is_directory_only &&
		    known->is_literal == pattern->is_literal && known->literal_prefix == pattern->literal_prefix &&
		    (patterns->items[i].rule->layer == LAYER_FLOOR || rule->layer != LAYER_FLOOR))
			return;
	}
	item = arena_push(builder->plan->arena, patterns);
	item->pattern = *pattern;
	item->rule = rule;
}

void build_literal(struct builder *builder, struct plan_patterns *patterns, const char *path, const struct rule *rule)
{
	struct pattern pattern = { .text = path, .is_literal = true, .literal_prefix = strlen(path) };
	push_pattern(builder, patterns, &pattern, rule);
}

void build_pattern(struct builder *builder, struct plan_patterns *patterns, const char *text, const struct rule *rule)
{
	struct pattern pattern;
	struct error err;
	if (pattern_compile(builder->plan->arena, text, "/", &pattern, &err) < 0)
		build_error(builder, rule, NULL, "`%s`: %s", text, err.message);
	else
		push_pattern(builder, patterns, &pattern, rule);
}

/* The same pattern with its literal directories resolved; nothing if they are no symlinks or cannot be looked at. */
static void push_resolved(struct builder *builder, struct plan_patterns *patterns, const struct pattern *pattern,
			  const struct rule *rule)
{
	struct plan *plan = builder->plan;
	const char *prefix = arena_copy_n(plan->arena, pattern->text, pattern->literal_prefix);
	const char *rest = pattern->text + pattern->literal_prefix;
	const char *canonical, *text;
	struct path_links links = { 0 };
	struct pattern resolved;
	struct error ignored;

	if (path_resolve(plan->context.fs, plan->arena, prefix, &canonical, &links, NULL, &ignored) < 0 || links.count == 0)
		return;
	text = arena_printf(plan->arena, "%s%s%s%s", pattern_quote(plan->arena, canonical), *rest ? "/" : "", rest,
			    pattern->is_directory_only ? "/" : "");
	if (pattern_compile(plan->arena, text, "/", &resolved, &ignored) == 0)
		push_pattern(builder, patterns, &resolved, rule);
}

static bool add_expanded(struct builder *builder, struct plan_patterns *patterns, const struct rule *rule, bool is_default)
{
	struct plan *plan = builder->plan;
	const char *unset = NULL;
	const char *text = build_expand(plan, rule->text, true, is_default, &unset);
	struct pattern pattern;
	struct error err;

	if (!text) {
		build_error(builder, rule, "write the path out, or set the variable", "`%s`: $%s is not set", rule->text,
			    unset);
		return false;
	}
	if (pattern_compile(plan->arena, text, plan->context.project, &pattern, &err) < 0) {
		build_error(builder, rule, err.hint[0] ? arena_copy(plan->arena, err.hint) : NULL, "`%s`: %s", rule->text,
			    err.message);
		return false;
	}
	push_pattern(builder, patterns, &pattern, rule);
	if (!pattern.is_anywhere)
		push_resolved(builder, patterns, &pattern, rule);
	return true;
}

/* With is_both a variable that the environment has moved counts at both places: setting it cannot uncover the usual one. */
static void add_patterns(struct builder *builder, struct plan_patterns *patterns, const struct rules *rules, bool is_both)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];
		/* Exceptions of a caller who may not widen are not theirs to aim. */
		if (builder->plan->context.is_narrowing && !is_both && rule->text[0] == '$' &&
		    !text_starts_with(rule->text, "$HOME/"))
			continue;
		if (add_expanded(builder, patterns, rule, false) && is_both && rule->text[0] == '$')
			add_expanded(builder, patterns, rule, true);
	}
}

/* A policy that the command can rewrite is none from the next run on. */
static void protect_sources(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct context *context = &plan->context;
	for (size_t i = 0; i < plan->policy->source_count; i++) {
		const char *path = plan->policy->sources[i].path, *canonical;
		struct error err;
		if (!path)
			continue;
		path = path_absolute(plan->arena, context->working_directory ? context->working_directory : context->project,
				     path);
		if (path_resolve(context->fs, plan->arena, path, &canonical, NULL, NULL, &err) == 0)
			build_literal(builder, &plan->protect, canonical, &rule_policy_file);
	}
}

void build_patterns(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct policy *policy = plan->policy;

	build_literal(builder, &plan->deny, plan->context.state_directory, &rule_state);
	build_literal(builder, &plan->protect, plan->context.config_directory, &rule_config);
	protect_sources(builder);
	/* A berm that lies in the project (built there, vendored) would otherwise be the command's to replace. */
	if (plan->context.executable)
		build_literal(builder, &plan->protect, plan->context.executable, &rule_executable);
	add_patterns(builder, &plan->deny, &policy->files.deny, true);
	add_patterns(builder, &plan->protect, &policy->files.protect, true);
	add_patterns(builder, &plan->except, &policy->files.except, false);
	add_patterns(builder, &plan->prune, &policy->files.prune, false);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The patterns of the policy made absolute. If the literal directories of a pattern lead through a
 * symlink, the pattern is added in both spellings, so that a deny holds however the path is
 * reached. Never drops a deny or protect silently: a pattern that cannot be expanded is an error.
 * */
#include "common/plan/build.h"

#include <string.h>

#include "common/base/text.h"

static void push_pattern(struct builder *builder, struct plan_patterns *patterns, const struct pattern *pattern,
			 const struct rule *rule)
{
	struct plan_pattern *item;
	for (size_t i = 0; i < patterns->count; i++) {
		const struct pattern *known = &patterns->items[i].pattern;
		/* Two equal patterns are one, with the authority of the later layer. But the
		 * floor's is added to any other, because it cannot be lifted. */
		if (strcmp(known->text, pattern->text) != 0 || known->is_directory_only != pattern->is_directory_only ||
		    known->is_literal != pattern->is_literal || known->literal_prefix != pattern->literal_prefix)
			continue;
		if (patterns->items[i].rule->layer != LAYER_FLOOR && rule->layer == LAYER_FLOOR)
			continue;
		if (patterns->items[i].rule->layer != LAYER_FLOOR && rule->layer > patterns->items[i].rule->layer)
			patterns->items[i].rule = rule;
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

/* Adds the same pattern with its literal directories resolved, if they lead through a symlink. */
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

static bool add_compiled(struct builder *builder, struct plan_patterns *patterns, const struct rule *rule, const char *text,
			 const char *base)
{
	struct plan *plan = builder->plan;
	struct pattern pattern;
	struct error err;

	if (pattern_compile(plan->arena, text, base, &pattern, &err) < 0) {
		build_error(builder, rule, err.hint[0] ? arena_copy(plan->arena, err.hint) : NULL, "`%s`: %s", rule->text,
			    err.message);
		return false;
	}
	push_pattern(builder, patterns, &pattern, rule);
	if (!pattern.is_anywhere)
		push_resolved(builder, patterns, &pattern, rule);
	return true;
}

/* Adds a relative pattern once more for each enclosing project, so that a marker that a command
 * creates in a subdirectory does not move it. These hold as firmly as the files of those
 * projects. */
static void add_enclosing(struct builder *builder, struct plan_patterns *patterns, const struct rule *rule, const char *text)
{
	const struct enclosing_projects *enclosing = &builder->plan->context.enclosing;
	for (size_t i = 0; i < enclosing->count; i++) {
		struct rule *copy;
		if (enclosing->items[i].skipped)
			continue;
		copy = arena_alloc(builder->plan->arena, sizeof *copy);
		*copy = *rule;
		copy->base = enclosing->items[i].path;
		if (rule->layer != LAYER_FLOOR)
			copy->layer = LAYER_ENCLOSING;
		add_compiled(builder, patterns, copy, text, copy->base);
	}
}

static bool add_expanded(struct builder *builder, struct plan_patterns *patterns, const struct rule *rule, bool is_default)
{
	struct plan *plan = builder->plan;
	const char *unset = NULL;
	const char *text = build_expand(plan, rule->text, true, is_default, &unset);

	if (!text) {
		build_error(builder, rule, "write the full path, or set the variable", "`%s`: $%s is not set", rule->text,
			    unset);
		return false;
	}
	if (!add_compiled(builder, patterns, rule, text, rule->base ? rule->base : plan->context.project))
		return false;
	if (!rule->base && pattern_uses_base(text))
		add_enclosing(builder, patterns, rule, text);
	return true;
}

/* Adds patterns that narrow: deny and protect. A variable counts with its value and with its
 * default: setting it cannot uncover the usual directory. */
static void add_narrowing(struct builder *builder, struct plan_patterns *patterns, const struct rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		if (add_expanded(builder, patterns, &rules->items[i], false) && rules->items[i].text[0] == '$')
			add_expanded(builder, patterns, &rules->items[i], true);
}

static bool is_enclosed(const struct plan *plan)
{
	for (size_t i = 0; i < plan->context.enclosing.count; i++)
		if (!plan->context.enclosing.items[i].skipped)
			return true;
	return false;
}

/* Adds patterns that widen: except and prune. Neither a variable of a caller that may only narrow
 * nor a marker in a subdirectory may move one. */
static void add_widening(struct builder *builder, struct plan_patterns *patterns, const struct rules *rules)
{
	struct plan *plan = builder->plan;
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];
		bool is_moved = rule->text[0] == '$' && !text_starts_with(rule->text, "$HOME/");
		bool is_relative = !rule->base && rule->text[0] != '$' && rule->text[0] != '~' && pattern_uses_base(rule->text);
		if (plan->context.is_narrowing && is_moved)
			continue;
		if (is_relative && is_enclosed(plan))
			build_note(builder, NOTE_OTHER, rule, "`%s: %s` does not apply: another project encloses this one",
				   rule->key, rule->text);
		else
			add_expanded(builder, patterns, rule, false);
	}
}

/* Protects the policy files: a command that rewrote them would decide about the next run. */
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

/* A name alone: what a file contains does not depend on where it is. */
static void check_public(struct builder *builder)
{
	const struct plan_patterns *public = &builder->plan->public;
	for (size_t i = 0; i < public->count; i++)
		if (!public->items[i].pattern.is_base_name || public->items[i].pattern.is_directory_only)
			build_error(builder, public->items[i].rule, "write a name without a slash, such as \"*.pem\"",
				    "`%s`: files are judged by their content wherever they are", public->items[i].rule->text);
}

void build_patterns(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct policy *policy = plan->policy;

	build_literal(builder, &plan->deny, plan->context.state_directory, &rule_state);
	build_literal(builder, &plan->protect, plan->context.config_directory, &rule_config);
	protect_sources(builder);
	/* If berm is in the project (built there, vendored), the command could replace it
	 * otherwise. */
	if (plan->context.executable)
		build_literal(builder, &plan->protect, plan->context.executable, &rule_executable);
	add_narrowing(builder, &plan->deny, &policy->files.deny);
	add_narrowing(builder, &plan->protect, &policy->files.protect);
	add_widening(builder, &plan->unprotect, &policy->files.unprotect);
	add_widening(builder, &plan->except, &policy->files.except);
	add_widening(builder, &plan->prune, &policy->files.prune);
	add_widening(builder, &plan->public, &policy->files.public);
	check_public(builder);
	build_macos_patterns(builder);
}

/* Returns the rule that hides a directory around everything that the exception could match, and to
 * which the exception would apply; NULL if there is none. */
static const struct rule *hidden_around(const struct plan *plan, const struct plan_pattern *exception)
{
	const struct pattern *pattern = &exception->pattern;
	const char *directory;
	const struct rule *rule;
	size_t length = pattern->literal_prefix;

	if (pattern->is_anywhere || length <= 1)
		return NULL;
	directory = arena_copy_n(plan->arena, pattern->text, pattern->text[length - 1] == '/' ? length - 1 : length);
	if (pattern->is_literal)
		directory = path_parent(plan->arena, directory);
	rule = plan_denied_by(plan, directory, true);
	return rule && rule->layer != LAYER_FLOOR && rule->layer <= exception->rule->layer ? rule : NULL;
}

/* A hidden directory is hidden whole: one mount covers it, and on macOS one rule. An exception
 * below it would have no effect, and its author would believe that it has one. */
void build_check_exceptions(struct builder *builder)
{
	const struct plan *plan = builder->plan;
	const struct rule *last = NULL; /* a pattern with a symlink in it is there twice, with one rule */
	for (size_t i = 0; i < plan->except.count; i++) {
		const struct plan_pattern *exception = &plan->except.items[i];
		const struct rule *hidden = hidden_around(plan, exception);
		if (!hidden || exception->rule == last)
			continue;
		last = exception->rule;
		build_error(builder, exception->rule,
			    arena_printf(plan->arena, "deny the entries of the directory instead of the directory: `%s%s*`",
					 hidden->text, hidden->text[strlen(hidden->text) - 1] == '/' ? "" : "/"),
			    "`%s` has no effect: `%s` hides a directory around it as a whole", exception->rule->text,
			    hidden->text);
	}
}

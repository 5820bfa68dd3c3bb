/* SPDX-License-Identifier: Apache-2.0 */
/* From the policy to the plan: the order in which its parts are filled, and the small parts.
 * Reports all errors of the policy at once, each with its position. Changes nothing but the plan.
 * */
#include "common/plan/build.h"

const struct scan_results plan_not_scanned = { 0 };

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/text.h"

enum { UNMET_SHOWN = 3, UNTRUSTED_SHOWN = 3, UNTRUSTED_BYTES = 48 };

void build_error(struct builder *builder, const struct rule *rule, const char *hint, const char *format, ...)
{
	struct diagnostics *diagnostics = builder->diagnostics;
	struct diagnostic *diagnostic = arena_push(diagnostics->arena, diagnostics);
	char message[ERROR_MESSAGE_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	diagnostic->message = arena_copy(diagnostics->arena, message);
	diagnostic->origin = rule->origin;
	diagnostic->hint = hint;
}

void build_note(struct builder *builder, enum note_kind kind, const struct rule *rule, const char *format, ...)
{
	struct plan *plan = builder->plan;
	struct plan_note *note = arena_push(plan->arena, &plan->notes);
	char text[ERROR_MESSAGE_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	*note = (struct plan_note){ .kind = kind, .text = arena_copy(plan->arena, text), .rule = rule };
}

static void build_modes(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct policy *policy = plan->policy;
	plan->home_setting = policy->home;
	plan->tmp_setting = policy->tmp;
	plan->home = policy->home.is_set ? (enum home_mode)policy->home.value : HOME_PRIVATE;
	plan->tmp = policy->tmp.is_set ? (enum tmp_mode)policy->tmp.value : TMP_PRIVATE;
	memcpy(plan->limits, policy->limits, sizeof plan->limits);
}

static bool is_accepted(const struct plan *plan, enum guarantee guarantee)
{
	return plan->accepted_weaker[guarantee];
}

/* Restoring a mask needs mounts, and one mount namespace for all processes inside. Elsewhere the
 * default requires what exists at launch, and `plan` and the line about the tier show that. */
static bool can_repair(const struct plan *plan)
{
	return plan_has_mounts(plan) && plan->context.os == OS_LINUX && !plan_setting(plan, SETTING_NESTING);
}

static enum level default_guard(const struct plan *plan)
{
	return can_repair(plan) ? guarantee_table[GUARANTEE_SECRETS].default_level : LEVEL_LAUNCH;
}

/* files.guard is the required level of the guarded guarantees. `require` only raises a level. */
static void build_guarantees(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct policy *policy = plan->policy;

	for (size_t i = 0; i < policy->accept_weaker.count; i++) {
		enum guarantee guarantee;
		if (guarantee_parse(policy->accept_weaker.items[i].text, &guarantee))
			plan->accepted_weaker[guarantee] = true;
		else
			build_error(builder, &policy->accept_weaker.items[i], NULL, "`%s` is not a guarantee",
				    policy->accept_weaker.items[i].text);
	}
	plan->guard = default_guard(plan);
	if (policy->files.guard.is_set)
		plan->guard = (enum level)policy->files.guard.value;
	plan->sweeps_names = !policy->files.guard.is_set || plan->guard != LEVEL_LAUNCH;
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		const struct setting *require = &policy->require[i];
		enum guarantee guarantee = (enum guarantee)i;
		plan->required[i] = guarantee_table[i].default_level;
		/* No level above repair exists for secrets: opens are not checked. */
		if (guarantee_table[i].scale == SCALE_GUARD && (guarantee == GUARANTEE_PLANTING || plan->guard < LEVEL_STRICT))
			plan->required[i] = plan->guard;
		if (!require->is_set)
			continue;
		if ((enum level)require->value < plan->required[i] && !is_accepted(plan, guarantee))
			build_error(builder, &require->rule, "to accept a weaker level, use accept_weaker",
				    "`%s` requires less of `%s` than the default", require->rule.text, guarantee_table[i].name);
		else
			plan->required[i] = (enum level)require->value;
	}
	/* By default too, where the machine can; else new names are repaired. Protected names of a
	 * copy are not applied. */
	plan->guards_creation = !plan_is_copy(plan) && (plan->required[GUARANTEE_PLANTING] >= LEVEL_STRICT ||
							(!policy->files.guard.is_set && can_repair(plan)));
}

/* Drops a working directory that the command cannot read. */
static void build_working_directory(struct builder *builder)
{
	struct context *context = &builder->plan->context;
	if (context->working_directory &&
	    !plan_check_path(builder->plan, ACCESS_READ, context->working_directory, true).is_allowed)
		context->working_directory = NULL;
}

static void note_ignored(struct builder *builder)
{
	const struct rules *ignored = &builder->plan->policy->ignored;
	for (size_t i = 0; i < ignored->count; i++)
		build_note(builder, NOTE_IGNORED, &ignored->items[i], "`%s: %s` is ignored", ignored->items[i].key,
			   ignored->items[i].text);
}

/* Fills plan->policies. */
static void build_policies(struct builder *builder)
{
	struct plan *plan = builder->plan;
	struct text out = { 0 };

	for (size_t i = 0; i < plan->policy->source_count; i++) {
		const struct policy_source *source = &plan->policy->sources[i];
		bool is_untrusted = source->layer == LAYER_PROJECT && !source->is_trusted;
		text_add(&out, "%c %s ", is_untrusted ? '-' : '+', source->hash ? source->hash : "-");
		text_add_visible(&out, source->shown, strlen(source->shown));
		text_add(&out, "\n");
	}
	plan->policies = arena_copy(plan->arena, out.data ? out.data : "");
	text_free(&out);
}

/* Fills plan->untrusted. */
static void build_untrusted(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct rules *ignored = &plan->policy->ignored;
	struct text out = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < ignored->count; i++) {
		const struct rule *rule = &ignored->items[i];
		size_t length = strlen(rule->text);
		if (rule->layer != LAYER_PROJECT || ++count > UNTRUSTED_SHOWN)
			continue;
		text_add(&out, "%s%s: ", count > 1 ? ", " : "", rule->key);
		text_add_visible(&out, rule->text, length < UNTRUSTED_BYTES ? length : UNTRUSTED_BYTES);
		text_add(&out, length < UNTRUSTED_BYTES ? "" : "...");
	}
	if (count > UNTRUSTED_SHOWN)
		text_add(&out, " and %zu more", count - UNTRUSTED_SHOWN);
	plan->untrusted = count > 0 ? arena_copy(plan->arena, out.data) : NULL;
	text_free(&out);
}

static bool is_unmet(const struct plan_note *note)
{
	/* A variable that is not set is usual: a session without an agent. */
	return (note->kind == NOTE_MISSING || note->kind == NOTE_DENIED) && note->rule && note->rule->layer >= LAYER_USER &&
	       note->rule->text[0] != '$';
}

/* Fills plan->unmet. */
static void build_unmet(struct builder *builder)
{
	struct plan *plan = builder->plan;
	struct text out = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < plan->notes.count; i++) {
		const struct plan_note *note = &plan->notes.items[i];
		const struct origin *origin;
		if (!is_unmet(note) || ++count > UNMET_SHOWN)
			continue;
		origin = &note->rule->origin;
		text_add(&out, "%s", count > 1 ? "\n" : "");
		text_add_visible(&out, origin->source, strlen(origin->source));
		if (origin->line)
			text_add(&out, ":%u:%u", origin->line, origin->column);
		text_add(&out, ": ");
		text_add_visible(&out, note->text, strlen(note->text));
	}
	if (count > UNMET_SHOWN)
		text_add(&out, "\n%zu more grants have no effect: `berm plan` lists them", count - UNMET_SHOWN);
	plan->unmet = count > 0 ? arena_copy(plan->arena, out.data) : NULL;
	text_free(&out);
}

int plan_resolve(struct arena *arena, const struct policy *policy, const struct context *context, struct plan *plan,
		 struct diagnostics *diagnostics)
{
	struct builder builder = { .plan = plan, .diagnostics = diagnostics };
	size_t before = diagnostics->count;

	*plan = (struct plan){ .arena = arena, .policy = policy, .context = *context, .scan = &plan_not_scanned };
	if (!diagnostics->arena)
		diagnostics->arena = arena;
	build_modes(&builder);
	build_settings(&builder);
	build_guarantees(&builder);
	build_patterns(&builder);
	build_grants(&builder);
	build_git(&builder);
	build_network(&builder);
	build_grants_finish(&builder);
	build_git_settings(&builder);
	build_check_exceptions(&builder);
	build_lists(&builder);
	build_named(&builder);
	build_state(&builder);
	build_working_directory(&builder);
	build_environment(&builder);
	build_git_user(&builder);
	build_summary(&builder);
	build_held(&builder);
	note_ignored(&builder);
	build_policies(&builder);
	build_untrusted(&builder);
	build_unmet(&builder);
	return diagnostics->count > before ? -1 : 0;
}

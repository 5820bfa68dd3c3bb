/* SPDX-License-Identifier: Apache-2.0 */
/* From the policy to the plan: the order in which the rooms are filled, and the small ones. Pure given its inputs; everything that is
 * wrong is told at once, with its place. */
#include "common/plan/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
	plan->has_nesting = policy->nesting.is_set && policy->nesting.value;
	memcpy(plan->limits, policy->limits, sizeof plan->limits);
}

static bool is_accepted(const struct plan *plan, enum guarantee guarantee)
{
	return plan->accepted_weaker[guarantee];
}

/* files.guard is the level asked of the guarded ones; `require` only ever raises. */
static void build_guarantees(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct policy *policy = plan->policy;

	for (size_t i = 0; i < policy->accept_weaker.count; i++) {
		enum guarantee guarantee;
		if (guarantee_parse(policy->accept_weaker.items[i].text, &guarantee))
			plan->accepted_weaker[guarantee] = true;
		else
			build_error(builder, &policy->accept_weaker.items[i], NULL, "`%s` is no guarantee",
				    policy->accept_weaker.items[i].text);
	}
	plan->guard = guarantee_table[GUARANTEE_SECRETS].default_level;
	if (policy->files.guard.is_set)
		plan->guard = (enum level)policy->files.guard.value;
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		const struct setting *require = &policy->require[i];
		enum guarantee guarantee = (enum guarantee)i;
		plan->required[i] = guarantee_table[i].is_guarded ? plan->guard : guarantee_table[i].default_level;
		if (!require->is_set)
			continue;
		if ((enum level)require->value < plan->required[i] && !is_accepted(plan, guarantee))
			build_error(builder, &require->rule, "weaker is said with accept_weaker",
				    "`%s` asks for less of `%s` than the default", require->rule.text, guarantee_table[i].name);
		else
			plan->required[i] = (enum level)require->value;
	}
}

/* A directory that is not inside the view cannot be the command's. */
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

int plan_resolve(struct arena *arena, const struct policy *policy, const struct context *context, struct plan *plan,
		 struct diagnostics *diagnostics)
{
	struct builder builder = { .plan = plan, .diagnostics = diagnostics };
	size_t before = diagnostics->count;

	*plan = (struct plan){ .arena = arena, .policy = policy, .context = *context };
	if (!diagnostics->arena)
		diagnostics->arena = arena;
	build_modes(&builder);
	build_guarantees(&builder);
	build_patterns(&builder);
	build_grants(&builder);
	build_git(&builder);
	build_network(&builder);
	build_grants_finish(&builder);
	build_sockets(&builder);
	build_devices(&builder);
	build_named(&builder);
	build_state(&builder);
	build_working_directory(&builder);
	build_environment(&builder);
	build_git_user(&builder);
	build_summary(&builder);
	note_ignored(&builder);
	return diagnostics->count > before ? -1 : 0;
}

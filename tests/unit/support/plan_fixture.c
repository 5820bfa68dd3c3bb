/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/support/plan_fixture.h"

#include <stdio.h>
#include <string.h>

static int add_layer(struct plan_fixture *fixture, const struct plan_layer *layer)
{
	struct policy *policy = arena_alloc(&fixture->arena, sizeof *policy);
	const char *text = arena_printf(&fixture->arena, "version: 1\n%s", layer->text);
	if (policy_parse(&fixture->arena, "p.yml", layer->layer, text, strlen(text), policy, &fixture->diagnostics) < 0)
		return -1;
	policy_merge(&fixture->arena, &fixture->policy, policy, false);
	return 0;
}

static int start(struct plan_fixture *fixture, const char *context)
{
	*fixture = (struct plan_fixture){ .status = -2 };
	fixture->diagnostics.arena = &fixture->arena;
	return context_parse(&fixture->arena, "machine.yml", context, strlen(context), &fixture->context, &fixture->error);
}

static const char *usual(struct plan_fixture *fixture, const char *machine)
{
	static char text[16384];
	(void)fixture;
	snprintf(text, sizeof text, "user: ann\nuid: 1000\nhome: /home/ann\nproject: /home/ann/app\n%s", machine);
	return text;
}

static void resolve(struct plan_fixture *fixture)
{
	fixture->status =
		plan_resolve(&fixture->arena, &fixture->policy, &fixture->context, &fixture->plan, &fixture->diagnostics);
}

void plan_fixture_make_for(struct plan_fixture *fixture, const char *context, const struct plan_layer *layers)
{
	if (start(fixture, context) < 0)
		return;
	for (; layers->text; layers++)
		if (add_layer(fixture, layers) < 0)
			return;
	resolve(fixture);
}

void plan_fixture_make(struct plan_fixture *fixture, const char *machine, const struct plan_layer *layers)
{
	plan_fixture_make_for(fixture, usual(fixture, machine), layers);
}

void plan_fixture_default(struct plan_fixture *fixture, const char *machine, const char *user)
{
	struct policy_request request = { 0 };
	if (start(fixture, usual(fixture, machine)) < 0 ||
	    policy_load(&fixture->arena, &request, &fixture->policy, &fixture->diagnostics) < 0)
		return;
	if (user && add_layer(fixture, &(struct plan_layer){ LAYER_USER, user }) < 0)
		return;
	resolve(fixture);
}

void plan_fixture_free(struct plan_fixture *fixture)
{
	arena_free(&fixture->arena);
}

bool plan_fixture_complained(const struct plan_fixture *fixture, const char *part)
{
	for (size_t i = 0; i < fixture->diagnostics.count; i++)
		if (strstr(fixture->diagnostics.items[i].message, part))
			return true;
	return false;
}

bool plan_fixture_noted(const struct plan_fixture *fixture, enum note_kind kind, const char *part)
{
	const struct plan_notes *lists[] = { &fixture->plan.notes, &fixture->plan.scan->notes };
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->count; i++)
			if (lists[k]->items[i].kind == kind && strstr(lists[k]->items[i].text, part))
				return true;
	return false;
}

const char *plan_fixture_says(struct plan_fixture *fixture)
{
	const char *all = arena_copy(&fixture->arena, fixture->error.message);
	for (size_t i = 0; i < fixture->diagnostics.count; i++) {
		const struct diagnostic *diagnostic = &fixture->diagnostics.items[i];
		all = arena_printf(&fixture->arena, "%s\n%s:%u:%u: %s", all, diagnostic->origin.source, diagnostic->origin.line,
				   diagnostic->origin.column, diagnostic->message);
	}
	for (size_t i = 0; i < fixture->plan.notes.count; i++)
		all = arena_printf(&fixture->arena, "%s\nnote: %s", all, fixture->plan.notes.items[i].text);
	return all;
}

const char *plan_fixture_grant(const struct plan_fixture *fixture, const char *path)
{
	static const char *const names[] = { [GRANT_SYSTEM] = "system", [GRANT_READ] = "read", [GRANT_WRITE] = "write" };
	for (size_t i = 0; i < fixture->plan.grants.count; i++)
		if (strcmp(fixture->plan.grants.items[i].path, path) == 0)
			return names[fixture->plan.grants.items[i].kind];
	return "none";
}

bool plan_fixture_allows(const struct plan_fixture *fixture, enum access access, const char *path)
{
	struct file_info info = { 0 };
	fixture->context.fs->inspect(fixture->context.fs, path, &info);
	return plan_check_path(&fixture->plan, access, path, info.type == FILE_DIRECTORY).is_allowed;
}

const char *plan_fixture_paths(struct plan_fixture *fixture, const struct plan_matches *matches)
{
	const char *all = "";
	for (size_t i = 0; i < matches->count; i++)
		all = arena_printf(&fixture->arena, "%s%s%s", all, i > 0 ? " " : "", matches->items[i].path);
	return all;
}

const char *plan_fixture_variable(const struct plan_fixture *fixture, const char *name)
{
	for (size_t i = 0; i < fixture->plan.environment.count; i++)
		if (strcmp(fixture->plan.environment.items[i].name, name) == 0)
			return fixture->plan.environment.items[i].value;
	return "(unset)";
}

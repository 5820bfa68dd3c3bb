/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as JSON. docs/plan-json.md describes every member; the description holds for one schema
 * number. Never writes values of environment variables: they may be secrets. */
#include "common/plan/names.h"

#include "common/base/json_write.h"
#include "common/policy/keys.h"

void plan_json_rule(struct json *json, const char *name, const struct rule *rule)
{
	static const char *const layers[] = {
		[LAYER_FLOOR] = "floor",     [LAYER_BASE] = "base",	      [LAYER_USER] = "user",
		[LAYER_PROJECT] = "project", [LAYER_ENCLOSING] = "enclosing", [LAYER_COMMAND_LINE] = "command line",
	};
	if (!rule) {
		json_string(json, name, NULL);
		return;
	}
	json_object(json, name);
	json_string(json, "key", rule->key);
	json_string(json, "text", rule->text);
	json_string(json, "layer", layers[rule->layer]);
	json_string(json, "source", rule->origin.source);
	json_number(json, "line", rule->origin.line);
	json_number(json, "column", rule->origin.column);
	json_object_end(json);
}

enum { SCHEMA = 1 };

static void write_guarantees(struct json *json, const struct plan *plan, const struct guarantee_state *states)
{
	json_list(json, "guarantees");
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		enum guarantee guarantee = (enum guarantee)i;
		json_object(json, NULL);
		json_string(json, "name", guarantee_table[i].name);
		json_string(json, "promise", guarantee_table[i].promise);
		json_string(json, "required", level_name(guarantee, plan->required[i]));
		json_boolean(json, "accepted_weaker", plan->accepted_weaker[i]);
		json_string(json, "level", states ? level_name(guarantee, states[i].level) : NULL);
		json_string(json, "mechanism", states ? states[i].mechanism : NULL);
		json_string(json, "reason", states ? states[i].reason : NULL);
		json_string(json, "fix", states ? states[i].fix : NULL);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_grants(struct json *json, const struct plan *plan)
{
	static const char *const kinds[] = { [GRANT_SYSTEM] = "system", [GRANT_READ] = "read", [GRANT_WRITE] = "write" };
	json_list(json, "grants");
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		json_object(json, NULL);
		json_string(json, "path", grant->path);
		json_string(json, "kind", kinds[grant->kind]);
		json_string(json, "type", file_type_names[grant->type]);
		plan_json_rule(json, "rule", grant->rule);
		json_object_end(json);
	}
	json_list_end(json);
	json_list(json, "links");
	for (size_t i = 0; i < plan->links.count; i++) {
		json_object(json, NULL);
		json_string(json, "path", plan->links.items[i].path);
		json_string(json, "target", plan->links.items[i].target);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_patterns(struct json *json, const char *name, const struct plan_patterns *patterns)
{
	json_list(json, name);
	for (size_t i = 0; i < patterns->count; i++) {
		json_object(json, NULL);
		json_string(json, "pattern", patterns->items[i].pattern.text);
		json_boolean(json, "anywhere", patterns->items[i].pattern.is_anywhere);
		plan_json_rule(json, "rule", patterns->items[i].rule);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_matches(struct json *json, const char *name, const struct plan_matches *matches)
{
	json_list(json, name);
	for (size_t i = 0; i < matches->count; i++) {
		json_object(json, NULL);
		json_string(json, "path", matches->items[i].path);
		json_string(json, "type", file_type_names[matches->items[i].type]);
		plan_json_rule(json, "rule", matches->items[i].rule);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_judged(struct json *json, const struct plan_judged *judged)
{
	json_list(json, "judged");
	for (size_t i = 0; i < judged->count; i++) {
		json_object(json, NULL);
		json_string(json, "path", judged->items[i].path);
		json_boolean(json, "public", judged->items[i].is_public);
		json_string(json, "content", judged->items[i].reason);
		plan_json_rule(json, "rule", judged->items[i].rule);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_files(struct json *json, const struct plan *plan)
{
	json_object(json, "files");
	json_string(json, "guard", level_name(GUARANTEE_SECRETS, plan->guard));
	write_grants(json, plan);
	write_patterns(json, "deny", &plan->deny);
	write_patterns(json, "except", &plan->except);
	write_patterns(json, "public", &plan->public);
	write_patterns(json, "protect", &plan->protect);
	write_patterns(json, "unprotect", &plan->unprotect);
	write_patterns(json, "prune", &plan->prune);
	write_patterns(json, "lifted", &plan->lifted);
	write_matches(json, "masked", &plan->scan->masked);
	write_judged(json, &plan->scan->judged);
	write_matches(json, "locked", &plan->scan->locked);
	write_matches(json, "opened", &plan->scan->opened);
	write_matches(json, "pinned", &plan->scan->pinned);
	json_number(json, "scanned_directories", plan->scan->directories);
	json_number(json, "scanned_files", plan->scan->files);
	json_object_end(json);
}

static void write_mode(struct json *json, const char *name, const char *mode, const struct setting *setting,
		       const char *directory)
{
	json_object(json, name);
	json_string(json, "mode", mode);
	json_string(json, "directory", directory);
	plan_json_rule(json, "rule", setting->is_set ? &setting->rule : NULL);
	json_object_end(json);
}

static void write_destinations(struct json *json, const char *name, const struct destinations *destinations)
{
	json_list(json, name);
	for (size_t i = 0; i < destinations->count; i++)
		plan_json_rule(json, NULL, destinations->items[i].rule);
	json_list_end(json);
}

static void write_local_ports(struct json *json, const char *name, const struct plan_ports *ports)
{
	json_list(json, name);
	for (size_t i = 0; i < ports->count; i++) {
		json_object(json, NULL);
		json_number(json, "low", ports->items[i].low);
		json_number(json, "high", ports->items[i].high);
		plan_json_rule(json, "rule", ports->items[i].rule);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_published_ports(struct json *json, const char *name, const struct plan_published *ports)
{
	json_list(json, name);
	for (size_t i = 0; i < ports->count; i++) {
		const struct plan_publish *publish = &ports->items[i];
		char address[64];
		address_format(&publish->address, address);
		json_object(json, NULL);
		json_string(json, "address", address);
		json_number(json, "host_port", publish->host_port);
		json_number(json, "port", publish->port);
		plan_json_rule(json, "rule", publish->rule);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_network(struct json *json, const struct plan *plan)
{
	json_object(json, "network");
	json_string(json, "mode", network_mode_names[plan->network.mode]);
	plan_json_rule(json, "rule", plan->network.rule);
#define WRITE_NETWORK_LIST(field, type, kind) write_##kind(json, #field, &plan->network.field);
	NETWORK_LISTS(WRITE_NETWORK_LIST)
#undef WRITE_NETWORK_LIST
	json_object_end(json);
}

static void write_list(struct json *json, const struct plan *plan, const struct plan_list_info *info)
{
	const struct plan_items *list = plan_list(plan, info);
	json_list(json, info->name);
	for (size_t i = 0; i < list->count; i++) {
		json_object(json, NULL);
		json_string(json, info->member, list->items[i].value);
		plan_json_rule(json, "rule", list->items[i].rule);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_environment(struct json *json, const struct plan *plan)
{
	json_list(json, "environment");
	for (size_t i = 0; i < plan->environment.count; i++) {
		json_object(json, NULL);
		json_string(json, "name", plan->environment.items[i].name);
		plan_json_rule(json, "rule", plan->environment.items[i].rule);
		json_object_end(json);
	}
	json_list_end(json);
}

/* Values are bytes, milliseconds or counts, by the kind of limit. */
static void write_limits(struct json *json, const struct plan *plan, const struct guarantee_state *states)
{
	const struct limit_state *holds = states ? states[GUARANTEE_LIMITS].limits : NULL;
	json_object(json, "limits");
	for (int i = 0; i < LIMIT_COUNT; i++) {
		if (!plan->limits[i].is_set)
			continue;
		json_object(json, limit_names[i]);
		json_number(json, "value", plan->limits[i].value);
		plan_json_rule(json, "rule", &plan->limits[i].rule);
		if (holds) {
			json_boolean(json, "hard", holds[i].mechanism && holds[i].is_hard);
			json_string(json, "mechanism", holds[i].mechanism);
			json_string(json, "reason", holds[i].reason);
		}
		json_object_end(json);
	}
	json_object_end(json);
}

static void write_settings(struct json *json, const struct plan *plan)
{
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct key *key = policy_key_find(plan_setting_table[i].key);
		uint64_t value = plan_setting(plan, (enum plan_setting)i);
		if (key->kind == KEY_BOOLEAN)
			json_boolean(json, key->path, value != 0);
		else
			json_number(json, key->path, value);
	}
}

static void write_notes(struct json *json, const struct plan *plan)
{
	static const char *const kinds[] = {
		[NOTE_MISSING] = "missing",	[NOTE_IGNORED] = "ignored", [NOTE_LIFTED] = "lifted",
		[NOTE_HARD_LINK] = "hard link", [NOTE_GIT] = "git",	    [NOTE_UNSUPPORTED] = "unsupported",
		[NOTE_OTHER] = "other",		[NOTE_DENIED] = "denied",
	};
	const struct plan_notes *lists[] = { &plan->notes, &plan->scan->notes };
	json_list(json, "notes");
	for (size_t i = 0; i < plan->notes.count + plan->scan->notes.count; i++) {
		bool is_scans = i >= plan->notes.count;
		const struct plan_note *note = &lists[is_scans]->items[is_scans ? i - plan->notes.count : i];
		json_object(json, NULL);
		json_string(json, "kind", kinds[note->kind]);
		json_string(json, "text", note->text);
		plan_json_rule(json, "rule", note->rule);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_enclosing(struct json *json, const struct context *context)
{
	json_list(json, "enclosing");
	for (size_t i = 0; i < context->enclosing.count; i++) {
		const struct enclosing_project *project = &context->enclosing.items[i];
		json_object(json, NULL);
		json_string(json, "path", project->path);
		json_boolean(json, "policy", project->has_policy && !project->skipped);
		json_string(json, "skipped", project->skipped);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_context(struct json *json, const struct plan *plan)
{
	const struct context *context = &plan->context;
	json_string(json, "os", context->os == OS_MACOS ? "macos" : "linux");
	json_string(json, "tier", context->os == OS_LINUX ? tier_names[context->tier] : NULL);
	json_string(json, "user", context->user);
	json_number(json, "uid", context->uid);
	json_string(json, "host_home", context->home);
	json_string(json, "project", context->project);
	write_enclosing(json, context);
	json_string(json, "working_directory", context->working_directory);
	json_list(json, "policies");
	for (size_t i = 0; i < plan->policy->source_count; i++) {
		json_object(json, NULL);
		json_string(json, "source", plan->policy->sources[i].shown);
		json_string(json, "path", plan->policy->sources[i].path);
		json_boolean(json, "trusted", plan->policy->sources[i].is_trusted);
		json_object_end(json);
	}
	json_list_end(json);
}

void plan_json(const struct plan *plan, const struct guarantee_state states[GUARANTEE_COUNT], struct text *out)
{
	struct json json = { .out = out };
	struct error err = { 0 };

	json_object(&json, NULL);
	json_number(&json, "schema", SCHEMA);
	write_context(&json, plan);
	json_boolean(&json, "probed", states != NULL);
	json_boolean(&json, "refused", states && !plan_would_run(plan, states, &err));
	write_guarantees(&json, plan, states);
	write_files(&json, plan);
	write_mode(&json, "home", home_mode_names[plan->home], &plan->home_setting,
		   plan->home == HOME_PRIVATE ? plan->state.home : NULL);
	write_mode(&json, "tmp", tmp_mode_names[plan->tmp], &plan->tmp_setting,
		   plan->tmp == TMP_PRIVATE ? plan->state.tmp : NULL);
	write_network(&json, plan);
	for (size_t i = 0; i < plan_list_count; i++)
		write_list(&json, plan, &plan_list_table[i]);
	write_environment(&json, plan);
	write_limits(&json, plan, states);
	write_settings(&json, plan);
	json_string(&json, "state_directory", plan->state.directory);
	write_notes(&json, plan);
	json_object_end(&json);
}

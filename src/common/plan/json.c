/* SPDX-License-Identifier: Apache-2.0 */
/* The plan for programs. docs/plan-json.md describes every member; what is written there stays true for one schema number. Values
 * of environment variables are not written: they may be secrets. */
#include "common/plan/names.h"

#include "common/base/json_write.h"

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
		json_rule(json, "rule", grant->rule);
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
		json_rule(json, "rule", patterns->items[i].rule);
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
		json_rule(json, "rule", matches->items[i].rule);
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
	write_patterns(json, "protect", &plan->protect);
	write_patterns(json, "prune", &plan->prune);
	write_patterns(json, "lifted", &plan->lifted);
	write_matches(json, "masked", &plan->masked);
	write_matches(json, "locked", &plan->locked);
	write_matches(json, "pinned", &plan->pinned);
	json_number(json, "scanned_directories", plan->scanned_directories);
	json_number(json, "scanned_files", plan->scanned_files);
	json_object_end(json);
}

static void write_mode(struct json *json, const char *name, const char *mode, const struct setting *setting,
		       const char *directory)
{
	json_object(json, name);
	json_string(json, "mode", mode);
	json_string(json, "directory", directory);
	json_rule(json, "rule", setting->is_set ? &setting->rule : NULL);
	json_object_end(json);
}

static void write_destinations(struct json *json, const char *name, const struct destinations *destinations)
{
	json_list(json, name);
	for (size_t i = 0; i < destinations->count; i++)
		json_rule(json, NULL, destinations->items[i].rule);
	json_list_end(json);
}

static void write_network(struct json *json, const struct plan *plan)
{
	json_object(json, "network");
	json_string(json, "mode", network_mode_names[plan->network.mode]);
	json_rule(json, "rule", plan->network.rule);
	write_destinations(json, "allow", &plan->network.allow);
	write_destinations(json, "deny", &plan->network.deny);
	json_list(json, "local");
	for (size_t i = 0; i < plan->network.local.count; i++) {
		json_object(json, NULL);
		json_number(json, "low", plan->network.local.items[i].low);
		json_number(json, "high", plan->network.local.items[i].high);
		json_rule(json, "rule", plan->network.local.items[i].rule);
		json_object_end(json);
	}
	json_list_end(json);
	json_list(json, "publish");
	for (size_t i = 0; i < plan->network.publish.count; i++) {
		const struct plan_publish *publish = &plan->network.publish.items[i];
		char address[64];
		address_format(&publish->address, address);
		json_object(json, NULL);
		json_string(json, "address", address);
		json_number(json, "host_port", publish->host_port);
		json_number(json, "port", publish->port);
		json_rule(json, "rule", publish->rule);
		json_object_end(json);
	}
	json_list_end(json);
	json_object_end(json);
}

static void write_path_rule(struct json *json, const char *path, const struct rule *rule)
{
	json_object(json, NULL);
	json_string(json, "path", path);
	json_rule(json, "rule", rule);
	json_object_end(json);
}

static void write_reach(struct json *json, const struct plan *plan)
{
	json_list(json, "sockets");
	for (size_t i = 0; i < plan->sockets.count; i++)
		write_path_rule(json, plan->sockets.items[i].path, plan->sockets.items[i].rule);
	json_list_end(json);
	json_list(json, "devices");
	for (size_t i = 0; i < plan->devices.count; i++)
		write_path_rule(json, plan->devices.items[i].path, plan->devices.items[i].rule);
	json_list_end(json);
	json_list(json, "environment");
	for (size_t i = 0; i < plan->environment.count; i++) {
		json_object(json, NULL);
		json_string(json, "name", plan->environment.items[i].name);
		json_rule(json, "rule", plan->environment.items[i].rule);
		json_object_end(json);
	}
	json_list_end(json);
}

/* Bytes, milliseconds or counts, as the enumeration says. */
static void write_limits(struct json *json, const struct plan *plan, const struct guarantee_state *states)
{
	const struct limit_state *holds = states ? states[GUARANTEE_LIMITS].limits : NULL;
	json_object(json, "limits");
	for (int i = 0; i < LIMIT_COUNT; i++) {
		if (!plan->limits[i].is_set)
			continue;
		json_object(json, limit_names[i]);
		json_number(json, "value", plan->limits[i].value);
		json_rule(json, "rule", &plan->limits[i].rule);
		if (holds) {
			json_boolean(json, "hard", holds[i].mechanism && holds[i].is_hard);
			json_string(json, "mechanism", holds[i].mechanism);
			json_string(json, "reason", holds[i].reason);
		}
		json_object_end(json);
	}
	json_object_end(json);
}

static void write_notes(struct json *json, const struct plan *plan)
{
	static const char *const kinds[] = {
		[NOTE_MISSING] = "missing",	[NOTE_IGNORED] = "ignored", [NOTE_LIFTED] = "lifted",
		[NOTE_HARD_LINK] = "hard link", [NOTE_GIT] = "git",	    [NOTE_UNSUPPORTED] = "unsupported",
		[NOTE_OTHER] = "other",
	};
	json_list(json, "notes");
	for (size_t i = 0; i < plan->notes.count; i++) {
		json_object(json, NULL);
		json_string(json, "kind", kinds[plan->notes.items[i].kind]);
		json_string(json, "text", plan->notes.items[i].text);
		json_rule(json, "rule", plan->notes.items[i].rule);
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
	write_reach(&json, plan);
	write_limits(&json, plan, states);
	json_boolean(&json, "nesting", plan->has_nesting);
	json_string(&json, "state_directory", plan->state.directory);
	write_notes(&json, plan);
	json_object_end(&json);
}

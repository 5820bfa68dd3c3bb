/* SPDX-License-Identifier: Apache-2.0 */
/* The language as a JSON Schema (draft 2020-12), for completion and checks in editors. Generated
 * from the key table and the built-in policies alone, so one binary always writes the same text.
 * Keys and values that are not supported yet are left out, so that an editor marks them as errors
 * too. */
#include "common/policy/keys.h"

#include <string.h>

#include "common/base/json_write.h"
#include "common/base/text.h"
#include "common/policy/builtin.h"

static const char port_pattern[] = "^[1-9][0-9]{0,4}(-[1-9][0-9]{0,4})?$";
static const char publish_pattern[] = "^(auto:|(([0-9.]+|\\[[0-9A-Fa-f:.]+\\]):)?[1-9][0-9]{0,4}:)?[1-9][0-9]{0,4}$";
static const char variable_pattern[] = "^[A-Za-z_][A-Za-z0-9_]*$";
static const char variables_pattern[] = "^[A-Za-z_*][A-Za-z0-9_*]*$";
static const char size_pattern[] = "^[1-9][0-9]*[KMGT]?$";
static const char duration_pattern[] = "^[1-9][0-9]*(ms|s|m|h|d)$";

static void add_type(struct json *json, const char *type, const char *pattern)
{
	json_string(json, "type", type);
	if (pattern)
		json_string(json, "pattern", pattern);
}

static void add_alternative(struct json *json, const char *type, const char *pattern)
{
	json_object(json, NULL);
	add_type(json, type, pattern);
	json_object_end(json);
}

static void add_port_alternative(struct json *json)
{
	json_object(json, NULL);
	json_string(json, "type", "integer");
	json_number(json, "minimum", 1);
	json_number(json, "maximum", 65535);
	json_object_end(json);
}

static void add_constant(struct json *json, const char *value, const char *help, int help_length)
{
	json_object(json, NULL);
	json_string(json, "const", value);
	if (help) {
		struct text description = { 0 };
		text_add_n(&description, help, (size_t)help_length);
		json_string(json, "description", description.data);
		text_free(&description);
	}
	json_object_end(json);
}

static void add_choices(struct json *json, const struct key *key)
{
	for (const struct key_choice *choice = key->choices; choice && choice->name; choice++) {
		if (!choice->is_unbuilt)
			add_constant(json, choice->name, choice->help, choice->help ? (int)strlen(choice->help) : 0);
	}
}

static void add_builtins(struct json *json, bool wants_bases)
{
	struct builtin builtin;

	for (size_t i = 0; builtin_at(i, &builtin); i++) {
		if (builtin.kind == BUILTIN_FLOOR || builtin.kind == BUILTIN_AGENT ||
		    (builtin.kind == BUILTIN_BASE) != wants_bases)
			continue;
		add_constant(json, builtin.name, builtin.summary, builtin.summary_length);
	}
}

/* The schema of one list entry. */
static void add_entry(struct json *json, const struct key *key)
{
	bool is_path = key->kind == KEY_PATHS || key->kind == KEY_PATTERNS;

	json_object(json, "items");
	if (is_path) {
		/* An unquoted `~` is null in YAML and the home in a policy. */
		json_list(json, "type");
		json_string(json, NULL, "string");
		json_string(json, NULL, "null");
		json_list_end(json);
		json_number(json, "minLength", 1);
		if (key->kind == KEY_PATHS)
			json_string(json, "pattern", "^[^*]+$");
	} else if (key->kind == KEY_VARIABLES || key->kind == KEY_DESTINATIONS) {
		add_type(json, "string", key->kind == KEY_VARIABLES ? variables_pattern : "^\\S+$");
	} else {
		json_list(json, "anyOf");
		if (key->kind == KEY_PORTS || key->kind == KEY_PUBLISH) {
			add_port_alternative(json);
			add_alternative(json, "string", key->kind == KEY_PORTS ? port_pattern : publish_pattern);
		} else if (key->choices) {
			add_choices(json, key);
			if (key->kind == KEY_DEVICES)
				add_alternative(json, "string", "^/dev/[^/]");
		} else {
			add_builtins(json, false);
		}
		json_list_end(json);
	}
	json_object_end(json);
}

static void add_assignments(struct json *json)
{
	json_string(json, "type", "object");
	json_object(json, "propertyNames");
	json_string(json, "pattern", variable_pattern);
	json_object_end(json);
	json_object(json, "additionalProperties");
	json_string(json, "type", "string");
	json_object_end(json);
}

static void add_size(struct json *json)
{
	json_list(json, "anyOf");
	json_object(json, NULL);
	json_string(json, "type", "integer");
	json_number(json, "minimum", 1);
	json_object_end(json);
	add_alternative(json, "string", size_pattern);
	json_list_end(json);
}

static void add_name(struct json *json)
{
	json_list(json, "anyOf");
	add_builtins(json, true);
	add_constant(json, "none", "the floor alone", (int)strlen("the floor alone"));
	add_alternative(json, "string", "/|\\.ya?ml$");
	json_list_end(json);
}

static void add_map(struct json *json, const struct key *parent);

/* A mapping that may also be a single word. */
static void add_map_or_choice(struct json *json, const struct key *key)
{
	json_list(json, "anyOf");
	add_choices(json, key);
	json_object(json, NULL);
	add_map(json, key);
	json_object_end(json);
	json_list_end(json);
}

static void add_value(struct json *json, const struct key *key)
{
	switch (key->kind) {
	case KEY_MAP:
		if (key->flags & KEY_ALSO_SCALAR)
			add_map_or_choice(json, key);
		else
			add_map(json, key);
		return;
	case KEY_PATHS:
	case KEY_PATTERNS:
	case KEY_NAMES:
	case KEY_VARIABLES:
	case KEY_DESTINATIONS:
	case KEY_PORTS:
	case KEY_PUBLISH:
	case KEY_DEVICES:
		json_string(json, "type", "array");
		add_entry(json, key);
		return;
	case KEY_ASSIGNMENTS:
		add_assignments(json);
		return;
	case KEY_CHOICE:
		json_list(json, "anyOf");
		add_choices(json, key);
		json_list_end(json);
		return;
	case KEY_SIZE:
		add_size(json);
		return;
	case KEY_DURATION:
		add_type(json, "string", duration_pattern);
		return;
	case KEY_COUNT:
		json_string(json, "type", "integer");
		json_number(json, "minimum", 1);
		json_number(json, "maximum", 4294967295);
		return;
	case KEY_BOOLEAN:
		json_string(json, "type", "boolean");
		return;
	case KEY_VERSION:
		json_number(json, "const", 1);
		return;
	case KEY_NAME:
		add_name(json);
		return;
	case KEY_RESERVED:
		return;
	}
}

static bool is_shown(const struct key *key, const struct key *parent)
{
	size_t length = parent ? strlen(parent->path) : 0;
	const char *rest = parent ? key->path + length + 1 : key->path;

	if (key->kind == KEY_RESERVED || (key->flags & KEY_UNBUILT))
		return false;
	if (parent && (strncmp(key->path, parent->path, length) != 0 || key->path[length] != '.'))
		return false;
	return !strchr(rest, '.');
}

static void add_map(struct json *json, const struct key *parent)
{
	json_string(json, "type", "object");
	json_boolean(json, "additionalProperties", false);
	json_object(json, "properties");
	for (size_t i = 0; i < policy_key_count; i++) {
		const struct key *key = &policy_keys[i];
		if (!is_shown(key, parent))
			continue;
		json_object(json, parent ? key->path + strlen(parent->path) + 1 : key->path);
		json_string(json, "description", key->help);
		add_value(json, key);
		json_object_end(json);
	}
	json_object_end(json);
}

void policy_schema(struct text *out)
{
	struct json json = { .out = out };

	json_object(&json, NULL);
	json_string(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_string(&json, "title", "berm policy");
	json_string(&json, "description", "What one command may touch. See berm-policy(5).");
	json_list(&json, "required");
	json_string(&json, NULL, "version");
	json_list_end(&json);
	add_map(&json, NULL);
	json_object_end(&json);
}

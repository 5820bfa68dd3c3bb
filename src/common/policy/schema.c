/* SPDX-License-Identifier: Apache-2.0 */
/* The language as a JSON Schema (draft 2020-12), so that editors complete and check policies. Made from the key table alone: the
 * same binary always writes the same text. Keys and values that are errors today are left out, so that an editor marks them too. */
#include "common/policy/policy.h"

#include <string.h>

#include "common/policy/builtin.h"
#include "common/base/text.h"

static const char port_pattern[] = "^[1-9][0-9]{0,4}(-[1-9][0-9]{0,4})?$";
static const char publish_pattern[] = "^((([0-9.]+|\\[[0-9A-Fa-f:.]+\\]):)?[1-9][0-9]{0,4}:)?[1-9][0-9]{0,4}$";
static const char variable_pattern[] = "^[A-Za-z_][A-Za-z0-9_]*$";
static const char variables_pattern[] = "^[A-Za-z_*][A-Za-z0-9_*]*$";
static const char size_pattern[] = "^[1-9][0-9]*[KMGT]?$";
static const char duration_pattern[] = "^[1-9][0-9]*(ms|s|m|h|d)$";

struct writer {
	struct text *out;
	int depth;
	bool is_first; /* nothing yet in the current object or list */
};

static void new_line(struct writer *writer)
{
	text_add(writer->out, "\n%*s", 2 * writer->depth, "");
}

/* A member of an object, or an item of a list if name is NULL; what follows is its value. */
static void begin_item(struct writer *writer, const char *name)
{
	if (!writer->is_first)
		text_add(writer->out, ",");
	writer->is_first = false;
	new_line(writer);
	if (name) {
		text_add_json(writer->out, name);
		text_add(writer->out, ": ");
	}
}

static void open_item(struct writer *writer, const char *name, char bracket)
{
	begin_item(writer, name);
	text_add(writer->out, "%c", bracket);
	writer->depth++;
	writer->is_first = true;
}

static void close_item(struct writer *writer, char bracket)
{
	writer->depth--;
	new_line(writer);
	text_add(writer->out, "%c", bracket);
	writer->is_first = false;
}

static void add_string(struct writer *writer, const char *name, const char *value)
{
	begin_item(writer, name);
	text_add_json(writer->out, value);
}

static void add_raw(struct writer *writer, const char *name, const char *value)
{
	begin_item(writer, name);
	text_add(writer->out, "%s", value);
}

static void add_type(struct writer *writer, const char *type, const char *pattern)
{
	add_string(writer, "type", type);
	if (pattern)
		add_string(writer, "pattern", pattern);
}

static void add_alternative(struct writer *writer, const char *type, const char *pattern)
{
	open_item(writer, NULL, '{');
	add_type(writer, type, pattern);
	close_item(writer, '}');
}

static void add_port_alternative(struct writer *writer)
{
	open_item(writer, NULL, '{');
	add_string(writer, "type", "integer");
	add_raw(writer, "minimum", "1");
	add_raw(writer, "maximum", "65535");
	close_item(writer, '}');
}

static void add_constant(struct writer *writer, const char *value, const char *help, int help_length)
{
	open_item(writer, NULL, '{');
	add_string(writer, "const", value);
	if (help) {
		struct text description = { 0 };
		text_add_n(&description, help, (size_t)help_length);
		add_string(writer, "description", description.data);
		text_free(&description);
	}
	close_item(writer, '}');
}

static void add_choices(struct writer *writer, const struct key *key)
{
	for (const struct key_choice *choice = key->choices; choice && choice->name; choice++) {
		if (!choice->is_unbuilt)
			add_constant(writer, choice->name, choice->help, choice->help ? (int)strlen(choice->help) : 0);
	}
}

static void add_builtins(struct writer *writer, bool wants_bases)
{
	struct builtin builtin;

	for (size_t i = 0; builtin_at(i, &builtin); i++) {
		if (builtin.kind == BUILTIN_FLOOR || (builtin.kind == BUILTIN_BASE) != wants_bases)
			continue;
		add_constant(writer, builtin.name, builtin.summary, builtin.summary_length);
	}
}

/* What one entry of a list may be. */
static void add_entry(struct writer *writer, const struct key *key)
{
	bool is_path = key->kind == KEY_PATHS || key->kind == KEY_PATTERNS;

	open_item(writer, "items", '{');
	if (is_path) {
		/* An unquoted `~` is null to a YAML reader, and the home to us. */
		add_raw(writer, "type", "[\"string\", \"null\"]");
		add_raw(writer, "minLength", "1");
		if (key->kind == KEY_PATHS)
			add_string(writer, "pattern", "^[^*]+$");
	} else if (key->kind == KEY_VARIABLES || key->kind == KEY_DESTINATIONS) {
		add_type(writer, "string", key->kind == KEY_VARIABLES ? variables_pattern : "^\\S+$");
	} else {
		open_item(writer, "anyOf", '[');
		if (key->kind == KEY_PORTS || key->kind == KEY_PUBLISH) {
			add_port_alternative(writer);
			add_alternative(writer, "string", key->kind == KEY_PORTS ? port_pattern : publish_pattern);
		} else if (key->choices) {
			add_choices(writer, key);
			if (key->kind == KEY_DEVICES)
				add_alternative(writer, "string", "^/dev/[^/]");
		} else {
			add_builtins(writer, false);
		}
		close_item(writer, ']');
	}
	close_item(writer, '}');
}

static void add_assignments(struct writer *writer)
{
	add_string(writer, "type", "object");
	open_item(writer, "propertyNames", '{');
	add_string(writer, "pattern", variable_pattern);
	close_item(writer, '}');
	open_item(writer, "additionalProperties", '{');
	add_string(writer, "type", "string");
	close_item(writer, '}');
}

static void add_size(struct writer *writer)
{
	open_item(writer, "anyOf", '[');
	open_item(writer, NULL, '{');
	add_string(writer, "type", "integer");
	add_raw(writer, "minimum", "1");
	close_item(writer, '}');
	add_alternative(writer, "string", size_pattern);
	close_item(writer, ']');
}

static void add_name(struct writer *writer)
{
	open_item(writer, "anyOf", '[');
	add_builtins(writer, true);
	add_constant(writer, "none", "nothing but the floor", (int)strlen("nothing but the floor"));
	add_alternative(writer, "string", "/|\\.ya?ml$");
	close_item(writer, ']');
}

static void add_map(struct writer *writer, const struct key *parent);

/* A mapping that may also be a single word. */
static void add_map_or_choice(struct writer *writer, const struct key *key)
{
	open_item(writer, "anyOf", '[');
	add_choices(writer, key);
	open_item(writer, NULL, '{');
	add_map(writer, key);
	close_item(writer, '}');
	close_item(writer, ']');
}

static void add_value(struct writer *writer, const struct key *key)
{
	switch (key->kind) {
	case KEY_MAP:
		if (key->flags & KEY_ALSO_SCALAR)
			add_map_or_choice(writer, key);
		else
			add_map(writer, key);
		return;
	case KEY_PATHS:
	case KEY_PATTERNS:
	case KEY_NAMES:
	case KEY_VARIABLES:
	case KEY_DESTINATIONS:
	case KEY_PORTS:
	case KEY_PUBLISH:
	case KEY_DEVICES:
		add_string(writer, "type", "array");
		add_entry(writer, key);
		return;
	case KEY_ASSIGNMENTS:
		add_assignments(writer);
		return;
	case KEY_CHOICE:
		open_item(writer, "anyOf", '[');
		add_choices(writer, key);
		close_item(writer, ']');
		return;
	case KEY_SIZE:
		add_size(writer);
		return;
	case KEY_DURATION:
		add_type(writer, "string", duration_pattern);
		return;
	case KEY_COUNT:
		add_string(writer, "type", "integer");
		add_raw(writer, "minimum", "1");
		add_raw(writer, "maximum", "4294967295");
		return;
	case KEY_BOOLEAN:
		add_string(writer, "type", "boolean");
		return;
	case KEY_VERSION:
		add_raw(writer, "const", "1");
		return;
	case KEY_NAME:
		add_name(writer);
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

static void add_map(struct writer *writer, const struct key *parent)
{
	add_string(writer, "type", "object");
	add_raw(writer, "additionalProperties", "false");
	open_item(writer, "properties", '{');
	for (size_t i = 0; i < policy_key_count; i++) {
		const struct key *key = &policy_keys[i];
		if (!is_shown(key, parent))
			continue;
		open_item(writer, parent ? key->path + strlen(parent->path) + 1 : key->path, '{');
		add_string(writer, "description", key->help);
		add_value(writer, key);
		close_item(writer, '}');
	}
	close_item(writer, '}');
}

void policy_schema(struct text *out)
{
	struct writer writer = { .out = out, .depth = 1, .is_first = true };

	text_add(out, "{");
	add_string(&writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
	add_string(&writer, "title", "berm policy");
	add_string(&writer, "description", "What one command may touch. See berm-policy(5).");
	add_raw(&writer, "required", "[\"version\"]");
	add_map(&writer, NULL);
	text_add(out, "\n}\n");
}

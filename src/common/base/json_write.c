/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of JSON that cannot be led out of its structure by what it is given to write. */
#include "common/base/json_write.h"

static void begin(struct json *json, const char *name)
{
	if (json->has_member)
		text_add(json->out, ",");
	if (json->depth > 0)
		text_add(json->out, "\n%*s", (int)(2 * json->depth), "");
	if (name) {
		text_add_json(json->out, name);
		text_add(json->out, ": ");
	}
	json->has_member = true;
}

static void open_bracket(struct json *json, const char *name, const char *bracket)
{
	begin(json, name);
	text_add(json->out, "%s", bracket);
	json->depth++;
	json->has_member = false;
}

static void close_bracket(struct json *json, const char *bracket)
{
	json->depth--;
	if (json->has_member)
		text_add(json->out, "\n%*s", (int)(2 * json->depth), "");
	text_add(json->out, "%s%s", bracket, json->depth == 0 ? "\n" : "");
	json->has_member = true;
}

void json_object(struct json *json, const char *name)
{
	open_bracket(json, name, "{");
}

void json_object_end(struct json *json)
{
	close_bracket(json, "}");
}

void json_list(struct json *json, const char *name)
{
	open_bracket(json, name, "[");
}

void json_list_end(struct json *json)
{
	close_bracket(json, "]");
}

void json_string(struct json *json, const char *name, const char *value)
{
	begin(json, name);
	if (value)
		text_add_json(json->out, value);
	else
		text_add(json->out, "null");
}

void json_number(struct json *json, const char *name, uint64_t value)
{
	begin(json, name);
	text_add(json->out, "%llu", (unsigned long long)value);
}

void json_boolean(struct json *json, const char *name, bool value)
{
	begin(json, name);
	text_add(json->out, "%s", value ? "true" : "false");
}

void json_rule(struct json *json, const char *name, const struct rule *rule)
{
	static const char *const layers[] = {
		[LAYER_FLOOR] = "floor",
		[LAYER_BASE] = "base",
		[LAYER_USER] = "user",
		[LAYER_PROJECT] = "project",
		[LAYER_COMMAND_LINE] = "command line",
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

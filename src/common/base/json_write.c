/* SPDX-License-Identifier: Apache-2.0 */
/* Every string goes through text_add_json, so no value can change the structure of the document. */
#include "common/base/json_write.h"

static void add_line_break(const struct json *json)
{
	if (!json->is_compact)
		text_add(json->out, "\n%*s", (int)(2 * json->depth), "");
}

static void begin(struct json *json, const char *name)
{
	/* Without printf, which would take most of the time of a short line. */
	if (json->has_member)
		text_add_n(json->out, ",", 1);
	if (json->depth > 0)
		add_line_break(json);
	if (name) {
		text_add_json(json->out, name);
		text_add_n(json->out, ": ", json->is_compact ? 1 : 2);
	}
	json->has_member = true;
}

static void open_bracket(struct json *json, const char *name, const char *bracket)
{
	begin(json, name);
	text_add_n(json->out, bracket, 1);
	json->depth++;
	json->has_member = false;
}

static void close_bracket(struct json *json, const char *bracket)
{
	json->depth--;
	if (json->has_member)
		add_line_break(json);
	text_add_n(json->out, bracket, 1);
	if (json->depth == 0)
		text_add_n(json->out, "\n", 1);
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

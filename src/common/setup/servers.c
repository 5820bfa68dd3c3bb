/* SPDX-License-Identifier: Apache-2.0 */
/* Files that list programs for a host to start, as MCP servers and agents are listed: `{"mcpServers": {"NAME": {"command": …, "args": […]}}}`. berm becomes
 * the command of each, and what was there its arguments. Servers that are reached by an address have no command and stay. */
#include "common/setup/servers.h"

#include <string.h>

static bool is_variable_name(const char *name)
{
	size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	return length > 0 && name[length] == '\0' && (name[0] < '0' || name[0] > '9');
}

/* `run`, the variables that the file sets for this server, and what was there. */
static const char *wrapped_arguments(struct arena *arena, const struct jsonc_value *server)
{
	const struct jsonc_value *command = jsonc_member(server, "command"), *arguments = jsonc_member(server, "args");
	const struct jsonc_value *variables = jsonc_member(server, "env");
	struct text out = { 0 };
	const char *result;

	text_add(&out, "[\"run\", ");
	for (size_t i = 0; variables && variables->type == JSONC_OBJECT && i < variables->count; i++)
		if (is_variable_name(variables->children[i].key))
			text_add(&out, "\"--env=%s\", ", variables->children[i].key);
	text_add(&out, "\"--\", ");
	text_add_n(&out, command->raw, command->end - command->start);
	for (size_t i = 0; arguments && i < arguments->count; i++) {
		const struct jsonc_value *value = &arguments->children[i].value;
		text_add(&out, ", ");
		text_add_n(&out, value->raw, value->end - value->start);
	}
	text_add(&out, "]");
	result = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return result;
}

/* A program that is started, by a name that an edit can hold. */
static bool is_started(const struct jsonc_child *server)
{
	const struct jsonc_value *command = jsonc_member(&server->value, "command");
	const struct jsonc_value *arguments = jsonc_member(&server->value, "args");
	return command && command->type == JSONC_STRING && strlen(server->key) == server->key_length &&
	       (!arguments || arguments->type == JSONC_ARRAY);
}

static void add_edits(struct arena *arena, const char *list, const struct jsonc_child *server, const char *program,
		      struct setup_servers *servers)
{
	struct jsonc_edit *command = arena_push(arena, &servers->edits);
	struct jsonc_edit *arguments;

	*command = (struct jsonc_edit){ .path = { list, server->key, "command" },
					.value = arena_printf(arena, "\"%s\"", program) };
	arguments = arena_push(arena, &servers->edits);
	*arguments =
		(struct jsonc_edit){ .path = { list, server->key, "args" }, .value = wrapped_arguments(arena, &server->value) };
}

void setup_servers_find(struct arena *arena, const char *const *lists, const struct jsonc_value *root, const char *program,
			struct setup_servers *servers)
{
	*servers = (struct setup_servers){ 0 };
	for (size_t i = 0; lists[i]; i++) {
		const struct jsonc_value *list = jsonc_member(root, lists[i]);
		for (size_t k = 0; list && list->type == JSONC_OBJECT && k < list->count; k++) {
			const struct jsonc_child *server = &list->children[k];
			if (!is_started(server))
				continue;
			if (jsonc_is_string(jsonc_member(&server->value, "command"), program))
				servers->wrapped++;
			else
				add_edits(arena, lists[i], server, program, servers);
		}
	}
}

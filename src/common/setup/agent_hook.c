/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and rewrites text: runs nothing, opens nothing. The input is strict JSON, and every
 * field in use must be present with the right type. A field that moved means an untested version
 * of the host. */
#include "common/setup/agent_hook.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/fs/path.h"

const struct setup_host *agent_hook_host(const char *name)
{
	const struct setup_host *host = setup_host_find(name);
	return host && host->hook ? host : NULL;
}

static void add_wrapper(struct text *out, const struct agent_hook_wrapper *wrapper)
{
	text_add_shell_word(out, wrapper->program);
	if (!wrapper->project) {
		text_add(out, " ");
		return;
	}
	text_add(out, " run --project=");
	text_add_shell_word(out, wrapper->project);
	text_add(out, " -- ");
	text_add_shell_word(out, wrapper->shell);
	/* Without the dashes, a command that begins with a dash would be an option of the shell. */
	text_add(out, " -c -- ");
}

static const char *wrap(struct arena *arena, const struct agent_hook_wrapper *wrapper, const char *command)
{
	struct text out = { 0 };
	const char *result;
	add_wrapper(&out, wrapper);
	/* berm-sh takes one string, and one that begins with a dash for an option. */
	if (!wrapper->project && (command[0] == '-' || command[0] == '\0'))
		command = arena_printf(arena, " %s", command);
	text_add_shell_quoted(&out, command);
	result = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return result;
}

/* Parses the output of text_add_shell_quoted. Returns false for anything else. */
static bool unquote(const char *quoted, struct text *out)
{
	text_add_n(out, "", 0);
	while (*quoted) {
		if (*quoted == '\\' && (quoted[1] == '\'' || quoted[1] == '\\')) {
			text_add_n(out, quoted + 1, 1);
			quoted += 2;
		} else if (*quoted == '\'') {
			size_t length = strcspn(quoted + 1, "'");
			if (quoted[1 + length] != '\'')
				return false;
			text_add_n(out, quoted + 1, length);
			quoted += length + 2;
		} else
			return false;
	}
	return true;
}

bool agent_hook_is_wrapped(struct arena *arena, const struct agent_hook_wrapper *wrapper, const char *command)
{
	struct text prefix = { 0 }, inner = { 0 };
	bool is_ours;

	add_wrapper(&prefix, wrapper);
	is_ours = text_starts_with(command, prefix.data) && unquote(command + prefix.length, &inner) &&
		  strcmp(wrap(arena, wrapper, inner.data), command) == 0;
	text_free(&prefix);
	text_free(&inner);
	return is_ours;
}

/* Returns a string without NULs, else NULL: others cannot be an argument or a path. */
static const char *plain_string(const struct jsonc_value *object, const char *key)
{
	const struct jsonc_value *value = jsonc_member(object, key);
	if (!value || value->type != JSONC_STRING || strlen(value->string) != value->length)
		return NULL;
	return value->string;
}

static int parse_input(struct arena *arena, struct jsonc_text input, struct jsonc_value *root, struct error *err)
{
	if (jsonc_parse(arena, JSONC_STRICT, "hook input", input, root, err) < 0)
		return -1;
	return root->type == JSONC_OBJECT ? 0 : error_set(err, "hook input: not an object");
}

static const char *choose_root(const struct jsonc_value *roots, const char *cwd)
{
	const char *first = NULL;
	for (size_t i = 0; roots && roots->type == JSONC_ARRAY && i < roots->count; i++) {
		const struct jsonc_value *root = &roots->children[i].value;
		if (root->type != JSONC_STRING || strlen(root->string) != root->length || root->string[0] != '/')
			continue;
		if (cwd && path_is_within(cwd, root->string))
			return root->string;
		if (!first)
			first = root->string;
	}
	return first;
}

int agent_hook_workspace(struct arena *arena, const struct setup_host *host, struct jsonc_text input, const char *root,
			 const char **workspace, struct error *err)
{
	struct jsonc_value json;
	const char *cwd;

	if (parse_input(arena, input, &json, err) < 0)
		return -1;
	cwd = plain_string(&json, "cwd");
	if (host->hook->has_roots)
		root = choose_root(jsonc_member(&json, "workspace_roots"), cwd);
	*workspace = root && root[0] ? root : cwd;
	if (!*workspace || (*workspace)[0] != '/')
		return error_set(err, "hook input: no working directory of %s", host->name);
	return 0;
}

static int check_shape(const struct agent_hook *hook, const struct jsonc_value *json, struct error *err)
{
	const char *event = plain_string(json, "hook_event_name"), *tool = plain_string(json, "tool_name");
	const struct jsonc_value *input = jsonc_member(json, "tool_input");

	if (!event || strcmp(event, hook->event) != 0)
		return error_set(err, "hook input: the event is %s, not %s", event ? event : "missing", hook->event);
	if (!tool || strcmp(tool, hook->tool) != 0)
		return error_set(err, "hook input: the tool is %s, not %s", tool ? tool : "missing", hook->tool);
	if (!input || input->type != JSONC_OBJECT)
		return error_set(err, "hook input: tool_input is not an object");
	if (!plain_string(input, "command"))
		return error_set(err, "hook input: tool_input.command is not a valid command");
	return 0;
}

/* Adds tool_input with another command and all other bytes unchanged. */
static void add_input(struct text *out, const struct jsonc_value *input, const char *command)
{
	const struct jsonc_value *old = jsonc_member(input, "command");
	text_add_n(out, input->raw, old->start - input->start);
	text_add_json(out, command);
	text_add_n(out, input->raw + (old->end - input->start), input->end - old->end);
}

static void add_answer(struct text *out, const struct agent_hook *hook, const struct jsonc_value *input, const char *command)
{
	switch (hook->shape) {
	case HOOK_UPDATED_INPUT:
	case HOOK_UPDATED_INPUT_ALLOW:
		text_add(out, "{\"hookSpecificOutput\": {\"hookEventName\": \"%s\", %s\"updatedInput\": ", hook->event,
			 hook->shape == HOOK_UPDATED_INPUT ? "" : "\"permissionDecision\": \"allow\", ");
		break;
	case HOOK_TOOL_INPUT:
		text_add(out, "{\"hookSpecificOutput\": {\"hookEventName\": \"%s\", \"tool_input\": ", hook->event);
		break;
	case HOOK_SNAKE_INPUT:
		text_add(out, "{\"permission\": \"allow\", \"updated_input\": ");
		break;
	}
	add_input(out, input, command);
	text_add(out, hook->shape == HOOK_SNAKE_INPUT ? "}" : "}}");
}

/* Handles the event that shows the final command: rewrites nothing, and refuses a command that
 * is not berm's. */
static int guard(struct arena *arena, const struct setup_host *host, const struct jsonc_value *json,
		 const struct agent_hook_wrapper *wrapper, struct agent_hook_answer *answer, struct error *err)
{
	const char *command = plain_string(json, "command");
	if (!command)
		return error_set(err, "hook input: command is not a valid command");
	if (wrapper && !agent_hook_is_wrapped(arena, wrapper, command)) {
		error_set(err, "this command would have run outside berm");
		return error_hint(err, "the rewriting hook had no effect: `berm setup %s --check`", host->name);
	}
	answer->command = command;
	answer->json = "{\"permission\": \"allow\"}";
	return 0;
}

int agent_hook_accesses(struct arena *arena, const struct setup_host *host, struct jsonc_text input,
			const struct agent_tool **tool, struct agent_accesses *accesses, struct error *err)
{
	const char *event, *name, *cwd;
	struct jsonc_value json;

	if (parse_input(arena, input, &json, err) < 0)
		return -1;
	event = plain_string(&json, "hook_event_name");
	name = plain_string(&json, "tool_name");
	cwd = plain_string(&json, "cwd");
	*tool = event && name && strcmp(event, host->hook->event) == 0 ? agent_tool_find(host->hook->tools, name) : NULL;
	if (!*tool)
		return 0;
	if (!cwd || cwd[0] != '/')
		return error_set(err, "hook input: no working directory of %s", host->name);
	return agent_tool_accesses(arena, *tool, jsonc_member(&json, "tool_input"), cwd, accesses, err);
}

/* Adds tool_input with another pattern and all other members unchanged. */
static void add_pattern(struct text *out, const struct jsonc_value *input, const char *key, const char *pattern)
{
	text_add(out, "{");
	for (size_t i = 0; i < input->count; i++) {
		const struct jsonc_child *child = &input->children[i];
		if (strcmp(child->key, key) == 0)
			continue;
		text_add_json(out, child->key);
		text_add(out, ": ");
		text_add_n(out, child->value.raw, child->value.end - child->value.start);
		text_add(out, ", ");
	}
	text_add_json(out, key);
	text_add(out, ": ");
	text_add_json(out, pattern);
	text_add(out, "}");
}

/* True if the name means only itself in a pattern, and stays one word of a list of patterns. */
static bool is_literal(const char *name)
{
	return name[0] != '!' && !strpbrk(name, "*?[]{}\\, \t\n\"'");
}

static bool are_literal(const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_literal(names[i]))
			return false;
	return true;
}

/* Adds the names as `!A !B`, or as the one pattern `!{A,B}`. */
static void add_exclusions(struct text *pattern, const struct agent_tool *tool, const char *const *excluded, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!tool->is_single)
			text_add(pattern, "%s!%s", pattern->length > 0 ? " " : "", excluded[i]);
		else
			text_add(pattern, "%s%s", i > 0 ? "," : count > 1 ? "!{" : "!", excluded[i]);
	if (tool->is_single && count > 1)
		text_add(pattern, "}");
}

static bool ends_with(const char *name, const char *end, size_t length)
{
	size_t whole = strlen(name);
	return whole >= length && strncasecmp(name + whole - length, end, length) == 0;
}

/* Returns the rest of the pattern after its last wildcard, with at most one list in braces, at its
 * end. NULL for every other kind of pattern. */
static const char *find_tail(const char *pattern)
{
	const char *base = path_base_name(pattern), *end = base, *brace = strchr(base, '{');

	if (pattern[0] == '!' || strpbrk(pattern, "\\[]"))
		return NULL;
	for (const char *at = base; *at; at++)
		if (strchr("*?", *at))
			end = at + 1;
	if (!brace)
		return strpbrk(pattern, "{}") ? NULL : end;
	return brace < end || strchr(pattern, '{') != brace || strcspn(end, "}") + 1 != strlen(end) ? NULL : end;
}

/* True if no name matches the pattern, by the ends of its names: `*.ts` and `*.{ts,tsx}`. False for
 * every other kind of pattern. */
static bool spares_all(struct arena *arena, const char *pattern, const char *const *names, size_t count)
{
	const char *end = find_tail(pattern), *brace = end ? strchr(end, '{') : NULL;
	size_t fixed, length;

	if (!end)
		return false;
	fixed = strcspn(end, "{");
	do {
		const char *start = brace ? ++brace : "";
		const char *tail;
		length = strcspn(start, ",}");
		tail = arena_printf(arena, "%.*s%.*s", (int)fixed, end, (int)length, start);
		for (size_t i = 0; i < count; i++)
			if (ends_with(names[i], tail, strlen(tail)))
				return false;
		brace = brace ? start + length : NULL;
	} while (brace && *brace == ',');
	return true;
}

const char *agent_hook_exclude(struct arena *arena, const struct setup_host *host, const struct agent_tool *tool,
			       struct jsonc_text input, const char *const *excluded, size_t count)
{
	const struct jsonc_value *tool_input, *old;
	struct text pattern = { 0 }, out = { 0 };
	struct error ignored = { 0 };
	struct jsonc_value json;
	const char *result;

	if (!tool->pattern || host->hook->shape != HOOK_UPDATED_INPUT || parse_input(arena, input, &json, &ignored) < 0)
		return NULL;
	tool_input = jsonc_member(&json, "tool_input");
	old = jsonc_member(tool_input, tool->pattern);
	if (old && old->type != JSONC_NULL && !plain_string(tool_input, tool->pattern))
		return NULL;
	if (tool->is_single && old && old->type == JSONC_STRING && old->string[0])
		return spares_all(arena, old->string, excluded, count) ? "" : NULL;
	if (!are_literal(excluded, count))
		return NULL;
	text_add(&pattern, "%s", old && old->type == JSONC_STRING ? old->string : "");
	add_exclusions(&pattern, tool, excluded, count);
	text_add(&out, "{\"hookSpecificOutput\": {\"hookEventName\": \"%s\", \"updatedInput\": ", host->hook->event);
	add_pattern(&out, tool_input, tool->pattern, pattern.data);
	text_add(&out, "}}");
	result = arena_copy_n(arena, out.data, out.length);
	text_free(&pattern);
	text_free(&out);
	return result;
}

/* Replaces the placeholders of struct agent_place. */
static const char *place_path(struct arena *arena, const char *text, const char *config, const char *workspace)
{
	struct text out = { 0 };
	const char *result;

	while (*text) {
		if (text_starts_with(text, "@config@")) {
			text_add(&out, "%s", config);
			text += strlen("@config@");
		} else if (text_starts_with(text, "@uid@")) {
			text_add(&out, "%u", (unsigned)getuid());
			text += strlen("@uid@");
		} else if (text_starts_with(text, "@slug@")) {
			for (const char *at = workspace; *at; at++)
				text_add(&out, "%c",
					 (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9')
						 ? *at
						 : '-');
			text += strlen("@slug@");
		} else
			text_add_n(&out, text++, 1);
	}
	result = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return result;
}

/* True if path is below the directory, whose components may be `*`. */
static bool is_below(const char *path, const char *directory)
{
	while (*directory) {
		size_t wanted = strcspn(directory, "/"), found = strcspn(path, "/");
		if (!(wanted == 1 && directory[0] == '*' && found > 0) &&
		    (wanted != found || memcmp(path, directory, wanted) != 0))
			return false;
		directory += wanted + (directory[wanted] == '/');
		path += found;
		if (*path != '/')
			return false;
		path++;
	}
	return *path != '\0';
}

bool agent_hook_is_own(struct arena *arena, const struct setup_host *host, const char *config, const char *workspace,
		       const struct agent_access *access, const char *path)
{
	const struct agent_place *place = host->hook->places;
	for (; place && place->path; place++)
		if ((place->is_writable || !access->is_write) && !access->is_search &&
		    is_below(path, place_path(arena, place->path, config, workspace)))
			return true;
	return false;
}

int agent_hook_rewrite(struct arena *arena, const struct setup_host *host, struct jsonc_text input,
		       const struct agent_hook_wrapper *wrapper, struct agent_hook_answer *answer, struct error *err)
{
	const struct jsonc_value *tool_input;
	struct jsonc_value json;
	struct text out = { 0 };
	const char *event, *command;

	if (parse_input(arena, input, &json, err) < 0)
		return -1;
	event = plain_string(&json, "hook_event_name");
	if (host->hook->guard_event && event && strcmp(event, host->hook->guard_event) == 0)
		return guard(arena, host, &json, wrapper, answer, err);
	if (check_shape(host->hook, &json, err) < 0)
		return -1;
	tool_input = jsonc_member(&json, "tool_input");
	command = plain_string(tool_input, "command");
	answer->command = !wrapper || agent_hook_is_wrapped(arena, wrapper, command) ? command : wrap(arena, wrapper, command);
	add_answer(&out, host->hook, tool_input, answer->command);
	answer->json = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return 0;
}

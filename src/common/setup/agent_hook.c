/* SPDX-License-Identifier: Apache-2.0 */
/* Text in, text out: runs nothing, opens nothing. The hosts' shapes are one table; their input is strict JSON with every field that
 * is used present and of the right type, because a field that moved means a version that nobody has looked at. */
#include "common/setup/agent_hook.h"

#include <string.h>

#include "common/fs/filesystem.h"

/* cwd is in all of them. Codex takes updatedInput only with an explicit "allow", the others would skip their own question to the
 * user if it were there. */
const struct hook_host hook_host_table[] = {
	{ "claude-code", "PreToolUse", "Bash", NULL, "CLAUDE_PROJECT_DIR", false, HOOK_UPDATED_INPUT },
	{ "codex", "PreToolUse", "Bash", NULL, NULL, false, HOOK_UPDATED_INPUT_ALLOW },
	{ "gemini", "BeforeTool", "run_shell_command", NULL, "GEMINI_PROJECT_DIR", false, HOOK_TOOL_INPUT },
	{ "cursor", "preToolUse", "Shell", "beforeShellExecution", NULL, true, HOOK_SNAKE_INPUT },
};
const size_t hook_host_count = sizeof hook_host_table / sizeof hook_host_table[0];

const struct hook_host *hook_host_find(const char *name)
{
	for (size_t i = 0; i < hook_host_count; i++)
		if (strcmp(hook_host_table[i].name, name) == 0)
			return &hook_host_table[i];
	return NULL;
}

/* A quote and a backslash stand outside of quotes, where every shell reads \' and \\ alike: inside single quotes fish takes them for
 * escapes, others do not. An empty pair of quotes is never written next to another: with zsh's rc_quotes '' is a quote. */
void hook_quote(struct text *out, const char *word)
{
	if (word[0] == '\0')
		text_add(out, "''");
	while (*word) {
		size_t plain = strcspn(word, "'\\");
		if (plain > 0)
			text_add(out, "'%.*s'", (int)plain, word);
		word += plain;
		for (; *word == '\'' || *word == '\\'; word++)
			text_add(out, "\\%c", *word);
	}
}

static void add_path(struct text *out, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";
	if (path[0] && path[strspn(path, plain)] == '\0')
		text_add(out, "%s", path);
	else
		hook_quote(out, path);
}

static void add_wrapper(struct text *out, const struct hook_wrapper *wrapper)
{
	add_path(out, wrapper->program);
	text_add(out, " run --project=");
	add_path(out, wrapper->project);
	text_add(out, " -- ");
	add_path(out, wrapper->shell);
	/* Without the dashes a command that begins with one would be an option of the shell. */
	text_add(out, " -c -- ");
}

static const char *wrap(struct arena *arena, const struct hook_wrapper *wrapper, const char *command)
{
	struct text out = { 0 };
	const char *result;
	add_wrapper(&out, wrapper);
	hook_quote(&out, command);
	result = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return result;
}

/* Reads what hook_quote wrote. False for anything else. */
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

bool hook_is_wrapped(struct arena *arena, const struct hook_wrapper *wrapper, const char *command)
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

/* A string without NULs, which is all that can become an argument or a path. */
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

int hook_workspace(struct arena *arena, const struct hook_host *host, struct jsonc_text input, const char *root,
		   const char **workspace, struct error *err)
{
	struct jsonc_value json;
	const char *cwd;

	if (parse_input(arena, input, &json, err) < 0)
		return -1;
	cwd = plain_string(&json, "cwd");
	if (host->has_roots)
		root = choose_root(jsonc_member(&json, "workspace_roots"), cwd);
	*workspace = root && root[0] ? root : cwd;
	if (!*workspace || (*workspace)[0] != '/')
		return error_set(err, "hook input: no directory that %s works in", host->name);
	return 0;
}

static int check_shape(const struct hook_host *host, const struct jsonc_value *json, struct error *err)
{
	const char *event = plain_string(json, "hook_event_name"), *tool = plain_string(json, "tool_name");
	const struct jsonc_value *input = jsonc_member(json, "tool_input");

	if (!event || strcmp(event, host->event) != 0)
		return error_set(err, "hook input: the event is %s, not %s", event ? event : "missing", host->event);
	if (!tool || strcmp(tool, host->tool) != 0)
		return error_set(err, "hook input: the tool is %s, not %s", tool ? tool : "missing", host->tool);
	if (!input || input->type != JSONC_OBJECT)
		return error_set(err, "hook input: tool_input is no object");
	if (!plain_string(input, "command"))
		return error_set(err, "hook input: tool_input.command is no text that can be run");
	return 0;
}

/* tool_input with another command; every other byte as it came. */
static void add_input(struct text *out, const struct jsonc_value *input, const char *command)
{
	const struct jsonc_value *old = jsonc_member(input, "command");
	text_add_n(out, input->raw, old->start - input->start);
	text_add_json(out, command);
	text_add_n(out, input->raw + (old->end - input->start), input->end - old->end);
}

static void add_answer(struct text *out, const struct hook_host *host, const struct jsonc_value *input, const char *command)
{
	switch (host->shape) {
	case HOOK_UPDATED_INPUT:
	case HOOK_UPDATED_INPUT_ALLOW:
		text_add(out, "{\"hookSpecificOutput\": {\"hookEventName\": \"%s\", %s\"updatedInput\": ", host->event,
			 host->shape == HOOK_UPDATED_INPUT ? "" : "\"permissionDecision\": \"allow\", ");
		break;
	case HOOK_TOOL_INPUT:
		text_add(out, "{\"hookSpecificOutput\": {\"hookEventName\": \"%s\", \"tool_input\": ", host->event);
		break;
	case HOOK_SNAKE_INPUT:
		text_add(out, "{\"permission\": \"allow\", \"updated_input\": ");
		break;
	}
	add_input(out, input, command);
	text_add(out, host->shape == HOOK_SNAKE_INPUT ? "}" : "}}");
}

/* The event that shows what will run at last: nothing is rewritten, and what is not berm's does not run. */
static int guard(struct arena *arena, const struct jsonc_value *json, const struct hook_wrapper *wrapper,
		 struct hook_answer *answer, struct error *err)
{
	const char *command = plain_string(json, "command");
	if (!command)
		return error_set(err, "hook input: command is no text that can be run");
	if (wrapper && !hook_is_wrapped(arena, wrapper, command)) {
		error_set(err, "this command would have run outside of berm");
		return error_hint(err, "the rewriting hook did not take effect: `berm setup cursor --check`");
	}
	answer->command = command;
	answer->json = "{\"permission\": \"allow\"}";
	return 0;
}

int hook_rewrite(struct arena *arena, const struct hook_host *host, struct jsonc_text input, const struct hook_wrapper *wrapper,
		 struct hook_answer *answer, struct error *err)
{
	const struct jsonc_value *tool_input;
	struct jsonc_value json;
	struct text out = { 0 };
	const char *event, *command;

	if (parse_input(arena, input, &json, err) < 0)
		return -1;
	event = plain_string(&json, "hook_event_name");
	if (host->guard_event && event && strcmp(event, host->guard_event) == 0)
		return guard(arena, &json, wrapper, answer, err);
	if (check_shape(host, &json, err) < 0)
		return -1;
	tool_input = jsonc_member(&json, "tool_input");
	command = plain_string(tool_input, "command");
	answer->command = !wrapper || hook_is_wrapped(arena, wrapper, command) ? command : wrap(arena, wrapper, command);
	add_answer(&out, host, tool_input, answer->command);
	answer->json = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return 0;
}

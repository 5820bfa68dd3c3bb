/* SPDX-License-Identifier: Apache-2.0 */
/* The hash is that of a canonical JSON document: sorted keys, no spaces, the event in snake case
 * and Codex's defaults (timeout 600, not async). Found by comparison with the answers of
 * `codex app-server` 0.166.0; tests/agents/codex.sh compares again. Reads TOML by lines: Codex
 * writes each record as a separate table. */
#include "common/setup/codex_trust.h"

#include <string.h>

#include "common/base/sha256.h"
#include "common/base/text.h"

static bool is_own(const struct jsonc_value *entry, const char *program)
{
	const struct jsonc_value *hooks = jsonc_member(entry, "hooks"), *command = NULL;
	size_t length = strlen(program);

	if (hooks && hooks->type == JSONC_ARRAY && hooks->count == 1)
		command = jsonc_member(&hooks->children[0].value, "command");
	return command && command->type == JSONC_STRING && text_starts_with(command->string, program) &&
	       command->string[length] == ' ' && jsonc_member(entry, "matcher");
}

/* Returns "sha256:" and the hash of an entry that has the form of berm's. */
static const char *hash_entry(struct arena *arena, const struct jsonc_value *entry)
{
	const struct jsonc_value *hook = &jsonc_member(entry, "hooks")->children[0].value;
	struct text out = { 0 };
	struct sha256 hash;
	char hex[SHA256_HEX + 1];

	text_add(&out, "{\"event_name\":\"pre_tool_use\",\"hooks\":[{\"async\":false,\"command\":");
	text_add_json(&out, jsonc_member(hook, "command")->string);
	text_add(&out, ",\"timeout\":600,\"type\":\"command\"}],\"matcher\":");
	text_add_json(&out, jsonc_member(entry, "matcher")->string);
	text_add(&out, "}");
	sha256_start(&hash);
	sha256_add(&hash, out.data, out.length);
	sha256_finish_hex(&hash, hex);
	text_free(&out);
	return arena_printf(arena, "sha256:%s", hex);
}

bool codex_trust_find(struct arena *arena, const struct install_paths *paths, const char *file, struct jsonc_text text,
		      struct codex_trust *trust)
{
	static const char *const path[] = { "hooks", "PreToolUse", NULL };
	struct error ignored = { 0 };
	const struct jsonc_value *list;
	struct jsonc_value root;

	if (jsonc_parse(arena, JSONC_COMMENTS, file, text, &root, &ignored) < 0)
		return false;
	list = jsonc_find(&root, path);
	for (size_t i = 0; list && list->type == JSONC_ARRAY && i < list->count; i++) {
		struct text section = { 0 };
		if (!is_own(&list->children[i].value, paths->program))
			continue;
		text_add(&section, "[hooks.state.");
		text_add_json(&section, arena_printf(arena, "%s:pre_tool_use:%zu:0", file, i));
		text_add(&section, "]");
		trust->section = arena_copy_n(arena, section.data, section.length);
		trust->hash = hash_entry(arena, &list->children[i].value);
		text_free(&section);
		return true;
	}
	return false;
}

const char *toml_take_line(struct arena *arena, struct jsonc_text text, size_t *offset)
{
	const char *start = text.data + *offset, *newline = memchr(start, '\n', text.length - *offset);
	size_t length = newline ? (size_t)(newline - start) : text.length - *offset;
	char *line = arena_copy_n(arena, start, length);

	*offset += length + (newline != NULL);
	line[strcspn(line, "#")] = '\0';
	return line;
}

bool toml_is_switched_off(const char *line, const char *key)
{
	size_t length = strlen(key);
	for (const char *at = strstr(line, key); at; at = strstr(at + 1, key)) {
		const char *rest = at + length;
		if (at > line && !strchr(" \t.,{\"'", at[-1]))
			continue;
		rest += strspn(rest, "\"' \t");
		if (*rest++ != '=')
			continue;
		rest += strspn(rest, " \t");
		if (text_starts_with(rest, "false"))
			return true;
	}
	return false;
}

enum codex_trust_state codex_trust_read(struct arena *arena, struct jsonc_text config, const struct codex_trust *trust)
{
	enum codex_trust_state state = CODEX_UNTRUSTED;
	bool is_in_section = false;
	size_t offset = 0;

	while (offset < config.length) {
		const char *line = toml_take_line(arena, config, &offset);
		line += strspn(line, " \t");
		if (line[0] == '[')
			is_in_section = text_starts_with(line, trust->section);
		if (is_in_section && state != CODEX_HOOK_OFF && text_starts_with(line, "trusted_hash"))
			state = strstr(line, arena_printf(arena, "\"%s\"", trust->hash)) ? CODEX_TRUSTED : CODEX_TRUSTS_OTHER;
		if (is_in_section && toml_is_switched_off(line, "enabled"))
			state = CODEX_HOOK_OFF;
	}
	return state;
}

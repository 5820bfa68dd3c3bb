/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader, its editor, and the hooks' answers. Input: one byte that chooses an edit, then a
 * document. */
#include <stdint.h>
#include <string.h>

#include "common/setup/agent_hook.h"
#include "common/format/jsonc.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct jsonc_edit edits[] = {
	{ { "a", NULL }, "{\"x\": [1, true]}", false },
	{ { "a", "b", NULL }, "\"x\"", false },
	{ { "hooks", "PreToolUse", NULL }, "{\"matcher\": \"Bash\"}", true },
};

static void check_edit(struct arena *arena, struct jsonc_text document, const struct jsonc_edit *edit)
{
	struct text out = { 0 }, back = { 0 };
	struct jsonc_value before, after;
	struct error err = { 0 };

	PROPERTY(jsonc_parse(arena, JSONC_COMMENTS, "input", document, &before, &err) == 0);
	if (jsonc_set(arena, "input", document, edit, &out, &err) < 0) {
		PROPERTY(error_is_set(&err));
	} else {
		struct jsonc_text changed = { out.data, out.length };
		PROPERTY(jsonc_parse(arena, JSONC_COMMENTS, "input", changed, &after, &err) == 0);
		PROPERTY(jsonc_holds(arena, &after, edit));
		PROPERTY(jsonc_unset(arena, "input", changed, document, edit, &back, &err) == 0);
		PROPERTY(jsonc_parse(arena, JSONC_COMMENTS, "input", (struct jsonc_text){ back.data, back.length }, &after,
				     &err) == 0);
		/* A key with a NUL in it is equal to nothing. */
		PROPERTY(jsonc_equal(&before, &after) || !jsonc_equal(&before, &before));
	}
	text_free(&out);
	text_free(&back);
}

static void check_hooks(struct arena *arena, struct jsonc_text document)
{
	static const struct agent_hook_wrapper wrapper = { .program = "/usr/bin/berm",
							   .shell = "/bin/bash",
							   .project = "/srv/it's" };
	for (size_t i = 0; i < setup_host_count; i++) {
		if (!setup_host_table[i].hook)
			continue;
		struct agent_hook_answer answer = { 0 };
		struct error err = { 0 };
		struct jsonc_value root;
		if (agent_hook_rewrite(arena, &setup_host_table[i], document, &wrapper, &answer, &err) < 0) {
			PROPERTY(error_is_set(&err));
			continue;
		}
		PROPERTY(jsonc_parse(arena, JSONC_STRICT, "answer", (struct jsonc_text){ answer.json, strlen(answer.json) },
				     &root, &err) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct error err = { 0 };
	struct jsonc_value strict, lax;
	struct jsonc_text document;
	bool is_strict;

	if (size == 0 || size > 16384)
		return 0;
	document = (struct jsonc_text){ (const char *)data + 1, size - 1 };
	is_strict = jsonc_parse(&arena, JSONC_STRICT, "input", document, &strict, &err) == 0;
	PROPERTY(is_strict || error_is_set(&err));
	if (jsonc_parse(&arena, JSONC_COMMENTS, "input", document, &lax, &err) == 0)
		check_edit(&arena, document, &edits[data[0] % 3]);
	else
		PROPERTY(!is_strict);
	check_hooks(&arena, document);
	arena_free(&arena);
	return 0;
}

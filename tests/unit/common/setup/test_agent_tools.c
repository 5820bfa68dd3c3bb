/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a call of an agent's tool names. */
#include <string.h>

#include "greatest.h"

#include "common/setup/agent_tools.h"

static const struct agent_tool tools[] = {
	{ "Read", TOOL_READ, "path", NULL, false },	  { "Write", TOOL_WRITE, "path", NULL, false },
	{ "List", TOOL_LIST, "path", NULL, false },	  { "Glob", TOOL_GLOB, "path", "pattern", false },
	{ "Search", TOOL_SEARCH, "path", "glob", false }, { "Many", TOOL_READ_MANY, "paths", NULL, false },
	{ "Patch", TOOL_PATCH, "command", NULL, false },  { 0 },
};

/* `wanted`: each access as r, w or s and its path, separated by spaces; NULL: refused. */
static const struct row {
	const char *tool, *input, *wanted;
} rows[] = {
	{ "Read", "{\"path\": \"a\"}", "r/p/a" },
	{ "Read", "{\"path\": \"/b/c\"}", "r/b/c" },
	{ "Read", "{\"path\": \"\\u00e9\"}", "r/p/\xc3\xa9" },
	{ "Write", "{\"path\": \"a\", \"content\": \"x\"}", "w/p/a" },
	{ "Read", "{}", NULL },
	{ "Read", "{\"path\": \"\"}", NULL },
	{ "Read", "{\"path\": 1}", NULL },
	{ "Read", "{\"path\": null}", NULL },
	{ "Read", "[]", NULL },
	{ "Read", "{\"path\": \"a\\u0000b\"}", NULL },
	{ "Read", "{\"path\": \"a\\nb\"}", NULL },
	{ "Read", "{\"path\": \"../a\"}", NULL },
	{ "Read", "{\"path\": \"a/..\"}", NULL },
	{ "Read", "{\"path\": \"a/../b\"}", NULL },
	{ "Read", "{\"path\": \"a/..b\"}", "r/p/a/..b" },
	{ "Read", "{\"path\": \"~/a\"}", NULL },
	{ "Read", "{\"path\": \"~ann/a\"}", NULL },
	{ "Read", "{\"path\": \"\\u00a0a\"}", NULL },
	{ "Read", "{\"path\": \"a\\u3000\"}", NULL },
	{ "Read", "{\"path\": \"a\\u3000b\"}",
	  "r/p/a\xe3\x80\x80"
	  "b" },
	{ "List", "{}", "r/p" },
	{ "List", "{\"path\": null}", "r/p" },
	{ "List", "{\"path\": \"a\"}", "r/p/a" },
	{ "List", "{\"path\": []}", NULL },
	{ "Glob", "{\"pattern\": \"*.c\"}", "r/p" },
	{ "Glob", "{\"pattern\": \"a/b/*.c\"}", "r/p/a/b" },
	{ "Glob", "{\"pattern\": \"a/b*/c\"}", "r/p/a" },
	{ "Glob", "{\"pattern\": \"a\"}", "r/p/a" },
	{ "Glob", "{\"pattern\": \"/x/**\"}", "r/x" },
	{ "Glob", "{\"pattern\": \"/*\"}", "r/" },
	{ "Glob", "{\"pattern\": \"*\", \"path\": \"/x\"}", "r/x" },
	{ "Glob", "{\"pattern\": \"*/../../x\"}", NULL },
	{ "Glob", "{\"pattern\": \"{a,/x}/*\"}", NULL },
	{ "Glob", "{\"pattern\": \"{a,..}/*\"}", NULL },
	{ "Glob", "{\"pattern\": \"{a,b}/*\"}", "r/p" },
	{ "Glob", "{}", NULL },
	{ "Search", "{\"pattern\": \"x\"}", "s/p" },
	{ "Search", "{\"path\": \"/x\"}", "s/x" },
	{ "Many", "{\"paths\": [\"a\", \"/x/*.c\"]}", "r/p/a s/x" },
	{ "Many", "{\"paths\": []}", NULL },
	{ "Many", "{\"paths\": [\"{a,/x}\"]}", NULL },
	{ "Many", "{\"paths\": \"a\"}", NULL },
	{ "Patch", "{\"command\": \"*** Begin Patch\\n*** Add File: a\\n+x\\n*** End Patch\"}", "w/p/a" },
	{ "Patch", "{\"command\": \"*** Update File: a\\r\\n*** Move to: /x \\n*** Delete File: b\"}", "w/p/a w/x w/p/b" },
	{ "Patch", "{\"command\": \"\\u2003*** Add File: a\"}", "w/p/a" },
	{ "Patch", "{\"command\": \"+ *** Add File: a\"}", "w/p/a" },
	{ "Patch", "{\"command\": \"*** Add File: a\\u2003\"}", NULL },
	{ "Patch", "{\"command\": \"*** Add File: \"}", NULL },
	{ "Patch", "{\"command\": \"*** Add File: ../a\"}", NULL },
	{ "Patch", "{\"command\": \"x\"}", NULL },
	{ "Patch", "{}", NULL },
};

static const char *accesses_of(struct arena *arena, const struct row *row)
{
	struct jsonc_text text = { row->input, strlen(row->input) };
	struct agent_accesses accesses;
	struct error err = { 0 };
	struct jsonc_value input;
	struct text out = { 0 };
	const char *result;

	if (jsonc_parse(arena, JSONC_STRICT, "input", text, &input, &err) < 0 ||
	    agent_tool_accesses(arena, agent_tool_find(tools, row->tool), &input, "/p", &accesses, &err) < 0)
		return NULL;
	for (size_t i = 0; i < accesses.count; i++)
		text_add(&out, "%s%s%s", i ? " " : "",
			 accesses.items[i].is_write    ? "w"
			 : accesses.items[i].is_search ? "s"
						       : "r",
			 accesses.items[i].path);
	result = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return result;
}

TEST tools_name_their_files(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct arena arena = { 0 };
		const char *found = accesses_of(&arena, &rows[i]);
		if (!rows[i].wanted)
			ASSERT_EQm(rows[i].input, NULL, found);
		else
			ASSERT_STR_EQm(rows[i].input, rows[i].wanted, found ? found : "refused");
		arena_free(&arena);
	}
	PASS();
}

TEST unknown_tools_are_not_found(void)
{
	ASSERT_EQ(NULL, agent_tool_find(tools, "read"));
	ASSERT_EQ(NULL, agent_tool_find(NULL, "Read"));
	ASSERT(agent_tool_find(tools, "Patch"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(tools_name_their_files);
	RUN_TEST(unknown_tools_are_not_found);
	GREATEST_MAIN_END();
}

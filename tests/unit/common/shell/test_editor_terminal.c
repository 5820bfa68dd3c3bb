/* SPDX-License-Identifier: Apache-2.0 */
/* Which socket a debugger's options name, and which shells prompt. */
#include <string.h>

#include "greatest.h"

#include "common/shell/editor_terminal.h"
#include "common/shell/startup.h"

static struct arena arena;

#define OPTIONS(path) ":::{\"inspectorIpc\":\"" path "\",\"deferredMode\":false}"

TEST names_of_sockets(void)
{
	static const struct {
		const char *options, *socket;
	} rows[] = {
		{ OPTIONS("/tmp/node-cdp.31346-741e1e1f-6.sock"), "/tmp/node-cdp.31346-741e1e1f-6.sock" },
		{ OPTIONS("/tmp/node-cdp.1-a.sock"), "/tmp/node-cdp.1-a.sock" },
		{ OPTIONS("/tmp/node-cdp.1-a.sock") OPTIONS("/tmp/node-cdp.2-b.sock"), "/tmp/node-cdp.2-b.sock" },
		{ "{\"inspectorIpc\":\"/t/node-cdp.1-a.sock\"}", "/t/node-cdp.1-a.sock" },
		{ OPTIONS("/run/docker.sock"), NULL },
		{ OPTIONS("/tmp/node-cdp.sock"), NULL },
		{ OPTIONS("/tmp/node-cdp.1-.sock"), NULL },
		{ OPTIONS("/tmp/node-cdp.1-a-.sock"), NULL },
		{ OPTIONS("/tmp/node-cdp.1-a.sock.x"), NULL },
		{ OPTIONS("/tmp/node-cdp.1-a.sock/x"), NULL },
		{ OPTIONS("/tmp/node-cdp.x-a.sock"), NULL },
		{ OPTIONS("/tmp/x-node-cdp.1-a.sock"), NULL },
		{ OPTIONS("/tmp/../node-cdp.1-a.sock"), NULL },
		{ OPTIONS("tmp/node-cdp.1-a.sock"), NULL },
		{ ":::{\"inspectorIpc\":5}", NULL },
		{ ":::{\"inspectorIpc\":\"/tmp/node-cdp.1-a.sock\"", NULL },
		{ ":::[]", NULL },
		{ ":::", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *found = editor_debugger_parse(&arena, rows[i].options);
		ASSERT_EQm(rows[i].options, rows[i].socket == NULL, found == NULL);
		if (found)
			ASSERT_STR_EQ(rows[i].socket, found);
	}
	PASS();
}

TEST shells_that_prompt(void)
{
	static const struct {
		const char *words[4];
		bool with_terminal, without;
	} rows[] = {
		{ { NULL }, true, false },
		{ { "-i" }, true, true },
		{ { "-il" }, true, true },
		{ { "-l" }, true, false },
		{ { "--login", "-i" }, true, true },
		{ { "--init-file", "/x/shellIntegration-bash.sh" }, true, false },
		{ { "-o", "vi", "-i" }, true, true },
		{ { "-c", "echo" }, false, false },
		{ { "-i", "-c", "echo" }, false, false },
		{ { "-lc", "echo" }, false, false },
		{ { "script.sh", "-i" }, false, false },
		{ { "--", "script.sh" }, false, false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *words[4];
		int count = 0;
		for (; count < 4 && rows[i].words[count]; count++)
			words[count] = arena_copy(&arena, rows[i].words[count]);
		ASSERT_EQ(rows[i].with_terminal, shell_is_interactive(count, words, true));
		ASSERT_EQ(rows[i].without, shell_is_interactive(count, words, false));
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(names_of_sockets);
	RUN_TEST(shells_that_prompt);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

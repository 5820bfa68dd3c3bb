/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a line that an editor typed. */
#include <string.h>

#include "greatest.h"

#include "common/shell/typed_line.h"

static struct arena arena;

TEST values_of_words(void)
{
	static const struct {
		const char *line, *value;
	} rows[] = {
		{ " cd /p ; /usr/bin/env 'V={\"a\":\"b c\"}' node x.js ", "{\"a\":\"b c\"}" },
		{ "env V=1 node", "1" },
		{ "env V=1 V=2 node", "2" },
		{ "env 'V=it'\\''s' node", "it's" },
		{ "env \"V=a\\\"b\\$c\" node", "a\"b$c" },
		{ "env V=a\\ b node", "a b" },
		{ "V=1;node", "1" },
		{ "env 'V=open", "open" },
		{ "env V= node", "" },
		{ "env XV=1 V node", NULL },
		{ "env 'A=V=1' node", NULL },
		{ "V\\", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *value = typed_line_variable(&arena, rows[i].line, "V");
		ASSERT_EQm(rows[i].line, rows[i].value == NULL, value == NULL);
		if (value)
			ASSERT_STR_EQm(rows[i].line, rows[i].value, value);
	}
	PASS();
}

TEST replaced_words(void)
{
	static const struct {
		const char *line, *replaced;
	} rows[] = {
		{ "env A=1 /s/berm-node x.js", "env A=1 node x.js" },
		{ "/s/berm-node", "node" },
		{ "/s/berm-node-2 x/s/berm-node", "/s/berm-node-2 x/s/berm-node" },
		{ "", "" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_STR_EQ(rows[i].replaced, typed_line_replace(&arena, rows[i].line, "/s/berm-node", "node"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(values_of_words);
	RUN_TEST(replaced_words);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Names of copies. */
#include <greatest.h>

#include <string.h>

#include "common/copies/copies.h"

TEST names_are_plain(void)
{
	static const struct {
		const char *name;
		bool is_valid;
	} rows[] = {
		{ "default", true }, { "a", true },	 { "A.b_c-9", true },	{ "", false },	  { ".", false },
		{ "..", false },     { ".x", false },	 { "-x", false },	{ "a/b", false }, { "a b", false },
		{ "a\nb", false },   { "a\x1b", false }, { "\xc3\xa9", false }, { "a:b", false }, { "~", false },
		{ "a..b", true },    { "9", true },
	};
	char name[COPY_NAME_MAX + 2] = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_EQm(rows[i].name, rows[i].is_valid, copy_name_is_valid(rows[i].name));
	memset(name, 'x', COPY_NAME_MAX);
	ASSERT(copy_name_is_valid(name));
	name[COPY_NAME_MAX] = 'x';
	ASSERT(!copy_name_is_valid(name));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(names_are_plain);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of getent, and users that it knows. */
#include <greatest.h>

#include <string.h>
#include <unistd.h>

#include "common/context/name_service.h"

static struct arena arena;

TEST reads_the_line_of_one_user(void)
{
	static const struct {
		const char *line, *name, *home; /* NULL: refused */
	} rows[] = {
		{ "ann:x:1000:1000:Ann,,,:/home/ann:/bin/sh\n", "ann", "/home/ann" },
		{ "ann:x:1000:1000::/home/ann:", "ann", "/home/ann" },
		{ "ann:x:1000:1000:::", "ann", "" },
		{ "ann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1000:1::/b:/c\n", "ann", "/home/ann" },
		{ "bob:x:1001:1000::/home/bob:/bin/sh\n", NULL, NULL },
		{ "ann:x:01000:1000::/home/ann:/bin/sh\n", NULL, NULL },
		{ "ann:x:1000:1000::/home/ann\n", NULL, NULL },
		{ "ann:x:1000:1000::/home/ann:/bin/sh:more\n", NULL, NULL },
		{ ":x:1000:1000::/home/ann:/bin/sh\n", NULL, NULL },
		{ "", NULL, NULL },
		{ "\n", NULL, NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct name_service_user user = { 0 };
		ASSERT_EQm(rows[i].line, rows[i].name != NULL, name_service_parse(&arena, rows[i].line, 1000, &user));
		if (!rows[i].name)
			continue;
		ASSERT_STR_EQ(rows[i].name, user.name);
		ASSERT_STR_EQ(rows[i].home, user.home);
	}
	PASS();
}

TEST asks_getent(void)
{
	struct name_service_user user = { 0 };
	if (access("/usr/bin/getent", X_OK) < 0)
		SKIPm("no /usr/bin/getent");
	ASSERT(name_service_find(&arena, 0, &user));
	ASSERT_STR_EQ("root", user.name);
	ASSERT_EQ('/', user.home[0]);
	ASSERT_FALSE(name_service_find(&arena, 4294967000u, &user));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(reads_the_line_of_one_user);
	RUN_TEST(asks_getent);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

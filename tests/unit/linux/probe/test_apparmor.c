/* SPDX-License-Identifier: Apache-2.0 */
/* The AppArmor profile equals the packaged one, names the running program, and is refused for a
 * program that users other than root could replace. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux/probe/apparmor.h"
#include "unit/support/scratch.h"

static struct arena arena;

/* Reads the packaged profile without its comments and the empty line after them. */
static void read_packaged(char *text, size_t size)
{
	const char *source = getenv("BERM_SOURCE_DIR");
	char path[4096], line[512];
	FILE *file;
	text[0] = '\0';
	snprintf(path, sizeof path, "%s/packaging/apparmor/berm", source ? source : ".");
	file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (line[0] != '#' && (text[0] || line[0] != '\n') && strlen(text) + strlen(line) < size)
			strcat(text, line);
	if (file)
		fclose(file);
}

TEST is_the_packaged_one(void)
{
	char packaged[4096];
	read_packaged(packaged, sizeof packaged);
	ASSERT_STR_EQ(packaged, apparmor_profile(&arena, "/usr/bin/berm"));
	ASSERT_STR_EQ(packaged, apparmor_profile(&arena, "/usr/local/bin/berm"));
	ASSERT(strstr(apparmor_profile(&arena, "/opt/berm/bin/berm"), "profile berm /opt/berm/bin/berm flags=(unconfined) {"));
	PASS();
}

TEST patterns_are_refused(void)
{
	static const char *const names[] = { "/opt/*/berm",   "/opt/a b/berm",	    "/opt/{a,b}/berm",	 "/opt/a\n/berm",
					     "/opt/[a]/berm", "/opt/\"/berm",	    "/opt/@{HOME}/berm", "berm",
					     "/opt/\\/berm",  "/opt/\xc3\xa4/berm", "/a,/berm" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		ASSERT_EQm(names[i], NULL, apparmor_profile(&arena, names[i]));
	PASS();
}

TEST only_programs_of_root(void)
{
	struct error err = { 0 };
	char program[4096];
	ASSERT_EQ(0, apparmor_check_program(&arena, "/usr/bin/env", &err));
	/* Every user can write to /tmp. */
	snprintf(program, sizeof program, "%s", scratch_path("berm"));
	scratch_write(program, "", 0, 0755);
	ASSERT_EQ(-1, apparmor_check_program(&arena, program, &err));
	ASSERT(strstr(err.message, "users other than root"));
	ASSERT_EQ(-1, apparmor_check_program(&arena, "/usr/bin/no such program", &err));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(is_the_packaged_one);
	RUN_TEST(patterns_are_refused);
	RUN_TEST(only_programs_of_root);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reading values of git configuration files, and removing one. */
#include <greatest.h>

#include "common/base/arena.h"
#include "common/format/git_config.h"

static struct arena *arena;

TEST values_are_read_as_git_reads_them(void)
{
	const char *text =
		"[user]\n\tname = Ada Example ; comment\n\temail=\"ada@example.org\"\n[user \"other\"]\n\tname = No\n"
		"[USER]\n\tNAME = Later\n[core]\n\tnamed = x\n";
	ASSERT_STR_EQ("Later", git_config_value(arena, text, "user", "name"));
	ASSERT_STR_EQ("ada@example.org", git_config_value(arena, text, "user", "email"));
	ASSERT_EQ(NULL, git_config_value(arena, text, "core", "name"));
	ASSERT_EQ(NULL, git_config_value(arena, "", "user", "name"));
	PASS();
}

TEST a_value_is_left_out(void)
{
	const char *text =
		"[core]\n\tbare = false\n\tworktree = ../../../sub\n[other]\n\tworktree = kept\n[core]\nWorkTree=x\n\tlast = 1";
	ASSERT_STR_EQ("[core]\n\tbare = false\n[other]\n\tworktree = kept\n[core]\n\tlast = 1",
		      git_config_without(arena, text, "core", "worktree"));
	PASS();
}

TEST nothing_to_leave_out(void)
{
	ASSERT_EQ(NULL, git_config_without(arena, "[core]\n\tbare = false\n", "core", "worktree"));
	ASSERT_EQ(NULL, git_config_without(arena, "[core \"x\"]\n\tworktree = a\n", "core", "worktree"));
	ASSERT_EQ(NULL, git_config_without(arena, "", "core", "worktree"));
	PASS();
}

TEST every_entry_in_order(void)
{
	static const struct {
		const char *section, *subsection, *name, *value;
		unsigned line;
	} wanted[] = {
		{ "user", NULL, "name", "Ada", 4 },
		{ "user", NULL, "alone", "", 5 },
		{ "includeIf", "gitdir:~/a \"b\"/", "path", "x y", 7 },
		{ "include", NULL, "path", "z", 8 },
		/* Below a broken header: in no section. */
		{ "", NULL, "lost", "1", 10 },
		{ "core", NULL, "bare", "", 12 },
		{ "filter", "x", "clean", "a  b; c", 15 },
		{ "filter", "x", "smudge", "d", 17 },
		{ "filter", "x", "last", "", 18 },
	};
	struct git_config_reader reader = { .arena = arena,
					    .next = "outside = 1\n# [comment]\n[user]\n\tname = Ada # who\n\talone\n"
						    "[includeIf \"gitdir:~/a \\\"b\\\"/\"]\n\tpath = \"x y\"\n"
						    "[include] path=z\n[never closed \"\nlost = 1\n[core]\nbare =\n= x\n"
						    "[filter.x]\r\n clean = a \\\n \"b; c\"\r\n smudge = d  ; e\n\tlast" };
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		ASSERT(git_config_next(&reader));
		ASSERT_STR_EQ(wanted[i].value, reader.value);
		ASSERT_EQ_FMT(wanted[i].line, reader.line, "%u");
		ASSERT_STR_EQ(wanted[i].name, reader.name);
		ASSERT_STR_EQ(wanted[i].section, reader.section);
		ASSERT_EQ(!wanted[i].subsection, !reader.subsection);
		if (reader.subsection)
			ASSERT_STR_EQ(wanted[i].subsection, reader.subsection);
	}
	ASSERT(!git_config_next(&reader));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	struct arena own = { 0 };
	arena = &own;
	GREATEST_MAIN_BEGIN();
	RUN_TEST(values_are_read_as_git_reads_them);
	RUN_TEST(a_value_is_left_out);
	RUN_TEST(nothing_to_leave_out);
	RUN_TEST(every_entry_in_order);
	arena_free(arena);
	GREATEST_MAIN_END();
}

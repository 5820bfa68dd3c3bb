/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that become comments: the steps of a rebase and git configurations. What git executes is
 * the measure, so the spellings that git accepts are here. */
#include <greatest.h>

#include <string.h>

#include "common/sweep/internal.h"

static struct arena arena;

static const char *todo(const char *text, struct sweep_facts *facts)
{
	size_t length;
	return todo_edit(&arena, "/p/todo", text, strlen(text), facts, &length);
}

TEST every_spelling_of_exec(void)
{
	struct sweep_facts facts = { 0 };
	ASSERT_STR_EQ("pick a\n# berm: exec x\npick b\n", todo("pick a\nexec x\npick b\n", NULL));
	ASSERT_STR_EQ("# berm: x\tls\n", todo("x\tls\n", NULL));
	ASSERT_STR_EQ("# berm:  \texec ls", todo(" \texec ls", NULL));
	ASSERT_STR_EQ("# berm: exec\r\n", todo("exec\r\n", NULL));
	ASSERT_EQ(NULL, todo("# exec x\npick exec\nexecute x\nedit x\nxx y\n", NULL));
	facts_add(&arena, &facts, FACT_TODO, "/p/todo", "exec mine");
	ASSERT_EQ(NULL, todo("exec mine\n", &facts));
	ASSERT_STR_EQ("exec mine\n# berm: exec theirs\n", todo("exec mine\nexec theirs\n", &facts));
	PASS();
}

static const char *config(const char *text, struct sweep_facts *facts, bool *is_hopeless)
{
	const char *first;
	return config_edit(&arena, "/p/config", text, strlen(text), facts, is_hopeless, &first);
}

TEST settings_become_comments(void)
{
	struct sweep_facts facts = { 0 };
	bool is_hopeless;
	ASSERT_STR_EQ("[core]\n\tbare = false\n# berm: \tpager = x\n[user]\n\tname = n\n",
		      config("[core]\n\tbare = false\n\tpager = x\n[user]\n\tname = n\n", NULL, &is_hopeless));
	ASSERT_STR_EQ("[core]\n# berm: \tpager = a\\\n# berm: b\n\tbare = true\n",
		      config("[core]\n\tpager = a\\\nb\n\tbare = true\n", NULL, &is_hopeless));
	ASSERT_STR_EQ("[include]\n# berm: path = x\n", config("[include]\npath = x\n", NULL, &is_hopeless));
	ASSERT_EQ(NULL,
		  config("[core]\n\tworktree = ../x\n\tfsmonitor = true\n[remote \"o\"]\n\turl = u\n", NULL, &is_hopeless));
	ASSERT_FALSE(is_hopeless);
	facts_add(&arena, &facts, FACT_SETTING, "/p/config", "core.pager=x");
	ASSERT_EQ(NULL, config("[core]\n\tpager = x\n", &facts, &is_hopeless));
	/* A working tree is fine in a writable directory, also if it is not there yet. */
	facts_add(&arena, &facts, FACT_PLACE, "/usr", NULL);
	ASSERT_EQ(NULL, config("[core]\n\tworktree = /usr/none\n", &facts, &is_hopeless));
	ASSERT_STR_EQ("[core]\n# berm: \tworktree = /usr/../etc\n",
		      config("[core]\n\tworktree = /usr/../etc\n", &facts, &is_hopeless));
	ASSERT_STR_EQ("[core]\n# berm: \tworktree = /usr/none/..\n",
		      config("[core]\n\tworktree = /usr/none/..\n", &facts, &is_hopeless));
	PASS();
}

TEST a_header_on_the_same_line_is_not_edited(void)
{
	bool is_hopeless;
	ASSERT_EQ(NULL, config("[core] pager = x\n\tbare = true\n", NULL, &is_hopeless));
	ASSERT(is_hopeless);
	PASS();
}

TEST facts_survive_storing(void)
{
	struct sweep_facts facts = { 0 }, read;
	size_t length;
	char *bytes;
	facts_add(&arena, &facts, FACT_LOCKED, "/p/.claude", NULL);
	facts_add(&arena, &facts, FACT_OPENED, "/p/.claude/worktrees", NULL);
	facts_add(&arena, &facts, FACT_POINTER, "/p/wt/.git", "gitdir: x\n");
	facts_add(&arena, &facts, FACT_POINTER, "/p/wt/.git", "gitdir: x\n");
	bytes = facts_encode(&arena, &facts, &length);
	ASSERT_EQ(3, facts.count);
	facts_decode(&arena, bytes, length, &read);
	ASSERT(facts_was_present(&arena, &read, "/p/.claude/settings.json"));
	ASSERT_FALSE(facts_was_present(&arena, &read, "/p/.claude/worktrees/a/.vscode"));
	ASSERT_FALSE(facts_was_present(&arena, &read, "/p/.claudex"));
	ASSERT_STR_EQ("gitdir: x\n", facts_find(&arena, &read, FACT_POINTER, "/p/wt/.git"));
	ASSERT_EQ(NULL, facts_find(&arena, &read, FACT_POINTER, "/p/wt"));
	PASS();
}

TEST a_name_is_looked_for_above_its_directories(void)
{
	const struct rule plain = { .text = ".vscode" }, hooks = { .text = "**/.github/hooks" };
	ASSERT_STR_EQ("/p", names_place(&arena, "/p/.vscode", &plain));
	ASSERT_STR_EQ("/p/a", names_place(&arena, "/p/a/.github/hooks", &hooks));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(every_spelling_of_exec);
	RUN_TEST(settings_become_comments);
	RUN_TEST(a_header_on_the_same_line_is_not_edited);
	RUN_TEST(facts_survive_storing);
	RUN_TEST(a_name_is_looked_for_above_its_directories);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

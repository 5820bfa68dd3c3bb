/* SPDX-License-Identifier: Apache-2.0 */
/* Options of an interrupted rebase, cherry-pick or am: what git writes for its users is fine. */
#include <greatest.h>

#include "common/sweep/internal.h"

static struct arena arena;

TEST strategies_of_git(void)
{
	ASSERT(operations_is_strategy("ort\n"));
	ASSERT(operations_is_strategy("resolve"));
	ASSERT(operations_is_strategy("\n"));
	ASSERT(operations_is_strategy(""));
	ASSERT_FALSE(operations_is_strategy("x/y\n"));
	ASSERT_FALSE(operations_is_strategy("index\n")); /* git merge-index runs a program */
	ASSERT_FALSE(operations_is_strategy("ort\nx/y"));
	ASSERT_FALSE(operations_is_strategy("ortx"));
	ASSERT_FALSE(operations_is_strategy(" ort"));
	PASS();
}

TEST options_of_strategies(void)
{
	ASSERT(operations_are_strategy_options(&arena, "--ours --diff-algorithm=histogram\n"));
	ASSERT(operations_are_strategy_options(&arena, " '--subtree=a b' --find-renames=50%"));
	ASSERT(operations_are_strategy_options(&arena, ""));
	ASSERT_FALSE(operations_are_strategy_options(&arena, "--index-output=x"));
	ASSERT_FALSE(operations_are_strategy_options(&arena, "--ours '--index'-output=x"));
	ASSERT_FALSE(operations_are_strategy_options(&arena, "--ours 'x"));
	ASSERT_FALSE(operations_are_strategy_options(&arena, "--ours \\"));
	PASS();
}

TEST options_of_a_cherry_pick(void)
{
	ASSERT(operations_are_sequencer_options(&arena,
						"[options]\n\tsignoff = true\n\tstrategy = ort\n\tstrategy-option = ours\n"));
	ASSERT_FALSE(operations_are_sequencer_options(&arena, "[options]\n\tSTRATEGY = x/y\n"));
	ASSERT_FALSE(operations_are_sequencer_options(&arena, "[options]strategy = ort\nstrategy = x\n"));
	ASSERT_FALSE(operations_are_sequencer_options(&arena, "[options]\n\tstrategy-option = index-output=x\n"));
	PASS();
}

TEST options_of_am(void)
{
	ASSERT(operations_are_apply_options(&arena, " '-p0' '-C3' '--whitespace=fix' '--directory=it'\\''s' '--reject'\n"));
	ASSERT(operations_are_apply_options(&arena, "\n"));
	ASSERT_FALSE(operations_are_apply_options(&arena, " '--build-fake-ancestor=x'"));
	ASSERT_FALSE(operations_are_apply_options(&arena, " '--build=x'"));
	ASSERT_FALSE(operations_are_apply_options(&arena, " '-p'"));
	ASSERT_FALSE(operations_are_apply_options(&arena, " '-p1x'"));
	ASSERT_FALSE(operations_are_apply_options(&arena, " '--unsafe-paths'"));
	ASSERT_FALSE(operations_are_apply_options(&arena, " ''"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(strategies_of_git);
	RUN_TEST(options_of_strategies);
	RUN_TEST(options_of_a_cherry_pick);
	RUN_TEST(options_of_am);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What an outer berm writes down counts for an inner one only as far as the two agree. */
#include <string.h>

#include <greatest.h>

#include "common/plan/held.h"
#include "unit/support/plan_fixture.h"

GREATEST_MAIN_DEFS();

static struct plan_fixture outer, inner;
static const char machine[] = "files: [/home/ann/app/main.c, /home/ann/extra/x]\n";

/* The document of the outer one, compared with the inner plan. */
static struct held compare(const char *outer_policy, bool is_guarded, bool is_alive, const char *inner_policy)
{
	struct held held;
	plan_fixture_free(&outer);
	plan_fixture_free(&inner);
	plan_fixture_default(&outer, machine, outer_policy);
	plan_fixture_default(&inner, machine, inner_policy);
	outer.plan.is_guarded = is_guarded;
	held_compare(&inner.plan, held_text(&outer.plan), is_alive, &held);
	return held;
}

TEST the_same_policy_is_held(void)
{
	struct held held = compare(NULL, true, true, NULL);
	ASSERT(held.are_writes_same);
	ASSERT_EQ(LEVEL_STRICT, held.planting);
	ASSERT_EQ(LEVEL_REPAIR, held.secrets);
	/* Without a guard that answers the document alone does not prove it. */
	ASSERT_EQ(LEVEL_REPAIR, compare(NULL, true, false, NULL).planting);
	ASSERT_EQ(LEVEL_REPAIR, compare("files: {guard: repair}", false, true, NULL).planting);
	ASSERT_EQ(LEVEL_LAUNCH, compare("files: {guard: launch}", false, true, NULL).planting);
	ASSERT_EQ(LEVEL_LAUNCH, compare("files: {guard: launch}", false, true, NULL).secrets);
	PASS();
}

TEST what_the_outer_one_allows_is_not_held(void)
{
	ASSERT_FALSE(compare("files: {write: [~/extra]}", true, true, NULL).are_writes_same);
	ASSERT(compare("files: {write: [~/extra]}", true, true, "files: {write: [~/extra]}").are_writes_same);
	ASSERT_EQ(LEVEL_LAUNCH, compare("files: {unprotect: [.vscode]}", true, true, NULL).planting);
	ASSERT_EQ(LEVEL_STRICT, compare("files: {unprotect: [.vscode]}", true, true, "files: {unprotect: [.vscode]}").planting);
	ASSERT_EQ(LEVEL_LAUNCH, compare("files: {except: [.env]}", true, true, NULL).secrets);
	PASS();
}

TEST names_of_the_inner_one_are_not_held(void)
{
	ASSERT_EQ(LEVEL_LAUNCH, compare(NULL, true, true, "files: {protect: [own.cfg]}").planting);
	ASSERT_EQ(LEVEL_STRICT,
		  compare("files: {protect: [own.cfg, more]}", true, true, "files: {protect: [own.cfg]}").planting);
	ASSERT_EQ(LEVEL_LAUNCH, compare(NULL, true, true, "files: {write: [~/extra]}").planting);
	ASSERT_EQ(LEVEL_LAUNCH, compare(NULL, true, true, "files: {deny: [own.key]}").secrets);
	PASS();
}

TEST another_text_proves_nothing(void)
{
	static const char *const texts[] = { "", "berm 2\nplanting strict\n", "planting strict\n", "berm 1",
					     "berm 1\nwrite \n" };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct held held;
		plan_fixture_free(&inner);
		plan_fixture_default(&inner, machine, NULL);
		held_compare(&inner.plan, texts[i], true, &held);
		ASSERT_FALSE(held.are_writes_same);
		ASSERT_EQ(LEVEL_LAUNCH, held.planting);
		ASSERT_EQ(LEVEL_LAUNCH, held.secrets);
	}
	PASS();
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_same_policy_is_held);
	RUN_TEST(what_the_outer_one_allows_is_not_held);
	RUN_TEST(names_of_the_inner_one_are_not_held);
	RUN_TEST(another_text_proves_nothing);
	plan_fixture_free(&outer);
	plan_fixture_free(&inner);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The refusal rule, over every pair of levels. */
#include <greatest.h>

#include <string.h>

#include "common/policy/guarantee.h"

static void all_enforced(enum level required[], bool accepted[], struct guarantee_state states[])
{
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		required[i] = guarantee_table[i].default_level;
		accepted[i] = false;
		states[i] = (struct guarantee_state){ .level = LEVEL_ENFORCED, .mechanism = "a wall" };
	}
}

TEST names_read_back(void)
{
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		enum guarantee guarantee = GUARANTEE_COUNT;
		ASSERT(guarantee_table[i].name && guarantee_table[i].promise);
		ASSERT(guarantee_parse(guarantee_table[i].name, &guarantee));
		ASSERT_EQ((enum guarantee)i, guarantee);
		for (int level = LEVEL_MISSING; level <= LEVEL_ENFORCED; level++)
			ASSERT(level_name(guarantee, (enum level)level));
	}
	enum guarantee guarantee;
	ASSERT_FALSE(guarantee_parse("", &guarantee));
	ASSERT_FALSE(guarantee_parse("write", &guarantee));
	ASSERT_FALSE(guarantee_parse("Writes", &guarantee));
	PASS();
}

TEST guarded_ones_have_their_own_words(void)
{
	ASSERT_STR_EQ("strict", level_name(GUARANTEE_SECRETS, LEVEL_ENFORCED));
	ASSERT_STR_EQ("launch", level_name(GUARANTEE_PLANTING, LEVEL_LAUNCH));
	ASSERT_STR_EQ("enforced", level_name(GUARANTEE_WRITES, LEVEL_STRICT));
	ASSERT_STR_EQ("partial", level_name(GUARANTEE_LIMITS, LEVEL_LAUNCH));
	ASSERT_STR_EQ("launch", level_name(GUARANTEE_IPC, LEVEL_LAUNCH));
	ASSERT_STR_EQ("enforced", level_name(GUARANTEE_IPC, LEVEL_ENFORCED));
	PASS();
}

TEST default_levels_are_the_documented_ones(void)
{
	static const enum level expected[GUARANTEE_COUNT] = {
		[GUARANTEE_WRITES] = LEVEL_ENFORCED,	  [GUARANTEE_SECRETS] = LEVEL_REPAIR,
		[GUARANTEE_PLANTING] = LEVEL_REPAIR,	  [GUARANTEE_NETWORK] = LEVEL_ENFORCED,
		[GUARANTEE_PROCESSES] = LEVEL_PARTIAL,	  [GUARANTEE_IPC] = LEVEL_LAUNCH,
		[GUARANTEE_ENVIRONMENT] = LEVEL_ENFORCED, [GUARANTEE_LIMITS] = LEVEL_PARTIAL,
		[GUARANTEE_KERNEL] = LEVEL_PARTIAL,	  [GUARANTEE_INTEGRITY] = LEVEL_ENFORCED,
		[GUARANTEE_AUDIT] = LEVEL_PARTIAL,
	};
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		ASSERT_EQm(guarantee_table[i].name, expected[i], guarantee_table[i].default_level);
	PASS();
}

TEST every_pair_of_levels(void)
{
	for (int asked = LEVEL_MISSING; asked <= LEVEL_ENFORCED; asked++) {
		for (int held = LEVEL_MISSING; held <= LEVEL_ENFORCED; held++) {
			enum level required[GUARANTEE_COUNT];
			bool accepted[GUARANTEE_COUNT];
			struct guarantee_state states[GUARANTEE_COUNT];
			struct error err = { 0 };
			/* Strict and enforced are one level; missing is never enough. */
			bool is_enough =
				held != LEVEL_MISSING && (held >= asked || (held == LEVEL_STRICT && asked == LEVEL_ENFORCED));

			all_enforced(required, accepted, states);
			required[GUARANTEE_IPC] = (enum level)asked;
			states[GUARANTEE_IPC].level = (enum level)held;
			ASSERT_EQ(is_enough ? 0 : -1, guarantee_judge(required, accepted, states, &err));
			ASSERT_EQ(!is_enough, error_is_set(&err));
			accepted[GUARANTEE_IPC] = true;
			ASSERT_EQ(0, guarantee_judge(required, accepted, states, &err));
		}
	}
	PASS();
}

TEST a_refusal_says_which_why_and_how(void)
{
	enum level required[GUARANTEE_COUNT];
	bool accepted[GUARANTEE_COUNT];
	struct guarantee_state states[GUARANTEE_COUNT];
	struct error err = { 0 };

	all_enforced(required, accepted, states);
	states[GUARANTEE_WRITES] =
		(struct guarantee_state){ .level = LEVEL_PARTIAL, .reason = "no namespaces", .fix = "turn them on" };
	states[GUARANTEE_KERNEL] = (struct guarantee_state){ .level = LEVEL_MISSING };
	ASSERT_EQ(-1, guarantee_judge(required, accepted, states, &err));
	ASSERT(strstr(err.message, "`writes`") && strstr(err.message, "partial") && strstr(err.message, "enforced"));
	ASSERT(strstr(err.hint, "no namespaces") && strstr(err.hint, "turn them on"));
	ASSERT(strstr(err.hint, "--accept-weaker=writes"));
	ASSERT(strstr(err.hint, "kernel"));

	/* Accepting one does not accept the other. */
	accepted[GUARANTEE_WRITES] = true;
	ASSERT_EQ(-1, guarantee_judge(required, accepted, states, &err));
	ASSERT(strstr(err.message, "`kernel`"));
	ASSERT_EQ(NULL, strstr(err.hint, "writes"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(names_read_back);
	RUN_TEST(guarded_ones_have_their_own_words);
	RUN_TEST(default_levels_are_the_documented_ones);
	RUN_TEST(every_pair_of_levels);
	RUN_TEST(a_refusal_says_which_why_and_how);
	GREATEST_MAIN_END();
}

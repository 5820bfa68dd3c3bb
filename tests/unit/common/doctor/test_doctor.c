/* SPDX-License-Identifier: Apache-2.0 */
/* Judging claims by attempts: only an attempt that gets through at its level disproves a claim.
 * Exit codes and pages. */
#include <greatest.h>

#include <stdlib.h>
#include <string.h>

#include "common/doctor/doctor.h"
#include "common/base/text.h"

static struct arena arena;
static struct plan plan;
static struct guarantee_state states[GUARANTEE_COUNT];
static struct machine_fact facts[] = {
	{ .name = "kernel", .value = "Linux" },
	{ .name = "namespaces", .is_trial = true, .number = 0 },
	{ .name = "notify_wait_killable",
	  .is_trial = true,
	  .number = 22,
	  .value = "a reason that is long enough to need a second line on the page",
	  .fix = "a fix that is long enough to need a second line as well, because of its many words" },
	{ .name = "fuse", .is_trial = true, .number = -1 },
};
static struct machine machine = { .items = facts, .count = 4, .label = DOCTOR_LABEL_RUN_HERE };
static struct doctor_result result;

/* All guarantees are claimed at their default levels, and every attempt was stopped. */
static struct doctor_report fresh(void)
{
	plan.arena = &arena;
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		states[i] = (struct guarantee_state){ .level = guarantee_table[i].default_level, .mechanism = "a wall" };
	result = (struct doctor_result){ .has_run = true };
	for (size_t i = 0; i < attempt_count; i++)
		result.inside[i] = 13;
	return (struct doctor_report){ .plan = &plan, .states = states, .machine = &machine, .result = &result };
}

TEST all_stopped_holds(void)
{
	struct doctor_report report = fresh();
	doctor_judge(&report);
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		ASSERT_EQm(guarantee_table[i].name, VERIFIED_HELD, report.verified[i]);
	ASSERT_EQ(DOCTOR_HOLDS, doctor_exit_code(&report));
	PASS();
}

TEST each_attempt_disproves_the_levels_that_promise_against_it(void)
{
	for (size_t i = 0; i < attempt_count; i++) {
		enum guarantee guarantee = attempt_table[i].guarantee;
		for (int level = LEVEL_MISSING; level <= LEVEL_ENFORCED; level++) {
			struct doctor_report report = fresh();
			bool is_promised = level != LEVEL_MISSING &&
					   (level >= (int)attempt_table[i].stopped_at ||
					    (level == LEVEL_STRICT && attempt_table[i].stopped_at == LEVEL_ENFORCED));
			states[guarantee].level = (enum level)level;
			result.inside[i] = ATTEMPT_REACHED;
			doctor_judge(&report);
			ASSERT_EQm(attempt_table[i].name, is_promised ? VERIFIED_DISPROVED : VERIFIED_WEAKER,
				   report.verified[guarantee]);
			if (is_promised)
				ASSERT_EQ(DOCTOR_UNPROVEN, doctor_exit_code(&report));
			/* An attempt that also fails outside proves nothing. */
			report = fresh();
			states[guarantee].level = (enum level)level;
			result.inside[i] = ATTEMPT_REACHED;
			result.bare[i] = 13;
			doctor_judge(&report);
			ASSERT(report.verified[guarantee] != VERIFIED_DISPROVED);
		}
	}
	PASS();
}

TEST without_a_control_nothing_is_verified(void)
{
	for (int guarantee = 0; guarantee < GUARANTEE_COUNT; guarantee++) {
		struct doctor_report report = fresh();
		bool has_attempts = false;
		for (size_t i = 0; i < attempt_count; i++)
			if ((int)attempt_table[i].guarantee == guarantee) {
				result.bare[i] = i % 2 ? 13 : ATTEMPT_UNTRIED;
				has_attempts = true;
			}
		ASSERTm(guarantee_table[guarantee].name, has_attempts);
		doctor_judge(&report);
		ASSERT_EQ(VERIFIED_NOT, report.verified[guarantee]);
		ASSERT_EQ(DOCTOR_UNPROVEN, doctor_exit_code(&report));
	}
	PASS();
}

TEST below_the_default_is_another_code(void)
{
	struct doctor_report report = fresh();
	states[GUARANTEE_WRITES].level = LEVEL_PARTIAL;
	doctor_judge(&report);
	ASSERT_EQ(DOCTOR_WEAKER, doctor_exit_code(&report));
	report = fresh();
	states[GUARANTEE_LIMITS].level = LEVEL_MISSING;
	doctor_judge(&report);
	ASSERT_EQ(DOCTOR_WEAKER, doctor_exit_code(&report));
	/* A disproved claim outweighs a weaker guarantee. */
	result.inside[0] = ATTEMPT_REACHED;
	doctor_judge(&report);
	ASSERT_EQ(DOCTOR_UNPROVEN, doctor_exit_code(&report));
	PASS();
}

TEST nothing_ran(void)
{
	struct doctor_report report = fresh();
	result.has_run = false;
	for (size_t i = 0; i < attempt_count; i++)
		result.inside[i] = ATTEMPT_UNTRIED;
	/* Claimed, but the sandbox did not start: not verified. */
	doctor_judge(&report);
	ASSERT_EQ(VERIFIED_NOT, report.verified[GUARANTEE_WRITES]);
	ASSERT_EQ(VERIFIED_NOT, report.verified[GUARANTEE_LIMITS]);
	ASSERT_EQ(DOCTOR_UNPROVEN, doctor_exit_code(&report));
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		states[i].level = LEVEL_MISSING;
	doctor_judge(&report);
	ASSERT_EQ(VERIFIED_NOTHING_RAN, report.verified[GUARANTEE_WRITES]);
	ASSERT_EQ(DOCTOR_WEAKER, doctor_exit_code(&report));
	PASS();
}

TEST pages_are_narrow_and_complete(void)
{
	for (int variant = 0; variant < 3; variant++) {
		struct doctor_report report = fresh();
		struct text out = { 0 };
		for (int i = 0; i < GUARANTEE_COUNT; i++)
			states[i] = (struct guarantee_state){
				.level = variant == 0 ? LEVEL_MISSING : LEVEL_PARTIAL,
				.mechanism =
					variant == 0 ? NULL : "one mechanism, and another one that takes many words to name",
				.reason = "a reason that does not fit the rest of its line and has to go on in the next",
				.fix = "sudo something --with-an-option-that-is-long --and-another, then reboot the machine",
			};
		if (variant == 2)
			for (size_t i = 0; i < attempt_count; i++)
				result.inside[i] = ATTEMPT_REACHED;
		report.is_verbose = variant > 0;
		error_set(&result.failure,
			  "cannot create the sandbox's namespaces: Operation not permitted, for a long reason");
		doctor_judge(&report);
		doctor_print(&report, &out);
		for (const char *line = out.data; *line; line += strcspn(line, "\n") + 1)
			ASSERTm(line, strcspn(line, "\n") <= 80);
		for (int i = 0; i < GUARANTEE_COUNT; i++)
			ASSERT(strstr(out.data, guarantee_table[i].name));
		ASSERT(strstr(out.data, "fix: ") && strstr(out.data, "a reason") && strstr(out.data, "notify_wait_killable"));
		ASSERT_EQ(variant == 2, strstr(out.data, "DISPROVED") != NULL);
		text_free(&out);
		doctor_json(&report, &out);
		ASSERT(strstr(out.data, "\"verified\"") && strstr(out.data, "\"mechanisms\""));
		text_free(&out);
	}
	PASS();
}

TEST a_world_reads_back(void)
{
	struct doctor_world world = { .round = "bare",
				      .token = "t",
				      .project = "/p",
				      .outside = "/o",
				      .readable = "/r",
				      .state = "/s",
				      .home = "/h",
				      .tcp = 1,
				      .tcp6 = 2,
				      .udp = 3,
				      .victim = 4,
				      .segment = -1,
				      .open_files = 5,
				      .processes = 6 };
	struct doctor_world back = { 0 };
	char **words = doctor_arguments(&arena, "/berm", &world);
	int count = 0;
	while (words[count])
		count++;
	ASSERT_STR_EQ("/berm", words[0]);
	ASSERT(doctor_world_parse(count - 1, words + 1, &back));
	ASSERT_STR_EQ("/o", back.outside);
	ASSERT_STR_EQ("/h", back.home);
	ASSERT_EQ(-1, back.segment);
	ASSERT_EQ(6, (int)back.processes);
	ASSERT_FALSE(doctor_world_parse(count - 2, words + 1, &back));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(all_stopped_holds);
	RUN_TEST(each_attempt_disproves_the_levels_that_promise_against_it);
	RUN_TEST(without_a_control_nothing_is_verified);
	RUN_TEST(below_the_default_is_another_code);
	RUN_TEST(nothing_ran);
	RUN_TEST(pages_are_narrow_and_complete);
	RUN_TEST(a_world_reads_back);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

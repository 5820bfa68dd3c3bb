/* SPDX-License-Identifier: Apache-2.0 */
/* The filter's verdicts, in the simulator: each call and argument on both architectures, every
 * number, and junk in the bits that the kernel does not read. */
#include <linux/audit.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "greatest.h"
#include "unit/support/filter_expectations.h"
#include "unit/support/filter_fixture.h"

static struct arena arena;

static const char *describe(uint32_t action)
{
	static char text[32];
	if ((action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		snprintf(text, sizeof text, "errno %u", action & SECCOMP_RET_DATA);
	else
		snprintf(text, sizeof text, "%s",
			 action == ALLOW    ? "allow"
			 : action == NOTIFY ? "notify"
			 : action == KILL   ? "kill"
					    : "?");
	return text;
}

enum { EXPECTATIONS = sizeof expectations / sizeof *expectations };

static uint32_t expected_action(const struct expectation *expectation, unsigned set)
{
	if ((set & 1) && expectation->nested != 0)
		return expectation->nested;
	if ((set & 2) && expectation->networked != 0)
		return expectation->networked;
	if ((set & 4) && expectation->recorded != 0)
		return expectation->recorded;
	return expectation->action;
}

static bool matches(const struct expectation *expectation, unsigned architecture, unsigned set, const uint64_t arguments[6],
		    uint32_t expected)
{
	int number = filter_row_number(filter_fixture_row(expectation->name), filter_fixture_architectures[architecture]);
	uint32_t got = number < 0 ? expected : filter_fixture_run(architecture, set, (uint32_t)number, arguments);

	if (got == expected)
		return true;
	printf("%s (%llx, %llx, %llx, %llx), %s, options %u: %s, ", expectation->name, (unsigned long long)arguments[0],
	       (unsigned long long)arguments[1], (unsigned long long)arguments[2], (unsigned long long)arguments[3],
	       filter_fixture_names[architecture], set, describe(got));
	printf("expected %s\n", describe(expected));
	return false;
}

TEST every_expectation_holds(void)
{
	for (unsigned i = 0; i < EXPECTATIONS; i++) {
		const struct expectation *expectation = &expectations[i];

		ASSERT(filter_fixture_row(expectation->name));
		for (unsigned a = 0; a < ARCHITECTURES; a++)
			for (unsigned set = 0; set < OPTION_SETS; set++)
				ASSERT(matches(expectation, a, set, expectation->arguments, expected_action(expectation, set)));
	}
	PASS();
}

/* Escape case 70. */
TEST junk_above_an_int_changes_nothing(void)
{
	for (unsigned i = 0; i < EXPECTATIONS; i++) {
		const struct expectation *expectation = &expectations[i];

		for (unsigned junk = 1; junk < 64; junk++) {
			uint64_t arguments[6];

			for (unsigned k = 0; k < 6; k++)
				arguments[k] = expectation->arguments[k] | ((junk & ~expectation->wide & (1u << k)) ? HIGH : 0);
			for (unsigned a = 0; a < ARCHITECTURES; a++)
				for (unsigned set = 0; set < OPTION_SETS; set++)
					ASSERT(matches(expectation, a, set, arguments, expected_action(expectation, set)));
		}
	}
	PASS();
}

TEST junk_in_a_wide_argument_is_refused(void)
{
	const struct expectation plain = { "unshare", { CLONE_FS }, ALLOW, 0, 0, 0, 1 };
	const uint64_t arguments[6] = { CLONE_FS | HIGH };

	for (unsigned a = 0; a < ARCHITECTURES; a++) {
		ASSERT(matches(&plain, a, 0, plain.arguments, ALLOW));
		ASSERT(matches(&plain, a, 0, arguments, FAIL_WITH(EPERM)));
	}
	PASS();
}

TEST every_number_means_what_its_row_says(void)
{
	for (unsigned a = 0; a < ARCHITECTURES; a++) {
		const struct filter_row *by_number[1024] = { NULL };

		for (size_t i = 0; i < filter_table_count; i++) {
			int number = filter_row_number(&filter_table[i], filter_fixture_architectures[a]);
			ASSERT(number >= -1 && number < 1024);
			if (number < 0)
				continue;
			ASSERT_EQ(NULL, by_number[number]); /* one row per number */
			by_number[number] = &filter_table[i];
		}
		for (unsigned set = 0; set < OPTION_SETS; set++) {
			struct filter_options options = filter_fixture_options(a, set);

			for (uint32_t number = 0; number < 1024; number++) {
				const struct filter_row *row = by_number[number];
				uint32_t expected =
					row ? filter_fixture_action(filter_row_verdict(row, &options)) : FAIL_WITH(ENOSYS);
				uint64_t arguments[6];

				for (unsigned k = 0; k < 6; k++)
					arguments[k] = filter_fixture_random();
				if (expected != 0)
					ASSERT_EQ(expected, filter_fixture_run(a, set, number, arguments));
			}
		}
	}
	PASS();
}

TEST rows_are_complete_and_consistent(void)
{
	for (size_t i = 0; i < filter_table_count; i++) {
		const struct filter_row *row = &filter_table[i];
		bool is_checked = row->verdict == FILTER_CHECK || row->with_option == FILTER_CHECK;

		ASSERT_EQ(row, filter_fixture_row(row->name)); /* one row per name */
		ASSERT_EQ(is_checked, row->check != NULL);
		ASSERT(row->class_name && row->class_name[0]);
		if (row->option == FILTER_ALWAYS)
			ASSERT_EQ(row->verdict, row->with_option);
		for (unsigned a = 0; a < ARCHITECTURES; a++) {
			int known = seccomp_syscall_resolve_name_arch(filter_fixture_seccomp[a], row->name);
			/* Numbers in the table agree with libseccomp's, if it knows the name. */
			if (known >= 0)
				ASSERT_EQ(known, filter_row_number(row, filter_fixture_architectures[a]));
		}
	}
	PASS();
}

/* A name that libseccomp knows and the table does not has been forgotten. */
TEST no_known_call_is_forgotten(void)
{
	for (unsigned a = 0; a < ARCHITECTURES; a++) {
		for (int number = 0; number < 1024; number++) {
			char *name = seccomp_syscall_resolve_num_arch(filter_fixture_seccomp[a], number);

			if (name && !filter_fixture_row(name)) {
				printf("%s %d on %s is not in the table\n", name, number, filter_fixture_names[a]);
				FAIL();
			}
			free(name);
		}
	}
	PASS();
}

TEST foreign_architectures_and_x32_are_killed(void)
{
	static const uint32_t foreign[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64, 0,
					    UINT32_MAX };

	for (unsigned a = 0; a < ARCHITECTURES; a++) {
		const struct filter_program *program = &filter_fixture_programs[a][0];

		for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
			struct seccomp_data data = { .nr = 39, .arch = foreign[i] };
			uint32_t got = bpf_simulator_run(program->instructions, program->count, &data, NULL);
			ASSERT_EQ(foreign[i] == filter_fixture_audit[a], got != KILL);
		}
	}
	for (uint32_t number = 0; number < 1024; number++)
		ASSERT_EQ(KILL, filter_fixture_run(0, 0, 0x40000000 | number, (const uint64_t[6]){ 0 }));
	ASSERT_EQ(KILL, filter_fixture_run(0, 0, 0xfffffffe, (const uint64_t[6]){ 0 }));
	ASSERT_EQ(FAIL_WITH(ENOSYS), filter_fixture_run(0, 0, 0x3fffffff, (const uint64_t[6]){ 0 }));
	ASSERT_EQ(FAIL_WITH(ENOSYS), filter_fixture_run(0, 0, 0xffffffff, (const uint64_t[6]){ 0 }));
	ASSERT_EQ(FAIL_WITH(ENOSYS), filter_fixture_run(1, 0, 0x40000000, (const uint64_t[6]){ 0 }));
	PASS();
}

TEST the_kernel_would_take_every_program(void)
{
	for (unsigned a = 0; a < ARCHITECTURES; a++)
		for (unsigned set = 0; set < OPTION_SETS; set++) {
			const struct filter_program *program = &filter_fixture_programs[a][set];
			const char *refusal = bpf_simulator_refusal(program->instructions, program->count);
			if (refusal)
				FAILm(refusal);
			ASSERT(program->count < 400); /* sudden growth is a mistake */
		}
	PASS();
}

TEST a_decision_takes_few_steps(void)
{
	for (unsigned a = 0; a < ARCHITECTURES; a++) {
		unsigned worst = 0;

		for (int number = 0; number < 1024; number++) {
			struct seccomp_data data = { .nr = number, .arch = filter_fixture_audit[a] };
			unsigned steps;

			for (unsigned k = 0; k < 6; k++)
				data.args[k] = filter_fixture_random();
			bpf_simulator_run(filter_fixture_programs[a][0].instructions, filter_fixture_programs[a][0].count,
					  &data, &steps);
			worst = steps > worst ? steps : worst;
		}
		printf("%s: at most %u steps\n", filter_fixture_names[a], worst);
		ASSERT(worst < 60);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	filter_fixture_build(&arena);
	RUN_TEST(the_kernel_would_take_every_program);
	RUN_TEST(every_expectation_holds);
	RUN_TEST(junk_above_an_int_changes_nothing);
	RUN_TEST(junk_in_a_wide_argument_is_refused);
	RUN_TEST(every_number_means_what_its_row_says);
	RUN_TEST(rows_are_complete_and_consistent);
	RUN_TEST(no_known_call_is_forgotten);
	RUN_TEST(foreign_architectures_and_x32_are_killed);
	RUN_TEST(a_decision_takes_few_steps);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the writer with a plain loop over the same ranges, in programs far larger than the reach
 * of a conditional jump. */
#include <stdlib.h>
#include <string.h>

#include "greatest.h"
#include "unit/support/bpf_simulator.h"
#include "linux/confine/bpf.h"

enum { CAPACITY = BPF_MAXINSNS, TARGETS = 60 };

static struct sock_filter code[CAPACITY], program[CAPACITY];
static uint32_t random_state = 1;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

static struct bpf_writer fresh(unsigned capacity)
{
	struct bpf_writer writer = { .code = code, .capacity = capacity };
	return writer;
}

static uint32_t run(const struct bpf_writer *writer, uint32_t number, uint64_t argument)
{
	struct seccomp_data data = { .nr = (int)number, .args = { argument } };
	return bpf_simulator_run(program, writer->count, &data, NULL);
}

/* Targets are word tests on the first argument, each with its own mask and behind hundreds of
 * others. */
static bpf_place make_target(struct bpf_writer *writer, unsigned i)
{
	uint32_t low = (uint32_t)offsetof(struct seccomp_data, args);
	return bpf_test(writer, low, 1u << (i % 32), 0, bpf_return(writer, i % 7), bpf_return(writer, 8 + i % 5));
}

static uint32_t expected_target(unsigned i, uint64_t argument)
{
	return (argument & (UINT64_C(1) << (i % 32))) == 0 ? i % 7 : 8 + i % 5;
}

static unsigned find_range(const struct bpf_range *ranges, unsigned count, uint32_t number)
{
	unsigned i = count - 1;
	while (ranges[i].first > number)
		i--;
	return i;
}

TEST a_tree_of_many_ranges_reaches_every_target(unsigned count)
{
	static struct bpf_range ranges[1200];
	static unsigned target_of[1200];
	struct bpf_writer writer = fresh(CAPACITY);
	bpf_place targets[TARGETS];
	uint32_t first = 0;

	for (unsigned i = 0; i < TARGETS; i++)
		targets[i] = make_target(&writer, i);
	for (unsigned i = 0; i < count; i++) {
		target_of[i] = next_random() % TARGETS;
		ranges[i] = (struct bpf_range){ first, targets[target_of[i]] };
		first += 1 + next_random() % 5;
	}
	bpf_load(&writer, offsetof(struct seccomp_data, nr), bpf_tree(&writer, ranges, count));
	ASSERT_FALSE(writer.is_full);
	bpf_finish(&writer, program);
	ASSERT_EQ(NULL, bpf_simulator_refusal(program, writer.count));
	for (uint32_t number = 0; number < first + 10; number++) {
		unsigned target = target_of[find_range(ranges, count, number)];
		uint64_t argument = next_random();
		ASSERT_EQ(expected_target(target, argument), run(&writer, number, argument));
		ASSERT_EQ(expected_target(target, ~argument), run(&writer, number, ~argument));
	}
	PASS();
}

/* Two adjacent targets, at every distance around the reach of a conditional jump. One of them needs
 * a helper, which moves the jump away from the other. */
TEST jumps_reach_around_their_limit(unsigned padding)
{
	for (unsigned swap = 0; swap < 2; swap++) {
		struct bpf_writer writer = fresh(CAPACITY);
		bpf_place ends[2], place;

		for (unsigned i = 0; i < 2; i++)
			ends[i] = bpf_load(&writer, 0, bpf_return(&writer, 1 + i));
		place = bpf_return(&writer, 9);
		for (unsigned i = 0; i < padding; i++)
			place = bpf_load(&writer, 0, place);
		place = bpf_jump(&writer, BPF_JEQ, 5, ends[swap], ends[1 - swap]);
		bpf_load(&writer, offsetof(struct seccomp_data, nr), place);
		bpf_finish(&writer, program);
		ASSERT_EQ(NULL, bpf_simulator_refusal(program, writer.count));
		ASSERT_EQ(1 + swap, run(&writer, 5, 0));
		ASSERT_EQ(2 - swap, run(&writer, 6, 0));
	}
	PASS();
}

TEST a_program_that_does_not_fit_is_marked(void)
{
	struct bpf_writer writer = fresh(10);
	for (unsigned i = 0; i < 20; i++)
		make_target(&writer, i);
	ASSERT(writer.is_full);
	PASS();
}

TEST too_many_returns_are_marked(void)
{
	struct bpf_writer writer = fresh(CAPACITY);
	for (uint32_t i = 0; i <= BPF_WRITER_RETURN_MAX; i++)
		bpf_return(&writer, i);
	ASSERT(writer.is_full);
	PASS();
}

TEST equal_branches_cost_nothing(void)
{
	struct bpf_writer writer = fresh(CAPACITY);
	bpf_place end = bpf_return(&writer, 1);
	ASSERT_EQ(end, bpf_test(&writer, 0, UINT32_MAX, 5, end, end));
	ASSERT_EQ(end, bpf_jump(&writer, BPF_JEQ, 5, end, end));
	ASSERT_EQ(1u, writer.count);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	static unsigned count, padding; /* outlive greatest's longjmp */

	GREATEST_MAIN_BEGIN();
	for (count = 1; count <= 1200; count = count * 3 / 2 + 1)
		RUN_TESTp(a_tree_of_many_ranges_reaches_every_target, count);
	for (padding = 240; padding < 270; padding++)
		RUN_TESTp(jumps_reach_around_their_limit, padding);
	RUN_TEST(a_program_that_does_not_fit_is_marked);
	RUN_TEST(too_many_returns_are_marked);
	RUN_TEST(equal_branches_cost_nothing);
	GREATEST_MAIN_END();
}

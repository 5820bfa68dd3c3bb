/* SPDX-License-Identifier: Apache-2.0 */
/* A child that is parted from its parent waits for no processor of it, and in the end may use what its parent may. */
#define _GNU_SOURCE
#include "linux/cpu_placement.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "greatest.h"

static bool has_two(void)
{
	cpu_set_t mine;
	return sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_COUNT(&mine) > 1;
}

static pid_t start_sleeper(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST are_parted_and_joined(void)
{
	struct processors processors;
	cpu_set_t mine, its;
	pid_t child;
	if (!has_two())
		SKIPm("one processor");
	ASSERT_EQ(0, sched_getaffinity(0, sizeof mine, &mine));
	child = start_sleeper();
	ASSERT(child > 0);
	processors_part(&processors, child);
	ASSERT(processors.has_parted);
	ASSERT_EQ(0, sched_getaffinity(child, sizeof its, &its));
	ASSERT_EQ(CPU_COUNT(&mine) - 1, CPU_COUNT(&its));
	processors_join(&processors, child);
	ASSERT_EQ(0, sched_getaffinity(child, sizeof its, &its));
	ASSERT(CPU_EQUAL(&mine, &its));
	end(child);
	PASS();
}

/* Who was never parted keeps what it has chosen itself. */
TEST are_joined_only_after_that(void)
{
	struct processors processors = { 0 };
	cpu_set_t mine, one, its;
	pid_t child = start_sleeper();
	ASSERT(child > 0);
	ASSERT_EQ(0, sched_getaffinity(0, sizeof mine, &mine));
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ASSERT_EQ(0, sched_setaffinity(child, sizeof one, &one));
	processors_join(&processors, child);
	ASSERT_EQ(0, sched_getaffinity(child, sizeof its, &its));
	ASSERT(CPU_EQUAL(&one, &its));
	end(child);
	PASS();
}

/* As many as there are processors, and one more, run without a pause: then there is none that is idle. */
TEST none_is_idle_on_a_busy_machine(void)
{
	pid_t busy[3];
	bool are_idle;
	int count = 3;
	for (int i = 0; i < count; i++) {
		busy[i] = fork();
		ASSERT(busy[i] >= 0);
		if (busy[i] == 0)
			for (;;)
				;
	}
	are_idle = processors_are_idle();
	for (int i = 0; i < count; i++)
		end(busy[i]);
	ASSERT(!are_idle);
	PASS();
}

TEST one_processor_is_never_left(void)
{
	struct processors processors;
	cpu_set_t mine, one;
	pid_t child = start_sleeper();
	ASSERT(child > 0);
	ASSERT_EQ(0, sched_getaffinity(0, sizeof mine, &mine));
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
	processors_part(&processors, child);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof mine, &mine));
	ASSERT(!processors.has_parted);
	end(child);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(are_parted_and_joined);
	RUN_TEST(are_joined_only_after_that);
	RUN_TEST(none_is_idle_on_a_busy_machine);
	RUN_TEST(one_processor_is_never_left);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A separated child runs on other CPUs than its parent; after the restore it may use all of them
 * again. */
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

TEST separates_and_restores(void)
{
	struct cpu_placement placement;
	cpu_set_t mine, its;
	pid_t child;
	if (!has_two())
		SKIPm("one CPU");
	ASSERT_EQ(0, sched_getaffinity(0, sizeof mine, &mine));
	child = start_sleeper();
	ASSERT(child > 0);
	cpu_placement_separate(&placement, child);
	ASSERT(placement.is_separated);
	ASSERT_EQ(0, sched_getaffinity(child, sizeof its, &its));
	ASSERT_EQ(CPU_COUNT(&mine) - 1, CPU_COUNT(&its));
	cpu_placement_restore(&placement, child);
	ASSERT_EQ(0, sched_getaffinity(child, sizeof its, &its));
	ASSERT(CPU_EQUAL(&mine, &its));
	end(child);
	PASS();
}

/* A child that was not separated keeps its own CPU set. */
TEST restores_only_after_separating(void)
{
	struct cpu_placement placement = { 0 };
	cpu_set_t mine, one, its;
	pid_t child = start_sleeper();
	ASSERT(child > 0);
	ASSERT_EQ(0, sched_getaffinity(0, sizeof mine, &mine));
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ASSERT_EQ(0, sched_setaffinity(child, sizeof one, &one));
	cpu_placement_restore(&placement, child);
	ASSERT_EQ(0, sched_getaffinity(child, sizeof its, &its));
	ASSERT(CPU_EQUAL(&one, &its));
	end(child);
	PASS();
}

/* Busy loops on every CPU and one more: no CPU is idle. */
TEST a_busy_machine_is_not_idle(void)
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
	are_idle = cpu_placement_is_idle();
	for (int i = 0; i < count; i++)
		end(busy[i]);
	ASSERT(!are_idle);
	PASS();
}

TEST a_single_cpu_is_kept(void)
{
	struct cpu_placement placement;
	cpu_set_t mine, one;
	pid_t child = start_sleeper();
	ASSERT(child > 0);
	ASSERT_EQ(0, sched_getaffinity(0, sizeof mine, &mine));
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
	cpu_placement_separate(&placement, child);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof mine, &mine));
	ASSERT(!placement.is_separated);
	end(child);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(separates_and_restores);
	RUN_TEST(restores_only_after_separating);
	RUN_TEST(a_busy_machine_is_not_idle);
	RUN_TEST(a_single_cpu_is_kept);
	GREATEST_MAIN_END();
}

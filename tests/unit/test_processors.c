/* SPDX-License-Identifier: Apache-2.0 */
/* A child that is sent away waits for no processor of its parent's, and in the end may use what its parent may. */
#define _GNU_SOURCE
#include "linux/processors.h"

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

TEST is_sent_away_and_freed(void)
{
	struct processors processors = { .has_idle = true };
	cpu_set_t mine, its;
	pid_t child;
	if (!has_two())
		SKIPm("one processor");
	ASSERT_EQ(0, sched_getaffinity(0, sizeof mine, &mine));
	processors.allowed = mine;
	child = start_sleeper();
	ASSERT(child > 0);
	processors_send_away(&processors, child);
	ASSERT_EQ(0, sched_getaffinity(child, sizeof its, &its));
	ASSERT_EQ(CPU_COUNT(&mine) - 1, CPU_COUNT(&its));
	end(child);
	/* in the child's place: this process, with one processor less */
	ASSERT_EQ(0, sched_setaffinity(0, sizeof its, &its));
	processors_free(&processors);
	ASSERT_EQ(0, sched_getaffinity(0, sizeof its, &its));
	ASSERT(CPU_EQUAL(&mine, &its));
	PASS();
}

TEST is_left_alone_where_none_is_idle(void)
{
	struct processors processors = { .has_idle = false };
	cpu_set_t mine, its;
	pid_t child = start_sleeper();
	ASSERT(child > 0);
	ASSERT_EQ(0, sched_getaffinity(0, sizeof mine, &mine));
	processors.allowed = mine;
	processors_send_away(&processors, child);
	ASSERT_EQ(0, sched_getaffinity(child, sizeof its, &its));
	ASSERT(CPU_EQUAL(&mine, &its));
	end(child);
	PASS();
}

/* As many as there are processors run without a pause: then there is none that is idle. */
TEST none_is_idle_on_a_busy_machine(void)
{
	pid_t busy[2];
	struct processors processors;
	int count = 2;
	for (int i = 0; i < count; i++) {
		busy[i] = fork();
		ASSERT(busy[i] >= 0);
		if (busy[i] == 0)
			for (;;)
				;
	}
	processors_read(&processors);
	for (int i = 0; i < count; i++)
		end(busy[i]);
	ASSERT(!processors.has_idle);
	PASS();
}

TEST one_processor_is_never_left(void)
{
	struct processors processors;
	cpu_set_t mine, one;
	ASSERT_EQ(0, sched_getaffinity(0, sizeof mine, &mine));
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
	processors_read(&processors);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof mine, &mine));
	ASSERT(!processors.has_idle);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(is_sent_away_and_freed);
	RUN_TEST(is_left_alone_where_none_is_idle);
	RUN_TEST(none_is_idle_on_a_busy_machine);
	RUN_TEST(one_processor_is_never_left);
	GREATEST_MAIN_END();
}

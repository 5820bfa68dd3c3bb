/* SPDX-License-Identifier: Apache-2.0 */
/* Applies limits in a child: the lower of the plan's and the caller's. */
#include <greatest.h>

#include <string.h>
#include <sys/resource.h>

#include "linux/limits/limits.h"
#include "unit/support/scratch.h"

static struct plan plan;
static struct limits_choice choice = { .holds = { [LIMIT_MEMORY] = HOLD_WATCH, [LIMIT_PROCESSES] = HOLD_RLIMIT } };

static void ask(enum limit limit, uint64_t value)
{
	plan.limits[limit].is_set = true;
	plan.limits[limit].value = value;
}

static struct rlimit current(int resource)
{
	struct rlimit limit = { 0 };
	getrlimit(resource, &limit);
	return limit;
}

static int apply_what_is_asked(void *data)
{
	struct error err;
	(void)data;
	memset(&plan, 0, sizeof plan);
	ask(LIMIT_OPEN_FILES, 50);
	ask(LIMIT_PROCESSES, 60);
	ask(LIMIT_MEMORY, 1 << 30);
	ask(LIMIT_FILE_SIZE, 1 << 20);
	EXPECT(limits_apply(&plan, &choice, &err) == 0);
	EXPECT(current(RLIMIT_NOFILE).rlim_max == 50 && current(RLIMIT_NOFILE).rlim_cur == 50);
	EXPECT(current(RLIMIT_NPROC).rlim_max == 60);
	EXPECT(current(RLIMIT_DATA).rlim_max == 2ul << 30);
	EXPECT(current(RLIMIT_FSIZE).rlim_max == 1 << 20);
	EXPECT(current(RLIMIT_CORE).rlim_max == 1 && current(RLIMIT_CORE).rlim_cur == 1);
	return 0;
}

static int apply_nothing_but_core(void *data)
{
	struct rlimit before = current(RLIMIT_NOFILE);
	struct error err;
	(void)data;
	memset(&plan, 0, sizeof plan);
	EXPECT(limits_apply(&plan, &choice, &err) == 0);
	EXPECT(current(RLIMIT_NOFILE).rlim_max == before.rlim_max && current(RLIMIT_NOFILE).rlim_cur == before.rlim_cur);
	EXPECT(current(RLIMIT_CORE).rlim_max == 1 && current(RLIMIT_CORE).rlim_cur == 1);
	return 0;
}

/* A lower limit of the caller is not raised. Its soft limit stays if it can. */
static int never_raise(void *data)
{
	struct rlimit limit = { 20, 40 };
	struct error err;
	(void)data;
	memset(&plan, 0, sizeof plan);
	EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	ask(LIMIT_OPEN_FILES, 1000);
	EXPECT(limits_apply(&plan, &choice, &err) == 0);
	EXPECT(current(RLIMIT_NOFILE).rlim_max == 40 && current(RLIMIT_NOFILE).rlim_cur == 20);
	ask(LIMIT_OPEN_FILES, 30);
	EXPECT(limits_apply(&plan, &choice, &err) == 0);
	EXPECT(current(RLIMIT_NOFILE).rlim_max == 30 && current(RLIMIT_NOFILE).rlim_cur == 20);
	ask(LIMIT_OPEN_FILES, 10);
	EXPECT(limits_apply(&plan, &choice, &err) == 0);
	EXPECT(current(RLIMIT_NOFILE).rlim_max == 10 && current(RLIMIT_NOFILE).rlim_cur == 10);
	return 0;
}

TEST applies_what_the_plan_asks_for(void)
{
	ASSERT_EQ(0, scratch_child(apply_what_is_asked, NULL));
	ASSERT_EQ(0, scratch_child(apply_nothing_but_core, NULL));
	PASS();
}

TEST never_raises_a_limit(void)
{
	ASSERT_EQ(0, scratch_child(never_raise, NULL));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(applies_what_the_plan_asks_for);
	RUN_TEST(never_raises_a_limit);
	GREATEST_MAIN_END();
}

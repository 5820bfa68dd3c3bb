/* SPDX-License-Identifier: Apache-2.0 */
/* The mechanism of each limit on different machines, and its description. */
#include <greatest.h>

#include <string.h>

#include "linux/limits/limits.h"

enum { USER = 1000, ROOT = 0 };

static struct arena arena;
static struct plan plan;

static void start(uid_t uid)
{
	memset(&plan, 0, sizeof plan);
	plan.arena = &arena;
	plan.context.uid = uid;
}

static void ask(enum limit limit, uint64_t value)
{
	plan.limits[limit].is_set = true;
	plan.limits[limit].value = value;
}

static const struct limits_machine bare = { .has_own_count = true };
static const struct limits_machine newer = { .has_own_count = true, .has_pid_max = true };
static const struct limits_machine delegated = { .has_memory_group = true, .has_pids_group = true, .has_own_count = true };
static const struct limits_machine memory_only = { .has_memory_group = true, .has_own_count = true };
static const struct limits_machine shared = { .is_shared = true, .has_own_count = true, .has_pid_max = true };
static const struct limits_machine managed = { .has_manager = true, .has_own_count = true };
static const struct limits_machine old = { .has_own_count = false };

static enum limit_hold hold(const struct limits_machine *machine, enum limit limit)
{
	struct limits_choice choice;
	limits_choose_for(&plan, machine, &choice);
	return choice.holds[limit];
}

TEST processes_are_held(void)
{
	start(USER);
	ASSERT_EQ(HOLD_NOT_SET, hold(&delegated, LIMIT_PROCESSES));
	ask(LIMIT_PROCESSES, 40);
	ASSERT_EQ(HOLD_RLIMIT, hold(&bare, LIMIT_PROCESSES));
	ASSERT_EQ(HOLD_RLIMIT, hold(&newer, LIMIT_PROCESSES));
	ASSERT_EQ(HOLD_RLIMIT, hold(&delegated, LIMIT_PROCESSES)); /* no group for what an rlimit holds */
	ASSERT_EQ(HOLD_WATCH, hold(&old, LIMIT_PROCESSES));
	ASSERT_EQ(HOLD_WATCH, hold(&shared, LIMIT_PROCESSES)); /* an rlimit would count the user's other processes too */
	ask(LIMIT_MEMORY, 1 << 30);
	ASSERT_EQ(HOLD_GROUP, hold(&delegated, LIMIT_PROCESSES)); /* it exists for memory anyway */
	ASSERT_EQ(HOLD_RLIMIT, hold(&memory_only, LIMIT_PROCESSES));

	start(ROOT);
	ask(LIMIT_PROCESSES, 40);
	ASSERT_EQ(HOLD_WATCH, hold(&bare, LIMIT_PROCESSES)); /* rlimits do not bind root */
	ASSERT_EQ(HOLD_GROUP, hold(&delegated, LIMIT_PROCESSES));
	ASSERT_EQ(HOLD_WATCH, hold(&newer, LIMIT_PROCESSES)); /* pid_max cannot hold so few */
	ask(LIMIT_PROCESSES, 1023);
	ASSERT_EQ(HOLD_WATCH, hold(&newer, LIMIT_PROCESSES));
	ask(LIMIT_PROCESSES, 1024);
	ASSERT_EQ(HOLD_PID_MAX, hold(&newer, LIMIT_PROCESSES));
	ask(LIMIT_PROCESSES, 4096);
	ASSERT_EQ(HOLD_PID_MAX, hold(&newer, LIMIT_PROCESSES));
	PASS();
}

static uint64_t pid_max(const struct limits_machine *machine, uint64_t processes)
{
	struct limits_choice choice;
	ask(LIMIT_PROCESSES, processes);
	limits_choose_for(&plan, machine, &choice);
	return choice.pid_max;
}

TEST numbers_are_bounded_for_root(void)
{
	start(USER);
	ASSERT_EQ(0, pid_max(&newer, 4096));
	start(ROOT);
	ASSERT_EQ(0, pid_max(&bare, 4096));
	ASSERT_EQ(0, pid_max(&shared, 4096)); /* it belongs to the whole machine */
	ASSERT_EQ(4098, pid_max(&newer, 4096)); /* init is 1, and pids go up to pid_max - 1 */
	ASSERT_EQ(342, pid_max(&newer, 40)); /* a backstop while they are polled */
	ASSERT_EQ(4194304, pid_max(&newer, UINT64_MAX));
	PASS();
}

TEST memory_is_held(void)
{
	start(USER);
	ask(LIMIT_MEMORY, 1 << 30);
	ASSERT_EQ(HOLD_GROUP, hold(&delegated, LIMIT_MEMORY));
	ASSERT_EQ(HOLD_WATCH, hold(&newer, LIMIT_MEMORY));
	PASS();
}

static const struct limit_state *describe(const struct limits_machine *machine, struct guarantee_state *state)
{
	struct limits_choice choice;
	limits_choose_for(&plan, machine, &choice);
	limits_describe(&plan, &choice, true, state);
	return state->limits;
}

/* A polled limit is never called hard, and makes the guarantee partial. */
TEST the_level_is_that_of_the_weakest(void)
{
	struct guarantee_state state;
	const struct limit_state *limits;

	start(USER);
	ask(LIMIT_PROCESSES, 40);
	ask(LIMIT_CPUS, 1);
	ask(LIMIT_TIME, 1000);
	ask(LIMIT_OPEN_FILES, 9);
	ask(LIMIT_FILE_SIZE, 9);
	limits = describe(&bare, &state);
	ASSERT_EQ(LEVEL_ENFORCED, state.level);
	for (int i = 0; i < LIMIT_COUNT; i++)
		ASSERT_EQ(plan.limits[i].is_set, limits[i].mechanism && limits[i].is_hard);
	ask(LIMIT_MEMORY, 1 << 30);
	limits = describe(&delegated, &state);
	ASSERT_EQ(LEVEL_ENFORCED, state.level);
	ASSERT(limits[LIMIT_MEMORY].is_hard);
	limits = describe(&bare, &state);
	ASSERT_EQ(LEVEL_PARTIAL, state.level);
	ASSERT(state.reason && state.fix);
	ASSERT(!limits[LIMIT_MEMORY].is_hard && limits[LIMIT_MEMORY].reason);
	ASSERT(limits[LIMIT_PROCESSES].is_hard);
	start(USER);
	ask(LIMIT_DISK, 1 << 30);
	limits = describe(&delegated, &state);
	ASSERT_EQ(LEVEL_PARTIAL, state.level);
	ASSERT(!limits[LIMIT_DISK].is_hard);
	start(ROOT);
	ask(LIMIT_PROCESSES, 40);
	describe(&bare, &state);
	ASSERT_EQ(LEVEL_PARTIAL, state.level);
	ask(LIMIT_PROCESSES, 4096);
	describe(&newer, &state);
	ASSERT_EQ(LEVEL_ENFORCED, state.level);
	PASS();
}

/* A scope that is yet to be requested counts as enforced only if the run is refused without it. */
TEST a_scope_is_asked_for(void)
{
	struct limits_choice choice;
	struct guarantee_state state;
	const struct limit_state *limits;

	start(USER);
	ask(LIMIT_PROCESSES, 40);
	ASSERT_EQ(HOLD_RLIMIT, hold(&managed, LIMIT_PROCESSES));
	ask(LIMIT_MEMORY, 1 << 30);
	ASSERT_EQ(HOLD_SCOPE, hold(&managed, LIMIT_MEMORY));
	ASSERT_EQ(HOLD_RLIMIT, hold(&managed, LIMIT_PROCESSES));
	limits = describe(&managed, &state);
	ASSERT_EQ(LEVEL_PARTIAL, state.level);
	ASSERT(!limits[LIMIT_MEMORY].is_hard && state.reason && state.fix);
	plan.required[GUARANTEE_LIMITS] = LEVEL_ENFORCED;
	limits = describe(&managed, &state);
	ASSERT_EQ(LEVEL_ENFORCED, state.level);
	ASSERT(limits[LIMIT_MEMORY].is_hard);
	plan.accepted_weaker[GUARANTEE_LIMITS] = true;
	describe(&managed, &state);
	ASSERT_EQ(LEVEL_PARTIAL, state.level);
	plan.accepted_weaker[GUARANTEE_LIMITS] = false;
	ask(LIMIT_DISK, 1 << 30); /* no group limits disk space */
	describe(&managed, &state);
	ASSERT_EQ(LEVEL_PARTIAL, state.level);

	start(ROOT);
	ask(LIMIT_PROCESSES, 40);
	ask(LIMIT_MEMORY, 1 << 30);
	limits_choose_for(&plan, &managed, &choice);
	ASSERT(choice.has_scope && !choice.has_watch && !choice.has_group);
	ASSERT_EQ(1 << 30, limits_of_scope(&plan, &choice).memory);
	ASSERT_EQ(40, limits_of_scope(&plan, &choice).processes);
	limits_settle_scope(&choice, true);
	ASSERT(!choice.has_scope && !choice.has_watch && choice.has_group);
	ASSERT_EQ(HOLD_GROUP, choice.holds[LIMIT_PROCESSES]);
	limits_choose_for(&plan, &managed, &choice);
	limits_settle_scope(&choice, false);
	ASSERT(!choice.has_scope && choice.has_watch && !choice.has_group);
	ASSERT_EQ(HOLD_WATCH, choice.holds[LIMIT_MEMORY]);
	PASS();
}

TEST a_group_gets_what_it_can_hold(void)
{
	struct cgroup_base base = { .fd = -1, .controllers = CGROUP_MEMORY | CGROUP_PIDS };
	struct cgroup_limits limits;

	start(USER);
	ask(LIMIT_MEMORY, 1 << 30);
	ask(LIMIT_PROCESSES, 40);
	ask(LIMIT_CPUS, 2);
	limits = limits_of_group(&plan, &base);
	ASSERT_EQ(1 << 30, limits.memory);
	ASSERT_EQ(40, limits.processes);
	ASSERT_EQ(0, limits.cpus);
	base.controllers |= CGROUP_CPU;
	ASSERT_EQ(2, limits_of_group(&plan, &base).cpus);
	PASS();
}

TEST a_tmpfs_is_bounded(void)
{
	start(USER);
	ASSERT_EQ(0, limits_of_tmpfs(&plan, true));
	ask(LIMIT_DISK, 20);
	ASSERT_EQ(20, limits_of_tmpfs(&plan, true));
	ASSERT_EQ(0, limits_of_tmpfs(&plan, false));
	ask(LIMIT_MEMORY, 30);
	ASSERT_EQ(20, limits_of_tmpfs(&plan, true));
	ASSERT_EQ(30, limits_of_tmpfs(&plan, false));
	ask(LIMIT_MEMORY, 10);
	ASSERT_EQ(10, limits_of_tmpfs(&plan, true));
	PASS();
}

/* The hint names the line to change, or the key to add. */
TEST the_way_out_is_named(void)
{
	struct error err = { 0 };

	start(USER);
	ask(LIMIT_MEMORY, 10);
	plan.limits[LIMIT_MEMORY].rule =
		(struct rule){ .key = "limits.memory", .text = "4G", .origin = { "~/berm.yml", 12, 3 }, .layer = LAYER_USER };
	error_set(&err, "x");
	limits_hint(&plan, LIMIT_MEMORY, &err);
	ASSERT_STR_EQ("raise it: limits.memory, ~/berm.yml:12:3", err.hint);
	plan.limits[LIMIT_MEMORY].rule.layer = LAYER_BASE;
	error_set(&err, "x");
	err.hint[0] = '\0';
	limits_hint(&plan, LIMIT_MEMORY, &err);
	ASSERTm(err.hint, strstr(err.hint, "set limits.memory in your policy"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(processes_are_held);
	RUN_TEST(numbers_are_bounded_for_root);
	RUN_TEST(memory_is_held);
	RUN_TEST(the_level_is_that_of_the_weakest);
	RUN_TEST(a_scope_is_asked_for);
	RUN_TEST(a_group_gets_what_it_can_hold);
	RUN_TEST(a_tmpfs_is_bounded);
	RUN_TEST(the_way_out_is_named);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "linux/launch/prefork.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/channel.h"

/* A decoded plan is about three times its file, which is a few dozen kilobytes. What is not used costs nothing. */
enum { MEMORY_BYTES = 1 << 20 };

/* What init takes from the memory. */
struct handed {
	struct launch launch;
	struct plan plan;
};

bool early_fits(const struct plan *plan, const struct limits_choice *limits)
{
	if (limits->has_group || limits->has_scope || limits->has_watch)
		return false;
	return plan->context.tier == TIER_FULL && plan->network.mode == NETWORK_NONE && !egress_is_needed(plan);
}

bool backend_can_begin(const struct plan *plan)
{
	struct limits_choice limits;
	limits_choose(plan, &limits, NULL);
	return early_fits(plan, &limits);
}

/* Reserved before the fork, so that nothing of init's lies there. */
static void *reserve(void)
{
	void *base = mmap(NULL, MEMORY_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return base == MAP_FAILED ? NULL : base;
}

/* The memory itself, which init gets with the plan. -1: there is none. */
static int make_memory(void *base)
{
	int fd = state_may_write(MEMORY_BYTES) ? memfd_create("berm", MFD_CLOEXEC) : -1;
	if (fd < 0)
		return -1;
	if (ftruncate(fd, MEMORY_BYTES) == 0)
		base = mmap(base, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	else
		base = MAP_FAILED;
	if (base != MAP_FAILED)
		return fd;
	close(fd);
	return -1;
}

static int fork_early(struct begun *begun, struct error *err)
{
	struct launch *launch = &begun->launch;
	if (launch_connect(launch, err) < 0)
		return -1;
	begun->init = namespaces_fork(&launch->namespaces, &begun->pidfd, err);
	if (begun->init == 0) {
		close(begun->signals);
		init_main(launch);
	}
	close(launch->ends[1]);
	if (begun->init > 0)
		return 0;
	close(launch->ends[0]);
	return -1;
}

/* What there is before the fork. */
static void give_up(struct begun *begun)
{
	munmap(begun->launch.early, MEMORY_BYTES);
	if (begun->signals < 0)
		return;
	close(begun->signals);
	signals_give_back(&begun->launch.signals);
}

/* Only what init needs to make its namespaces comes before the fork: it is what all the rest waits for. */
struct begun *backend_begin(struct arena *arena)
{
	struct begun *begun = arena_alloc(arena, sizeof *begun);
	struct launch *launch = &begun->launch;
	struct error ignored = { 0 };

	*begun = (struct begun){ .arena = arena, .signals = -1, .pidfd = -1, .memory = -1 };
	*launch = (struct launch){ .uid = getuid(), .gid = getgid(), .state.lock = -1, .early = reserve() };
	launch->watch = (struct watch){ .proc = -1, .shm = -1, .tmp = -1, .home = -1 };
	if (!launch->early)
		return NULL;
	begun->signals = signals_take(&launch->signals, &ignored);
	if (begun->signals < 0 || fork_early(begun, &ignored) < 0) {
		give_up(begun);
		return NULL;
	}
	if (processors_are_idle())
		processors_part(&launch->processors, begun->init);
	begun->memory = make_memory(launch->early);
	if (begun->memory < 0) {
		backend_abandon(begun);
		munmap(launch->early, MEMORY_BYTES);
		return NULL;
	}
	terminal_save(&begun->terminal);
	launch->has_own_group = begun->terminal.is_job;
	arena_borrow(arena, launch->early, MEMORY_BYTES);
	return begun;
}

/* The memory stays: the arena has it. */
void backend_abandon(struct begun *begun)
{
	if (!begun || begun->init == 0)
		return;
	kill(begun->init, SIGKILL);
	while (waitpid(begun->init, NULL, 0) < 0 && errno == EINTR)
		;
	begun->init = 0;
	arena_give_back(begun->arena);
	close(begun->launch.ends[0]);
	if (begun->memory >= 0)
		close(begun->memory);
	close(begun->pidfd);
	close(begun->signals);
	signals_give_back(&begun->launch.signals);
}

int early_hand_over(struct begun *begun, const struct launch *launch)
{
	struct message message = { .type = MESSAGE_PLAN };
	struct handed *handed = arena_alloc(begun->arena, sizeof *handed);
	const char *base = begun->launch.early;

	handed->launch = *launch;
	handed->plan = *launch->plan;
	if (!arena_give_back(begun->arena))
		return -1;
	message.value = (int)((const char *)handed - base);
	if (channel_send_with(begun->launch.ends[0], &message, &begun->memory, 1) < 0)
		return -1;
	close(begun->memory);
	begun->memory = -1;
	return 0;
}

void early_await(struct launch *launch, struct plan *plan, struct arena *arena)
{
	struct message message;
	const struct handed *handed;
	const char *base;
	int memory[CHANNEL_DESCRIPTOR_MAX];
	size_t count;

	if (channel_receive_with(launch->ends[1], &message, memory, &count) <= 0 || message.type != MESSAGE_PLAN || count != 1)
		_exit(EXIT_REFUSED);
	base = mmap(launch->early, MEMORY_BYTES, PROT_READ, MAP_PRIVATE | MAP_FIXED, memory[0], 0);
	if (base == MAP_FAILED)
		_exit(EXIT_REFUSED);
	close(memory[0]);
	handed = (const struct handed *)(base + message.value);
	*launch = handed->launch;
	*plan = handed->plan;
	plan->arena = arena;
	launch->plan = plan;
	command_own(&launch->command, arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "linux/early.h"

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

static void forget(struct early_memory *memory)
{
	if (!memory->base)
		return;
	munmap(memory->base, MEMORY_BYTES);
	close(memory->fd);
	memory->base = NULL;
}

static bool make_memory(struct early_memory *memory)
{
	void *base = MAP_FAILED;
	if (!state_may_write(MEMORY_BYTES))
		return false;
	memory->fd = memfd_create("berm", MFD_CLOEXEC);
	if (memory->fd < 0)
		return false;
	if (ftruncate(memory->fd, MEMORY_BYTES) == 0)
		base = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
	if (base == MAP_FAILED) {
		close(memory->fd);
		return false;
	}
	memory->base = base;
	return true;
}

static bool fork_early(struct begun *begun, int fd, struct error *err)
{
	struct launch *launch = &begun->launch;
	processors_read(&launch->processors);
	begun->init = namespaces_fork(&launch->namespaces, &begun->pidfd, err);
	if (begun->init == 0) {
		close(fd);
		close(begun->signals);
		init_main(launch);
	}
	if (begun->init > 0)
		processors_send_away(&launch->processors, begun->init);
	close(launch->ends[1]);
	if (begun->init < 0)
		close(launch->ends[0]);
	return begun->init > 0;
}

struct begun *backend_begin(struct arena *arena, int fd)
{
	struct begun *begun = arena_alloc(arena, sizeof *begun);
	struct launch *launch = &begun->launch;
	struct error ignored = { 0 };

	*begun = (struct begun){ .arena = arena, .signals = -1, .pidfd = -1 };
	*launch = (struct launch){ .uid = getuid(), .gid = getgid(), .state.lock = -1, .memory.fd = -1 };
	launch->watch = (struct watch){ .proc = -1, .shm = -1, .tmp = -1, .home = -1 };
	if (!make_memory(&launch->memory))
		return NULL;
	terminal_save(&begun->terminal);
	launch->has_own_group = begun->terminal.is_job;
	begun->signals = signals_take(&launch->signals, &ignored);
	if (begun->signals < 0) {
		forget(&launch->memory);
		return NULL;
	}
	if (launch_connect(launch, &ignored) < 0 || !fork_early(begun, fd, &ignored)) {
		forget(&launch->memory);
		close(begun->signals);
		signals_give_back(&launch->signals);
		return NULL;
	}
	arena_borrow(arena, launch->memory.base, MEMORY_BYTES);
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
	close(begun->launch.memory.fd);
	close(begun->pidfd);
	close(begun->signals);
	signals_give_back(&begun->launch.signals);
}

int early_hand_over(struct begun *begun, const struct launch *launch)
{
	struct message message = { .type = MESSAGE_PLAN };
	struct handed *handed = arena_alloc(begun->arena, sizeof *handed);
	const char *base = begun->launch.memory.base;

	handed->launch = *launch;
	handed->plan = *launch->plan;
	if (!arena_give_back(begun->arena))
		return -1;
	message.value = (int)((const char *)handed - base);
	return channel_send(begun->launch.ends[0], &message);
}

void early_await(struct launch *launch, struct plan *plan, struct arena *arena)
{
	struct early_memory memory = launch->memory;
	struct message message;
	const struct handed *handed;
	const char *base;

	if (channel_receive(launch->ends[1], &message) <= 0 || message.type != MESSAGE_PLAN)
		_exit(EXIT_REFUSED);
	base = mmap(memory.base, MEMORY_BYTES, PROT_READ, MAP_PRIVATE | MAP_FIXED, memory.fd, 0);
	if (base == MAP_FAILED)
		_exit(EXIT_REFUSED);
	close(memory.fd);
	handed = (const struct handed *)(base + message.value);
	*launch = handed->launch;
	*plan = handed->plan;
	plan->arena = arena;
	launch->plan = plan;
	command_own(&launch->command, arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules the polls and compares with the limits. watch.h has the theory of operation. */
#include "linux/limits/watch_internal.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"

enum {
	FIRST_MS = 50,
	SHORTEST_MS = 10,
	LONGEST_MS = 100,
	FAILURES_MAX = 20,
	MEASUREMENTS = 4, /* all must be over the limit before the sandbox ends */
	SHARE = 5, /* polling takes at most a fifth of one CPU, and that only close to a limit */
	DISK_AGAIN_MS = 2000, /* between two searches while other processes fill the disk */
};

/* Bytes that a few processes write in a millisecond. The remaining space divided by it is the time
 * until the next poll. */
static const uint64_t bytes_per_ms = 4 << 20;

static int64_t now_us(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

void watch_start(struct watch *watch, const struct plan *plan, const struct limits_choice *choice, const char *copy)
{
	*watch = (struct watch){ .plan = plan, .proc = -1, .shm = -1, .tmp = -1, .home = -1 };
	if (!choice->has_watch)
		return;
	watch->has_memory = choice->holds[LIMIT_MEMORY] == HOLD_WATCH;
	watch->has_disk = choice->holds[LIMIT_DISK] == HOLD_WATCH;
	watch->has_processes = choice->holds[LIMIT_PROCESSES] == HOLD_WATCH;
	watch->next = now_us(CLOCK_MONOTONIC) / 1000 + FIRST_MS;
	if (watch->has_memory)
		watch->shared_before = watch_shared_memory();
	if (watch->has_disk)
		watch_disk_start(&watch->disk, plan, copy);
}

void watch_take(struct watch *watch, unsigned which, const int *descriptors, size_t count)
{
	int *const places[WATCH_DESCRIPTOR_MAX] = { &watch->proc, &watch->shm, &watch->tmp, &watch->home };
	size_t taken = 0;
	for (unsigned i = 0; i < WATCH_DESCRIPTOR_MAX; i++)
		if ((which & (1u << i)) && taken < count && *places[i] < 0)
			*places[i] = descriptors[taken++];
	for (; taken < count; taken++)
		close(descriptors[taken]);
}

unsigned watch_open(const struct plan *plan, const struct limits_choice *choice, bool has_proc,
		    int descriptors[WATCH_DESCRIPTOR_MAX])
{
	const char *const paths[WATCH_DESCRIPTOR_MAX] = {
		has_proc ? "/proc" : NULL,
		"/dev/shm",
		plan->tmp == TMP_EMPTY ? "/tmp" : NULL,
		plan->home == HOME_EMPTY ? plan->context.home : NULL,
	};
	unsigned which = 0;
	size_t count = 0;
	for (unsigned i = 0; i < WATCH_DESCRIPTOR_MAX && choice->has_watch; i++) {
		int fd = paths[i] ? open(paths[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
		if (fd < 0)
			continue;
		descriptors[count++] = fd;
		which |= 1u << i;
	}
	return which;
}

static bool reach(struct watch *watch, enum limit limit, uint64_t measured)
{
	watch->is_over = true;
	watch->reached = limit;
	watch->measured = measured;
	return true;
}

/* Returns the least time in which the rest of the limit can be used up, in milliseconds. */
static int64_t time_left(uint64_t limit, uint64_t in_use)
{
	uint64_t left = in_use < limit ? (limit - in_use) / bytes_per_ms : 0;
	return left < SHORTEST_MS ? SHORTEST_MS : left > LONGEST_MS ? LONGEST_MS : (int64_t)left;
}

/* Returns the smallest of several measurements. Processes are measured one after the other: if
 * those that share memory after a fork start or exit meanwhile, one measurement counts a page more
 * than once. Memory that is really in use is in every measurement. */
static uint64_t measure_memory(const struct watch *watch, const struct watch_list *list, uint64_t limit)
{
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < MEASUREMENTS && least > limit; i++) {
		uint64_t in_use = watch_memory_measure(watch, list);
		least = in_use < least ? in_use : least;
	}
	return least;
}

static bool poll_memory(struct watch *watch, const struct watch_list *list, int64_t *wait)
{
	uint64_t limit = watch->plan->limits[LIMIT_MEMORY].value, in_use = watch_memory_bound(list);
	int64_t left;
	if (in_use > limit)
		in_use = measure_memory(watch, list, limit);
	if (in_use > limit)
		return reach(watch, LIMIT_MEMORY, in_use);
	left = time_left(limit, in_use);
	if (left < *wait)
		*wait = left;
	return false;
}

static bool poll_disk(struct watch *watch, const struct watch_list *list, int64_t now, int64_t *wait)
{
	struct watch_disk *disk = &watch->disk;
	uint64_t limit = watch->plan->limits[LIMIT_DISK].value, growth = watch_disk_growth(watch);
	int64_t left = time_left(limit, growth);
	if (left < *wait)
		*wait = left;
	if (growth <= limit)
		return false;
	/* In the last search most of the growth was not the command's: search again only later, or
	 * after much more growth. */
	if (disk->search_at && now < disk->search_at && growth < disk->growth_seen + limit / 8)
		return false;
	uint64_t in_use = watch_disk_measure(watch, list, growth);
	if (in_use > limit)
		return reach(watch, LIMIT_DISK, in_use);
	disk->growth_seen = growth;
	disk->search_at = now + DISK_AGAIN_MS;
	return false;
}

static bool poll_sandbox(struct watch *watch, int64_t now, int64_t *wait)
{
	struct watch_list list;
	bool has_reached = false;
	/* berm may be short of descriptors or memory for a moment. For longer, the limit would not
	 * hold. */
	if (watch_list_open(watch, &list) < 0) {
		watch->is_blind = ++watch->failures >= FAILURES_MAX;
		return watch->is_blind;
	}
	watch->failures = 0;
	if (watch->has_processes) {
		uint64_t count = watch_process_count(&list);
		*wait = SHORTEST_MS;
		has_reached = count > watch->plan->limits[LIMIT_PROCESSES].value && reach(watch, LIMIT_PROCESSES, count);
	}
	if (!has_reached && watch->has_memory)
		has_reached = poll_memory(watch, &list, wait);
	if (!has_reached && watch->has_disk)
		has_reached = poll_disk(watch, &list, now, wait);
	watch_list_close(&list);
	return has_reached;
}

bool watch_turn(struct watch *watch, int64_t now)
{
	int64_t wait = LONGEST_MS, before, cost_ms;
	if (!watch->next || now < watch->next || watch->is_over)
		return false;
	/* CPU time: on a busy machine a poll takes longer but costs no more. */
	before = now_us(CLOCK_PROCESS_CPUTIME_ID);
	if (poll_sandbox(watch, now, &wait)) {
		watch->next = 0;
		return true;
	}
	cost_ms = (now_us(CLOCK_PROCESS_CPUTIME_ID) - before) * SHARE / 1000;
	watch->next = now_us(CLOCK_MONOTONIC) / 1000 + (cost_ms > wait ? cost_ms : wait);
	return false;
}

void watch_end(struct watch *watch)
{
	int *const descriptors[] = { &watch->proc, &watch->shm, &watch->tmp, &watch->home };
	for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++) {
		if (*descriptors[i] >= 0)
			close(*descriptors[i]);
		*descriptors[i] = -1;
	}
	for (size_t i = 0; i < watch->disk.root_count; i++)
		close(watch->disk.roots[i]);
	watch->disk.root_count = watch->disk.device_count = 0;
	watch->next = 0;
}

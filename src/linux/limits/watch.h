/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that no mechanism of the kernel holds here: the launcher looks at the sandbox every 10 to 100 milliseconds and ends it.
 *
 * What is looked at cannot be told lies: the processes are those of the sandbox's own procfs (opened by init before the command
 * exists), sizes are the kernel's. Each look begins with a bound that is cheap and never too low; only if that bound is above the
 * limit is it measured what the sandbox really uses. The first look comes after 50 ms: a short command pays nothing. */
#ifndef BERM_LINUX_LIMITS_WATCH_H
#define BERM_LINUX_LIMITS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/plan/plan.h"
#include "linux/limits/limits.h"

enum { WATCH_DEVICE_MAX = 8, WATCH_ROOT_MAX = 64, WATCH_TMPFS_MAX = 3 };

/* What init sends when it stands in the view, in this order; absent ones are left out and the bits say which are there. */
enum watch_descriptor { WATCH_PROC = 1, WATCH_SHM = 2, WATCH_TMP = 4, WATCH_HOME = 8 };
enum { WATCH_DESCRIPTOR_MAX = 4 };

struct watch_disk {
	struct {
		dev_t device;
		int root; /* the first root there */
		uint64_t used; /* bytes, at the start */
	} devices[WATCH_DEVICE_MAX];
	size_t device_count;
	int roots[WATCH_ROOT_MAX]; /* directories and files that the command may write */
	size_t root_count;
	int64_t begin; /* real time in nanoseconds: what changed since then is the command's doing, or somebody's */
	uint64_t growth_seen; /* of the last full look */
	int64_t look_at; /* monotonic milliseconds: not before */
};

struct watch {
	const struct plan *plan;
	bool has_memory, has_disk, has_processes;
	pid_t init;
	int proc; /* the sandbox's procfs; -1: the host's, and the descendants of init in it */
	int shm, tmp, home; /* tmpfs in the sandbox; -1: none */
	uint64_t shared_before; /* bytes of shared memory on the whole machine, at the start */
	struct watch_disk disk;
	int64_t next; /* monotonic milliseconds of the next look; 0: nothing to watch */
	unsigned failures; /* looks in a row that saw nothing */
	bool is_over; /* a limit was reached */
	bool is_blind; /* or it could not be seen whether one was */
	enum limit reached;
	uint64_t measured; /* bytes or processes, of the limit that was reached */
};

/* Before the sandbox is born. */
void watch_start(struct watch *watch, const struct plan *plan, const struct limits_choice *choice);
/* Takes the descriptors that init sent. */
void watch_take(struct watch *watch, unsigned which, const int *descriptors, size_t count);
/* Looks, if it is time. True if a limit was reached: then everything has to be ended. */
bool watch_turn(struct watch *watch, int64_t now);
void watch_end(struct watch *watch);

/* In init, in the view: what the launcher needs to watch it. Returns the bits, and as many descriptors. */
unsigned watch_open(const struct plan *plan, const struct limits_choice *choice, bool has_proc,
		    int descriptors[WATCH_DESCRIPTOR_MAX]);

/* watch_processes.c: the sandbox's processes now, as names in `proc`; allocated. -1 if they cannot be seen. */
struct watch_list {
	int proc;
	bool is_own; /* proc is the list's to close */
	pid_t *pids;
	size_t count;
};
int watch_list_open(const struct watch *watch, struct watch_list *list);
void watch_list_close(struct watch_list *list);
/* Reads a small file of a process; its length, or -1. */
ssize_t watch_read(const struct watch_list *list, pid_t pid, const char *name, char *buffer, size_t size);
/* Open files of the processes that have no name: memory files and removed ones, on one of these devices, each once. False if there
 * were too many to look at in time: then `bytes` is too low. */
bool watch_nameless(const struct watch_list *list, const dev_t *devices, size_t count, uint64_t *bytes);

/* watch_memory.c, watch_disk.c: bytes, or processes. `bound` is never below what is used; the second is asked if that is too much. */
uint64_t watch_memory_bound(const struct watch_list *list);
uint64_t watch_memory_measure(const struct watch *watch, const struct watch_list *list);
uint64_t watch_process_count(const struct watch_list *list);
uint64_t watch_shared_memory(void);
void watch_disk_start(struct watch_disk *disk, const struct plan *plan);
uint64_t watch_disk_growth(const struct watch *watch);
uint64_t watch_disk_measure(const struct watch *watch, const struct watch_list *list, uint64_t growth);
uint64_t watch_tmpfs_used(int descriptor);

#endif

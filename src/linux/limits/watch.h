/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that no kernel mechanism holds here: the launcher polls the sandbox every 10 to 100
 * milliseconds and kills it when a limit is exceeded.
 *
 * The command cannot falsify the figures: processes are listed in the sandbox's own procfs, which
 * init opens before the command exists, and sizes come from the kernel. Each poll begins with a
 * cheap bound that is never too low. Only if the bound is over the limit is the real use measured.
 * The first poll comes after 50 ms, so a short command pays nothing. */
#ifndef BERM_LINUX_LIMITS_WATCH_H
#define BERM_LINUX_LIMITS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/plan/plan.h"
#include "linux/limits/limits.h"

enum { WATCH_DEVICE_MAX = 8, WATCH_ROOT_MAX = 64, WATCH_TMPFS_MAX = 3 };

/* The descriptors that init sends from inside the view, in this order. Absent ones are omitted; the
 * bits name the present ones. */
enum watch_descriptor { WATCH_PROC = 1, WATCH_SHM = 2, WATCH_TMP = 4, WATCH_HOME = 8 };
enum { WATCH_DESCRIPTOR_MAX = 4 };

struct watch_disk {
	struct {
		dev_t device;
		int root; /* the first root on this device */
		uint64_t used; /* bytes at the start */
	} devices[WATCH_DEVICE_MAX];
	size_t device_count;
	int roots[WATCH_ROOT_MAX]; /* writable directories and files */
	size_t root_count;
	int64_t begin; /* real time in nanoseconds: files changed since then count */
	uint64_t growth_seen; /* at the last search */
	int64_t search_at; /* monotonic milliseconds: no search before */
};

struct watch {
	const struct plan *plan;
	bool has_memory, has_disk, has_processes;
	pid_t init;
	int proc; /* the sandbox's procfs; -1: descendants of init in the host's procfs */
	int shm, tmp, home; /* tmpfs mounts in the sandbox; -1: none */
	uint64_t shared_before; /* the machine's shared memory at the start, in bytes */
	struct watch_disk disk;
	int64_t next; /* monotonic milliseconds of the next poll; 0: nothing to watch */
	unsigned failures; /* consecutive polls that failed */
	bool is_over; /* a limit was exceeded */
	bool is_blind; /* polling failed too often to know */
	enum limit reached;
	uint64_t measured; /* bytes or processes, of the exceeded limit */
};

/* Records the state before the sandbox is forked. `copy` is the directory that grows instead of the
 * project, or NULL. watch_end closes the descriptors. */
void watch_start(struct watch *watch, const struct plan *plan, const struct limits_choice *choice, const char *copy);
/* Takes ownership of the descriptors that init sent. */
void watch_take(struct watch *watch, unsigned which, const int *descriptors, size_t count);
/* Polls if it is time. True if a limit was exceeded or polling keeps failing: the caller then kills
 * the sandbox. */
bool watch_turn(struct watch *watch, int64_t now);
void watch_end(struct watch *watch);

/* Called by init, in the view: opens the descriptors that the launcher needs. Returns their bits;
 * the caller closes them. */
unsigned watch_open(const struct plan *plan, const struct limits_choice *choice, bool has_proc,
		    int descriptors[WATCH_DESCRIPTOR_MAX]);

#endif

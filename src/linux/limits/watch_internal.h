/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of watch*.c. */
#ifndef BERM_LINUX_LIMITS_WATCH_INTERNAL_H
#define BERM_LINUX_LIMITS_WATCH_INTERNAL_H

#include "linux/limits/watch.h"

/* The sandbox's processes at one moment, as names in `proc`. */
struct watch_list {
	int proc;
	bool is_own; /* watch_list_close closes proc */
	pid_t *pids;
	size_t count;
};

/* watch_processes.c: lists the processes; the caller closes the list. -1 if they cannot be
 * listed. */
int watch_list_open(const struct watch *watch, struct watch_list *list);
void watch_list_close(struct watch_list *list);
/* Reads a small file of a process. Returns its length, or -1. */
ssize_t watch_read(const struct watch_list *list, pid_t pid, const char *name, char *buffer, size_t size);
/* Sums the processes' open files without a name, memory files and removed ones, on these devices.
 * Each file counts once. False if there were too many to inspect in time: then `bytes` is too
 * low. */
bool watch_nameless(const struct watch_list *list, const dev_t *devices, size_t count, uint64_t *bytes);

/* watch_memory.c. The bound is cheap and never below the real use, which is measured if the bound
 * is over the limit. */
uint64_t watch_memory_bound(const struct watch_list *list);
uint64_t watch_memory_measure(const struct watch *watch, const struct watch_list *list);
/* Returns the number of the command's threads. */
uint64_t watch_process_count(const struct watch_list *list);
/* Returns the bytes of shared memory on the whole machine. */
uint64_t watch_shared_memory(void);
/* Returns the bytes in use on a tmpfs; 0 if descriptor is -1. */
uint64_t watch_tmpfs_used(int descriptor);

/* watch_disk.c. Growth is the cheap bound; the measured use is never above it. */
void watch_disk_start(struct watch_disk *disk, const struct plan *plan, const char *copy);
uint64_t watch_disk_growth(const struct watch *watch);
uint64_t watch_disk_measure(const struct watch *watch, const struct watch_list *list, uint64_t growth);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the memory of the sandbox. Counted: private memory (pages shared after a fork count
 * once), swap, shared memory and memory files, mapped or not, and files in tmpfs. Not counted:
 * pages of files on disk, which the kernel can drop, and the kernel's own memory for the sandbox
 * (pipes, sockets, page tables). */
#include "linux/limits/watch_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"

enum { BUDGET_MS = 200 }; /* for one measurement */

/* Returns the resident pages that belong to no file. Memory shared after a fork counts in both
 * processes. */
static uint64_t anonymous_bound(const struct watch_list *list, pid_t pid)
{
	char text[256];
	char *rest;
	unsigned long long resident, shared;
	if (watch_read(list, pid, "statm", text, sizeof text) <= 0)
		return 0;
	rest = strchr(text, ' '); /* skips the size of the address space */
	resident = rest ? strtoull(rest, &rest, 10) : 0;
	shared = rest ? strtoull(rest, NULL, 10) : 0;
	if (resident < shared)
		return 0;
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t anonymous_bounds(const struct watch_list *list)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < list->count; i++)
		sum += anonymous_bound(list, list->pids[i]);
	return sum;
}

uint64_t watch_shared_memory(void)
{
	struct sysinfo info;
	return sysinfo(&info) == 0 ? (uint64_t)info.sharedram * info.mem_unit : 0;
}

/* The sandbox's part of shared memory and swap is at most the whole machine's. */
uint64_t watch_memory_bound(const struct watch_list *list)
{
	struct sysinfo info;
	uint64_t machine = 0;
	if (sysinfo(&info) == 0)
		machine = ((uint64_t)info.sharedram + (info.totalswap - info.freeswap)) * info.mem_unit;
	return anonymous_bounds(list) + machine;
}

static uint64_t rollup_field(const char *text, const char *name)
{
	const char *line = strstr(text, name);
	return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

/* Adds proportional sizes: a page that ten processes share counts a tenth in each. */
static void add_rollup(const struct watch_list *list, pid_t pid, uint64_t *private, uint64_t *shared)
{
	char text[2048];
	if (watch_read(list, pid, "smaps_rollup", text, sizeof text) <= 0 || !strstr(text, "\nPss_Anon:")) {
		*private += anonymous_bound(list, pid); /* unreadable, or an old kernel */
		return;
	}
	*private += rollup_field(text, "\nPss_Anon:") + rollup_field(text, "\nSwapPss:");
	*shared += rollup_field(text, "\nPss_Shmem:");
}

/* Sums the memory files that the processes have open, mapped or not. False if there are too
 * many. */
static bool memory_files(const struct watch_list *list, uint64_t *bytes)
{
	struct stat info;
	autoclose int sample = memfd_create("berm", MFD_CLOEXEC);
	*bytes = 0;
	return sample >= 0 && fstat(sample, &info) == 0 && watch_nameless(list, &info.st_dev, 1, bytes);
}

uint64_t watch_tmpfs_used(int descriptor)
{
	struct statfs info;
	if (descriptor < 0 || fstatfs(descriptor, &info) < 0)
		return 0;
	return (uint64_t)(info.f_blocks - info.f_bfree) * (uint64_t)info.f_bsize;
}

/* Mapped shared memory and memory files partly are the same pages, and the kernel does not report
 * which. The larger of them is a lower bound, their sum an upper one. The growth of the machine's
 * shared memory is between the two unless other processes contribute to it. Without all files there
 * is no upper bound. */
static uint64_t shared_between(uint64_t mapped, uint64_t files, bool has_all, uint64_t growth)
{
	uint64_t low = mapped > files ? mapped : files, high = has_all ? mapped + files : UINT64_MAX;
	return growth < low ? low : growth > high ? high : growth;
}

struct candidate {
	pid_t pid;
	uint64_t bound;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	return left->bound > right->bound ? -1 : left->bound < right->bound;
}

/* Measures the largest processes first, until the time is up. The bounds of the rest are scaled by
 * the ratio found so far. */
static void measure_processes(const struct watch_list *list, uint64_t *private, uint64_t *mapped)
{
	struct candidate *candidates = malloc((list->count + 1) * sizeof *candidates);
	uint64_t measured_bound = 0, rest = 0;
	int64_t end = clock_ms() + BUDGET_MS;

	*private = *mapped = 0;
	if (!candidates) {
		*private = anonymous_bounds(list);
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		candidates[i] = (struct candidate){ list->pids[i], anonymous_bound(list, list->pids[i]) };
	qsort(candidates, list->count, sizeof *candidates, compare_candidates);
	for (size_t i = 0; i < list->count; i++) {
		if (clock_ms() < end) {
			add_rollup(list, candidates[i].pid, private, mapped);
			measured_bound += candidates[i].bound;
		} else {
			rest += candidates[i].bound;
		}
	}
	if (rest > 0 && measured_bound > 0 && *private < measured_bound)
		rest = (uint64_t)((double)rest * (double)*private / (double)measured_bound);
	*private += rest;
	free(candidates);
}

uint64_t watch_memory_measure(const struct watch *watch, const struct watch_list *list)
{
	uint64_t private, mapped, files, growth = watch_shared_memory();
	bool has_all;

	measure_processes(list, &private, &mapped);
	has_all = memory_files(list, &files);
	files += watch_tmpfs_used(watch->shm) + watch_tmpfs_used(watch->tmp) + watch_tmpfs_used(watch->home);
	growth = growth > watch->shared_before ? growth - watch->shared_before : 0;
	return private + shared_between(mapped, files, has_all, growth);
}

uint64_t watch_process_count(const struct watch_list *list)
{
	uint64_t threads = 0;
	for (size_t i = 0; i < list->count; i++) {
		char path[64];
		struct stat info;
		snprintf(path, sizeof path, "%d/task", (int)list->pids[i]);
		if (fstatat(list->proc, path, &info, 0) == 0 && info.st_nlink > 2)
			threads += info.st_nlink - 2;
	}
	return threads > 0 ? threads - 1 : 0; /* without init */
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/guard/lineage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"
#include "linux/syscalls.h"

enum {
	NR_PIDFD_GETFD = 438,
	PIDFD_OF_THREAD = O_EXCL, /* PIDFD_THREAD, 6.9 */
	SAME_FILE = 0, /* KCMP_FILE */
};
#define MARK_MAX (UINT64_C(1) << 62)

void lineage_begin(struct lineage *lineage)
{
	struct rlimit limit = { 0, 0 };
	memset(lineage, 0, sizeof *lineage);
	/* The command has inherited init's. */
	if (getrlimit(RLIMIT_LOCKS, &limit) < 0)
		lineage->is_lost = true;
	lineage->plain = limit.rlim_max;
	lineage->next = lineage->plain > MARK_MAX ? MARK_MAX : lineage->plain;
}

/* Reads the mark of a task's process. */
static bool read_mark(pid_t task, uint64_t *mark)
{
	struct rlimit limit;
	if (prlimit(task, RLIMIT_LOCKS, NULL, &limit) < 0)
		return false;
	*mark = limit.rlim_max;
	return true;
}

static struct lineage_layer *layer_of(struct lineage *lineage, uint64_t mark)
{
	for (size_t i = 0; i < LINEAGE_LAYERS; i++)
		if (lineage->layers[i].mark == mark)
			return &lineage->layers[i];
	return NULL;
}

bool lineage_find(struct lineage *lineage, pid_t caller, struct performer **performer)
{
	struct lineage_layer *layer;
	uint64_t mark;
	*performer = NULL;
	if (!lineage->is_marked)
		return true;
	if (lineage->is_lost || !read_mark(caller, &mark) || mark == 0)
		return false;
	if (mark == lineage->plain)
		return true;
	layer = layer_of(lineage, mark);
	*performer = layer ? &layer->performer : NULL;
	return layer;
}

/* Ends the layers that no process has any more. A process that is started meanwhile and missing in
 * the list has a mark that is not known then, and is not served. */
static void collect(struct lineage *lineage)
{
	autoclosedir DIR *processes = opendir("/proc");
	bool used[LINEAGE_LAYERS] = { false };
	const struct dirent *entry;
	while (processes && (entry = readdir(processes))) {
		uint64_t number, mark;
		const struct lineage_layer *layer = NULL;
		if (text_parse_u64(entry->d_name, INT_MAX, &number) && read_mark((pid_t)number, &mark) && mark > 0)
			layer = layer_of(lineage, mark);
		if (layer)
			used[layer - lineage->layers] = true;
	}
	for (size_t i = 0; processes && i < LINEAGE_LAYERS; i++)
		if (lineage->layers[i].mark && !used[i]) {
			performer_end(&lineage->layers[i].performer);
			lineage->layers[i].mark = 0;
		}
}

void lineage_end(struct lineage *lineage)
{
	for (size_t i = 0; i < LINEAGE_LAYERS; i++)
		if (lineage->layers[i].mark) {
			performer_end(&lineage->layers[i].performer);
			lineage->layers[i].mark = 0;
		}
}

/* Returns the caller's fd. Before 6.9 only that of a process's first thread can be had: another
 * thread may have its own fds. */
static int take_ruleset(pid_t caller, int ruleset)
{
	autoclose int task = (int)syscall(NR_PIDFD_OPEN, caller, PIDFD_OF_THREAD);
	if (task < 0)
		task = (int)syscall(NR_PIDFD_OPEN, caller, 0);
	return task < 0 ? -1 : (int)syscall(NR_PIDFD_GETFD, task, ruleset, 0);
}

/* True if the caller is restricted by this very ruleset already: some programs restrict themselves
 * thread by thread. Rules that were added since widen what the layer does not have. */
static bool has_ruleset(const struct performer *performer, int ruleset)
{
	pid_t self = getpid();
	return performer && syscall(SYS_kcmp, self, self, SAME_FILE, performer->ruleset, ruleset) == 0;
}

/* Starts a layer below the performer's, whose mark is 0 until the caller has one. Takes the
 * ruleset. */
static struct lineage_layer *add_layer(struct lineage *lineage, struct performer *above, int ruleset)
{
	struct lineage_layer *layer = layer_of(lineage, 0);
	if (!layer) {
		close(ruleset);
		return NULL;
	}
	return performer_start(&layer->performer, above, ruleset) ? layer : NULL;
}

/* Gives the caller a new mark, which is that of the layer; NULL: of none. */
static void mark(struct lineage *lineage, pid_t caller, struct lineage_layer *layer)
{
	struct rlimit limit;
	lineage->is_marked = true;
	if (lineage->next <= 1) {
		lineage->is_lost = true;
	} else {
		lineage->next--;
		limit = (struct rlimit){ lineage->next, lineage->next };
		if (prlimit(caller, RLIMIT_LOCKS, &limit, NULL) < 0)
			lineage->is_lost |= errno != ESRCH;
	}
	if (layer)
		layer->mark = lineage->next;
}

void lineage_restrict(struct lineage *lineage, pid_t caller, int ruleset)
{
	struct lineage_layer *layer = NULL;
	struct performer *above;
	int copy;
	if (ruleset == -1)
		return; /* changes only the log */
	collect(lineage);
	copy = lineage_find(lineage, caller, &above) ? take_ruleset(caller, ruleset) : -1;
	if (copy >= 0 && has_ruleset(above, copy)) {
		close(copy);
		return;
	}
	if (copy >= 0)
		layer = add_layer(lineage, above, copy);
	mark(lineage, caller, layer);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Markers of runs whose project was not swept yet: <state>/runs/<project key>.<n>, one file per
 * concurrent run, locked while the run lives. The kernel drops the lock of a launcher that is
 * killed: a marker that is set and not locked belongs to a run that never finished. The file keeps
 * the run's baseline, and is written only if the baseline differs from the last one. */
#ifndef BERM_COMMON_STATE_UNFINISHED_H
#define BERM_COMMON_STATE_UNFINISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "common/base/arena.h"
#include "common/base/error.h"

enum { UNFINISHED_MAX = 64 }; /* concurrent runs of one project that have markers */

struct unfinished_slot {
	int fd; /* locked; -1: none */
	/* The baseline that is stored; NULL: none, or damaged. */
	char *bytes;
	size_t length;
	bool is_set; /* the marker */
	bool is_valid; /* the file has a complete baseline */
};

struct unfinished {
	struct unfinished_slot own;
	struct unfinished_slot left[UNFINISHED_MAX]; /* of runs that never finished */
	size_t left_count;
	size_t live; /* other runs of the project */
};

/* Takes a marker for this run, not yet set, and lists what other runs left. -1 with err if the
 * state directory cannot be used. unfinished_close releases everything. */
int unfinished_take(struct arena *arena, const char *state_directory, const char *project_key, struct unfinished *markers,
		    struct error *err);
/* Sets a marker with this baseline. -1 with errno. */
int unfinished_set(struct unfinished_slot *slot, const char *bytes, size_t length);
/* Clears a marker: its project was swept. -1 with errno. */
int unfinished_clear(struct unfinished_slot *slot);
/* Counts the other runs of the project that live now, and takes what those left that ended
 * since. */
int unfinished_look(struct arena *arena, const char *state_directory, const char *project_key, struct unfinished *markers,
		    struct error *err);
void unfinished_close(struct unfinished *markers);

/* Runs without the guard can make any name. They hold a lock on <state>/runs/<project key>.loose
 * and touch it when they begin and end, so that a guarded run can detect them. Returns an fd
 * that unfinished_loose_end closes, or -1. */
int unfinished_loose_begin(struct arena *arena, const char *state_directory, const char *project_key);
void unfinished_loose_end(int fd);
/* True if a run without the guard lives, or has lived since that time; also in doubt. */
bool unfinished_had_loose(struct arena *arena, const char *state_directory, const char *project_key,
			  const struct timespec *since);

#endif

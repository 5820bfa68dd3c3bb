/* SPDX-License-Identifier: Apache-2.0 */
/* Masks and locks that the host's renames took off are put back; protected names that appear are
 * moved to quarantine. Reports how long each was exposed.
 *
 * Theory of operation. A mount point cannot be renamed, replaced or removed inside (EBUSY), but the
 * host can do all of that: the kernel then detaches the mount in every namespace. A process of
 * berm, the watcher, enters the view's user and mount namespaces from outside, watches directories
 * with inotify and mounts what was lost. It is in the host's pid namespace, so the command neither
 * sees nor signals it. It never follows a symlink. It opens files with
 * O_PATH only, but for those that are readable because of their content, which it reads when they
 * change.
 *
 * The supervisor forks the watcher when the command has run for START_MS: a shorter command pays
 * one open(2). The watcher first checks every mask and lock, so that nothing is missed in that
 * time. It watches the directories that contain one, and after WIDE_MS all that the scan searched.
 * The inotify fd belongs to the watcher because its close() waits 14-24 ms for an RCU grace period:
 * killed and not waited for, the watcher spends that time alone.
 *
 * Fails closed: if the watcher cannot start, ends, or cannot put a mask back, the run ends. */
#ifndef BERM_LINUX_REPAIR_REPAIR_H
#define BERM_LINUX_REPAIR_REPAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/backend.h"
#include "common/plan/plan.h"

struct repair {
	const struct plan *plan;
	int view; /* fd of the view's mount namespace; -1: none */
	int number; /* errno if it could not be opened */
	int64_t begin; /* real time in nanoseconds: before the scan */
	int64_t next; /* monotonic milliseconds: when the watcher starts; 0: it has, or never will */
	pid_t pid; /* of the watcher; 0: none */
	int socket; /* to the watcher; -1: none */
	/* The run is a session with the guard: no command makes a protected name, so every new one
	 * is the host's. The watcher starts at once. */
	bool is_session;
	uint64_t synced; /* the last number of repair_sync that the watcher has answered */
	struct repair_report *report;
	struct error ended; /* why the run must end */
	struct error note; /* why nothing is repaired in this run, if the user accepts that */
};

/* Called before the scan. Without a call of repair_prepare nothing is repaired. */
void repair_begin(struct repair *repair);
/* True if the plan asks for repair and its tier can have it. */
bool repair_is_wanted(const struct plan *plan);
/* Called by the launcher while init still waits for its run files: later init is not dumpable and
 * its namespaces cannot be opened. */
void repair_prepare(struct repair *repair, const struct plan *plan, pid_t init, int pidfd);
/* Starts the watcher if it is time and the command is running. True if the run must end. */
bool repair_turn(struct repair *repair, bool is_running, int64_t now);
/* Handles the watcher's reports. True if the run must end: repair->ended has the reason. */
bool repair_receive(struct repair *repair);
/* Of a session: asks the watcher to hide or lock a path that a scan has found. False if it cannot
 * be asked. */
bool repair_cover(const struct repair *repair, const char *path, bool is_mask);
/* Asks it to check every mask and lock afterwards; numbers count up from 1. repair_synced returns
 * the last number for which it has done so. A cover that cannot be made ends the run. */
bool repair_sync(const struct repair *repair, uint64_t number);
uint64_t repair_synced(const struct repair *repair);
/* Ends the watcher, without waiting for it, and fills result->repaired. */
void repair_finish(struct repair *repair, struct run_result *result);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The control group (version 2) of one run: the kernel limits memory and processes in total.
 *
 * Theory of operation. The group is created below a base: the nearest group around berm that this
 * user may write and whose children have the wanted controllers. systemd and container runtimes
 * call such a base delegated. The group has two levels. The outer one carries the limits and holds
 * no process. Init starts in the inner one by CLONE_INTO_CGROUP, because moving a process later
 * costs milliseconds. The controllers are not enabled in the inner group: it is the root of nested
 * cgroup namespaces, which thus find no limit to raise.
 *
 * Without such a base systemd may create one (systemd_scope.h), which is adopted after a check that
 * it is as requested. A keeper, an idle process of berm, stays in it: systemd removes a group with
 * its counters as soon as it is empty.
 *
 * Each run has a new group: a child that starts in a group that was ever killed is killed too (seen
 * on 6.1 to 7.1). The name identifies its launcher; the next launcher removes what a killed one
 * left behind. */
#ifndef BERM_LINUX_LIMITS_CGROUP_H
#define BERM_LINUX_LIMITS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/error.h"

enum cgroup_controller { CGROUP_MEMORY = 1, CGROUP_PIDS = 2, CGROUP_CPU = 4 };

/* A directory in which groups can be created. */
struct cgroup_base {
	int fd; /* -1: none */
	unsigned controllers; /* enum cgroup_controller: those that children have */
};

/* 0: no limit */
struct cgroup_limits {
	uint64_t memory, processes, cpus;
};

/* mkdir and rmdir, replaceable by tests: the kernel creates and removes a group's files with it. */
struct cgroup_calls {
	int (*make)(int parent, const char *name);
	int (*remove)(int parent, const char *name);
};
extern const struct cgroup_calls cgroup_kernel;

enum {
	CGROUP_NAME_MAX = 80,
	/* Memory of a scope above the limit, for its keeper. The group below has exactly the limit,
	 * so it is always full first, and the kernel kills only there. */
	CGROUP_KEEPER_BYTES = 16 << 20,
};
struct cgroup {
	const struct cgroup_calls *calls;
	int base, outer, inner; /* -1: none */
	char name[CGROUP_NAME_MAX];
	pid_t keeper; /* of an adopted base; a child of this process; 0: none */
};

struct cgroup_events {
	uint64_t killed_for_memory; /* processes */
	uint64_t refused_processes; /* forks */
	uint64_t memory_peak; /* bytes; 0: unknown */
	bool is_lost; /* the group was removed before its counters could be read */
};

/* Finds the nearest base around the calling process that has all wanted controllers. The caller
 * closes its fd. Only reads. */
bool cgroup_find(unsigned wanted, struct cgroup_base *base);
/* The same in a hierarchy at `root`, for a process in the group `own` ("/user.slice/..."). */
bool cgroup_find_in(const char *root, const char *own, unsigned wanted, struct cgroup_base *base);

/* Creates the group with its limits. Takes the base's descriptor in any case. -1: nothing is left
 * of it. */
int cgroup_make(struct cgroup_base *base, const struct cgroup_limits *limits, const struct cgroup_calls *calls,
		struct cgroup *group, struct error *err);
/* Checks that the process and the keeper are alone in a group called `name` with these limits plus
 * room for the keeper. Takes it as the base and moves the process into a new group with exactly the
 * limits. -1 with the reason in err; the keeper keeps running. */
int cgroup_adopt(pid_t pid, pid_t keeper, const char *name, const struct cgroup_limits *limits, struct cgroup *group,
		 struct error *err);
/* The same in a hierarchy at `root`, for a process in the group `path`. */
int cgroup_adopt_in(const char *root, const char *path, pid_t pid, pid_t keeper, const char *name,
		    const struct cgroup_limits *limits, const struct cgroup_calls *calls, struct cgroup *group,
		    struct error *err);
/* Reads the counters, kills remaining processes, and removes the group. Does nothing without a
 * group. */
void cgroup_end(struct cgroup *group, struct cgroup_events *events);
/* Kills and reaps the keeper, if there is one. cgroup_end calls it. */
void cgroup_end_keeper(struct cgroup *group);
/* Removes the groups of launchers that no longer run. */
void cgroup_remove_abandoned(int base, const struct cgroup_calls *calls);

#endif

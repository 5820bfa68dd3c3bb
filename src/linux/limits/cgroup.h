/* SPDX-License-Identifier: Apache-2.0 */
/* A control group (version 2) of one run: memory and processes bounded in total, by the kernel.
 *
 * Theory of operation. The group is made below the nearest group around berm that this user may write and whose children have the
 * controllers that are wanted: what systemd and container runtimes call delegated. It has two levels. The outer one carries the
 * limits and holds no process; the inner one is where init is born (CLONE_INTO_CGROUP: moving a process later costs milliseconds).
 * The controllers are not handed on to the inner one, so that nested namespaces, whose root it is, find no limit there to raise.
 *
 * Where no such base is, systemd may make one (scope.h), which is adopted once it is seen to be what was asked for. A keeper, a
 * process of berm's that does nothing, stays in it: systemd removes a group as soon as it is empty, and what it counted with it.
 *
 * Each run has a new group: a child that is born into a group that was ever killed is killed too (seen on 6.1 to 7.1). The name
 * tells whose it is; what a launcher that was killed left behind is removed by the next one. */
#ifndef BERM_LINUX_LIMITS_CGROUP_H
#define BERM_LINUX_LIMITS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/error.h"

enum cgroup_controller { CGROUP_MEMORY = 1, CGROUP_PIDS = 2, CGROUP_CPU = 4 };

/* Where groups can be made. */
struct cgroup_base {
	int fd; /* -1: nowhere */
	unsigned controllers; /* enum cgroup_controller: what children have */
};

/* 0: no limit */
struct cgroup_limits {
	uint64_t memory, processes, cpus;
};

/* The calls that a directory of the kernel answers in its own way: new groups come with files in them, and go with them. */
struct cgroup_calls {
	int (*make)(int parent, const char *name);
	int (*remove)(int parent, const char *name);
};
extern const struct cgroup_calls cgroup_kernel;

enum {
	CGROUP_NAME_MAX = 80,
	/* What a scope has above the limit, for its keeper: the group below, which has exactly the limit, is then always the first
	 * that is full, and the kernel looks for somebody to kill only there. */
	CGROUP_KEEPER_BYTES = 16 << 20,
};
struct cgroup {
	const struct cgroup_calls *calls;
	int base, outer, inner; /* -1: there is none */
	char name[CGROUP_NAME_MAX];
	pid_t keeper; /* of an adopted base, a child of this process; 0: none */
};

struct cgroup_events {
	uint64_t killed_for_memory; /* processes */
	uint64_t refused_processes; /* forks */
	uint64_t memory_peak; /* bytes; 0: not known */
	bool is_lost; /* somebody else removed the group before it could be asked */
};

/* The nearest base around the calling process with all that is wanted; false if there is none. Reads only. */
bool cgroup_find(unsigned wanted, struct cgroup_base *base);
/* The same in a hierarchy at `root`, for a process whose group is `own` ("/user.slice/..."). */
bool cgroup_find_in(const char *root, const char *own, unsigned wanted, struct cgroup_base *base);

/* Makes the group and writes its limits; takes the base's descriptor, whatever the outcome. -1: nothing is left of it. */
int cgroup_make(struct cgroup_base *base, const struct cgroup_limits *limits, const struct cgroup_calls *calls,
		struct cgroup *group, struct error *err);
/* The process and the keeper are alone in a group called `name` that has these limits, with room for the keeper: takes that for the
 * base, and moves the process on into a new group with exactly the limits. -1: it is none of this, and err says what is missing; the
 * keeper is still there. */
int cgroup_adopt(pid_t pid, pid_t keeper, const char *name, const struct cgroup_limits *limits, struct cgroup *group,
		 struct error *err);
/* The same in a hierarchy at `root`, for a process that is in the group `path`, as others see it now. */
int cgroup_adopt_in(const char *root, const char *path, pid_t pid, pid_t keeper, const char *name,
		    const struct cgroup_limits *limits, const struct cgroup_calls *calls, struct cgroup *group,
		    struct error *err);
/* When all inside are dead or have to be: what happened, and the group goes. A group that is not there is fine. */
void cgroup_end(struct cgroup *group, struct cgroup_events *events);
/* Ends the keeper, if there is one. cgroup_end does. */
void cgroup_end_keeper(struct cgroup *group);
/* Removes groups of berms that are no more. */
void cgroup_sweep(int base, const struct cgroup_calls *calls);

#endif

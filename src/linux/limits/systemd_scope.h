/* SPDX-License-Identifier: Apache-2.0 */
/* A transient scope of systemd: the control group of a run where berm may make none itself.
 *
 * Theory of operation. The user's manager is asked over the user's bus (root: the system's over its own) to put init, which waits
 * and has done nothing yet, into a new scope with the limits. Nothing that it answers is believed: the group in which the kernel says
 * init is now, and the limits that the kernel reads there, decide (cgroup_adopt). The scope is delegated, so the rest is as everywhere:
 * berm makes a group in it, with exactly the limits, and init goes on into that. systemd removes the scope when it is empty, also
 * after a launcher that was killed.
 *
 * A process of its own does the talking (scope_bus.c, dbus_wire.c) and is killed if it takes too long: no bus can hold the launcher up.
 * It is in the scope too and stays there as its keeper, with all it had open closed. */
#ifndef BERM_LINUX_LIMITS_SYSTEMD_SCOPE_H
#define BERM_LINUX_LIMITS_SYSTEMD_SCOPE_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/base/error.h"
#include "linux/limits/cgroup.h"

enum { SCOPE_SOCKET_MAX = 108 }; /* sockaddr_un's */

/* Is there a bus, this user's own? Asks nobody. */
bool scope_can_ask(uid_t uid);
/* Asks, for at most two seconds, and looks. -1: the process is not held by a scope. */
int scope_make(pid_t pid, uid_t uid, const struct cgroup_limits *limits, struct cgroup *group, struct error *err);

/* scope_bus.c, in the process that does the talking: 0 if the manager says that it is done. */
struct scope_request {
	char socket[SCOPE_SOCKET_MAX];
	uid_t uid; /* whose the bus has to be */
	pid_t pid, keeper; /* init, and who asks */
	char name[CGROUP_NAME_MAX];
	struct cgroup_limits limits;
};
int scope_bus_ask(const struct scope_request *request, struct error *err);

#endif

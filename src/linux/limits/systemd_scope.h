/* SPDX-License-Identifier: Apache-2.0 */
/* A transient systemd scope: the control group of a run if berm may not create one itself.
 *
 * Theory of operation. berm asks the user's manager over the user's bus (root: the system's manager
 * over the system bus) to put init into a new scope with the limits. Init waits meanwhile and has
 * done nothing yet. Replies are not trusted: the kernel's own record of init's group and of the
 * limits there decides (cgroup_adopt). The scope is delegated, so berm creates a group in it with
 * exactly the limits and moves init there. systemd removes the scope when it is empty, also if the
 * launcher was killed.
 *
 * A child process talks to D-Bus (systemd_bus.c, dbus.c) and is killed after a timeout: no bus can
 * block the launcher. The child is in the scope too and stays there as its keeper, with all
 * descriptors closed. */
#ifndef BERM_LINUX_LIMITS_SYSTEMD_SCOPE_H
#define BERM_LINUX_LIMITS_SYSTEMD_SCOPE_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/base/error.h"
#include "linux/limits/cgroup.h"

/* True if this user has a bus. Does not connect to it. */
bool systemd_scope_can_ask(uid_t uid);
/* Asks systemd for at most two seconds, and checks the result. On success `group` holds the process
 * and cgroup_end removes it. -1: no scope holds the process. */
int systemd_scope_make(pid_t pid, uid_t uid, const struct cgroup_limits *limits, struct cgroup *group, struct error *err);

#endif

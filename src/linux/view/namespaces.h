/* SPDX-License-Identifier: Apache-2.0 */
/* The new namespaces: their creation, and what must be set in them before anything else. */
#ifndef BERM_LINUX_VIEW_NAMESPACES_H
#define BERM_LINUX_VIEW_NAMESPACES_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/base/error.h"

struct namespaces_options {
	bool has_host_network; /* network: all shares the host's */
	bool has_group; /* the child is born into a control group of its own */
	bool has_scope; /* it is moved into one before namespaces_settle, perhaps */
	int group; /* its directory, with has_group */
};

/* Like fork, into new user, mount, pid, ipc, uts and cgroup namespaces. The parent gets the pid and a pidfd, the child 0. -1 with err. */
pid_t namespaces_fork(const struct namespaces_options *options, int *pidfd, struct error *err);
/* In the child: maps this uid and gid to themselves, and makes (unless the host's is shared) a network namespace whose loopback device is up. */
int namespaces_settle(const struct namespaces_options *options, uid_t uid, gid_t gid, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the namespaces of one run and initialises them. */
#ifndef BERM_LINUX_VIEW_NAMESPACES_H
#define BERM_LINUX_VIEW_NAMESPACES_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/base/error.h"

struct namespaces_options {
	bool has_host_network; /* `network: all` shares the host's network namespace */
	bool has_group; /* the child starts in a control group made for it */
	bool has_scope; /* systemd may move it into one before namespaces_settle */
	int group; /* the group's directory, with has_group */
};

/* Forks into new user, mount, pid, ipc, uts and cgroup namespaces. Returns the pid and a pidfd,
 * which the caller closes, to the parent, and 0 to the child. -1 with err. */
pid_t namespaces_fork(const struct namespaces_options *options, int *pidfd, struct error *err);
/* In the child: maps this uid and gid to themselves. Unless the host's network is shared, creates a
 * network namespace and brings its loopback device up. */
int namespaces_settle(const struct namespaces_options *options, uid_t uid, gid_t gid, struct error *err);

#endif

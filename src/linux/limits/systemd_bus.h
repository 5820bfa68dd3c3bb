/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of systemd_scope.c and systemd_bus.c. */
#ifndef BERM_LINUX_LIMITS_SYSTEMD_BUS_H
#define BERM_LINUX_LIMITS_SYSTEMD_BUS_H

#include <sys/types.h>

#include "common/base/error.h"
#include "linux/limits/cgroup.h"

enum { SCOPE_SOCKET_MAX = 108 }; /* size of sun_path */

struct systemd_scope_request {
	char socket[SCOPE_SOCKET_MAX];
	uid_t uid; /* must own the bus */
	pid_t pid, keeper; /* init, and the process that asks */
	char name[CGROUP_NAME_MAX];
	struct cgroup_limits limits;
};
/* Called in the child process. Returns 0 if the manager reports success, which must not be
 * trusted. */
int systemd_bus_ask(const struct systemd_scope_request *request, struct error *err);

#endif

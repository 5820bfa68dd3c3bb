/* SPDX-License-Identifier: Apache-2.0 */
/* The way out of the sandbox's network namespace, where the policy names one. The proxy is a process of its own, outside: the launcher
 * never reads a byte that the command wrote. A socket belongs to the namespace it was made in, so init makes the listening sockets
 * inside and passes them out; what connects to them inside arrives at the proxy, which connects in the host's namespace. For
 * published ports a second process listens outside and connects inside. Both are confined, and die with the launcher. */
#ifndef BERM_LINUX_EGRESS_EGRESS_H
#define BERM_LINUX_EGRESS_EGRESS_H

#include <sys/types.h>

#include "common/proxy/refusals.h"
#include "common/plan/plan.h"
#include "common/proxy/proxy.h"

/* One helper process, from the launcher's side. */
struct egress_helper {
	pid_t pid; /* 0: not needed */
	int control; /* to the helper: closed at the end, and its reports come back */
	int inside; /* init's end of the way to the helper; -1 once init has it alone */
};

struct egress {
	struct egress_helper proxy, publisher;
	char secret[PROXY_SECRET_MAX + 1];
};

/* Does this plan need any of it? Nothing below is called otherwise. */
bool egress_is_needed(const struct plan *plan);
/* Starts the helpers and waits until they have locked themselves in. -1 with err; nothing is left running then. */
int egress_start(const struct plan *plan, struct egress *egress, struct error *err);
/* In init, in the new network namespace and before powers are dropped. */
int egress_enter(const struct plan *plan, struct egress *egress, struct error *err);
/* In the launcher, after init was made. */
void egress_leave_inside(struct egress *egress);
/* When the run is over: takes the reports, ends the helpers. *note is set if one of them had died before. */
void egress_finish(struct egress *egress, struct egress_reports *reports, struct error *note);

/* egress_helper.c: the life of a helper. Never return. */
struct egress_role {
	const struct plan *plan;
	const char *secret; /* NULL: the publisher */
	int control, inside;
	struct proxy_listener *listeners; /* the publisher's; the proxy gets its own from init */
	size_t listener_count;
};
_Noreturn void egress_helper_main(const struct egress_role *role);

/* Which ports init listens on, v4 and v6 each: the proxy's two first (if any destination is allowed), then network.local. Returns how
 * many, -1 with err if there are too many. */
enum { EGRESS_PORT_MAX = 64 };
struct egress_port {
	uint16_t port;
	uint16_t relay_port; /* 0: the proxy */
	bool is_open; /* as in struct proxy_listener */
};
int egress_ports(const struct plan *plan, struct egress_port ports[EGRESS_PORT_MAX], struct error *err);

/* egress_filter.c: what a helper's system calls may be. */
int egress_filter_load(bool has_files, struct error *err);

#endif

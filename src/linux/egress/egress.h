/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and confines the proxy and the publisher, the only processes that carry network traffic in
 * or out of a sandbox. The launcher itself never reads a byte that the command wrote.
 *
 * A socket belongs to the network namespace it was created in. So init creates the listening
 * sockets inside and passes them to the proxy, which connects in the host's namespace. For
 * published ports the publisher listens outside and connects inside. Both helpers end with the
 * launcher. */
#ifndef BERM_LINUX_EGRESS_EGRESS_H
#define BERM_LINUX_EGRESS_EGRESS_H

#include <sys/types.h>

#include "common/proxy/refusals.h"
#include "common/plan/plan.h"
#include "common/proxy/proxy.h"

/* One helper process as the launcher sees it. */
struct egress_helper {
	pid_t pid; /* 0: not needed */
	int control; /* fd: tells the helper to stop, and receives its reports */
	int inside; /* init's socket to the helper; -1 once only init has it */
};

/* A port of the command, as this run publishes it. */
struct egress_published {
	const struct plan_publish *rule;
	uint16_t host_port; /* that was taken; 0: another run of the project has it */
	int claim; /* fd of state_claim_port, or negative */
};

struct egress {
	struct egress_helper proxy, publisher;
	struct egress_published_ports {
		struct egress_published *items;
		size_t count;
	} published;
	char secret[PROXY_SECRET_MAX + 1];
};

/* True if the plan needs a helper. Otherwise none of the functions below is called. */
bool egress_is_needed(const struct plan *plan);
enum { EGRESS_PORT_MAX = 64 };
struct egress_port {
	uint16_t port;
	uint16_t relay_port; /* 0: the proxy */
	bool is_open; /* as in struct proxy_listener */
};
/* Lists the ports that init listens on, IPv4 and IPv6 each: the proxy's two first if any
 * destination is allowed, then network.local. Returns their number, -1 with err if there are too
 * many. */
int egress_ports(const struct plan *plan, struct egress_port ports[EGRESS_PORT_MAX], struct error *err);

/* Starts the helpers. After a failure none is running. egress_enter waits until they are
 * confined. */
int egress_start(const struct plan *plan, struct egress *egress, struct error *err);
/* Returns a sentence about the index-th published port, in the plan's arena; NULL if there is
 * nothing to say about it, or no such port (then *is_last is set). */
const char *egress_notice(const struct plan *plan, const struct egress *egress, size_t index, bool *is_last);
/* Called by init in the new network namespace, before it drops capabilities. Passes sockets or
 * namespaces to the helpers and waits until each is confined. */
int egress_enter(const struct plan *plan, struct egress *egress, struct error *err);
/* Called by the launcher after it has forked init: closes init's sockets. */
void egress_leave_inside(struct egress *egress);
/* Called at the end of a run: receives the reports and ends the helpers. Sets *note if a helper had
 * exited before. */
void egress_finish(struct egress *egress, struct refusals *reports, struct error *note);

#endif

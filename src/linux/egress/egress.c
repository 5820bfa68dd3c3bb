/* SPDX-License-Identifier: Apache-2.0 */
/* The part of launcher and init. The launcher starts the helpers and receives a table of fixed size
 * from them at the end. Init creates the sockets and waits until each helper reports that it is
 * confined. If a helper cannot confine itself, the run is refused. */
#include "linux/egress/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/proxy/control.h"
#include "common/proxy/socket.h"
#include "linux/fd_passing.h"

enum {
	BACKLOG = 128,
	READY_S = 10, /* timeout for a helper to confine itself */
};

_Static_assert(2 * (int)EGRESS_PORT_MAX <= (int)PROXY_LISTENER_MAX && (int)PROXY_LISTENER_MAX <= (int)FD_PASSING_MAX,
	       "all listeners must fit into one packet");

static const struct address loopback_v4 = { .bytes = { 127, 0, 0, 1 } };
static const struct address loopback_v6 = { .is_v6 = true, .bytes = { [15] = 1 } };

bool egress_is_needed(const struct plan *plan)
{
	return plan->network.mode == NETWORK_ALLOW &&
	       plan->network.allow.count + plan->network.local.count + plan->network.publish.count > 0;
}

static bool needs_proxy(const struct plan *plan)
{
	return plan->network.allow.count + plan->network.local.count > 0;
}

int egress_ports(const struct plan *plan, struct egress_port ports[EGRESS_PORT_MAX], struct error *err)
{
	int count = 0;

	if (plan->network.allow.count > 0) {
		uint16_t port = plan_proxy_port(plan);
		ports[count++] = (struct egress_port){ .port = port };
		ports[count++] = (struct egress_port){ .port = (uint16_t)(port + 1), .is_open = true };
	}
	for (size_t i = 0; i < plan->network.local.count; i++) {
		const struct plan_port *range = &plan->network.local.items[i];
		for (unsigned port = range->low; port <= range->high; port++) {
			bool is_known = false;
			/* network.deny takes precedence over network.local. */
			if (!plan_check_connect(plan, "localhost", (uint16_t)port).is_allowed)
				continue;
			for (int j = 0; j < count; j++)
				is_known = is_known || ports[j].port == port;
			if (is_known)
				continue;
			if (count == EGRESS_PORT_MAX) {
				error_set(err, "network.local names more ports than %d", EGRESS_PORT_MAX - 2);
				return -1;
			}
			ports[count++] = (struct egress_port){ .port = (uint16_t)port, .relay_port = (uint16_t)port };
		}
	}
	return count;
}

static int pair(int type, int ends[2], struct error *err)
{
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, errno, "cannot make a socket pair");
	return 0;
}

static int start_helper(struct egress_role *role, struct egress_helper *helper, struct error *err)
{
	autoclose int control = -1, inside = -1;
	int ends[2];

	if (pair(SOCK_STREAM, ends, err) < 0)
		return -1;
	helper->control = ends[0];
	control = ends[1];
	if (pair(SOCK_SEQPACKET, ends, err) < 0)
		return -1;
	helper->inside = ends[0];
	inside = ends[1];
	role->control = control;
	role->inside = inside;
	helper->pid = fork();
	if (helper->pid == 0)
		egress_helper_main(role);
	if (helper->pid < 0) {
		helper->pid = 0;
		return error_errno(err, errno, "cannot start the proxy");
	}
	return 0;
}

static void end_helper(struct egress_helper *helper)
{
	if (helper->control >= 0)
		close(helper->control);
	if (helper->inside >= 0)
		close(helper->inside);
	child_end(helper->pid);
	*helper = (struct egress_helper){ .control = -1, .inside = -1 };
}

static int start_publisher(const struct plan *plan, struct egress *egress, struct error *err)
{
	struct proxy_listener listeners[PROXY_LISTENER_MAX];
	struct egress_role role = { .plan = plan, .listeners = listeners };
	int status = egress_publish(plan, egress, listeners, &role.listener_count, err);

	/* None is left if other runs of the project have them all. */
	if (status == 0 && role.listener_count > 0)
		status = start_helper(&role, &egress->publisher, err);
	for (size_t i = 0; i < role.listener_count; i++)
		close(listeners[i].fd);
	return status;
}

int egress_start(const struct plan *plan, struct egress *egress, struct error *err)
{
	struct egress_role role = { .plan = plan, .secret = egress->secret };

	egress->proxy = egress->publisher = (struct egress_helper){ .control = -1, .inside = -1 };
	if ((!needs_proxy(plan) || start_helper(&role, &egress->proxy, err) == 0) && start_publisher(plan, egress, err) == 0)
		return 0;
	end_helper(&egress->proxy);
	end_helper(&egress->publisher);
	egress_end_claims(egress);
	return -1;
}

/* Sends fds to the helper and receives its result: an error, which is empty on success. */
static int hand_over(int socket, void *bytes, size_t size, const int *fds, size_t count, struct error *err)
{
	struct timeval limit = { .tv_sec = READY_S };
	struct error answer = { 0 };
	ssize_t received;

	if (setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ||
	    fd_passing_send(socket, bytes, size, fds, count) < 0)
		return error_errno(err, errno, "cannot reach the proxy");
	do
		received = recv(socket, &answer, sizeof answer, 0);
	while (received < 0 && errno == EINTR);
	if (received != (ssize_t)sizeof answer)
		return error_set(err, "the proxy did not start");
	if (!error_is_set(&answer))
		return 0;
	*err = answer;
	return -1;
}

/* A kernel without IPv6 has no ::1 to listen on. */
static bool is_v6_absent(int number)
{
	return number == EAFNOSUPPORT || number == EADDRNOTAVAIL;
}

static int listen_inside(const struct egress_port *ports, int count, struct proxy_listener *listeners, size_t *listener_count,
			 struct error *err)
{
	for (int i = 0; i < count; i++) {
		for (int v6 = 0; v6 < 2; v6++) {
			int fd = socket_listen(v6 ? &loopback_v6 : &loopback_v4, ports[i].port, BACKLOG);
			if (fd < 0 && v6 && is_v6_absent(errno))
				continue;
			if (fd < 0)
				return error_errno(err, errno, "cannot listen on port %u inside", ports[i].port);
			listeners[(*listener_count)++] = (struct proxy_listener){ .fd = fd,
										  .relay_port = ports[i].relay_port,
										  .is_open = ports[i].is_open };
		}
	}
	return 0;
}

static int enter_proxy(const struct plan *plan, int socket, struct error *err)
{
	struct egress_port ports[EGRESS_PORT_MAX];
	struct proxy_listener listeners[2 * EGRESS_PORT_MAX];
	int fds[2 * EGRESS_PORT_MAX];
	size_t listener_count = 0;
	int count = egress_ports(plan, ports, err), status;

	if (count < 0)
		return -1;
	status = listen_inside(ports, count, listeners, &listener_count, err);
	for (size_t i = 0; i < listener_count; i++)
		fds[i] = listeners[i].fd;
	if (status == 0)
		status = hand_over(socket, listeners, listener_count * sizeof *listeners, fds, listener_count, err);
	for (size_t i = 0; i < listener_count; i++)
		close(listeners[i].fd);
	return status;
}

static int enter_publisher(int socket, struct error *err)
{
	autoclose int user = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	autoclose int net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	char byte = 'n';

	if (user < 0 || net < 0)
		return error_errno(err, errno, "cannot open the sandbox's namespaces");
	return hand_over(socket, &byte, 1, (const int[]){ user, net }, 2, err);
}

static void close_inside(struct egress_helper *helper)
{
	if (helper->inside >= 0)
		close(helper->inside);
	helper->inside = -1;
}

int egress_enter(const struct plan *plan, struct egress *egress, struct error *err)
{
	if (egress->proxy.pid > 0 && enter_proxy(plan, egress->proxy.inside, err) < 0)
		return -1;
	if (egress->publisher.pid > 0 && enter_publisher(egress->publisher.inside, err) < 0)
		return -1;
	close_inside(&egress->proxy);
	close_inside(&egress->publisher);
	/* Closes the launcher's ends in init. */
	if (egress->proxy.control >= 0)
		close(egress->proxy.control);
	if (egress->publisher.control >= 0)
		close(egress->publisher.control);
	egress_end_claims(egress);
	return 0;
}

void egress_leave_inside(struct egress *egress)
{
	close_inside(&egress->proxy);
	close_inside(&egress->publisher);
}

static void finish_helper(struct egress_helper *helper, struct refusals *reports, const char *name, struct error *note)
{
	if (helper->pid == 0)
		return;
	control_take_reports(helper->control, name, reports, note);
	end_helper(helper);
}

void egress_finish(struct egress *egress, struct refusals *reports, struct error *note)
{
	struct refusals unused = { 0 };

	*reports = (struct refusals){ 0 };
	finish_helper(&egress->proxy, reports, "network proxy", note);
	finish_helper(&egress->publisher, &unused, "relay of published ports", note);
	egress_end_claims(egress);
}

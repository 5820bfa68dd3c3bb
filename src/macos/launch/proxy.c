/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy process, on a loopback port that the kernel chooses. All programs share the loopback on
 * macOS, so a secret keeps other programs out. The profile allows the command to connect to this
 * port only. The proxy exits when the control socket is closed, so it does not outlive the
 * launcher. It confines itself before it reads from the command; if it cannot, the run is
 * refused. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/proxy/control.h"
#include "common/proxy/socket.h"

/* Of libSystem; Apple ships no header for it. */
int sandbox_init_with_parameters(const char *profile, uint64_t flags, const char *const parameters[], char **errors);

enum { BACKLOG = 128, READY_MS = 10000, OPEN_FILES = 1400, LISTENERS = 2 };

static const char hosts_path[] = "/etc/hosts", servers_path[] = "/etc/resolv.conf";

static const char own_profile[] = "(version 1)\n"
				  "(deny default)\n"
				  "(deny file* process* mach* ipc* signal nvram* iokit* sysctl-write)\n"
				  "(allow sysctl-read)\n"
				  "(allow file-read* (literal \"/etc\") (literal \"/private/etc/hosts\")\n"
				  "  (literal \"/private/etc/resolv.conf\") (literal \"/private/var/run/resolv.conf\"))\n"
				  "(allow system-socket)\n"
				  "(allow network-outbound (remote ip))\n"
				  "(allow network-inbound (local ip \"localhost:*\"))\n";

extern char **environ;

struct helper {
	struct arena arena;
	struct addresses own;
	struct resolver resolver;
	struct refusals reports;
	struct proxy_listener listeners[LISTENERS];
	size_t listener_count;
	int control;
};

/* The kernel chooses the port on 127.0.0.1; ::1 gets the same port if it is free. */
static int open_listeners(struct mac_proxy *proxy, struct helper *helper, struct error *err)
{
	static const struct address v4 = { .bytes = { 127, 0, 0, 1 } }, v6 = { .is_v6 = true, .bytes = { [15] = 1 } };
	struct sockaddr_in name;
	socklen_t length = sizeof name;
	int fd = socket_listen(&v4, 0, BACKLOG);

	if (fd < 0 || getsockname(fd, (struct sockaddr *)&name, &length) < 0)
		return error_errno(err, errno, "cannot listen on the loopback for the proxy");
	proxy->port = ntohs(name.sin_port);
	helper->listeners[helper->listener_count++] = (struct proxy_listener){ .fd = fd };
	fd = socket_listen(&v6, proxy->port, BACKLOG);
	if (fd >= 0)
		helper->listeners[helper->listener_count++] = (struct proxy_listener){ .fd = fd };
	return 0;
}

static void close_listeners(const struct helper *helper)
{
	for (size_t i = 0; i < helper->listener_count; i++)
		close(helper->listeners[i].fd);
}

static int keep_descriptors(const struct helper *helper, struct error *err)
{
	int keep[LISTENERS + 1] = { helper->control };
	size_t count = 1;

	for (size_t i = 0; i < helper->listener_count; i++)
		keep[count++] = helper->listeners[i].fd;
	return descriptors_keep_only(keep, count, err);
}

static int confine(struct error *err)
{
	const struct rlimit none = { 0, 0 }, files = { OPEN_FILES, OPEN_FILES };
	static const char *const parameters[] = { NULL };
	char *errors = NULL;
	if (setrlimit(RLIMIT_CORE, &none) < 0 || setrlimit(RLIMIT_FSIZE, &none) < 0)
		return error_errno(err, errno, "cannot limit the proxy");
	(void)setrlimit(RLIMIT_NOFILE, &files); /* fails if the caller's limit is lower */
	if (sandbox_init_with_parameters(own_profile, 0, parameters, &errors) != 0)
		return error_set(err, "the proxy cannot confine itself: %s", errors ? errors : "no reason given");
	return 0;
}

static int prepare(struct helper *helper, struct error *err)
{
	if (keep_descriptors(helper, err) < 0)
		return -1;
	/* The environment may contain secrets, and this process talks to remote hosts. */
	for (char **entry = environ; *entry; entry++)
		memset_s(*entry, strlen(*entry), 0, strlen(*entry));
	resolver_open(&helper->resolver, hosts_path, servers_path);
	resolver_look_at_files(&helper->resolver, clock_ms());
	if (address_own(&helper->arena, &helper->own, err) < 0)
		return -1;
	return confine(err);
}

_Noreturn static void helper_main(const struct plan *plan, struct helper *helper, const char *secret)
{
	struct error err = { 0 };
	struct proxy_settings settings = {
		.policy = { .allow = &plan->network.allow, .deny = &plan->network.deny },
		.secret = secret,
		.limits = proxy_default_limits,
		.resolver = &helper->resolver,
		.reports = &helper->reports,
		.listeners = helper->listeners,
		.listener_count = helper->listener_count,
		.control = helper->control,
	};
	int prepared;

	/* Ctrl-C and Ctrl-Z go to the command only, which may continue to use the network. */
	setsid();
	signal(SIGPIPE, SIG_IGN);
	prepared = prepare(helper, &err);
	settings.policy.own = helper->own.items;
	settings.policy.own_count = helper->own.count;
	if (!control_send(helper->control, &err, sizeof err) || prepared < 0 || proxy_serve(&settings) < 0)
		_exit(EXIT_FAILURE);
	_exit(control_send(helper->control, &helper->reports, sizeof helper->reports) ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void end(struct mac_proxy *proxy)
{
	close(proxy->control);
	child_end(proxy->pid);
	proxy->pid = 0;
}

static int await_ready(struct mac_proxy *proxy, struct error *err)
{
	struct error answer = { 0 };
	if (!control_receive(proxy->control, &answer, sizeof answer, READY_MS)) {
		end(proxy);
		return error_set(err, "the proxy did not start");
	}
	if (!error_is_set(&answer))
		return 0;
	*err = answer;
	end(proxy);
	return -1;
}

int mac_proxy_start(const struct plan *plan, struct mac_proxy *proxy, struct error *err)
{
	struct helper *helper = arena_alloc(plan->arena, sizeof *helper);
	int ends[2];

	*proxy = (struct mac_proxy){ .control = -1 };
	if (proxy_make_secret(proxy->secret) < 0)
		return error_errno(err, errno, "cannot create a secret for the proxy");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return error_errno(err, errno, "cannot create a socket pair");
	if (socket_make_private(ends[0]) < 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) < 0 ||
	    open_listeners(proxy, helper, err) < 0) {
		close(ends[0]);
		close(ends[1]);
		close_listeners(helper);
		return error_is_set(err) ? -1 : error_errno(err, errno, "cannot prepare the proxy");
	}
	helper->control = ends[1];
	proxy->control = ends[0];
	proxy->pid = fork();
	if (proxy->pid == 0)
		helper_main(plan, helper, proxy->secret);
	close(ends[1]);
	close_listeners(helper);
	if (proxy->pid < 0) {
		proxy->pid = 0;
		close(proxy->control);
		return error_errno(err, errno, "cannot start the proxy");
	}
	return await_ready(proxy, err);
}

void mac_proxy_finish(struct mac_proxy *proxy, struct refusals *reports, struct error *note)
{
	*reports = (struct refusals){ 0 };
	if (proxy->pid == 0)
		return;
	control_take_reports(proxy->control, "network proxy", reports, note);
	end(proxy);
}

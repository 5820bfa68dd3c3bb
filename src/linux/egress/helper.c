/* SPDX-License-Identifier: Apache-2.0 */
/* The helper process runs outside the sandbox's mount and pid namespaces. It confines itself before
 * it reads the first byte from inside. It keeps its sockets and the resolver's two files: root
 * becomes the user `nobody`, and it has no capabilities, no other files, no execve, no children.
 *
 * Order: fds, parent-death signal, environment → (publisher: the sandbox's network namespace) →
 * rlimits, not dumpable, no_new_privs, credentials, Landlock → (proxy: listeners from init) →
 * filter → ready → serve → reports. */
#include "linux/egress/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/proxy/control.h"
#include "linux/confine/credentials.h"
#include "linux/confine/landlock.h"
#include "linux/fd_passing.h"

static const char hosts_path[] = "/etc/hosts";
static const char servers_path[] = "/etc/resolv.conf";

enum {
	OPEN_FILES = 1400, /* 256 connections with four fds each, and listeners */
	MEMORY = 1 << 30, /* includes the memory that the fork inherits from the launcher */
};

struct helper {
	const struct egress_role *role;
	struct arena arena;
	struct addresses own;
	struct resolver resolver;
	struct refusals reports;
	struct proxy_listener listeners[PROXY_LISTENER_MAX];
	size_t listener_count;
	pid_t parent;
};

static int keep_descriptors(const struct egress_role *role, struct error *err)
{
	int keep[PROXY_LISTENER_MAX + 2] = { role->control, role->inside };
	size_t count = 2;

	for (size_t i = 0; i < role->listener_count; i++)
		keep[count++] = role->listeners[i].fd;
	return descriptors_keep_only(keep, count, err);
}

static int tie(const struct helper *helper, struct error *err)
{
	if (credentials_follow_parent(err) < 0)
		return -1;
	return getppid() == helper->parent ? 0 : error_set(err, "the launcher exited");
}

static int limit_resources(struct error *err)
{
	static const struct {
		int resource;
		rlim_t value;
	} limits[] = {
		{ RLIMIT_CORE, 1 },	 { RLIMIT_FSIZE, 0 }, { RLIMIT_NOFILE, OPEN_FILES }, { RLIMIT_NPROC, 0 },
#ifndef __SANITIZE_ADDRESS__ /* its shadow memory counts as data */
		{ RLIMIT_DATA, MEMORY },
#endif
	};

	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		struct rlimit limit;
		if (getrlimit(limits[i].resource, &limit) < 0)
			return error_errno(err, errno, "cannot read a limit of the proxy");
		if (limits[i].value < limit.rlim_max)
			limit.rlim_max = limits[i].value;
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(limits[i].resource, &limit) < 0)
			return error_errno(err, errno, "cannot limit the proxy");
	}
	return 0;
}

/* Returns the real directory of a file: /etc/resolv.conf is often a symlink into /run. */
static const char *directory_of(struct arena *arena, const char *path)
{
	char resolved[PATH_MAX];
	char *slash;

	if (!realpath(path, resolved))
		return "/etc";
	slash = strrchr(resolved, '/');
	slash[slash == resolved] = '\0';
	return arena_copy(arena, resolved);
}

static int lock_files(struct helper *helper, int abi, struct error *err)
{
	const char *directories[] = { "/etc", directory_of(&helper->arena, hosts_path),
				      directory_of(&helper->arena, servers_path) };

	if (abi < 1)
		return 0;
	return landlock_apply_reader(directories, helper->role->secret ? 3 : 0, abi, err);
}

static int confine(struct helper *helper, int abi, struct error *err)
{
	if (limit_resources(err) < 0 || credentials_hide(err) < 0 || credentials_freeze(err) < 0)
		return -1;
	/* In the sandbox's user namespace there is no other user to change to. The capabilities
	 * from entering it are dropped. */
	if ((helper->role->secret ? credentials_drop_outside(err) : credentials_drop(err)) < 0)
		return -1;
	return lock_files(helper, abi, err) < 0 ? -1 : tie(helper, err);
}

static int enter_namespaces(struct helper *helper, struct error *err)
{
	int fds[2];
	struct passed_fds passed = { .descriptors = fds, .room = 2 };
	char byte;

	if (fd_passing_receive(helper->role->inside, 0, &byte, 1, &passed) != 1 || passed.count != 2 || passed.is_cut)
		return error_set(err, "the sandbox ended while it was being set up");
	if (setns(fds[0], CLONE_NEWUSER) < 0 || setns(fds[1], CLONE_NEWNET) < 0)
		return error_errno(err, errno, "cannot enter the sandbox's network");
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static int take_listeners(struct helper *helper, struct error *err)
{
	int fds[PROXY_LISTENER_MAX];
	struct passed_fds passed = { .descriptors = fds, .room = PROXY_LISTENER_MAX };
	ssize_t size = fd_passing_receive(helper->role->inside, 0, helper->listeners, sizeof helper->listeners, &passed);

	if (size <= 0 || passed.is_cut || (size_t)size != passed.count * sizeof *helper->listeners)
		return error_set(err, "the sandbox ended while it was being set up");
	for (size_t i = 0; i < passed.count; i++)
		helper->listeners[i].fd = passed.descriptors[i];
	helper->listener_count = passed.count;
	return 0;
}

/* Reads the resolver's files now, because without Landlock the filter refuses to open any file
 * later. */
static int open_resolver(struct helper *helper, struct error *err)
{
	resolver_open(&helper->resolver, hosts_path, servers_path);
	resolver_look_at_files(&helper->resolver, clock_ms());
	return address_own(&helper->arena, &helper->own, err);
}

static int prepare(struct helper *helper, struct error *err)
{
	const struct egress_role *role = helper->role;
	int abi = landlock_abi();

	if (keep_descriptors(role, err) < 0 || tie(helper, err) < 0)
		return -1;
	credentials_wipe_environment();
	if (role->secret && open_resolver(helper, err) < 0)
		return -1;
	if (!role->secret && enter_namespaces(helper, err) < 0)
		return -1;
	if (confine(helper, abi, err) < 0)
		return -1;
	if (role->secret && take_listeners(helper, err) < 0)
		return -1;
	return egress_filter_load(role->secret && abi >= 1, err);
}

static int serve(struct helper *helper)
{
	const struct egress_role *role = helper->role;
	const struct plan *plan = role->plan;
	struct proxy_settings settings = {
		.policy = { .allow = &plan->network.allow,
			    .deny = &plan->network.deny,
			    .own = helper->own.items,
			    .own_count = helper->own.count },
		.open_allow = plan->commands.are_walled ? &plan->commands.allow : NULL,
		.secret = role->secret ? role->secret : "",
		.limits = proxy_default_limits,
		.resolver = &helper->resolver,
		.reports = &helper->reports,
		.listeners = role->secret ? helper->listeners : role->listeners,
		.listener_count = role->secret ? helper->listener_count : role->listener_count,
		.control = role->control,
	};

	return proxy_serve(&settings);
}

_Noreturn void egress_helper_main(const struct egress_role *role)
{
	static struct helper helper;
	struct error err = { 0 };

	helper.role = role;
	helper.parent = getppid();
	/* Ctrl-C and Ctrl-Z are for the command, which may continue to use the network. */
	setsid();
	signal(SIGPIPE, SIG_IGN);
	if (prepare(&helper, &err) < 0) {
		send(role->inside, &err, sizeof err, MSG_NOSIGNAL);
		_exit(EXIT_FAILURE);
	}
	if (send(role->inside, &err, sizeof err, MSG_NOSIGNAL) != (ssize_t)sizeof err)
		_exit(EXIT_FAILURE);
	close(role->inside);
	if (serve(&helper) < 0)
		_exit(EXIT_FAILURE);
	control_send(role->control, &helper.reports, sizeof helper.reports);
	_exit(EXIT_SUCCESS);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Pid 1 inside. It builds the wall around itself, stage by stage, gives up every power, starts the command behind the same wall, and
 * from then on only reaps, forwards signals and reports. It dies with the launcher, and everything inside dies with it.
 *
 * Stages, and what must not have happened before each:
 *   tie      life tied to the launcher                            - first, so that nothing is ever left behind
 *   settle   uid map, loopback                                    - needs the fresh namespaces
 *   view     mounts, chroot                                       - needs CAP_SYS_ADMIN; no Landlock yet (it forbids mounts)
 *   confine  rlimits, unreadable memory, no_new_privs, Landlock,
 *            capabilities                                         - nothing may be mounted or opened from here on; a process that
 *                                                                   is not dumpable could not have written its own uid map
 *   filter   seccomp                                              - last: it forbids what the stages above did
 *   start    vfork, execve */
#include "linux/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/channel.h"
#include "linux/credentials.h"
#include "linux/landlock.h"
#include "linux/limits.h"
#include "linux/view.h"

extern char **environ;

_Noreturn static void fail(int channel, const struct error *err)
{
	struct message message = { .type = MESSAGE_FAILED, .error = *err };
	/* If this cannot be sent the launcher sees init die before it started anything, which is a refusal too. */
	channel_send(channel, &message);
	_exit(EXIT_REFUSED);
}

static void tell(int channel, enum message_type type, int value)
{
	struct message message = { .type = type, .value = value };
	if (channel_send(channel, &message) < 0)
		_exit(EXIT_REFUSED); /* the launcher is gone */
}

static int tie(struct launch *launch, struct error *err)
{
	if (credentials_follow_parent(err) < 0)
		return -1;
	close(launch->ends[0]);
	return 0;
}

static int enter_view(struct launch *launch, struct error *err)
{
	struct view_result result = { 0 };
	struct message note = { .type = MESSAGE_NOTE };
	if (view_enter(launch->plan, &launch->state, &result, err) < 0)
		return -1;
	if (result.has_proc)
		return 0;
	error_set(&note.error, "/proc is empty: this host does not allow a fresh one (a container?)");
	return channel_send(launch->ends[1], &note) < 0 ? error_set(err, "the launcher is gone") : 0;
}

static int confine(struct launch *launch, struct error *err)
{
	const struct plan *plan = launch->plan;
	const struct landlock_extra extra[] = {
		{ .path = "/", .is_list_only = true },
		{ .path = "/dev", .is_writable = true, .is_device = true },
		{ .path = "/proc", .is_writable = true },
		{ .path = "/tmp", .is_writable = true },
		{ .path = plan->context.home, .is_writable = true },
	};
	size_t count = sizeof extra / sizeof extra[0] - (plan->home == HOME_HOST);

	if (limits_apply(plan, err) < 0 || credentials_hide(err) < 0 || credentials_freeze(err) < 0)
		return -1;
	if (launch->landlock_abi >= LANDLOCK_ABI_USEFUL && landlock_apply(plan, extra, count, launch->landlock_abi, err) < 0)
		return -1;
	if (credentials_drop(err) < 0)
		return -1;
	return credentials_follow_parent(err);
}

/* Init never executes anything, so its memory still holds the launcher's environment. */
static void wipe_environment(void)
{
	for (char **entry = environ; *entry; entry++)
		explicit_bzero(*entry, strlen(*entry));
}

/* The launcher may have died before its death was tied to ours. */
static void leave_if_orphaned(int channel)
{
	struct pollfd poll_channel = { .fd = channel };
	if (poll(&poll_channel, 1, 0) > 0 && (poll_channel.revents & (POLLHUP | POLLERR)))
		_exit(EXIT_REFUSED);
}

static pid_t start(const struct launch *launch)
{
	int channel = launch->ends[1];
	volatile int failure = 0;
	pid_t pid;

	tell(channel, MESSAGE_STARTING, 0);
	pid = vfork();
	if (pid == 0) {
		signals_give_back(&launch->signals);
		failure = command_execute(&launch->command);
		_exit(EXIT_NOT_FOUND);
	}
	if (pid < 0 || failure) {
		tell(channel, MESSAGE_NOT_EXECUTED, pid < 0 ? errno : failure);
		_exit(0);
	}
	return pid;
}

/* Everything that changed among the children. Exits when the command has ended; the kernel then ends all that is left. */
static void reap(int channel, pid_t command)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		if (pid != command)
			continue;
		if (WIFSTOPPED(status)) {
			tell(channel, MESSAGE_STOPPED, WSTOPSIG(status));
		} else if (WIFCONTINUED(status)) {
			tell(channel, MESSAGE_CONTINUED, 0);
		} else {
			tell(channel, MESSAGE_EXITED, status);
			_exit(0);
		}
	}
}

static void forward(int channel, pid_t command)
{
	struct message message;
	int got = channel_receive(channel, &message);
	if (got <= 0)
		_exit(EXIT_ENDED); /* the launcher is gone */
	if (message.type == MESSAGE_SIGNAL && message.value > 0 && message.value < NSIG)
		kill(command, message.value);
}

_Noreturn static void serve(int channel, int children, pid_t command)
{
	struct pollfd watched[] = { { .fd = channel, .events = POLLIN }, { .fd = children, .events = POLLIN } };
	for (;;) {
		char drained[1024];
		if (poll(watched, 2, -1) < 0 && errno != EINTR)
			_exit(EXIT_ENDED);
		if (watched[1].revents) {
			/* Signals of one kind merge: the count says nothing, the wait below says all. */
			while (read(children, drained, sizeof drained) > 0)
				;
			reap(channel, command);
		}
		if (watched[0].revents)
			forward(channel, command);
	}
}

_Noreturn void init_main(struct launch *launch)
{
	const struct plan *plan = launch->plan;
	int channel = launch->ends[1];
	struct error err = { 0 };
	int children;

	if (tie(launch, &err) < 0 || namespaces_settle(&launch->namespaces, plan->context.uid, plan->context.gid, &err) < 0)
		fail(channel, &err);
	if (enter_view(launch, &err) < 0)
		fail(channel, &err);
	children = signals_watch_children(&err);
	if (children < 0 || confine(launch, &err) < 0)
		fail(channel, &err);
	wipe_environment();
	leave_if_orphaned(channel);
	if (filter_load(&launch->filter, false, &err) < 0)
		fail(channel, &err);
	serve(channel, children, start(launch));
}

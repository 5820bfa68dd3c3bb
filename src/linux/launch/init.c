/* SPDX-License-Identifier: Apache-2.0 */
/* Pid 1 inside. It builds the wall around itself, stage by stage, gives up every power, starts the command behind the same wall, and
 * from then on only reaps, forwards signals and reports. It dies with the launcher, and everything inside dies with it.
 *
 * Stages, and what must not have happened before each:
 *   tie      life tied to the launcher                            - first, so that nothing is ever left behind
 *   settle   uid map, network namespace, loopback                 - needs the fresh namespaces
 *   plan     if it was not known yet (early.h), and what it says
 *            of the namespaces' sysctls                           - /proc of the host is still there
 *   egress   sockets that the proxy outside listens on, if any    - needs the loopback, and /proc of the host
 *   view     mounts; bounding set; what the scan found, pins; what
 *            the launcher has made, masks; chroot                 - needs CAP_SYS_ADMIN; no Landlock yet (it forbids mounts)
 *   confine  rlimits, unreadable memory, no_new_privs, Landlock,
 *            capabilities                                         - nothing may be mounted or opened from here on; a process that
 *                                                                   is not dumpable could not have written its own uid map
 *   filter   seccomp                                              - last: it forbids what the stages above did
 *   start    vfork, execve                                       - only once the launcher has said that the plan may be run */
#include "linux/launch/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "linux/launch/landlock_tier.h"
#include "linux/channel.h"
#include "linux/confine/credentials.h"
#include "linux/launch/prefork.h"
#include "linux/launch/scan_results.h"
#include "linux/view/run_files.h"
#include "linux/view/git_events.h"
#include "linux/confine/landlock.h"
#include "linux/limits/limits.h"
#include "linux/launch/metadata_broker.h"
#include "linux/launch/network_attempts.h"
#include "linux/view/view.h"

extern char **environ;

enum {
	GROUP_MS = 500, /* how long a signal to the group counts as the one that the launcher forwards */
	OVERTIME_MS = 3000, /* what the launcher has after the time limit to end the run itself */
	POLL_MS_MAX = 3600000, /* a limit of weeks does not fit an int */
};

/* Pid 1 once the command runs. */
struct post {
	const struct launch *launch;
	int channel, signals;
	int git_events, listener; /* -1: none */
	bool is_git_refused; /* told once */
	pid_t command;
	bool has_own_group; /* the command's; ours is the launcher's */
	bool is_in_front; /* at its start: then it takes the terminal */
	int64_t group_at[NSIG]; /* when this signal reached the whole process group from outside; 0: did not */
	int64_t end_at; /* monotonic milliseconds; 0: no limit */
};

_Noreturn static void fail(int channel, const struct error *err)
{
	struct message message = { .type = MESSAGE_FAILED, .error = *err };
	/* If this cannot be sent the launcher sees init die before it started anything, which is a refusal too. */
	channel_send(channel, &message);
	_exit(EXIT_REFUSED);
}

/* A launcher that is gone is seen at the next look at the channel, which ends all. */
static bool tell(int channel, enum message_type type, int value)
{
	struct message message = { .type = type, .value = value };
	return channel_send(channel, &message) == 0;
}

/* The launcher's ways to the host that only it needs. */
static void close_host(struct launch *launch)
{
	int group[] = { launch->group.base, launch->group.outer, launch->group.inner };
	for (size_t i = 0; launch->namespaces.has_group && i < sizeof group / sizeof group[0]; i++)
		close(group[i]);
	watch_end(&launch->watch);
}

static int tie(struct launch *launch, struct error *err)
{
	/* Alone, init has to outlive the launcher for the moment that it takes to end all: the kernel would not do it. */
	if (!launch->is_alone && credentials_follow_parent(err) < 0)
		return -1;
	close(launch->ends[0]);
	close_host(launch);
	/* The launcher's copy keeps the lock; nothing inside needs a way to the host's directory. */
	if (launch->state.lock >= 0)
		close(launch->state.lock);
	return 0;
}

static int send_watched(struct launch *launch, bool has_proc, struct error *err)
{
	int descriptors[WATCH_DESCRIPTOR_MAX];
	size_t count = 0;
	struct message message = { .type = MESSAGE_WATCH };
	unsigned which = watch_open(launch->plan, &launch->limits, has_proc, descriptors);
	int sent;

	for (unsigned bits = which; bits; bits &= bits - 1)
		count++;
	message.value = (int)which;
	sent = channel_send_with(launch->ends[1], &message, descriptors, count);
	while (count > 0)
		close(descriptors[--count]);
	return sent < 0 ? error_set(err, "the launcher is gone") : 0;
}

static int offer_own(void *self, int own, struct error *err)
{
	return furnish_offer(((struct launch *)self)->ends[1], own, err);
}

/* Until then there is time for what nothing waits for. */
static int await_findings(void *self, struct error *err)
{
	struct launch *launch = self;
	if (credentials_bound(err) < 0)
		return -1;
	return launch->is_complete ? 0 : findings_receive(launch->ends[1], launch->plan, err);
}

static int await_own(void *self, struct error *err)
{
	return furnish_await(((struct launch *)self)->ends[1], err);
}

static int enter_view(struct launch *launch, struct post *post, struct error *err)
{
	struct view_result result = { 0 };
	struct message note = { .type = MESSAGE_NOTE };
	struct view_request request = {
		&launch->state, &launch->root, launch->has_terminal, launch, offer_own, await_findings, await_own,
	};
	if (view_enter(launch->plan, &request, &result, err) < 0)
		return -1;
	post->git_events = result.git_events;
	if (launch->limits.has_watch && send_watched(launch, result.has_proc, err) < 0)
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
		{ .path = PLAN_DOCUMENTS },
		{ .path = plan->context.home, .is_writable = true }, /* last: left out with `home: host` */
	};
	size_t count = sizeof extra / sizeof extra[0] - (plan->home == HOME_HOST);

	if (limits_apply(plan, &launch->limits, err) < 0 || credentials_hide(err) < 0 || credentials_freeze(err) < 0)
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

/* The view is made of a plan that the launcher is still asking about: nothing may run before the answer. */
static void await_go(const struct launch *launch)
{
	struct message message;
	if (launch->is_complete)
		leave_if_orphaned(launch->ends[1]);
	else if (channel_receive(launch->ends[1], &message) <= 0 || message.type != MESSAGE_GO)
		_exit(EXIT_REFUSED);
}

/* Was there a SIGCHLD? Signals of one kind merge: the count says nothing, the wait afterwards says all. */
static bool take_signals(struct post *post)
{
	struct signalfd_siginfo info;
	bool has_children = false;
	while (read(post->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			has_children = true;
		/* A sender in here has a number in here; alone, Landlock keeps signals from inside away from init. */
		else if ((info.ssi_pid == 0 || post->launch->is_alone) && info.ssi_signo < NSIG)
			post->group_at[info.ssi_signo] = clock_ms();
	}
	return has_children;
}

/* Who gives the terminal away while another group has it would be stopped for that. The command gets the caller's mask. */
static void hold_terminal_stop(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Between vfork and execve. Returns only if that failed: *failure is its errno then, or 0 and err says what else. */
static void become_command(const struct launch *launch, bool is_in_front, volatile int *failure, struct error *err)
{
	if (launch->has_own_group && setpgid(0, 0) == 0 && is_in_front && !signals_was_continued())
		tcsetpgrp(0, getpid()); /* a terminal that is gone needs no group */
	signals_give_back(&launch->signals);
	if (launch->is_alone && alone_lock_command(launch, err) < 0)
		return;
	*failure = command_execute(&launch->command);
}

static void start(const struct launch *launch, struct post *post)
{
	volatile int failure = 0;
	struct error not_locked = { 0 };
	pid_t pid;

	if (post->has_own_group)
		hold_terminal_stop();

	launch->progress->has_started = true;
	/* What the group got before the command was in it did not reach the command. */
	take_signals(post);
	/* A job that was stopped and continued may be one in the background by now: who knows is the launcher, which hands the terminal on if it is. */
	post->is_in_front = !launch->progress->is_in_background && !post->group_at[SIGCONT];
	memset(post->group_at, 0, sizeof post->group_at);
	pid = vfork();
	if (pid == 0) {
		become_command(launch, post->is_in_front, &failure, &not_locked);
		_exit(EXIT_NOT_FOUND);
	}
	if (pid < 0) {
		struct error err;
		error_errno(&err, errno, "cannot start the command");
		fail(post->channel, &err);
	}
	if (error_is_set(&not_locked))
		fail(post->channel, &not_locked);
	if (failure) {
		tell(post->channel, MESSAGE_NOT_EXECUTED, failure);
		_exit(0);
	}
	post->command = pid;
	if (launch->has_listener && (post->listener = alone_take_listener(launch, &not_locked)) < 0) {
		alone_end_all(launch);
		fail(post->channel, &not_locked);
	}
	launch->progress->is_running = true;
}

static void take_git_events(struct post *post)
{
	if (post->git_events < 0 || !git_events_take(post->git_events) || post->is_git_refused)
		return;
	post->is_git_refused = true;
	tell(post->channel, MESSAGE_GIT_REFUSED, 0);
}

/* The end. In a pid namespace the kernel ends with init all that is left. */
_Noreturn static void leave(const struct post *post, int code)
{
	if (post->launch->is_alone)
		alone_end_all(post->launch);
	_exit(code);
}

/* A network namespace of its own without a way out; alone, the counters would be the machine's. */
static bool has_no_network(const struct launch *launch)
{
	return !launch->is_alone && launch->plan->network.mode == NETWORK_NONE;
}

/* Everything that changed among the children. Exits when the command has ended, and all else then ends too. */
static void reap(struct post *post)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		if (pid != post->command)
			continue;
		if (WIFSTOPPED(status)) {
			tell(post->channel, MESSAGE_STOPPED, WSTOPSIG(status));
		} else if (WIFCONTINUED(status)) {
			tell(post->channel, MESSAGE_CONTINUED, 0);
		} else {
			take_git_events(post);
			if (status != 0 && has_no_network(post->launch) && sought_network())
				tell(post->channel, MESSAGE_NETWORK_SOUGHT, 0);
			tell(post->channel, MESSAGE_EXITED, status);
			leave(post, 0);
		}
	}
}

/* Was the signal that the launcher forwards sent to the whole of its group? */
static bool was_for_group(struct post *post, int number)
{
	int64_t at = post->group_at[number];
	post->group_at[number] = 0;
	return at && clock_ms() - at < GROUP_MS;
}

static void deliver(struct post *post, int number)
{
	bool is_for_group = was_for_group(post, number);
	/* `kill -TERM -PGID` reaches the launcher, init and the command: forwarding it too would make two of one, and a second SIGTERM
	 * means "at once" to many programs. */
	if (is_for_group && getpgid(post->command) == getpgrp())
		return;
	/* A group of its own is the job that the caller means. */
	if (post->has_own_group && (is_for_group || number == SIGCONT) && kill(-post->command, number) == 0)
		return;
	kill(post->command, number);
}

/* All inside: in a pid namespace that is everybody, alone only if Landlock bounds it. Else it would be the user's whole session. */
static void signal_all(const struct post *post, int number)
{
	if (!post->launch->is_alone || post->launch->is_scoped)
		kill(-1, number);
}

static void forward(struct post *post)
{
	struct message message;
	int got = channel_receive(post->channel, &message);
	if (got <= 0)
		leave(post, EXIT_ENDED); /* the launcher is gone */
	if (message.type == MESSAGE_FOREGROUND)
		tcsetpgrp(0, getpgid(post->command));
	else if (message.type == MESSAGE_SIGNAL && message.value > 0 && message.value < NSIG)
		deliver(post, message.value);
	else if (message.type == MESSAGE_SIGNAL_ALL && message.value > 0 && message.value < NSIG)
		signal_all(post, message.value);
}

/* The time limit is the launcher's to keep. But it stops when the command stops, and a command that stops itself while others of its
 * processes go on must not have all the time there is. */
static int64_t last_moment(const struct plan *plan)
{
	const struct setting *limit = &plan->limits[LIMIT_TIME];
	return limit->is_set ? clock_ms() + (int64_t)limit->value + OVERTIME_MS : 0;
}

static int time_left(const struct post *post)
{
	int64_t left = post->end_at - clock_ms();
	if (!post->end_at)
		return -1;
	if (left <= 0)
		leave(post, EXIT_ENDED);
	return left > POLL_MS_MAX ? POLL_MS_MAX : (int)left;
}

_Noreturn static void serve(struct post *post)
{
	struct pollfd watched[] = {
		{ .fd = post->channel, .events = POLLIN },
		{ .fd = post->signals, .events = POLLIN },
		{ .fd = post->git_events, .events = POLLIN },
		{ .fd = post->listener, .events = POLLIN },
	};
	for (;;) {
		if (poll(watched, 4, time_left(post)) < 0) {
			if (errno != EINTR)
				leave(post, EXIT_ENDED);
			continue; /* revents are those of the last time */
		}
		/* Before the channel: a signal to the group is known then when the launcher asks to forward it. */
		if (take_signals(post))
			reap(post);
		if (watched[0].revents)
			forward(post);
		if (watched[2].revents)
			take_git_events(post);
		if (watched[3].revents && !metadata_serve(post->launch, watched[3].fd))
			watched[3].fd = -1;
	}
}

static int enter_namespaces(struct launch *launch, struct post *post, struct error *err)
{
	if (limits_bound_namespaces(launch->plan, &launch->limits, err) < 0)
		return -1;
	if (launch->has_egress && egress_enter(launch->plan, &launch->egress, err) < 0)
		return -1;
	return enter_view(launch, post, err);
}

_Noreturn void init_main(struct launch *launch)
{
	int channel = launch->ends[1];
	struct post post = {
		.launch = launch,
		.channel = channel,
		.git_events = -1,
		.listener = -1,
	};
	struct error err = { 0 };
	struct arena arena = { 0 };
	struct plan plan;

	if (tie(launch, &err) < 0)
		fail(channel, &err);
	if (launch->limits.has_scope)
		launch_await_scope(launch);
	if (!launch->is_alone && namespaces_settle(&launch->namespaces, launch->uid, launch->gid, &err) < 0)
		fail(channel, &err);
	if (launch->early)
		early_await(launch, &plan, &arena);
	post.has_own_group = launch->has_own_group;
	post.end_at = last_moment(launch->plan);
	if (!launch->is_alone && enter_namespaces(launch, &post, &err) < 0)
		fail(channel, &err);
	post.signals = signals_watch_inside(&err);
	if (post.signals < 0 || (launch->is_alone ? alone_enter(launch, &err) : confine(launch, &err)) < 0)
		fail(channel, &err);
	wipe_environment();
	/* Alone, the filter is the command's own: see alone.c. */
	if (!launch->is_alone && filter_load(&launch->filter, false, &err) < 0)
		fail(channel, &err);
	await_go(launch);
	start(launch, &post);
	serve(&post);
}

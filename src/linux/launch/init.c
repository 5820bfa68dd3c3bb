/* SPDX-License-Identifier: Apache-2.0 */
/* Init: pid 1 inside. It builds the sandbox around itself stage by stage, gives up every privilege
 * and starts the command, which inherits the confinement. After that it only reaps, forwards
 * signals and reports. It ends when the launcher ends, and every process inside ends with it.
 *
 * Stages, in their order, and the reason for it:
 *   tie      ties init's lifetime to the launcher's. First, so that init is never left behind.
 *   scope    wait for systemd's scope, if the limits need one. Nothing else is done yet, so that
 *            everything after this is counted in it.
 *   settle   uid map, network namespace, loopback. Needs the new namespaces.
 *   limits   sysctls of the namespaces. Needs the host's /proc.
 *   egress   sockets on which the proxy outside listens, if there is one. Needs the loopback and
 *            the host's /proc.
 *   view     mounts; bounding set; scan results, pins; run files, masks; chroot. Needs
 *            CAP_SYS_ADMIN, and no Landlock yet, which forbids mounts.
 *   signals  blocked and read from a signalfd. The launcher's environment is wiped.
 *   confine  rlimits, not dumpable, no_new_privs, Landlock, capabilities. Nothing of the host may
 *            be mounted or opened after this. A process that is not dumpable cannot write its own
 *            uid map, so settle comes before.
 *   filter   seccomp. After all of the above, which it forbids.
 *   start    vfork, execve. Only after the launcher has confirmed the plan (MESSAGE_GO).
 *
 * In the tier landlock there is no settle, limits, egress and view, and the command loads the
 * filter itself, between vfork and execve. */
#include "linux/launch/launch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "linux/channel.h"
#include "linux/confine/credentials.h"
#include "common/plan/planting.h"
#include "linux/view/view.h"

enum {
	/* A signal to the group within this time before a forwarded one is the same signal. */
	GROUP_MS = 500,
	OVERTIME_MS = 3000, /* after the time limit, for the launcher to end the run itself */
	POLL_MS_MAX = 3600000, /* a limit of weeks does not fit an int */
};

_Noreturn static void fail(int channel, const struct error *err)
{
	struct message message = { .type = MESSAGE_FAILED, .error = *err };
	/* If this cannot be sent, the launcher sees init exit before it started anything, which is
	 * a refusal too. */
	channel_send(channel, &message);
	_exit(EXIT_REFUSED);
}

/* Ignores failures: if the launcher is gone, the next poll of the channel ends the run. */
static void send_message(int channel, enum message_type type, int value)
{
	struct message message = { .type = type, .value = value };
	channel_send(channel, &message);
}

/* Closes fds that only the launcher needs. */
static void close_launcher_fds(struct launch *launch)
{
	int group[] = { launch->group.base, launch->group.outer, launch->group.inner };
	for (size_t i = 0; launch->namespaces.has_group && i < sizeof group / sizeof group[0]; i++)
		close(group[i]);
	watch_end(&launch->watch);
}

static int tie(struct launch *launch, struct error *err)
{
	if (launch->tier->tie(err) < 0)
		return -1;
	close(launch->ends[0]);
	close_launcher_fds(launch);
	/* The launcher's copy keeps the lock. Inside, this fd would give access to a directory of
	 * the host. */
	if (launch->state.lock >= 0)
		close(launch->state.lock);
	if (launch->session) {
		close(launch->session->directory);
		close(launch->session->lock);
		close(launch->session->ready);
	}
	return 0;
}

/* Exits if the launcher exited before init's lifetime was tied to its own. */
static void exit_if_orphaned(int channel)
{
	struct pollfd poll_channel = { .fd = channel };
	if (poll(&poll_channel, 1, 0) > 0 && (poll_channel.revents & (POLLHUP | POLLERR)))
		_exit(EXIT_REFUSED);
}

/* The launcher may still be verifying the plan: nothing may run before it has confirmed it. */
static void await_go(const struct launch *launch)
{
	struct message message;
	if (launch->is_scanned)
		exit_if_orphaned(launch->ends[1]);
	else if (channel_receive(launch->ends[1], &message) <= 0 || message.type != MESSAGE_GO)
		_exit(EXIT_REFUSED);
}

/* Reads all pending signals. True if there was a SIGCHLD: one can stand for several children, so
 * the caller waits for all. */
static bool read_signals(struct init_state *state)
{
	struct signalfd_siginfo info;
	bool has_children = false;
	while (read(state->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			has_children = true;
		else if (info.ssi_signo < NSIG && state->launch->tier->is_from_outside((pid_t)info.ssi_pid))
			state->group_at[info.ssi_signo] = clock_ms();
	}
	return has_children;
}

/* tcsetpgrp() from a background group raises SIGTTOU, which would stop init. The command gets the
 * caller's mask. */
static void block_sigttou(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Runs between vfork and execve. Returns only on failure: *failure is the errno of execve, or 0 if
 * err is set instead. */
static void become_command(const struct launch *launch, bool is_in_front, volatile int *failure, struct error *err)
{
	if (launch->has_own_group && setpgid(0, 0) == 0 && is_in_front && !signals_was_continued())
		tcsetpgrp(0, getpid()); /* fails only if the terminal is gone */
	if (launch->tier->lock_command(launch, err) < 0)
		return;
	/* Not before: a signal that ended this process halfway would look like a failed lock. */
	signals_give_back(&launch->signals);
	*failure = command_execute(&launch->command);
}

static void start(struct launch *launch, struct init_state *state)
{
	volatile int failure = 0;
	struct error not_locked = { 0 };
	volatile bool is_in_front; /* survives vfork */
	pid_t pid;

	if (launch->has_own_group)
		block_sigttou();

	launch->progress->has_started = true;
	/* Signals that the group received before the fork did not reach the command. */
	read_signals(state);
	/* A job that was stopped and continued may be in the background now. The launcher knows,
	 * and sends MESSAGE_FOREGROUND if it is not. */
	is_in_front = !launch->progress->is_in_background && !state->group_at[SIGCONT];
	memset(state->group_at, 0, sizeof state->group_at);
	pid = vfork();
	if (pid == 0) {
		become_command(launch, is_in_front, &failure, &not_locked);
		_exit(EXIT_NOT_FOUND);
	}
	if (pid < 0) {
		struct error err;
		error_errno(&err, errno, "cannot start the command");
		fail(state->channel, &err);
	}
	if (error_is_set(&not_locked)) {
		if (!launch->tier->can_do_without(launch, &not_locked))
			fail(state->channel, &not_locked);
		start(launch, state);
		return;
	}
	if (failure) {
		send_message(state->channel, MESSAGE_NOT_EXECUTED, failure);
		_exit(0);
	}
	state->command = pid;
	if (launch->tier->receive_listener(launch, state, &not_locked) < 0) {
		launch->tier->end_all(launch);
		fail(state->channel, &not_locked);
	}
	launch->progress->is_running = true;
}

static void report_git_events(struct init_state *state)
{
	unsigned refused = state->git_events < 0 ? 0 : git_events_take(state->git_events);
	if (!(refused & ~state->git_refused))
		return;
	state->git_refused |= refused;
	send_message(state->channel, MESSAGE_GIT_REFUSED, (int)state->git_refused);
}

/* Sends the names that the guard has refused. */
static void report_refused(const struct init_state *state)
{
	static struct guard_refused refused;
	struct launch *launch = state->launch;
	struct message message = { .type = MESSAGE_NAME_REFUSED };
	if (!launch->has_guard)
		return;
	guard_take_refused(&launch->guard, &refused);
	message.value = refused.total > INT_MAX ? INT_MAX : (int)refused.total;
	for (size_t i = 0; i < refused.count; i++) {
		const char *obeyed_by = planting_obeyed_by(refused.items[i].rule);
		snprintf(message.error.message, sizeof message.error.message, "%s", refused.items[i].path);
		snprintf(message.error.hint, sizeof message.error.hint, "%s", obeyed_by ? obeyed_by : "");
		message.error.number = refused.items[i].rule->layer != LAYER_FLOOR;
		channel_send(state->channel, &message);
	}
}

/* Ends every process inside, and init. */
_Noreturn static void leave(const struct init_state *state, int code)
{
	state->launch->tier->end_all(state->launch);
	_exit(code);
}

/* Waits for every child that changed state and reports the command. Exits if the command has
 * exited, which ends every process inside. */
static void reap(struct init_state *state)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		if (pid != state->command)
			continue;
		if (WIFSTOPPED(status)) {
			send_message(state->channel, MESSAGE_STOPPED, WSTOPSIG(status));
		} else if (WIFCONTINUED(status)) {
			send_message(state->channel, MESSAGE_CONTINUED, 0);
		} else {
			report_git_events(state);
			report_refused(state);
			if (status != 0 && state->launch->tier->has_tried_network(state->launch->plan))
				send_message(state->channel, MESSAGE_NETWORK_TRIED, 0);
			send_message(state->channel, MESSAGE_EXITED, status);
			leave(state, 0);
		}
	}
}

/* True if the signal that the launcher forwards was sent to its whole process group. */
static bool was_for_group(struct init_state *state, int number)
{
	int64_t at = state->group_at[number];
	state->group_at[number] = 0;
	return at && clock_ms() - at < GROUP_MS;
}

static void deliver(struct init_state *state, int number)
{
	bool is_for_group = was_for_group(state, number);
	/* `kill -TERM -PGID` reaches the launcher, init and the command: forwarding it would
	 * deliver it twice, and many programs exit at once on a second SIGTERM. */
	if (is_for_group && getpgid(state->command) == getpgrp())
		return;
	/* If the command has its own group, that group is the job that the sender means. */
	if (state->launch->has_own_group && (is_for_group || number == SIGCONT) && kill(-state->command, number) == 0)
		return;
	kill(state->command, number);
}

/* Receives and obeys one message of the launcher. */
static void obey(struct init_state *state)
{
	struct message message;
	int got = channel_receive(state->channel, &message);
	if (got <= 0)
		leave(state, EXIT_ENDED); /* the launcher exited */
	if (message.type == MESSAGE_FOREGROUND)
		tcsetpgrp(0, getpgid(state->command));
	else if (message.type == MESSAGE_SIGNAL && message.value > 0 && message.value < NSIG)
		deliver(state, message.value);
	else if (message.type == MESSAGE_SIGNAL_ALL && message.value > 0 && message.value < NSIG)
		state->launch->tier->signal_all(state->launch, message.value);
}

/* The launcher enforces the time limit, but it is stopped while the command is stopped. This later
 * limit ends a run in which the command stops itself while its other processes go on. */
static int64_t time_limit(const struct plan *plan)
{
	const struct setting *limit = &plan->limits[LIMIT_TIME];
	return limit->is_set ? clock_ms() + (int64_t)limit->value + OVERTIME_MS : 0;
}

/* Returns the timeout for poll. Ends the run if no time is left. */
static int time_left(const struct init_state *state)
{
	int64_t left = state->end_at - clock_ms();
	if (!state->end_at)
		return -1;
	if (left <= 0)
		leave(state, EXIT_ENDED);
	return left > POLL_MS_MAX ? POLL_MS_MAX : (int)left;
}

_Noreturn static void serve(struct init_state *state)
{
	struct pollfd watched[] = {
		{ .fd = state->channel, .events = POLLIN },
		{ .fd = state->signals, .events = POLLIN },
		{ .fd = state->git_events, .events = POLLIN },
		{ .fd = state->listener, .events = POLLIN },
	};
	for (;;) {
		if (poll(watched, 4, time_left(state)) < 0) {
			if (errno != EINTR)
				leave(state, EXIT_ENDED);
			continue; /* revents were not updated */
		}
		/* Before the channel: a signal to the group must be recorded before the launcher
		 * asks to forward it. */
		if (read_signals(state))
			reap(state);
		if (watched[0].revents)
			obey(state);
		if (watched[2].revents)
			report_git_events(state);
		if (watched[3].revents && !guard_serve_metadata(state->launch->plan, watched[3].fd))
			watched[3].fd = -1;
	}
}

_Noreturn void init_main(struct launch *launch)
{
	const struct launch_tier *tier = launch->tier;
	int channel = launch->ends[1];
	struct init_state state = {
		.launch = launch,
		.channel = channel,
		.git_events = -1,
		.listener = -1,
	};
	struct error err = { 0 };

	if (tie(launch, &err) < 0)
		fail(channel, &err);
	if (launch->limits.has_scope)
		launch_await_scope(launch);
	state.end_at = time_limit(launch->plan);
	if (tier->enter(launch, &state, &err) < 0)
		fail(channel, &err);
	state.signals = signals_watch_inside(&err);
	if (state.signals < 0)
		fail(channel, &err);
	credentials_wipe_environment();
	if (tier->confine(launch, &err) < 0)
		fail(channel, &err);
	await_go(launch);
	if (launch->session)
		init_serve_session(&state);
	start(launch, &state);
	serve(&state);
}

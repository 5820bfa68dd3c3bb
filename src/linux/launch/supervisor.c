/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher while the command runs: it forwards signals, handles init's messages, enforces the
 * time limit and collects the facts from which ending.c fills the result. It runs on the host with
 * the user's rights, so it acts only on reports of the kernel and of init, never on data of the
 * command. */
#include "linux/launch/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/clock.h"
#include "linux/channel.h"
#include "linux/egress/listening.h"
#include "linux/view/run_files.h"
#include "linux/launch/ending.h"
#include "linux/launch/reap.h"

enum {
	/* Between SIGTERM and SIGKILL at the time limit, and after the terminal hung up. */
	GRACE_MS = 2000,
	/* berm does not stop itself if the command is continued within this time. */
	STOP_DELAY_MS = 50,
	/* The same if a SIGCONT was forwarded so recently that the stop may be older than it: init
	 * may be slow to report that the command goes on, and no other SIGCONT would come. */
	STOP_DELAY_AFTER_CONTINUE_MS = 500,
	/* A command that is not executed within this time may have been stopped before execve. */
	START_MS = 200,
};

/* After the start. */
static const int64_t look_ms[] = { 2000, 10000, 30000 };

struct run {
	const struct supervision *supervision;
	struct run_result *result;
	struct error *err;
	struct ending_facts facts;
	bool is_over; /* init has sent its last message */
	/* By berm, which cannot watch the limits while it is stopped itself. */
	bool are_all_stopped;
	int64_t time_limit, kill_at, stop_at, start_by; /* monotonic milliseconds; 0: none */
	int64_t look_at; /* for ports on which the command listens; the same */
	size_t looks; /* that were taken */
	int64_t continued_at; /* when SIGCONT was last forwarded; 0: never */
	int stop_signal;
	bool is_in_front; /* the command's own group is believed to have the terminal */
	int channel;
	bool run_files_pending; /* supervision.run_files_pending, until they are filled */
	bool is_deferred[NSIG]; /* signals that arrived before that: init cannot receive them yet */
	struct holder *holder; /* of a session that takes commands; else NULL */
	int holder_events; /* fd of the holder; -1 without */
};

/* Before the command has started the message waits in the channel, and init reads it right after
 * the start. While the run files are pending nothing is sent: init expects another message then. */
static void signal_command(struct run *run, int number)
{
	struct message message = { .type = MESSAGE_SIGNAL, .value = number };
	if (!run->run_files_pending)
		channel_send(run->channel, &message);
}

/* Asks init to end every process if the tier allows that; otherwise, or the second time, kills
 * init. */
static void kill_all(struct run *run)
{
	run->kill_at = 0;
	if (!run->facts.is_killed && run->supervision->tier->ask_to_end(run->channel))
		run->kill_at = clock_ms() + GRACE_MS;
	else
		kill(run->supervision->pid, SIGKILL);
	run->facts.is_killed = true;
}

/* Used around a stop of berm: other processes of the command could go on without their limits being
 * watched. */
static void signal_all(struct run *run, int number)
{
	struct message message = { .type = MESSAGE_SIGNAL_ALL, .value = number };
	run->are_all_stopped = number == SIGSTOP;
	channel_send(run->channel, &message);
}

/* Gives the terminal, which the shell gave to berm's group, to the command's group. */
static void pass_terminal(struct run *run)
{
	struct message message = { .type = MESSAGE_FOREGROUND };
	if (!run->supervision->has_own_group || !terminal_is_ours(run->supervision->terminal))
		return;
	run->is_in_front = true;
	channel_send(run->channel, &message);
}

static void continue_command(struct run *run)
{
	pass_terminal(run);
	if (run->are_all_stopped)
		signal_all(run, SIGCONT);
	signal_command(run, SIGCONT);
}

/* Stops berm with the signal that stopped the command, so that the shell reports berm as it would
 * report the command. */
static void stop_self(struct run *run)
{
	bool has_own_group = run->supervision->has_own_group;
	sigset_t stop, before;
	run->stop_at = 0;
	/* bash's `fg` of a running job gives the terminal to berm's group and sends no signal. */
	if (has_own_group && (run->stop_signal == SIGTTIN || run->stop_signal == SIGTTOU) &&
	    terminal_is_ours(run->supervision->terminal)) {
		continue_command(run);
		return;
	}
	run->is_in_front = false;
	if (run->supervision->watch->next)
		signal_all(run, SIGSTOP);
	sigemptyset(&stop);
	sigaddset(&stop, run->stop_signal);
	kill(getpid(), run->stop_signal);
	signals_mask(SIG_UNBLOCK, &stop, &before);
	signals_mask(SIG_SETMASK, &before, NULL);
	/* The kernel does not stop berm in an orphaned process group, where no shell could continue
	 * it. Without berm it would not have stopped the command either. */
	if (signals_was_continued())
		return;
	if (run->are_all_stopped)
		signal_all(run, SIGCONT);
	if (has_own_group) {
		run->is_in_front = true;
		signal_command(run, SIGCONT);
	}
}

/* The terminal hung up: kills everything that has not ended after GRACE_MS. */
static void hang_up(struct run *run)
{
	if (!run->supervision->is_hangup_ignored && !run->kill_at)
		run->kill_at = clock_ms() + GRACE_MS;
}

/* Keeps a signal for later. As with pending signals in the kernel, SIGCONT discards stop signals,
 * and they discard it. */
static void defer(struct run *run, int number)
{
	const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU };
	for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++)
		if (number == SIGCONT)
			run->is_deferred[stops[i]] = false;
		else if (number == stops[i])
			run->is_deferred[SIGCONT] = false;
	run->is_deferred[number] = true;
}

static void forward(struct run *run, int number, bool is_from_terminal)
{
	switch (number) {
	case SIGCONT:
		run->stop_at = 0;
		run->continued_at = clock_ms();
		continue_command(run);
		return;
	case SIGHUP:
		if (is_from_terminal)
			hang_up(run);
		signal_command(run, SIGHUP);
		return;
	default:
		/* SIGTSTP too: the command may handle it, and berm stops only after the command has
		 * stopped. */
		if (!is_from_terminal || !run->supervision->progress->is_running || run->supervision->has_own_group)
			signal_command(run, number);
	}
}

static void handle_signal(struct run *run, const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;
	bool is_from_terminal = signals_is_from_terminal(number, info->ssi_code);
	if (run->supervision->session) {
		if (number == SIGTERM || number == SIGINT || number == SIGHUP)
			kill_all(run);
		return;
	}
	if (!run->run_files_pending) {
		forward(run, number, is_from_terminal);
		return;
	}
	if (number == SIGHUP && is_from_terminal)
		hang_up(run); /* GRACE_MS starts now */
	defer(run, number);
}

static void read_signals(struct run *run)
{
	struct signalfd_siginfo info;
	while (read(run->supervision->signals, &info, sizeof info) == (ssize_t)sizeof info)
		if (info.ssi_signo < NSIG)
			handle_signal(run, &info);
}

/* Forwards signals of the terminal too: the command was not in the group when they were sent. */
static void forward_deferred(struct run *run)
{
	for (int number = 1; number < NSIG; number++)
		if (run->is_deferred[number])
			forward(run, number, false);
}

static void handle_not_executed(struct run *run, const struct message *message)
{
	int number = message->value;
	run->result->exit_code = number == ENOENT || number == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	run->result->ended.number = number;
	run->facts.has_status = true;
	run->time_limit = 0;
}

/* Init's final message; only its exit follows. */
static void handle_exited(struct run *run, const struct message *message)
{
	int status = message->value;
	run->facts.has_status = true;
	run->time_limit = 0;
	run->is_over = true;
	if (WIFSIGNALED(status)) {
		run->result->signal = WTERMSIG(status);
		run->result->exit_code = EXIT_SIGNAL_BASE + WTERMSIG(status);
	} else {
		run->result->exit_code = WEXITSTATUS(status);
	}
	ending_note_file_size(run->supervision->plan, run->result);
}

static void fail(struct run *run)
{
	run->facts.has_failed = true;
	kill(run->supervision->pid, SIGKILL); /* init has started nothing yet */
}

void supervisor_check_terminal(const struct supervision *supervision)
{
	if (supervision->has_own_group)
		supervision->progress->is_in_background = !terminal_is_ours(supervision->terminal);
}

/* Init waits for its run files, and then for MESSAGE_GO. */
static void fill_run_files(struct run *run, const int *received, size_t count)
{
	const struct message go = { .type = MESSAGE_GO };
	run->run_files_pending = false;
	supervisor_check_terminal(run->supervision);
	run->is_in_front = run->supervision->has_own_group && !run->supervision->progress->is_in_background;
	if (run_files_fill(run->channel, received, count, run->supervision->plan, run->supervision->documents, run->err) < 0)
		fail(run);
	else if (run->supervision->go_pending && channel_has_failed(channel_send(run->channel, &go))) {
		error_errno(run->err, errno, "cannot send init the permission to start the command");
		fail(run);
	}
	if (!run->facts.has_failed)
		forward_deferred(run);
}

static void handle_failure(struct run *run, const struct message *message)
{
	run->facts.has_failed = true;
	*run->err = message->error;
}

static void handle_note(struct run *run, const struct message *message)
{
	run->result->note = message->error;
}

static void handle_stop(struct run *run, const struct message *message)
{
	int64_t now = clock_ms();
	bool may_be_old = run->continued_at && now - run->continued_at < STOP_DELAY_AFTER_CONTINUE_MS;
	run->stop_at = now + (may_be_old ? STOP_DELAY_AFTER_CONTINUE_MS : STOP_DELAY_MS);
	run->stop_signal = message->value;
}

static void handle_continue(struct run *run, const struct message *message)
{
	(void)message;
	run->stop_at = 0;
	run->continued_at = 0;
}

static void handle_git_refusal(struct run *run, const struct message *message)
{
	run->result->git_refused |= (unsigned)message->value & (GIT_REFUSED_CONFIG | GIT_REFUSED_FILES | GIT_REFUSED_BESIDE);
}

static void handle_refused_name(struct run *run, const struct message *message)
{
	ending_note_refused(message, run->result);
}

static void handle_network_attempt(struct run *run, const struct message *message)
{
	(void)message;
	run->result->has_tried_network = true;
}

/* Init of a session waits for commands. The watcher must run before the first. */
static void handle_ready(struct run *run, const struct message *message)
{
	const struct supervision *supervision = run->supervision;
	const struct holder_request request = { .plan = supervision->plan,
						.session = supervision->session,
						.proxy_secret = supervision->proxy_secret,
						.channel = run->channel,
						.repair = supervision->repair };
	(void)message;
	if (!supervision->session || run->holder)
		return;
	supervision->repair->next = 1;
	if (repair_turn(supervision->repair, true, clock_ms()))
		*run->err = supervision->repair->ended;
	else
		run->holder = holder_open(&request, run->err);
	if (run->holder)
		run->holder_events = holder_events(run->holder);
	else
		fail(run);
}

/* Messages of init after it has its run files. */
static const struct {
	enum message_type type;
	void (*handle)(struct run *run, const struct message *message);
} messages[] = {
	{ MESSAGE_FAILED, handle_failure },
	{ MESSAGE_NOTE, handle_note },
	{ MESSAGE_NOT_EXECUTED, handle_not_executed },
	{ MESSAGE_STOPPED, handle_stop },
	{ MESSAGE_CONTINUED, handle_continue },
	{ MESSAGE_GIT_REFUSED, handle_git_refusal },
	{ MESSAGE_NAME_REFUSED, handle_refused_name },
	{ MESSAGE_NETWORK_TRIED, handle_network_attempt },
	{ MESSAGE_EXITED, handle_exited },
	{ MESSAGE_READY, handle_ready },
};

/* Receives a message, with fds only while some are expected. Returns as channel_receive. */
static int receive(struct run *run, struct message *message, int *descriptors, size_t *count)
{
	*count = 0;
	if (run->supervision->watch->next || run->run_files_pending)
		return channel_receive_with(run->channel, message, descriptors, count);
	return channel_receive(run->channel, message);
}

static void handle_message(struct run *run)
{
	struct message message;
	int descriptors[CHANNEL_DESCRIPTOR_MAX];
	size_t count;
	int got = receive(run, &message, descriptors, &count);

	if (got > 0 && message.type == MESSAGE_RUN_FILES && run->run_files_pending) {
		fill_run_files(run, descriptors, count);
		return;
	}
	if (count > 0)
		watch_take(run->supervision->watch, got > 0 && message.type == MESSAGE_WATCH ? (unsigned)message.value : 0,
			   descriptors, count);
	if (got < 0 && run->run_files_pending) {
		error_errno(run->err, errno, "lost the connection to the sandbox's init");
		fail(run); /* init would wait forever */
	}
	if (got <= 0) {
		/* Init has exited or is about to; its pidfd becomes readable then. */
		run->channel = -1;
		return;
	}
	if (message.id != 0) {
		if (run->holder && holder_take(run->holder, &message))
			kill_all(run);
		return;
	}
	for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
		if (messages[i].type == message.type)
			messages[i].handle(run, &message);
}

/* Continues a command that was stopped between vfork and execve: it blocks init, which can neither
 * report the stop nor forward signals. */
static void check_start(struct run *run, int64_t now)
{
	const struct supervision *supervision = run->supervision;
	if (supervision->progress->is_running || run->facts.has_status) {
		run->start_by = 0;
		return;
	}
	if (supervision->progress->has_started)
		reap_continue(supervision->pid);
	run->start_by = now + START_MS;
}

/* Reports a port on which the command listens and that this machine cannot reach, once. A server
 * may need some time to start; a short run is never looked at. */
static void look_for_ports(struct run *run, int64_t now)
{
	const struct supervision *supervision = run->supervision;
	uint16_t port = listening_unpublished(supervision->plan, supervision->pid);
	run->looks++;
	run->look_at = port || run->looks == sizeof look_ms / sizeof look_ms[0]
			       ? 0
			       : now + look_ms[run->looks] - look_ms[run->looks - 1];
	if (port)
		supervision->request->notice(supervision->request->self,
					     arena_printf(supervision->plan->arena,
							  "the command listens on port %u, which only it can reach; from this "
							  "machine: berm run --publish=%u ...",
							  port, port));
}

static void handle_timeouts(struct run *run)
{
	int64_t now = clock_ms();
	if (run->start_by && now >= run->start_by)
		check_start(run, now);
	if (run->stop_at && now >= run->stop_at)
		stop_self(run);
	if (run->look_at && now >= run->look_at)
		look_for_ports(run, now);
	if (run->time_limit && now >= run->time_limit) {
		run->time_limit = 0;
		run->facts.is_time_over = true;
		/* While the run files are pending there is no command that could end by itself. */
		run->kill_at = run->run_files_pending ? now : now + GRACE_MS;
		signal_command(run, SIGTERM);
		/* A stopped command handles SIGTERM only after SIGCONT. */
		signal_command(run, SIGCONT);
	}
	if ((run->kill_at && now >= run->kill_at) || watch_turn(run->supervision->watch, now) ||
	    repair_turn(run->supervision->repair, run->supervision->progress->is_running, now))
		kill_all(run);
}

static int next_timeout(const struct run *run)
{
	const int64_t times[] = { run->time_limit,
				  run->kill_at,
				  run->stop_at,
				  run->start_by,
				  run->look_at,
				  run->supervision->watch->next,
				  run->supervision->repair->next,
				  run->holder ? holder_next(run->holder) : 0 };
	int64_t next = -1, now = clock_ms();
	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
		int64_t left = times[i] - now;
		if (!times[i])
			continue;
		if (left < 0)
			left = 0;
		if (next < 0 || left < next)
			next = left;
	}
	/* A limit of weeks does not fit an int; waking up early is harmless. */
	return next > 3600000 ? 3600000 : (int)next;
}

static void turn_holder(struct run *run)
{
	if (run->holder && holder_turn(run->holder, clock_ms()))
		kill_all(run);
}

/* Handles the next events. Returns 1 if init has exited and every message was handled. */
static int handle_events(struct run *run)
{
	struct pollfd watched[] = {
		{ .fd = run->supervision->pidfd, .events = POLLIN },
		{ .fd = run->is_over ? -1 : run->channel, .events = POLLIN },
		{ .fd = run->supervision->signals, .events = POLLIN },
		{ .fd = run->is_in_front ? run->supervision->terminal->fd : -1 }, /* hangup only */
		{ .fd = run->supervision->repair->socket, .events = POLLIN },
		{ .fd = run->holder_events, .events = POLLIN },
	};
	if (poll(watched, sizeof watched / sizeof watched[0], next_timeout(run)) < 0 && errno != EINTR) {
		run->facts.is_unwatched = true;
		kill_all(run);
		return 1;
	}
	if (watched[1].revents)
		handle_message(run);
	if (watched[2].revents)
		read_signals(run);
	/* The kernel sends SIGHUP to the foreground group, which is not berm's. */
	if (watched[3].revents & (POLLHUP | POLLERR)) {
		hang_up(run);
		run->is_in_front = false;
	}
	if (watched[4].revents && !watched[0].revents && repair_receive(run->supervision->repair))
		kill_all(run);
	handle_timeouts(run);
	if (!watched[0].revents)
		turn_holder(run);
	return watched[0].revents && !watched[1].revents;
}

int supervisor_run(const struct supervision *supervision, struct run_result *result, struct error *err)
{
	struct run run = { .supervision = supervision,
			   .result = result,
			   .err = err,
			   .channel = supervision->channel,
			   .run_files_pending = supervision->run_files_pending,
			   .is_in_front = supervision->has_own_group && !supervision->progress->is_in_background,
			   .holder_events = -1,
			   .start_by = clock_ms() + START_MS };
	const struct setting *time = &supervision->plan->limits[LIMIT_TIME];
	struct cgroup_events events;
	int status = 0;

	if (time->is_set && !supervision->session) /* a session's commands have their own */
		run.time_limit = clock_ms() + (int64_t)time->value;
	if (supervision->request->notice && supervision->tier->has_own_network(supervision->plan))
		run.look_at = clock_ms() + look_ms[0];
	while (!handle_events(&run))
		;
	/* In a pid namespace init's exit ends everything: the kernel reaps the namespace before the
	 * pidfd becomes readable. In the tier landlock init has ended everything before itself,
	 * unless it was killed. */
	if (child_wait(supervision->pid, &status) < 0) {
		cgroup_end(supervision->group, &events);
		return error_errno(err, errno, "cannot wait for the sandbox");
	}
	if (!supervision->tier->end_leftovers())
		error_set(&result->note, "processes of the command may still be running: they could not be ended");
	cgroup_end(supervision->group, &events);
	run.facts.init_status = status;
	status = ending_report(supervision, &run.facts, &events, result, err);
	if (run.holder)
		holder_close(run.holder, result);
	return status;
}

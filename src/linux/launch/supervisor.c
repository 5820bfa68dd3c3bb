/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher while the command runs: signals in, messages in, the time limit, and the end. Host namespaces, host rights: it never
 * acts on anything the command says, only on what the kernel and init report. */
#include "linux/launch/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "linux/channel.h"
#include "linux/view/run_files.h"
#include "linux/launch/reap.h"

enum {
	GRACE_MS = 2000, /* between SIGTERM and SIGKILL at the time limit, and after the terminal hung up */
	PATIENCE_MS = 10000, /* for processes that are left when init was killed, without a pid namespace */
	STOP_DELAY_MS = 50, /* a stop that is taken back within this time is not ours to repeat */
	START_MS = 200, /* a command that is not executed within this time may have been stopped before it could be */
};

struct run {
	const struct supervision *supervision;
	struct run_result *result;
	struct error *err;
	bool has_failed; /* init reported a failure before that */
	bool has_status;
	bool is_time_over, is_killed;
	bool is_unwatched; /* killed because nobody would have watched it any more */
	bool are_all_stopped; /* by berm, which cannot watch while it is stopped */
	int64_t time_limit, kill_at, stop_at, start_by; /* monotonic milliseconds; 0: none */
	int stop_signal;
	bool is_in_front; /* the command's own group has the terminal, as far as is known */
	int channel;
	bool owes_own; /* supervision.owes_own, until it is done */
	bool is_deferred[NSIG]; /* signals that came before that: there is nobody yet to forward them to */
};

/* Before the command has started the message waits in the channel; init takes it as the first thing afterwards. Until it has its own files it waits
 * for something else. */
static void signal_command(struct run *run, int number)
{
	struct message message = { .type = MESSAGE_SIGNAL, .value = number };
	if (!run->owes_own)
		channel_send(run->channel, &message);
}

/* Alone, init is asked to end all and then itself, by the end of the channel; if it does not, it is killed, and what is left is ended by
 * who adopts it: this process. */
static void kill_all(struct run *run)
{
	run->kill_at = 0;
	if (run->supervision->is_alone && !run->is_killed && run->channel >= 0 && shutdown(run->channel, SHUT_WR) == 0)
		run->kill_at = clock_ms() + GRACE_MS;
	else
		kill(run->supervision->pid, SIGKILL);
	run->is_killed = true;
}

/* A command that stops itself, and berm with it, while others of its processes go on would not be watched any more. */
static void signal_all(struct run *run, int number)
{
	struct message message = { .type = MESSAGE_SIGNAL_ALL, .value = number };
	run->are_all_stopped = number == SIGSTOP;
	channel_send(run->channel, &message);
}

/* The shell gives the terminal to berm's group, which hands it on. */
static void hand_on_terminal(struct run *run)
{
	struct message message = { .type = MESSAGE_FOREGROUND };
	if (!run->supervision->has_own_group || !terminal_is_ours(run->supervision->terminal))
		return;
	run->is_in_front = true;
	channel_send(run->channel, &message);
}

static void continue_command(struct run *run)
{
	hand_on_terminal(run);
	if (run->are_all_stopped)
		signal_all(run, SIGCONT);
	signal_command(run, SIGCONT);
}

/* By the signal that stopped the command, so that the shell says the same of berm as it would of the command. */
static void stop_self(struct run *run)
{
	bool has_own_group = run->supervision->has_own_group;
	sigset_t stop, before;
	run->stop_at = 0;
	/* bash's `fg` of a job that runs gives the terminal to berm's group and tells nobody. */
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
	/* Where no shell could continue it (an orphaned group: the terminal was opened for berm alone) the kernel does not stop berm; bare it
	 * would not have stopped the command either. */
	if (signals_was_continued())
		return;
	if (run->are_all_stopped)
		signal_all(run, SIGCONT);
	if (has_own_group) {
		run->is_in_front = true;
		signal_command(run, SIGCONT);
	}
}

/* The terminal is gone: what does not end by itself is ended. */
static void hang_up(struct run *run)
{
	if (!run->supervision->is_hangup_ignored && !run->kill_at)
		run->kill_at = clock_ms() + GRACE_MS;
}

/* As the kernel does with signals that nobody has taken yet: a stop and its end take each other back. */
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
		continue_command(run);
		return;
	case SIGHUP:
		if (is_from_terminal)
			hang_up(run);
		signal_command(run, SIGHUP);
		return;
	default:
		/* SIGTSTP too: berm stops when the command has stopped, which is the command's to decide. */
		if (!is_from_terminal || !run->supervision->progress->is_running || run->supervision->has_own_group)
			signal_command(run, number);
	}
}

static void take_signal(struct run *run, const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;
	bool is_from_terminal = signals_is_from_terminal(number, info->ssi_code);
	if (!run->owes_own) {
		forward(run, number, is_from_terminal);
		return;
	}
	if (number == SIGHUP && is_from_terminal)
		hang_up(run); /* its time begins now */
	defer(run, number);
}

static void take_signals(struct run *run)
{
	struct signalfd_siginfo info;
	while (read(run->supervision->signals, &info, sizeof info) == (ssize_t)sizeof info)
		if (info.ssi_signo < NSIG)
			take_signal(run, &info);
}

/* The terminal's too: it has told a group in which there was no command. */
static void forward_deferred(struct run *run)
{
	for (int number = 1; number < NSIG; number++)
		if (run->is_deferred[number])
			forward(run, number, false);
}

static void not_executed(struct run *run, int number)
{
	run->result->exit_code = number == ENOENT || number == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	run->result->ended.number = number;
	run->has_status = true;
	run->time_limit = 0;
}

/* Known by its signal, of the command itself or of what a shell says it waited for. */
static void note_file_size(struct run *run, int exit_code)
{
	const struct plan *plan = run->supervision->plan;
	struct text size = { 0 };
	if (exit_code != EXIT_SIGNAL_BASE + SIGXFSZ || !plan->limits[LIMIT_FILE_SIZE].is_set)
		return;
	text_add_size(&size, plan->limits[LIMIT_FILE_SIZE].value);
	error_set(&run->result->note, "file size limit of %s reached", size.data);
	limits_hint(plan, LIMIT_FILE_SIZE, &run->result->note);
	text_free(&size);
}

/* The last that init has to say: then only its death is awaited. */
static void exited(struct run *run, int status)
{
	run->has_status = true;
	run->time_limit = 0;
	if (!run->supervision->is_alone) /* there it can be asked to end the rest */
		run->channel = -1;
	if (WIFSIGNALED(status)) {
		run->result->signal = WTERMSIG(status);
		run->result->exit_code = EXIT_SIGNAL_BASE + WTERMSIG(status);
	} else {
		run->result->exit_code = WEXITSTATUS(status);
	}
	note_file_size(run, run->result->exit_code);
}

static void fail(struct run *run)
{
	run->has_failed = true;
	kill(run->supervision->pid, SIGKILL); /* it has started nothing yet */
}

void supervisor_look_at_terminal(const struct supervision *supervision)
{
	if (supervision->has_own_group)
		supervision->progress->is_in_background = !terminal_is_ours(supervision->terminal);
}

/* Init waits for its own files, and then for the word that it may start the command. */
static void furnish(struct run *run, const int *came, size_t count)
{
	const struct message go = { .type = MESSAGE_GO };
	run->owes_own = false;
	supervisor_look_at_terminal(run->supervision);
	run->is_in_front = run->supervision->has_own_group && !run->supervision->progress->is_in_background;
	if (furnish_fill(run->channel, came, count, run->supervision->plan, run->err) < 0)
		fail(run);
	else if (run->supervision->owes_go && channel_has_failed(channel_send(run->channel, &go))) {
		error_errno(run->err, errno, "cannot tell init to go on");
		fail(run);
	}
	if (!run->has_failed)
		forward_deferred(run);
}

static void take_message(struct run *run)
{
	struct message message;
	int descriptors[CHANNEL_DESCRIPTOR_MAX];
	size_t count = 0;
	int got = run->supervision->watch->next || run->owes_own
			  ? channel_receive_with(run->channel, &message, descriptors, &count)
			  : channel_receive(run->channel, &message);
	if (got > 0 && message.type == MESSAGE_OWN && run->owes_own) {
		furnish(run, descriptors, count);
		return;
	}
	if (count > 0)
		watch_take(run->supervision->watch, got > 0 && message.type == MESSAGE_WATCH ? (unsigned)message.value : 0,
			   descriptors, count);
	if (got < 0 && run->owes_own) {
		error_errno(run->err, errno, "cannot hear the sandbox's init"); /* which would wait for ever */
		fail(run);
	}
	if (got <= 0) {
		run->channel = -1; /* init is gone or going; its pidfd tells when */
		return;
	}
	switch (message.type) {
	case MESSAGE_FAILED:
		run->has_failed = true;
		*run->err = message.error;
		return;
	case MESSAGE_NOTE:
		run->result->note = message.error;
		return;
	case MESSAGE_NOT_EXECUTED:
		not_executed(run, message.value);
		return;
	case MESSAGE_STOPPED:
		run->stop_at = clock_ms() + STOP_DELAY_MS;
		run->stop_signal = message.value;
		return;
	case MESSAGE_CONTINUED:
		run->stop_at = 0;
		return;
	case MESSAGE_GIT_REFUSED:
		run->result->is_git_refused = true;
		return;
	case MESSAGE_NETWORK_SOUGHT:
		run->result->is_network_sought = true;
		return;
	case MESSAGE_EXITED:
		exited(run, message.value);
		return;
	case MESSAGE_SIGNAL:
	case MESSAGE_FOREGROUND:
	case MESSAGE_SIGNAL_ALL:
	case MESSAGE_SCOPE:
	case MESSAGE_WATCH:
	case MESSAGE_PLAN:
	case MESSAGE_OWN:
	case MESSAGE_FURNISHED:
	case MESSAGE_GO:
	case MESSAGE_FINDINGS:
		return;
	}
}

/* A command that is stopped between its fork and its execution keeps init waiting, which can then neither tell of it nor pass anything on: it is continued. */
static void look_at_start(struct run *run, int64_t now)
{
	const struct supervision *supervision = run->supervision;
	if (supervision->progress->is_running || run->has_status) {
		run->start_by = 0;
		return;
	}
	if (supervision->progress->has_started)
		sweep_continue(supervision->pid);
	run->start_by = now + START_MS;
}

static void take_time(struct run *run)
{
	int64_t now = clock_ms();
	if (run->start_by && now >= run->start_by)
		look_at_start(run, now);
	if (run->stop_at && now >= run->stop_at)
		stop_self(run);
	if (run->time_limit && now >= run->time_limit) {
		run->time_limit = 0;
		run->is_time_over = true;
		run->kill_at = run->owes_own ? now : now + GRACE_MS; /* there is no command yet that could end by itself */
		signal_command(run, SIGTERM);
		signal_command(run, SIGCONT); /* a stopped command takes its SIGTERM only when it goes on */
	}
	if ((run->kill_at && now >= run->kill_at) || watch_turn(run->supervision->watch, now))
		kill_all(run);
}

static int next_timeout(const struct run *run)
{
	const int64_t times[] = { run->time_limit, run->kill_at, run->stop_at, run->start_by, run->supervision->watch->next };
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

/* 1 when init has ended and every message was taken. */
static int turn(struct run *run)
{
	struct pollfd watched[] = {
		{ .fd = run->supervision->pidfd, .events = POLLIN },
		{ .fd = run->channel, .events = POLLIN },
		{ .fd = run->supervision->signals, .events = POLLIN },
		{ .fd = run->is_in_front ? run->supervision->terminal->fd : -1 }, /* its end */
	};
	bool has_time = run->time_limit || run->kill_at || run->stop_at || run->start_by || run->supervision->watch->next;
	int timeout = has_time ? next_timeout(run) : -1;
	if (poll(watched, 4, timeout) < 0 && errno != EINTR) {
		run->is_unwatched = true;
		kill_all(run);
		return 1;
	}
	if (watched[1].revents)
		take_message(run);
	if (watched[2].revents)
		take_signals(run);
	/* The kernel tells the group that has the terminal, which is not berm's. */
	if (watched[3].revents & (POLLHUP | POLLERR)) {
		hang_up(run);
		run->is_in_front = false;
	}
	take_time(run);
	return watched[0].revents && !watched[1].revents;
}

static void say_time_over(struct run *run)
{
	const struct plan *plan = run->supervision->plan;
	struct text text = { 0 };
	text_add_duration(&text, plan->limits[LIMIT_TIME].value);
	error_set(&run->result->ended, "time limit of %s reached", text.data);
	text_free(&text);
	limits_hint(plan, LIMIT_TIME, &run->result->ended);
	run->result->exit_code = EXIT_TIME;
}

/* "memory limit of 64M reached (70M in use)" */
static void say_reached(struct run *run, enum limit limit, uint64_t measured)
{
	const struct plan *plan = run->supervision->plan;
	struct text text = { 0 }, amount = { 0 };
	if (limit == LIMIT_PROCESSES) {
		text_add(&text, "%llu", (unsigned long long)plan->limits[limit].value);
		text_add(&amount, "%llu", (unsigned long long)measured);
	} else {
		text_add_size(&text, plan->limits[limit].value);
		text_add_size(&amount, measured & ~(uint64_t)0xfffff ? measured & ~(uint64_t)0xfffff : measured);
	}
	error_set(&run->result->ended, "%s limit of %s reached (%s %s)",
		  limit == LIMIT_MEMORY ? "memory"
		  : limit == LIMIT_DISK ? "disk"
					: "process",
		  text.data, amount.data, limit == LIMIT_DISK ? "added" : "in use");
	limits_hint(plan, limit, &run->result->ended);
	text_free(&text);
	text_free(&amount);
	run->result->exit_code = EXIT_ENDED;
}

/* What the kernel has counted in the run's group: the command saw no more than failing calls, or nothing. */
static void note_refused_processes(struct run *run, const struct cgroup_events *events)
{
	const struct plan *plan = run->supervision->plan;
	if (events->refused_processes == 0 || error_is_set(&run->result->note))
		return;
	error_set(&run->result->note, "process limit of %llu reached: %llu were not started",
		  (unsigned long long)plan->limits[LIMIT_PROCESSES].value, (unsigned long long)events->refused_processes);
	limits_hint(plan, LIMIT_PROCESSES, &run->result->note);
}

/* What the end means, once init is reaped and all inside are dead. */
static int conclude(struct run *run, int status, const struct cgroup_events *events)
{
	const struct watch *watch = run->supervision->watch;
	if (run->has_failed)
		return -1;
	note_refused_processes(run, events);
	if (run->is_time_over) {
		say_time_over(run);
		return 0;
	}
	if (run->has_status)
		return 0;
	if (watch->is_blind) {
		error_set(&run->result->ended, "the sandbox's processes could not be seen, so its limits could not be held");
		run->result->exit_code = EXIT_ENDED;
		return 0;
	}
	if (watch->is_over || events->killed_for_memory > 0) {
		say_reached(run, watch->is_over ? watch->reached : LIMIT_MEMORY,
			    watch->is_over ? watch->measured : events->memory_peak);
		return 0;
	}
	if (!run->supervision->progress->has_started) {
		if (WIFSIGNALED(status))
			return error_set(run->err, "the sandbox was killed (signal %d) while it was being set up",
					 WTERMSIG(status));
		return error_set(run->err, "the sandbox ended while it was being set up");
	}
	run->result->exit_code = run->is_killed && !run->is_unwatched ? EXIT_SIGNAL_BASE + SIGHUP : EXIT_ENDED;
	if (run->is_unwatched)
		error_set(&run->result->ended, "berm could not watch the sandbox any more, so it ended everything in it");
	else if (!run->is_killed && events->is_lost && run->supervision->plan->limits[LIMIT_MEMORY].is_set) {
		error_set(&run->result->ended,
			  "the sandbox was killed, most likely at its memory limit: systemd removed its scope "
			  "before that could be read");
		limits_hint(run->supervision->plan, LIMIT_MEMORY, &run->result->ended);
	} else if (!run->is_killed) {
		error_set(&run->result->ended, "the sandbox's init was killed; everything in it has ended");
	}
	return 0;
}

int supervisor_run(const struct supervision *supervision, struct run_result *result, struct error *err)
{
	struct run run = { .supervision = supervision,
			   .result = result,
			   .err = err,
			   .channel = supervision->channel,
			   .owes_own = supervision->owes_own,
			   .is_in_front = supervision->has_own_group && !supervision->progress->is_in_background,
			   .start_by = clock_ms() + START_MS };
	const struct setting *time = &supervision->plan->limits[LIMIT_TIME];
	struct cgroup_events events;
	int status = 0;

	if (time->is_set)
		run.time_limit = clock_ms() + (int64_t)time->value;
	while (!turn(&run))
		;
	/* Init's death is the death of all: the kernel reaps the whole pid namespace before its pidfd becomes readable. (Alone: init
	 * has ended them before itself, if it was not killed.) */
	while (waitpid(supervision->pid, &status, 0) < 0)
		if (errno != EINTR) {
			cgroup_end(supervision->group, &events);
			return error_errno(err, errno, "cannot wait for the sandbox");
		}
	if (supervision->is_alone && !sweep_children(PATIENCE_MS))
		error_set(&result->note, "processes of the command may have outlived it: they could not be ended");
	cgroup_end(supervision->group, &events);
	return conclude(&run, status, &events);
}

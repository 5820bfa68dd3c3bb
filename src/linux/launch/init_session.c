/* SPDX-License-Identifier: Apache-2.0 */
/* Init of a session: a fork server. Each command is forked from the confined init, so it inherits
 * Landlock, the filter and the empty capability sets, and adds what every guarded command adds to
 * itself (tier_full.c). Each has its own listener and deputy, with rules from the client's scan.
 * Init parses nothing that a command wrote: requests come from the holder, which has checked
 * them. */
#include "linux/launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/cache/plan_codec.h"
#include "common/plan/planting.h"
#include "linux/channel.h"
#include "linux/confine/filter.h"
#include "linux/launch/network_attempts.h"
#include "linux/view/view.h"

enum { FILES = SESSION_STREAMS };

/* The guard of one command, with the plan and the scan that its rules were made from. The deputy
 * needs it until the last process of the command ends, init until the command itself does. */
struct lease {
	struct guard guard; /* first: the deputy's callback gets its address */
	struct plan plan;
	struct scan_results results;
	struct arena arena;
	atomic_int users;
};

struct joined {
	unsigned id; /* 0: the slot is free */
	pid_t pid;
	struct lease *lease;
	unsigned long long attempts; /* to use the network, before it started */
};

struct server {
	struct init_state *state;
	struct joined commands[SESSION_COMMANDS_MAX];
	struct session_caller own; /* init's own properties, which a command inherits */
	atomic_int leases; /* commands of which a process may be left */
};

static struct server server;

/* One command between the request and execve. */
struct start {
	struct session_request request;
	struct command command;
	int files[CHANNEL_DESCRIPTOR_MAX];
	size_t file_count;
};

static void send_to_holder(enum message_type type, unsigned id, int value)
{
	struct message message = { .type = type, .id = id, .value = value };
	channel_send(server.state->channel, &message);
}

static void send_failure(unsigned id, const struct error *err)
{
	struct message message = { .type = MESSAGE_FAILED, .id = id, .error = *err };
	channel_send(server.state->channel, &message);
}

static void release(struct lease *lease)
{
	if (atomic_fetch_sub(&lease->users, 1) != 1)
		return;
	pthread_mutex_destroy(&lease->guard.lock);
	guard_trees_close(&lease->guard.trees); /* of a command that was not started */
	arena_free(&lease->arena);
	free(lease);
	atomic_fetch_sub(&server.leases, 1);
}

static void deputy_ended(struct guard *guard)
{
	release((struct lease *)guard);
}

/* Makes the lease with the rules of the client's scan. */
static struct lease *make_lease(const struct launch *launch, const struct session_request *request)
{
	struct lease *lease;
	char *bytes;
	if (atomic_load(&server.leases) >= SESSION_COMMANDS_MAX)
		return NULL;
	lease = calloc(1, sizeof *lease);
	if (!lease)
		return NULL;
	atomic_fetch_add(&server.leases, 1);
	atomic_store(&lease->users, 1);
	bytes = arena_alloc(&lease->arena, request->head.results);
	memcpy(bytes, request->results, request->head.results);
	lease->plan = *launch->plan;
	lease->plan.arena = &lease->arena;
	lease->plan.scan = &lease->results;
	if (scan_results_decode(&lease->arena, bytes, request->head.results, &lease->results)) {
		guard_prepare(&lease->guard, &lease->plan);
		lease->guard.umask = request->head.caller.umask & 0777;
		return lease;
	}
	release(lease);
	return NULL;
}

/* Moves the streams above 2 first: one of them may have a number of another's target. */
static int place_files(const struct start *start)
{
	int high[FILES];
	for (int i = 0; i < FILES; i++) {
		high[i] = fcntl(start->files[i], F_DUPFD_CLOEXEC, FILES);
		if (high[i] < 0)
			return -1;
	}
	for (int i = 0; i < FILES; i++)
		if (dup2(high[i], i) < 0)
			return -1;
	return 0;
}

/* The holder has checked that nothing is raised. Init has the limits of the policy. */
static int lower_limits(const struct session_caller *caller)
{
	for (int i = 0; i < SESSION_LIMITS; i++) {
		struct rlimit limit;
		uint64_t hard = server.own.hard[i], soft = caller->soft[i];
		if (i == RLIMIT_LOCKS || i == RLIMIT_CORE)
			continue;
		if (caller->hard[i] < hard)
			hard = caller->hard[i];
		if (soft > hard)
			soft = hard;
		limit = (struct rlimit){ .rlim_cur = soft, .rlim_max = hard };
		if ((soft != server.own.soft[i] || hard != server.own.hard[i]) && setrlimit(i, &limit) < 0)
			return -1;
	}
	return 0;
}

static void take_signals(const struct session_caller *caller)
{
	uint64_t different = caller->ignored ^ server.own.ignored;
	sigset_t mask;
	for (; different; different &= different - 1) {
		int number = __builtin_ctzll(different) + 1;
		struct sigaction action = { .sa_handler = (caller->ignored >> (number - 1)) & 1 ? SIG_IGN : SIG_DFL };
		sigaction(number, &action, NULL);
	}
	sigemptyset(&mask);
	memcpy(&mask, &caller->blocked, sizeof caller->blocked);
	signals_mask(SIG_SETMASK, &mask, NULL);
}

/* The caller's properties, which the command would have inherited. */
static int take_caller(const struct session_caller *caller, const char *directory, struct error *err)
{
	if (chdir(directory) < 0)
		return error_errno(err, errno, "cannot enter %s in the session", directory);
	umask(caller->umask & 0777);
	if (server.own.nice != caller->nice && setpriority(PRIO_PROCESS, 0, caller->nice) < 0)
		return error_errno(err, errno, "cannot set the priority of the command");
	if (lower_limits(caller) < 0)
		return error_errno(err, errno, "cannot set the limits of the command");
	return 0;
}

/* Runs between vfork and execve, as become_command() of init.c does. */
static int become(const struct launch *launch, const struct start *start, struct error *err)
{
	setsid(); /* a new process leads no group */
	if (place_files(start) < 0)
		return error_errno(err, errno, "cannot pass stdin, stdout and stderr");
	if (take_caller(&start->request.head.caller, start->request.directory, err) < 0 ||
	    launch->tier->lock_command(launch, err) < 0)
		return -1;
	take_signals(&start->request.head.caller);
	return 0;
}

/* Returns the errno of execve, 0 if it succeeded, -1 with err if the command could not be
 * confined. */
static int fork_command(const struct launch *launch, const struct start *start, pid_t *pid, struct error *err)
{
	volatile int failure = 0;
	*pid = vfork();
	if (*pid == 0) {
		if (become(launch, start, err) == 0)
			failure = command_execute(&start->command);
		_exit(EXIT_NOT_FOUND);
	}
	if (*pid < 0)
		return error_errno(err, errno, "cannot start the command");
	return error_is_set(err) ? -1 : failure;
}

static void reap_child(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The deputy serves before the command's first notified call can be answered: that call waits. */
static int start_deputy(struct launch *launch, struct lease *lease, struct error *err)
{
	int listener;
	if (launch_receive_listener(launch, &listener, err) < 0) {
		close(launch->listener_socket[0]);
		close(launch->listener_socket[1]);
		return -1;
	}
	lease->guard.ended = deputy_ended;
	atomic_fetch_add(&lease->users, 1);
	if (guard_start(&lease->guard, listener, err) == 0)
		return 0;
	close(listener);
	release(lease);
	return -1;
}

static int run(const struct start *start, struct joined *joined, struct error *err)
{
	struct launch *launch = server.state->launch;
	struct lease *lease = make_lease(launch, &start->request);
	int failure;

	if (!lease)
		return error_set(err, "too many commands are left in the session");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, launch->listener_socket) < 0) {
		release(lease);
		return error_errno(err, errno, "cannot make a socket pair");
	}
	launch->command_guard = &lease->guard;
	joined->attempts = plan_has_open_network(launch->plan) ? 0 : network_attempts_total();
	failure = fork_command(launch, start, &joined->pid, err);
	launch->command_guard = &launch->guard;
	if (failure == 0 && start_deputy(launch, lease, err) == 0) {
		joined->lease = lease;
		return 0;
	}
	if (joined->pid > 0) {
		kill(joined->pid, SIGKILL);
		reap_child(joined->pid);
	}
	if (failure != 0) { /* else start_deputy has closed them */
		close(launch->listener_socket[0]);
		close(launch->listener_socket[1]);
	}
	release(lease);
	if (failure <= 0)
		return -1;
	send_to_holder(MESSAGE_NOT_EXECUTED, joined->id, failure);
	joined->id = 0;
	return 0;
}

/* Builds the command as command_prepare() does outside. */
static void prepare(struct start *start, struct arena *arena)
{
	struct session_request *request = &start->request;
	start->command =
		(struct command){ .argv = request->arguments, .environment = request->variables, .paths = request->paths };
	start->command.script = arena_alloc(arena, (request->head.arguments + 2) * sizeof(char *));
	start->command.script[0] = arena_copy(arena, "/bin/sh");
	for (uint32_t i = 1; i < request->head.arguments; i++)
		start->command.script[i + 1] = request->arguments[i];
}

static struct joined *find(unsigned id)
{
	for (size_t i = 0; i < SESSION_COMMANDS_MAX; i++)
		if (server.commands[i].id == id)
			return &server.commands[i];
	return NULL;
}

static void join(struct start *start, const struct message *message)
{
	struct joined *joined = find(0);
	struct arena arena = { 0 };
	char *bytes = arena_alloc(&arena, (size_t)message->value);
	struct error err = { 0 };

	if (channel_receive_bytes(server.state->channel, bytes, (size_t)message->value) < 0)
		_exit(EXIT_ENDED);
	if (!session_request_decode(&arena, bytes, (size_t)message->value, &start->request) || start->file_count != FILES) {
		error_set(&err, "the request arrived damaged");
	} else if (!joined) {
		error_set(&err, "too many commands run in the session");
	} else {
		prepare(start, &arena);
		joined->id = message->id;
		if (run(start, joined, &err) < 0)
			joined->id = 0;
	}
	if (error_is_set(&err))
		send_failure(message->id, &err);
	arena_free(&arena);
}

/* Every process of the command's session: all but those that made a session of their own. */
static void kill_members(pid_t leader)
{
	autoclosedir DIR *processes = opendir("/proc");
	const struct dirent *entry;
	kill(leader, SIGKILL);
	kill(-leader, SIGKILL);
	while (processes && (entry = readdir(processes))) {
		long pid = strtol(entry->d_name, NULL, 10);
		if (pid > 1 && getsid((pid_t)pid) == leader)
			kill((pid_t)pid, SIGKILL);
	}
}

/* The kernel ignores SIGTSTP for a process whose group no shell could continue, unless it handles
 * the signal itself. The client is the shell here. */
static int stop_signal(pid_t pid)
{
	char path[64], text[4096];
	const char *caught;
	autoclose int fd = -1;
	ssize_t got;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	text[got > 0 ? got : 0] = '\0';
	caught = strstr(text, "\nSigCgt:");
	return caught && (strtoull(caught + 8, NULL, 16) >> (SIGTSTP - 1) & 1) ? SIGTSTP : SIGSTOP;
}

static void deliver(const struct message *message)
{
	const struct joined *joined = find(message->id);
	int number = message->value;
	if (!joined || message->id == 0 || number <= 0 || number >= NSIG)
		return;
	if (number == SIGTSTP)
		number = stop_signal(joined->pid);
	/* As the terminal would: to the whole group. */
	if (message->error.number == 0 || kill(-joined->pid, number) < 0)
		kill(joined->pid, number);
}

/* All of it: every process left inside is a descendant of init, or init reaps it as one. */
static int count_children(void)
{
	siginfo_t info = { 0 };
	return waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD ? 0 : 1;
}

static void obey(void)
{
	struct message message;
	struct start start = { 0 };
	int got = channel_receive_with(server.state->channel, &message, start.files, &start.file_count);
	const struct joined *joined;

	if (got <= 0)
		_exit(EXIT_ENDED); /* the holder exited */
	switch ((int)message.type) {
	case MESSAGE_JOIN:
		if (message.value > 0 && message.value <= SESSION_REQUEST_MAX)
			join(&start, &message);
		break;
	case MESSAGE_SIGNAL:
		deliver(&message);
		break;
	case MESSAGE_KILL:
		joined = message.id ? find(message.id) : NULL;
		if (joined)
			kill_members(joined->pid);
		break;
	case MESSAGE_LEFT:
		send_to_holder(MESSAGE_LEFT, MESSAGE_ID_ALL, count_children());
		break;
	default:
		break;
	}
	while (start.file_count > 0)
		close(start.files[--start.file_count]);
}

static void report_refused(const struct joined *joined)
{
	static struct guard_refused refused;
	struct message message = { .type = MESSAGE_NAME_REFUSED, .id = joined->id };
	guard_take_refused(&joined->lease->guard, &refused);
	message.value = refused.total > INT_MAX ? INT_MAX : (int)refused.total;
	for (size_t i = 0; i < refused.count; i++) {
		const char *obeyed_by = planting_obeyed_by(refused.items[i].rule);
		snprintf(message.error.message, sizeof message.error.message, "%s", refused.items[i].path);
		snprintf(message.error.hint, sizeof message.error.hint, "%s", obeyed_by ? obeyed_by : "");
		message.error.number = refused.items[i].rule->layer != LAYER_FLOOR;
		channel_send(server.state->channel, &message);
	}
}

static void report_git(void)
{
	struct init_state *state = server.state;
	unsigned refused = state->git_events < 0 ? 0 : git_events_take(state->git_events);
	if (refused)
		send_to_holder(MESSAGE_GIT_REFUSED, MESSAGE_ID_ALL, (int)refused);
}

/* `leftovers: end`: nothing survives the command. No other runs then. */
static void end_leftovers(void)
{
	do
		kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

static void finish(struct joined *joined, int status)
{
	report_git();
	report_refused(joined);
	if (status != 0 && !plan_has_open_network(server.state->launch->plan) && network_attempts_total() > joined->attempts)
		send_to_holder(MESSAGE_NETWORK_TRIED, joined->id, 0);
	if (!server.state->launch->session->record->keeps)
		end_leftovers();
	send_to_holder(MESSAGE_EXITED, joined->id, status);
	release(joined->lease);
	*joined = (struct joined){ 0 };
}

static void handle_child(pid_t pid, int status)
{
	struct joined *joined = NULL;
	for (size_t i = 0; i < SESSION_COMMANDS_MAX; i++)
		if (server.commands[i].id != 0 && server.commands[i].pid == pid)
			joined = &server.commands[i];
	if (!joined)
		return;
	if (WIFSTOPPED(status))
		send_to_holder(MESSAGE_STOPPED, joined->id, WSTOPSIG(status));
	else if (WIFCONTINUED(status))
		send_to_holder(MESSAGE_CONTINUED, joined->id, 0);
	else
		finish(joined, status);
}

static void reap(void)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		handle_child(pid, status);
	}
}

static void read_signals(void)
{
	struct signalfd_siginfo info;
	while (read(server.state->signals, &info, sizeof info) == (ssize_t)sizeof info)
		;
	reap();
}

/* Init's own filter is the command's without notifications. */
static void get_ready(void)
{
	struct launch *launch = server.state->launch;
	struct error err = { 0 };
	if (!launch->has_guard)
		error_set(&err, "a session needs the guard (`planting: strict`), which this kernel or policy does not have");
	else if (filter_load(&launch->guarding, false, &err) == 0) {
		launch->progress->has_started = true;
		launch->progress->is_running = true;
		launch->progress->is_guarded = true;
		send_to_holder(MESSAGE_READY, 0, 0);
		return;
	}
	send_failure(0, &err);
	_exit(EXIT_REFUSED);
}

_Noreturn void init_serve_session(struct init_state *state)
{
	struct pollfd watched[] = {
		{ .fd = state->channel, .events = POLLIN },
		{ .fd = state->signals, .events = POLLIN },
		{ .fd = state->git_events, .events = POLLIN },
	};
	server.state = state;
	session_caller_read(&server.own);
	get_ready();
	for (;;) {
		if (poll(watched, sizeof watched / sizeof watched[0], -1) < 0) {
			if (errno != EINTR)
				_exit(EXIT_ENDED);
			continue;
		}
		if (watched[1].revents)
			read_signals();
		if (watched[0].revents)
			obey();
		if (watched[2].revents)
			report_git();
	}
}

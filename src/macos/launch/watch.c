/* SPDX-License-Identifier: Apache-2.0 */
/* Supervises the command with one kqueue: signals, the time limit, the proof of a sandbox.
 * Without the byte of proof the run is reported as not run, whatever the exit status is. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/event.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"

enum {
	GRACE_MS = 2000, /* between SIGTERM and SIGKILL at the time limit */
	EVENTS = 16,
	TIMER = 1,
	EXIT_BAD_PROFILE = 65, /* of sandbox-exec */
	EXIT_NESTED = 71,
};

/* SIGCHLD last: it is not forwarded. */
static const int watched[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGTSTP, SIGCHLD };
_Static_assert(sizeof watched / sizeof watched[0] == MAC_SIGNALS, "one saved disposition per signal");

void mac_signals_restore(const struct mac_signals *signals)
{
	for (size_t i = 0; i < MAC_SIGNALS; i++)
		sigaction(watched[i], &signals->saved[i], NULL);
}

int mac_signals_watch(struct mac_signals *signals, struct error *err)
{
	struct kevent changes[MAC_SIGNALS];
	int queue = kqueue();
	if (queue < 0)
		return error_errno(err, errno, "cannot watch for events");
	for (size_t i = 0; i < MAC_SIGNALS; i++) {
		/* With SIGCHLD ignored the kernel would discard the exit status. */
		struct sigaction action = { .sa_handler = watched[i] == SIGCHLD ? SIG_DFL : SIG_IGN };
		sigaction(watched[i], &action, &signals->saved[i]);
		EV_SET(&changes[i], (uintptr_t)watched[i], EVFILT_SIGNAL, EV_ADD, 0, 0, NULL);
	}
	if (kevent(queue, changes, MAC_SIGNALS, NULL, 0, NULL) < 0) {
		error_errno(err, errno, "cannot watch for signals");
		mac_signals_restore(signals);
		close(queue);
		return -1;
	}
	return queue;
}

static int add(const struct mac_watch *watch, uintptr_t what, int16_t filter, uint32_t flags, intptr_t data)
{
	struct kevent change;
	EV_SET(&change, what, filter, EV_ADD, flags, data, NULL);
	return kevent(watch->queue, &change, 1, NULL, 0, NULL);
}

static int add_sources(const struct mac_watch *watch)
{
	const struct setting *time = &watch->launch->plan->limits[LIMIT_TIME];
	if (add(watch, (uintptr_t)watch->proof, EVFILT_READ, 0, 0) < 0)
		return -1;
	return time->is_set ? add(watch, TIMER, EVFILT_TIMER, 0, (intptr_t)time->value) : 0;
}

static void send(const struct mac_watch *watch, int number)
{
	if (watch->launch->has_own_group)
		killpg(watch->child, number);
	else
		kill(watch->child, number);
}

/* The command was stopped: stops berm too, for the shell that waits for it. Continues the command
 * when berm continues. */
static void stop_with_it(const struct mac_watch *watch)
{
	mac_terminal_restore(watch->launch->terminal, false);
	kill(getpid(), SIGSTOP);
	if (watch->launch->has_own_group)
		mac_terminal_give(watch->launch->terminal, watch->child);
	send(watch, SIGCONT);
}

/* True once the command has ended. It is not reaped: until then its pid is not used for another
 * process group. */
static bool has_ended(const struct mac_watch *watch)
{
	for (;;) {
		siginfo_t ended = { 0 }, stopped = { 0 };
		if (waitid(P_PID, (id_t)watch->child, &ended, WEXITED | WNOHANG | WNOWAIT) < 0) {
			if (errno == EINTR)
				continue;
			return true; /* not a child any more: nothing is left to wait for */
		}
		if (ended.si_pid == watch->child)
			return true;
		if (waitid(P_PID, (id_t)watch->child, &stopped, WSTOPPED | WNOHANG) < 0 || stopped.si_pid != watch->child)
			return false;
		stop_with_it(watch);
	}
}

static void take_proof(struct mac_watch *watch)
{
	char byte;
	ssize_t got = read(watch->proof, &byte, 1);
	if (got == 1)
		watch->is_proven = true;
	if (got <= 0) {
		struct kevent change;
		EV_SET(&change, (uintptr_t)watch->proof, EVFILT_READ, EV_DELETE, 0, 0, NULL);
		kevent(watch->queue, &change, 1, NULL, 0, NULL);
	}
}

static void end_for_time(struct mac_watch *watch)
{
	send(watch, watch->is_ending ? SIGKILL : SIGTERM);
	watch->is_ending = true;
	add(watch, TIMER, EVFILT_TIMER, 0, GRACE_MS);
}

/* Forwards a signal, unless the terminal has sent it to the command's process group already. */
static void forward(const struct mac_watch *watch, int number)
{
	bool is_from_terminal = number == SIGINT || number == SIGQUIT || number == SIGWINCH;
	if (is_from_terminal && !watch->launch->has_own_group && watch->launch->terminal->fd >= 0)
		return;
	send(watch, number);
}

static void handle(struct mac_watch *watch, const struct kevent *event)
{
	if (event->filter == EVFILT_TIMER)
		end_for_time(watch);
	else if (event->filter == EVFILT_SIGNAL && event->ident != SIGCHLD)
		forward(watch, (int)event->ident);
	else if (event->filter == EVFILT_READ && (int)event->ident == watch->proof)
		take_proof(watch);
}

static int wait_for_end(struct mac_watch *watch, struct error *err)
{
	struct kevent events[EVENTS];
	while (!has_ended(watch)) {
		int count = kevent(watch->queue, NULL, 0, events, EVENTS, NULL);
		if (count < 0 && errno != EINTR)
			return error_errno(err, errno, "cannot wait for the command");
		for (int i = 0; i < count; i++)
			handle(watch, &events[i]);
	}
	take_proof(watch); /* it may have arrived with the exit */
	return 0;
}

/* Explains a run without proof: the command did not run. */
static int explain_unproven(int status, struct error *err)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NESTED) {
		error_set(err, "this process is in a sandbox already, and macOS does not nest them");
		return error_hint(err, "start berm outside of it");
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BAD_PROFILE) {
		error_set(err, "sandbox-exec rejects the profile that berm wrote");
		return error_hint(err, "please report it with the output of `berm plan --format=sbpl`");
	}
	error_set(err, "the sandbox did not start (%s %d)", WIFSIGNALED(status) ? "signal" : "status",
		  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return error_hint(err, "details: berm doctor");
}

static void judge(const struct mac_watch *watch, int status, struct run_result *result)
{
	const struct setting *time = &watch->launch->plan->limits[LIMIT_TIME];
	result->exit_code = WIFSIGNALED(status) ? EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
	result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (!watch->is_ending)
		return;
	result->exit_code = EXIT_TIME;
	result->has_limit = true;
	result->limit = LIMIT_TIME;
	error_set(&result->ended, "ended: the time limit of %llu ms has passed", (unsigned long long)time->value);
	error_hint(&result->ended, "limits.time raises it");
}

int mac_watch_run(struct mac_watch *watch, struct run_result *result, struct error *err)
{
	int status = 0, waited;
	if (add_sources(watch) < 0) {
		error_errno(err, errno, "cannot watch the command");
		waited = -1;
	} else {
		waited = wait_for_end(watch, err);
	}
	if (waited < 0)
		send(watch, SIGKILL);
	mac_kill_descendants(watch->launch, watch->child);
	if (child_wait(watch->child, &status) < 0 && waited == 0)
		waited = error_errno(err, errno, "cannot wait for the command");
	if (waited < 0)
		return -1;
	if (!watch->is_proven)
		return explain_unproven(status, err);
	judge(watch, status, result);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Signals are blocked, watched and restored. Each case runs in a child. */
#include <greatest.h>

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "linux/signals.h"
#include "unit/support/scratch.h"

static void set_action(int number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };
	sigaction(number, &action, NULL);
}

static bool has_action(int number, void (*handler)(int))
{
	struct sigaction action;
	return sigaction(number, NULL, &action) == 0 && action.sa_handler == handler;
}

/* Returns the next signal in a signalfd, or 0 if there is none. */
static int next(int fd, int *code)
{
	struct signalfd_siginfo info;
	if (read(fd, &info, sizeof info) != (ssize_t)sizeof info)
		return 0;
	*code = info.ssi_code;
	return (int)info.ssi_signo;
}

/* Sets the caller's state of both cases, with this mask. */
static bool are_as_before(const sigset_t *caller)
{
	sigset_t now;
	if (!has_action(SIGCHLD, SIG_IGN) || !has_action(SIGPIPE, SIG_DFL) || sigprocmask(SIG_SETMASK, NULL, &now) < 0)
		return false;
	for (int number = 1; number < NSIG; number++)
		if (sigismember(&now, number) != sigismember(caller, number))
			return false;
	return true;
}

static int give_back(void *data)
{
	struct signal_state saved;
	struct error err;
	sigset_t caller, now;
	(void)data;
	set_action(SIGCHLD, SIG_IGN);
	set_action(SIGPIPE, SIG_DFL);
	sigemptyset(&caller);
	sigaddset(&caller, SIGUSR2);
	sigaddset(&caller, SIGPIPE);
	sigprocmask(SIG_SETMASK, &caller, NULL);
	EXPECT(signals_take(&saved, &err) >= 0);
	/* Otherwise the kernel would reap init and its status would be lost. */
	EXPECT(has_action(SIGCHLD, SIG_DFL));
	EXPECT(has_action(SIGPIPE, SIG_IGN));
	sigprocmask(SIG_SETMASK, NULL, &now);
	EXPECT(sigismember(&now, SIGTERM) && sigismember(&now, SIGINT) && sigismember(&now, SIGRTMAX));
	EXPECT(!sigismember(&now, SIGSEGV) && !sigismember(&now, SIGTTOU) && !sigismember(&now, SIGCHLD));
	signals_give_back(&saved);
	EXPECT(are_as_before(&caller));
	return 0;
}

TEST restores_the_state_of_the_caller(void)
{
	ASSERT_EQ(0, scratch_child(give_back, NULL));
	PASS();
}

/* A second attempt would save a changed state as the caller's. */
static int refuse(void *data)
{
	struct rlimit none = { 0 };
	struct signal_state saved;
	struct error err;
	sigset_t caller;
	(void)data;
	set_action(SIGCHLD, SIG_IGN);
	set_action(SIGPIPE, SIG_DFL);
	sigemptyset(&caller);
	sigaddset(&caller, SIGUSR2);
	sigprocmask(SIG_SETMASK, &caller, NULL);
	EXPECT(setrlimit(RLIMIT_NOFILE, &none) == 0);
	EXPECT(signals_take(&saved, &err) < 0 && strstr(err.message, "cannot watch signals"));
	EXPECT(are_as_before(&caller));
	return 0;
}

TEST changes_nothing_if_signals_cannot_be_watched(void)
{
	ASSERT_EQ(0, scratch_child(refuse, NULL));
	PASS();
}

static int queue(void *data)
{
	static const int sent[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
				    SIGALRM, SIGTSTP, SIGCONT, SIGIO,	SIGPWR,	 SIGWINCH };
	struct signal_state saved;
	struct error err;
	int fd, code = 0;
	(void)data;
	set_action(SIGHUP, SIG_IGN);
	fd = signals_take(&saved, &err);
	EXPECT(fd >= 0);
	EXPECT(saved.is_hangup_ignored);
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
		kill(getpid(), sent[i]);
		EXPECT(next(fd, &code) == sent[i]);
		EXPECT(!signals_is_from_terminal(sent[i], code));
	}
	EXPECT(next(fd, &code) == 0);
	return 0;
}

static int notice_hangup(void *data)
{
	struct signal_state saved;
	struct error err;
	(void)data;
	set_action(SIGHUP, SIG_DFL);
	EXPECT(signals_take(&saved, &err) >= 0);
	EXPECT(!saved.is_hangup_ignored);
	return 0;
}

TEST queues_signals_instead_of_ending(void)
{
	ASSERT_EQ(0, scratch_child(queue, NULL));
	ASSERT_EQ(0, scratch_child(notice_hangup, NULL));
	PASS();
}

/* The kernel sends an alarm as it sends the signal of a key press, but no key caused it. */
static int alarm_is_not_a_key(void *data)
{
	struct signal_state saved;
	struct error err;
	int fd, code = 0;
	(void)data;
	fd = signals_take(&saved, &err);
	EXPECT(fd >= 0);
	fcntl(fd, F_SETFL, 0);
	ualarm(1000, 0);
	EXPECT(next(fd, &code) == SIGALRM);
	EXPECT(code == SI_KERNEL);
	EXPECT(!signals_is_from_terminal(SIGALRM, code));
	EXPECT(signals_is_from_terminal(SIGINT, SI_KERNEL));
	EXPECT(!signals_is_from_terminal(SIGINT, SI_USER));
	return 0;
}

TEST distinguishes_keys_from_alarms(void)
{
	ASSERT_EQ(0, scratch_child(alarm_is_not_a_key, NULL));
	PASS();
}

static int watch_inside(void *data)
{
	struct error err;
	int fd = signals_watch_inside(&err), code;
	(void)data;
	EXPECT(fd >= 0);
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	kill(getpid(), SIGTERM);
	EXPECT(next(fd, &code) == SIGTERM);
	if (fork() == 0)
		_exit(0);
	fcntl(fd, F_SETFL, 0);
	EXPECT(next(fd, &code) == SIGCHLD);
	return 0;
}

TEST watches_children_and_the_group(void)
{
	ASSERT_EQ(0, scratch_child(watch_inside, NULL));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(restores_the_state_of_the_caller);
	RUN_TEST(changes_nothing_if_signals_cannot_be_watched);
	RUN_TEST(queues_signals_instead_of_ending);
	RUN_TEST(distinguishes_keys_from_alarms);
	RUN_TEST(watches_children_and_the_group);
	GREATEST_MAIN_END();
}

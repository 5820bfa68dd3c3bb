/* SPDX-License-Identifier: Apache-2.0 */
/* One run on macOS; compiled on Darwin only, model-checked, never run on a Mac. Never claims a
 * guarantee that Seatbelt does not hold, and never reports a command as run without proof. */
#ifndef BERM_MACOS_LAUNCH_INTERNAL_H
#define BERM_MACOS_LAUNCH_INTERNAL_H

#include <signal.h>
#include <sys/types.h>
#include <termios.h>

#include "common/backend.h"
#include "common/proxy/proxy.h"
#include "common/state/state.h"
#include "macos/profile/sandbox_exec.h"
#include "macos/profile/violations.h"

/* Of libSystem; Apple ships no header for it. Without an operation returns 1 if the process is in a
 * sandbox; else 0 if its sandbox allows the operation on the path, 1 if not. */
int sandbox_check(pid_t pid, const char *operation, int type, ...);
enum { SANDBOX_FILTER_PATH = 1, SANDBOX_CHECK_NO_REPORT = 0x40000000 };

/* terminal.c: the caller's terminal and its foreground process group. */
struct mac_terminal {
	int fd; /* -1: none of the standard streams is a terminal */
	bool is_foreground; /* berm's process group was in the foreground at the start */
	bool is_whole; /* stdin and stdout are this terminal: berm's group is no part of a pipeline */
	struct termios modes;
	const char *names[3]; /* of the terminals among stdin, stdout and stderr */
	size_t name_count;
};
void mac_terminal_open(struct arena *arena, struct mac_terminal *terminal);
/* Makes the group the foreground group, if berm's group was. */
void mac_terminal_give(const struct mac_terminal *terminal, pid_t group);
/* Makes berm's group the foreground group again; with has_ended also restores the modes. */
void mac_terminal_restore(const struct mac_terminal *terminal, bool has_ended);

/* The caller's dispositions of the watched signals. berm ignores them during a run; a kqueue
 * reports ignored signals too. */
enum { MAC_SIGNALS = 10 };
struct mac_signals {
	struct sigaction saved[MAC_SIGNALS];
};

/* proxy.c: the proxy process, for a plan with allowed destinations. */
struct mac_proxy {
	pid_t pid; /* 0: none */
	int control; /* closing it ends the proxy */
	uint16_t port;
	char secret[PROXY_SECRET_MAX + 1];
};
/* Starts the proxy and waits until it has confined itself. On failure no process is left. */
int mac_proxy_start(const struct plan *plan, struct mac_proxy *proxy, struct error *err);
/* Ends the proxy and takes its reports of refused connections. */
void mac_proxy_finish(struct mac_proxy *proxy, struct refusals *reports, struct error *note);

/* mark.c: two empty files in the plan's documents. Only the processes of this run may read the
 * first and not the second, so that they are found wherever they went: in another session, or with
 * another parent. */
struct mac_mark {
	int directory; /* -1: there are no files */
	const char *readable, *unreadable;
};
int mac_mark_make(const struct plan *plan, const char *tag, struct mac_mark *mark, struct error *err);
bool mac_mark_has(const struct mac_mark *mark, pid_t pid);
void mac_mark_remove(struct mac_mark *mark);

/* user_directories.c: the run's own directories in the user's temporary and cache directories, for
 * programs that ignore TMPDIR. */
struct mac_user_directories {
	const char *suffix; /* NULL: there are none */
	const char *temporary, *cache;
};
int mac_user_directories_make(const struct plan *plan, const char *tag, struct mac_user_directories *directories,
			      struct error *err);
void mac_user_directories_remove(const struct mac_user_directories *directories);

/* One launch, prepared before any process is started. */
struct mac_launch {
	const struct plan *plan;
	const struct run_request *request;
	char **arguments, **environment;
	const char *directory; /* the command's working directory */
	int proof; /* the fd of the proof pipe in the sandbox */
	bool has_own_group;
	struct mac_mark mark;
	struct mac_signals signals;
	const struct mac_terminal *terminal;
};

/* launch.c: starts sandbox-exec, in a new process group if has_own_group. Returns its pid and the
 * read end of the proof pipe, which the caller closes; -1 with err if nothing was started. */
pid_t mac_launch_start(const struct mac_launch *launch, int *proof, struct error *err);

/* log.c: reads the kernel's reports of this run, which began at `start` (seconds since 1970).
 * Returns NULL, or the reason why they cannot be read. Takes up to two seconds, so it is called
 * only after a command has failed. */
const char *mac_log_read(struct arena *arena, const char *tag, int64_t start, struct violations *violations);

/* watch.c: supervises until the command has ended. */
struct mac_watch {
	const struct mac_launch *launch;
	pid_t child;
	int proof;
	int queue; /* of mac_signals_watch() */
	bool is_proven;
	bool is_ending; /* the time limit has passed and SIGTERM was sent */
};
/* Returns a kqueue that reports the watched signals; the caller closes it. */
int mac_signals_watch(struct mac_signals *signals, struct error *err);
/* Restores the caller's dispositions. Async-signal-safe, for the child. */
void mac_signals_restore(const struct mac_signals *signals);
/* Waits for the command and fills in the result. -1 with err if the command did not run. */
int mac_watch_run(struct mac_watch *watch, struct run_result *result, struct error *err);

/* reap.c: kills every process of the run but the command itself, which must not be reaped yet: its
 * pid names the process group. */
void mac_kill_descendants(const struct mac_launch *launch, pid_t child);

#endif

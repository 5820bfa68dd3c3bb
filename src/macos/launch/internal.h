/* SPDX-License-Identifier: Apache-2.0 */
/* The rooms of the macOS backend, between its backend*.c files only. */
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

/* Of libSystem; Apple ships no header for it. 1: the process is in a sandbox already. */
int sandbox_check(pid_t pid, const char *operation, int type, ...);

/* backend_terminal.c: the terminal that the caller gave, and who has it. */
struct mac_terminal {
	int fd; /* -1: none of the three is one */
	bool is_foreground; /* berm's group had it at the start */
	bool is_whole; /* standard input and output are both this terminal: no pipeline hangs on berm's group */
	struct termios modes;
	const char *names[3]; /* of the terminals among standard input, output, error */
	size_t name_count;
};
void mac_terminal_open(struct arena *arena, struct mac_terminal *terminal);
void mac_terminal_give(const struct mac_terminal *terminal, pid_t group);
void mac_terminal_take_back(const struct mac_terminal *terminal, bool has_ended);

/* The caller's dispositions of what berm watches for; berm itself ignores them meanwhile, which a kqueue still sees. */
enum { MAC_SIGNALS = 9 };
struct mac_signals {
	struct sigaction saved[MAC_SIGNALS];
};

/* backend_proxy.c: for a plan that reaches the network only through the proxy. */
struct mac_proxy {
	pid_t pid; /* 0: none */
	int control; /* closed: the end */
	uint16_t port;
	char secret[PROXY_SECRET_MAX + 1];
};
/* Waits until it has locked itself in. -1 with err; nothing is left running then. */
int mac_proxy_start(const struct plan *plan, struct mac_proxy *proxy, struct error *err);
void mac_proxy_finish(struct mac_proxy *proxy, struct egress_reports *reports, struct error *note);

/* What a launch needs, made before anything is started. */
struct mac_launch {
	const struct plan *plan;
	const struct run_request *request;
	char **words, **environment;
	const char *directory; /* the command's working directory */
	int proof; /* the number inside */
	bool has_own_group;
	struct mac_signals signals;
	const struct mac_terminal *terminal;
};

/* backend_launch.c: -1 with err if nothing was started; else the child, in its own process group if the launch says so, and the end
 * of the proof pipe that is read. */
pid_t mac_launch_start(const struct mac_launch *launch, int *proof, struct error *err);

/* backend_log.c: the system's log, filtered for this run's tag. Its absence never stops a run. */
struct mac_log {
	pid_t pid; /* -1: not running */
	int fd;
};
void mac_log_start(struct mac_log *log, struct arena *arena, const char *tag);
/* Takes what is there; with is_last waits a moment for stragglers and ends it. */
void mac_log_read(struct mac_log *log, struct violations *violations, bool is_last);

/* backend_watch.c: until the command has ended, by itself or by berm. */
struct mac_watch {
	const struct mac_launch *launch;
	pid_t child;
	int proof;
	struct mac_log *log;
	struct violations *violations;
	int queue; /* a kqueue that has the signals already */
	bool is_proven;
	bool is_ending; /* the time is over: SIGTERM was sent */
};
int mac_signals_take(struct mac_signals *signals, struct error *err); /* returns a kqueue that has them */
void mac_signals_give_back(const struct mac_signals *signals); /* in the child too: async-signal-safe */
int mac_watch_run(struct mac_watch *watch, struct run_result *result, struct error *err);

/* backend_sweep.c: ends what the command left behind: its process group if it had one, and every descendant that can still be
 * found. What left the group and lost its parent is not found: `processes` is partial for it. */
void mac_sweep(pid_t child, bool has_own_group);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and environment of sandbox-exec. Portable, so that it is tested on every system. */
#ifndef BERM_MACOS_PROFILE_SANDBOX_EXEC_H
#define BERM_MACOS_PROFILE_SANDBOX_EXEC_H

#include "macos/profile/profile.h"

#define SANDBOX_EXEC_PATH "/usr/bin/sandbox-exec"
#define SANDBOX_EXEC_SHELL "/bin/sh"

enum { SANDBOX_EXEC_PROOF_MIN = 3, SANDBOX_EXEC_PROOF_MAX = 9 }; /* a redirection in sh takes one digit */

/* Returns an fd for the proof that is none of the passed ones; -1 if there is none. */
int sandbox_exec_proof_fd(const int *pass_fds, size_t count);
/* Returns sandbox-exec -f FILE -DNAME=VALUE... -- /bin/sh -c SCRIPT sh COMMAND ARGUMENT... in the
 * arena. The script writes one byte to the fd `proof`, closes it and executes the command. Without
 * the byte no sandbox was active. */
char **sandbox_exec_arguments(struct arena *arena, const struct profile *profile, const char *profile_path, int proof,
			      char *const *command);
/* Values of this run for the environment. `home` and `tmp` replace those of plan->state in every
 * variable that points there; NULL: no replacement. Port and secret are those of the proxy. */
struct sandbox_exec_run {
	const char *home, *tmp;
	uint16_t proxy_port;
	const char *proxy_secret;
	/* The name of the run's directories in the user's temporary and cache directories, which
	 * confstr() and programs that ignore TMPDIR use then; NULL: there are none. */
	const char *user_suffix;
};
/* Returns the NAME=VALUE list of the plan in the arena, without variables that load code. */
char **sandbox_exec_environment(struct arena *arena, const struct plan *plan, const struct sandbox_exec_run *run);

#endif

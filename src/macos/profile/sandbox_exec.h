/* SPDX-License-Identifier: Apache-2.0 */
/* The words that start a command in a Seatbelt sandbox. Portable, so that it is tested on every system. */
#ifndef BERM_MACOS_PROFILE_SANDBOX_EXEC_H
#define BERM_MACOS_PROFILE_SANDBOX_EXEC_H

#include "macos/profile/profile.h"

#define LAUNCH_SANDBOX_EXEC "/usr/bin/sandbox-exec"
#define LAUNCH_SHELL "/bin/sh"

enum { LAUNCH_PROOF_MIN = 3, LAUNCH_PROOF_MAX = 9 }; /* a shell's redirection takes one digit */

/* The number that the proof goes through: free of the descriptors that the caller passes on; -1 if there is none. */
int launch_proof_number(const int *pass_fds, size_t count);
/* sandbox-exec -f FILE -DNAME=VALUE... -- /bin/sh -c SCRIPT sh COMMAND ARGUMENT...: the script writes one byte to `proof`, closes it
 * and becomes the command. No byte means that no sandbox stood around it. */
char **launch_words(struct arena *arena, const struct profile *profile, const char *profile_path, int proof,
		    char *const *command);
/* What of this run stands in the environment. `home` and `tmp` take the place of those of plan->state wherever a value leads there;
 * NULL: they stay. Port and secret are the proxy's, if the plan has one. */
struct launch_places {
	const char *home, *tmp;
	uint16_t proxy_port;
	const char *proxy_secret;
};
/* NAME=VALUE of the plan, without what loads code into programs of the system. */
char **launch_environment(struct arena *arena, const struct plan *plan, const struct launch_places *places);

#endif

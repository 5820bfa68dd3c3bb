/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites an agent's JSON for a shell command so that the command runs in berm, and lists what a
 * call of a file tool would access. Input that it cannot parse is an error, and an error blocks the
 * command: a hook that accepts unknown input protects nothing. */
#ifndef BERM_COMMON_SETUP_AGENT_HOOK_H
#define BERM_COMMON_SETUP_AGENT_HOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/format/jsonc.h"
#include "common/setup/hosts.h"

/* Exit status that every host treats as "blocked, the reason is on stderr". */
enum { HOOK_BLOCK = 2 };

/* Returns the host with this name if it has a hook, else NULL. */
const struct setup_host *agent_hook_host(const char *name);

/* The command line around a command. Absolute paths. */
struct agent_hook_wrapper {
	const char *program; /* berm; without a project berm-sh, which takes the command as one string */
	const char *shell; /* the shell in the sandbox */
	const char *project; /* or NULL */
};

struct agent_hook_answer {
	const char *json; /* one line */
	const char *command; /* the final command */
};

/* Finds the directory that the host works in: `root` (the value of root_variable, or NULL), else
 * the roots or the cwd of the JSON. The result is absolute; its existence is not checked. */
int agent_hook_workspace(struct arena *arena, const struct setup_host *host, struct jsonc_text input, const char *root,
			 const char **workspace, struct error *err);
/* Rewrites the command. With a NULL wrapper it stays unchanged: the host itself runs
 * in the sandbox. */
int agent_hook_rewrite(struct arena *arena, const struct setup_host *host, struct jsonc_text input,
		       const struct agent_hook_wrapper *wrapper, struct agent_hook_answer *answer, struct error *err);

/* Finds the file tool that the JSON announces and the accesses of the call. *tool is NULL if the
 * JSON announces anything else, which agent_hook_rewrite then judges. */
int agent_hook_accesses(struct arena *arena, const struct setup_host *host, struct jsonc_text input,
			const struct agent_tool **tool, struct agent_accesses *accesses, struct error *err);
/* Returns the answer that gives a call of this tool another pattern of names, "" if its own pattern
 * leaves these names out, or NULL if neither can be had. `excluded` are base names. */
const char *agent_hook_exclude(struct arena *arena, const struct setup_host *host, const struct agent_tool *tool,
			       struct jsonc_text input, const char *const *excluded, size_t count);
/* True if the path, canonical, is in a place of the host's own files for this workspace. `config`
 * is the directory of the host's settings. */
bool agent_hook_is_own(struct arena *arena, const struct setup_host *host, const char *config, const char *workspace,
		       const struct agent_access *access, const char *path);

/* True if the command is exactly what agent_hook_rewrite makes of some command
 * with this wrapper. */
bool agent_hook_is_wrapped(struct arena *arena, const struct agent_hook_wrapper *wrapper, const char *command);

#endif

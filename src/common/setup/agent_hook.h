/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent's hook answers: the host's description of a shell command in, the same with the command inside berm out. Whatever is
 * not understood is an error, and an error blocks the command: a hook that waves through what it cannot read protects nothing. */
#ifndef BERM_COMMON_SETUP_AGENT_HOOK_H
#define BERM_COMMON_SETUP_AGENT_HOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/format/jsonc.h"

/* Exit status that each of the hosts takes for "blocked, the reason is on stderr". */
enum { HOOK_BLOCK = 2 };

enum hook_shape {
	HOOK_UPDATED_INPUT, /* hookSpecificOutput.updatedInput */
	HOOK_UPDATED_INPUT_ALLOW, /* the same, only together with permissionDecision: allow */
	HOOK_TOOL_INPUT, /* hookSpecificOutput.tool_input */
	HOOK_SNAKE_INPUT, /* permission and updated_input */
};

struct hook_host {
	const char *name;
	const char *event; /* that a tool call is announced with */
	const char *tool; /* that runs shell commands */
	const char *guard_event; /* that shows the final command, which has to be berm's; NULL: none */
	const char *root_variable; /* the environment variable that names the workspace; NULL: none */
	bool has_roots; /* workspace_roots in the JSON */
	enum hook_shape shape;
};

extern const struct hook_host hook_host_table[];
extern const size_t hook_host_count;

const struct hook_host *hook_host_find(const char *name);

/* How a command gets into berm. Absolute paths. */
struct hook_wrapper {
	const char *program; /* berm */
	const char *shell; /* the shell inside */
	const char *project;
};

struct hook_answer {
	const char *json; /* one line */
	const char *command; /* as it will run */
};

/* The directory that the host works in: from `root` (the value of root_variable, or NULL), the roots or the cwd of the JSON.
 * Absolute, not yet looked at. */
int hook_workspace(struct arena *arena, const struct hook_host *host, struct jsonc_text input, const char *root,
		   const char **workspace, struct error *err);
/* A NULL wrapper: the host itself is inside already, and the command stays as it is. */
int hook_rewrite(struct arena *arena, const struct hook_host *host, struct jsonc_text input, const struct hook_wrapper *wrapper,
		 struct hook_answer *answer, struct error *err);

/* One word for sh, bash, dash, zsh (rc_quotes or not) and fish alike. */
void hook_quote(struct text *out, const char *word);
/* Is this command, to the last byte, what hook_rewrite makes of some command with this wrapper? */
bool hook_is_wrapped(struct arena *arena, const struct hook_wrapper *wrapper, const char *command);

#endif

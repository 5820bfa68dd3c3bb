/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a call of an agent's file tool with the plan that `berm run` enforces. The tool runs
 * outside the sandbox: the answer is right when it is given, and a symlink that changes afterwards
 * can make it wrong. */
#ifndef BERM_COMMON_CLI_HOOK_JUDGE_H
#define BERM_COMMON_CLI_HOOK_JUDGE_H

#include "common/setup/agent_hook.h"

struct hook_call {
	const struct setup_host *host;
	struct jsonc_text input;
	const char *project, *workspace; /* project is canonical */
	const struct agent_tool *tool;
	struct agent_accesses accesses;
};

/* Returns 0 if the policy allows every access, else -1 with err. *answer is the JSON to print, or
 * NULL: no decision, so that the host asks the user as it would without berm. */
int hook_judge(struct arena *arena, const struct hook_call *call, const char **answer, struct error *err);

#endif

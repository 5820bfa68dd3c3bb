/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that depend on the caller of this launch: without a terminal no editor waits for keys,
 * and a command of Codex learns that apply_patch is no program. The caller's own variables win. */
#include "common/plan/build.h"

#include <string.h>

/* Where neither is set, git starts vi, which waits on a pipe until the agent's time is over. */
static const char *const editors[] = { "GIT_EDITOR", "VISUAL", "EDITOR" };
static const char editor[] = "EDITOR";

/* Codex itself executes `apply_patch <<EOF` as a shell command, outside of any shell. In a sandbox
 * there is no such program. The variable is a function for bash. */
static const char codex[] = "CODEX_CI", function[] = "BASH_FUNC_apply_patch%%";
static const char function_text[] =
	"() { echo 'berm: apply_patch is not a program in this sandbox; use the apply_patch tool instead' >&2; return 127; }";

void environment_add_callers(struct plan *plan)
{
	bool has_editor = plan->context.has_terminal;
	for (size_t i = 0; i < sizeof editors / sizeof editors[0]; i++)
		has_editor = has_editor || environment_has(plan, editors[i]);
	if (!has_editor)
		environment_put(plan, editor, "true");
	if (environment_has(plan, codex))
		environment_put(plan, function, function_text);
}

bool environment_is_callers(const struct plan_variable *variable)
{
	return !variable->rule && (strcmp(variable->name, editor) == 0 || strcmp(variable->name, function) == 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal of an editor: variables that the editor sets, by a list of full names for each
 * editor, and the socket of its debugger. The socket is the one that the editor names, in the
 * environment or in the line that it types into a new terminal, only if the user allowed that with
 * `berm setup HOST --debugger`. Never passes a variable by a pattern, and never shows the socket's
 * directory. */
#ifndef BERM_COMMON_SHELL_EDITOR_TERMINAL_H
#define BERM_COMMON_SHELL_EDITOR_TERMINAL_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/plan/plan.h"

/* The file in the directory of the user's policy that lists the editors whose debugger may
 * attach. */
#define EDITOR_DEBUGGERS "debuggers"

/* The directory below the shims for programs that are debugged: `bash`, in whose terminals the
 * editor types a launch, and `berm-node`, which the editor starts itself. */
#define EDITOR_DEBUG_SHIMS "debug"
#define EDITOR_DEBUG_NODE "berm-node"

struct editor_debugger {
	const char *socket; /* on the host and inside; NULL: none */
	const char *options; /* the value of VSCODE_INSPECTOR_OPTIONS, or NULL */
	const char *node_options; /* the value of NODE_OPTIONS, or NULL */
	bool is_typed; /* both are words of the line that the editor typed, which sets them */
	struct policy rules; /* with the socket alone */
};

/* True if the path names a program of EDITOR_DEBUG_SHIMS. */
bool editor_debug_is_shim(struct arena *arena, const char *program);
/* True if the text of the file EDITOR_DEBUGGERS, or NULL, allows VS Code's debugger. */
bool editor_debugger_is_allowed(const char *allowed);

/* Finds the socket that the environment names. `allowed` is the text of the file EDITOR_DEBUGGERS,
 * or NULL. Leaves debugger->socket NULL if there is none, or if it is not what the editor makes: a
 * socket of this user with the name of a debugger's. */
void editor_debugger_find(struct arena *arena, const char *allowed, struct editor_debugger *debugger);
/* Returns the value of `inspectorIpc` if it has the form of the debugger's socket, else NULL. Opens
 * no file. */
const char *editor_debugger_parse(struct arena *arena, const char *options);
/* Adds the variables of the editor that started this terminal to the plan. */
void editor_terminal_pass(struct plan *plan);
/* Adds the debugger's variables, if they are not typed. Returns -1 with err, and adds none, if the
 * sandbox does not show the file that node would have to load. */
int editor_debugger_pass(struct plan *plan, const struct editor_debugger *debugger, struct error *err);

#endif

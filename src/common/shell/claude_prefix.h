/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the strings that Claude Code passes to its prefix program (CLAUDE_CODE_SHELL_PREFIX) and to
 * its shell (CLAUDE_CODE_SHELL):
 *
 *   source SNAPSHOT && eval COMMAND \< /dev/null && pwd -P >| /tmp/claude-1a2b-cwd
 *
 * The snapshot is in the user's home and the last file in the host's /tmp; neither exists in the
 * sandbox. The snapshot, functions and aliases of the user's shell, is copied into the sandbox;
 * where that is not possible it is dropped. Without a snapshot the file of user_functions.h takes
 * its place: a shim as the host's shell makes none. The directory comes out through a pipe, is
 * validated as data and written by berm: one absolute path of a directory in the project, to the
 * file whose name was parsed before anything ran. Never rewrites any other string.
 *
 * The host may put further parts between the snapshot and `eval`, each followed by `&&`. The last
 * part but one must be `eval` with quoted words: a command that only ends like this is not in this
 * form. The file is directly in /tmp or in the directory that the host names, and its path has no
 * character with a meaning to a shell. */
#ifndef BERM_COMMON_SHELL_CLAUDE_PREFIX_H
#define BERM_COMMON_SHELL_CLAUDE_PREFIX_H

#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/plan/plan.h"

struct claude_prefix {
	const char *file; /* file for the final directory, or NULL: not such a string */
	const char *snapshot; /* the sourced file, or NULL */
	const char *functions; /* file to source if there is no snapshot, set by the caller; NULL: none */
	size_t snapshot_length; /* of the part "source FILE" at the start */
	size_t file_offset; /* of the file's word at the end */
};

/* Parses the string; opens no file. `named` is the host's own directory for temporary files, or
 * NULL: /tmp alone. */
void claude_prefix_parse(struct arena *arena, const char *string, const char *named, struct claude_prefix *prefix);
/* Returns the string to run in the sandbox, which writes the directory to this descriptor. Adds the
 * snapshot to the plan's documents if the sandbox does not show it. */
const char *claude_prefix_rewrite(struct plan *plan, const char *string, const struct claude_prefix *prefix, int descriptor);
/* Returns the directory that the bytes from the sandbox name, or NULL if the host must
 * not get it. */
const char *claude_prefix_judge(const struct plan *plan, const char *bytes, size_t length);
/* Writes "DIRECTORY\n" to the file: a new one, or a small one of the user's without further hard
 * links. Returns -1 with err. */
int claude_prefix_deliver(struct arena *arena, const struct claude_prefix *prefix, const char *directory, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The shell strings of Claude Code (CLAUDE_CODE_SHELL_PREFIX), as it hands them to its prefix:
 *
 *   source SNAPSHOT && eval COMMAND \< /dev/null && pwd -P >| /tmp/claude-1a2b-cwd
 *
 * The snapshot lies in the user's home and the last file in the host's /tmp, neither of which is there inside. So the snapshot is
 * left out where it cannot be seen, and the directory comes out through a pipe, is judged as data and written by berm: one absolute path
 * of a directory in the project, into a file of exactly that name, which was read from the string before anything ran. Every other
 * string is run as it is. */
#ifndef BERM_COMMON_SHELL_CLAUDE_PREFIX_H
#define BERM_COMMON_SHELL_CLAUDE_PREFIX_H

#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/plan/plan.h"

struct prefix {
	const char *file; /* where the host expects the directory, or NULL: not such a string */
	const char *snapshot; /* what it sources, or NULL */
	size_t snapshot_length, file_offset; /* of "source FILE" at the beginning; of the file's word at the end */
};

/* What the string says, as text; nothing is looked at. */
void prefix_parse(struct arena *arena, const char *string, struct prefix *prefix);
/* The string to run inside, with the directory going to this descriptor. */
const char *prefix_rewrite(const struct plan *plan, const char *string, const struct prefix *prefix, int descriptor);
/* The directory that the bytes from inside name, if the host may be told of it: else NULL. */
const char *prefix_judge(const struct plan *plan, const char *bytes, size_t length);
/* Writes "DIRECTORY\n" to the file: a new one, or an old one that is the user's, small and has no other name. */
int prefix_deliver(struct arena *arena, const struct prefix *prefix, const char *directory, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Files that Claude Code makes for the model to read with a command: the output of background
 * commands (/tmp/claude-UID) and saved results of tools. Commands may read those of their own
 * project, never transcripts, and nothing of another project. */
#ifndef BERM_COMMON_SHELL_CLAUDE_FILES_H
#define BERM_COMMON_SHELL_CLAUDE_FILES_H

#include "common/base/arena.h"
#include "common/policy/policy.h"

/* Adds a rule to files.read for each such directory that exists now. Without Claude Code on this
 * machine it costs one system call. */
void claude_files_rules(struct arena *arena, struct policy *policy);

#endif

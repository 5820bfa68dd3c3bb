/* SPDX-License-Identifier: Apache-2.0 */
/* Detects that this process runs in berm's sandbox, by marks that only berm can set, never by a
 * variable. */
#ifndef BERM_COMMON_CONTEXT_INSIDE_H
#define BERM_COMMON_CONTEXT_INSIDE_H

#include <stdbool.h>

/* The directory of berm's files in a sandbox, and the file that every sandbox with mounts has
 * there. */
#define INSIDE_DIRECTORY "/run/berm"
#define INSIDE_SUMMARY INSIDE_DIRECTORY "/summary"
/* The guarantees of the sandbox, for a berm inside it (common/plan/held.h). */
#define INSIDE_HELD INSIDE_DIRECTORY "/held"
/* The second wall around the shell commands of an agent (common/plan/wall.h), and a file that only
 * processes outside of that wall can open. */
#define INSIDE_WALL INSIDE_DIRECTORY "/wall"
#define INSIDE_AGENT INSIDE_DIRECTORY "/agent"

/* True if this process is in a sandbox of berm. */
bool inside_sandbox(void);
/* True if the system-call filter or profile answers as berm's does. Implemented per system. */
bool inside_is_marked(void);

#endif

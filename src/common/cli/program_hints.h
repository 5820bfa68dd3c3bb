/* SPDX-License-Identifier: Apache-2.0 */
/* Hints for programs that cannot work in a sandbox, or only with a setting. Their own errors do not
 * mention the sandbox. */
#ifndef BERM_COMMON_CLI_PROGRAM_HINTS_H
#define BERM_COMMON_CLI_PROGRAM_HINTS_H

#include <stdbool.h>

enum { PROGRAM_NAMES_MAX = 20 };

/* True if the command is, or as a string of a shell starts, one of these programs. Unused names are
 * NULL. */
bool program_is_started(char *const *argv, const char *const names[PROGRAM_NAMES_MAX]);
/* Returns one sentence about the program that a failed command ran, or NULL. Looks at the name of
 * argv[0] and, for `sh -c STRING`, at the words of the string that start a command. Decides nothing
 * else. */
const char *program_hint(char *const *argv, bool has_nesting);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the completion scripts for bash, zsh and fish from the tables of subcommands, options,
 * hosts, guarantees and policies. */
#ifndef BERM_COMMON_CLI_COMPLETIONS_H
#define BERM_COMMON_CLI_COMPLETIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/cli/subcommands.h"

struct text;

extern const char *const completions_shells[]; /* ends with NULL */

/* Adds the script to `out`. Returns false for an unknown shell. */
bool completions_write(const char *shell, const struct subcommand *table, size_t count, struct text *out);

#endif

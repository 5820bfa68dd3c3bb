/* SPDX-License-Identifier: Apache-2.0 */
/* The first line that an editor types into a new terminal, read before any sandbox exists: no
 * command can have typed it. VS Code types a launch of its debugger so, with the debugger's
 * variables as words of the line. Never runs the line, and never reads past its end. */
#ifndef BERM_COMMON_SHELL_TYPED_LINE_H
#define BERM_COMMON_SHELL_TYPED_LINE_H

#include "common/base/arena.h"

/* Returns the line without its end, or NULL: nothing was typed for `wait_ms`, it begins with a
 * control character, or the terminal is gone. The terminal does not echo meanwhile. */
const char *typed_line_read(struct arena *arena, int terminal, int wait_ms);
/* Returns the value of the last word NAME=VALUE, without quotes, or NULL. The words are those of a
 * POSIX shell; nothing is expanded. */
const char *typed_line_variable(struct arena *arena, const char *line, const char *name);
/* Returns the line with `other` for each word, unquoted, that is `word`. */
const char *typed_line_replace(struct arena *arena, const char *line, const char *word, const char *other);

#endif

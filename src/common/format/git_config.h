/* SPDX-License-Identifier: Apache-2.0 */
/* Reads values of a git configuration file's text. Understands section headers, `name = value`
 * lines, quotes and comments, and skips anything else. Never fails, never follows includes. */
#ifndef BERM_COMMON_FORMAT_GIT_CONFIG_H
#define BERM_COMMON_FORMAT_GIT_CONFIG_H

#include <stdbool.h>

#include "common/base/arena.h"

/* Iterates over all settings, subsections included. Start with the text in `next` and zero in the
 * other members except `arena`. */
struct git_config_reader {
	struct arena *arena;
	const char *next;
	const char *section, *subsection; /* subsection: NULL: none */
	const char *name, *value; /* value: "" for a name alone */
	bool has_value;
	unsigned line; /* of the name, from 1 on */
	unsigned lines; /* that were read */
};
/* Moves to the next setting; false at the end. */
bool git_config_next(struct git_config_reader *reader);

/* Returns the last value of section.name in a header without subsection, or NULL. */
const char *git_config_value(struct arena *arena, const char *text, const char *section, const char *name);
/* Returns the text without the lines that set section.name, or NULL if no line does. */
char *git_config_without(struct arena *arena, const char *text, const char *section, const char *name);

#endif

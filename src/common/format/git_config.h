/* SPDX-License-Identifier: Apache-2.0 */
/* One value out of a git configuration file's text, for the few that berm needs. Not git's parser: plain `[section]` headers (without
 * subsection), `name = value` lines, quotes, comments; anything else is passed over. */
#ifndef BERM_COMMON_FORMAT_GIT_CONFIG_H
#define BERM_COMMON_FORMAT_GIT_CONFIG_H

#include <stdbool.h>

#include "common/base/arena.h"

/* Every `name = value` in order, subsections included. Start with the text in `next` and the rest zero. */
struct git_config_reader {
	struct arena *arena;
	const char *next;
	const char *section, *subsection; /* subsection: NULL if the header has none */
	const char *name, *value;
};
bool git_config_next(struct git_config_reader *reader);

/* The last value of section.name, or NULL. Includes are not followed. */
const char *git_config_value(struct arena *arena, const char *text, const char *section, const char *name);
/* The text without its lines that set section.name, or NULL if there is none. */
char *git_config_without(struct arena *arena, const char *text, const char *section, const char *name);

#endif

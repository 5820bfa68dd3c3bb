/* SPDX-License-Identifier: Apache-2.0 */
/* One value out of a git configuration file's text, for the few that berm needs. Not git's parser: plain `[section]` headers (without
 * subsection), `name = value` lines, quotes, comments; anything else is passed over. */
#ifndef BERM_COMMON_GIT_CONFIG_H
#define BERM_COMMON_GIT_CONFIG_H

#include "common/arena.h"

/* The last value of section.name, or NULL. Includes are not followed. */
const char *git_config_value(struct arena *arena, const char *text, const char *section, const char *name);
/* The text without its lines that set section.name, or NULL if there is none. */
char *git_config_without(struct arena *arena, const char *text, const char *section, const char *name);

#endif

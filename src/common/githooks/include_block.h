/* SPDX-License-Identifier: Apache-2.0 */
/* git hooks in the sandbox. A directory of the user's own (the dispatcher) has a script for every hook, and git's configuration leads
 * there by an [include] at the end of a file:
 *
 *   - What stood in the file before stays as it is; core.hooksPath of the included file wins because it comes last. The last value
 *     that is not ours is the repository's own, and programs that set it (husky) neither fail nor undo ours.
 *   - In the sandbox the included file is not there, and git passes over includes that are not: a git that runs inside finds the
 *     repository's own hooks, which then run behind the same wall.
 *   - Taking the lines out gives the bytes that were there before. */
#ifndef BERM_COMMON_GITHOOKS_INCLUDE_BLOCK_H
#define BERM_COMMON_GITHOOKS_INCLUDE_BLOCK_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/base/error.h"

/* Every hook that git looks for by name and that can be stood in for; ends with NULL. Not among them: push-to-checkout and proc-receive,
 * whose being there alone changes what git does, and those of git-p4. */
extern const char *const hooks_names[];
bool hooks_is_name(const char *name);

/* The places below the home. */
const char *hooks_directory(struct arena *arena, const char *home);
const char *hooks_include(struct arena *arena, const char *home);

/* The text of a hook, and of the file that is included. */
const char *hooks_script(struct arena *arena, const char *berm);
const char *hooks_include_text(struct arena *arena, const char *directory);

/* A configuration file's text with the block at its end (moved there if it has one already). NULL stands for a file that is not there. */
const char *hooks_add(struct arena *arena, const char *text, const char *include);
/* Without the block: what was there before, but for what others have changed since. NULL if the text has none. *is_made: the file was
 * made for the block, so that an empty rest means none. */
const char *hooks_remove(struct arena *arena, const char *text, bool *is_made);

#endif

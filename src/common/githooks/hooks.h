/* SPDX-License-Identifier: Apache-2.0 */
/* Runs git hooks in the sandbox: writes a dispatcher script per hook, and an [include] in git's
 * configuration that selects it. Never changes any other line of the configuration and never runs
 * anything from the repository.
 *
 *   - The [include] is at the end of the file, so its core.hooksPath wins. The last other value is
 *     the repository's own: programs that set it (husky) neither fail nor undo the dispatcher.
 *   - In the sandbox the included file does not exist, and git skips missing includes. A git that
 *     runs in the sandbox finds the repository's own hooks and runs them in the same sandbox.
 *   - Removing the block restores the bytes of the file. */
#ifndef BERM_COMMON_GITHOOKS_HOOKS_H
#define BERM_COMMON_GITHOOKS_HOOKS_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/context/context.h"

/* include_block.c: names and texts. */

/* Every hook that git calls by name and that a dispatcher can replace; ends with NULL. Not
 * included: push-to-checkout and proc-receive, whose existence alone changes what git does, and the
 * hooks of git-p4. */
extern const char *const hooks_names[];
bool hooks_is_name(const char *name);

/* Return the paths of the dispatcher and of the included file below the home directory. */
const char *hooks_directory(struct arena *arena, const char *home);
const char *hooks_include(struct arena *arena, const char *home);

/* Return the text of a dispatcher script and of the included file. */
const char *hooks_script(struct arena *arena, const char *berm);
const char *hooks_include_text(struct arena *arena, const char *directory);

/* Returns the text of a configuration file with the block at its end; an existing block moves
 * there. A NULL text means that the file does not exist. */
const char *hooks_add(struct arena *arena, const char *text, const char *include);
/* Returns the text without the block and with all other changes since, or NULL if it has no block.
 * Sets *is_made if the file was created for the block, so that an empty rest means that the file
 * can be removed. */
const char *hooks_remove(struct arena *arena, const char *text, bool *is_made);

/* files.c: the dispatcher and git's configuration on disk. */

/* Reads a whole configuration file; *text is NULL if it does not exist. Follows symlinks, which are
 * common for dot files. */
int hooks_read(struct arena *arena, const char *path, const char **text, struct error *err);
/* Replaces the file as git does (FILE.lock, rename) and keeps its mode; a NULL text removes it.
 * Fails if git holds the lock. */
int hooks_replace(struct arena *arena, const char *path, const char *text, struct error *err);
/* Writes the dispatcher scripts and the included file where they are missing or differ. */
int hooks_write_dispatcher(struct arena *arena, const char *home, const char *berm, struct error *err);
/* Sets *problem to the first file that is missing or differs, or to NULL. */
void hooks_check_dispatcher(struct arena *arena, const char *home, const char *berm, const char **problem);

/* repository_hooks.c: the configuration in effect in the working directory, by asking git. */

/* True if this value of core.hooksPath is the dispatcher's directory. */
bool hooks_is_dispatcher(struct arena *arena, const struct context *context, const char *value);
/* True if git uses the dispatcher here. Sets *setting to a sentence about core.hooksPath and the
 * file that sets it. */
bool hooks_are_in_force(struct arena *arena, const struct context *context, const char **setting);
/* Returns the last core.hooksPath other than the dispatcher's, else the hooks directory of the
 * repository. It can be relative to the working directory. Returns NULL with err. */
const char *hooks_own_directory(struct arena *arena, const struct context *context, struct error *err);
/* Returns the configuration file that all worktrees of the repository share, or NULL with err
 * outside a repository. */
const char *hooks_repository_config(struct arena *arena, const struct context *context, struct error *err);

#endif

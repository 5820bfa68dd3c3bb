/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of the system by their name: the shells that the shims stand for, and git. They are looked for in a fixed list of
 * directories, never in PATH, which may lead through a project. */
#ifndef BERM_COMMON_CONTEXT_PROGRAMS_H
#define BERM_COMMON_CONTEXT_PROGRAMS_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/base/error.h"

struct program_place {
	const char *directory;
	bool is_users; /* package managers that install as the user: the files may be theirs, not only root's */
};

/* In the order they are tried; ends with a NULL directory. */
extern const struct program_place program_places[];
/* The shells that there are shims for; ends with NULL. */
extern const char *const program_shells[];

/* Does a base name mean one of the shells? A dash before it (a login shell) is passed over. NULL if not. */
const char *program_shell_name(const char *base_name);
/* The path of a program that the user cannot have been given by somebody else, and that is not berm itself; else NULL with err. */
const char *program_find(struct arena *arena, const char *name, struct error *err);
/* A shell with the caller's arguments, which are the same pointers: no byte of them is looked at. */
char **program_command(struct arena *arena, const char *shell, bool is_login, int count, char **arguments);
/* Does it belong to root? In a user namespace root has another number: whoever owns `/` is root. */
struct stat;
bool program_is_roots(const struct stat *info);
/* Is this process behind berm's wall already? Not by a variable, which anybody can set: by what only berm puts into a view,
 * or what its filter answers. */
bool program_is_inside(void);

#endif

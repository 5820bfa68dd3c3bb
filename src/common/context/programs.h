/* SPDX-License-Identifier: Apache-2.0 */
/* Finds programs of the system by name: the shells that the shims replace, and git. Searches a
 * fixed list of directories, never PATH, which may contain a project. */
#ifndef BERM_COMMON_CONTEXT_PROGRAMS_H
#define BERM_COMMON_CONTEXT_PROGRAMS_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/base/error.h"

struct program_place {
	const char *directory;
	/* Of a package manager that installs as the user: the user may own the files. */
	bool is_users;
};

/* In the order of the search; ends with a NULL directory. */
extern const struct program_place program_places[];
/* The shells that have shims; ends with NULL. */
extern const char *const program_shells[];

/* Returns the shell with this base name, or NULL. Ignores the leading dash of a login shell. */
const char *program_shell_name(const char *base_name);
/* Returns the path of a program that no other user can have installed and that is not berm; else
 * NULL with err. */
const char *program_find(struct arena *arena, const char *name, struct error *err);
/* Returns the argument vector of a shell. The caller's arguments are the same pointers, not
 * copies. */
char **program_command(struct arena *arena, const char *shell, bool is_login, int count, char **arguments);
/* True if root owns the file. In a user namespace root may have another uid: the owner of `/` is
 * root. */
struct stat;
bool program_is_roots(const struct stat *info);

#endif

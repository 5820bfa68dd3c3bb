/* SPDX-License-Identifier: Apache-2.0 */
/* Measures and removes directory trees that an untrusted command created. Reaches each entry by one
 * name from an open directory without following symlinks. Never leaves the tree or its file
 * system. */
#ifndef BERM_COMMON_STATE_REMOVE_TREE_H
#define BERM_COMMON_STATE_REMOVE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

struct state_size {
	uint64_t bytes; /* on disk; a file with n hard links counts for 1/n of its size */
	uint64_t entries;
	bool is_partial; /* some entries could not be read */
};

/* Measures the content of directory `name` of `parent`. An absent directory is empty. */
void state_measure(int parent, const char *name, struct state_size *size);
/* Removes directory `name` of `parent` and its content. `err` names the first entry that could not
 * be removed; the rest is removed nevertheless. */
int state_remove(int parent, const char *name, const char *shown, struct error *err);

#endif

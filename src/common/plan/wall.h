/* SPDX-License-Identifier: Apache-2.0 */
/* The second wall of `berm agent NAME --commands`: what a shell command of the agent may reach
 * inside the agent's own sandbox, and which variables it gets. The launcher writes it as the
 * document INSIDE_WALL; berm's shims read it there, restrict themselves and then execute the shell.
 * It only narrows: the sandbox around it holds everything else. */
#ifndef BERM_COMMON_PLAN_WALL_H
#define BERM_COMMON_PLAN_WALL_H

#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"

enum wall_right { WALL_READ, WALL_WRITE, WALL_SOCKET };

struct wall_path {
	enum wall_right right;
	const char *path; /* canonical */
};

struct wall {
	/* Besides the devices, /proc, /tmp and berm's documents. */
	struct wall_paths {
		struct wall_path *items;
		size_t count;
	} paths;
	struct wall_words {
		char **items;
		size_t count;
	} unset, /* names of variables */
		set; /* NAME=VALUE */
};

/* Returns the document. A path or value with a line break is left out: it is then not reachable. */
const char *wall_text(struct arena *arena, const struct wall *wall);
/* Reads the document. Anything unknown in it is an error. */
int wall_parse(struct arena *arena, const char *text, struct wall *wall, struct error *err);

#endif

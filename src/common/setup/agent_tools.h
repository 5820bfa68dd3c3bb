/* SPDX-License-Identifier: Apache-2.0 */
/* The file tools of agents, which run outside the sandbox: what a call of one would read or write.
 * Parses text; judges nothing and opens nothing. Internal to agent_hook.h. */
#ifndef BERM_COMMON_SETUP_AGENT_TOOLS_H
#define BERM_COMMON_SETUP_AGENT_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/format/jsonc.h"

enum agent_tool_kind {
	TOOL_READ, /* one file */
	TOOL_WRITE, /* one file; also shows what it replaces */
	TOOL_LIST, /* names in a directory, by default the current one */
	TOOL_GLOB, /* names that match a pattern, relative to a directory or absolute */
	TOOL_SEARCH, /* content of the files in a directory */
	TOOL_READ_MANY, /* content of the files that a list of paths and patterns names */
	TOOL_PATCH, /* a patch in Codex's format, which names its files */
};

struct agent_tool {
	const char *name; /* NULL ends a table */
	enum agent_tool_kind kind;
	const char *path; /* member of the input with the path, list or patch */
	const char *pattern; /* member with a pattern of names: TOOL_GLOB, and TOOL_SEARCH if it has one */
	bool is_single; /* the pattern of TOOL_SEARCH is one pattern, not a list */
};

/* One access that a call would make. */
struct agent_access {
	const char *path; /* absolute, not resolved */
	bool is_write;
	bool is_search; /* content of everything below the path */
};

struct agent_accesses {
	struct agent_access *items;
	size_t count;
};

/* Returns NULL for a name that the table does not have. */
const struct agent_tool *agent_tool_find(const struct agent_tool *table, const char *name);
/* Lists the accesses of a call. `cwd` is absolute. Input that does not have the tool's shape is an
 * error. */
int agent_tool_accesses(struct arena *arena, const struct agent_tool *tool, const struct jsonc_value *input, const char *cwd,
			struct agent_accesses *accesses, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts: programs that berm can be added to, with their files, settings and hooks, and how well
 * each is tested. `berm setup`, `berm hook-rewrite` and the shell completions read this table. */
#ifndef BERM_COMMON_SETUP_HOSTS_H
#define BERM_COMMON_SETUP_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/context/context.h"
#include "common/context/install_paths.h"
#include "common/format/jsonc.h"
#include "common/setup/agent_tools.h"

enum setup_label {
	SETUP_TRIED, /* the real program ran a command through berm with these settings */
	SETUP_REPLAYED, /* a test replays its documented calls */
	SETUP_UNVERIFIED,
};

enum setup_format {
	SETUP_JSON, /* with comments and trailing commas if the host accepts them */
	SETUP_LINES, /* a marked block of lines */
	SETUP_SERVERS, /* JSON with a list of programs to start; without the file, instructions */
};

/* A file below `variable` if that is set, else below `directory`. The first existing file of a host
 * is used, else the first. */
struct setup_place {
	const char *variable; /* or NULL */
	const char *directory; /* relative to the home directory */
	const char *name;
};

struct setup_edit {
	const char *path[JSONC_PATH_MAX + 1];
	const char *value; /* JSON; @berm@, @berm-sh@, @shims@, @plugins@: paths; @os@: linux or osx */
	bool is_element;
	bool is_default; /* set only if the key is absent; --undo keeps it if the file changed */
};

enum agent_hook_shape {
	HOOK_UPDATED_INPUT, /* hookSpecificOutput.updatedInput */
	HOOK_UPDATED_INPUT_ALLOW, /* the same, valid only together with permissionDecision: allow */
	HOOK_TOOL_INPUT, /* hookSpecificOutput.tool_input */
	HOOK_SNAKE_INPUT, /* permission and updated_input */
};

/* The JSON that an agent sends to its hook, and the JSON that it expects back. Every
 * host sends cwd. */
struct agent_hook {
	const char *event; /* announces a tool call */
	const char *tool; /* runs shell commands */
	const char *guard_event; /* shows the final command, which must be berm's; NULL: none */
	const char *root_variable; /* environment variable with the workspace; NULL: none */
	bool has_roots; /* workspace_roots in the JSON */
	enum agent_hook_shape shape;
	const struct agent_tool *tools; /* file tools that the hook judges; NULL: none */
	/* Environment variable with the shell of the host's commands. The hook then rewrites
	 * nothing and checks that the variable names a shim. NULL: the hook rewrites commands. */
	const char *shell_variable;
	const struct agent_place *places; /* ends with a NULL path; or NULL */
};

/* Files that the host itself makes for its tools. @config@: the directory of its settings; @uid@;
 * @slug@: the workspace with a dash for each character but letters and digits. */
struct agent_place {
	const char *path; /* a directory, of which everything below counts; a component may be `*` */
	bool is_writable;
};

struct setup_host {
	const char *name;
	const char *title;
	enum setup_label label;
	enum setup_format format;
	const struct setup_place *files; /* ends with a NULL name */
	const struct setup_edit *edits; /* ends with a NULL value */
	const char *comment; /* SETUP_LINES: the start of a comment */
	const char *const *lines; /* SETUP_LINES, SETUP_SERVERS; ends with NULL */
	const char *variable; /* environment variable with the same effect; NULL: none */
	const char *const *notes; /* further information and steps for the user; ends with NULL */
	const char *const *servers; /* SETUP_SERVERS: members that list programs; ends with NULL */
	const struct agent_hook *hook; /* of `berm hook-rewrite`; NULL: none */
	const char *managed; /* settings of the administrator, which no project overrides; NULL: none */
	const char *how; /* name of this way for --how, if there are several; NULL: one */
	const struct setup_host *other; /* the same host in another way; NULL: none */
	const char *const *uncovered; /* what runs outside all the same; ends with NULL; NULL: not listed */
	const char *suffix; /* of a file in another language, which `dialect` has; NULL: one language */
	const struct setup_host *dialect;
	bool has_editions; /* --file names the same program under another name, which the same files override */
	const struct setup_host *debugger; /* lets the host's debugger attach (--debugger); NULL: none */
};

extern const struct setup_host setup_host_table[];
extern const size_t setup_host_count;

/* Returns the name of the host with this index, or NULL past the last. */
const char *setup_host_name(size_t index);
/* Returns NULL for an unknown name. */
const struct setup_host *setup_host_find(const char *name);
const char *setup_label_name(enum setup_label label);
/* Returns the text with its @placeholders@ replaced. */
const char *setup_expand(struct arena *arena, const char *text, const struct install_paths *paths, enum operating_system os);
/* Returns the edit with all placeholders replaced. */
struct jsonc_edit setup_edit_expand(struct arena *arena, const struct setup_edit *edit, const struct install_paths *paths,
				    enum operating_system os);
/* Returns the row for the language of this file: the host itself, or its dialect. */
const struct setup_host *setup_host_for(const struct setup_host *host, const char *file);
/* Returns an absolute path with symlinks unresolved, or NULL if the host has no fixed file. */
const char *setup_host_file(struct arena *arena, const struct setup_host *host, const struct context *context);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of git's configuration that name files, run programs or lead elsewhere, with the file
 * and line of each. One table of keys. Reads configuration files and those that they include. Never
 * runs git, never writes. */
#ifndef BERM_COMMON_GIT_SETTINGS_H
#define BERM_COMMON_GIT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/fs/filesystem.h"

/* Effects of a setting. Bits. */
enum {
	GIT_NAMES = 1 << 0, /* its value names a file, directory or program that git obeys unasked */
	GIT_EXECUTES = 1 << 1, /* git runs what it names */
	GIT_REDIRECTS = 1 << 2, /* to another configuration, working tree or URL */
};

enum git_form {
	GIT_FORM_PATH, /* of a file or directory */
	GIT_FORM_COMMAND, /* for the shell */
	GIT_FORM_PROGRAM, /* the path or name of one program, without arguments */
	GIT_FORM_MONITOR, /* a boolean, which runs nothing, or a command */
	GIT_FORM_BANG, /* a command after `!`; anything else runs nothing */
	GIT_FORM_TEXT, /* names no file here */
};

struct git_key {
	const char *section;
	const char *subsection; /* NULL: none, "*": one, "?": one or none */
	const char *name; /* "*": any */
	unsigned effects;
	enum git_form form;
};

struct git_setting {
	const char *file;
	unsigned line;
	const char *section, *subsection, *name; /* as written; subsection: NULL: none */
	const char *value; /* "" for a name alone */
	const struct git_key *key;
};
struct git_settings {
	struct git_setting *items; /* those that a row of the table describes, in order */
	size_t count;
	size_t files; /* that were read */
	bool has_worktree_config; /* extensions.worktreeConfig is not false */
	const char *unread; /* a file that could not be read to its end, or NULL */
};

/* Adds the settings of one text; includes are listed, not read. False if the text has a NUL, from
 * which on nothing is read. */
bool git_settings_parse(struct arena *arena, const char *file, const char *text, size_t length, struct git_settings *settings);
/* Adds the settings of a file and of all that it includes, whatever the condition of the include.
 * `home` is for `~/`. A file that does not exist has none. */
void git_settings_read(const struct filesystem *fs, struct arena *arena, const char *home, const char *file,
		       struct git_settings *settings);

/* True if git runs a program because of this setting. */
bool git_setting_executes(const struct git_setting *setting);
/* Returns the setting as git spells it: core.hooksPath, filter.lfs.clean. */
const char *git_setting_name(struct arena *arena, const struct git_setting *setting);

struct git_paths {
	const char **items;
	size_t count;
};
/* Adds the absolute paths that the value may name: not canonical, they may not exist. A relative
 * one is relative to `directory`, where git runs the program; of an include, to its file. Names
 * that git looks up in PATH are left out. */
void git_setting_paths(struct arena *arena, const struct git_setting *setting, const char *directory, const char *home,
		       struct git_paths *paths);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that berm can be put into: which file, which settings, and how far each was tried. One table; `berm setup`, the shell
 * completions and the guides in docs/hosts speak of what is in it. */
#ifndef BERM_COMMON_SETUP_HOSTS_H
#define BERM_COMMON_SETUP_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/context/context.h"
#include "common/context/install_paths.h"
#include "common/format/jsonc.h"

enum { SETUP_EDITS_MAX = 6, SETUP_LINES_MAX = 4, SETUP_FILES_MAX = 4 };

enum setup_label {
	SETUP_TRIED, /* the real program ran a command through berm with these settings */
	SETUP_REPLAYED, /* its documented call shape is replayed by a test */
	SETUP_UNVERIFIED,
};

enum setup_format {
	SETUP_JSON, /* with comments and trailing commas where the host takes them */
	SETUP_LINES, /* a marked block of lines */
	SETUP_SERVERS, /* JSON: a list of programs that the host starts; steps where there is no such file */
};

/* Below `variable` if that is set, else below the home's `directory`. The first of a host's files that exists is taken, else the
 * first. */
struct setup_place {
	const char *variable; /* or NULL */
	const char *directory; /* relative to the home */
	const char *name;
};

struct setup_edit {
	const char *path[JSONC_PATH_MAX + 1];
	const char *value; /* JSON; @berm@, @berm-sh@, @shims@ stand for paths, @os@ (in a key) for linux or osx */
	bool is_element;
	bool is_default; /* only where the key is absent; stays if other settings were added since */
};

struct setup_host {
	const char *name;
	const char *title;
	enum setup_label label;
	enum setup_format format;
	const struct setup_place *files; /* ends with a NULL name */
	const struct setup_edit *edits; /* ends with a NULL value */
	const char *comment; /* SETUP_LINES: what a comment begins with */
	const char *const *lines; /* SETUP_LINES, SETUP_SERVERS; ends with NULL */
	const char *variable; /* the environment variable that carries it too; NULL: none */
	const char *const *notes; /* what else the user has to know or do; ends with NULL */
	const char *const *servers; /* SETUP_SERVERS: the members that are such lists; ends with NULL */
};

extern const struct setup_host setup_host_table[];
extern const size_t setup_host_count;

const struct setup_host *setup_host_find(const char *name);
const char *setup_label_name(enum setup_label label);
/* The text with its @placeholders@ replaced. */
const char *setup_expand(struct arena *arena, const char *text, const struct install_paths *paths, enum operating_system os);
/* The edit with everything expanded. */
struct jsonc_edit setup_edit_expand(struct arena *arena, const struct setup_edit *edit, const struct install_paths *paths,
				    enum operating_system os);
/* Absolute, not resolved. NULL if there is none that is always the same. */
const char *setup_host_file(struct arena *arena, const struct setup_host *host, const struct context *context);

#endif

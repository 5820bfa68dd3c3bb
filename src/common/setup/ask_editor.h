/* SPDX-License-Identifier: Apache-2.0 */
/* Asks an editor for the shell that it would use, with the user's own configuration: a file that
 * berm edited may not be the one that the editor reads. Runs the editor outside of any project,
 * without a terminal. Internal to setup.h. */
#ifndef BERM_COMMON_SETUP_ASK_EDITOR_H
#define BERM_COMMON_SETUP_ASK_EDITOR_H

#include "common/setup/hosts.h"

enum editor_answer {
	EDITOR_NOT_ASKED, /* it is not installed, or cannot be asked */
	EDITOR_USES_SHIM,
	EDITOR_USES_OTHER,
	EDITOR_SILENT, /* it failed, or gave no answer in time */
};

struct editor_asked {
	enum editor_answer answer;
	const char *program; /* its path, or NULL */
	const char *said; /* the shell that it named, or NULL */
};

/* `file` is the settings file that berm edits; `is_named` if the user named it (--file). */
void setup_ask_editor(struct arena *arena, const struct setup_host *host, const struct install_paths *paths, const char *file,
		      bool is_named, struct editor_asked *asked);

#endif

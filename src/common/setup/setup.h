/* SPDX-License-Identifier: Apache-2.0 */
/* `berm setup`: edits other programs' settings and undoes the edits. Never changes a file without
 * being asked to: the functions here transform text, and settings_file.h writes it. */
#ifndef BERM_COMMON_SETUP_SETUP_H
#define BERM_COMMON_SETUP_SETUP_H

#include "common/setup/ask_editor.h"
#include "common/setup/codex_trust.h"
#include "common/setup/hosts.h"
#include "common/setup/editor_tasks.h"
#include "common/setup/overrides.h"
#include "common/setup/settings_file.h"

enum setup_state { SETUP_ABSENT, SETUP_PARTLY, SETUP_IN_FORCE };

struct setup_request {
	struct arena *arena;
	const struct setup_host *host;
	const struct install_paths *paths;
	enum operating_system os;
	const char *source; /* name of the file, for messages */
};

/* True if the host's process is older than the last --write: a host that chooses its shell at the
 * start does not use berm's then. False without the host's pid (CLAUDE_PID) or a
 * record. */
bool setup_is_older_session(struct arena *arena, const struct context *context, const struct setup_host *host);
/* Adds a line for each hook in the settings that can block a call and is not berm's. */
int setup_list_hooks(const struct setup_request *request, struct jsonc_text text, struct text *out, struct error *err);
/* Compares the text with berm's settings. */
int setup_judge(const struct setup_request *request, struct jsonc_text text, enum setup_state *state, struct error *err);
/* Adds the text with berm's settings to `out`; the same bytes if it has them already. */
int setup_apply(const struct setup_request *request, struct jsonc_text text, struct text *out, struct error *err);
/* Adds the text without berm's settings to `out`. `original` is the text that
 * setup_apply was given. */
int setup_undo(const struct setup_request *request, struct jsonc_text text, struct jsonc_text original, struct text *out,
	       struct error *err);
/* Adds the settings alone, as the content of an otherwise empty file; for SETUP_SERVERS the
 * lines to enter. */
int setup_settings(const struct setup_request *request, struct text *out, struct error *err);

#endif

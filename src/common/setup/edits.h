/* SPDX-License-Identifier: Apache-2.0 */
/* What `berm setup` does to the text of a settings file. Text in, text out. */
#ifndef BERM_COMMON_SETUP_EDITS_H
#define BERM_COMMON_SETUP_EDITS_H

#include "common/setup/hosts.h"

enum setup_state { SETUP_ABSENT, SETUP_PARTLY, SETUP_IN_FORCE };

struct setup_request {
	struct arena *arena;
	const struct setup_host *host;
	const struct install_paths *paths;
	enum operating_system os;
	const char *source; /* the file's name, for messages */
};

/* Does the text say what berm would write? */
int setup_judge(const struct setup_request *request, struct jsonc_text text, enum setup_state *state, struct error *err);
/* The text with berm's settings; the same bytes if it has them. */
int setup_apply(const struct setup_request *request, struct jsonc_text text, struct text *out, struct error *err);
/* The text without them, where `original` is what setup_apply was given. */
int setup_take_back(const struct setup_request *request, struct jsonc_text text, struct jsonc_text original, struct text *out,
		    struct error *err);
/* The settings alone, as they would stand in a file that holds nothing else; for SETUP_SERVERS the lines to enter. */
int setup_settings(const struct setup_request *request, struct text *out, struct error *err);

#endif

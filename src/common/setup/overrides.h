/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a host that take berm's settings back: of the project, of the machine's
 * administrator, or the host's own switch for hooks. Only reads. Internal to setup.h. */
#ifndef BERM_COMMON_SETUP_OVERRIDES_H
#define BERM_COMMON_SETUP_OVERRIDES_H

#include <stddef.h>

#include "common/setup/hosts.h"

struct setup_overrides {
	struct setup_override_found {
		const char *place; /* FILE:LINE, or FILE */
		const char *why;
		bool is_doubt; /* a proof can refute it */
	} * items;
	size_t count;
};

struct setup_overrides_request {
	struct arena *arena;
	const struct context *context;
	const struct setup_host *host;
	const struct install_paths *paths;
	const char *file; /* the host's settings file that berm edits */
	const char *named; /* the same, with its symlinks */
	struct jsonc_text text; /* its content */
	const char *project; /* whose settings count, or NULL */
};

/* Finds them all. A file that cannot be read or parsed counts as one that overrides. */
void setup_find_overrides(const struct setup_overrides_request *request, struct setup_overrides *found);

#endif

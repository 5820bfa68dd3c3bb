/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that a host starts, in a JSON file of its own: which of them berm stands before, and the edits that would put it before the others. */
#ifndef BERM_COMMON_SETUP_SERVERS_H
#define BERM_COMMON_SETUP_SERVERS_H

#include "common/format/jsonc.h"

struct setup_servers {
	size_t wrapped; /* those whose command is berm */
	struct setup_server_edits {
		struct jsonc_edit *items; /* two for each of the others */
		size_t count;
	} edits;
};

/* `lists` are the members of the root that hold servers by name; ends with NULL. */
void setup_servers_find(struct arena *arena, const char *const *lists, const struct jsonc_value *root, const char *program,
			struct setup_servers *servers);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Codex's record of a user's trust in a hook: [hooks.state."FILE:pre_tool_use:GROUP:HOOK"] with
 * trusted_hash in config.toml. Without it Codex skips the hook. Only reads text. Internal to
 * setup.h. */
#ifndef BERM_COMMON_SETUP_CODEX_TRUST_H
#define BERM_COMMON_SETUP_CODEX_TRUST_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/context/install_paths.h"
#include "common/format/jsonc.h"

struct codex_trust {
	const char *section; /* the line that begins the record */
	const char *hash; /* of the hook's present text, as Codex 0.166.0 computes it */
};

enum codex_trust_state {
	CODEX_UNTRUSTED, /* there is no record */
	CODEX_TRUSTED,
	CODEX_TRUSTS_OTHER, /* the record is about another text */
	CODEX_HOOK_OFF, /* the record turns the hook off */
};

/* Finds berm's hook in `text`, the content of hooks.json. `file` is its path as Codex names it.
 * Returns false if it has no such hook. */
bool codex_trust_find(struct arena *arena, const struct install_paths *paths, const char *file, struct jsonc_text text,
		      struct codex_trust *trust);
/* Reads the record of this hook in the content of config.toml. */
enum codex_trust_state codex_trust_read(struct arena *arena, struct jsonc_text config, const struct codex_trust *trust);

/* Returns the text of the line from `offset` on without its comment, and moves past it. A `#` in a
 * string counts as a comment. */
const char *toml_take_line(struct arena *arena, struct jsonc_text text, size_t *offset);
/* True for `key = false`, `table.key=false` and `{ key = false }`. */
bool toml_is_switched_off(const char *line, const char *key);

#endif

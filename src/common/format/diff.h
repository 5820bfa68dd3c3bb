/* SPDX-License-Identifier: Apache-2.0 */
/* Line differences in the unified format, escaped for terminals. */
#ifndef BERM_COMMON_FORMAT_DIFF_H
#define BERM_COMMON_FORMAT_DIFF_H

#include "common/base/arena.h"
#include "common/format/jsonc.h"

/* Adds the difference; nothing for equal texts. `old_name` may be /dev/null. */
void diff_lines(struct arena *arena, const char *old_name, const char *new_name, struct jsonc_text before,
		struct jsonc_text after, struct text *out);

#endif

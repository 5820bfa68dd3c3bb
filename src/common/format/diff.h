/* SPDX-License-Identifier: Apache-2.0 */
/* The difference between two texts, line by line, in the unified format, safe to show on a terminal. */
#ifndef BERM_COMMON_FORMAT_DIFF_H
#define BERM_COMMON_FORMAT_DIFF_H

#include "common/base/arena.h"
#include "common/format/jsonc.h"

/* Nothing for equal texts. `old_name` may be /dev/null. */
void line_diff(struct arena *arena, const char *old_name, const char *new_name, struct jsonc_text before,
	       struct jsonc_text after, struct text *out);

#endif

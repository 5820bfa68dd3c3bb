/* SPDX-License-Identifier: Apache-2.0 */
/* One bracket class of a pattern: `[abc]`, `[a-z]`, `[!a-z]` or `[^a-z]`. `]` right after the opening is a member, so is `-` at
 * either end; `\` quotes. Private to pattern.c and pattern_compile.c. */
#ifndef BERM_COMMON_FS_PATTERN_CLASS_H
#define BERM_COMMON_FS_PATTERN_CLASS_H

#include <stdbool.h>
#include <stdint.h>

/* *at stands on the `[` and is moved behind the `]`; end is the end of the component. Returns NULL and whether the class holds the
 * character, or what is wrong with the class (then *at is not to be used). */
const char *pattern_class(const char **at, const char *end, uint32_t character, bool case_fold, bool *is_match);

#endif

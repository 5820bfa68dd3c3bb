/* SPDX-License-Identifier: Apache-2.0 */
/* Bracket classes of patterns: `[abc]`, `[a-z]`, `[!a-z]`, `[^a-z]`. `]` directly after the opening
 * and `-` at either end are members; `\` quotes. For the matcher, the compiler and the regular
 * expressions of macOS profiles. */
#ifndef BERM_COMMON_FS_PATTERN_CLASS_H
#define BERM_COMMON_FS_PATTERN_CLASS_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the class at *at, which points to `[`, and moves *at behind `]`. `end` is the end of the
 * component. Returns NULL and sets is_match, or returns the problem of a malformed class; *at is
 * invalid then. */
const char *pattern_class(const char **at, const char *end, uint32_t character, bool case_fold, bool *is_match);

#endif

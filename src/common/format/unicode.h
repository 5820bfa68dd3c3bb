/* SPDX-License-Identifier: Apache-2.0 */
/* As much of Unicode as names need: strict UTF-8, simple case folding, and the composition that makes two spellings of one
 * accented letter equal. Tables only, no locale: the same bytes mean the same thing on every machine. */
#ifndef BERM_COMMON_FORMAT_UNICODE_H
#define BERM_COMMON_FORMAT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A byte that is not part of well-formed UTF-8 decodes as UNICODE_INVALID + byte, so that it equals only itself. */
enum { UNICODE_MAX = 0x10ffff, UNICODE_INVALID = 0x110000 };

/* One character from [at, end), which must not be empty; returns the number of bytes it takes. */
size_t unicode_decode(const char *at, const char *end, uint32_t *character);
/* At most four bytes; returns how many. Invalid bytes (see above) are written back as they were. */
size_t unicode_encode(uint32_t character, char out[4]);

/* The lower-case form by simple case folding, and the character that NFC has in place of a singleton (KELVIN SIGN). */
uint32_t unicode_fold(uint32_t character);
/* Does [low, high] hold a character that folds to the same as this one? So [A-Z] holds 'a' where case does not count. */
bool unicode_range_folds(uint32_t low, uint32_t high, uint32_t character);
/* The letter that NFC has for base + mark, or 0 if the pair stays a pair. */
uint32_t unicode_compose(uint32_t base, uint32_t mark);
/* Does HFS+ drop it from names, so that ".g<U+200C>it" opens .git there? */
bool unicode_is_ignored(uint32_t character);
/* May this character above ASCII stand in a host name (PVALID in RFC 5892; what depends on its context may not)? */
bool unicode_is_idna_valid(uint32_t character);
/* Is it one of those, and a combining mark? */
bool unicode_is_idna_mark(uint32_t character);

/* unicode_table.c, made by script/unicode-table. */
struct unicode_run {
	uint32_t first, last, step; /* characters first, first + step, ... last */
	int32_t delta; /* fold = character + delta */
};
struct unicode_pair {
	uint16_t base, mark, composed;
};
struct unicode_range {
	uint32_t first, last, step;
};
extern const struct unicode_run unicode_folds[]; /* ascending by first */
extern const size_t unicode_fold_count;
extern const struct unicode_pair unicode_pairs[]; /* ascending by base, then mark */
extern const size_t unicode_pair_count;
extern const struct unicode_range unicode_idna_valid[]; /* ascending, as are the marks */
extern const size_t unicode_idna_valid_count;
extern const struct unicode_range unicode_idna_marks[];
extern const size_t unicode_idna_mark_count;

#endif

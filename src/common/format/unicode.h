/* SPDX-License-Identifier: Apache-2.0 */
/* Unicode for names: strict UTF-8, simple case folding, and composition, which makes both spellings
 * of an accented letter equal. Uses tables and never the locale, so that results are the same on
 * every machine. */
#ifndef BERM_COMMON_FORMAT_UNICODE_H
#define BERM_COMMON_FORMAT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A byte of invalid UTF-8 decodes as UNICODE_INVALID + byte, so that it equals only itself. */
enum { UNICODE_MAX = 0x10ffff, UNICODE_INVALID = 0x110000 };

/* Decodes the first character of [at, end), which is not empty. Returns its length in bytes.
 * Invalid UTF-8 decodes byte by byte; text_decode refuses it. */
size_t unicode_decode(const char *at, const char *end, uint32_t *character);
/* Writes the character as UTF-8 and returns the number of bytes. An invalid byte is written
 * unchanged. */
size_t unicode_encode(uint32_t character, char out[4]);

/* Returns the simple case folding. A singleton (KELVIN SIGN) is first replaced as in NFC. */
uint32_t unicode_fold(uint32_t character);
/* True if [low, high] contains a character with the same folding: [A-Z] contains 'a' without regard
 * to case. */
bool unicode_range_folds(uint32_t low, uint32_t high, uint32_t character);
/* Returns the composed character of NFC for base and mark, or 0 if there is none. */
uint32_t unicode_compose(uint32_t base, uint32_t mark);
/* True if HFS+ ignores the character in names: ".g<U+200C>it" opens .git there. */
bool unicode_is_ignored(uint32_t character);
/* True if this character above ASCII is allowed in host names: PVALID in RFC 5892, without
 * contextual rules. */
bool unicode_is_idna_valid(uint32_t character);
/* True if the character is also a combining mark. */
bool unicode_is_idna_mark(uint32_t character);

/* Tables in unicode_table.c, which script/generate-unicode-table generates. */
struct unicode_run {
	uint32_t first, last, step; /* first, first + step, ..., last */
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

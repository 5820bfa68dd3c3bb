/* SPDX-License-Identifier: Apache-2.0 */
/* Text: a growing buffer, escaping for terminals and JSON, similar names, strict numbers, complete
 * reads and writes. Without memory the process exits through arena_out_of_memory. */
#ifndef BERM_COMMON_BASE_TEXT_H
#define BERM_COMMON_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;

struct text {
	char *data; /* NUL-terminated; NULL until something is added */
	size_t length;
	size_t capacity;
	size_t width; /* columns that wrapped lines fill; 0: TEXT_WIDTH */
};
enum { TEXT_WIDTH = 80 };

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_n(struct text *text, const char *bytes, size_t length);
void text_free(struct text *text);
/* Writes two lower-case hexadecimal digits for each byte, and a NUL. */
void text_hex(const void *bytes, size_t length, char *hex);

/* Adds text for a terminal. Bytes that a terminal could interpret (C0, DEL, C1, invalid UTF-8, bidi
 * controls) become \xNN or \u{NNNN}. */
void text_add_visible(struct text *text, const char *bytes, size_t length);
/* Returns the columns that characters of UTF-8 fill, one for each. */
size_t text_columns(const char *bytes, size_t length);
/* Returns the columns of a line of this text. */
size_t text_width(const struct text *text);
/* Adds words and a line end, wrapped to the text's width. `indent` is the width that the
 * caller has written of the first line; further lines are indented by it. Words are never broken:
 * they may be paths. */
void text_add_wrapped(struct text *text, size_t indent, const char *words);
/* Returns the string as text_add_visible writes it. */
char *text_visible(struct arena *arena, const char *string);
/* Adds one word as sh, bash, dash, zsh (with and without rc_quotes) and fish read it, with quotes
 * if it needs any. */
void text_add_shell_word(struct text *text, const char *word);
/* The same, always with quotes. */
void text_add_shell_quoted(struct text *text, const char *word);
/* Adds a JSON string with its quotes. Bytes that are invalid UTF-8 become \ufffd. */
void text_add_json(struct text *text, const char *string);

/* Decodes one character of UTF-8. Returns its length in bytes, 0 for invalid UTF-8, over-long forms
 * and surrogates. */
size_t text_decode(const char *bytes, size_t length, uint32_t *character);
/* True if the character changes how the text around it is displayed: controls, bidi marks,
 * separators, invisible tags. */
bool text_is_deceptive(uint32_t character);

bool text_starts_with(const char *string, const char *prefix);
bool text_ends_with(const char *string, const char *suffix);
bool text_has_control(const char *bytes, size_t length);

/* Returns the candidate with the smallest edit distance to `name`, or NULL if none is close enough
 * to suggest. */
const char *text_nearest(const char *name, const char *const *candidates, size_t count);

/* True if the whole string is a number up to `maximum`, without sign, blanks or leading zeros. */
bool text_parse_u64(const char *string, uint64_t maximum, uint64_t *value);
/* Sizes: "512", "64K", "4G", "1T" (powers of 1024). Durations: "500ms", "30s", "5m", "2h", "7d". */
bool text_parse_size(const char *string, uint64_t *bytes);
bool text_parse_duration(const char *string, uint64_t *milliseconds);
void text_add_size(struct text *text, uint64_t bytes);
void text_add_duration(struct text *text, uint64_t milliseconds);
/* Writes all bytes, in several calls if necessary. Returns 0, or -1 with errno. */
int text_write(int fd, const char *bytes, size_t length);
/* Reads until `size` bytes or the end of the file, in several calls if necessary. Returns the
 * number of bytes, or -1 with errno. Adds no NUL. To detect a longer file, callers ask for one byte
 * more than they accept. */
ssize_t text_read(int fd, char *bytes, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Small text helpers: a growing buffer, escaping for terminals and JSON, nearest name, strict numbers. */
#ifndef BERM_COMMON_BASE_TEXT_H
#define BERM_COMMON_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;

struct text {
	char *data; /* always NUL-terminated once something was added */
	size_t length;
	size_t capacity;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_n(struct text *text, const char *bytes, size_t length);
void text_free(struct text *text);

/* Bytes that could act on a terminal (C0, DEL, C1, invalid UTF-8, bidi controls) become \xNN or \u{NNNN}; the rest stays. */
void text_add_visible(struct text *text, const char *bytes, size_t length);
/* Words and a line end, for a terminal of 80 columns. What does not fit goes on in the next line, indented by as much as the caller has
 * written of this one. A word is never broken: it may be a path. */
void text_add_wrapped(struct text *text, size_t indent, const char *words);
char *text_visible(struct arena *arena, const char *string);
/* A JSON string with its quotes; invalid UTF-8 bytes become \ufffd. */
void text_add_json(struct text *text, const char *string);

/* One character of well-formed UTF-8: its length in bytes, or 0 if the bytes are none (over-long forms and surrogates are none). */
size_t text_decode(const char *bytes, size_t length, uint32_t *character);
/* Would it change how the text around it is shown (controls, marks of direction, separators, invisible tags)? */
bool text_is_deceptive(uint32_t character);

bool text_starts_with(const char *string, const char *prefix);
bool text_ends_with(const char *string, const char *suffix);
bool text_is_utf8(const char *bytes, size_t length);
bool text_has_control(const char *bytes, size_t length);

/* The candidate nearest to name by edit distance, if near enough to be worth suggesting; else NULL. */
const char *text_nearest(const char *name, const char *const *candidates, size_t count);

/* Strict: the whole string must be a number in range; no sign, no blanks. */
bool text_parse_u64(const char *string, uint64_t maximum, uint64_t *value);
/* "512", "64K", "4G", "1T" (powers of 1024); "30s", "5m", "2h", "7d" → milliseconds ("500ms" too). */
bool text_parse_size(const char *string, uint64_t *bytes);
bool text_parse_duration(const char *string, uint64_t *milliseconds);
void text_add_size(struct text *text, uint64_t bytes);
void text_add_duration(struct text *text, uint64_t milliseconds);
/* All of it, however much a file takes at a time; -1 with errno. */
int text_write(int fd, const char *bytes, size_t length);
/* Until `size` bytes are there or the file ends, however much it gives at a time: how many, or -1 with errno. Who has to know that nothing
 * follows asks for a byte more than there may be. Writes no NUL. */
ssize_t text_read(int fd, char *bytes, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two texts as a unified diff, line by line. Takes bounded time: where two texts
 * differ too much, a part is shown as replaced as a whole. Never opens a file. */
#ifndef BERM_COMMON_COPIES_TEXT_DIFF_H
#define BERM_COMMON_COPIES_TEXT_DIFF_H

#include <stdbool.h>
#include <stddef.h>

struct diff_text {
	const char *bytes;
	size_t length;
};

/* Lines as counted by a hunk's header. */
struct diff_range {
	size_t start, count; /* start from 1; 0 for a range without lines at the beginning */
};

struct diff_sink {
	void *self;
	void (*hunk)(void *self, struct diff_range before, struct diff_range after);
	/* `mark` is ' ', '-' or '+'. `line` is without its line end, which only the last one of a
	 * text may lack. */
	void (*line)(void *self, char mark, struct diff_text line, bool has_end);
};

struct diff_counts {
	size_t added, removed; /* lines */
};

/* True if the bytes do not look like text: a NUL among the first 8000. */
bool text_diff_is_binary(struct diff_text text);
/* Calls the sink for each hunk with `context` lines around. `sink` may be NULL, to count only. */
struct diff_counts text_diff(struct diff_text before, struct diff_text after, size_t context, const struct diff_sink *sink);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Longest common subsequence of the lines between the common beginning and the common end. If its
 * table would be too large, the whole middle is shown as replaced, which is correct too. */
#include "common/format/diff.h"

#include <stdint.h>
#include <string.h>

enum { CONTEXT_LINES = 3, TABLE_MAX = 4 << 20 };

struct lines {
	struct jsonc_text *items; /* without their line ends */
	size_t count;
	bool lacks_newline; /* after the last line */
};

static struct lines split(struct arena *arena, struct jsonc_text text)
{
	struct lines lines = { 0 };
	size_t at = 0;
	while (at < text.length) {
		const char *newline = memchr(text.data + at, '\n', text.length - at);
		size_t end = newline ? (size_t)(newline - text.data) : text.length;
		*arena_push(arena, &lines) = (struct jsonc_text){ text.data + at, end - at };
		lines.lacks_newline = !newline;
		at = end + 1;
	}
	return lines;
}

struct pair {
	struct lines a, b;
};

static bool same(const struct pair *pair, size_t i, size_t j)
{
	const struct jsonc_text *left = &pair->a.items[i], *right = &pair->b.items[j];
	bool left_ends = i + 1 == pair->a.count && pair->a.lacks_newline;
	bool right_ends = j + 1 == pair->b.count && pair->b.lacks_newline;
	return left_ends == right_ends && left->length == right->length && memcmp(left->data, right->data, left->length) == 0;
}

/* One line of the result: ' ', '-' or '+', with its index in a, b or both. */
struct step {
	char kind;
	size_t a, b;
};

struct steps {
	struct step *items;
	size_t count;
};

static void add_step(struct arena *arena, struct steps *steps, char kind, size_t a, size_t b)
{
	*arena_push(arena, steps) = (struct step){ kind, a, b };
}

/* Returns a table: [i][j] is the length of the longest common subsequence of a[i..] and b[j..] in
 * the middle. */
static const uint16_t *fill_table(struct arena *arena, const struct pair *pair, size_t start, size_t rows, size_t columns)
{
	uint16_t *table = arena_alloc(arena, (rows + 1) * (columns + 1) * sizeof *table);
	for (size_t i = rows; i-- > 0;)
		for (size_t j = columns; j-- > 0;) {
			uint16_t *cell = &table[i * (columns + 1) + j];
			uint16_t right = cell[1], below = cell[columns + 1];
			if (same(pair, start + i, start + j))
				*cell = (uint16_t)(cell[columns + 2] + 1);
			else
				*cell = right > below ? right : below;
		}
	return table;
}

static void walk_table(struct arena *arena, const struct pair *pair, size_t start, size_t rows, size_t columns,
		       struct steps *steps)
{
	bool is_large = rows > UINT16_MAX / 2 || columns > UINT16_MAX / 2 || (rows + 1) * (columns + 1) > TABLE_MAX;
	const uint16_t *table = is_large ? NULL : fill_table(arena, pair, start, rows, columns);
	size_t i = 0, j = 0;

	while (i < rows || j < columns) {
		const uint16_t *cell = table ? &table[i * (columns + 1) + j] : NULL;
		if (cell && i < rows && j < columns && same(pair, start + i, start + j)) {
			add_step(arena, steps, ' ', start + i++, start + j++);
		} else if (i < rows && (j == columns || !cell || cell[columns + 1] >= cell[1])) {
			add_step(arena, steps, '-', start + i++, start + j);
		} else
			add_step(arena, steps, '+', start + i, start + j++);
	}
}

static struct steps compare(struct arena *arena, const struct pair *pair)
{
	struct steps steps = { 0 };
	size_t start = 0, end = 0, shorter = pair->a.count < pair->b.count ? pair->a.count : pair->b.count;

	while (start < shorter && same(pair, start, start))
		start++;
	while (end < shorter - start && same(pair, pair->a.count - 1 - end, pair->b.count - 1 - end))
		end++;
	for (size_t i = 0; i < start; i++)
		add_step(arena, &steps, ' ', i, i);
	walk_table(arena, pair, start, pair->a.count - start - end, pair->b.count - start - end, &steps);
	for (size_t i = end; i > 0; i--)
		add_step(arena, &steps, ' ', pair->a.count - i, pair->b.count - i);
	return steps;
}

static void add_line(const struct pair *pair, const struct step *step, struct text *out)
{
	const struct lines *lines = step->kind == '+' ? &pair->b : &pair->a;
	size_t index = step->kind == '+' ? step->b : step->a;
	const struct jsonc_text *line = &lines->items[index];
	size_t length = line->length;

	text_add(out, "%c", step->kind);
	while (length > 0) {
		size_t plain = 0;
		while (plain < length && line->data[line->length - length + plain] != '\t')
			plain++;
		text_add_visible(out, line->data + (line->length - length), plain);
		length -= plain;
		if (length > 0) {
			text_add(out, "\t");
			length--;
		}
	}
	text_add(out, "\n");
	if (index + 1 == lines->count && lines->lacks_newline)
		text_add(out, "\\ No newline at end of file\n");
}

/* "start,count" as diff writes it: an empty range names the line before it. */
static void add_range(struct text *out, char sign, size_t start, size_t count)
{
	text_add(out, "%c%zu,%zu", sign, count > 0 ? start + 1 : start, count);
}

static void add_hunk(const struct pair *pair, const struct steps *steps, size_t from, size_t to, struct text *out)
{
	size_t removed = 0, added = 0;
	for (size_t i = from; i < to; i++) {
		removed += steps->items[i].kind != '+';
		added += steps->items[i].kind != '-';
	}
	text_add(out, "@@ ");
	add_range(out, '-', steps->items[from].a, removed);
	text_add(out, " ");
	add_range(out, '+', steps->items[from].b, added);
	text_add(out, " @@\n");
	for (size_t i = from; i < to; i++)
		add_line(pair, &steps->items[i], out);
}

void diff_lines(struct arena *arena, const char *old_name, const char *new_name, struct jsonc_text before,
		struct jsonc_text after, struct text *out)
{
	const struct pair pair = { split(arena, before), split(arena, after) };
	const struct steps steps = compare(arena, &pair);
	bool has_header = false;

	for (size_t i = 0; i < steps.count;) {
		size_t from, to, quiet = 0;
		if (steps.items[i].kind == ' ') {
			i++;
			continue;
		}
		from = i > CONTEXT_LINES ? i - CONTEXT_LINES : 0;
		/* Changes that are at most twice the context apart form one hunk. */
		for (to = i; i < steps.count && quiet <= 2 * CONTEXT_LINES; i++) {
			quiet = steps.items[i].kind == ' ' ? quiet + 1 : 0;
			if (quiet == 0)
				to = i + 1;
		}
		to = to + CONTEXT_LINES < steps.count ? to + CONTEXT_LINES : steps.count;
		if (!has_header)
			text_add(out, "--- %s\n+++ %s\n", old_name, new_name);
		has_header = true;
		add_hunk(&pair, &steps, from, to, out);
		i = to;
	}
}

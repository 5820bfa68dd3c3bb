/* SPDX-License-Identifier: Apache-2.0 */
/* Myers' algorithm (An O(ND) Difference Algorithm, 1986) in linear space: a search from both ends
 * finds a point in the middle of a shortest path, and both halves are searched alike. Beyond
 * COST_MAX steps a half counts as replaced. Equal lines get equal numbers first, so that comparing
 * them costs nothing. */
#include "common/copies/text_diff.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

enum { BINARY_LOOK = 8000, COST_MAX = 1500 };

struct lines {
	struct diff_text *items;
	long *number; /* equal for equal lines */
	bool *is_changed;
	long count;
};

struct differ {
	struct lines before, after;
	long *forward, *backward; /* by diagonal, shifted so that each is a valid index */
};

static void *reserve(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);
	if (!memory)
		arena_out_of_memory();
	return memory;
}

bool text_diff_is_binary(struct diff_text text)
{
	size_t length = text.length < BINARY_LOOK ? text.length : BINARY_LOOK;
	return length > 0 && memchr(text.bytes, '\0', length);
}

static void split(struct diff_text text, struct lines *lines)
{
	size_t count = 0;
	for (size_t i = 0; i < text.length; i++)
		count += text.bytes[i] == '\n';
	count += text.length > 0 && text.bytes[text.length - 1] != '\n';
	lines->items = reserve(count, sizeof *lines->items);
	lines->number = reserve(count, sizeof *lines->number);
	lines->is_changed = reserve(count, sizeof *lines->is_changed);
	for (size_t at = 0; at < text.length;) {
		const char *end = memchr(text.bytes + at, '\n', text.length - at);
		size_t length = end ? (size_t)(end - text.bytes) + 1 - at : text.length - at;
		lines->items[lines->count++] = (struct diff_text){ text.bytes + at, length };
		at += length;
	}
}

static uint64_t hash(struct diff_text line)
{
	uint64_t value = 1469598103934665603u;
	for (size_t i = 0; i < line.length; i++)
		value = (value ^ (unsigned char)line.bytes[i]) * 1099511628211u;
	return value ^ (value >> 32);
}

/* An open hash table from lines to numbers. */
struct numbering {
	struct diff_text *slots;
	long *numbers;
	size_t mask;
	long next;
};

static long number_of(struct numbering *table, struct diff_text line)
{
	size_t at = (size_t)hash(line) & table->mask;
	while (table->slots[at].bytes) {
		const struct diff_text *slot = &table->slots[at];
		if (slot->length == line.length && memcmp(slot->bytes, line.bytes, line.length) == 0)
			return table->numbers[at];
		at = (at + 1) & table->mask;
	}
	table->slots[at] = line;
	return table->numbers[at] = table->next++;
}

static void number_lines(struct differ *differ)
{
	struct numbering table = { .mask = 15 };
	size_t count = (size_t)(differ->before.count + differ->after.count);

	while (table.mask < count * 2)
		table.mask = table.mask * 2 + 1;
	table.slots = reserve(table.mask + 1, sizeof *table.slots);
	table.numbers = reserve(table.mask + 1, sizeof *table.numbers);
	for (long i = 0; i < differ->before.count; i++)
		differ->before.number[i] = number_of(&table, differ->before.items[i]);
	for (long i = 0; i < differ->after.count; i++)
		differ->after.number[i] = number_of(&table, differ->after.items[i]);
	free(table.slots);
	free(table.numbers);
}

/* A rectangle of lines: [x0, x1) of before, [y0, y1) of after. */
struct box {
	long x0, x1, y0, y1;
};

/* The diagonals that a search has reached. */
struct reach {
	long low, high;
};

/* Widens the reach by one diagonal on each side within the box, or narrows it. `beyond` marks
 * diagonals that were not reached. */
static void widen(struct reach *reach, long *x, long lowest, long highest, long beyond)
{
	if (reach->low > lowest)
		x[--reach->low - 1] = beyond;
	else
		reach->low++;
	if (reach->high < highest)
		x[++reach->high + 1] = beyond;
	else
		reach->high--;
}

static bool is_in(const struct reach *reach, long diagonal)
{
	return reach->low <= diagonal && diagonal <= reach->high;
}

/* One step of the search from the beginning. Returns true if it meets the other at *x. */
static bool step_forward(struct differ *differ, const struct box *box, const struct reach *own, const struct reach *other,
			 bool may_meet, long *x, long *diagonal)
{
	long *forward = differ->forward;
	for (long d = own->high; d >= own->low; d -= 2) {
		long at = forward[d - 1] >= forward[d + 1] ? forward[d - 1] + 1 : forward[d + 1];
		while (at < box->x1 && at - d < box->y1 && differ->before.number[at] == differ->after.number[at - d])
			at++;
		forward[d] = at;
		if (may_meet && is_in(other, d) && differ->backward[d] <= at) {
			*x = at;
			*diagonal = d;
			return true;
		}
	}
	return false;
}

static bool step_backward(struct differ *differ, const struct box *box, const struct reach *own, const struct reach *other,
			  bool may_meet, long *x, long *diagonal)
{
	long *backward = differ->backward;
	for (long d = own->high; d >= own->low; d -= 2) {
		long at = backward[d - 1] < backward[d + 1] ? backward[d - 1] : backward[d + 1] - 1;
		while (at > box->x0 && at - d > box->y0 && differ->before.number[at - 1] == differ->after.number[at - d - 1])
			at--;
		backward[d] = at;
		if (may_meet && is_in(other, d) && at <= differ->forward[d]) {
			*x = at;
			*diagonal = d;
			return true;
		}
	}
	return false;
}

/* Finds a point on a shortest path through the box. False if that takes too many steps. */
static bool find_middle(struct differ *differ, const struct box *box, long *x, long *y)
{
	const long lowest = box->x0 - box->y1, highest = box->x1 - box->y0;
	const long start = box->x0 - box->y0, end = box->x1 - box->y1;
	const bool is_odd = (start - end) & 1;
	struct reach forward = { start, start }, backward = { end, end };
	long diagonal = 0;

	differ->forward[start] = box->x0;
	differ->backward[end] = box->x1;
	for (int cost = 0; cost < COST_MAX; cost++) {
		widen(&forward, differ->forward, lowest, highest, -1);
		if (step_forward(differ, box, &forward, &backward, is_odd, x, &diagonal))
			break;
		widen(&backward, differ->backward, lowest, highest, LONG_MAX);
		if (step_backward(differ, box, &backward, &forward, !is_odd, x, &diagonal))
			break;
		if (cost == COST_MAX - 1)
			return false;
	}
	*y = *x - diagonal;
	return true;
}

static void trim(const struct differ *differ, struct box *box)
{
	const long *before = differ->before.number, *after = differ->after.number;
	while (box->x0 < box->x1 && box->y0 < box->y1 && before[box->x0] == after[box->y0]) {
		box->x0++;
		box->y0++;
	}
	while (box->x0 < box->x1 && box->y0 < box->y1 && before[box->x1 - 1] == after[box->y1 - 1]) {
		box->x1--;
		box->y1--;
	}
}

/* Marks the lines of the box that differ. Each half has at most half of the path, so that the depth
 * is logarithmic. */
static void mark(struct differ *differ, struct box box)
{
	long x = 0, y = 0;
	trim(differ, &box);
	if (box.x0 < box.x1 && box.y0 < box.y1 && find_middle(differ, &box, &x, &y)) {
		mark(differ, (struct box){ box.x0, x, box.y0, y });
		mark(differ, (struct box){ x, box.x1, y, box.y1 });
		return;
	}
	for (long i = box.x0; i < box.x1; i++)
		differ->before.is_changed[i] = true;
	for (long i = box.y0; i < box.y1; i++)
		differ->after.is_changed[i] = true;
}

static void emit_line(const struct diff_sink *sink, char mark_of_line, struct diff_text line)
{
	bool has_end = line.length > 0 && line.bytes[line.length - 1] == '\n';
	line.length -= has_end;
	sink->line(sink->self, mark_of_line, line, has_end);
}

/* Moves both positions behind the next change. */
static void skip_change(const struct differ *differ, long *x, long *y)
{
	while (*x < differ->before.count && differ->before.is_changed[*x])
		(*x)++;
	while (*y < differ->after.count && differ->after.is_changed[*y])
		(*y)++;
}

static bool is_change(const struct differ *differ, long x, long y)
{
	return (x < differ->before.count && differ->before.is_changed[x]) ||
	       (y < differ->after.count && differ->after.is_changed[y]);
}

/* Emits the lines of one hunk. */
static void emit_lines(const struct differ *differ, const struct box *box, const struct diff_sink *sink)
{
	long x = box->x0, y = box->y0;
	while (x < box->x1 || y < box->y1) {
		for (; x < box->x1 && differ->before.is_changed[x]; x++)
			emit_line(sink, '-', differ->before.items[x]);
		for (; y < box->y1 && differ->after.is_changed[y]; y++)
			emit_line(sink, '+', differ->after.items[y]);
		for (; x < box->x1 && y < box->y1 && !is_change(differ, x, y); x++, y++)
			emit_line(sink, ' ', differ->before.items[x]);
	}
}

static struct diff_range range(long from, long to)
{
	return (struct diff_range){ .start = (size_t)(to > from ? from + 1 : from), .count = (size_t)(to - from) };
}

/* Extends a hunk that begins at (x, y) over all changes that are at most two contexts apart. */
static struct box find_hunk(const struct differ *differ, long x, long y, long context)
{
	struct box box = { x > context ? x - context : 0, 0, 0, 0 };
	box.y0 = y - (x - box.x0);
	for (;;) {
		long gap = 0;
		skip_change(differ, &x, &y);
		while (gap <= 2 * context && x + gap < differ->before.count && !is_change(differ, x + gap, y + gap))
			gap++;
		if (gap <= 2 * context && is_change(differ, x + gap, y + gap)) {
			x += gap;
			y += gap;
			continue;
		}
		gap = gap < context ? gap : context;
		box.x1 = x + gap;
		box.y1 = y + gap;
		return box;
	}
}

static void emit(const struct differ *differ, long context, const struct diff_sink *sink)
{
	long x = 0, y = 0;
	while (x < differ->before.count || y < differ->after.count) {
		struct box box;
		if (!is_change(differ, x, y)) {
			x++;
			y++;
			continue;
		}
		box = find_hunk(differ, x, y, context);
		sink->hunk(sink->self, range(box.x0, box.x1), range(box.y0, box.y1));
		emit_lines(differ, &box, sink);
		x = box.x1;
		y = box.y1;
	}
}

static void count_changes(const struct lines *lines, size_t *count)
{
	for (long i = 0; i < lines->count; i++)
		*count += lines->is_changed[i];
}

static void free_lines(struct lines *lines)
{
	free(lines->items);
	free(lines->number);
	free(lines->is_changed);
}

struct diff_counts text_diff(struct diff_text before, struct diff_text after, size_t context, const struct diff_sink *sink)
{
	struct differ differ = { 0 };
	struct diff_counts counts = { 0 };
	size_t diagonals;
	long *forward, *backward;

	split(before, &differ.before);
	split(after, &differ.after);
	number_lines(&differ);
	diagonals = (size_t)(differ.before.count + differ.after.count) + 3;
	forward = reserve(diagonals, sizeof *forward);
	backward = reserve(diagonals, sizeof *backward);
	differ.forward = forward + differ.after.count + 1;
	differ.backward = backward + differ.after.count + 1;
	mark(&differ, (struct box){ 0, differ.before.count, 0, differ.after.count });
	if (sink)
		emit(&differ, (long)context, sink);
	count_changes(&differ.before, &counts.removed);
	count_changes(&differ.after, &counts.added);
	free(forward);
	free(backward);
	free_lines(&differ.before);
	free_lines(&differ.after);
	return counts;
}

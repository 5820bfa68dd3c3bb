/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/table.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/text.h"

enum { GAP = 2, MARK_COLUMNS = 2, BELOW_INDENT = 4 };

static size_t width_of(const char *text)
{
	return text_columns(text, strlen(text));
}

static const char *copy(struct table *table, const char *text)
{
	return text ? text_visible(table->arena, text) : NULL;
}

void table_add(struct table *table, enum report_mark mark, const char *const cells[TABLE_COLUMNS_MAX])
{
	struct table_row *row = arena_push(table->arena, table);
	row->mark = mark;
	for (size_t i = 0; i < TABLE_COLUMNS_MAX && table->titles[i]; i++)
		row->cells[i] = copy(table, cells[i] ? cells[i] : "");
}

void table_add_heading(struct table *table, const char *heading)
{
	struct table_row *row = arena_push(table->arena, table);
	row->mark = MARK_NONE;
	row->heading = copy(table, heading);
}

void table_add_note(struct table *table, enum report_mark mark, const char *note)
{
	struct table_row *row = arena_push(table->arena, table);
	row->mark = mark;
	row->note = copy(table, note);
}

static size_t last_column(const struct table *table)
{
	size_t last = 0;
	while (last + 1 < TABLE_COLUMNS_MAX && table->titles[last + 1])
		last++;
	return last;
}

static bool has_headings(const struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->items[i].heading)
			return true;
	return false;
}

/* The layout of one call: the widths depend on the rows and on the screen. */
struct layout {
	const struct table *table;
	bool is_screen;
	size_t widths[TABLE_COLUMNS_MAX], last;
	size_t columns; /* of the screen */
};

static size_t larger(size_t one, size_t other)
{
	return one > other ? one : other;
}

static void measure(struct layout *layout)
{
	const struct table *table = layout->table;
	for (size_t column = 0; column <= layout->last; column++) {
		if (layout->is_screen || has_headings(table))
			layout->widths[column] = width_of(table->titles[column]);
		for (size_t i = 0; i < table->count; i++)
			if (table->items[i].cells[column])
				layout->widths[column] =
					larger(layout->widths[column], width_of(table->items[i].cells[column]));
	}
}

static void print_cell(const struct layout *layout, const struct table_row *row, size_t column)
{
	const struct table *table = layout->table;
	const char *cell = row->cells[column];
	int blanks = (int)(layout->widths[column] - width_of(cell));

	printf("%*s", table->is_right[column] ? blanks : 0, "");
	printf("%s%s", column == table->marked ? report_mark_colour(row->mark) : "", cell);
	printf("%s", column == table->marked && row->mark != MARK_NONE ? report_colour(stdout, NULL) : "");
	printf("%*s", (table->is_right[column] ? 0 : blanks) + GAP, "");
}

/* Returns the columns for a path at this indent; 0 for no limit. */
static size_t limit(const struct layout *layout, size_t indent)
{
	return layout->table->is_verbose ? 0 : layout->columns - indent;
}

/* Prints the last cell. A terminal that is too narrow gets it on the next line. */
static void print_last(const struct layout *layout, const struct table_row *row, size_t used)
{
	const struct table *table = layout->table;
	const char *cell = report_path(table->arena, table->home, row->cells[layout->last], limit(layout, BELOW_INDENT));
	bool is_marked = layout->last == table->marked;

	if (layout->is_screen && used + width_of(cell) > layout->columns)
		printf("\n%*s", BELOW_INDENT, "");
	printf("%s%s", is_marked ? report_mark_colour(row->mark) : "", cell);
	printf("%s\n", is_marked && row->mark != MARK_NONE ? report_colour(stdout, NULL) : "");
}

static void print_row(const struct layout *layout, const struct table_row *row)
{
	size_t used = layout->is_screen ? MARK_COLUMNS : 0;
	report_mark(row->mark);
	for (size_t i = 0; i < layout->last; i++) {
		print_cell(layout, row, i);
		used += layout->widths[i] + GAP;
	}
	print_last(layout, row, used);
}

static void print_titles(const struct layout *layout)
{
	const struct table *table = layout->table;
	printf("%s%*s", report_colour(stdout, "2"), layout->is_screen ? MARK_COLUMNS : 0, "");
	for (size_t i = 0; i <= layout->last; i++) {
		int width = i < layout->last || table->is_right[i] ? (int)layout->widths[i] : 0;
		printf("%*s%*s", table->is_right[i] ? width : -width, table->titles[i], i < layout->last ? GAP : 0, "");
	}
	printf("%s\n", report_colour(stdout, NULL));
}

static void print_heading(const struct layout *layout, const char *heading)
{
	const struct table *table = layout->table;
	printf("%s%s", report_colour(stdout, "1"), report_path(table->arena, table->home, heading, limit(layout, 0)));
	printf("%s\n", report_colour(stdout, NULL));
}

static void print_item(const struct layout *layout, const struct table_row *row)
{
	if (row->heading)
		print_heading(layout, row->heading);
	else if (row->note)
		report_item(row->mark, "", row->note);
	else
		print_row(layout, row);
}

/* Returns how many items are shown. A fold never hides a single row. */
static size_t count_shown(const struct layout *layout, size_t *hidden)
{
	const struct table *table = layout->table;
	size_t rows = 0, end = table->count;

	*hidden = 0;
	for (size_t i = 0; i < table->count; i++) {
		if (table->items[i].heading)
			continue;
		if (rows == TABLE_ROWS_SHOWN)
			end = i;
		if (rows++ >= TABLE_ROWS_SHOWN)
			++*hidden;
	}
	if (!layout->is_screen || table->is_verbose || *hidden < 2) {
		*hidden = 0;
		return table->count;
	}
	while (end > 0 && table->items[end - 1].heading)
		end--;
	return end;
}

int table_print(const struct table *table)
{
	struct layout layout = { .table = table,
				 .is_screen = isatty(STDOUT_FILENO),
				 .last = last_column(table),
				 .columns = report_columns(stdout) };
	size_t hidden, end = count_shown(&layout, &hidden);

	if (table->count == 0 && layout.is_screen && table->empty)
		printf("%s\n", table->empty);
	if (table->count == 0)
		return 0;
	measure(&layout);
	if (layout.is_screen || has_headings(table))
		print_titles(&layout);
	for (size_t i = 0; i < end; i++)
		print_item(&layout, &table->items[i]);
	if (hidden > 0)
		printf("  and %zu more (-v shows all)\n", hidden);
	return 0;
}

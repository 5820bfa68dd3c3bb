/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in aligned columns, in the look of `berm plan`. On a terminal a list has titles and marks,
 * fits the screen, and folds after the first rows. Elsewhere it has every row in full, for
 * programs. */
#ifndef BERM_COMMON_CLI_TABLE_H
#define BERM_COMMON_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/cli/commands.h"

enum { TABLE_COLUMNS_MAX = 4, TABLE_ROWS_SHOWN = 20 };

struct table_row {
	enum report_mark mark;
	const char *cells[TABLE_COLUMNS_MAX]; /* all NULL for a heading or a note */
	const char *heading; /* the line above the rows of a group */
	const char *note; /* a sentence in place of a row */
};

struct table {
	struct arena *arena;
	const char *titles[TABLE_COLUMNS_MAX]; /* the first NULL ends the columns */
	bool is_right[TABLE_COLUMNS_MAX]; /* aligned to the right */
	size_t marked; /* the column that gets the colour of the row's mark */
	const char *home; /* paths below it begin with ~ on a terminal; NULL: none do */
	bool is_verbose; /* nothing is folded or shortened */
	const char *empty; /* the sentence on a terminal if there is no row */
	struct table_row *items;
	size_t count;
};

/* Add a row, the heading of a group, and a sentence in place of a row. Texts are escaped and
 * copied. On a terminal that is too narrow the last cell is on the next line, and of a path that
 * is wider than the screen the two ends are shown. */
void table_add(struct table *table, enum report_mark mark, const char *const cells[TABLE_COLUMNS_MAX]);
void table_add_heading(struct table *table, const char *heading);
void table_add_note(struct table *table, enum report_mark mark, const char *note);
/* Prints the list on stdout. Returns 0. */
int table_print(const struct table *table);

#endif

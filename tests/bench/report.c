/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of bench_launch from standard input as a table on standard output, as JSON and as a chart:
 *
 *   bench_report [--json=FILE] [--svg=FILE] [--title=TEXT]
 *
 * In each section times are compared with those of `bare` and of `bwrap`, if they are there. The
 * chart shows the first section. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 256, NAME_BYTES = 64 };

struct row {
	char section[NAME_BYTES], name[NAME_BYTES];
	unsigned runs, failures;
	double least, median, p99, mean; /* microseconds */
};

static struct row rows[ROWS_MAX];
static size_t row_count;

static bool read_row(const char *line)
{
	struct row *row = &rows[row_count];
	if (row_count == ROWS_MAX)
		return false;
	if (sscanf(line, "%63[^\t]\t%63[^\t]\t%u\t%lf\t%lf\t%lf\t%lf\t%u", row->section, row->name, &row->runs, &row->least,
		   &row->median, &row->p99, &row->mean, &row->failures) != 8)
		return false;
	row_count++;
	return true;
}

static const struct row *find(const char *section, const char *name)
{
	for (size_t i = 0; i < row_count; i++)
		if (strcmp(rows[i].section, section) == 0 && strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

/* The median's ratio to that of another contender of the section; 0 if there is none. */
static double ratio(const struct row *row, const char *name)
{
	const struct row *other = find(row->section, name);
	return other && other->median > 0 ? row->median / other->median : 0;
}

static void print_ratio(double value)
{
	if (value > 0)
		printf(" %9.2f", value);
	else
		printf(" %9s", "-");
}

static void print_table(void)
{
	for (size_t i = 0; i < row_count; i++) {
		const struct row *row = &rows[i];
		if (i == 0 || strcmp(row->section, rows[i - 1].section) != 0)
			printf("%s%s\n  %-14s %6s %10s %10s %10s %9s %9s\n", i ? "\n" : "", row->section, "", "runs",
			       "least us", "median us", "p99 us", "x bare", "x bwrap");
		printf("  %-14s %6u %10.0f %10.0f %10.0f", row->name, row->runs, row->least, row->median, row->p99);
		print_ratio(ratio(row, "bare"));
		print_ratio(ratio(row, "bwrap"));
		if (row->failures)
			printf("  %u FAILED", row->failures);
		printf("\n");
	}
}

/* Names are the bench's own: nothing in them needs quoting. */
static void write_json(FILE *out)
{
	fprintf(out, "{\"unit\": \"microseconds\", \"results\": [");
	for (size_t i = 0; i < row_count; i++) {
		const struct row *row = &rows[i];
		fprintf(out,
			"%s\n  {\"section\": \"%s\", \"name\": \"%s\", \"runs\": %u, \"least\": %.1f, \"median\": %.1f, "
			"\"p99\": %.1f, "
			"\"mean\": %.1f, \"to_bare\": %.3f, \"to_bwrap\": %.3f, \"failures\": %u}",
			i ? "," : "", row->section, row->name, row->runs, row->least, row->median, row->p99, row->mean,
			ratio(row, "bare"), ratio(row, "bwrap"), row->failures);
	}
	fprintf(out, "\n]}\n");
}

enum { BAR_LEFT = 150, BAR_WIDTH = 430, BAR_HEIGHT = 22, ROW_HEIGHT = 34, TOP = 56, WIDTH = 760 };

static void write_svg(FILE *out, const char *title)
{
	const char *section = rows[0].section;
	double longest = 0;
	size_t count = 0, at = 0;
	for (size_t i = 0; i < row_count; i++)
		if (strcmp(rows[i].section, section) == 0) {
			count++;
			longest = rows[i].median > longest ? rows[i].median : longest;
		}
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" font-family=\"sans-serif\" "
		"font-size=\"14\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<text x=\"16\" y=\"28\" "
		"font-size=\"16\">%s</text>\n",
		WIDTH, TOP + count * ROW_HEIGHT + 16, title);
	for (size_t i = 0; i < row_count; i++) {
		const struct row *row = &rows[i];
		double length = longest > 0 ? BAR_WIDTH * row->median / longest : 0;
		size_t y = TOP + at * ROW_HEIGHT;
		if (strcmp(row->section, section) != 0)
			continue;
		at++;
		fprintf(out,
			"<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">%s</text>\n"
			"<rect x=\"%d\" y=\"%zu\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n"
			"<text x=\"%.1f\" y=\"%zu\">%.2f ms, %.1f x</text>\n",
			BAR_LEFT - 10, y + 16, row->name, BAR_LEFT, y, length, BAR_HEIGHT,
			strncmp(row->name, "berm", 4) == 0 ? "#1f6f5c" : "#9aa5a0", BAR_LEFT + length + 8, y + 16,
			row->median / 1000, ratio(row, "bare"));
	}
	fprintf(out, "</svg>\n");
}

static FILE *open_output(const char *path)
{
	FILE *out = fopen(path, "we");
	if (!out) {
		perror(path);
		exit(2);
	}
	return out;
}

int main(int argc, char **argv)
{
	const char *json = NULL, *svg = NULL, *title = "Time to start and end /bin/true";
	char line[512];
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--json=", 7) == 0)
			json = argv[i] + 7;
		else if (strncmp(argv[i], "--svg=", 6) == 0)
			svg = argv[i] + 6;
		else if (strncmp(argv[i], "--title=", 8) == 0)
			title = argv[i] + 8;
		else
			return 2;
	}
	while (fgets(line, sizeof line, stdin))
		if (!read_row(line))
			fprintf(stderr, "not a result: %s", line);
	if (row_count == 0)
		return 2;
	print_table();
	if (json) {
		FILE *out = open_output(json);
		write_json(out);
		fclose(out);
	}
	if (svg) {
		FILE *out = open_output(svg);
		write_svg(out, title);
		fclose(out);
	}
	return 0;
}

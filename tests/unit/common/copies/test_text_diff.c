/* SPDX-License-Identifier: Apache-2.0 */
/* The text diff: applied to the first text it gives the second, for random texts, and it is as
 * short as that of a reference by dynamic programming. patch(1) agrees where it is installed. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/copies/text_diff.h"

enum { LINES_MAX = 60, ROUNDS = 3000, PATCH_ROUNDS = 40 };

/* What a reader of the diff gets: `before` is consumed, `result` grows. */
struct reader {
	struct diff_text before;
	size_t at;
	struct text result;
	struct text patch;
	size_t line_before, line_after;
	size_t left_before, left_after; /* of the hunk */
	bool is_wrong;
};

static size_t line_length(struct diff_text text, size_t at)
{
	const char *end = memchr(text.bytes + at, '\n', text.length - at);
	return end ? (size_t)(end - text.bytes) + 1 - at : text.length - at;
}

static void copy_line(struct reader *reader)
{
	size_t length = line_length(reader->before, reader->at);
	text_add_n(&reader->result, reader->before.bytes + reader->at, length);
	reader->at += length;
	reader->line_before++;
	reader->line_after++;
}

static void take_hunk(void *self, struct diff_range before, struct diff_range after)
{
	struct reader *reader = self;
	size_t first = before.count ? before.start - 1 : before.start;
	reader->is_wrong |= reader->left_before || reader->left_after || first < reader->line_before;
	while (reader->line_before < first)
		copy_line(reader);
	reader->is_wrong |= reader->line_after != (after.count ? after.start - 1 : after.start);
	reader->left_before = before.count;
	reader->left_after = after.count;
	text_add(&reader->patch, "@@ -%zu,%zu +%zu,%zu @@\n", before.start, before.count, after.start, after.count);
}

static void take_line(void *self, char mark, struct diff_text line, bool has_end)
{
	struct reader *reader = self;
	text_add(&reader->patch, "%c", mark);
	text_add_n(&reader->patch, line.bytes, line.length);
	text_add(&reader->patch, has_end ? "\n" : "\n\\ No newline at end of file\n");
	if (mark != '+') {
		size_t length = line_length(reader->before, reader->at);
		reader->is_wrong |= reader->left_before-- == 0 || length != line.length + has_end ||
				    memcmp(reader->before.bytes + reader->at, line.bytes, line.length) != 0;
		reader->at += length;
		reader->line_before++;
	}
	if (mark != '-') {
		reader->is_wrong |= reader->left_after-- == 0;
		text_add_n(&reader->result, line.bytes, line.length);
		text_add_n(&reader->result, "\n", has_end);
		reader->line_after++;
	}
}

static struct diff_counts read_diff(struct diff_text before, struct diff_text after, size_t context, struct reader *reader)
{
	const struct diff_sink sink = { .self = reader, .hunk = take_hunk, .line = take_line };
	struct diff_counts counts;
	*reader = (struct reader){ .before = before };
	text_add_n(&reader->result, "", 0);
	counts = text_diff(before, after, context, &sink);
	while (reader->at < before.length)
		copy_line(reader);
	reader->is_wrong |= reader->left_before || reader->left_after;
	return counts;
}

static void random_text(struct text *text, unsigned alphabet)
{
	unsigned lines = (unsigned)rand() % LINES_MAX;
	text_add_n(text, "", 0);
	for (unsigned i = 0; i < lines; i++)
		text_add(text, "%c%s", 'a' + (char)((unsigned)rand() % alphabet),
			 i + 1 == lines && rand() % 3 == 0 ? "" : "\n");
}

static void mutate(const struct text *from, struct text *to)
{
	struct diff_text text = { from->data, from->length };
	text_add_n(to, "", 0);
	for (size_t at = 0, length; at < text.length; at += length) {
		length = line_length(text, at);
		if (rand() % 8 != 0)
			text_add_n(to, text.bytes + at, length);
		if (rand() % 8 == 0)
			text_add(to, "new %d\n", rand() % 5);
	}
}

/* The least number of removed and added lines. */
static size_t shortest(struct diff_text before, struct diff_text after)
{
	static size_t cost[LINES_MAX * 2 + 2][LINES_MAX * 2 + 2];
	struct diff_text a[LINES_MAX * 2 + 1], b[LINES_MAX * 2 + 1];
	size_t n = 0, m = 0;
	for (size_t at = 0; at < before.length; at += a[n - 1].length)
		a[n++] = (struct diff_text){ before.bytes + at, line_length(before, at) };
	for (size_t at = 0; at < after.length; at += b[m - 1].length)
		b[m++] = (struct diff_text){ after.bytes + at, line_length(after, at) };
	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++) {
			size_t best = i + k;
			if (i > 0 && k > 0 && a[i - 1].length == b[k - 1].length &&
			    memcmp(a[i - 1].bytes, b[k - 1].bytes, a[i - 1].length) == 0)
				best = cost[i - 1][k - 1];
			else if (i > 0 && k > 0)
				best = 1 + (cost[i - 1][k] < cost[i][k - 1] ? cost[i - 1][k] : cost[i][k - 1]);
			cost[i][k] = best;
		}
	return cost[n][m];
}

TEST a_diff_gives_the_other_text_and_is_shortest(void)
{
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct text one = { 0 }, two = { 0 };
		struct reader reader;
		struct diff_counts counts;
		random_text(&one, 2 + (unsigned)round % 7);
		if (round % 2)
			mutate(&one, &two);
		else
			random_text(&two, 2 + (unsigned)round % 7);
		struct diff_text before = { one.data, one.length }, after = { two.data, two.length };
		counts = read_diff(before, after, (size_t)round % 5, &reader);
		ASSERT(!reader.is_wrong);
		ASSERT_EQ(two.length, reader.result.length);
		ASSERT_EQ(0, memcmp(two.data, reader.result.data, two.length));
		ASSERT_EQ(shortest(before, after), counts.added + counts.removed);
		text_free(&one);
		text_free(&two);
		text_free(&reader.result);
		text_free(&reader.patch);
	}
	PASS();
}

static void write_file(const char *path, const char *header, const struct text *text)
{
	FILE *file = fopen(path, "w");
	if (!file)
		abort();
	fputs(header, file);
	if (text->length > 0)
		fwrite(text->data, 1, text->length, file);
	fclose(file);
}

TEST patch_reads_it(void)
{
	char directory[] = "/tmp/berm-diff.XXXXXX";
	if (access("/usr/bin/patch", X_OK) < 0)
		SKIPm("needs patch");
	ASSERT(mkdtemp(directory));
	ASSERT_EQ(0, chdir(directory));
	srand(2);
	for (int round = 0; round < PATCH_ROUNDS; round++) {
		struct text one = { 0 }, two = { 0 };
		struct reader reader;
		random_text(&one, 5);
		text_add(&one, "\nend\n");
		mutate(&one, &two);
		read_diff((struct diff_text){ one.data, one.length }, (struct diff_text){ two.data, two.length }, 3, &reader);
		if (reader.patch.length > 0 && two.length > 0) {
			write_file("one", "", &one);
			write_file("two", "", &two);
			write_file("patch", "--- a/one\n+++ b/one\n", &reader.patch);
			ASSERT_EQ(0, system("/usr/bin/patch -s -p1 <patch && cmp one two"));
		}
		text_free(&one);
		text_free(&two);
		text_free(&reader.result);
		text_free(&reader.patch);
	}
	ASSERT_EQ(0, system("rm -f one two patch one.orig"));
	ASSERT_EQ(0, chdir("/"));
	ASSERT_EQ(0, rmdir(directory));
	PASS();
}

/* Two texts without a common line: the search gives up in time, and the result is right. */
TEST large_texts_take_bounded_time(void)
{
	struct text one = { 0 }, two = { 0 };
	struct reader reader;
	struct diff_counts counts;
	for (int i = 0; i < 40000; i++) {
		text_add(&one, "%d\n", i * 7 % 40009);
		text_add(&two, "%d\n", i * 11 % 40009);
	}
	counts = read_diff((struct diff_text){ one.data, one.length }, (struct diff_text){ two.data, two.length }, 3, &reader);
	ASSERT(counts.added > 0 && !reader.is_wrong);
	ASSERT_EQ(two.length, reader.result.length);
	ASSERT_EQ(0, memcmp(two.data, reader.result.data, two.length));
	text_free(&one);
	text_free(&two);
	text_free(&reader.result);
	text_free(&reader.patch);
	PASS();
}

TEST binary_files_are_recognised(void)
{
	static const char zero[] = { 'a', 0, 'b' };
	ASSERT(text_diff_is_binary((struct diff_text){ zero, sizeof zero }));
	ASSERT(!text_diff_is_binary((struct diff_text){ "abc\n", 4 }));
	ASSERT(!text_diff_is_binary((struct diff_text){ "", 0 }));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_diff_gives_the_other_text_and_is_shortest);
	RUN_TEST(patch_reads_it);
	RUN_TEST(large_texts_take_bounded_time);
	RUN_TEST(binary_files_are_recognised);
	GREATEST_MAIN_END();
}

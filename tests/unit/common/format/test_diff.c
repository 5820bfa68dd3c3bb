/* SPDX-License-Identifier: Apache-2.0 */
/* A difference applied to the old text gives the new one, for random texts. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/format/diff.h"

static struct arena arena;
static unsigned long long random_state;

static unsigned pick(unsigned bound)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((random_state >> 33) % bound);
}

static struct jsonc_text of(const char *text)
{
	return (struct jsonc_text){ text, strlen(text) };
}

static const char *diff(const char *before, const char *after)
{
	struct text out = { 0 };
	const char *result;
	diff_lines(&arena, "a", "b", of(before), of(after), &out);
	result = arena_copy(&arena, out.data ? out.data : "");
	text_free(&out);
	return result;
}

/* Reads `count` lines of *from into out (if it is not NULL). */
static void take(const char **from, size_t count, struct text *out)
{
	for (; count > 0 && **from; count--) {
		size_t length = strcspn(*from, "\n");
		length += (*from)[length] == '\n';
		if (out)
			text_add_n(out, *from, length);
		*from += length;
	}
}

/* A minimal patch(1). NULL if the difference does not apply. */
static const char *apply(const char *before, const char *difference)
{
	struct text out = { 0 };
	const char *rest = before, *result, *line = difference;
	size_t done = 0; /* lines of `before` */

	text_add_n(&out, "", 0);
	for (; *line; line += strcspn(line, "\n") + 1) {
		size_t start, count, length = strcspn(line, "\n");
		if (strncmp(line, "---", 3) == 0 || strncmp(line, "+++", 3) == 0)
			continue;
		if (sscanf(line, "@@ -%zu,%zu ", &start, &count) == 2) {
			size_t skip = (count > 0 ? start - 1 : start) - done;
			take(&rest, skip, &out);
			done += skip;
			continue;
		}
		if (line[0] == '\\') {
			if (out.length > 0 && out.data[out.length - 1] == '\n' && line[-1] == '\n')
				out.data[--out.length] = '\0';
			continue;
		}
		if (line[0] != '+') {
			size_t own = strcspn(rest, "\n");
			if (own != length - 1 || memcmp(rest, line + 1, own) != 0)
				return NULL;
			take(&rest, 1, line[0] == ' ' ? &out : NULL);
			done++;
		} else {
			text_add_n(&out, line + 1, length - 1);
			text_add(&out, "\n");
		}
	}
	text_add(&out, "%s", rest);
	result = arena_copy_n(&arena, out.data, out.length);
	text_free(&out);
	return result;
}

static const char *random_text(void)
{
	struct text out = { 0 };
	const char *result;
	text_add_n(&out, "", 0);
	for (unsigned i = pick(30); i > 0; i--)
		text_add(&out, "%c%s", 'a' + (char)pick(4), pick(12) ? "\n" : "\n\n");
	result = arena_copy_n(&arena, out.data, out.length);
	text_free(&out);
	return result;
}

TEST applied_it_gives_the_new_text(void)
{
	for (unsigned i = 0; i < 3000; i++) {
		random_state = i;
		const char *before = random_text(), *after = random_text();
		const char *difference = diff(before, after), *got = apply(before, difference);
		if (!got || strcmp(got, after) != 0)
			FAILm(difference);
		ASSERT_EQ(strcmp(before, after) == 0, difference[0] == '\0');
	}
	PASS();
}

TEST looks_like_the_usual_one(void)
{
	ASSERT_STR_EQ("--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n", diff("", "x\n"));
	ASSERT_STR_EQ("--- a\n+++ b\n@@ -1,1 +0,0 @@\n-x\n", diff("x\n", ""));
	ASSERT_STR_EQ("--- a\n+++ b\n@@ -1,2 +1,3 @@\n one\n-two\n\\ No newline at end of file\n+two\n+three\n",
		      diff("one\ntwo", "one\ntwo\nthree\n"));
	ASSERT_STR_EQ("--- a\n+++ b\n@@ -1,1 +1,1 @@\n-\\x1b[2J\n+a\tb\n", diff("\x1b[2J\n", "a\tb\n"));
	ASSERT_STR_EQ("", diff("same\n", "same\n"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(applied_it_gives_the_new_text);
	RUN_TEST(looks_like_the_usual_one);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

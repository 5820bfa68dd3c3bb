/* SPDX-License-Identifier: Apache-2.0 */
/* Path patterns as tables. The base directory of a row is /p unless it has another one. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/fs/pattern.h"
#include "unit/support/pattern_rows.h"

static struct arena arena;

static enum greatest_test_res compile(const char *text, const char *base, struct pattern *pattern)
{
	struct error err = { 0 };

	if (pattern_compile(&arena, text, base, pattern, &err) < 0) {
		fprintf(stderr, "pattern %s: %s\n", text, err.message);
		FAILm("a pattern of the table does not compile");
	}
	PASS();
}

TEST matches_as_the_table_says(void)
{
	for (size_t i = 0; i < pattern_row_count; i++) {
		const struct pattern_row *row = &pattern_rows[i];
		struct pattern pattern;
		size_t length = strlen(row->path);
		bool is_directory = length > 0 && row->path[length - 1] == '/';
		char path[512];

		CHECK_CALL(compile(row->pattern, "/p", &pattern));
		snprintf(path, sizeof path, "%s", row->path);
		if (length > 1 && is_directory)
			path[length - 1] = '\0';
		bool is_match = pattern_matches(&pattern, path, is_directory, row->fold == FOLD);
		if (is_match != (row->verdict == YES)) {
			fprintf(stderr, "row %zu: %s against %s%s\n", i, row->pattern, row->path,
				row->fold == FOLD ? ", folded" : "");
			FAILm(is_match ? "matches and should not" : "does not match and should");
		}
		/* A path that matches is covered by itself or an ancestor, and its parent may match
		 * below. */
		if (is_match && strcmp(path, "/") != 0) {
			ASSERT(pattern_covers(&pattern, path, is_directory, row->fold == FOLD) > 0);
			*(strrchr(path, '/') + (strrchr(path, '/') == path)) = '\0';
			ASSERT(pattern_may_match_below(&pattern, path, row->fold == FOLD));
		}
	}
	PASS();
}

TEST compiles_to_the_normal_form(void)
{
	static const struct {
		const char *text, *base, *normal;
		const char *flags; /* n: base name, l: literal, a: anywhere, d: directories only */
		size_t prefix;
	} rows[] = {
		{ ".env", "/p", ".env", "nla", 4 },
		{ ".env/", "/p", ".env", "nlad", 4 },
		{ "*.pem", "/p", "*.pem", "na", 0 },
		{ "id_?sa", "/p", "id_?sa", "na", 0 },
		{ "a\\*b", "/p", "a*b", "nla", 3 },
		{ "a\\*b*", "/p", "a\\*b*", "na", 0 },
		{ "\\[x\\]", "/p", "[x]", "nla", 3 },
		{ "**", "/p", "**", "na", 0 },
		{ "**/", "/p", "**", "nad", 0 },
		{ "**/x", "/p", "x", "nla", 1 },
		{ "**/**/x", "/p", "x", "nla", 1 },
		{ "**//x", "/p", "x", "nla", 1 },
		{ "**/**", "/p", "**", "na", 0 },
		{ "**/*", "/p", "*", "na", 0 },
		{ "**/x/", "/p", "x", "nlad", 1 },
		{ "**/x/y", "/p", "/**/x/y", "a", 1 },
		{ "**/./y", "/p", "/**/y", "a", 1 },
		{ "/**/x", "/p", "/**/x", "", 1 },
		{ "./**/x", "/p", "/p/**/x", "", 3 },
		{ ".", "/p", "/p", "l", 2 },
		{ "./", "/p", "/p", "ld", 2 },
		{ "./.", "/p", "/p", "l", 2 },
		{ "./x", "/p", "/p/x", "l", 4 },
		{ "a/b", "/p", "/p/a/b", "l", 6 },
		{ "a//b", "/p", "/p/a/b", "l", 6 },
		{ "a/./b/", "/p", "/p/a/b", "ld", 6 },
		{ "a/*/c", "/p", "/p/a/*/c", "", 5 },
		{ "a/\\*/c", "/p", "/p/a/*/c", "l", 8 },
		{ "a/\\*/c?", "/p", "/p/a/*/c?", "", 7 },
		{ "a/?/\\*", "/p", "/p/a/?/\\*", "", 5 },
		{ "a/**", "/p", "/p/a/**/*", "", 5 },
		{ "a/**/", "/p", "/p/a/**/*", "d", 5 },
		{ "a/**/**/b", "/p", "/p/a/**/b", "", 5 },
		{ "a/**/**", "/p", "/p/a/**/*", "", 5 },
		{ "/", "/p", "/", "l", 1 },
		{ "/.", "/p", "/", "l", 1 },
		{ "///", "/p", "/", "l", 1 },
		{ "/etc", "/p", "/etc", "l", 4 },
		{ "//etc//ssh/", "/p", "/etc/ssh", "ld", 8 },
		{ "/**", "/p", "/**/*", "", 1 },
		{ "/*", "/p", "/*", "", 1 },
		{ "x/y", "/", "/x/y", "l", 4 },
		{ "x/y", "/p/", "/p/x/y", "l", 6 },
		/* The base is a path, not a pattern. */
		{ "x/y", "/[p]*", "/[p]*/x/y", "l", 9 },
		{ "x/*", "/[p]*", "/[p]*/x/*", "", 8 },
		{ "x/*", "/a\\b", "/a\\b/x/*", "", 7 },
		{ ".", "/**", "/**", "l", 3 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct pattern pattern;
		char flags[8] = "";
		CHECK_CALL(compile(rows[i].text, rows[i].base, &pattern));
		snprintf(flags, sizeof flags, "%s%s%s%s", pattern.is_base_name ? "n" : "", pattern.is_literal ? "l" : "",
			 pattern.is_anywhere ? "a" : "", pattern.is_directory_only ? "d" : "");
		ASSERT_STR_EQm(rows[i].text, rows[i].normal, pattern.text);
		ASSERT_STR_EQm(rows[i].text, rows[i].flags, flags);
		ASSERT_EQm(rows[i].text, rows[i].prefix, pattern.literal_prefix);
	}
	PASS();
}

TEST refuses_what_could_be_misread(void)
{
	static const struct {
		const char *text, *complaint; /* a word of the message */
	} rows[] = {
		{ "", "empty" },
		{ "..", "`..`" },
		{ "../x", "`..`" },
		{ "a/..", "`..`" },
		{ "a/../b", "`..`" },
		{ "/a/../b", "`..`" },
		{ "**/..", "`..`" },
		{ "a/*/../b", "`..`" },
		{ "../", "`..`" },
		{ "\\.\\.", "`..`" },
		{ "a/\\../b", "`..`" },
		{ "\\.", "`.`" },
		{ "*/\\./b", "`.`" },
		{ "[", "`[`" },
		{ "a[b", "`[`" },
		{ "[]", "`[`" },
		{ "[!]", "`[`" },
		{ "[^]", "`[`" },
		{ "[!", "`[`" },
		{ "[]a", "`[`" },
		{ "[a\\]", "`[`" },
		{ "[a\\", "`[`" },
		{ "[a-", "`[`" },
		{ "[a-\\", "`[`" },
		{ "[a/b]", "`[`" },
		{ "x/[a", "`[`" },
		{ "[a/x", "`[`" },
		{ "[z-a]", "reversed" },
		{ "[a-z-a]", NULL },
		{ "[b-a]x", "reversed" },
		{ "[ω-α]", "reversed" },
		{ "[[:alpha:]]", "named classes" },
		{ "[[.a.]]", "named classes" },
		{ "[[=a=]]", "named classes" },
		{ "[a[:digit:]]", "named classes" },
		{ "[[]", NULL },
		{ "[[a]", NULL },
		{ "\\", "quotes nothing" },
		{ "a\\", "quotes nothing" },
		{ "a\\/b", "quotes nothing" },
		{ "a/b\\", "quotes nothing" },
		{ "a\\\\", NULL },
		{ "***", "`***`" },
		{ "a***", "`***`" },
		{ "a/***/b", "`***`" },
		{ "**\\*", NULL },
		{ "**a**", NULL },
		{ "...", NULL },
		{ "..a", NULL },
		{ "a/.../b", NULL },
		{ ".?", NULL },
		{ "]", NULL },
		{ "a]b", NULL },
		{ "-", NULL },
		{ "\xff\xfe", NULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct pattern pattern;
		struct error err = { 0 };
		int status = pattern_compile(&arena, rows[i].text, "/p", &pattern, &err);
		ASSERT_EQm(rows[i].text, rows[i].complaint ? -1 : 0, status);
		if (rows[i].complaint)
			ASSERTm(rows[i].text, strstr(err.message, rows[i].complaint));
	}
	PASS();
}

TEST refuses_what_is_too_long(void)
{
	enum { LONG = 5000 };
	static char text[LONG + 1];
	struct pattern pattern;
	struct error err = { 0 };

	memset(text, 'a', LONG);
	ASSERT_EQ(-1, pattern_compile(&arena, text, "/p", &pattern, &err));
	ASSERT(strstr(err.message, "longer"));
	text[4000] = '\0';
	ASSERT_EQ(0, pattern_compile(&arena, text, "/p", &pattern, &err));
	memset(text, '/', 4000);
	text[3999] = 'a';
	ASSERT_EQ(0, pattern_compile(&arena, text, "/p", &pattern, &err));
	ASSERT_STR_EQ("/a", pattern.text);
	ASSERT_EQ(-1, pattern_compile(&arena, "a/b", "relative", &pattern, &err));
	PASS();
}

TEST covers_the_topmost_ancestor(void)
{
	static const struct {
		const char *pattern, *path;
		size_t length;
		bool fold;
	} rows[] = {
		{ ".ssh", "/home/a/.ssh/id_rsa", 12, false },
		{ ".ssh", "/home/a/.ssh", 12, false },
		{ ".ssh", "/home/a/.sshx/id_rsa", 0, false },
		{ ".ssh/", "/home/a/.ssh", 0, false }, /* a file of that name */
		{ ".ssh/", "/home/a/.ssh/", 12, false },
		{ ".ssh/", "/home/a/.ssh/id_rsa", 12, false },
		{ ".SSH", "/home/a/.ssh/id_rsa", 0, false },
		{ ".SSH", "/home/a/.ssh/id_rsa", 12, true },
		{ "*", "/a/b", 2, false },
		{ "*/", "/a", 0, false },
		{ "*/", "/a/b", 2, false },
		{ "a", "/a/a/a", 2, false },
		{ "/a/*", "/a/b/c/d", 4, false },
		{ "/a/*", "/a", 0, false },
		{ "/a/**", "/a", 0, false },
		{ "/a/**", "/a/b/c", 4, false },
		{ "/a/**/c", "/a/x/c/c", 6, false },
		{ "/a/**/c", "/a/x/y", 0, false },
		{ "/a/**/c/", "/a/x/c", 0, false },
		{ "/a/**/c/", "/a/x/c/c", 6, false },
		{ "/a/**/c/d", "/a/c/x/c/d/e", 10, false },
		{ "/", "/a/b", 1, false },
		{ "/", "/", 1, false },
		{ "x", "/", 0, false },
		{ "*", "/", 0, false },
		{ "/p", "/p", 2, false },
		{ ".", "/p/x", 2, false },
		{ ".", "/px", 0, false },
		{ "a/b", "/p/a/b/c", 6, false },
		{ "a/b", "/p/a", 0, false },
		{ "a/b", "/p/A/B/c", 0, false },
		{ "a/b", "/p/A/B/c", 6, true },
		{ "caf\u00e9", "/x/cafe\u0301/y", 9, true },
		{ "caf\u00e9", "/x/cafe\u0301/y", 0, false },
		{ "**/.git/hooks", "/p/sub/.git/hooks/pre-commit", 17, false },
		{ "**/.git/hooks", "/.git/hooks/pre-commit", 11, false },
		{ "**/.git/hooks", "/p/.git/config", 0, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct pattern pattern;
		size_t length = strlen(rows[i].path);
		bool is_directory = rows[i].path[length - 1] == '/';
		CHECK_CALL(compile(rows[i].pattern, "/p", &pattern));
		ASSERT_EQ_FMTm(rows[i].path, rows[i].length, pattern_covers(&pattern, rows[i].path, is_directory, rows[i].fold),
			       "%zu");
	}
	PASS();
}

TEST knows_where_nothing_can_match(void)
{
	static const struct {
		const char *pattern, *directory;
		bool may, fold;
	} rows[] = {
		{ ".env", "/", true, false },
		{ ".env", "/any/where", true, false },
		{ "*.pem", "/any/where", true, false },
		{ "/a/b/c", "/", true, false },
		{ "/a/b/c", "/a", true, false },
		{ "/a/b/c", "/a/b", true, false },
		{ "/a/b/c", "/a/b/", true, false },
		{ "/a/b/c", "/a/b/c", false, false },
		{ "/a/b/c", "/a/b/c/d", false, false },
		{ "/a/b/c", "/a/x", false, false },
		{ "/a/b/c", "/A/B", false, false },
		{ "/a/b/c", "/A/B", true, true },
		{ "/a/b", "/ab", false, false },
		{ "/a/*", "/a", true, false },
		{ "/a/*", "/a/b", false, false },
		{ "/a/*/c", "/a/b", true, false },
		{ "/a/*/c", "/a/b/c", false, false },
		{ "/a/x*/c", "/a/b", false, false },
		{ "/a/**", "/a", true, false },
		{ "/a/**", "/", true, false },
		{ "/a/**", "/a/b/c", true, false },
		{ "/a/**", "/b", false, false },
		{ "/a/**/c", "/a/c", true, false },
		{ "/a/**/c", "/a/c/d", true, false },
		{ "/**/c", "/x/y", true, false },
		{ "**/c/d", "/x/y", true, false },
		{ "/", "/", false, false },
		{ ".", "/", true, false },
		{ ".", "/p", false, false },
		{ "x/y", "/p", true, false },
		{ "x/y", "/q", false, false },
		{ "x/\\*\\*/y*", "/p/x", true, false },
		{ "x/\\*\\*/y*", "/p/x/z", false, false },
		{ "x/\\*\\*/y*", "/p/x/**", true, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct pattern pattern;
		CHECK_CALL(compile(rows[i].pattern, "/p", &pattern));
		ASSERT_EQm(rows[i].pattern, rows[i].may, pattern_may_match_below(&pattern, rows[i].directory, rows[i].fold));
	}
	PASS();
}

TEST matches_variable_names(void)
{
	static const struct {
		const char *pattern, *name;
		bool is_match;
	} rows[] = {
		{ "LANG", "LANG", true },
		{ "LANG", "LANGUAGE", false },
		{ "LANG", "lang", false },
		{ "LC_*", "LC_ALL", true },
		{ "LC_*", "LC_", true },
		{ "LC_*", "LC", false },
		{ "*_TOKEN", "GH_TOKEN", true },
		{ "*_TOKEN", "GH_TOKEN_X", false },
		{ "*", "ANY", true },
		{ "*", "", true },
		{ "", "", true },
		{ "", "A", false },
		{ "A?C", "ABC", true },
		{ "A?C", "AC", false },
		{ "[AB]X", "BX", true },
		{ "[!AB]X", "CX", true },
		{ "[!AB]X", "AX", false },
		{ "[A", "A", false },
		{ "A\\*", "A*", true },
		{ "A\\*", "AB", false },
		{ "*A*B*", "xxAyyBzz", true },
		{ "*A*B*", "xxByyAzz", false },
		{ "npm_config_*", "npm_config_a/b", true },
		{ "A**B", "AxyzB", true },
		{ "\\", "\\", false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		ASSERT_EQm(rows[i].pattern, rows[i].is_match, pattern_matches_name(rows[i].pattern, rows[i].name));
	PASS();
}

TEST matches_a_base_name_without_its_directory(void)
{
	struct pattern pattern;

	CHECK_CALL(compile("*.pem", "/p", &pattern));
	ASSERT(pattern_matches_base(&pattern, "key.pem", false, false));
	ASSERT_FALSE(pattern_matches_base(&pattern, "key.PEM", false, false));
	ASSERT(pattern_matches_base(&pattern, "key.PEM", false, true));
	ASSERT_FALSE(pattern_matches_base(&pattern, "", false, false));
	CHECK_CALL(compile("secrets/", "/p", &pattern));
	ASSERT(pattern_matches_base(&pattern, "secrets", true, false));
	ASSERT_FALSE(pattern_matches_base(&pattern, "secrets", false, false));
	CHECK_CALL(compile("./secrets", "/p", &pattern));
	ASSERT_FALSE(pattern_matches_base(&pattern, "secrets", true, false));
	PASS();
}

TEST quotes_so_that_only_the_text_itself_matches(void)
{
	static const char *const names[] = { "plain", "a*b", "a?b", "[x]", "a\\b", "\\", "**", "]", "*", "\xff*", "\u00e9[" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct pattern pattern;
		char path[64];
		CHECK_CALL(compile(pattern_quote(&arena, names[i]), "/p", &pattern));
		ASSERTm(names[i], pattern.is_literal);
		ASSERT_STR_EQ(names[i], pattern.text);
		snprintf(path, sizeof path, "/d/%s", names[i]);
		ASSERTm(names[i], pattern_matches(&pattern, path, false, false));
		ASSERT_FALSEm(names[i], pattern_matches(&pattern, "/d/other", false, false));
	}
	PASS();
}

static double seconds_for(const struct pattern *pattern, const char *path)
{
	struct timespec before, after;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	pattern_matches(pattern, path, false, true);
	pattern_covers(pattern, path, false, true);
	pattern_may_match_below(pattern, path, true);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	return (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
}

/* `unit` repeated to about `size` bytes, then `tail`. */
static char *repeat(const char *head, const char *unit, size_t size, const char *tail)
{
	char *text = arena_alloc(&arena, strlen(head) + size + strlen(unit) + strlen(tail) + 1);
	size_t length = strlen(head), step = strlen(unit);

	memcpy(text, head, length);
	for (size_t used = 0; used + step <= size; used += step, length += step)
		memcpy(text + length, unit, step);
	memcpy(text + length, tail, strlen(tail));
	return text;
}

/* A backtracking matcher would need exponential time for each of these. The limit leaves room for
 * sanitizers and a busy machine. */
TEST stays_linear_in_pattern_times_path(void)
{
	static const struct {
		const char *head, *unit, *tail; /* of the pattern */
		const char *path_head, *path_unit, *path_tail;
	} rows[] = {
		{ "", "a*", "b", "/", "a", "c" },
		{ "", "*a", "b", "/", "a", "" },
		{ "", "?*", "b", "/", "a", "" },
		{ "", "[ab]*", "c", "/", "ab", "" },
		{ "", "[!c]*", "c", "/", "ab", "" },
		{ "*", "a", "b", "/", "a", "" },
		{ "*", "?", "b", "/", "a", "c" },
		{ "*", "[a-z]", "b", "/", "a", "c" },
		{ "/**/", "a/", "b", "", "/a", "/b/b" },
		{ "/**/", "*/", "b", "", "/a", "/b/c/b" },
		{ "/**/", "*a/", "b", "", "/aaaa", "/b/c/b" },
		{ "/", "**/a/", "b", "", "/a", "/c" },
		{ "/", "**/a*/", "b", "", "/aaaa", "/c" },
		{ "/", "**/*/", "b", "", "/a", "/c" },
		{ "/", "**/*a*a*a*/", "b", "", "/aaaaaaaaab", "/c" },
		{ "/", "**/a/**/*a/", "b", "", "/a/aa", "/c" },
		{ "/", "**/a/", "b/", "", "/a", "/b" },
		{ "", "\u00e9*", "b", "/", "e\u0301", "c" },
		{ "", "a*\u00e9*", "b", "/", "ae\u0301", "c" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct pattern pattern;
		char *path = repeat(rows[i].path_head, rows[i].path_unit, 4000, rows[i].path_tail);
		CHECK_CALL(compile(repeat(rows[i].head, rows[i].unit, 3900, rows[i].tail), "/p", &pattern));
		double seconds = seconds_for(&pattern, path);
		if (seconds > 5)
			fprintf(stderr, "row %zu: %.3f s\n", i, seconds);
		ASSERT(seconds <= 5);
	}
	PASS();
}

/* pattern_uses_base agrees with what pattern_compile does. */
TEST knows_which_patterns_use_the_base(void)
{
	static const char *const texts[] = { "a",   "a/",     "a/b",   "a/b/", "./a", ".",    "./",  "..a",  "**", "**/a",
					     "**/", "**/a/b", "***/a", "/",    "/a",  "/a/b", "*/a", "a/**", "",   "~x/y" };
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct pattern at_one, at_two;
		struct error err;
		if (pattern_compile(&arena, texts[i], "/one", &at_one, &err) == 0 &&
		    pattern_compile(&arena, texts[i], "/two", &at_two, &err) == 0)
			ASSERT_EQm(texts[i], strcmp(at_one.text, at_two.text) != 0, pattern_uses_base(texts[i]));
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(matches_as_the_table_says);
	RUN_TEST(compiles_to_the_normal_form);
	RUN_TEST(refuses_what_could_be_misread);
	RUN_TEST(refuses_what_is_too_long);
	RUN_TEST(covers_the_topmost_ancestor);
	RUN_TEST(knows_where_nothing_can_match);
	RUN_TEST(matches_variable_names);
	RUN_TEST(matches_a_base_name_without_its_directory);
	RUN_TEST(quotes_so_that_only_the_text_itself_matches);
	RUN_TEST(stays_linear_in_pattern_times_path);
	arena_free(&arena);
	RUN_TEST(knows_which_patterns_use_the_base);
	GREATEST_MAIN_END();
}

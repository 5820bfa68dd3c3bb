/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets in command lines, by their form; and words that are none. */
#include <greatest.h>

#include <stdlib.h>
#include <string.h>

#include "common/record/record.h"

static const struct row {
	const char *words[6]; /* ends with NULL */
	const char *wanted; /* joined by | */
} rows[] = {
	{ { "npm", "test" }, "npm|test" },
	{ { "x", "--token", "abc", "y" }, "x|--token|[redacted]|y" },
	{ { "x", "--token=abc", "y" }, "x|--token=[redacted]|y" },
	{ { "x", "--api-key=abc" }, "x|--api-key=[redacted]" },
	{ { "x", "--password", "two words" }, "x|--password|[redacted]" },
	{ { "x", "--password", "--verbose" }, "x|--password|--verbose" },
	{ { "x", "--password" }, "x|--password" },
	{ { "env", "GITHUB_TOKEN=abc", "gh" }, "env|GITHUB_TOKEN=[redacted]|gh" },
	{ { "env", "DB_PASSWORD=my two words", "x" }, "env|DB_PASSWORD=[redacted]|x" },
	{ { "make", "CC=gcc", "V=1" }, "make|CC=gcc|V=1" },
	{ { "curl", "-H", "Authorization: Bearer abc.def" }, "curl|-H|Authorization: [redacted]" },
	{ { "curl", "-H", "authorization: Basic YTpi" }, "curl|-H|authorization: [redacted]" },
	{ { "curl", "-H", "X-Api-Key: abc" }, "curl|-H|X-Api-Key: [redacted]" },
	{ { "curl", "-u", "ann:pw", "https://h.test" }, "curl|-u|[redacted]|https://h.test" },
	{ { "/usr/bin/curl", "-u", "ann:pw" }, "/usr/bin/curl|-u|[redacted]" },
	{ { "sort", "-u", "file" }, "sort|-u|file" },
	{ { "mysql", "-psecret", "db" }, "mysql|-p[redacted]|db" },
	{ { "mkdir", "-p", "a/b" }, "mkdir|-p|a/b" },
	{ { "git", "clone", "https://ann:pw@h.test/x.git" }, "git|clone|https://[redacted]@h.test/x.git" },
	{ { "git", "clone", "https://ann:p@w@h.test/x" }, "git|clone|https://[redacted]@h.test/x" },
	{ { "git", "clone", "git@h.test:x" }, "git|clone|git@h.test:x" },
	{ { "curl", "https://h.test/?a=1&token=abc&b=2" }, "curl|https://h.test/?a=1&token=[redacted]&b=2" },
	{ { "sh", "-c", "curl --token abc h && echo ok" }, "sh|-c|curl --token [redacted] h && echo ok" },
	{ { "sh", "-c", "TOKEN=abc make" }, "sh|-c|TOKEN=[redacted] make" },
	{ { "sh", "-c", "TOKEN='a b' make" }, "sh|-c|TOKEN=[redacted] make" },
	{ { "sh", "-c", "x --password \"a b\" c" }, "sh|-c|x --password [redacted] c" },
	{ { "bash", "-lc", "curl -H 'Authorization: Bearer abc' h" }, "bash|-lc|curl -H 'Authorization: [redacted]' h" },
	{ { "curl", "-d", "{\"user\":\"ann\",\"password\":\"pw x\"}" }, "curl|-d|{\"user\":\"ann\",\"password\":[redacted]}" },
	{ { "echo", "ghp_0123456789abcdefghij" }, "echo|[redacted]" },
	{ { "echo", "x=ghp_0123456789abcdefghij,y" }, "echo|x=[redacted],y" },
	{ { "echo", "AKIAIOSFODNN7EXAMPLE" }, "echo|[redacted]" },
	{ { "echo", "sk-short" }, "echo|sk-short" },
	{ { "echo", "" }, "echo|" },
	{ { "x", "known-value-0123" }, "x|[redacted:MY_SECRET]" },
	{ { "x", "a known-value-0123 b known-value-0123" }, "x|a [redacted:MY_SECRET] b [redacted:MY_SECRET]" },
	{ { "x", "plain-value-0123" }, "x|plain-value-0123" },
};

static char *variables[] = { (char[]){ "MY_SECRET=known-value-0123" }, (char[]){ "EDITOR=plain-value-0123" },
			     (char[]){ "NOTHING" }, NULL };

TEST takes_out_what_looks_like_a_secret(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct arena arena = { 0 };
		struct text joined = { 0 };
		char *words[7] = { NULL };
		char *const *redacted;
		for (size_t k = 0; k < 6 && rows[i].words[k]; k++)
			words[k] = arena_copy(&arena, rows[i].words[k]);
		redacted = record_redact(&arena, words, variables);
		for (size_t k = 0; redacted[k]; k++)
			text_add(&joined, "%s%s", k > 0 ? "|" : "", redacted[k]);
		ASSERT_STR_EQ(rows[i].wanted, joined.data);
		text_free(&joined);
		arena_free(&arena);
	}
	PASS();
}

/* A value that is a part of its own replacement. */
TEST a_replacement_is_not_searched_again(void)
{
	struct arena arena = { 0 };
	char *words[] = { (char[]){ "a redacted b" }, NULL }, *own[] = { (char[]){ "A_TOKEN=redacted" }, NULL };
	ASSERT_STR_EQ("a [redacted:A_TOKEN] b", record_redact(&arena, words, own)[0]);
	arena_free(&arena);
	PASS();
}

/* The bytes of argv in a record are limited, and the whole has a hash. */
TEST long_command_lines_are_cut(void)
{
	struct arena arena = { 0 };
	struct text out = { 0 };
	struct json json = { .out = &out, .is_compact = true };
	char *long_word = arena_alloc(&arena, 100001);
	char *words[] = { (char[]){ "x" }, long_word, (char[]){ "last" }, NULL };

	/* Two bytes each: none is cut in half. */
	for (size_t i = 0; i < 50000; i++)
		memcpy(long_word + 2 * i, "\u00e9", 2);
	json_object(&json, NULL);
	record_argv(&arena, &json, words, NULL);
	json_object_end(&json);
	ASSERT(out.length < 3 * RECORD_ARGV_MAX);
	ASSERT(strstr(out.data, "bytes left out]"));
	ASSERT(strstr(out.data, "\"argv_cut\":{\"words\":3,\"bytes\":100008,\"sha256\":\""));
	ASSERT_EQ(NULL, strstr(out.data, "b64"));
	text_free(&out);
	arena_free(&arena);
	PASS();
}

/* Invalid UTF-8 stays what it was, as base64. */
TEST bytes_that_are_no_text_are_encoded(void)
{
	struct text out = { 0 };
	struct json json = { .out = &out, .is_compact = true };

	json_object(&json, NULL);
	record_bytes(&json, "a", "x\xff");
	record_bytes(&json, "b", "x\033\n");
	record_bytes(&json, "c", NULL);
	record_bytes(&json, "d", "\xff\xfe\xfd\xfc");
	json_object_end(&json);
	ASSERT_STR_EQ("{\"a\":{\"b64\":\"eP8=\"},\"b\":\"x\\u001b\\n\",\"c\":null,\"d\":{\"b64\":\"//79/A==\"}}\n", out.data);
	text_free(&out);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(takes_out_what_looks_like_a_secret);
	RUN_TEST(a_replacement_is_not_searched_again);
	RUN_TEST(long_command_lines_are_cut);
	RUN_TEST(bytes_that_are_no_text_are_encoded);
	GREATEST_MAIN_END();
}

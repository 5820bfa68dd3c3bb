/* SPDX-License-Identifier: Apache-2.0 */
/* Text: escaping, numbers, similar names, complete reads and writes. */
#include <greatest.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/arena.h"
#include "common/base/text.h"

TEST buffer_grows(void)
{
	struct text text = { 0 };

	for (int i = 0; i < 1000; i++)
		text_add(&text, "%d,", i);
	ASSERT_EQ(strlen(text.data), text.length);
	ASSERT_EQ(0, strncmp(text.data, "0,1,2,", 6));
	ASSERT(text_ends_with(text.data, ",998,999,"));
	text_add_n(&text, "a\0b", 3);
	ASSERT_EQ(0, memcmp(text.data + text.length - 3, "a\0b", 4));
	text_free(&text);
	ASSERT_EQ(NULL, text.data);
	text_add_n(&text, "", 0);
	ASSERT_STR_EQ("", text.data);
	text_free(&text);
	PASS();
}

TEST what_acts_on_a_terminal_is_shown_as_text(void)
{
	static const struct {
		const char *in, *visible;
	} rows[] = {
		{ "", "" },
		{ "plain ~!\"\\ text", "plain ~!\"\\ text" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\x1b[31m", "\\x1b[31m" },
		{ "\x1b]52;c;AAAA\x07", "\\x1b]52;c;AAAA\\x07" },
		{ "a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd" },
		{ "\x7f", "\\x7f" },
		{ "\xc2\x9b"
		  "31m",
		  "\\u{009b}31m" }, /* CSI as one character */
		{ "\x9b"
		  "31m",
		  "\\x9b31m" }, /* and as one byte */
		{ "\xe2\x80\xae"
		  "txt.exe",
		  "\\u{202e}txt.exe" }, /* right-to-left override */
		{ "\xe2\x81\xa6x\xe2\x81\xa9", "\\u{2066}x\\u{2069}" },
		{ "\xe2\x80\xa8", "\\u{2028}" },
		{ "\xef\xbb\xbfx", "\\u{feff}x" },
		{ "\xf3\xa0\x81\x81", "\\u{e0041}" }, /* tag */
		{ "\xff\xfe", "\\xff\\xfe" },
		{ "\xc0\xaf", "\\xc0\\xaf" }, /* over-long slash */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" }, /* surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* beyond U+10FFFF */
		{ "\xe2\x82", "\\xe2\\x82" }, /* cut off */
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct arena arena = { 0 };
		ASSERT_STR_EQ(rows[i].visible, text_visible(&arena, rows[i].in));
		arena_free(&arena);
	}
	PASS();
}

TEST json_strings(void)
{
	static const struct {
		const char *in, *json;
	} rows[] = {
		{ "", "\"\"" },
		{ "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
		{ "\n\t\x01\x1b", "\"\\n\\t\\u0001\\u001b\"" },
		{ "\x7f", "\"\\u007f\"" },
		{ "gr\xc3\xbcn", "\"gr\xc3\xbcn\"" },
		{ "\xff"
		  "a",
		  "\"\\ufffda\"" },
		{ "\xe2\x80\xae", "\"\\u202e\"" },
		{ "\xc2\x9b", "\"\\u009b\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		{ "\xf3\xa0\x81\x81", "\"\\udb40\\udc41\"" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct text text = { 0 };
		text_add_json(&text, rows[i].in);
		ASSERT_STR_EQ(rows[i].json, text.data);
		text_free(&text);
	}
	PASS();
}

TEST hexadecimal(void)
{
	char hex[9];
	text_hex("\x00\x0f\xa0\xff", 4, hex);
	ASSERT_STR_EQ("000fa0ff", hex);
	text_hex("", 0, hex);
	ASSERT_STR_EQ("", hex);
	PASS();
}

static bool is_utf8(const char *bytes, size_t length)
{
	uint32_t character;
	size_t size = 1;
	for (; length > 0 && size > 0; bytes += size, length -= size)
		size = text_decode(bytes, length, &character);
	return size > 0;
}

TEST utf8_and_controls(void)
{
	static const struct {
		const char *bytes;
		size_t length;
		bool is_utf8, has_control;
	} rows[] = {
		{ "", 0, true, false },
		{ "abc", 3, true, false },
		{ "a\0b", 3, true, true },
		{ "\n", 1, true, true },
		{ "\xc3\xa9", 2, true, false },
		{ "\xc2\x85", 2, true, true },
		{ "\xc3", 1, false, false },
		{ "\x80", 1, false, false },
		{ "\xc1\x81", 2, false, false },
		{ "\xe0\x80\x80", 3, false, false },
		{ "\xed\xbf\xbf", 3, false, false },
		{ "\xef\xbf\xbf", 3, true, false },
		{ "\xf0\x8f\xbf\xbf", 4, false, false },
		{ "\xf4\x8f\xbf\xbf", 4, true, false },
		{ "\xf5\x80\x80\x80", 4, false, false },
		{ "\xff\x1b", 2, false, true },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ASSERT_EQ_FMT(rows[i].is_utf8, is_utf8(rows[i].bytes, rows[i].length), "%d");
		ASSERT_EQ_FMT(rows[i].has_control, text_has_control(rows[i].bytes, rows[i].length), "%d");
	}
	PASS();
}

TEST beginnings_and_ends(void)
{
	ASSERT(text_starts_with("abc", ""));
	ASSERT(text_starts_with("abc", "abc"));
	ASSERT_FALSE(text_starts_with("ab", "abc"));
	ASSERT(text_ends_with("a.yml", ".yml"));
	ASSERT(text_ends_with("a", ""));
	ASSERT_FALSE(text_ends_with("yml", ".yml"));
	PASS();
}

TEST nearest_name(void)
{
	static const char *const names[] = { "deny",	    "read",   "write", "except", "protect",
					     "environment", "limits", "tmp",   "home" };
	static const struct {
		const char *name, *nearest;
	} rows[] = {
		{ "denny", "deny" },
		{ "dney", "deny" },
		{ "Deny", "deny" },
		{ "reed", "read" },
		{ "wirte", "write" },
		{ "exept", "except" },
		{ "env", "environment" },
		{ "environ", "environment" },
		{ "limit", "limits" },
		{ "protected", "protect" },
		{ "temp", "tmp" },
		{ "deny", "deny" },
		{ "", NULL },
		{ "x", NULL },
		{ "zq", NULL },
		{ "completely-else", NULL },
		{ "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq", NULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *nearest = text_nearest(rows[i].name, names, sizeof names / sizeof names[0]);
		if (rows[i].nearest)
			ASSERT_STR_EQm(rows[i].name, rows[i].nearest, nearest ? nearest : "(none)");
		else
			ASSERT_EQm(rows[i].name, NULL, nearest);
	}
	ASSERT_EQ(NULL, text_nearest("deny", names, 0));
	PASS();
}

TEST whole_numbers(void)
{
	static const struct {
		const char *text;
		uint64_t maximum;
		bool is_number;
		uint64_t value;
	} rows[] = {
		{ "0", 10, true, 0 },
		{ "10", 10, true, 10 },
		{ "11", 10, false, 0 },
		{ "18446744073709551615", UINT64_MAX, true, UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX, false, 0 },
		{ "99999999999999999999999", UINT64_MAX, false, 0 },
		{ "", 10, false, 0 },
		{ "-1", 10, false, 0 },
		{ "+1", 10, false, 0 },
		{ " 1", 10, false, 0 },
		{ "1 ", 10, false, 0 },
		{ "01", 10, false, 0 },
		{ "1.0", 10, false, 0 },
		{ "1e1", 10, false, 0 },
		{ "0x1", 10, false, 0 },
		{ "1_0", 100, false, 0 },
		{ "\xd9\xa1", 10, false, 0 }, /* a digit, but not one of ours */
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t value = 0;
		ASSERT_EQm(rows[i].text, rows[i].is_number, text_parse_u64(rows[i].text, rows[i].maximum, &value));
		ASSERT_EQm(rows[i].text, rows[i].value, value);
	}
	PASS();
}

TEST sizes(void)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 0: refused */
		const char *shown;
	} rows[] = {
		{ "512", 512, "512" },
		{ "1024", 1024, "1K" },
		{ "64K", 65536, "64K" },
		{ "1536M", (uint64_t)1536 << 20, "1536M" },
		{ "2048M", (uint64_t)2 << 30, "2G" },
		{ "4G", (uint64_t)4 << 30, "4G" },
		{ "1T", (uint64_t)1 << 40, "1T" },
		{ "16777215T", (uint64_t)16777215 << 40, "16777215T" },
		{ "16777216T", 0, NULL },
		{ "18446744073709551615K", 0, NULL },
		{ "4g", 0, NULL },
		{ "4GB", 0, NULL },
		{ "4GiB", 0, NULL },
		{ "4 G", 0, NULL },
		{ "1.5G", 0, NULL },
		{ "G", 0, NULL },
		{ "", 0, NULL },
		{ "-4G", 0, NULL },
		{ "4G ", 0, NULL },
		{ "0x4G", 0, NULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct text shown = { 0 };
		uint64_t bytes = 0;
		ASSERT_EQm(rows[i].text, rows[i].bytes != 0, text_parse_size(rows[i].text, &bytes));
		ASSERT_EQm(rows[i].text, rows[i].bytes, bytes);
		if (!rows[i].bytes)
			continue;
		text_add_size(&shown, bytes);
		ASSERT_STR_EQ(rows[i].shown, shown.data);
		text_free(&shown);
	}
	PASS();
}

TEST durations(void)
{
	static const struct {
		const char *text;
		uint64_t milliseconds; /* 0: refused */
		const char *shown;
	} rows[] = {
		{ "500ms", 500, "500ms" },
		{ "30s", 30000, "30s" },
		{ "90s", 90000, "90s" },
		{ "60s", 60000, "1m" },
		{ "5m", 300000, "5m" },
		{ "2h", 7200000, "2h" },
		{ "24h", 86400000, "1d" },
		{ "7d", 604800000, "7d" },
		{ "213503982334d", (uint64_t)213503982334 * 86400000, "213503982334d" },
		{ "213503982335d", 0, NULL },
		{ "30", 0, NULL },
		{ "30 s", 0, NULL },
		{ "30sec", 0, NULL },
		{ "1h30m", 0, NULL },
		{ "s", 0, NULL },
		{ "", 0, NULL },
		{ "-1s", 0, NULL },
		{ "1.5h", 0, NULL },
		{ "30S", 0, NULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct text shown = { 0 };
		uint64_t milliseconds = 0;
		ASSERT_EQm(rows[i].text, rows[i].milliseconds != 0, text_parse_duration(rows[i].text, &milliseconds));
		ASSERT_EQm(rows[i].text, rows[i].milliseconds, milliseconds);
		if (!rows[i].milliseconds)
			continue;
		text_add_duration(&shown, milliseconds);
		ASSERT_STR_EQ(rows[i].shown, shown.data);
		text_free(&shown);
	}
	PASS();
}

TEST zero_is_shown_with_a_unit_that_reads_back(void)
{
	struct text shown = { 0 };
	uint64_t value = 1;

	text_add_duration(&shown, 0);
	ASSERT(text_parse_duration(shown.data, &value));
	ASSERT_EQ(0, value);
	text_free(&shown);
	text_add_size(&shown, 0);
	ASSERT_STR_EQ("0", shown.data);
	text_free(&shown);
	PASS();
}

static void on_alarm(int number)
{
	(void)number;
}

/* Interrupts system calls by a repeated signal; 0 stops it. */
static void interrupt_every(int microseconds)
{
	const struct itimerval timer = { .it_interval.tv_usec = microseconds, .it_value.tv_usec = microseconds };
	const struct sigaction action = { .sa_handler = on_alarm };
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* A pipe transfers at most 64 KiB at a time. The text is longer, and both sides are interrupted. */
TEST all_is_written_and_read(void)
{
	static char sent[300000], received[sizeof sent + 10];
	ssize_t count;
	int ends[2], status;
	pid_t pid;

	for (size_t i = 0; i < sizeof sent; i++)
		sent[i] = (char)(i * 7 + i / 1000);
	ASSERT_EQ(0, pipe(ends));
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		interrupt_every(2000);
		_exit(text_write(ends[1], sent, sizeof sent) == 0 ? 0 : 1);
	}
	close(ends[1]);
	interrupt_every(2000);
	/* The requested size first, then the rest up to the end. */
	count = text_read(ends[0], received, 100000);
	if (count == 100000)
		count += text_read(ends[0], received + 100000, sizeof received - 100000);
	interrupt_every(0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ((ssize_t)sizeof sent, count);
	ASSERT_EQ(0, memcmp(sent, received, sizeof sent));
	ASSERT_EQ(0, text_read(ends[0], received, 1));
	close(ends[0]);
	PASS();
}

TEST what_cannot_be_written_or_read_is_an_error(void)
{
	char bytes[4];
	int ends[2];
	ASSERT_EQ(0, pipe(ends));
	/* Control: the other direction works. */
	ASSERT_EQ(0, text_write(ends[1], "1234", 4));
	ASSERT_EQ(2, text_read(ends[0], bytes, 2));
	errno = 0;
	ASSERT_EQ(-1, text_write(ends[0], "1234", 4));
	ASSERT_EQ(EBADF, errno);
	errno = 0;
	ASSERT_EQ(-1, text_read(ends[1], bytes, 4));
	ASSERT_EQ(EBADF, errno);
	/* Zero bytes succeed even there. */
	ASSERT_EQ(0, text_write(ends[0], "", 0));
	ASSERT_EQ(0, text_read(ends[1], bytes, 0));
	close(ends[0]);
	close(ends[1]);
	PASS();
}

TEST shell_words(void)
{
	static const char *const rows[][2] = {
		{ "/a/b-c_d.e+1", "/a/b-c_d.e+1" },
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "$(x)", "'$(x)'" },
		{ "it's", "'it'\\''s'" },
		{ "\\'", "\\\\\\'" },
		{ "~", "'~'" },
		{ "-n", "-n" },
		{ "a\nb", "'a\nb'" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct text text = { 0 };
		text_add_shell_word(&text, rows[i][0]);
		ASSERT_STR_EQ(rows[i][1], text.data);
		text_free(&text);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(buffer_grows);
	RUN_TEST(what_acts_on_a_terminal_is_shown_as_text);
	RUN_TEST(json_strings);
	RUN_TEST(hexadecimal);
	RUN_TEST(shell_words);
	RUN_TEST(utf8_and_controls);
	RUN_TEST(beginnings_and_ends);
	RUN_TEST(nearest_name);
	RUN_TEST(whole_numbers);
	RUN_TEST(sizes);
	RUN_TEST(durations);
	RUN_TEST(zero_is_shown_with_a_unit_that_reads_back);
	RUN_TEST(all_is_written_and_read);
	RUN_TEST(what_cannot_be_written_or_read_is_an_error);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers of /proc/net/unix and of sock_diag: lines of the kernel, lines that a path imitates,
 * every way to cut the text into pieces, and damaged messages. The list of this machine contains a
 * socket of this test. */
#include <greatest.h>

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/text.h"
#include "linux/walk/bound_sockets.h"
#include "unit/support/scratch.h"

#define HEADING "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define LINE(path) "0000000000000000: 00000002 00000000 00010000 0001 01 12345" path "\n"

static void add(void *self, const char *path)
{
	text_add(self, "%s|", path);
}

/* Returns the paths, each followed by a bar. The text is fed in pieces of this size. */
static const char *parse(const char *text, size_t piece)
{
	static struct text found;
	struct bound_sockets sockets = { .visitor = { add, &found } };
	size_t length = strlen(text);
	text_free(&found);
	text_add(&found, "%s", "");
	for (size_t at = 0; at < length; at += piece)
		bound_sockets_feed(&sockets, text + at, length - at < piece ? length - at : piece);
	bound_sockets_end(&sockets);
	return found.data;
}

#define LONG_100 "/23456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789/"

static const struct {
	const char *text, *expected;
} rows[] = {
	{ "", "" },
	{ HEADING, "" },
	{ HEADING LINE("") LINE(" /run/a") LINE(" @abstract") LINE(" /b"), "/run/a|/b|" },
	/* A relative path, and one with spaces at both ends. */
	{ LINE(" x/y"), "x/y|" },
	{ LINE("  /a b "), " /a b |" },
	/* A short inode is padded; other widths of the address; an address that the kernel
	 * hides. */
	{ "c0ffee00: 00000002 00000000 00010000 0001 01     7 /a\n", "/a|" },
	{ "(____ptrval____): 00000002 00000000 00010000 0001 01 7 /a\n", "/a|" },
	/* A newline in a path: the rest of it is no line of the kernel. */
	{ LINE(" /a\nb") LINE(" /c"), "/a\nb|/c|" },
	{ LINE(" /a\n") LINE(" /c"), "/a\n|/c|" },
	{ LINE(" /a\n\n/b"), "/a\n\n/b|" },
	{ LINE(" @x\n/etc") LINE(" /c"), "/c|" },
	/* A path that imitates a line: it gives a hint of its own, and takes none from others. */
	{ LINE(" /a\n" LINE(" /b")) LINE(" /c"), "/a|/b\n|/c|" },
	/* Nearly a line. */
	{ LINE(" /a") "0000000000000000: 00000002 00000000 00010000 0001 01 x /b\n", "/a\n0000000000000000: 00000002 00000000 "
										     "00010000 0001 01 x /b|" },
	{ LINE(" /a") "0: 0002 00000000 00010000 0001 01 1 /b\n" LINE(" /c"),
	  "/a\n0: 0002 00000000 00010000 0001 01 1 /b|/c|" },
	{ ": 00000002 00000000 00010000 0001 01 1 /b\n", "" },
	{ "00000000000000000: 00000002 00000000 00010000 0001 01 1 /b\n", "" },
	{ "0000000000000000: 00000002 00000000 00010000 0001 01\n", "" },
	{ "0000000000000000: 00000002 00000000 00010000 0001 01 \n", "" },
	{ "0000000000000000: 00000002 00000000 00010000 0001 01 12345x\n", "" },
	{ "/not/a/line\n", "" },
	/* 108 bytes are a path, one more is not; neither is a line that no socket can have. */
	{ LINE(" " LONG_100 "12345678"), LONG_100 "12345678|" },
	{ LINE(" " LONG_100 "123456789") LINE(" /b"), "/b|" },
	{ LINE(" /a\n" LONG_100 "\n" LONG_100) LINE(" /b"), "/b|" },
	{ LINE(" " LONG_100 LONG_100 LONG_100) LINE(" /b"), "/b|" },
	{ LINE(" /a\n" LONG_100 LONG_100 LONG_100) LINE(" /b"), "/b|" },
	/* The text ends within a line. */
	{ "0000000000000000: 00000002 00000000 00010000 0001 01 12345 /a", "/a|" },
	{ LINE(" /a") "0000000000000000: 00000002 000", "/a\n0000000000000000: 00000002 000|" },
};

TEST lines(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_STR_EQm(rows[i].text, rows[i].expected, parse(rows[i].text, 65536));
	PASS();
}

TEST pieces_change_nothing(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (size_t piece = 1; piece < 70; piece++)
			ASSERT_STR_EQm(rows[i].text, rows[i].expected, parse(rows[i].text, piece));
	PASS();
}

/* A message of sock_diag with one attribute, cut or changed by the caller. */
struct answer {
	struct nlmsghdr header;
	struct unix_diag_msg message;
	struct nlattr attribute;
	char name[112];
};

static struct answer answer_with(const char *name, size_t length)
{
	struct answer answer = { 0 };
	answer.attribute.nla_len = (unsigned short)(sizeof answer.attribute + length);
	answer.attribute.nla_type = UNIX_DIAG_NAME;
	answer.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	answer.header.nlmsg_len = (unsigned)(offsetof(struct answer, attribute) + answer.attribute.nla_len);
	memcpy(answer.name, name, length);
	return answer;
}

/* Returns the paths as parse() does, with the result of the parser in front. */
static const char *parse_answer(const void *bytes, size_t length)
{
	static struct text found;
	char *copy = malloc(length + 1); /* so that a sanitizer sees a read past the end */
	const struct socket_visitor visitor = { add, &found };
	int result;
	memcpy(copy, bytes, length);
	text_free(&found);
	text_add(&found, "%s", "");
	result = bound_sockets_answer(&visitor, copy, length);
	text_add(&found, " %d", result);
	free(copy);
	return found.data;
}

TEST answers_of_the_kernel(void)
{
	struct answer answer = answer_with("/run/a", 7);
	struct {
		struct nlmsghdr header;
		struct nlmsgerr refusal;
	} refusal = { { .nlmsg_len = sizeof refusal, .nlmsg_type = NLMSG_ERROR }, { .error = -ENOENT } };
	struct nlmsghdr done = { .nlmsg_len = sizeof done, .nlmsg_type = NLMSG_DONE };
	char long_name[112];

	ASSERT_STR_EQ("/run/a| 1", parse_answer(&answer, NLMSG_ALIGN(answer.header.nlmsg_len)));
	ASSERT_STR_EQ(" 0", parse_answer(&done, sizeof done));
	ASSERT_STR_EQ(" -1", parse_answer(&refusal, sizeof refusal));
	ASSERT_EQ(ENOENT, errno);
	/* An abstract name, no name, a name without its NUL, and the longest. */
	answer = answer_with("\0abstract", 9);
	ASSERT_STR_EQ(" 1", parse_answer(&answer, answer.header.nlmsg_len));
	answer = answer_with("", 0);
	ASSERT_STR_EQ(" 1", parse_answer(&answer, answer.header.nlmsg_len));
	answer = answer_with("a/b", 3);
	ASSERT_STR_EQ("a/b| 1", parse_answer(&answer, answer.header.nlmsg_len));
	memset(long_name, 'x', sizeof long_name);
	answer = answer_with(long_name, 108);
	ASSERT_EQ(108 + 3, strlen(parse_answer(&answer, answer.header.nlmsg_len)));
	answer = answer_with(long_name, 110);
	ASSERT_STR_EQ(" 1", parse_answer(&answer, answer.header.nlmsg_len));
	PASS();
}

/* Every length that a message or an attribute could claim, in an answer of every length. */
TEST damaged_answers(void)
{
	for (unsigned claimed = 0; claimed < 160; claimed++) {
		for (unsigned length = 0; length <= sizeof(struct answer); length += 3) {
			struct answer answer = answer_with("/run/a", 7);
			answer.header.nlmsg_len = claimed;
			parse_answer(&answer, length);
			answer = answer_with("/run/a", 7);
			answer.attribute.nla_len = (unsigned short)claimed;
			parse_answer(&answer, length);
		}
	}
	ASSERT_STR_EQ(" -1", parse_answer("12345", 5));
	PASS();
}

static void seek(void *self, const char *path)
{
	struct {
		const char *path;
		int count;
	} *sought = self;
	sought->count += strcmp(path, sought->path) == 0;
}

TEST the_list_of_this_machine(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct {
		const char *path;
		int count;
	} sought = { address.sun_path, 0 };
	struct error err = { 0 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "%.90s", scratch_path("s\nt"));
	ASSERT_EQ(0, bind(fd, (struct sockaddr *)&address, sizeof address));
	ASSERT_EQm(err.message, 0, bound_sockets_list(NULL, seek, &sought, &err));
	ASSERT_EQ(1, sought.count);
	close(fd);
	ASSERT_EQ(0, bound_sockets_list(NULL, seek, &sought, &err));
	ASSERT_EQ(1, sought.count);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(lines);
	RUN_TEST(pieces_change_nothing);
	RUN_TEST(answers_of_the_kernel);
	RUN_TEST(damaged_answers);
	RUN_TEST(the_list_of_this_machine);
	GREATEST_MAIN_END();
}

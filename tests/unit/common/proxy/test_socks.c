/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of SOCKS5. */
#include <greatest.h>

#include <string.h>

#include "common/proxy/socks.h"

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

TEST reads_greetings(void)
{
	size_t used;
	bool has_login;

	ASSERT_EQ(SOCKS_READ, socks_read_greeting(BYTES("\5\2\0\2rest"), &used, &has_login));
	ASSERT_EQ(4, used);
	ASSERT(has_login);
	ASSERT_EQ(SOCKS_READ, socks_read_greeting(BYTES("\5\1\0"), &used, &has_login));
	ASSERT_FALSE(has_login);
	ASSERT_EQ(SOCKS_READ, socks_read_greeting(BYTES("\5\0"), &used, &has_login));
	ASSERT_FALSE(has_login);
	ASSERT_EQ(SOCKS_INCOMPLETE, socks_read_greeting(BYTES("\5"), &used, &has_login));
	ASSERT_EQ(SOCKS_INCOMPLETE, socks_read_greeting(BYTES("\5\2\2"), &used, &has_login));
	ASSERT_EQ(SOCKS_BAD, socks_read_greeting(BYTES("\4\1\2"), &used, &has_login));
	PASS();
}

TEST reads_logins(void)
{
	struct socks_login login;
	size_t used;

	ASSERT_EQ(SOCKS_READ, socks_read_login(BYTES("\1\4berm\3abcrest"), &used, &login));
	ASSERT_EQ(10, used);
	ASSERT_STR_EQ("berm", login.name);
	ASSERT_STR_EQ("abc", login.password);
	for (size_t length = 0; length < 10; length++)
		ASSERT_EQ(SOCKS_INCOMPLETE, socks_read_login((const uint8_t *)"\1\4berm\3abc", length, &used, &login));
	ASSERT_EQ(SOCKS_BAD, socks_read_login(BYTES("\1\4b\0rm\3abc"), &used, &login));
	ASSERT_EQ(SOCKS_BAD, socks_read_login(BYTES("\2\4berm\3abc"), &used, &login));
	PASS();
}

TEST reads_requests(void)
{
	struct socks_request request;
	size_t used;

	ASSERT_EQ(SOCKS_READ, socks_read_request(BYTES("\5\1\0\3\6h.test\1\273rest"), &used, &request));
	ASSERT_EQ(13, used);
	ASSERT_STR_EQ("h.test", request.host);
	ASSERT_EQ(443, request.port);
	for (size_t length = 0; length < 13; length++)
		ASSERT_EQ(SOCKS_INCOMPLETE,
			  socks_read_request((const uint8_t *)"\5\1\0\3\6h.test\1\273", length, &used, &request));
	ASSERT_EQ(SOCKS_READ, socks_read_request(BYTES("\5\1\0\1\177\0\0\1\0\120"), &used, &request));
	ASSERT_STR_EQ("127.0.0.1", request.host);
	ASSERT_EQ(80, request.port);
	ASSERT_EQ(SOCKS_READ, socks_read_request(BYTES("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\120"), &used, &request));
	ASSERT_STR_EQ("::1", request.host);
	PASS();
}

TEST refuses_other_requests(void)
{
	static const struct {
		const uint8_t *bytes;
		size_t length;
		enum socks_reply reply;
	} rows[] = {
		{ BYTES("\5\2\0\1\177\0\0\1\0\120"), SOCKS_NO_COMMAND }, /* BIND */
		{ BYTES("\5\3\0\1\177\0\0\1\0\120"), SOCKS_NO_COMMAND }, /* UDP */
		{ BYTES("\5\1\0\2\177\0\0\1\0\120"), SOCKS_NO_ADDRESS_TYPE },
		{ BYTES("\5\1\1\1\177\0\0\1\0\120"), SOCKS_GENERAL_FAILURE },
		{ BYTES("\4\1\0\1\177\0\0\1\0\120"), SOCKS_GENERAL_FAILURE },
		{ BYTES("\5\1\0\3\0\0\120"), SOCKS_NOT_ALLOWED }, /* an empty name */
		{ BYTES("\5\1\0\3\6h.\0est\0\120"), SOCKS_NOT_ALLOWED },
	};
	struct socks_request request;
	size_t used;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ASSERT_EQ(SOCKS_BAD, socks_read_request(rows[i].bytes, rows[i].length, &used, &request));
		ASSERT_EQ(rows[i].reply, request.failure);
	}
	PASS();
}

TEST writes_replies(void)
{
	uint8_t out[SOCKS_REPLY_BYTES];

	socks_write_reply(SOCKS_NOT_ALLOWED, out);
	ASSERT_MEM_EQ("\5\2\0\1\0\0\0\0\0\0", out, sizeof out);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(reads_greetings);
	RUN_TEST(reads_logins);
	RUN_TEST(reads_requests);
	RUN_TEST(refuses_other_requests);
	RUN_TEST(writes_replies);
	GREATEST_MAIN_END();
}

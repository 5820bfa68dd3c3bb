/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP requests to a proxy: parsing, forwarding, and refusal of ambiguous requests. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/proxy/http.h"

struct row {
	const char *request;
	int status; /* 0: accepted */
	const char *host;
	unsigned port;
	const char *forward; /* "" with CONNECT */
};

#define GET "GET http://h.test/ HTTP/1.1\r\nHost: h.test\r\n"
#define POST "POST http://h.test/ HTTP/1.1\r\nHost: h.test\r\n"
#define PLAIN "GET / HTTP/1.1\r\nHost: h.test\r\nConnection: close\r\n"

static const struct row rows[] = {
	{ GET "\r\n", 0, "h.test", 80, PLAIN "\r\n" },
	{ "GET http://h.test HTTP/1.1\r\nHost: h.test\r\n\r\n", 0, "h.test", 80, PLAIN "\r\n" },
	{ "GET http://h.test?a=b HTTP/1.1\r\nHost: h.test\r\n\r\n", 0, "h.test", 80,
	  "GET /?a=b HTTP/1.1\r\nHost: h.test\r\nConnection: close\r\n\r\n" },
	{ "OPTIONS http://h.test HTTP/1.1\r\nHost: h.test\r\n\r\n", 0, "h.test", 80,
	  "OPTIONS * HTTP/1.1\r\nHost: h.test\r\nConnection: close\r\n\r\n" },
	{ "GET HTTP://H.test:8080/a%20b?c#d HTTP/1.1\r\nHost: h.test:8080\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET HTTP://H.test:8080/a%20b?c HTTP/1.1\r\nHost: h.test:8080\r\n\r\n", 0, "H.test", 8080,
	  "GET /a%20b?c HTTP/1.1\r\nHost: H.test:8080\r\nConnection: close\r\n\r\n" },
	{ "GET http://[2001:db8::1]:81/ HTTP/1.1\r\nHost: [2001:db8::1]:81\r\n\r\n", 0, "2001:db8::1", 81,
	  "GET / HTTP/1.1\r\nHost: [2001:db8::1]:81\r\nConnection: close\r\n\r\n" },
	{ "GET http://h.test/ HTTP/1.0\r\n\r\n", 0, "h.test", 80,
	  "GET / HTTP/1.0\r\nHost: h.test\r\nConnection: close\r\n\r\n" },
	{ GET "Accept:\t*/* \r\nX: \r\n\r\n", 0, "h.test", 80, PLAIN "Accept: */*\r\nX: \r\n\r\n" },
	/* Fields that are not forwarded. */
	{ GET
	  "Proxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nKeep-Alive: 3\r\nTE: trailers\r\nUpgrade: h2c\r\n"
	  "Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nX-Other: 2\r\n\r\n",
	  0, "h.test", 80, PLAIN "X-Other: 2\r\n\r\n" },
	{ POST "Connection: Content-Length\r\nContent-Length: 3\r\n\r\nabc", 0, "h.test", 80,
	  "POST / HTTP/1.1\r\nHost: h.test\r\nConnection: close\r\nContent-Length: 3\r\n\r\n" },
	{ POST "Transfer-Encoding: Chunked\r\n\r\n", 0, "h.test", 80,
	  "POST / HTTP/1.1\r\nHost: h.test\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n" },
	{ "CONNECT h.test:443 HTTP/1.1\r\n\r\n", 0, "h.test", 443, "" },
	{ "CONNECT h.test:443 HTTP/1.0\r\nHost: h.test\r\n\r\n", 0, "h.test", 443, "" },
	{ "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n", 0, "::1", 443, "" },
	{ "CONNECT h.test:443 HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 0, "h.test", 443, "" },
	/* Refused requests. */
	{ "\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET  http://h.test/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test/ HTTP/1.1 \r\nHost: h.test\r\n\r\n", 505, NULL, 0, NULL },
	{ "GET http://h.test/ HTTP/1.2\r\nHost: h.test\r\n\r\n", 505, NULL, 0, NULL },
	{ "GET http://h.test/ http/1.1\r\nHost: h.test\r\n\r\n", 505, NULL, 0, NULL },
	{ "GE(T http://h.test/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET / HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET https://h.test/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET ftp://h.test/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http:///x HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://u@h.test/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test:/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test:0/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test:65536/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test:+80/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://[::1/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://[::1]x/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test/\x7f HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test/ HTTP/1.1\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test/ HTTP/1.1\r\nHost: h.test:81\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test:81/ HTTP/1.1\r\nHost: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test/ HTTP/1.1\r\nHost: h.test, other.test\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://h.test/ HTTP/1.1\r\nHost:\r\n\r\n", 400, NULL, 0, NULL },
	{ GET "Host: h.test\r\n\r\n", 400, NULL, 0, NULL },
	{ GET "X : y\r\n\r\n", 400, NULL, 0, NULL },
	{ GET " X: y\r\n\r\n", 400, NULL, 0, NULL },
	{ GET ": y\r\n\r\n", 400, NULL, 0, NULL },
	{ GET "X\r\n\r\n", 400, NULL, 0, NULL },
	{ GET "X: a\x01\r\n\r\n", 400, NULL, 0, NULL },
	{ GET "X: a\nY: b\r\n\r\n", 400, NULL, 0, NULL },
	{ GET "X: a\rY: b\r\n\r\n", 400, NULL, 0, NULL },
	{ GET "X: a\r\n b\r\n\r\n", 400, NULL, 0, NULL },
	{ POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400, NULL, 0, NULL },
	{ POST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, NULL, 0, NULL },
	{ POST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400, NULL, 0, NULL },
	{ POST "Content-Length: 1, 1\r\n\r\n", 400, NULL, 0, NULL },
	{ POST "Content-Length: -1\r\n\r\n", 400, NULL, 0, NULL },
	{ POST "Content-Length: 1a\r\n\r\n", 400, NULL, 0, NULL },
	{ POST "Content-Length:\r\n\r\n", 400, NULL, 0, NULL },
	{ POST "Content-Length: 9999999999999999999\r\n\r\n", 400, NULL, 0, NULL },
	{ POST "Transfer-Encoding: identity\r\n\r\n", 501, NULL, 0, NULL },
	{ POST "Transfer-Encoding: chunked, chunked\r\n\r\n", 501, NULL, 0, NULL },
	{ "POST http://h.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 501, NULL, 0, NULL },
	{ GET "Proxy-Authorization: Basic a\r\nProxy-Authorization: Basic b\r\n\r\n", 400, NULL, 0, NULL },
	{ "CONNECT h.test HTTP/1.1\r\n\r\n", 400, NULL, 0, NULL },
	{ "CONNECT http://h.test:80/ HTTP/1.1\r\n\r\n", 400, NULL, 0, NULL },
	{ "CONNECT h.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n", 400, NULL, 0, NULL },
	{ "CONNECT h.test:443 HTTP/1.1\r\nHost: h.test:80\r\n\r\n", 400, NULL, 0, NULL },
	{ "CONNECT h.test:443 HTTP/1.1\r\nContent-Length: 1\r\n\r\n", 400, NULL, 0, NULL },
	{ "CONNECT h.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, NULL, 0, NULL },
};

TEST reads_what_the_table_says(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *row = &rows[i];
		struct http_request request;
		enum http_state state = http_read_request(row->request, strlen(row->request), &request);
		ASSERT_EQm(row->request, row->status ? HTTP_BAD : HTTP_READ, state);
		if (row->status) {
			ASSERT_EQm(row->request, row->status, request.status);
			ASSERTm(row->request, request.reason && *request.reason);
		} else {
			ASSERT_STR_EQm(row->request, row->host, request.host);
			ASSERT_EQm(row->request, row->port, request.port);
			ASSERT_STR_EQm(row->request, row->forward, request.forward.data ? request.forward.data : "");
			ASSERT_EQm(row->request, row->forward[0] == '\0', request.is_connect);
		}
		text_free(&request.forward);
	}
	PASS();
}

/* A request is accepted only when it is complete. A request that is refused early is refused when
 * complete, too. */
TEST waits_for_the_whole_head(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *end = strstr(rows[i].request, "\r\n\r\n");
		size_t whole = end ? (size_t)(end - rows[i].request) + 4 : strlen(rows[i].request);
		for (size_t length = 0; length < whole; length++) {
			struct http_request request;
			enum http_state state = http_read_request(rows[i].request, length, &request);
			ASSERTm(rows[i].request, state == HTTP_INCOMPLETE || (state == HTTP_BAD && rows[i].status));
			text_free(&request.forward);
		}
	}
	PASS();
}

TEST refuses_nul_and_too_much(void)
{
	static char large[HTTP_HEAD_MAX + 10];
	struct http_request request;
	int length;

	ASSERT_EQ(HTTP_BAD, http_read_request(GET "X: a\0b\r\n\r\n", sizeof GET + 10, &request));
	length = snprintf(large, sizeof large, GET "X: ");
	memset(large + length, 'a', sizeof large - (size_t)length);
	ASSERT_EQ(HTTP_INCOMPLETE, http_read_request(large, HTTP_HEAD_MAX - 1, &request));
	ASSERT_EQ(HTTP_BAD, http_read_request(large, HTTP_HEAD_MAX, &request));
	ASSERT_EQ(431, request.status);
	length = snprintf(large, sizeof large, GET);
	for (int i = 0; i < HTTP_FIELD_MAX; i++)
		length += snprintf(large + length, sizeof large - (size_t)length, "X: y\r\n");
	length += snprintf(large + length, sizeof large - (size_t)length, "\r\n");
	ASSERT_EQ(HTTP_BAD, http_read_request(large, (size_t)length, &request));
	ASSERT_EQ(431, request.status);
	PASS();
}

TEST reads_credentials(void)
{
	char expected[HTTP_CREDENTIALS_MAX + 1];
	struct http_request request;
	const char *text = GET "proxy-authorization:  bASIC  YmVybTpzZWNyZXQ= \r\n\r\n";

	http_write_credentials("berm", "secret", expected);
	ASSERT_STR_EQ("YmVybTpzZWNyZXQ=", expected);
	http_write_credentials("a", "b", expected);
	ASSERT_STR_EQ("YTpi", expected);
	http_write_credentials("ab", "c", expected);
	ASSERT_STR_EQ("YWI6Yw==", expected);
	ASSERT_EQ(HTTP_READ, http_read_request(text, strlen(text), &request));
	ASSERT_STR_EQ("YmVybTpzZWNyZXQ=", request.credentials);
	text_free(&request.forward);
	text = GET "Proxy-Authorization: Digest x\r\n\r\n";
	ASSERT_EQ(HTTP_READ, http_read_request(text, strlen(text), &request));
	ASSERT_STR_EQ("", request.credentials);
	text_free(&request.forward);
	PASS();
}

static const struct {
	const char *body;
	bool is_chunked;
	uint64_t length;
	ssize_t taken; /* -1: malformed */
	bool is_done;
} bodies[] = {
	{ "abcdef", false, 3, 3, true },
	{ "ab", false, 3, 2, false },
	{ "0\r\n\r\nGET", true, 0, 5, true },
	{ "3\r\nabc\r\n0\r\n\r\nGET", true, 0, 13, true },
	{ "00003\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n", true, 0, 32, true },
	{ "3\r\nabc", true, 0, 6, false },
	{ "3\r\nabcd\r\n", true, 0, -1, false },
	{ "3;x=y\r\nabc\r\n", true, 0, -1, false },
	{ "3 \r\nabc\r\n", true, 0, -1, false },
	{ "3\nabc\r\n", true, 0, -1, false },
	{ "\r\n", true, 0, -1, false },
	{ "0x3\r\nabc\r\n", true, 0, -1, false },
	{ "-1\r\n", true, 0, -1, false },
	{ "1000000000000\r\n", true, 0, -1, false },
	{ "0\r\nX: y\r\n\r\n", true, 0, -1, false },
	{ "0\r\n\n", true, 0, -1, false },
};

TEST follows_bodies_to_their_end(void)
{
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		struct http_body whole = { .kind = bodies[i].is_chunked ? HTTP_BODY_CHUNKED : HTTP_BODY_LENGTH,
					   .left = bodies[i].length };
		struct http_body single = whole;
		ssize_t total = 0;
		ASSERT_EQm(bodies[i].body, bodies[i].taken, http_body_take(&whole, bodies[i].body, strlen(bodies[i].body)));
		ASSERT_EQm(bodies[i].body, bodies[i].taken < 0 ? whole.is_done : bodies[i].is_done, whole.is_done);
		/* The same byte by byte. */
		for (const char *at = bodies[i].body; *at && total >= 0; at++) {
			ssize_t taken = http_body_take(&single, at, 1);
			total = taken < 0 ? -1 : total + taken;
		}
		ASSERT_EQm(bodies[i].body, bodies[i].taken, total);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(reads_what_the_table_says);
	RUN_TEST(waits_for_the_whole_head);
	RUN_TEST(refuses_nul_and_too_much);
	RUN_TEST(reads_credentials);
	RUN_TEST(follows_bodies_to_their_end);
	GREATEST_MAIN_END();
}

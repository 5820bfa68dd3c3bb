/* SPDX-License-Identifier: Apache-2.0 */
/* What strangers send to the proxy and its resolver. Input: one byte that says what the rest is: an
 * HTTP head with a body behind it, a SOCKS conversation, the answer of a name server, or one of the
 * resolver's files. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/proxy/dns.h"
#include "common/proxy/http.h"
#include "common/proxy/socks.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lines of what is passed on. */
static unsigned count_lines(const struct text *text, const char *start)
{
	unsigned count = 0;
	size_t length = strlen(start);

	for (size_t i = 0; i + length <= text->length; i++)
		count += (i == 0 || text->data[i - 1] == '\n') && strncmp(text->data + i, start, length) == 0;
	return count;
}

static void check_forward(const struct http_request *request)
{
	const struct text *text = &request->forward;
	struct http_request again;

	PROPERTY(text->length > 4 && memcmp(text->data + text->length - 4, "\r\n\r\n", 4) == 0);
	PROPERTY(strlen(text->data) == text->length);
	/* One head, one host, one end. */
	PROPERTY(strstr(text->data, "\r\n\r\n") == text->data + text->length - 4);
	PROPERTY(count_lines(text, "Host: ") == 1);
	PROPERTY(count_lines(text, "Connection: close\r\n") == 1);
	for (size_t i = 0; i < text->length; i++)
		PROPERTY(text->data[i] != '\n' || (i > 0 && text->data[i - 1] == '\r'));
	for (size_t i = 0; i + 1 < text->length; i++)
		PROPERTY(text->data[i] != '\r' || text->data[i + 1] == '\n');
	/* What is for this proxy alone is not in it: a server gets a request in origin form, which
	 * is none for a proxy. */
	PROPERTY(http_read_request(text->data, text->length, &again) == HTTP_BAD || again.is_connect);
	text_free(&again.forward);
}

static void check_body(struct http_body body, const char *data, size_t length)
{
	struct http_body single = body;
	ssize_t whole = http_body_take(&body, data, length), taken = 0;

	PROPERTY(whole >= -1 && (whole < 0 || (size_t)whole <= length));
	for (size_t i = 0; i < length && taken >= 0; i++) {
		ssize_t one = http_body_take(&single, data + i, 1);
		taken = one < 0 ? -1 : taken + one;
	}
	PROPERTY(taken == whole);
	PROPERTY(whole < 0 || body.is_done == single.is_done);
}

static void check_http(const char *data, size_t size)
{
	struct http_request request, shorter;
	enum http_state state = http_read_request(data, size, &request);

	if (state == HTTP_BAD)
		PROPERTY(request.status >= 400 && request.status < 600 && request.reason && *request.reason);
	if (state == HTTP_READ) {
		PROPERTY(request.length >= 4 && request.length <= size && request.length <= HTTP_HEAD_MAX);
		PROPERTY(request.port != 0 && request.host[0] != '\0');
		PROPERTY(strpbrk(request.host, " \t\r\n@/") == NULL);
		/* The end is where it is, whatever follows; and nothing is understood before it. */
		PROPERTY(http_read_request(data, request.length, &shorter) == HTTP_READ);
		text_free(&shorter.forward);
		PROPERTY(http_read_request(data, request.length - 1, &shorter) == HTTP_INCOMPLETE);
		if (!request.is_connect) {
			check_forward(&request);
			check_body(request.body, data + request.length, size - request.length);
		}
	}
	text_free(&request.forward);
}

static void check_socks(const uint8_t *data, size_t size)
{
	struct socks_login login;
	struct socks_request request;
	size_t used = 0;
	bool has_login;

	if (socks_read_greeting(data, size, &used, &has_login) != SOCKS_READ)
		return;
	PROPERTY(used >= 2 && used <= size);
	data += used;
	size -= used;
	if (socks_read_login(data, size, &used, &login) != SOCKS_READ)
		return;
	PROPERTY(used >= 3 && used <= size && strlen(login.name) + strlen(login.password) + 3 == used);
	data += used;
	size -= used;
	if (socks_read_request(data, size, &used, &request) != SOCKS_READ)
		return;
	PROPERTY(used >= 8 && used <= size && request.host[0] != '\0');
}

static void check_answer(const uint8_t *data, size_t size)
{
	uint8_t query[DNS_QUERY_MAX], answer[DNS_ANSWER_MAX];
	struct dns_addresses addresses = { 0 };
	size_t length;

	if (size < 2)
		return;
	length = dns_write_query("h.test", data[0] & 1 ? DNS_A : DNS_AAAA, 0x1234, query);
	data++;
	size--;
	PROPERTY(length > 0);
	dns_read_answer(query, length, data, size, &addresses);
	PROPERTY(addresses.count <= DNS_ADDRESS_MAX);
	/* The same as an answer to the question, so that what lies behind it is read. */
	if (size < 6 || size - 6 + length > sizeof answer)
		return;
	memcpy(answer, query, length);
	answer[2] = 0x80;
	answer[3] = 0;
	memcpy(answer + 6, data, 6);
	memcpy(answer + length, data + 6, size - 6);
	addresses.count = 0;
	dns_read_answer(query, length, answer, length + size - 6, &addresses);
	PROPERTY(addresses.count <= DNS_ADDRESS_MAX);
}

static void check_files(const char *data, size_t size)
{
	struct dns_addresses addresses = { 0 };

	dns_read_servers(data, size, &addresses);
	PROPERTY(addresses.count > 0 && addresses.count <= DNS_SERVER_MAX);
	addresses.count = 0;
	PROPERTY(dns_read_hosts(data, size, "h.test", &addresses) == (addresses.count > 0));
	PROPERTY(addresses.count <= DNS_ADDRESS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	switch (data[0] & 3) {
	case 0:
		check_http((const char *)data + 1, size - 1);
		break;
	case 1:
		check_socks(data + 1, size - 1);
		break;
	case 2:
		check_answer(data + 1, size - 1);
		break;
	default:
		check_files((const char *)data + 1, size - 1);
	}
	return 0;
}

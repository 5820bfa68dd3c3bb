/* SPDX-License-Identifier: Apache-2.0 */
/* What a client says to an HTTP proxy, read strictly: CONNECT, or one plain request in absolute form. Pure: bytes in, meaning out. A
 * request is passed on rewritten, never as it came, and its body is followed to its end, so that what goes to the server is this one
 * request for this one host and nothing behind it. */
#ifndef BERM_COMMON_PROXY_HTTP_H
#define BERM_COMMON_PROXY_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/text.h"

enum { HTTP_HEAD_MAX = 16384, HTTP_FIELD_MAX = 100, HTTP_HOST_MAX = 255, HTTP_CREDENTIALS_MAX = 128 };

struct http_body {
	enum { HTTP_BODY_NONE, HTTP_BODY_LENGTH, HTTP_BODY_CHUNKED } kind;
	enum { CHUNK_SIZE, CHUNK_SIZE_LF, CHUNK_DATA, CHUNK_DATA_CR, CHUNK_DATA_LF, CHUNK_END_CR, CHUNK_END_LF } state;
	unsigned digits;
	uint64_t left; /* of the body, or of the chunk */
	bool is_done;
};

enum http_state { HTTP_INCOMPLETE, HTTP_READ, HTTP_BAD };

struct http_request {
	bool is_connect;
	char host[HTTP_HOST_MAX + 1]; /* as written, without brackets; judged by whoever connects */
	uint16_t port;
	char credentials[HTTP_CREDENTIALS_MAX + 1]; /* what follows "Basic"; "" if there are none */
	struct http_body body;
	size_t length; /* of the head as it came */
	struct text forward; /* the head as it is passed on; empty with CONNECT. To be freed. */
	int status; /* HTTP_BAD: the answer */
	const char *reason; /* and why: a static sentence */
};

/* `data` is what came so far. */
enum http_state http_read_request(const char *data, size_t length, struct http_request *request);
/* How many of these bytes belong to the body, -1 if they break its form; is_done once it has ended. */
ssize_t http_body_take(struct http_body *body, const char *data, size_t length);
/* Base64 of `name`:`password`, as it follows "Basic". */
void http_write_credentials(const char *name, const char *password, char out[HTTP_CREDENTIALS_MAX + 1]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Strict parser for requests to an HTTP proxy: CONNECT, or one plain request in absolute form.
 * Never reads a socket.
 *
 * A request is forwarded rewritten, never as received, and its body is tracked to its end. So the
 * server gets exactly one request for one host. */
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
	uint64_t left; /* bytes of the body or chunk */
	bool is_done;
};

enum http_state { HTTP_INCOMPLETE, HTTP_READ, HTTP_BAD };

struct http_request {
	bool is_connect;
	char host[HTTP_HOST_MAX + 1]; /* as written, without brackets; not checked yet */
	uint16_t port;
	char credentials[HTTP_CREDENTIALS_MAX + 1]; /* the text after "Basic"; "": none */
	struct http_body body;
	size_t length; /* of the header as received */
	struct text forward; /* the header to send; empty for CONNECT; freed by the caller */
	int status; /* HTTP_BAD: for the reply */
	const char *reason; /* HTTP_BAD: a static sentence */
};

/* Parses the bytes received so far. */
enum http_state http_read_request(const char *data, size_t length, struct http_request *request);
/* Returns how many of these bytes belong to the body, -1 if they are malformed. Sets is_done at its
 * end. */
ssize_t http_body_take(struct http_body *body, const char *data, size_t length);
/* Writes the Base64 of `name`:`password`, as it follows "Basic". */
void http_write_credentials(const char *name, const char *password, char out[HTTP_CREDENTIALS_MAX + 1]);

#endif

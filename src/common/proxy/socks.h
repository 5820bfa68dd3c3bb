/* SPDX-License-Identifier: Apache-2.0 */
/* Parser for SOCKS5 (RFC 1928) with user name and password (RFC 1929). Supports only CONNECT. Never
 * reads a socket. */
#ifndef BERM_COMMON_PROXY_SOCKS_H
#define BERM_COMMON_PROXY_SOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOCKS_VERSION = 5, SOCKS_HOST_MAX = 255, SOCKS_REPLY_BYTES = 10 };

enum socks_state { SOCKS_INCOMPLETE, SOCKS_READ, SOCKS_BAD };

enum socks_reply {
	SOCKS_SUCCEEDED = 0,
	SOCKS_GENERAL_FAILURE = 1,
	SOCKS_NOT_ALLOWED = 2,
	SOCKS_NETWORK_UNREACHABLE = 3,
	SOCKS_HOST_UNREACHABLE = 4,
	SOCKS_REFUSED = 5,
	SOCKS_TOO_LATE = 6,
	SOCKS_NO_COMMAND = 7,
	SOCKS_NO_ADDRESS_TYPE = 8,
};

struct socks_login {
	char name[256], password[256];
};

struct socks_request {
	char host[SOCKS_HOST_MAX + 1];
	uint16_t port;
	enum socks_reply failure; /* SOCKS_BAD: for the reply */
};

/* Each parses one message at the start of `data`; *used is its length. has_login: the client
 * supports user names. */
enum socks_state socks_read_greeting(const uint8_t *data, size_t length, size_t *used, bool *has_login);
enum socks_state socks_read_login(const uint8_t *data, size_t length, size_t *used, struct socks_login *login);
enum socks_state socks_read_request(const uint8_t *data, size_t length, size_t *used, struct socks_request *request);
void socks_write_reply(enum socks_reply reply, uint8_t out[SOCKS_REPLY_BYTES]);

#endif

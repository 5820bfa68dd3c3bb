/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths are single bytes, so that every message is limited. A name with a NUL is refused: as a C
 * string it would be cut. */
#include "common/proxy/socks.h"

#include <string.h>

#include "common/net/destination.h"

enum { METHOD_LOGIN = 2, COMMAND_CONNECT = 1, TYPE_V4 = 1, TYPE_NAME = 3, TYPE_V6 = 4 };

enum socks_state socks_read_greeting(const uint8_t *data, size_t length, size_t *used, bool *has_login)
{
	*has_login = false;
	if (length >= 1 && data[0] != SOCKS_VERSION)
		return SOCKS_BAD;
	if (length < 2 || length < 2 + (size_t)data[1])
		return SOCKS_INCOMPLETE;
	*used = 2 + (size_t)data[1];
	*has_login = memchr(data + 2, METHOD_LOGIN, data[1]) != NULL;
	return SOCKS_READ;
}

static enum socks_state read_string(const uint8_t *data, size_t length, size_t *at, char out[256])
{
	size_t size;

	if (*at >= length)
		return SOCKS_INCOMPLETE;
	size = data[*at];
	if (*at + 1 + size > length)
		return SOCKS_INCOMPLETE;
	if (memchr(data + *at + 1, '\0', size))
		return SOCKS_BAD;
	memcpy(out, data + *at + 1, size);
	out[size] = '\0';
	*at += 1 + size;
	return SOCKS_READ;
}

enum socks_state socks_read_login(const uint8_t *data, size_t length, size_t *used, struct socks_login *login)
{
	enum socks_state state;

	if (length >= 1 && data[0] != 1)
		return SOCKS_BAD;
	*used = 1;
	state = read_string(data, length, used, login->name);
	return state == SOCKS_READ ? read_string(data, length, used, login->password) : state;
}

static enum socks_state bad(struct socks_request *request, enum socks_reply reply)
{
	request->failure = reply;
	return SOCKS_BAD;
}

static enum socks_state read_address(const uint8_t *data, size_t length, size_t *at, struct socks_request *request)
{
	struct address address = { .is_v6 = data[3] == TYPE_V6 };
	size_t size = address.is_v6 ? 16 : 4;
	char text[64];

	if (length < *at + size)
		return SOCKS_INCOMPLETE;
	memcpy(address.bytes, data + *at, size);
	address_format(&address, text);
	memcpy(request->host, text, sizeof text);
	*at += size;
	return SOCKS_READ;
}

enum socks_state socks_read_request(const uint8_t *data, size_t length, size_t *used, struct socks_request *request)
{
	enum socks_state state;
	size_t at = 4;

	*request = (struct socks_request){ 0 };
	if (length >= 1 && data[0] != SOCKS_VERSION)
		return bad(request, SOCKS_GENERAL_FAILURE);
	if (length < 5)
		return SOCKS_INCOMPLETE;
	if (data[1] != COMMAND_CONNECT)
		return bad(request, SOCKS_NO_COMMAND);
	if (data[2] != 0)
		return bad(request, SOCKS_GENERAL_FAILURE);
	if (data[3] == TYPE_NAME)
		state = read_string(data, length, &at, request->host);
	else if (data[3] == TYPE_V4 || data[3] == TYPE_V6)
		state = read_address(data, length, &at, request);
	else
		return bad(request, SOCKS_NO_ADDRESS_TYPE);
	if (state == SOCKS_BAD || (state == SOCKS_READ && request->host[0] == '\0'))
		return bad(request, SOCKS_NOT_ALLOWED);
	if (state != SOCKS_READ || length < at + 2)
		return SOCKS_INCOMPLETE;
	request->port = (uint16_t)(data[at] << 8 | data[at + 1]);
	*used = at + 2;
	return SOCKS_READ;
}

void socks_write_reply(enum socks_reply reply, uint8_t out[SOCKS_REPLY_BYTES])
{
	memset(out, 0, SOCKS_REPLY_BYTES);
	out[0] = SOCKS_VERSION;
	out[1] = (uint8_t)reply;
	out[3] = TYPE_V4;
}

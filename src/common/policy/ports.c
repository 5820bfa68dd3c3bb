/* SPDX-License-Identifier: Apache-2.0 */
#include "common/policy/ports.h"

#include <string.h>

#include "common/base/text.h"

/* Longer than "65535" with a few leading zeros, and than any address in brackets. */
enum { PORT_BYTES = 8, ADDRESS_BYTES = 64 };

static bool parse_port(const char *text, size_t length, uint16_t *port)
{
	char buffer[PORT_BYTES];
	uint64_t value;

	if (length == 0 || length >= sizeof buffer)
		return false;
	memcpy(buffer, text, length);
	buffer[length] = '\0';
	if (!text_parse_u64(buffer, UINT16_MAX, &value) || value == 0)
		return false;
	*port = (uint16_t)value;
	return true;
}

int port_range_parse(const char *text, struct port_range *range, struct error *err)
{
	size_t dash = strcspn(text, "-");
	const char *high = text[dash] ? text + dash + 1 : text;

	if (!parse_port(text, dash, &range->low) || !parse_port(high, strlen(high), &range->high))
		return error_set(err, "`%s` is not a port (1 to 65535) or a range of ports (8000-8100)", text);
	if (range->high < range->low)
		return error_set(err, "`%s`: the range ends before it begins", text);
	return 0;
}

/* An IPv6 address needs brackets: without them its end and the first port are ambiguous. */
static bool parse_address(const char *text, size_t length, struct address *address)
{
	char buffer[ADDRESS_BYTES];

	if (length >= sizeof buffer)
		return false;
	memcpy(buffer, text, length);
	buffer[length] = '\0';
	return address_parse(buffer, address) && (!address->is_v6 || buffer[0] == '[');
}

/* Parses from the end, because an address may contain colons. */
int published_port_parse(const char *text, struct published_port *published, struct error *err)
{
	static const char free_port[] = "auto:";
	const char *last = strrchr(text, ':'), *host_port = text;

	*published = (struct published_port){ .address.bytes = { 127, 0, 0, 1 } };
	if (text_starts_with(text, free_port)) {
		const char *port = text + strlen(free_port);
		return parse_port(port, strlen(port), &published->port)
			       ? 0
			       : error_set(err, "`%s`: no port (1 to 65535) after the colon", text);
	}
	if (!last) {
		if (!parse_port(text, strlen(text), &published->port))
			return error_set(err, "`%s` is not a port (1 to 65535)", text);
		published->host_port = published->port;
		return 0;
	}
	for (const char *at = text; at < last; at++) {
		if (*at == ':')
			host_port = at + 1;
	}
	if (!parse_port(last + 1, strlen(last + 1), &published->port))
		return error_set(err, "`%s`: no port (1 to 65535) after the last colon", text);
	if (!parse_port(host_port, (size_t)(last - host_port), &published->host_port))
		return error_set(err, "`%s`: no port of this machine (1 to 65535) before the last colon", text);
	if (host_port > text && !parse_address(text, (size_t)(host_port - text) - 1, &published->address))
		return error_set(err, "`%s`: the part before the ports is not an address (127.0.0.1, [::1])", text);
	return 0;
}

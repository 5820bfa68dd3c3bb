/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the destinations of a policy. Strict, because a misread rule is a security hole: an
 * address is a plain dotted quad or bracketed IPv6, a network has no host bits set, a port is a
 * plain number. */
#include "common/net/destination.h"

#include <stdio.h>
#include <string.h>

#include "common/net/address.h"

enum { TEXT_MAX = 1024, PORT_MAX = 65535, V4_MAPPED_BITS = 96 };

/* Parses a decimal number without sign, blank or leading zero. */
static bool parse_number(const char *at, const char *end, unsigned maximum, unsigned *value)
{
	if (at == end || end - at > 5 || (*at == '0' && end - at > 1))
		return false;
	for (*value = 0; at != end; at++) {
		if (*at < '0' || *at > '9')
			return false;
		*value = *value * 10 + (unsigned)(*at - '0');
	}
	return *value <= maximum;
}

/* Parses "443" or "8000-8100". */
static int parse_ports(const char *at, const char *end, struct destination *destination, struct error *err)
{
	const char *dash = memchr(at, '-', (size_t)(end - at));
	unsigned low, high;

	if (!parse_number(at, dash ? dash : end, PORT_MAX, &low) || low == 0)
		return error_set(err, "a port is a number from 1 to 65535, or a range like 8000-8100");
	high = low;
	if (dash && !parse_number(dash + 1, end, PORT_MAX, &high))
		return error_set(err, "a port range is two numbers from 1 to 65535, like 8000-8100");
	if (high < low)
		return error_set(err, "the port range is reversed");
	destination->port_low = (uint16_t)low;
	destination->port_high = (uint16_t)high;
	return 0;
}

static void network_hint(const struct destination *destination, struct error *err)
{
	struct address network = destination->network;
	char text[64];

	for (unsigned i = destination->prefix; i < address_width(&network); i++)
		network.bytes[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
	address_format(&network, text);
	error_hint(err, network.is_v6 ? "the network is [%s]/%u" : "the network is %s/%u", text, destination->prefix);
}

/* Parses the text after an address: "/bits", ":port", both or nothing. */
static int parse_network(const char *at, const char *end, struct destination *destination, struct error *err)
{
	unsigned width = address_width(&destination->network);

	destination->kind = DESTINATION_NETWORK;
	destination->prefix = width;
	if (at != end && *at == '/') {
		const char *colon = memchr(at, ':', (size_t)(end - at));
		if (!parse_number(at + 1, colon ? colon : end, width, &destination->prefix))
			return error_set(err, "expected the number of network bits, 0 to %u, after `/`", width);
		at = colon ? colon : end;
	}
	if (!address_is_network(&destination->network, destination->prefix)) {
		error_set(err, "the address has bits set outside the network of /%u", destination->prefix);
		network_hint(destination, err);
		return -1;
	}
	/* ::ffff:10.0.0.0/104 is 10.0.0.0/8 and matches as that. */
	if (destination->network.is_v6 && destination->prefix >= V4_MAPPED_BITS) {
		destination->network = address_unmapped(&destination->network);
		if (!destination->network.is_v6)
			destination->prefix -= V4_MAPPED_BITS;
	}
	if (at == end)
		return 0;
	if (*at != ':')
		return error_set(err, "expected `/` and a number of bits, `:` and a port, or nothing after the address");
	return parse_ports(at + 1, end, destination, err);
}

static int parse_bracketed(struct arena *arena, const char *text, const char *end, struct destination *destination,
			   struct error *err)
{
	const char *close = memchr(text, ']', (size_t)(end - text));

	if (!close)
		return error_set(err, "`[` without its `]`");
	if (memchr(text, '%', (size_t)(close - text)))
		return error_set(err, "zone ids are not supported: they name an interface, not a destination");
	if (!address_parse(arena_copy_n(arena, text, (size_t)(close + 1 - text)), &destination->network) ||
	    !destination->network.is_v6)
		return error_set(err, "expected an IPv6 address between `[` and `]`, as in [2001:db8::1]:443");
	return parse_network(close + 1, end, destination, err);
}

/* Parses "*", "*.suffix" or a name, without the port. */
static int parse_name(struct arena *arena, const char *text, const char *end, struct destination *destination,
		      struct error *err)
{
	destination->kind = DESTINATION_NAME;
	if (*text == '*') {
		if (end - text == 1) {
			destination->kind = DESTINATION_ANY;
			return 0;
		}
		if (text[1] != '.')
			return error_set(err, "`*` replaces whole parts of a name, as in `*.example.org`");
		destination->kind = DESTINATION_WILDCARD;
		text += 2;
	}
	return host_canonical(arena, text, (size_t)(end - text), &destination->host, err);
}

/* Refuses a spelling that only inet_aton accepts and names the plain one. */
static int loose_address(const struct address *address, struct error *err)
{
	char text[64];

	error_set(err, "an IPv4 address must be four plain decimal numbers");
	address_format(address, text);
	error_hint(err, "this would be %s", text);
	return -1;
}

/* Refuses URLs and IPv6 addresses without brackets with their own messages. */
static int judge_shape(const char *text, const char *end, struct error *err)
{
	const char *colon = memchr(text, ':', (size_t)(end - text));
	struct address address;

	if (strstr(text, "://")) {
		error_set(err, "a destination is a host and a port, not a URL");
		return error_hint(err, "write it like example.org:443");
	}
	if (address_parse(text, &address) && address.is_v6) {
		error_set(err, "an IPv6 address must be in brackets");
		return error_hint(err, "write [%s]", text);
	}
	if (colon && memchr(colon + 1, ':', (size_t)(end - colon - 1)))
		return error_set(err, "a destination has one `:`, before its port; IPv6 addresses must be in brackets");
	return 0;
}

/* Parses a destination without brackets. */
static int parse_plain(struct arena *arena, const char *text, const char *end, struct destination *destination,
		       struct error *err)
{
	const char *host_end = text + strcspn(text, "/:");
	const char *host = arena_copy_n(arena, text, (size_t)(host_end - text));

	if (judge_shape(text, end, err) < 0)
		return -1;
	if (host_end == text)
		return error_set(err, "the host is missing");
	if (address_parse(host, &destination->network))
		return parse_network(host_end, end, destination, err);
	if (address_parse_any(host, &destination->network))
		return loose_address(&destination->network, err);
	if (*host_end == '/')
		return error_set(err, "`/` and a number of bits are allowed only after addresses; a name has no path here");
	if (parse_name(arena, text, host_end, destination, err) < 0)
		return -1;
	return host_end == end ? 0 : parse_ports(host_end + 1, end, destination, err);
}

int destination_parse(struct arena *arena, const char *text, struct destination *destination, struct error *err)
{
	const char *end = text + strlen(text);
	struct destination parsed = { .port_low = 0, .port_high = PORT_MAX };
	int status;

	if (text == end)
		return error_set(err, "a destination must not be empty");
	if (end - text > TEXT_MAX)
		return error_set(err, "a destination must not be longer than %d bytes", TEXT_MAX);
	status = *text == '[' ? parse_bracketed(arena, text, end, &parsed, err) : parse_plain(arena, text, end, &parsed, err);
	if (status == 0)
		*destination = parsed;
	return status;
}

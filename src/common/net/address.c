/* SPDX-License-Identifier: Apache-2.0 */
/* Two parsers of addresses: a strict one for policies, and one for the spellings that the C library
 * accepts from programs (127.1, 0177.0.0.1 and 2130706433 are loopback). Not inet_aton and
 * inet_pton, which differ between systems in blanks, leading zeros and zone ids. Neither parser
 * accepts a zone id, a blank or trailing text. */
#include "common/net/address.h"

#include <arpa/inet.h>
#include <string.h>

enum { V4_BYTES = 4, V6_BYTES = 16, V6_GROUPS = 8 };

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Reads a number of 1 to `digits` digits and moves *at behind it. */
static bool read_number(const char **at, const char *end, int base, unsigned digits, uint64_t *value)
{
	unsigned count = 0;

	for (*value = 0; *at != end; ++*at, count++) {
		int digit = digit_value(**at);
		if (digit < 0 || digit >= base)
			break;
		if (count == digits)
			return false;
		*value = *value * (uint64_t)base + (uint64_t)digit;
	}
	return count > 0;
}

/* Parses four decimal numbers. Refuses leading zeros: some parsers read "010" as octal. */
static bool parse_quad(const char *at, const char *end, uint8_t bytes[V4_BYTES])
{
	for (int i = 0; i < V4_BYTES; i++) {
		const char *start = at;
		uint64_t value;
		if (i > 0 && (at == end || *at++ != '.'))
			return false;
		start = at;
		if (!read_number(&at, end, 10, 3, &value) || value > 255 || (*start == '0' && at - start > 1))
			return false;
		bytes[i] = (uint8_t)value;
	}
	return at == end;
}

/* Groups of an IPv6 address while it is parsed. `gap` is the index of `::`, or -1. */
struct groups {
	uint8_t bytes[V6_BYTES];
	int count, gap;
};

/* Reads one group, or a dotted quad in place of the last two. */
static bool read_group(struct groups *groups, const char **at, const char *end)
{
	const char *start = *at;
	uint64_t value;

	if (!read_number(at, end, 16, 4, &value))
		return false;
	if (*at != end && **at == '.') {
		if (groups->count > V6_GROUPS - 2 || !parse_quad(start, end, groups->bytes + 2 * groups->count))
			return false;
		*at = end;
		groups->count += 2;
		return true;
	}
	if (groups->count == V6_GROUPS)
		return false;
	groups->bytes[2 * groups->count] = (uint8_t)(value >> 8);
	groups->bytes[2 * groups->count + 1] = (uint8_t)value;
	groups->count++;
	return true;
}

/* Moves the groups after `::` to the end. RFC 4291 forbids `::` in place of no group. */
static bool groups_finish(const struct groups *groups, uint8_t bytes[V6_BYTES])
{
	size_t before = 2 * (size_t)(groups->gap < 0 ? groups->count : groups->gap);
	size_t after = 2 * (size_t)groups->count - before;

	if (groups->gap < 0 ? groups->count != V6_GROUPS : groups->count >= V6_GROUPS)
		return false;
	memset(bytes, 0, V6_BYTES);
	memcpy(bytes, groups->bytes, before);
	memcpy(bytes + V6_BYTES - after, groups->bytes + before, after);
	return true;
}

static bool parse_v6(const char *at, const char *end, uint8_t bytes[V6_BYTES])
{
	struct groups groups = { .gap = -1 };

	if (end - at >= 2 && at[0] == ':' && at[1] == ':') {
		groups.gap = 0;
		at += 2;
	}
	while (at != end) {
		if (!read_group(&groups, &at, end))
			return false;
		if (at == end)
			break;
		if (*at++ != ':' || at == end)
			return false;
		if (*at == ':') {
			if (groups.gap >= 0)
				return false;
			groups.gap = groups.count;
			at++;
		}
	}
	return groups_finish(&groups, bytes);
}

static bool parse_strict(const char *text, const char *end, struct address *address)
{
	*address = (struct address){ 0 };
	if (parse_quad(text, end, address->bytes))
		return true;
	*address = (struct address){ .is_v6 = true };
	if (end - text > 2 && text[0] == '[' && end[-1] == ']')
		return parse_v6(text + 1, end - 1, address->bytes);
	return parse_v6(text, end, address->bytes);
}

bool address_parse(const char *text, struct address *address)
{
	return parse_strict(text, text + strlen(text), address);
}

/* Reads decimal, octal after 0 and hexadecimal after 0x, like inet_aton. */
static bool read_part(const char **at, const char *end, uint64_t *value)
{
	int base = 10;

	if (*at != end && **at == '0') {
		base = 8;
		if (end - *at > 1 && ((*at)[1] == 'x' || (*at)[1] == 'X')) {
			base = 16;
			*at += 2;
		}
		while (end - *at > 1 && **at == '0' && digit_value((*at)[1]) >= 0)
			++*at;
	}
	/* Twelve octal digits have 36 bits: enough to detect an overflow, too few to wrap. */
	return read_number(at, end, base, 12, value);
}

/* Reads one to four parts and returns their number, 0 for any other text. */
static unsigned read_parts(const char *at, const char *end, uint64_t parts[V4_BYTES])
{
	for (unsigned count = 0; count < V4_BYTES;) {
		if (!read_part(&at, end, &parts[count++]))
			return 0;
		if (at == end)
			return count;
		if (*at++ != '.')
			return 0;
	}
	return 0;
}

/* The last part fills the remaining bytes: 127.1 is 127.0.0.1. */
static bool parse_loose(const char *text, const char *end, struct address *address)
{
	uint64_t parts[V4_BYTES], value;
	unsigned count = read_parts(text, end, parts), last_bits;

	if (count == 0)
		return false;
	last_bits = 8 * (V4_BYTES - (count - 1));
	if (parts[count - 1] >= (uint64_t)1 << last_bits)
		return false;
	value = parts[count - 1];
	for (unsigned i = 0; i + 1 < count; i++) {
		if (parts[i] > 255)
			return false;
		value |= parts[i] << (24 - 8 * i);
	}
	*address = (struct address){ 0 };
	for (int i = 0; i < V4_BYTES; i++)
		address->bytes[i] = (uint8_t)(value >> (24 - 8 * i));
	return true;
}

bool address_parse_any(const char *text, struct address *address)
{
	const char *end = text + strlen(text);

	return parse_strict(text, end, address) || parse_loose(text, end, address);
}

void address_format(const struct address *address, char out[64])
{
	if (!inet_ntop(address->is_v6 ? AF_INET6 : AF_INET, address->bytes, out, 64))
		memcpy(out, "?", 2);
}

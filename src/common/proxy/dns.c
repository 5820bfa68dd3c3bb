/* SPDX-License-Identifier: Apache-2.0 */
/* Strict: a malformed message is not an answer. Names are compared without regard to case.
 * Compression pointers must point backwards, so that parsing terminates. */
#include "common/proxy/dns.h"

#include <string.h>

enum {
	HEADER = 12,
	TYPE_CNAME = 5,
	CLASS_IN = 1,
	ALIAS_MAX = 12,
	WIRE_NAME_MAX = 255,
	FLAG_RESPONSE = 0x80, /* in the third byte */
	FLAG_TRUNCATED = 0x02,
	OPCODE = 0x78,
	RCODE = 0x0f, /* in the fourth */
	RCODE_NO_NAME = 3,
};

/* A name as labels, in lower case, uncompressed. */
struct wire_name {
	uint8_t bytes[WIRE_NAME_MAX];
	size_t length;
};

struct record {
	struct wire_name owner;
	unsigned type, class;
	size_t data, data_length; /* offsets in the message */
};

static unsigned read_16(const uint8_t *bytes)
{
	return (unsigned)bytes[0] << 8 | bytes[1];
}

static void write_16(uint8_t *bytes, unsigned value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

static bool write_name(const char *name, uint8_t *out, size_t *length)
{
	*length = 0;
	if (strlen(name) > DNS_NAME_MAX || !*name)
		return false;
	while (*name) {
		size_t label = strcspn(name, ".");
		if (label == 0 || label > 63)
			return false;
		out[(*length)++] = (uint8_t)label;
		memcpy(out + *length, name, label);
		*length += label;
		name += label;
		if (*name == '.' && *++name == '\0')
			return false;
	}
	out[(*length)++] = 0;
	return true;
}

size_t dns_write_query(const char *name, enum dns_type type, uint16_t id, uint8_t out[DNS_QUERY_MAX])
{
	size_t length;

	memset(out, 0, HEADER);
	write_16(out, id);
	out[2] = 1; /* recursion desired */
	write_16(out + 4, 1);
	if (!write_name(name, out + HEADER, &length))
		return 0;
	write_16(out + HEADER + length, type);
	write_16(out + HEADER + length + 2, CLASS_IN);
	return HEADER + length + 4;
}

static uint8_t lower(uint8_t byte)
{
	return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + ('a' - 'A')) : byte;
}

/* Reads a name at *at and moves *at behind it. */
static bool read_name(const uint8_t *message, size_t length, size_t *at, struct wire_name *name)
{
	size_t place = *at, limit = length;
	bool has_jumped = false;

	name->length = 0;
	while (place < limit) {
		unsigned label = message[place];
		if (label >= 0xc0) {
			size_t target;
			if (place + 2 > limit)
				return false;
			target = read_16(message + place) & 0x3fff;
			if (!has_jumped)
				*at = place + 2;
			has_jumped = true;
			/* Only backwards, so that the loop ends. */
			if (target >= place || target < HEADER)
				return false;
			limit = place;
			place = target;
			continue;
		}
		if (label > 63 || place + 1 + label > limit || name->length + 1 + label > WIRE_NAME_MAX)
			return false;
		name->bytes[name->length++] = (uint8_t)label;
		for (unsigned i = 0; i < label; i++)
			name->bytes[name->length++] = lower(message[place + 1 + i]);
		place += 1 + label;
		if (label == 0) {
			if (!has_jumped)
				*at = place;
			return true;
		}
	}
	return false;
}

static bool read_record(const uint8_t *message, size_t length, size_t *at, struct record *record)
{
	if (!read_name(message, length, at, &record->owner) || *at + 10 > length)
		return false;
	record->type = read_16(message + *at);
	record->class = read_16(message + *at + 2);
	record->data_length = read_16(message + *at + 8);
	record->data = *at + 10;
	if (record->data + record->data_length > length)
		return false;
	*at = record->data + record->data_length;
	return true;
}

static bool is_same_name(const struct wire_name *left, const struct wire_name *right)
{
	return left->length == right->length && memcmp(left->bytes, right->bytes, left->length) == 0;
}

static bool is_to(const uint8_t *query, size_t query_length, const uint8_t *answer, size_t length)
{
	if (length < query_length || query_length < HEADER + 5 || memcmp(query, answer, 2) != 0)
		return false;
	if (!(answer[2] & FLAG_RESPONSE) || (answer[2] & OPCODE) || read_16(answer + 4) != 1)
		return false;
	for (size_t i = HEADER; i < query_length; i++)
		if (lower(query[i]) != lower(answer[i]))
			return false;
	return true;
}

/* Replaces `name` by the target of its CNAME in this message. False without one and for a malformed
 * message. */
static bool follow_alias(const uint8_t *answer, size_t length, size_t at, unsigned count, struct wire_name *name)
{
	struct record record;

	while (count-- > 0 && read_record(answer, length, &at, &record)) {
		size_t place = record.data;
		if (record.type != TYPE_CNAME || record.class != CLASS_IN || !is_same_name(&record.owner, name))
			continue;
		return read_name(answer, record.data + record.data_length, &place, name) &&
		       place == record.data + record.data_length;
	}
	return false;
}

static bool take_addresses(const uint8_t *answer, size_t length, size_t at, unsigned count, unsigned type,
			   const struct wire_name *name, struct dns_addresses *addresses)
{
	size_t size = type == DNS_AAAA ? 16 : 4;
	struct record record;

	while (count-- > 0) {
		struct address *address;
		if (!read_record(answer, length, &at, &record))
			return false;
		if (record.type != type || record.class != CLASS_IN || !is_same_name(&record.owner, name))
			continue;
		if (record.data_length != size)
			return false;
		if (addresses->count == DNS_ADDRESS_MAX)
			continue;
		address = &addresses->items[addresses->count++];
		*address = (struct address){ .is_v6 = type == DNS_AAAA };
		memcpy(address->bytes, answer + record.data, size);
	}
	return true;
}

enum dns_result dns_read_answer(const uint8_t *query, size_t query_length, const uint8_t *answer, size_t length,
				struct dns_addresses *addresses)
{
	struct wire_name name;
	size_t at = HEADER, before = addresses->count;
	unsigned count;

	if (!is_to(query, query_length, answer, length))
		return DNS_FOREIGN;
	if ((answer[3] & RCODE) == RCODE_NO_NAME)
		return DNS_NO_NAME;
	if ((answer[3] & RCODE) != 0)
		return DNS_FAILED;
	if (answer[2] & FLAG_TRUNCATED)
		return DNS_TRUNCATED;
	count = read_16(answer + 6);
	if (!read_name(query, query_length, &at, &name))
		return DNS_FAILED;
	for (unsigned i = 0; i < ALIAS_MAX && follow_alias(answer, length, query_length, count, &name); i++)
		;
	if (take_addresses(answer, length, query_length, count, read_16(query + query_length - 4), &name, addresses))
		return DNS_FOUND;
	addresses->count = before;
	return DNS_FAILED;
}

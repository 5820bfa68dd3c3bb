/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of D-Bus. A message has a head (byte order, type, flags, version, length of the
 * body, serial), an array of fields, each a code and a variant, and the body at a multiple of
 * eight. */
#include "linux/limits/dbus.h"

#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { BYTE_ORDER_MARK = 'l' };
#else
enum { BYTE_ORDER_MARK = 'B' };
#endif

enum { PROTOCOL_VERSION = 1, BODY_LENGTH_AT = 4 };

enum field {
	FIELD_PATH = 1,
	FIELD_INTERFACE,
	FIELD_MEMBER,
	FIELD_ERROR_NAME,
	FIELD_REPLY_SERIAL,
	FIELD_DESTINATION,
	FIELD_SENDER,
	FIELD_SIGNATURE
};

static void put(struct dbus_writer *writer, const void *bytes, size_t count)
{
	if (writer->is_full || count > sizeof writer->bytes - writer->length) {
		writer->is_full = true;
		return;
	}
	memcpy(writer->bytes + writer->length, bytes, count);
	writer->length += count;
}

static void put_byte(struct dbus_writer *writer, unsigned char value)
{
	put(writer, &value, 1);
}

void dbus_align(struct dbus_writer *writer, size_t alignment)
{
	static const unsigned char zeros[8];
	put(writer, zeros, (alignment - writer->length % alignment) % alignment);
}

void dbus_put_number(struct dbus_writer *writer, uint32_t value)
{
	dbus_align(writer, sizeof value);
	put(writer, &value, sizeof value);
}

void dbus_put_long(struct dbus_writer *writer, uint64_t value)
{
	dbus_align(writer, sizeof value);
	put(writer, &value, sizeof value);
}

void dbus_put_text(struct dbus_writer *writer, const char *text)
{
	size_t length = strlen(text);
	dbus_put_number(writer, (uint32_t)length);
	put(writer, text, length + 1);
}

void dbus_put_signature(struct dbus_writer *writer, const char *signature)
{
	size_t length = strlen(signature);
	put_byte(writer, (unsigned char)length);
	put(writer, signature, length + 1);
}

size_t dbus_open_array(struct dbus_writer *writer, size_t alignment)
{
	size_t place;
	dbus_put_number(writer, 0);
	place = writer->length;
	dbus_align(writer, alignment);
	return place;
}

/* The length of an array does not count the padding before its first element. */
void dbus_close_array(struct dbus_writer *writer, size_t place, size_t alignment)
{
	size_t first = (place + alignment - 1) / alignment * alignment;
	uint32_t length;
	if (writer->is_full)
		return;
	length = (uint32_t)(writer->length - first);
	memcpy(writer->bytes + place - sizeof length, &length, sizeof length);
}

static void put_field(struct dbus_writer *writer, enum field field, const char *type, const char *value)
{
	dbus_align(writer, 8);
	put_byte(writer, (unsigned char)field);
	dbus_put_signature(writer, type);
	if (type[0] == 'g')
		dbus_put_signature(writer, value);
	else
		dbus_put_text(writer, value);
}

void dbus_begin(struct dbus_writer *writer, const struct dbus_call *call, uint32_t serial)
{
	const unsigned char head[BODY_LENGTH_AT] = { BYTE_ORDER_MARK, DBUS_CALL, 0, PROTOCOL_VERSION };
	size_t fields;

	writer->length = 0;
	writer->is_full = false;
	put(writer, head, sizeof head);
	dbus_put_number(writer, 0); /* the length of the body, set by dbus_end */
	dbus_put_number(writer, serial);
	fields = dbus_open_array(writer, 8);
	put_field(writer, FIELD_PATH, "o", call->path);
	put_field(writer, FIELD_INTERFACE, "s", call->interface);
	put_field(writer, FIELD_MEMBER, "s", call->member);
	put_field(writer, FIELD_DESTINATION, "s", call->destination);
	if (call->signature[0])
		put_field(writer, FIELD_SIGNATURE, "g", call->signature);
	dbus_close_array(writer, fields, 8);
	dbus_align(writer, 8);
	writer->body = writer->length;
}

bool dbus_end(struct dbus_writer *writer)
{
	uint32_t length;
	if (writer->is_full)
		return false;
	length = (uint32_t)(writer->length - writer->body);
	memcpy(writer->bytes + BODY_LENGTH_AT, &length, sizeof length);
	return true;
}

/* Returns the next count bytes after padding to a multiple of alignment; NULL if there are
 * fewer. */
static const unsigned char *take(struct dbus_reader *reader, size_t count, size_t alignment)
{
	size_t padding = (alignment - reader->at % alignment) % alignment;
	const unsigned char *found;

	if (reader->is_bad || padding > reader->length - reader->at || count > reader->length - reader->at - padding) {
		reader->is_bad = true;
		return NULL;
	}
	found = reader->bytes + reader->at + padding;
	reader->at += padding + count;
	return found;
}

static unsigned char get_byte(struct dbus_reader *reader)
{
	const unsigned char *found = take(reader, 1, 1);
	return found ? *found : 0;
}

uint32_t dbus_get_number(struct dbus_reader *reader)
{
	const unsigned char *found = take(reader, sizeof(uint32_t), sizeof(uint32_t));
	uint32_t value = 0;
	if (found)
		memcpy(&value, found, sizeof value);
	return value;
}

/* Returns a string of length bytes with its terminator, and no other zero byte in it. */
static const char *get_characters(struct dbus_reader *reader, size_t length)
{
	const unsigned char *found = length < DBUS_READ_MAX ? take(reader, length + 1, 1) : NULL;
	if (found && found[length] == 0 && !memchr(found, 0, length))
		return (const char *)found;
	reader->is_bad = true;
	return "";
}

const char *dbus_get_text(struct dbus_reader *reader)
{
	return get_characters(reader, dbus_get_number(reader));
}

static const char *get_signature(struct dbus_reader *reader)
{
	return get_characters(reader, get_byte(reader));
}

static size_t round_up(size_t value)
{
	return (value + 7) / 8 * 8;
}

size_t dbus_measure(const unsigned char head[DBUS_HEAD_BYTES])
{
	struct dbus_reader reader = { .bytes = head, .length = DBUS_HEAD_BYTES, .at = BODY_LENGTH_AT };
	size_t body, fields;

	if (head[0] != BYTE_ORDER_MARK || head[3] != PROTOCOL_VERSION)
		return 0;
	body = dbus_get_number(&reader);
	(void)dbus_get_number(&reader); /* the message's serial */
	fields = dbus_get_number(&reader);
	if (body > DBUS_READ_MAX || fields > DBUS_READ_MAX)
		return 0;
	return round_up(DBUS_HEAD_BYTES + fields) + body <= DBUS_READ_MAX ? round_up(DBUS_HEAD_BYTES + fields) + body : 0;
}

/* Fields have no other types than these. */
static void get_field(struct dbus_reader *reader, struct dbus_message *message)
{
	const char *type, *text = "";
	uint32_t number = 0;
	unsigned char field;

	take(reader, 0, 8);
	field = get_byte(reader);
	type = get_signature(reader);
	if (strcmp(type, "u") == 0)
		number = dbus_get_number(reader);
	else if (strcmp(type, "g") == 0)
		text = get_signature(reader);
	else if (strcmp(type, "s") == 0 || strcmp(type, "o") == 0)
		text = dbus_get_text(reader);
	else
		reader->is_bad = true;
	if (field == FIELD_REPLY_SERIAL)
		message->reply_to = number;
	else if (field == FIELD_INTERFACE)
		message->interface = text;
	else if (field == FIELD_MEMBER)
		message->member = text;
	else if (field == FIELD_SIGNATURE)
		message->signature = text;
}

bool dbus_parse(const unsigned char *bytes, size_t length, struct dbus_message *message)
{
	struct dbus_reader fields = { .bytes = bytes, .length = length, .at = DBUS_HEAD_BYTES - sizeof(uint32_t) };
	size_t end;

	*message = (struct dbus_message){ .interface = "", .member = "", .signature = "" };
	if (length < DBUS_HEAD_BYTES || dbus_measure(bytes) != length)
		return false;
	message->type = (enum dbus_type)bytes[1];
	end = DBUS_HEAD_BYTES + dbus_get_number(&fields);
	fields.length = end;
	while (!fields.is_bad && fields.at < end)
		get_field(&fields, message);
	message->body = (struct dbus_reader){ .bytes = bytes + round_up(end), .length = length - round_up(end) };
	return !fields.is_bad;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* D-Bus messages: written ones match the specification byte for byte; received ones may contain
 * anything. */
#include "linux/limits/dbus.h"

#include <stdlib.h>
#include <string.h>

#include "greatest.h"

static const struct dbus_call call = { "a.b", "/a", "c.d", "Do", "sua(st)" };

static void write_call(struct dbus_writer *writer)
{
	size_t place;
	dbus_begin(writer, &call, 7);
	dbus_put_text(writer, "name");
	dbus_put_number(writer, 9);
	place = dbus_open_array(writer, 8);
	dbus_align(writer, 8);
	dbus_put_text(writer, "x");
	dbus_put_long(writer, 0x0102030405060708);
	dbus_close_array(writer, place, 8);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Encoded by hand from the specification, little endian. */
static const unsigned char expected[] = {
	'l', 1, 0,   1, 40,  0,	  0,   0,   7,	 0,   0,   0,	77, 0, 0, 0, /* head; 77 bytes of fields */
	1,   1, 'o', 0, 2,   0,	  0,   0,   '/', 'a', 0,   0,	0,  0, 0, 0, /* path */
	2,   1, 's', 0, 3,   0,	  0,   0,   'c', '.', 'd', 0,	0,  0, 0, 0, /* interface */
	3,   1, 's', 0, 2,   0,	  0,   0,   'D', 'o', 0,   0,	0,  0, 0, 0, /* member */
	6,   1, 's', 0, 3,   0,	  0,   0,   'a', '.', 'b', 0,	0,  0, 0, 0, /* destination */
	8,   1, 'g', 0, 7,   's', 'u', 'a', '(', 's', 't', ')', 0,  0, 0, 0, /* signature, and padding */
	4,   0, 0,   0, 'n', 'a', 'm', 'e', 0,	 0,   0,   0,	9,  0, 0, 0, /* "name", padding, 9 */
	16,  0, 0,   0, 0,   0,	  0,   0, /* an array of 16 bytes, behind padding that is not counted */
	1,   0, 0,   0, 'x', 0,	  0,   0,   8,	 7,   6,   5,	4,  3, 2, 1,
};

TEST a_call_is_what_the_specification_says(void)
{
	struct dbus_writer writer;
	write_call(&writer);
	ASSERT(dbus_end(&writer));
	ASSERT_EQ_FMT(sizeof expected, writer.length, "%zu");
	ASSERT_MEM_EQ(expected, writer.bytes, sizeof expected);
	PASS();
}
#endif

TEST what_is_written_can_be_read(void)
{
	struct dbus_writer writer;
	struct dbus_message message;
	write_call(&writer);
	ASSERT(dbus_end(&writer));
	ASSERT_EQ(writer.length, dbus_measure(writer.bytes));
	ASSERT(dbus_parse(writer.bytes, writer.length, &message));
	ASSERT_EQ(DBUS_CALL, message.type);
	ASSERT_EQ(0, message.reply_to);
	ASSERT_STR_EQ("c.d", message.interface);
	ASSERT_STR_EQ("Do", message.member);
	ASSERT_STR_EQ("sua(st)", message.signature);
	ASSERT_STR_EQ("name", dbus_get_text(&message.body));
	ASSERT_EQ(9, dbus_get_number(&message.body));
	ASSERT_EQ(16, dbus_get_number(&message.body));
	ASSERT_FALSE(message.body.is_bad);
	PASS();
}

TEST an_array_may_be_empty(void)
{
	struct dbus_writer writer;
	size_t place;
	dbus_begin(&writer, &(struct dbus_call){ "a.b", "/a", "c.d", "Do", "a(sv)" }, 1);
	place = dbus_open_array(&writer, 8);
	dbus_close_array(&writer, place, 8);
	ASSERT(dbus_end(&writer));
	ASSERT_EQ(8, writer.length - writer.body);
	ASSERT_EQ(0, writer.bytes[writer.body]);
	PASS();
}

TEST what_does_not_fit_is_no_message(void)
{
	struct dbus_writer writer;
	dbus_begin(&writer, &call, 1);
	for (int i = 0; i < DBUS_WRITE_MAX / 8; i++)
		dbus_put_text(&writer, "abc");
	ASSERT(writer.is_full && writer.length <= sizeof writer.bytes);
	ASSERT_FALSE(dbus_end(&writer));
	PASS();
}

TEST lengths_are_bounded(void)
{
	struct dbus_writer writer;
	uint32_t huge[] = { DBUS_READ_MAX, 0x7fffffff, 0xfffffff0, 0xffffffff };
	write_call(&writer);
	ASSERT(dbus_end(&writer));
	for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
		unsigned char head[DBUS_HEAD_BYTES];
		memcpy(head, writer.bytes, sizeof head);
		memcpy(head + 4, &huge[i], 4); /* the body */
		ASSERT_EQ(0, dbus_measure(head));
		memcpy(head, writer.bytes, sizeof head);
		memcpy(head + 12, &huge[i], 4); /* the fields */
		ASSERT_EQ(0, dbus_measure(head));
	}
	writer.bytes[0] = writer.bytes[0] == 'l' ? 'B' : 'l';
	ASSERT_EQ(0, dbus_measure(writer.bytes));
	PASS();
}

/* In memory of exactly its length, so that the sanitizers catch an overrun. */
static void read_all(const unsigned char *bytes, size_t length)
{
	unsigned char *copy = malloc(length ? length : 1);
	struct dbus_message message;
	if (!copy)
		abort();
	memcpy(copy, bytes, length);
	if (length >= DBUS_HEAD_BYTES && dbus_measure(copy) == length && dbus_parse(copy, length, &message)) {
		size_t sum = strlen(message.interface) + strlen(message.member) + strlen(message.signature);
		while (!message.body.is_bad)
			sum += strlen(dbus_get_text(&message.body));
		if (sum > length)
			abort();
	}
	free(copy);
}

TEST spoilt_messages_are_read_within_their_bytes(void)
{
	struct dbus_writer writer;
	write_call(&writer);
	ASSERT(dbus_end(&writer));
	for (size_t length = 0; length <= writer.length; length++)
		read_all(writer.bytes, length);
	for (size_t at = 0; at < writer.length; at++)
		for (unsigned value = 0; value < 256; value++) {
			unsigned char before = writer.bytes[at];
			size_t length;
			writer.bytes[at] = (unsigned char)value;
			length = dbus_measure(writer.bytes);
			/* Also with the length that the spoilt head claims. */
			if (length >= DBUS_HEAD_BYTES && length <= sizeof writer.bytes)
				read_all(writer.bytes, length);
			read_all(writer.bytes, writer.length);
			writer.bytes[at] = before;
		}
	PASS();
}

TEST a_text_ends_where_it_says(void)
{
	const unsigned char good[] = { 2, 0, 0, 0, 'a', 'b', 0 }, inner[] = { 2, 0, 0, 0, 'a', 0, 0 },
			    open[] = { 2, 0, 0, 0, 'a', 'b', 'c' }, longer[] = { 3, 0, 0, 0, 'a', 'b', 0 };
	struct dbus_reader reader = { .bytes = good, .length = sizeof good };
	ASSERT_STR_EQ("ab", dbus_get_text(&reader));
	ASSERT_FALSE(reader.is_bad);
	reader = (struct dbus_reader){ .bytes = inner, .length = sizeof inner };
	ASSERT_STR_EQ("", dbus_get_text(&reader));
	ASSERT(reader.is_bad);
	reader = (struct dbus_reader){ .bytes = open, .length = sizeof open };
	ASSERT_STR_EQ("", dbus_get_text(&reader));
	ASSERT(reader.is_bad);
	reader = (struct dbus_reader){ .bytes = longer, .length = sizeof longer };
	ASSERT_STR_EQ("", dbus_get_text(&reader));
	ASSERT(reader.is_bad);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	RUN_TEST(a_call_is_what_the_specification_says);
	RUN_TEST(a_text_ends_where_it_says);
#endif
	RUN_TEST(what_is_written_can_be_read);
	RUN_TEST(an_array_may_be_empty);
	RUN_TEST(what_does_not_fit_is_no_message);
	RUN_TEST(lengths_are_bounded);
	RUN_TEST(spoilt_messages_are_read_within_their_bytes);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes D-Bus messages, for systemd_bus.c. Uses no descriptor, allocates nothing, and
 * treats received bytes as hostile. Supports only this machine's byte order: both ends are on
 * it. */
#ifndef BERM_LINUX_LIMITS_DBUS_H
#define BERM_LINUX_LIMITS_DBUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DBUS_HEAD_BYTES = 16, /* from which a message's length follows */
	DBUS_WRITE_MAX = 4096,
	DBUS_READ_MAX = 65536, /* replies to our calls are far shorter */
};

enum dbus_type { DBUS_CALL = 1, DBUS_RETURN = 2, DBUS_ERROR = 3, DBUS_SIGNAL = 4 };

/* A call under construction. */
struct dbus_writer {
	unsigned char bytes[DBUS_WRITE_MAX];
	size_t length, body;
	bool is_full; /* a value did not fit: the message must not be sent */
};

struct dbus_call {
	const char *destination, *path, *interface, *member;
	const char *signature; /* of the arguments; "" if there are none */
};

/* Starts a message: writes the head and the fields. */
void dbus_begin(struct dbus_writer *writer, const struct dbus_call *call, uint32_t serial);
void dbus_put_number(struct dbus_writer *writer, uint32_t value); /* also a boolean */
void dbus_put_long(struct dbus_writer *writer, uint64_t value);
void dbus_put_text(struct dbus_writer *writer, const char *text); /* a string or a path */
void dbus_put_signature(struct dbus_writer *writer, const char *signature);
/* Pads to a multiple of `alignment`: 8 for the members of a structure. */
void dbus_align(struct dbus_writer *writer, size_t alignment);
/* Starts an array of elements with that alignment. Returns its place for dbus_close_array. */
size_t dbus_open_array(struct dbus_writer *writer, size_t alignment);
void dbus_close_array(struct dbus_writer *writer, size_t place, size_t alignment);
/* Completes the message. False if it did not fit. */
bool dbus_end(struct dbus_writer *writer);

/* Received bytes. A getter sets is_bad on malformed data and then returns 0 or "". */
struct dbus_reader {
	const unsigned char *bytes;
	size_t length, at;
	bool is_bad;
};

struct dbus_message {
	enum dbus_type type;
	uint32_t reply_to; /* the serial of the call; 0: none */
	const char *interface, *member, *signature; /* "" if absent */
	struct dbus_reader body;
};

/* Returns the length of the message that begins with this head; 0 if it is malformed or too
 * long. */
size_t dbus_measure(const unsigned char head[DBUS_HEAD_BYTES]);
/* Parses a message of dbus_measure() bytes. The result points into them. False if it is
 * malformed. */
bool dbus_parse(const unsigned char *bytes, size_t length, struct dbus_message *message);
uint32_t dbus_get_number(struct dbus_reader *reader);
const char *dbus_get_text(struct dbus_reader *reader);

#endif

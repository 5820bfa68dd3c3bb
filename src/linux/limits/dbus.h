/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of D-Bus as bytes: what scope_bus.c says to systemd and what it hears. Touches no descriptor, allocates nothing, and takes
 * whatever comes for hostile. Only this machine's byte order is known: both ends are on it. */
#ifndef BERM_LINUX_LIMITS_DBUS_H
#define BERM_LINUX_LIMITS_DBUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DBUS_HEAD_BYTES = 16, /* what has to be there to tell how long a message is */
	DBUS_WRITE_MAX = 4096,
	DBUS_READ_MAX = 65536, /* an answer to what is asked here is far shorter */
};

enum dbus_type { DBUS_CALL = 1, DBUS_RETURN = 2, DBUS_ERROR = 3, DBUS_SIGNAL = 4 };

/* A call that is being written. */
struct dbus_writer {
	unsigned char bytes[DBUS_WRITE_MAX];
	size_t length, body;
	bool is_full; /* something did not fit: the message is worth nothing */
};

struct dbus_call {
	const char *destination, *path, *interface, *member, *signature; /* of the arguments; "" if there are none */
};

void dbus_begin(struct dbus_writer *writer, const struct dbus_call *call, uint32_t serial);
void dbus_put_number(struct dbus_writer *writer, uint32_t value); /* also a boolean */
void dbus_put_long(struct dbus_writer *writer, uint64_t value);
void dbus_put_text(struct dbus_writer *writer, const char *text); /* a string or a path */
void dbus_put_signature(struct dbus_writer *writer, const char *signature);
/* What begins at a multiple of so many bytes: 8 for the members of a structure. */
void dbus_align(struct dbus_writer *writer, size_t alignment);
/* An array of elements with that alignment; its place is for dbus_close_array. */
size_t dbus_open_array(struct dbus_writer *writer, size_t alignment);
void dbus_close_array(struct dbus_writer *writer, size_t place, size_t alignment);
/* The message is complete; false if it did not fit. */
bool dbus_end(struct dbus_writer *writer);

/* What somebody sent. A getter that finds nothing sound says so by is_bad, for good, and gives 0 or "". */
struct dbus_reader {
	const unsigned char *bytes;
	size_t length, at;
	bool is_bad;
};

struct dbus_message {
	enum dbus_type type;
	uint32_t answers; /* the serial of the call, 0: none */
	const char *interface, *member, *signature; /* "" where there is none */
	struct dbus_reader body;
};

/* The length of the message that begins with this head; 0: it is none, or too long. */
size_t dbus_measure(const unsigned char head[DBUS_HEAD_BYTES]);
/* Points into the bytes, which are dbus_measure() many. */
bool dbus_parse(const unsigned char *bytes, size_t length, struct dbus_message *message);
uint32_t dbus_get_number(struct dbus_reader *reader);
const char *dbus_get_text(struct dbus_reader *reader);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Fields in the machine's byte order, strings with their length before and a NUL behind, and a
 * checksum at the end. */
#include "common/copies/journal.h"

#include <string.h>

#include "common/base/checksum.h"

static const char journal_magic[8] = { 'b', 'e', 'r', 'm', 'j', 'r', 'n', '1' };
static const char states_magic[8] = { 'b', 'e', 'r', 'm', 's', 't', 'a', '1' };

/* The least bytes of one operation or identity: bounds the count before memory is reserved. */
enum { OPERATION_MIN = 8 * 11, IDENTITY_BYTES = 8 * 3 };

static void add_number(struct text *out, uint64_t value)
{
	text_add_n(out, (const char *)&value, sizeof value);
}

static void add_string(struct text *out, const char *string)
{
	size_t length = strlen(string);
	add_number(out, length);
	text_add_n(out, string, length + 1);
}

static void add_identity(struct text *out, const struct copy_identity *identity)
{
	add_number(out, identity->inode);
	add_number(out, (uint64_t)identity->seconds);
	add_number(out, identity->nanoseconds);
}

static void add_checksum(struct text *out, size_t start)
{
	add_number(out, checksum_of(out->data + start, out->length - start));
}

/* Bytes that are being read. After the first mistake every further field is 0. */
struct reader {
	struct arena *arena;
	const char *at, *end;
	bool is_bad;
};

static uint64_t read_number(struct reader *reader)
{
	uint64_t value = 0;
	if (reader->is_bad || (size_t)(reader->end - reader->at) < sizeof value) {
		reader->is_bad = true;
		return 0;
	}
	memcpy(&value, reader->at, sizeof value);
	reader->at += sizeof value;
	return value;
}

static uint64_t read_bounded(struct reader *reader, uint64_t maximum)
{
	uint64_t value = read_number(reader);
	reader->is_bad |= value > maximum;
	return reader->is_bad ? 0 : value;
}

static const char *read_string(struct reader *reader)
{
	uint64_t length = read_number(reader);
	const char *string = reader->at;

	if (reader->is_bad || length >= (uint64_t)(reader->end - reader->at) ||
	    memchr(string, '\0', (size_t)length + 1) != string + length) {
		reader->is_bad = true;
		return "";
	}
	reader->at += length + 1;
	return arena_copy(reader->arena, string);
}

static struct copy_identity read_identity(struct reader *reader)
{
	struct copy_identity identity = { .inode = read_number(reader) };
	identity.seconds = (int64_t)read_number(reader);
	identity.nanoseconds = (uint32_t)read_bounded(reader, UINT32_MAX);
	return identity;
}

/* Checks the magic and the checksum. */
static bool open_reader(struct reader *reader, const char magic[8], const char *bytes, size_t length)
{
	uint64_t sum;
	if (length < 8 + sizeof sum || memcmp(bytes, magic, 8) != 0)
		return false;
	memcpy(&sum, bytes + length - sizeof sum, sizeof sum);
	reader->at = bytes + 8;
	reader->end = bytes + length - sizeof sum;
	return sum == checksum_of(bytes, length - sizeof sum);
}

bool journal_path_is_safe(const char *path)
{
	if (path[0] == '\0')
		return false;
	for (const char *at = path;;) {
		size_t length = strcspn(at, "/");
		if (length == 0 || (length == 1 && at[0] == '.') || (length == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		if (at[length] == '\0')
			return true;
		at += length + 1;
	}
}

static void add_operation(struct text *out, const struct journal_operation *operation)
{
	add_number(out, operation->kind);
	add_string(out, operation->path);
	add_number(out, operation->source);
	add_identity(out, &operation->before);
	add_number(out, operation->parent);
	add_number(out, operation->before_mode);
	add_number(out, operation->after_mode);
	add_number(out, operation->is_directory);
	add_number(out, operation->is_used_again);
}

void journal_encode(const struct journal *journal, struct text *out)
{
	size_t start = out->length;
	text_add_n(out, journal_magic, sizeof journal_magic);
	add_string(out, journal->copy);
	add_number(out, (uint64_t)journal->time);
	add_number(out, journal->is_copied);
	add_number(out, journal->bytes);
	add_number(out, journal->count);
	for (size_t i = 0; i < journal->count; i++)
		add_operation(out, &journal->items[i]);
	add_checksum(out, start);
}

static void read_operation(struct reader *reader, struct journal_operation *operation)
{
	operation->kind = (enum journal_kind)read_bounded(reader, JOURNAL_KINDS - 1);
	operation->path = read_string(reader);
	operation->source = read_number(reader);
	operation->before = read_identity(reader);
	operation->parent = read_number(reader);
	operation->before_mode = (mode_t)read_bounded(reader, 07777);
	operation->after_mode = (mode_t)read_bounded(reader, 07777);
	operation->is_directory = read_bounded(reader, 1);
	operation->is_used_again = read_bounded(reader, 1);
	reader->is_bad |= !journal_path_is_safe(operation->path);
}

bool journal_decode(struct arena *arena, const char *bytes, size_t length, struct journal *journal)
{
	struct reader reader = { .arena = arena };

	*journal = (struct journal){ 0 };
	if (!open_reader(&reader, journal_magic, bytes, length))
		return false;
	journal->copy = read_string(&reader);
	journal->time = (int64_t)read_number(&reader);
	journal->is_copied = read_bounded(&reader, 1);
	journal->bytes = read_number(&reader);
	journal->count = (size_t)read_bounded(&reader, (uint64_t)(reader.end - reader.at) / OPERATION_MIN);
	if (reader.is_bad || !copy_name_is_valid(journal->copy))
		return false;
	journal->items = arena_alloc(arena, (journal->count + 1) * sizeof *journal->items);
	for (size_t i = 0; i < journal->count; i++)
		read_operation(&reader, &journal->items[i]);
	return !reader.is_bad && reader.at == reader.end;
}

void journal_encode_states(const struct journal_states *states, struct text *out)
{
	size_t start = out->length;
	text_add_n(out, states_magic, sizeof states_magic);
	add_number(out, states->count);
	for (size_t i = 0; i < states->count; i++)
		add_identity(out, &states->items[i]);
	add_checksum(out, start);
}

bool journal_decode_states(struct arena *arena, const char *bytes, size_t length, struct journal_states *states)
{
	struct reader reader = { .arena = arena };

	*states = (struct journal_states){ 0 };
	if (!open_reader(&reader, states_magic, bytes, length))
		return false;
	states->count = (size_t)read_bounded(&reader, (uint64_t)(reader.end - reader.at) / IDENTITY_BYTES);
	if (reader.is_bad)
		return false;
	states->items = arena_alloc(arena, (states->count + 1) * sizeof *states->items);
	for (size_t i = 0; i < states->count; i++)
		states->items[i] = read_identity(&reader);
	return !reader.is_bad && reader.at == reader.end;
}

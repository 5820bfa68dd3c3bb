/* SPDX-License-Identifier: Apache-2.0 */
/* Versions 2 to 4 of git's index (gitformat-index(5)), with hashes of 20 or 32 bytes. The file does
 * not say which: both are tried, and what either finds counts. */
#include "common/git/index.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/text.h"
#include "common/fs/path.h"

enum {
	INDEX_BYTES = 64 << 20, /* some 600,000 files */
	HEADER_BYTES = 12,
	MODE_AT = 24, /* in an entry */
	HASH_AT = 40,
	NAME_MAX_BYTES = 4096,
	MODE_SUBMODULE = 0160000,
	FLAG_EXTENDED = 0x4000, /* two more bytes of flags */
};

struct entries {
	struct arena *arena;
	const unsigned char *bytes;
	size_t length, at;
	size_t hash_bytes;
	uint32_t version;
	char name[NAME_MAX_BYTES]; /* of the last entry */
};

static uint32_t number_at(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Reads how many bytes of the last name are dropped. As git's decode_varint. */
static bool read_varint(struct entries *entries, size_t *value)
{
	unsigned char byte;
	*value = 0;
	for (unsigned i = 0; i < 4 && entries->at < entries->length; i++) {
		byte = entries->bytes[entries->at++];
		*value = (i > 0 ? (*value + 1) << 7 : 0) | (byte & 0x7f);
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Reads a name into entries->name, after its first `kept` bytes. */
static bool read_name(struct entries *entries, size_t kept)
{
	const unsigned char *start = entries->bytes + entries->at;
	const unsigned char *end = memchr(start, '\0', entries->length - entries->at);
	size_t length = end ? (size_t)(end - start) : 0;
	if (!end || kept + length >= sizeof entries->name)
		return false;
	memcpy(entries->name + kept, start, length + 1);
	entries->at += length + 1;
	return true;
}

/* Reads one entry: fills its mode, and its name in entries->name. */
static bool read_entry(struct entries *entries, uint32_t *mode)
{
	size_t start = entries->at, fixed = HASH_AT + entries->hash_bytes + 2, dropped, length = strlen(entries->name);
	if (entries->length - start < fixed + 2)
		return false;
	*mode = number_at(entries->bytes + start + MODE_AT);
	if (entries->version >= 3 && (entries->bytes[start + fixed - 2] & (FLAG_EXTENDED >> 8)))
		fixed += 2;
	entries->at = start + fixed;
	if (entries->version == 4)
		return read_varint(entries, &dropped) && dropped <= length && read_name(entries, length - dropped);
	if (!read_name(entries, 0))
		return false;
	entries->at = start + ((entries->at - 1 - start + 8) & ~(size_t)7);
	return entries->at <= entries->length;
}

/* The extension `link` begins with the hash of the shared index. */
static void find_shared(const struct entries *entries, char shared[GIT_INDEX_SHARED])
{
	size_t at = entries->at, size;
	while (entries->length - at >= 8) {
		size = number_at(entries->bytes + at + 4);
		if (size > entries->length - at - 8)
			return;
		if (memcmp(entries->bytes + at, "link", 4) == 0 && size >= entries->hash_bytes) {
			text_hex(entries->bytes + at + 8, entries->hash_bytes, shared);
			return;
		}
		at += 8 + size;
	}
}

/* Reads all entries with hashes of that length. */
static void read_entries(struct entries *entries, struct git_paths *paths, char shared[GIT_INDEX_SHARED])
{
	uint32_t count = number_at(entries->bytes + 8), mode;
	entries->at = HEADER_BYTES;
	entries->name[0] = '\0';
	for (uint32_t i = 0; i < count; i++) {
		if (!read_entry(entries, &mode))
			return;
		if (mode == MODE_SUBMODULE)
			*(const char **)arena_push(entries->arena, paths) = arena_copy(entries->arena, entries->name);
	}
	find_shared(entries, shared);
}

void git_index_parse(struct arena *arena, const char *bytes, size_t length, struct git_paths *paths,
		     char shared[2][GIT_INDEX_SHARED])
{
	static const unsigned char mode[] = { 0, 0, 0xe0, 0 };
	static const size_t hashes[] = { 20, 32 };
	struct entries entries = { .arena = arena, .bytes = (const unsigned char *)bytes, .length = length };

	shared[0][0] = shared[1][0] = '\0';
	if (length < HEADER_BYTES || memcmp(bytes, "DIRC", 4) != 0)
		return;
	entries.version = number_at(entries.bytes + 4);
	/* Most have neither. */
	if (entries.version < 2 || entries.version > 4 ||
	    (!memmem(bytes, length, mode, sizeof mode) && !memmem(bytes, length, "link", 4)))
		return;
	for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++) {
		entries.hash_bytes = hashes[i];
		read_entries(&entries, paths, shared[i]);
	}
}

static void read_index(const struct filesystem *fs, struct arena *arena, const char *file, struct git_paths *paths,
		       char shared[2][GIT_INDEX_SHARED])
{
	char *bytes;
	size_t length;
	shared[0][0] = shared[1][0] = '\0';
	if (fs->read_small(fs, arena, file, INDEX_BYTES, &bytes, &length) == 0)
		git_index_parse(arena, bytes, length, paths, shared);
}

void git_index_submodules(const struct filesystem *fs, struct arena *arena, const char *git_directory, struct git_paths *paths)
{
	char shared[2][GIT_INDEX_SHARED], ignored[2][GIT_INDEX_SHARED];
	read_index(fs, arena, path_join(arena, git_directory, "index"), paths, shared);
	for (size_t i = 0; i < 2; i++)
		if (shared[i][0])
			read_index(fs, arena, path_join(arena, git_directory, arena_printf(arena, "sharedindex.%s", shared[i])),
				   paths, ignored);
}

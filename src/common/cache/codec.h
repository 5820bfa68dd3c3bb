/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, strings, vectors and tables of fields as bytes, in both directions. Knows no type of the
 * plan. Internal to the cache. */
#ifndef BERM_COMMON_CACHE_CODEC_H
#define BERM_COMMON_CACHE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/text.h"
#include "common/cache/plan_codec.h"

struct codec {
	bool is_writing, has_failed;
	struct text *out;
	struct arena *arena;
	const char *data;
	size_t left;
	const char *key, *source; /* of the previous rule: most rules share them */
};

/* Returns the next `size` bytes of the input, or NULL if there are fewer. */
const char *codec_take(struct codec *codec, size_t size);
/* codec_bytes for writing, and for reading if it fails. */
void codec_bytes_checked(struct codec *codec, void *value, size_t size);
/* A plan has thousands of them, so reading is inline. */
static inline void codec_bytes(struct codec *codec, void *value, size_t size)
{
	if (codec->is_writing || codec->has_failed || size > codec->left) {
		codec_bytes_checked(codec, value, size);
		return;
	}
	memcpy(value, codec->data, size);
	codec->data += size;
	codec->left -= size;
}
void codec_number(struct codec *codec, uint64_t *value);
void codec_boolean(struct codec *codec, bool *value);
/* Codes an enum. Every enum of the plan starts at 0 and fits in a byte. */
unsigned codec_choice(struct codec *codec, unsigned value, unsigned last);
/* Codes a string that may be NULL. */
void codec_string(struct codec *codec, const char **value);
void codec_required_string(struct codec *codec, const char **value);
/* Codes a string that is not written again if it equals *before, which is set to it. */
void codec_repeated_string(struct codec *codec, const char **value, const char **before);
size_t codec_count(struct codec *codec, size_t value);
/* Codes the fields of a struct. */
void codec_fields(struct codec *codec, const struct plan_codec_table *table, void *object);
/* Returns the capacity that arena_push would have allocated, so that decoded vectors can grow. */
size_t codec_capacity(size_t length);

/* Defines the function `name` for a { T *items; size_t count; } vector, element by element. */
#define DEFINE_VECTOR(name, type, element)                                                                                     \
	static void name(struct codec *codec, void *field)                                                                     \
	{                                                                                                                      \
		type *vector = field;                                                                                          \
		size_t length = codec_count(codec, vector->count);                                                             \
		if (!codec->is_writing) {                                                                                      \
			vector->items = arena_alloc(codec->arena, codec_capacity(length) * sizeof *vector->items);             \
			vector->count = length;                                                                                \
		}                                                                                                              \
		for (size_t i = 0; i < length && vector->items && !codec->has_failed; i++)                                     \
			element(codec, &vector->items[i]);                                                                     \
	}

/* Defines the function `name` for an enum that starts at 0 and ends with `last`. */
#define DEFINE_ENUM(name, type, last)                                                                                          \
	static void name(struct codec *codec, void *field)                                                                     \
	{                                                                                                                      \
		type *value = field;                                                                                           \
		*value = (type)codec_choice(codec, *value, last);                                                              \
	}

/* Defines the function `name` for a field of this type, by a function for its pointer. */
#define DEFINE_FIELD(name, type, code)                                                                                         \
	static void name(struct codec *codec, void *field)                                                                     \
	{                                                                                                                      \
		type *value = field;                                                                                           \
		code(codec, value);                                                                                            \
	}

#define CODED(type, member, function)                                                                                          \
	{                                                                                                                      \
		offsetof(type, member), sizeof(((type *)NULL)->member), function, NULL                                         \
	}
#define NOT_CODED(type, member, reason)                                                                                        \
	{                                                                                                                      \
		offsetof(type, member), sizeof(((type *)NULL)->member), NULL, reason                                           \
	}

#endif

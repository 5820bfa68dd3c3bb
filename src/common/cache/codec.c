/* SPDX-License-Identifier: Apache-2.0 */
/* Each function writes its value, or reads and checks it. After a failure reads give zeros and
 * empty strings, so that callers need one check at the end. */
#include "common/cache/codec.h"

#include <string.h>

enum { COUNT_MAX = 1 << 16 };

const char *codec_take(struct codec *codec, size_t size)
{
	const char *at = codec->data;
	if (codec->has_failed || size > codec->left) {
		codec->has_failed = true;
		return NULL;
	}
	codec->data += size;
	codec->left -= size;
	return at;
}

void codec_bytes_checked(struct codec *codec, void *value, size_t size)
{
	if (codec->is_writing) {
		text_add_n(codec->out, value, size);
		return;
	}
	codec->has_failed = true;
	memset(value, 0, size);
}

void codec_number(struct codec *codec, uint64_t *value)
{
	codec_bytes(codec, value, sizeof *value);
}

void codec_boolean(struct codec *codec, bool *value)
{
	unsigned char byte = *value;
	codec_bytes(codec, &byte, 1);
	if (byte > 1)
		codec->has_failed = true;
	*value = byte == 1;
}

unsigned codec_choice(struct codec *codec, unsigned value, unsigned last)
{
	unsigned char byte = (unsigned char)value;
	codec_bytes(codec, &byte, 1);
	if (byte > last) {
		codec->has_failed = true;
		return 0;
	}
	return byte;
}

void codec_string(struct codec *codec, const char **value)
{
	uint32_t length = codec->is_writing && *value ? (uint32_t)strlen(*value) : UINT32_MAX;
	codec_bytes(codec, &length, sizeof length);
	if (codec->is_writing) {
		if (*value)
			text_add_n(codec->out, *value, (size_t)length + 1);
		return;
	}
	*value = NULL;
	if (length == UINT32_MAX || codec->has_failed)
		return;
	*value = codec_take(codec, (size_t)length + 1);
	if (!*value || memchr(*value, '\0', (size_t)length + 1) != *value + length)
		codec->has_failed = true;
	if (codec->has_failed)
		*value = "";
}

void codec_required_string(struct codec *codec, const char **value)
{
	codec_string(codec, value);
	if (!*value) {
		codec->has_failed = true;
		*value = "";
	}
}

void codec_repeated_string(struct codec *codec, const char **value, const char **before)
{
	bool is_same = codec->is_writing && *value && *before && strcmp(*value, *before) == 0;
	codec_boolean(codec, &is_same);
	if (!is_same) {
		codec_required_string(codec, value);
		/* Encoding never repeats an equal string: one plan has one encoding. */
		if (!codec->is_writing && *before && strcmp(*value, *before) == 0)
			codec->has_failed = true;
	} else if (*before)
		*value = *before;
	else {
		codec->has_failed = true;
		*value = "";
	}
	*before = *value;
}

size_t codec_count(struct codec *codec, size_t value)
{
	uint32_t coded = (uint32_t)value;
	codec_bytes(codec, &coded, sizeof coded);
	if (coded > COUNT_MAX || codec->has_failed) {
		codec->has_failed = true;
		return 0;
	}
	return coded;
}

void codec_fields(struct codec *codec, const struct plan_codec_table *table, void *object)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->fields[i].code)
			table->fields[i].code(codec, (char *)object + table->fields[i].offset);
}

size_t codec_capacity(size_t length)
{
	size_t room = 1;
	while (room < length)
		room *= 2;
	return room;
}

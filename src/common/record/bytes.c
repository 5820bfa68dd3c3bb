/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in JSON: file names and arguments need not be text. */
#include "common/record/internal.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static bool is_text(const char *bytes, size_t length)
{
	while (length > 0) {
		uint32_t character;
		size_t size = text_decode(bytes, length, &character);
		if (size == 0)
			return false;
		bytes += size;
		length -= size;
	}
	return true;
}

static void add_base64(struct text *out, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i += 3) {
		size_t count = length - i < 3 ? length - i : 3;
		uint32_t group = 0;
		char four[4];
		for (size_t k = 0; k < 3; k++)
			group = group << 8 | (k < count ? (unsigned char)bytes[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			four[k] = k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
		text_add_n(out, four, sizeof four);
	}
}

void record_bytes(struct json *json, const char *name, const char *bytes)
{
	struct text encoded = { 0 };
	if (!bytes || is_text(bytes, strlen(bytes))) {
		json_string(json, name, bytes);
		return;
	}
	add_base64(&encoded, bytes, strlen(bytes));
	json_object(json, name);
	json_string(json, "b64", encoded.data);
	json_object_end(json);
	text_free(&encoded);
}

char *record_from_base64(struct arena *arena, const char *text, size_t *length)
{
	size_t size = strlen(text), padding = 0;
	char *bytes = arena_alloc(arena, size / 4 * 3 + 1);

	if (size % 4 != 0)
		return NULL;
	*length = 0;
	for (size_t i = 0; i < size; i += 4) {
		uint32_t group = 0;
		for (size_t k = 0; k < 4; k++) {
			const char *at = text[i + k] == '=' ? NULL : strchr(digits, text[i + k]);
			bool is_padding = text[i + k] == '=' && i + 4 == size && k >= 2;
			if (at ? padding > 0 : !is_padding)
				return NULL;
			padding += !at;
			group = group << 6 | (at ? (uint32_t)(at - digits) : 0);
		}
		for (size_t k = 0; k < 3 - padding; k++)
			bytes[(*length)++] = (char)(group >> (16 - 8 * k) & 0xff);
	}
	return bytes;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here depends on the locale: the text comes from files, arguments and other processes. */
#include "common/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/arena.h"

enum {
	NEAREST_MAX_LENGTH = 64,
	/* The size of an arena's first block. With a live allocation of the same size, musl's
	 * allocator does not map a page for each text and unmap it afterwards, which takes 9 us in
	 * a virtual machine. */
	FIRST_CAPACITY = 1024,
};

struct unit {
	const char *suffix;
	uint64_t factor;
};

/* Largest first: the formatter uses the first unit that divides evenly. */
static const struct unit size_units[] = {
	{ "T", (uint64_t)1 << 40 },
	{ "G", (uint64_t)1 << 30 },
	{ "M", (uint64_t)1 << 20 },
	{ "K", (uint64_t)1 << 10 },
	{ "", 1 },
};

static const struct unit duration_units[] = {
	{ "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 },
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void text_reserve(struct text *text, size_t extra)
{
	size_t capacity = text->capacity > 0 ? text->capacity : FIRST_CAPACITY;
	char *data;

	if (extra > SIZE_MAX / 16 || text->length > SIZE_MAX / 16)
		arena_out_of_memory();
	while (capacity - text->length <= extra)
		capacity *= 4; /* few sizes: each new one costs the allocator new pages */
	if (capacity == text->capacity)
		return;
	data = realloc(text->data, capacity);
	if (!data)
		arena_out_of_memory();
	text->data = data;
	text->capacity = capacity;
}

void text_add_n(struct text *text, const char *bytes, size_t length)
{
	text_reserve(text, length);
	if (length > 0)
		memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
	va_list arguments, again;
	int length;

	va_start(arguments, format);
	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		arena_out_of_memory();
	text_reserve(text, (size_t)length);
	vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
	text->length += (size_t)length;
	va_end(again);
}

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){ 0 };
}

void text_hex(const void *bytes, size_t length, char *hex)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *from = bytes;

	for (size_t i = 0; i < length; i++) {
		hex[2 * i] = digits[from[i] >> 4];
		hex[2 * i + 1] = digits[from[i] & 15];
	}
	hex[2 * length] = '\0';
}

/* Returns the length of the sequence that this lead byte starts, or 0. 0xc0, 0xc1 and 0xf5 to 0xff
 * could only start over-long forms or characters out of range. */
static size_t sequence_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

/* RFC 3629. */
size_t text_decode(const char *bytes, size_t length, uint32_t *character)
{
	static const unsigned char lead_mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t size;
	uint32_t value;

	if (length == 0)
		return 0;
	size = sequence_length((unsigned char)bytes[0]);
	if (size == 0 || size > length)
		return 0;
	value = (unsigned char)bytes[0] & lead_mask[size];
	for (size_t i = 1; i < size; i++) {
		if (((unsigned char)bytes[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | ((unsigned char)bytes[i] & 0x3f);
	}
	if (value < smallest[size] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*character = value;
	return size;
}

static bool is_control(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character <= 0x9f);
}

/* Besides controls: bidi marks, line and paragraph separators, byte-order mark, interlinear
 * annotation, tags. */
bool text_is_deceptive(uint32_t character)
{
	return is_control(character) || character == 0x061c || character == 0x200e || character == 0x200f ||
	       character == 0xfeff || (character >= 0x2028 && character <= 0x202e) ||
	       (character >= 0x2066 && character <= 0x2069) || (character >= 0xfff9 && character <= 0xfffb) ||
	       (character >= 0xe0000 && character <= 0xe007f);
}

void text_add_visible(struct text *text, const char *bytes, size_t length)
{
	text_add_n(text, "", 0);
	while (length > 0) {
		uint32_t character = 0;
		size_t size = text_decode(bytes, length, &character);
		if (size == 0 || (size == 1 && is_control(character))) {
			size = 1;
			text_add(text, "\\x%02x", (unsigned char)bytes[0]);
		} else if (text_is_deceptive(character)) {
			text_add(text, "\\u{%04x}", (unsigned)character);
		} else {
			text_add_n(text, bytes, size);
		}
		bytes += size;
		length -= size;
	}
}

size_t text_width(const struct text *text)
{
	return text->width ? text->width : TEXT_WIDTH;
}

size_t text_columns(const char *bytes, size_t length)
{
	size_t result = 0;
	for (size_t i = 0; i < length; i++)
		result += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return result;
}

void text_add_wrapped(struct text *text, size_t indent, const char *words)
{
	size_t used = indent;

	while (*words) {
		size_t length = strcspn(words, " "), width = text_columns(words, length);
		if (used > indent && used + 1 + width > text_width(text) - 1) {
			text_add(text, "\n%*s", (int)indent, "");
			used = indent;
		} else if (used > indent) {
			text_add(text, " ");
			used++;
		}
		text_add_n(text, words, length);
		used += width;
		words += length;
		words += strspn(words, " ");
	}
	text_add(text, "\n");
}

char *text_visible(struct arena *arena, const char *string)
{
	struct text text = { 0 };
	char *result;

	text_add_visible(&text, string, strlen(string));
	result = arena_copy_n(arena, text.data, text.length);
	text_free(&text);
	return result;
}

static void add_json_character(struct text *text, const char *bytes, size_t size, uint32_t character)
{
	if (character == '"' || character == '\\')
		text_add(text, "\\%c", (char)character);
	else if (character == '\n')
		text_add(text, "\\n");
	else if (character == '\t')
		text_add(text, "\\t");
	else if (character > 0xffff && text_is_deceptive(character))
		text_add(text, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((character - 0x10000) >> 10)),
			 (unsigned)(0xdc00 + (character & 0x3ff)));
	else if (text_is_deceptive(character))
		text_add(text, "\\u%04x", (unsigned)character);
	else
		text_add_n(text, bytes, size);
}

/* Writes a quote and a backslash outside of quotes, where every shell reads \' and \\ alike: fish
 * treats them as escapes inside single quotes. Never writes two quoted parts next to each other:
 * with zsh's rc_quotes '' is a quote. */
void text_add_shell_quoted(struct text *text, const char *word)
{
	if (word[0] == '\0')
		text_add(text, "''");
	while (*word) {
		size_t plain = strcspn(word, "'\\");
		if (plain > 0)
			text_add(text, "'%.*s'", (int)plain, word);
		word += plain;
		for (; *word == '\'' || *word == '\\'; word++)
			text_add(text, "\\%c", *word);
	}
}

void text_add_shell_word(struct text *text, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";
	if (word[0] && word[strspn(word, plain)] == '\0')
		text_add(text, "%s", word);
	else
		text_add_shell_quoted(text, word);
}

/* Returns the length of the ASCII at the start that JSON takes as it is. */
static size_t json_plain(const char *string)
{
	size_t length = 0;
	while (string[length] >= 0x20 && string[length] < 0x7f && string[length] != '"' && string[length] != '\\')
		length++;
	return length;
}

void text_add_json(struct text *text, const char *string)
{
	size_t length = strlen(string);

	text_add_n(text, "\"", 1);
	while (length > 0) {
		uint32_t character = 0;
		size_t plain = json_plain(string), size;
		text_add_n(text, string, plain);
		string += plain;
		length -= plain;
		if (length == 0)
			break;
		size = text_decode(string, length, &character);
		if (size == 0) {
			size = 1;
			text_add(text, "\\ufffd");
		} else {
			add_json_character(text, string, size, character);
		}
		string += size;
		length -= size;
	}
	text_add_n(text, "\"", 1);
}

bool text_starts_with(const char *string, const char *prefix)
{
	return strncmp(string, prefix, strlen(prefix)) == 0;
}

bool text_ends_with(const char *string, const char *suffix)
{
	size_t length = strlen(string), tail = strlen(suffix);
	return length >= tail && memcmp(string + length - tail, suffix, tail) == 0;
}

bool text_has_control(const char *bytes, size_t length)
{
	while (length > 0) {
		uint32_t character = 0;
		size_t size = text_decode(bytes, length, &character);
		if (size > 0 && is_control(character))
			return true;
		if (size == 0)
			size = 1;
		bytes += size;
		length -= size;
	}
	return false;
}

static unsigned minimum(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Returns the edit distance with transpositions, ignoring case. Both lengths are at most
 * NEAREST_MAX_LENGTH. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][NEAREST_MAX_LENGTH + 1];
	unsigned *before = rows[0], *previous = rows[1], *current = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		previous[j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *recycled = before;
		current[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			unsigned cost = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
			current[j] = minimum(minimum(previous[j], current[j - 1]) + 1, previous[j - 1] + cost);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
				current[j] = minimum(current[j], before[j - 2] + 1);
		}
		before = previous;
		previous = current;
		current = recycled;
	}
	return previous[b_length];
}

const char *text_nearest(const char *name, const char *const *candidates, size_t count)
{
	size_t length = strlen(name);
	const char *best = NULL;
	/* With a third of its letters wrong it is a different word. */
	unsigned best_distance = minimum((unsigned)(length / 3 + 1), 3) + 1;

	if (length == 0 || length > NEAREST_MAX_LENGTH)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t candidate_length = strlen(candidates[i]);
		unsigned distance;
		if (candidate_length > NEAREST_MAX_LENGTH)
			continue;
		distance = edit_distance(name, length, candidates[i], candidate_length);
		/* Abbreviations: `env` for `environment`. */
		if (length >= 3 && candidate_length > length && strncmp(candidates[i], name, length) == 0)
			distance = minimum(distance, 1);
		/* Words without a common letter are not similar, even if they are short. */
		if (distance < best_distance && distance < candidate_length && distance < length) {
			best_distance = distance;
			best = candidates[i];
		}
	}
	return best;
}

/* Refuses a leading zero, because some parsers would read the number as octal. */
static bool parse_digits(const char *string, size_t length, uint64_t maximum, uint64_t *value)
{
	uint64_t result = 0;

	if (length == 0 || (string[0] == '0' && length > 1))
		return false;
	for (size_t i = 0; i < length; i++) {
		unsigned digit = (unsigned)(unsigned char)string[i] - '0';
		if (digit > 9 || result > (UINT64_MAX - digit) / 10)
			return false;
		result = result * 10 + digit;
	}
	if (result > maximum)
		return false;
	*value = result;
	return true;
}

bool text_parse_u64(const char *string, uint64_t maximum, uint64_t *value)
{
	return parse_digits(string, strlen(string), maximum, value);
}

static bool parse_with_unit(const char *string, const struct unit *units, size_t count, uint64_t *value)
{
	size_t digits = strspn(string, "0123456789");
	uint64_t number;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(string + digits, units[i].suffix) != 0)
			continue;
		if (!parse_digits(string, digits, UINT64_MAX / units[i].factor, &number))
			return false;
		*value = number * units[i].factor;
		return true;
	}
	return false;
}

bool text_parse_size(const char *string, uint64_t *bytes)
{
	return parse_with_unit(string, size_units, COUNT(size_units), bytes);
}

bool text_parse_duration(const char *string, uint64_t *milliseconds)
{
	return parse_with_unit(string, duration_units, COUNT(duration_units), milliseconds);
}

static void add_with_unit(struct text *text, uint64_t value, const struct unit *units, size_t count)
{
	size_t i = 0;
	while (i + 1 < count && (value == 0 || value % units[i].factor != 0))
		i++;
	text_add(text, "%llu%s", (unsigned long long)(value / units[i].factor), units[i].suffix);
}

void text_add_size(struct text *text, uint64_t bytes)
{
	add_with_unit(text, bytes, size_units, COUNT(size_units));
}

void text_add_duration(struct text *text, uint64_t milliseconds)
{
	add_with_unit(text, milliseconds, duration_units, COUNT(duration_units));
}

int text_write(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t count = write(fd, bytes, length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0) {
			errno = count < 0 ? errno : EIO;
			return -1;
		}
		bytes += count;
		length -= (size_t)count;
	}
	return 0;
}

ssize_t text_read(int fd, char *bytes, size_t size)
{
	size_t used = 0;
	while (used < size) {
		ssize_t count = read(fd, bytes + used, size - used);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -1;
		if (count == 0)
			break;
		used += (size_t)count;
	}
	return (ssize_t)used;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 3492 with the parameters of IDNA. The decoder reads text of programs inside the sandbox:
 * every length is bounded and every sum checked for overflow. */
#include "common/format/punycode.h"

#include <string.h>

#include "common/format/unicode.h"

/* RFC 3492, section 5. */
enum { BASE = 36, THRESHOLD_MIN = 1, THRESHOLD_MAX = 26, SKEW = 38, DAMP = 700, FIRST_BIAS = 72, FIRST_CHARACTER = 0x80 };

static uint32_t next_bias(uint32_t delta, uint32_t count, bool is_first)
{
	uint32_t k = 0;

	delta = is_first ? delta / DAMP : delta / 2;
	for (delta += delta / count; delta > (BASE - THRESHOLD_MIN) * THRESHOLD_MAX / 2; k += BASE)
		delta /= BASE - THRESHOLD_MIN;
	return k + (BASE - THRESHOLD_MIN + 1) * delta / (delta + SKEW);
}

static uint32_t threshold(uint32_t k, uint32_t bias)
{
	if (k <= bias + THRESHOLD_MIN)
		return THRESHOLD_MIN;
	return k >= bias + THRESHOLD_MAX ? THRESHOLD_MAX : k - bias;
}

static char digit_to_char(uint32_t digit)
{
	return (char)(digit < 26 ? 'a' + digit : '0' + (digit - 26));
}

static uint32_t char_to_digit(char c)
{
	if (c >= 'a' && c <= 'z')
		return (uint32_t)(c - 'a');
	if (c >= 'A' && c <= 'Z')
		return (uint32_t)(c - 'A');
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0') + 26;
	return BASE;
}

struct output {
	char *text;
	size_t length, room;
};

static bool output_add(struct output *output, char c)
{
	if (output->length == output->room)
		return false;
	output->text[output->length++] = c;
	return true;
}

/* Writes one generalised variable-length integer. */
static bool output_integer(struct output *output, uint32_t value, uint32_t bias)
{
	for (uint32_t k = BASE;; k += BASE) {
		uint32_t t = threshold(k, bias);
		if (value < t)
			return output_add(output, digit_to_char(value));
		if (!output_add(output, digit_to_char(t + (value - t) % (BASE - t))))
			return false;
		value = (value - t) / (BASE - t);
	}
}

/* Writes the ASCII characters, and a hyphen if there are any. Returns their number, or -1 if they
 * do not fit. */
static int output_basic(struct output *output, const uint32_t *characters, size_t count)
{
	int basic = 0;

	for (size_t i = 0; i < count; i++) {
		if (characters[i] >= FIRST_CHARACTER)
			continue;
		if (!output_add(output, (char)characters[i]))
			return -1;
		basic++;
	}
	if (basic > 0 && !output_add(output, '-'))
		return -1;
	return basic;
}

static uint32_t smallest_from(const uint32_t *characters, size_t count, uint32_t from)
{
	uint32_t smallest = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		if (characters[i] >= from && characters[i] < smallest)
			smallest = characters[i];
	}
	return smallest;
}

bool punycode_encode(const uint32_t *characters, size_t count, char *out, size_t room, size_t *length)
{
	struct output output = { .text = out, .room = room };
	uint32_t current = FIRST_CHARACTER, delta = 0, bias = FIRST_BIAS;
	int basic = count > PUNYCODE_MAX ? -1 : output_basic(&output, characters, count);

	if (basic < 0)
		return false;
	/* With at most 64 characters up to U+10FFFF, delta stays below 65 × 0x110000 and cannot
	 * overflow. */
	for (uint32_t handled = (uint32_t)basic; handled < count; delta++, current++) {
		uint32_t next = smallest_from(characters, count, current);
		if (next > UNICODE_MAX)
			return false;
		delta += (next - current) * (handled + 1);
		current = next;
		for (size_t i = 0; i < count; i++) {
			if (characters[i] < current)
				delta++;
			if (characters[i] != current)
				continue;
			if (!output_integer(&output, delta, bias))
				return false;
			bias = next_bias(delta, handled + 1, handled == (uint32_t)basic);
			delta = 0;
			handled++;
		}
	}
	*length = output.length;
	return true;
}

/* Adds one variable-length integer to *value. */
static bool input_integer(const char **at, const char *end, uint32_t bias, uint32_t *value)
{
	uint32_t weight = 1;

	for (uint32_t k = BASE;; k += BASE) {
		uint32_t digit = *at == end ? BASE : char_to_digit(*(*at)++);
		uint32_t t = threshold(k, bias);
		if (digit >= BASE || digit > (UINT32_MAX - *value) / weight)
			return false;
		*value += digit * weight;
		if (digit < t)
			return true;
		if (weight > UINT32_MAX / (BASE - t))
			return false;
		weight *= BASE - t;
	}
}

/* Copies the characters before the last hyphen and returns the rest. NULL if they are not ASCII or
 * too long. */
static const char *input_basic(const char *text, const char *end, uint32_t *characters, size_t *count)
{
	const char *last = end;

	while (last != text && last[-1] != '-')
		last--;
	*count = 0;
	if (last == text)
		return text;
	for (const char *at = text; at != last - 1; at++) {
		if ((unsigned char)*at >= FIRST_CHARACTER || *count == PUNYCODE_MAX)
			return NULL;
		characters[(*count)++] = (unsigned char)*at;
	}
	return last;
}

bool punycode_decode(const char *text, size_t length, uint32_t characters[PUNYCODE_MAX], size_t *count)
{
	const char *end = text + length;
	const char *at = input_basic(text, end, characters, count);
	uint32_t current = FIRST_CHARACTER, index = 0, bias = FIRST_BIAS;
	bool is_first = true;

	if (!at)
		return false;
	while (at != end) {
		uint32_t before = index, total = (uint32_t)*count + 1;
		if (total > PUNYCODE_MAX || !input_integer(&at, end, bias, &index))
			return false;
		bias = next_bias(index - before, total, is_first);
		is_first = false;
		if (index / total > UNICODE_MAX - current)
			return false;
		current += index / total;
		index %= total;
		memmove(characters + index + 1, characters + index, (*count - index) * sizeof *characters);
		characters[index++] = current;
		++*count;
	}
	return true;
}

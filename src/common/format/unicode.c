/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 on top of text_decode, and table look-ups. Never allocates, never reads past `end`. */
#include "common/format/unicode.h"

#include <stdlib.h>

#include "common/base/text.h"

size_t unicode_decode(const char *at, const char *end, uint32_t *character)
{
	unsigned char lead = (unsigned char)*at;
	size_t length = lead < 0x80 ? 0 : text_decode(at, (size_t)(end - at), character);

	if (length > 0)
		return length;
	*character = lead < 0x80 ? lead : UNICODE_INVALID + lead;
	return 1;
}

size_t unicode_encode(uint32_t character, char out[4])
{
	if (character >= UNICODE_INVALID || character < 0x80) {
		out[0] = (char)(character & 0xff);
		return 1;
	}
	if (character < 0x800) {
		out[0] = (char)(0xc0 | character >> 6);
		out[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		out[0] = (char)(0xe0 | character >> 12);
		out[1] = (char)(0x80 | (character >> 6 & 0x3f));
		out[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | character >> 18);
	out[1] = (char)(0x80 | (character >> 12 & 0x3f));
	out[2] = (char)(0x80 | (character >> 6 & 0x3f));
	out[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

static bool run_holds(const struct unicode_run *run, uint32_t character)
{
	return character >= run->first && character <= run->last && (character - run->first) % run->step == 0;
}

static int compare_run(const void *key, const void *element)
{
	uint32_t character = *(const uint32_t *)key;
	const struct unicode_run *run = element;

	return character < run->first ? -1 : character > run->last;
}

uint32_t unicode_fold(uint32_t character)
{
	const struct unicode_run *run;

	if (character < 0x80)
		return character >= 'A' && character <= 'Z' ? character + ('a' - 'A') : character;
	run = bsearch(&character, unicode_folds, unicode_fold_count, sizeof *unicode_folds, compare_run);
	return run && run_holds(run, character) ? (uint32_t)((int32_t)character + run->delta) : character;
}

static bool is_between(uint32_t low, uint32_t high, uint32_t character)
{
	return character >= low && character <= high;
}

bool unicode_range_folds(uint32_t low, uint32_t high, uint32_t character)
{
	uint32_t folded = unicode_fold(character);

	if (is_between(low, high, folded))
		return true;
	if (folded >= 'a' && folded <= 'z' && is_between(low, high, folded - ('a' - 'A')))
		return true;
	for (size_t i = 0; i < unicode_fold_count; i++) {
		uint32_t variant = (uint32_t)((int32_t)folded - unicode_folds[i].delta);
		if (run_holds(&unicode_folds[i], variant) && is_between(low, high, variant))
			return true;
	}
	return false;
}

static int compare_pair(const void *key, const void *element)
{
	const struct unicode_pair *wanted = key, *pair = element;

	if (wanted->base != pair->base)
		return wanted->base < pair->base ? -1 : 1;
	return wanted->mark < pair->mark ? -1 : wanted->mark > pair->mark;
}

uint32_t unicode_compose(uint32_t base, uint32_t mark)
{
	struct unicode_pair wanted = { .base = (uint16_t)base, .mark = (uint16_t)mark };
	const struct unicode_pair *pair;

	if (mark < 0x300 || base > UINT16_MAX || mark > UINT16_MAX)
		return 0;
	pair = bsearch(&wanted, unicode_pairs, unicode_pair_count, sizeof *unicode_pairs, compare_pair);
	return pair ? pair->composed : 0;
}

static int compare_range(const void *key, const void *element)
{
	uint32_t character = *(const uint32_t *)key;
	const struct unicode_range *range = element;

	return character < range->first ? -1 : character > range->last;
}

static bool range_table_holds(const struct unicode_range *table, size_t count, uint32_t character)
{
	const struct unicode_range *range = bsearch(&character, table, count, sizeof *table, compare_range);

	return range && (character - range->first) % range->step == 0;
}

bool unicode_is_ignored(uint32_t character)
{
	return (character >= 0x200c && character <= 0x200f) || (character >= 0x202a && character <= 0x202e) ||
	       (character >= 0x206a && character <= 0x206f) || character == 0xfeff;
}

bool unicode_is_idna_valid(uint32_t character)
{
	return range_table_holds(unicode_idna_valid, unicode_idna_valid_count, character);
}

bool unicode_is_idna_mark(uint32_t character)
{
	return range_table_holds(unicode_idna_marks, unicode_idna_mark_count, character);
}

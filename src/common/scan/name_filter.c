/* SPDX-License-Identifier: Apache-2.0 */
/* The table of name_filter_candidates. A metacharacter, a quote, or where case is folded a byte
 * outside of ASCII admits every name; only a plain byte narrows. */
#include "common/scan/name_filter.h"

#include <ctype.h>
#include <string.h>

enum { BYTES = 256 };

void name_filter_prepare(struct name_filter *index, struct arena *arena, size_t pattern_count)
{
	index->words = pattern_count / 64 + 1;
	index->first = arena_alloc(arena, BYTES * index->words * sizeof *index->first);
	index->last = arena_alloc(arena, BYTES * index->words * sizeof *index->last);
	index->any_first = arena_alloc(arena, index->words * sizeof *index->any_first);
	index->any_last = arena_alloc(arena, index->words * sizeof *index->any_last);
	index->ends = arena_alloc(arena, (pattern_count + 1) * sizeof *index->ends);
}

static void admit(uint64_t *table, size_t words, unsigned byte, size_t number)
{
	table[byte * words + number / 64] |= (uint64_t)1 << number % 64;
}

/* A case-insensitive file system takes other letters (the Kelvin sign for a k) and ignores some
 * characters, all of them outside of ASCII. Names that start or end with such a byte are always
 * candidates. */
static void admit_plain(uint64_t *table, size_t words, unsigned char byte, size_t number, bool case_fold)
{
	if (!case_fold) {
		admit(table, words, byte, number);
		return;
	}
	admit(table, words, (unsigned)tolower(byte), number);
	admit(table, words, (unsigned)toupper(byte), number);
	for (unsigned other = 0x80; other < BYTES; other++)
		admit(table, words, other, number);
}

static bool is_plain(unsigned char byte, bool is_literal, bool case_fold)
{
	if (case_fold && byte >= 0x80)
		return false;
	return is_literal || !strchr("*?[]\\", byte);
}

/* For patterns such as `*.tfstate.*`: neither end is plain, so every name would be a candidate. */
static void find_middle(const char *name, struct name_ends *ends)
{
	size_t length = 0;
	while (*name && !is_plain((unsigned char)*name, false, false))
		name += *name == '\\' && name[1] ? 2 : 1;
	while (is_plain((unsigned char)name[length], false, false) && name[length])
		length++;
	ends->middle = name;
	ends->middle_length = (unsigned short)length;
}

/* With is_opaque (folded case, or a class that may match any byte) the ends are not used. */
static struct name_ends find_ends(const char *name, bool is_literal, bool is_opaque)
{
	size_t length = strlen(name), prefix = 0, suffix = 0;
	struct name_ends ends = { .prefix = name, .suffix = name };

	if (is_opaque || length > UINT16_MAX)
		return ends;
	if (is_literal) {
		ends.prefix_length = (unsigned short)length;
		ends.is_exact = true;
		return ends;
	}
	while (prefix < length && is_plain((unsigned char)name[prefix], false, false))
		prefix++;
	/* A byte after a backslash is plain too, but the backslash ends the search. */
	while (suffix < length - prefix && is_plain((unsigned char)name[length - 1 - suffix], false, false))
		suffix++;
	if (prefix + suffix == 0)
		find_middle(name, &ends);
	ends.prefix_length = (unsigned short)prefix;
	ends.suffix = name + length - suffix;
	ends.suffix_length = (unsigned short)suffix;
	return ends;
}

void name_filter_add(struct name_filter *index, size_t number, const struct pattern *pattern, bool case_fold)
{
	const char *slash = strrchr(pattern->text, '/');
	const char *name = slash ? slash + 1 : pattern->text;
	bool is_literal = (size_t)(name - pattern->text) < pattern->literal_prefix;
	unsigned char first = (unsigned char)name[0];
	unsigned char last = first ? (unsigned char)name[strlen(name) - 1] : 0;

	bool has_class = !is_literal && strchr(pattern->text, '[');

	index->ends[number] = find_ends(name, is_literal, case_fold || has_class);
	/* A `]` or a slash in a class would cut the name at the wrong byte. */
	if (has_class) {
		first = '*';
		last = '*';
	}
	if (first && is_plain(first, is_literal, case_fold))
		admit_plain(index->first, index->words, first, number, case_fold);
	else
		admit(index->any_first, index->words, 0, number);
	if (last && is_plain(last, is_literal, case_fold))
		admit_plain(index->last, index->words, last, number, case_fold);
	else
		admit(index->any_last, index->words, 0, number);
}

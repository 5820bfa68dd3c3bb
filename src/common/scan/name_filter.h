/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the patterns that a name could match by its first and last byte. A scan does this for every
 * file of a tree, and nearly no file has a candidate. Never leaves out a pattern that would match.
 * */
#ifndef BERM_COMMON_SCAN_NAME_FILTER_H
#define BERM_COMMON_SCAN_NAME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/fs/pattern.h"

/* The plain bytes at both ends of a pattern's last component; if it has none, the first plain bytes
 * inside it. */
struct name_ends {
	const char *prefix, *suffix, *middle;
	unsigned short prefix_length, suffix_length, middle_length;
	bool is_exact; /* the prefix is the whole component */
};

struct name_filter {
	size_t words; /* of 64 patterns each */
	uint64_t *first, *last; /* [256][words] */
	uint64_t *any_first, *any_last; /* [words]: patterns that any byte may begin or end */
	struct name_ends *ends; /* [pattern] */
};

void name_filter_prepare(struct name_filter *index, struct arena *arena, size_t pattern_count);
void name_filter_add(struct name_filter *index, size_t number, const struct pattern *pattern, bool case_fold);

/* Returns a bit for each pattern of one word (0 <= word < words) that a name with this first and
 * last byte could match. */
static inline uint64_t name_filter_candidates(const struct name_filter *index, size_t word, unsigned char first,
					      unsigned char last)
{
	return (index->first[first * index->words + word] | index->any_first[word]) &
	       (index->last[last * index->words + word] | index->any_last[word]);
}

/* True if the plain bytes of a candidate occur in the name where they must. */
static inline bool name_filter_agrees(const struct name_filter *index, size_t number, const char *name, size_t length)
{
	const struct name_ends *ends = &index->ends[number];
	if (ends->is_exact ? length != ends->prefix_length : length < (size_t)ends->prefix_length + ends->suffix_length)
		return false;
	if (ends->middle_length > 0)
		return memmem(name, length, ends->middle, ends->middle_length) != NULL;
	return memcmp(name, ends->prefix, ends->prefix_length) == 0 &&
	       memcmp(name + length - ends->suffix_length, ends->suffix, ends->suffix_length) == 0;
}

#endif

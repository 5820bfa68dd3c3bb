/* SPDX-License-Identifier: Apache-2.0 */
/* Which of many patterns a name could match, from its first and last byte: a scan asks this for every file of a tree, and for nearly
 * every file the answer is none. Never leaves out a pattern that would match. */
#ifndef BERM_COMMON_SCAN_NAME_FILTER_H
#define BERM_COMMON_SCAN_NAME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/fs/pattern.h"

/* The plain bytes at both ends of a pattern's last component; if there are none, the first plain ones inside it. */
struct scan_ends {
	const char *prefix, *suffix, *middle;
	unsigned short prefix_length, suffix_length, middle_length;
	bool is_exact; /* the prefix is all of it */
};

struct scan_index {
	size_t words; /* of 64 patterns each */
	uint64_t *first, *last; /* [256][words] */
	uint64_t *any_first, *any_last; /* [words]: patterns that every byte admits */
	struct scan_ends *ends; /* [pattern] */
};

void scan_index_prepare(struct scan_index *index, struct arena *arena, size_t pattern_count);
void scan_index_add(struct scan_index *index, size_t number, const struct pattern *pattern, bool case_fold);

/* The patterns of one word (0 <= word < words) that a name (not empty, with this last byte) could match. */
static inline uint64_t scan_index_candidates(const struct scan_index *index, size_t word, unsigned char first,
					     unsigned char last)
{
	return (index->first[first * index->words + word] | index->any_first[word]) &
	       (index->last[last * index->words + word] | index->any_last[word]);
}

/* Of a candidate: do the plain bytes of the pattern occur in this name where they must? */
static inline bool scan_index_agrees(const struct scan_index *index, size_t number, const char *name, size_t length)
{
	const struct scan_ends *ends = &index->ends[number];
	if (ends->is_exact ? length != ends->prefix_length : length < (size_t)ends->prefix_length + ends->suffix_length)
		return false;
	if (ends->middle_length > 0)
		return memmem(name, length, ends->middle, ends->middle_length) != NULL;
	return memcmp(name, ends->prefix, ends->prefix_length) == 0 &&
	       memcmp(name + length - ends->suffix_length, ends->suffix, ends->suffix_length) == 0;
}

#endif

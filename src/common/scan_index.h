/* SPDX-License-Identifier: Apache-2.0 */
/* Which of many patterns a name could match, from its first and last byte: a scan asks this for every file of a tree, and for nearly
 * every file the answer is none. Never leaves out a pattern that would match. */
#ifndef BERM_COMMON_SCAN_INDEX_H
#define BERM_COMMON_SCAN_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/pattern.h"

struct scan_index {
	size_t words; /* of 64 patterns each */
	uint64_t *first, *last; /* [256][words] */
};

void scan_index_prepare(struct scan_index *index, struct arena *arena, size_t pattern_count);
void scan_index_add(struct scan_index *index, size_t number, const struct pattern *pattern, bool case_fold);

/* The patterns of one word (0 <= word < words) that a name (not empty, with this last byte) could match. */
static inline uint64_t scan_index_candidates(const struct scan_index *index, size_t word, unsigned char first,
					     unsigned char last)
{
	return index->first[first * index->words + word] & index->last[last * index->words + word];
}

#endif

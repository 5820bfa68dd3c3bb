/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a class and matches one character in the same pass, so that compiler and matcher cannot
 * disagree. Never reads past `end`. */
#include "common/fs/pattern_class.h"

#include "common/format/unicode.h"

static const char unbalanced[] = "`[` without its `]`; write `\\[` for the character itself";

/* Reads one end of a range. */
static const char *class_member(const char **at, const char *end, uint32_t *member)
{
	if (**at == '\\')
		++*at;
	if (*at == end)
		return unbalanced;
	*at += unicode_decode(*at, end, member);
	return NULL;
}

static bool is_member(uint32_t low, uint32_t high, uint32_t character, bool case_fold)
{
	return case_fold ? unicode_range_folds(low, high, character) : character >= low && character <= high;
}

/* Reads `a` or `a-z`. A `-` before the closing bracket is a member. */
static const char *class_range(const char **at, const char *end, uint32_t *low, uint32_t *high)
{
	const char *problem = class_member(at, end, low);

	if (problem)
		return problem;
	*high = *low;
	if (end - *at < 2 || (*at)[0] != '-' || (*at)[1] == ']')
		return NULL;
	++*at;
	problem = class_member(at, end, high);
	if (!problem && *high < *low)
		return "a range in `[]` is reversed";
	return problem;
}

const char *pattern_class(const char **at, const char *end, uint32_t character, bool case_fold, bool *is_match)
{
	bool is_negated, is_found = false;

	++*at;
	is_negated = *at != end && (**at == '!' || **at == '^');
	if (is_negated)
		++*at;
	for (bool is_first = true;; is_first = false) {
		uint32_t low, high;
		const char *problem;
		if (*at == end)
			return unbalanced;
		if (**at == ']' && !is_first)
			break;
		/* Refused: read as members, [:alpha:] would be a class of the wrong letters. */
		if (**at == '[' && end - *at > 1 && ((*at)[1] == ':' || (*at)[1] == '.' || (*at)[1] == '='))
			return "named classes like `[:alpha:]` are not supported; write the range, as in `[a-z]`";
		problem = class_range(at, end, &low, &high);
		if (problem)
			return problem;
		is_found |= is_member(low, high, character, case_fold);
	}
	++*at;
	*is_match = is_found != is_negated;
	return NULL;
}

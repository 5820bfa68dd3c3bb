/* SPDX-License-Identifier: Apache-2.0 */
/* Path patterns: `*` and `?` within a component, `[a-z]` classes, `**` across components, `\` quotes the next byte. A pattern
 * without `/` matches a base name at any depth. Matching is on absolute, canonical paths, byte by byte; case_fold adds ASCII
 * and simple UTF-8 Latin/Greek/Cyrillic folding for case-insensitive file systems. No regular expressions, no backtracking
 * beyond O(pattern × path). */
#ifndef BERM_COMMON_PATTERN_H
#define BERM_COMMON_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "common/error.h"

struct pattern {
	const char *text; /* absolute pattern, normalised; for base-name patterns the bare name */
	bool is_base_name; /* no '/' in it: matches the last component anywhere */
	bool is_literal; /* no metacharacter */
	bool is_anywhere; /* relative in the policy's eyes (base name or leading double star): does not apply in files.system trees */
	bool is_directory_only; /* written with a trailing slash: matches directories only */
	size_t literal_prefix; /* bytes of text before the first component that has a metacharacter */
};

/* `text` is already expanded (~, $VAR) and `base` is the absolute directory that relative patterns with a slash start from.
 * Refuses: empty, `..` components, NUL, too long, unbalanced `[`, a single `\` at the end. */
int pattern_compile(struct arena *arena, const char *text, const char *base, struct pattern *pattern, struct error *err);

/* Does the pattern match exactly this path? */
bool pattern_matches(const struct pattern *pattern, const char *path, bool is_directory, bool case_fold);
/* Does it match the path or one of its ancestors (what lies below a matched directory is matched too)? Returns the length of
 * the matching prefix of path, 0 if none. Ancestors are taken as directories. */
size_t pattern_covers(const struct pattern *pattern, const char *path, bool is_directory, bool case_fold);
/* Could anything below this directory match? Used to skip subtrees when scanning. */
bool pattern_may_match_below(const struct pattern *pattern, const char *directory, bool case_fold);
/* Simple wildcard match for names without '/': environment variables ("LC_*"). */
bool pattern_matches_name(const char *pattern, const char *name);

#endif

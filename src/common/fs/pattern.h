/* SPDX-License-Identifier: Apache-2.0 */
/* Path patterns: `*` and `?` within a component, `[a-z]` and `[!a-z]` classes, `**` across components (none or more; at the end:
 * everything below), `\` quotes the next character. A leading dot is matched like any other byte. A pattern without `/` matches a
 * base name at any depth. Matching is on absolute, canonical paths, character by character (UTF-8; a byte that is not UTF-8 is a
 * character of its own), without normalisation; case_fold makes equal what a case-insensitive file system takes for one name: case,
 * composed and decomposed accents, characters that HFS+ ignores. No regular expressions, no backtracking beyond
 * O(pattern × path). */
#ifndef BERM_COMMON_FS_PATTERN_H
#define BERM_COMMON_FS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"

struct pattern {
	const char
		*text; /* absolute pattern, normalised; for base-name patterns the bare name; for a literal the path itself */
	bool is_base_name; /* no '/' in it: matches the last component anywhere */
	bool is_literal; /* no metacharacter */
	bool is_anywhere; /* relative in the policy's eyes (base name or leading double star): does not apply in files.system trees */
	bool is_directory_only; /* written with a trailing slash: matches directories only */
	/* Bytes of text before the first component that has a metacharacter: plain bytes, nothing in them is quoted or special. */
	size_t literal_prefix;
};

/* `text` is already expanded (~, $VAR) and `base` is the absolute directory that relative patterns with a slash start from.
 * Refuses: empty, `..` components, too long, unbalanced `[`, [:names:], reversed ranges, `***`, a `\` at the end of a
 * component. `base` is taken as it is; what was expanded into `text` from the environment has to go through pattern_quote. */
int pattern_compile(struct arena *arena, const char *text, const char *base, struct pattern *pattern, struct error *err);

/* The pattern text that matches exactly these bytes. */
char *pattern_quote(struct arena *arena, const char *text);

/* Does the pattern match exactly this path? */
bool pattern_matches(const struct pattern *pattern, const char *path, bool is_directory, bool case_fold);
/* The same for a base-name pattern (is_base_name) when the name is at hand without its directory. */
bool pattern_matches_base(const struct pattern *pattern, const char *name, bool is_directory, bool case_fold);
/* Does it match the path or one of its ancestors (what lies below a matched directory is matched too)? Returns the length of
 * the matching prefix of path, 0 if none. Ancestors are taken as directories. */
size_t pattern_covers(const struct pattern *pattern, const char *path, bool is_directory, bool case_fold);
/* Could anything below this directory match? Used to skip subtrees when scanning. */
bool pattern_may_match_below(const struct pattern *pattern, const char *directory, bool case_fold);
/* Simple wildcard match for names without '/': environment variables ("LC_*"). */
bool pattern_matches_name(const char *pattern, const char *name);

#endif

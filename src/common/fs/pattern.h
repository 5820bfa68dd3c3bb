/* SPDX-License-Identifier: Apache-2.0 */
/* Path patterns. `*` and `?` match within a component, `[a-z]` and `[!a-z]` are classes, `**`
 * matches any number of components and at the end everything below, `\` quotes the next character.
 * A leading dot is an ordinary character. A pattern without `/` matches a base name at any depth.
 *
 * Paths are absolute and canonical and are matched by character (UTF-8; an invalid byte is one
 * character) without normalisation. case_fold ignores the differences that a case-insensitive file
 * system ignores: case, composed and decomposed accents, characters that HFS+ drops. Matching takes
 * at most O(pattern × path) steps. Never opens a file. */
#ifndef BERM_COMMON_FS_PATTERN_H
#define BERM_COMMON_FS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"

struct pattern {
	const char
		/* Normalised and absolute; the bare name if is_base_name; the path if
		 * is_literal. */
		*text;
	bool is_base_name; /* without '/': matches the last component anywhere */
	bool is_literal; /* without metacharacters */
	bool is_anywhere; /* base name or leading `**`: does not apply in files.system trees */
	bool is_directory_only; /* with a trailing slash: matches directories only */
	/* Length of text before the first component with a metacharacter. Nothing in it is quoted
	 * or special. */
	size_t literal_prefix;
};

/* Compiles `text`, in which ~ and $VAR are already expanded. `base` is the absolute directory of
 * relative patterns with a slash and is used literally. Values of the environment must go through
 * pattern_quote before. Refuses empty and over-long patterns, `..` components, unbalanced `[`,
 * [:names:], reversed ranges, `***`, and `\` at the end of a component. */
int pattern_compile(struct arena *arena, const char *text, const char *base, struct pattern *pattern, struct error *err);

/* True if pattern_compile would start this text at `base`: a dot, or relative with a slash that is
 * not its last character. */
bool pattern_uses_base(const char *text);

/* Returns the pattern that matches exactly these bytes. */
char *pattern_quote(struct arena *arena, const char *text);

/* True if the pattern matches this path itself. */
bool pattern_matches(const struct pattern *pattern, const char *path, bool is_directory, bool case_fold);
/* The same for a pattern with is_base_name, when only the name is at hand. */
bool pattern_matches_base(const struct pattern *pattern, const char *name, bool is_directory, bool case_fold);
/* Returns the length of the shortest prefix of `path` that matches: the path or one of its
 * ancestors, which are directories. 0 if none matches. */
size_t pattern_covers(const struct pattern *pattern, const char *path, bool is_directory, bool case_fold);
/* True if an entry below this directory could match. A scan skips other subtrees. */
bool pattern_may_match_below(const struct pattern *pattern, const char *directory, bool case_fold);
/* Matches a name without '/', such as an environment variable ("LC_*"). */
bool pattern_matches_name(const char *pattern, const char *name);

#endif

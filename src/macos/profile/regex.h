/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns as regular expressions. Uses only syntax whose meaning is certain in Seatbelt's matcher:
 * plain characters, bracket classes, groups, `|`, `*`, `+`, `?`, a leading `^`, a final `$`. Never
 * a backslash, quote, `.` or brace; ASCII only. Case is folded by classes.
 *
 * The caller chooses whether an inexact expression is wider or narrower than the pattern: a denial
 * is never narrower than its pattern, an exception never wider. */
#ifndef BERM_MACOS_PROFILE_REGEX_H
#define BERM_MACOS_PROFILE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "common/fs/pattern.h"
#include "common/base/text.h"

enum regex_width { REGEX_WIDE, REGEX_NARROW };

/* One name in a pattern. */
struct regex_part {
	const char *start, *end;
	bool is_plain; /* no character of it is special */
	bool is_gap; /* `**`: any number of names, including none */
};

/* A pattern as a list of names. */
struct regex_shape {
	struct regex_part *items;
	size_t count;
	bool is_anchored; /* starts at the root; else matches anywhere, without a leading gap */
	bool is_directory_only;
};

struct regex_shape regex_shape(struct arena *arena, const struct pattern *pattern);

/* Adds the names from `first` to before `end`, each after a slash: "/a/b". Returns false if there
 * is no narrow expression; the caller then discards the text. */
bool regex_add_parts(struct text *out, const struct regex_shape *shape, size_t first, size_t end, enum regex_width width);
/* Adds one name without a slash; returns as above. */
bool regex_add_part(struct text *out, const struct regex_part *part, enum regex_width width);
/* Adds the names of a path, "/a/b"; nothing for the root. Wide. */
void regex_add_path(struct text *out, const char *path);
/* Matches any number of directories between two names. */
extern const char regex_any_depth[];

/* True if the part has no wildcard, class or quoted character. */
bool regex_part_is_simple(const struct regex_part *part);
/* True if the part may match this name, which is plain text. */
bool regex_part_matches(const struct regex_part *part, const char *name, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns as regular expressions that Seatbelt's matcher takes for what they are, whatever it thinks of the rest of the syntax:
 * plain characters, bracket classes, groups, `|`, `*`, `+`, `?`, a leading `^`, a `$` at the end. No backslash, no quote, no `.`,
 * no braces, ASCII only. Case is folded by classes.
 *
 * What cannot be said exactly is said wider or narrower, and the caller chooses: a denial is never narrower than its pattern, an
 * exception never wider. */
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
	bool is_plain; /* nothing in it is special */
	bool is_gap; /* `**`: any number of names, also none */
};

/* A pattern as a list of names. */
struct regex_shape {
	struct regex_part *items;
	size_t count;
	bool is_anchored; /* starts at the root; else anywhere, and the leading gap is not among the parts */
	bool is_directory_only;
};

struct regex_shape regex_shape(struct arena *arena, const struct pattern *pattern);

/* The names from first to before end, each after a slash: "/a/b". False if REGEX_NARROW cannot say it; what was added then is to
 * be thrown away. */
bool regex_add_parts(struct text *out, const struct regex_shape *shape, size_t first, size_t end, enum regex_width width);
/* One name without its slash. */
bool regex_add_part(struct text *out, const struct regex_part *part, enum regex_width width);
/* A path, exactly these names: "/a/b", for the root "". Wide. */
void regex_add_path(struct text *out, const char *path);
/* Any number of whole directories between two names. */
extern const char regex_any_depth[];

/* May the name (wholly plain) be one that the part matches? */
bool regex_part_matches(const struct regex_part *part, const char *name, size_t length);

#endif

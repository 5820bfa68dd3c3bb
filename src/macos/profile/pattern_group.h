/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns that share a form of the profile, and the parts of such a form. Between patterns.c,
 * pattern_forms.c and pattern_below.c only. */
#ifndef BERM_MACOS_PROFILE_PATTERN_GROUP_H
#define BERM_MACOS_PROFILE_PATTERN_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "macos/profile/internal.h"
#include "macos/profile/regex.h"

/* Long lists are split: the profile compiler's limit for one form is not documented. */
enum {
	FILTERS_IN_FORM = 40,
	NAMES_IN_REGEX = 12,
	FORM_BYTES = 6000, /* of filters; the exclusions at the end of a form come on top */
};

/* The filter vnode-type exists for file-* only: with another operation in the form the compiler may
 * refuse the whole profile. A form with such a filter is written twice, the second time for the
 * other operations without the filter. These do not apply to a directory anyway. */
enum form { FORM_ALL, FORM_TYPED, FORM_UNTYPED, FORMS };

struct entry {
	const struct plan_pattern *item;
	struct regex_shape shape;
};

struct entries {
	struct entry *items;
	size_t count;
};

/* Patterns of one form. */
struct group {
	struct profile_writer *writer;
	const char *const *operations; /* by enum form */
	enum form form; /* the open one */
	size_t start; /* where it begins in the text */
	bool is_deny;
	bool is_anywhere;
	enum layer layer;
	struct entries entries;
	const char *left_out; /* a path that the patterns do not apply to, or NULL */
	const char *within; /* the patterns apply below this path only, or NULL */
	bool is_alone; /* one pattern, some of whose names have exceptions of their own */
};

/* The exclusions of a form besides private directories and software: the paths of exceptions, the
 * grants that exceptions cover, or nothing. */
enum omission { OMIT_EXCEPTIONS, OMIT_GRANTS, OMIT_NOTHING };

/* True if the exception applies to patterns of the group, by their layers. */
bool group_reaches(const struct group *group, const struct rule *except);
/* True if the exception may cover a path that a pattern of the group covers. In doubt true. */
bool group_may_meet(const struct group *group, const struct pattern *exception);
/* True if some names of the denied pattern have exceptions of their own. */
bool group_has_own_exception(const struct group *group, const struct plan_pattern *denied);
/* True if the pattern is a single path. */
bool group_is_path(const struct pattern *pattern);
/* True if one of the first `end` parts is a `**`. */
bool group_has_gap(const struct regex_shape *shape, size_t end);

void group_open_form(struct group *group);
void group_close_form(struct group *group, enum omission omission);
bool group_is_full(const struct group *group);
/* Continues in a new form if the open one is long. */
void group_split_form(struct group *group, enum omission omission);
/* Adds the pattern and everything below a match. A pattern for directories matches the name itself
 * only if it is a directory, which only FORM_TYPED can express. Returns false if there is no narrow
 * expression. */
bool group_add_covered(const struct group *group, const struct regex_shape *shape, const char *within, enum regex_width width);
void group_close_regex(struct profile_writer *writer, const char *end);

/* Writes the parts (2) and (3) of a denial, see patterns.c. */
void group_write_other_parts(struct group *group);

#endif

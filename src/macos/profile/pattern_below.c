/* SPDX-License-Identifier: Apache-2.0 */
/* The parts (2) and (3) of a denial, see patterns.c: paths that an exception covers below a denied
 * name. */
#include "macos/profile/pattern_group.h"

static bool is_relative(const struct regex_shape *shape)
{
	return !shape->is_anchored;
}

/* Adds up to `most` of the patterns that match anywhere as alternatives; with has_slash without
 * their leading slash. Returns the index of the next entry. */
static size_t add_alternatives(struct text *out, const struct entries *entries, size_t first, size_t most, bool has_slash)
{
	size_t at = first, count = 0;
	text_add(out, "(");
	for (; at < entries->count && count < most; at++) {
		struct text one = { 0 };
		if (!is_relative(&entries->items[at].shape))
			continue;
		regex_add_parts(&one, &entries->items[at].shape, 0, entries->items[at].shape.count, REGEX_WIDE);
		text_add(out, "%s%s", count > 0 ? "|" : "", one.data + (has_slash ? 1 : 0));
		text_free(&one);
		count++;
	}
	text_add(out, ")");
	return at;
}

static size_t count_relative(const struct entries *entries)
{
	size_t count = 0;
	for (size_t i = 0; i < entries->count; i++)
		count += is_relative(&entries->items[i].shape);
	return count;
}

static struct entries reaching_exceptions(const struct group *group)
{
	const struct plan_patterns *except = &group->writer->plan->except;
	struct entries found = { 0 };
	for (size_t i = 0; i < except->count; i++)
		if (group_reaches(group, except->items[i].rule))
			*arena_push(group->writer->arena, &found) =
				(struct entry){ &except->items[i],
						regex_shape(group->writer->arena, &except->items[i].pattern) };
	return found;
}

/* Part (2) for patterns that start at the root: one expression each. */
static void add_below_anchored(struct group *group, const struct entries *except)
{
	struct profile_writer *writer = group->writer;
	for (size_t i = 0; i < group->entries.count; i++) {
		const struct regex_shape *shape = &group->entries.items[i].shape;
		if (is_relative(shape))
			continue;
		group_split_form(group, OMIT_GRANTS);
		text_add(&writer->out, "      (regex #\"^");
		regex_add_parts(&writer->out, shape, 0, shape->count, REGEX_WIDE);
		text_add(&writer->out, "/%s", regex_any_depth);
		add_alternatives(&writer->out, except, 0, except->count, true);
		group_close_regex(writer, "($|/)");
		text_add(&writer->out, "\n");
	}
}

/* Part (2). */
static void add_below(struct group *group, const struct entries *except)
{
	struct profile_writer *writer = group->writer;
	size_t relative = count_relative(&group->entries), at = 0;
	for (size_t done = 0; done < relative; done += NAMES_IN_REGEX) {
		group_split_form(group, OMIT_GRANTS);
		text_add(&writer->out, "      (regex #\"");
		at = add_alternatives(&writer->out, &group->entries, at, NAMES_IN_REGEX, false);
		text_add(&writer->out, "/%s", regex_any_depth);
		add_alternatives(&writer->out, except, 0, except->count, true);
		group_close_regex(writer, "($|/)");
		text_add(&writer->out, "\n");
	}
	add_below_anchored(group, except);
}

/* Part (3): the names of the exception with the denied name at `at`, or within the gap at `at`. At
 * the first name of an exception that matches anywhere, the other names of the denied pattern
 * precede it. */
static void add_shared_name(struct profile_writer *writer, const struct regex_shape *except, size_t at,
			    const struct regex_shape *denied)
{
	const struct regex_part *part = &except->items[at], *last = &denied->items[denied->count - 1];
	const struct regex_shape *before = at == 0 && !except->is_anchored ? denied : except;
	size_t end = before == denied ? denied->count - 1 : at;
	const char *gap = part->is_gap ? regex_any_depth : "";
	struct text rest = { 0 };

	text_add(&writer->out, "      (regex #\"%s", before->is_anchored ? "^" : "");
	regex_add_parts(&writer->out, before, 0, end, REGEX_WIDE);
	/* The expression of a gap ends with a slash. */
	text_add(&writer->out, "%s%s", end > 0 && before->items[end - 1].is_gap ? "" : "/", gap);
	regex_add_part(&writer->out, regex_part_is_simple(part) && !part->is_gap ? part : last, REGEX_WIDE);
	text_add(&writer->out, "/%s", gap);
	regex_add_parts(&rest, except, at + 1, except->count, REGEX_WIDE);
	text_add(&writer->out, "%s", rest.data + 1);
	text_free(&rest);
	group_close_regex(writer, "($|/)");
	text_add(&writer->out, "\n");
}

static bool part_matches(const struct regex_part *part, const struct regex_part *name)
{
	return regex_part_matches(part, name->start, (size_t)(name->end - name->start));
}

/* True if the denied pattern may match the names of the exception up to `at`. In doubt true. */
static bool may_share(const struct regex_shape *denied, const struct regex_shape *except, size_t at)
{
	bool is_fixed = denied->is_anchored && except->is_anchored && !group_has_gap(denied, denied->count) &&
			!group_has_gap(except, at + 1);
	const struct regex_part *part = &except->items[at];

	if (is_fixed && denied->count != at + 1)
		return false;
	for (size_t i = 0; is_fixed && i < at; i++)
		if (regex_part_is_simple(&except->items[i]) && !part_matches(&denied->items[i], &except->items[i]))
			return false;
	if (part->is_gap || !regex_part_is_simple(part))
		return true;
	return part_matches(&denied->items[denied->count - 1], part);
}

/* True if the pattern denies something above an exception that is a single path. */
static bool is_below_denied(const struct group *group, const struct entry *denied, const struct entry *except)
{
	const char *parent = path_parent(group->writer->arena, except->item->pattern.text);
	return pattern_covers(&denied->item->pattern, parent, true, true) > 0;
}

static size_t add_shared(struct group *group, const struct entries *except, bool is_counting)
{
	size_t count = 0;
	for (size_t i = 0; i < group->entries.count; i++) {
		const struct entry *denied = &group->entries.items[i];
		for (size_t k = 0; k < except->count; k++) {
			const struct entry *exception = &except->items[k];
			if (group_is_path(&exception->item->pattern) && !is_below_denied(group, denied, exception))
				continue;
			for (size_t at = 0; at + 1 < exception->shape.count; at++) {
				if (!may_share(&denied->shape, &exception->shape, at))
					continue;
				if (!is_counting) {
					group_split_form(group, OMIT_GRANTS);
					add_shared_name(group->writer, &exception->shape, at, &denied->shape);
				}
				count++;
			}
		}
	}
	return count;
}

void group_write_other_parts(struct group *group)
{
	struct entries except = reaching_exceptions(group);
	bool has_below = count_relative(&except) > 0;
	if (!has_below && add_shared(group, &except, true) == 0)
		return;
	text_add(&group->writer->out, "; an exception does not apply below a denied name\n");
	group_open_form(group);
	if (has_below)
		add_below(group, &except);
	add_shared(group, &except, false);
	text_add(&group->writer->out, "    ");
	group_close_form(group, OMIT_GRANTS);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One form of the profile: its beginning, its filters, and its end with the paths that it leaves
 * out: private directories, software, exceptions. */
#include "macos/profile/pattern_group.h"

#include <string.h>
#include <strings.h>

bool group_reaches(const struct group *group, const struct rule *except)
{
	if (!group->is_deny)
		return false;
	return group->layer == LAYER_FLOOR ? except->layer == LAYER_FLOOR : except->layer >= group->layer;
}

/* Opens `(regex #"...")`; the caller adds the expression. */
static void open_regex(struct profile_writer *writer)
{
	text_add(&writer->out, "(regex #\"");
}

void group_close_regex(struct profile_writer *writer, const char *end)
{
	text_add(&writer->out, "%s\")", end);
}

bool group_add_covered(const struct group *group, const struct regex_shape *shape, const char *within, enum regex_width width)
{
	struct profile_writer *writer = group->writer;
	struct text regex = { 0 };
	bool is_possible;

	if (within) {
		text_add(&regex, "^");
		regex_add_path(&regex, within);
		text_add(&regex, "/([^/]+/)*");
	} else if (shape->is_anchored) {
		text_add(&regex, "^");
	}
	size_t start = regex.length;
	is_possible = regex_add_parts(&regex, shape, 0, shape->count, width);
	if (is_possible) {
		/* `within` ends with the slash already. */
		if (within)
			memmove(regex.data + start, regex.data + start + 1, regex.length - start);
		open_regex(writer);
		text_add(&writer->out, "%s", regex.data);
		group_close_regex(writer, shape->is_directory_only ? "/" : "($|/)");
		if (shape->is_directory_only && group->form == FORM_TYPED)
			text_add(&writer->out, "\n      (require-all (vnode-type DIRECTORY) (regex #\"%s$\"))", regex.data);
	}
	text_free(&regex);
	return is_possible;
}

/* Adds the software trees, in which patterns that match anywhere do not apply. The innermost grant
 * decides whether a path is in one. */
static void add_software(struct profile_writer *writer)
{
	const struct plan_grants *grants = &writer->plan->grants;
	for (size_t i = 0; i < grants->count; i++) {
		bool is_split = false;
		if (grants->items[i].kind != GRANT_SYSTEM)
			continue;
		for (size_t k = 0; k < grants->count; k++) {
			if (k == i || grants->items[k].kind == GRANT_SYSTEM ||
			    !path_is_within(grants->items[k].path, grants->items[i].path))
				continue;
			text_add(&writer->out, "%s", is_split ? " " : "\n      (require-all ");
			if (!is_split) {
				profile_path(writer, "subpath", grants->items[i].path);
				text_add(&writer->out, " (require-not (require-any ");
			}
			profile_path(writer, "subpath", grants->items[k].path);
			is_split = true;
		}
		if (is_split) {
			text_add(&writer->out, ")))");
			continue;
		}
		text_add(&writer->out, "\n      ");
		profile_path(writer, "subpath", grants->items[i].path);
	}
}

bool group_is_path(const struct pattern *pattern)
{
	return pattern->is_literal && !pattern->is_base_name;
}

static bool have_same_start(const struct pattern *left, const struct pattern *right)
{
	size_t length = left->literal_prefix < right->literal_prefix ? left->literal_prefix : right->literal_prefix;
	return strncasecmp(left->text, right->text, length) == 0;
}

bool group_may_meet(const struct group *group, const struct pattern *exception)
{
	const struct plan *plan = group->writer->plan;
	const struct plan_grant *grant;
	if (exception->is_anywhere)
		return true;
	if (group->is_anywhere) {
		/* Such patterns do not apply in software. */
		grant = group_is_path(exception) ? plan_grant_for(plan, exception->text) : NULL;
		return !grant || grant->kind != GRANT_SYSTEM;
	}
	for (size_t i = 0; i < group->entries.count; i++)
		if (have_same_start(&group->entries.items[i].item->pattern, exception))
			return true;
	return group->entries.count == 0;
}

static void add_exception(struct group *group, const struct plan_pattern *item)
{
	struct profile_writer *writer = group->writer;
	struct regex_shape shape;
	struct text probe = { 0 };
	bool is_possible;
	text_add(&writer->out, "\n");
	profile_comment(writer, "      ", item->rule);
	text_add(&writer->out, "      ");
	if (group_is_path(&item->pattern) && !item->pattern.is_directory_only) {
		profile_path(writer, "subpath", item->pattern.text);
		return;
	}
	shape = regex_shape(writer->arena, &item->pattern);
	is_possible = regex_add_parts(&probe, &shape, 0, shape.count, REGEX_NARROW);
	text_free(&probe);
	if (is_possible)
		group_add_covered(group, &shape, NULL, REGEX_NARROW);
	else
		text_add(&writer->out, "; a profile cannot express it: stays denied");
}

static void add_exceptions(struct group *group)
{
	const struct plan_patterns *except = &group->writer->plan->except;
	for (size_t i = 0; i < except->count; i++)
		if (group_reaches(group, except->items[i].rule) && group_may_meet(group, &except->items[i].pattern))
			add_exception(group, &except->items[i]);
}

bool group_has_gap(const struct regex_shape *shape, size_t end)
{
	for (size_t i = 0; i < end; i++)
		if (shape->items[i].is_gap)
			return true;
	return false;
}

/* True if the exception is for names that the pattern denies itself, not for names below one: both
 * start at the root, have the same number of names and no `**`. */
static bool is_for_name_itself(const struct group *group, const struct plan_pattern *denied, const struct plan_pattern *item)
{
	struct arena *arena = group->writer->arena;
	struct regex_shape shape, other;
	if (denied->pattern.is_anywhere || item->pattern.is_anywhere || !group_reaches(group, item->rule) ||
	    !have_same_start(&denied->pattern, &item->pattern))
		return false;
	shape = regex_shape(arena, &denied->pattern);
	other = regex_shape(arena, &item->pattern);
	return shape.count == other.count && !group_has_gap(&shape, shape.count) && !group_has_gap(&other, other.count);
}

bool group_has_own_exception(const struct group *group, const struct plan_pattern *denied)
{
	const struct plan_patterns *except = &group->writer->plan->except;
	for (size_t i = 0; i < except->count; i++)
		if (is_for_name_itself(group, denied, &except->items[i]))
			return true;
	return false;
}

/* Adds the exceptions for the names of the one pattern. Below such a name it denies nothing. */
static void add_own_exceptions(struct group *group)
{
	const struct plan_patterns *except = &group->writer->plan->except;
	for (size_t i = 0; i < except->count; i++)
		if (is_for_name_itself(group, group->entries.items[0].item, &except->items[i]))
			add_exception(group, &except->items[i]);
}

/* Adds grants that an exception covers: no denied name is above the exception there. */
static void add_excepted_grants(struct group *group)
{
	const struct plan *plan = group->writer->plan;
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		bool is_covered = false;
		for (size_t k = 0; k < plan->except.count && !is_covered; k++)
			is_covered = group_reaches(group, plan->except.items[k].rule) &&
				     pattern_covers(&plan->except.items[k].pattern, grant->path, grant->type == FILE_DIRECTORY,
						    true);
		if (!is_covered)
			continue;
		text_add(&group->writer->out, "\n      ");
		profile_path(group->writer, "subpath", grant->path);
	}
}

void group_open_form(struct group *group)
{
	group->start = group->writer->out.length;
	text_add(&group->writer->out, "(deny %s\n  (require-all\n    (require-any\n", group->operations[group->form]);
}

void group_close_form(struct group *group, enum omission omission)
{
	struct profile_writer *writer = group->writer;
	text_add(&writer->out, ")\n    (require-not (require-any\n      ");
	profile_private_paths(writer);
	/* Below the state directory, which is denied; write_own() grants reading only. */
	text_add(&writer->out, " ");
	profile_path(writer, "subpath", writer->plan->state.documents);
	if (group->left_out) {
		text_add(&writer->out, "\n      ");
		profile_path(writer, "subpath", group->left_out);
	}
	if (group->is_anywhere)
		add_software(writer);
	if (omission == OMIT_EXCEPTIONS)
		add_exceptions(group);
	else if (omission == OMIT_GRANTS)
		add_excepted_grants(group);
	if (omission == OMIT_GRANTS && group->is_alone)
		add_own_exceptions(group);
	text_add(&writer->out, "\n    )))");
	profile_end_deny(writer);
}

bool group_is_full(const struct group *group)
{
	return group->writer->out.length - group->start > FORM_BYTES;
}

void group_split_form(struct group *group, enum omission omission)
{
	if (!group_is_full(group))
		return;
	text_add(&group->writer->out, "    ");
	group_close_form(group, omission);
	group_open_form(group);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* files.deny and files.protect as denials. A matched name covers everything below it. Software
 * trees and the command's private directories are excluded as the policy language defines.
 *
 * An exception applies to the matched name itself, never to a denied name below it. A regular
 * expression cannot express that order, so a denial has three parts:
 *   (1) paths that a pattern covers and no exception covers;
 *   (2) paths that an exception covers below a denied name;
 *   (3) the same if both patterns share a name.
 * Only part (1) uses exceptions, with narrow expressions; all denials use wide ones. So the profile
 * denies at least what evaluate.c denies. */
#include "macos/profile/pattern_group.h"

#include <string.h>

static const char *const deny_operations[FORMS] = {
	"file-read* file-write* file-link file-clone file-map-executable process-exec*\n  network-inbound network-outbound",
	"file-read* file-write* file-link file-clone file-map-executable",
	"process-exec* network-inbound network-outbound",
};
/* A link would be another name for writing. network-bind, which creates a socket, needs
 * network-inbound. */
static const char *const protect_operations[FORMS] = {
	"file-write* file-link file-clone network-inbound",
	"file-write* file-link file-clone",
	"network-inbound",
};

static void write_first_part_as(struct group *group, enum form form)
{
	struct profile_writer *writer = group->writer;
	group->form = form;
	group_open_form(group);
	for (size_t i = 0; i < group->entries.count; i++) {
		group_split_form(group, OMIT_EXCEPTIONS);
		profile_comment(writer, "      ", group->entries.items[i].item->rule);
		text_add(&writer->out, "      ");
		group_add_covered(group, &group->entries.items[i].shape, group->within, REGEX_WIDE);
		text_add(&writer->out, "\n");
	}
	text_add(&writer->out, "    ");
	group_close_form(group, OMIT_EXCEPTIONS);
	group->form = FORM_ALL;
}

/* True if one of the patterns or exceptions is for directories only. */
static bool needs_type(const struct group *group)
{
	const struct plan_patterns *except = &group->writer->plan->except;
	for (size_t i = 0; i < group->entries.count; i++)
		if (group->entries.items[i].shape.is_directory_only)
			return true;
	for (size_t i = 0; i < except->count; i++)
		if (except->items[i].pattern.is_directory_only && group_reaches(group, except->items[i].rule) &&
		    group_may_meet(group, &except->items[i].pattern))
			return true;
	return false;
}

static void write_first_part(struct group *group)
{
	if (!needs_type(group)) {
		write_first_part_as(group, FORM_ALL);
		return;
	}
	write_first_part_as(group, FORM_TYPED);
	write_first_part_as(group, FORM_UNTYPED);
}

static void write_group(struct group *group)
{
	if (group->entries.count == 0)
		return;
	write_first_part(group);
	group_write_other_parts(group);
	group->entries.count = 0;
	group->entries.items = NULL;
}

/* Returns a path that this pattern does not apply to although it matches, or NULL: a lifted path,
 * or a grant inside software whose name matches. */
static const char *find_exempt_path(const struct group *group, const struct plan_pattern *item, size_t *next)
{
	const struct plan *plan = group->writer->plan;
	for (; *next < plan->lifted.count + plan->grants.count; ++*next) {
		const struct plan_grant *grant;
		if (*next < plan->lifted.count) {
			const char *lifted = plan->lifted.items[*next].pattern.text;
			if (!group->is_deny && plan_may_lift(plan->lifted.items[*next].rule, item->rule) &&
			    pattern_matches(&item->pattern, lifted, true, true))
				return lifted;
			continue;
		}
		grant = &plan->grants.items[*next - plan->lifted.count];
		if (item->pattern.is_anywhere && grant->kind != GRANT_SYSTEM &&
		    pattern_covers(&item->pattern, path_parent(plan->arena, grant->path), true, true))
			return grant->path;
	}
	return NULL;
}

static void push_entry(struct group *group, const struct plan_pattern *item)
{
	*arena_push(group->writer->arena, &group->entries) =
		(struct entry){ item, regex_shape(group->writer->arena, &item->pattern) };
}

/* Writes one pattern alone: first without that path, then only below it. An anchored pattern
 * without `**` cannot match again below the path; of one with `**` the last name is used. */
static void write_around(const struct group *common, const struct plan_pattern *item, const char *exempt)
{
	struct group group = *common;
	struct regex_shape *shape;
	group.entries = (struct entries){ 0 };
	group.left_out = exempt;
	push_entry(&group, item);
	write_group(&group);
	group.left_out = NULL;
	group.within = exempt;
	push_entry(&group, item);
	shape = &group.entries.items[0].shape;
	if (shape->is_anchored && !group_has_gap(shape, shape->count))
		return;
	if (shape->is_anchored) {
		shape->items += shape->count - 1;
		shape->count = 1;
		shape->is_anchored = false;
	}
	write_group(&group);
}

/* Writes one pattern alone, if some of its names have exceptions of their own. */
static bool write_alone(const struct group *common, const struct plan_pattern *item)
{
	struct group group = *common;
	if (!group.is_deny || !group_has_own_exception(&group, item))
		return false;
	group.entries = (struct entries){ 0 };
	group.is_alone = true;
	push_entry(&group, item);
	write_group(&group);
	return true;
}

static void write_list(struct group *group, const struct plan_patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++) {
		const struct plan_pattern *item = &patterns->items[i];
		const char *exempt;
		size_t next = 0;
		if (group_is_path(&item->pattern) || item->rule->layer != group->layer ||
		    item->pattern.is_anywhere != group->is_anywhere)
			continue;
		exempt = find_exempt_path(group, item, &next);
		if (exempt) {
			write_around(group, item, exempt);
			continue;
		}
		if (write_alone(group, item))
			continue;
		push_entry(group, item);
		if (group->entries.count == FILTERS_IN_FORM)
			write_group(group);
	}
	write_group(group);
}

/* True if the name may also exist in another spelling: it is not ASCII, or the command can create
 * it. The kernel's case folding is not relied upon then. */
static bool needs_regex(const struct plan *plan, const char *path)
{
	for (const char *at = path; *at; at++)
		if (*at < ' ' || *at > '~')
			return true;
	return plan_is_writable(plan, path);
}

static void add_spelled_out(const struct group *group, const struct rule *rule, const struct pattern *pattern)
{
	struct profile_writer *writer = group->writer;
	profile_comment(writer, "      ", rule);
	text_add(&writer->out, "      ");
	if (!pattern->is_directory_only)
		profile_path(writer, "subpath", pattern->text);
	if (pattern->is_directory_only || needs_regex(writer->plan, pattern->text)) {
		struct regex_shape shape = regex_shape(writer->arena, pattern);
		if (shape.count > 0) {
			text_add(&writer->out, " ");
			group_add_covered(group, &shape, NULL, REGEX_WIDE);
		}
	}
	text_add(&writer->out, "\n");
}

/* True if the pattern is a single path and applies to it. */
static bool applies(const struct group *group, const struct plan_pattern *item)
{
	const struct plan *plan = group->writer->plan;
	if (!group_is_path(&item->pattern))
		return false;
	return group->is_deny ? plan_deny_applies(plan, item, item->pattern.text, false)
			      : plan_protect_applies(plan, item, item->pattern.text, false);
}

/* True for a match of the scan without a pattern: another hard link of a hidden file, the target of
 * a symlink, a socket of the host. */
static bool is_unnamed(const struct group *group, const struct plan_match *match)
{
	const struct plan *plan = group->writer->plan;
	bool is_directory = match->type == FILE_DIRECTORY;
	return group->is_deny ? !plan_denied_by(plan, match->path, is_directory)
			      : !plan_protected_by(plan, match->path, is_directory);
}

/* Adds a filter. Opens a form before the first one, and a new form after FILTERS_IN_FORM of
 * them. */
static void add_to_form(struct group *group, size_t *count, const struct rule *rule, const struct pattern *pattern)
{
	if (*count == FILTERS_IN_FORM || (*count > 0 && group_is_full(group))) {
		text_add(&group->writer->out, "    ");
		group_close_form(group, OMIT_NOTHING);
		*count = 0;
	}
	if ((*count)++ == 0)
		group_open_form(group);
	add_spelled_out(group, rule, pattern);
}

static void add_unnamed(struct group *group, size_t *count, const struct plan_matches *matches)
{
	for (size_t i = 0; i < matches->count; i++) {
		struct pattern literal = { .text = matches->items[i].path, .is_literal = true };
		literal.literal_prefix = strlen(literal.text);
		if (is_unnamed(group, &matches->items[i]))
			add_to_form(group, count, matches->items[i].rule, &literal);
	}
}

/* FORM_ALL has the paths of any type and the matches, the other forms the paths of directories. */
static void write_spelled_out(struct group *group, const struct plan_patterns *patterns, const struct plan_matches *matches)
{
	group->is_anywhere = false;
	for (int form = FORM_ALL; form < FORMS; form++) {
		size_t count = 0;
		group->form = (enum form)form;
		for (size_t i = 0; i < patterns->count; i++)
			if (patterns->items[i].pattern.is_directory_only == (form != FORM_ALL) &&
			    applies(group, &patterns->items[i]))
				add_to_form(group, &count, patterns->items[i].rule, &patterns->items[i].pattern);
		if (form == FORM_ALL)
			add_unnamed(group, &count, matches);
		if (count == 0)
			continue;
		text_add(&group->writer->out, "    ");
		group_close_form(group, OMIT_NOTHING);
	}
	group->form = FORM_ALL;
}

static void write_patterns(struct group *group, const struct plan_patterns *patterns, const struct plan_matches *matches)
{
	for (int layer = LAYER_FLOOR; layer <= LAYER_COMMAND_LINE; layer++) {
		group->layer = (enum layer)layer;
		group->is_anywhere = true;
		write_list(group, patterns);
		group->is_anywhere = false;
		write_list(group, patterns);
	}
	write_spelled_out(group, patterns, matches);
}

void profile_write_protect(struct profile_writer *writer)
{
	struct group group = { .writer = writer, .operations = protect_operations };
	text_add(&writer->out, "\n; Protected: readable, neither changed nor created.\n");
	write_patterns(&group, &writer->plan->protect, &writer->plan->scan->locked);
}

void profile_write_deny(struct profile_writer *writer)
{
	struct group group = { .writer = writer, .operations = deny_operations, .is_deny = true };
	text_add(&writer->out, "\n; Denied: last, so that nothing above grants it.\n");
	write_patterns(&group, &writer->plan->deny, &writer->plan->scan->masked);
}

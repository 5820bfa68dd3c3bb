/* SPDX-License-Identifier: Apache-2.0 */
/* files.deny and files.protect as denials. A name that a pattern matches covers what lies below it; trees of software and the
 * command's own places are left out where the language says so.
 *
 * An exception opts out of what was matched, never of something below it. A regular expression cannot say "the exception comes
 * first", so a denial comes in parts: (1) what a pattern covers and no exception does; (2) what an exception covers below a name
 * that is denied; (3) the same where both patterns share a name. Of the parts only (1) uses exceptions, said narrowly; all
 * denials are said widely. So what comes out denies at least what explain.c denies. */
#include "macos/profile/internal.h"

#include <string.h>

#include "common/scan/scan.h"
#include "macos/profile/regex.h"

/* Long lists are split: what the compiler of profiles takes in one form is not documented. */
enum { FILTERS_IN_FORM = 40, NAMES_IN_REGEX = 12 };

static const char deny_operations[] = "file-read* file-write* file-link file-clone file-map-executable process-exec*\n"
				      "  network-inbound network-outbound";
/* A link to it would be another name to write by; a socket is made by network-bind, which asks network-inbound. */
static const char protect_operations[] = "file-write* file-link file-clone network-inbound";

struct entry {
	const struct plan_pattern *item;
	struct regex_shape shape;
};

struct entries {
	struct entry *items;
	size_t count;
};

/* One form's worth of patterns. */
struct group {
	struct profile_writer *writer;
	const char *operations;
	bool is_deny;
	bool is_anywhere;
	enum layer layer;
	struct entries entries;
	const char *left_out; /* a path that these patterns do not apply to, or NULL */
	const char *within; /* they apply below this path only, or NULL */
};

static bool reaches(const struct group *group, const struct rule *except)
{
	if (!group->is_deny)
		return false;
	return group->layer == LAYER_FLOOR ? except->layer == LAYER_FLOOR : except->layer >= group->layer;
}

/* `(regex #"...")`; the caller writes the inside. */
static void open_regex(struct profile_writer *writer)
{
	text_add(&writer->out, "(regex #\"");
}

static void close_regex(struct profile_writer *writer, const char *end)
{
	text_add(&writer->out, "%s\")", end);
}

/* The pattern and what it covers. A pattern for directories matches the name itself only if that is one. */
static bool add_covered(struct profile_writer *writer, const struct regex_shape *shape, const char *within,
			enum regex_width width)
{
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
		/* Behind `within` the slash is there already. */
		if (within)
			memmove(regex.data + start, regex.data + start + 1, regex.length - start);
		open_regex(writer);
		text_add(&writer->out, "%s", regex.data);
		close_regex(writer, shape->is_directory_only ? "/" : "($|/)");
		if (shape->is_directory_only)
			text_add(&writer->out, "\n      (require-all (vnode-type DIRECTORY) (regex #\"%s$\"))", regex.data);
	}
	text_free(&regex);
	return is_possible;
}

/* Patterns that match anywhere do not hold in trees of software, which are those of the innermost grant. */
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

static bool is_spelled_out(const struct pattern *pattern)
{
	return pattern->is_literal && !pattern->is_base_name;
}

static void add_exceptions(struct group *group)
{
	struct profile_writer *writer = group->writer;
	const struct plan_patterns *except = &writer->plan->except;
	for (size_t i = 0; i < except->count; i++) {
		const struct plan_pattern *item = &except->items[i];
		struct regex_shape shape;
		struct text probe = { 0 };
		bool is_possible;
		if (!reaches(group, item->rule))
			continue;
		text_add(&writer->out, "\n");
		profile_comment(writer, "      ", item->rule);
		text_add(&writer->out, "      ");
		if (is_spelled_out(&item->pattern) && !item->pattern.is_directory_only) {
			profile_path(writer, "subpath", item->pattern.text);
			continue;
		}
		shape = regex_shape(writer->arena, &item->pattern);
		is_possible = regex_add_parts(&probe, &shape, 0, shape.count, REGEX_NARROW);
		text_free(&probe);
		if (is_possible)
			add_covered(writer, &shape, NULL, REGEX_NARROW);
		else
			text_add(&writer->out, "; cannot be said in a profile: stays denied");
	}
}

/* A grant that lies in what an exception covers: no name in it comes before the exception. */
static void add_excepted_grants(struct group *group)
{
	const struct plan *plan = group->writer->plan;
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		bool is_covered = false;
		for (size_t k = 0; k < plan->except.count && !is_covered; k++)
			is_covered = reaches(group, plan->except.items[k].rule) &&
				     pattern_covers(&plan->except.items[k].pattern, grant->path, grant->type == FILE_DIRECTORY,
						    true);
		if (!is_covered)
			continue;
		text_add(&group->writer->out, "\n      ");
		profile_path(group->writer, "subpath", grant->path);
	}
}

static void open_form(struct group *group)
{
	text_add(&group->writer->out, "(deny %s\n  (require-all\n    (require-any\n", group->operations);
}

/* What is left out of a form besides the command's own places and software: what exceptions cover, grants that they cover, nothing. */
enum omission { OMIT_EXCEPTIONS, OMIT_GRANTS, OMIT_NOTHING };

static void close_form(struct group *group, enum omission omission)
{
	struct profile_writer *writer = group->writer;
	text_add(&writer->out, ")\n    (require-not (require-any\n      ");
	profile_own_places(writer);
	/* Below the state, which is denied; only reading is granted there. */
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
	text_add(&writer->out, "\n    )))");
	profile_end_deny(writer);
}

static bool is_relative(const struct regex_shape *shape)
{
	return !shape->is_anchored;
}

/* The patterns that match anywhere as one alternative each; behind a slash without their own. */
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
		if (reaches(group, except->items[i].rule))
			*arena_push(group->writer->arena, &found) =
				(struct entry){ &except->items[i],
						regex_shape(group->writer->arena, &except->items[i].pattern) };
	return found;
}

/* Part 2, for patterns that start at the root: one expression each. */
static void add_below_anchored(struct group *group, const struct entries *except)
{
	struct profile_writer *writer = group->writer;
	for (size_t i = 0; i < group->entries.count; i++) {
		const struct regex_shape *shape = &group->entries.items[i].shape;
		if (is_relative(shape))
			continue;
		text_add(&writer->out, "      (regex #\"^");
		regex_add_parts(&writer->out, shape, 0, shape->count, REGEX_WIDE);
		text_add(&writer->out, "/%s", regex_any_depth);
		add_alternatives(&writer->out, except, 0, except->count, true);
		close_regex(writer, "($|/)");
		text_add(&writer->out, "\n");
	}
}

/* Part 2. */
static void add_below(struct group *group, const struct entries *except)
{
	struct profile_writer *writer = group->writer;
	size_t relative = count_relative(&group->entries), at = 0;
	for (size_t done = 0; done < relative; done += NAMES_IN_REGEX) {
		text_add(&writer->out, "      (regex #\"");
		at = add_alternatives(&writer->out, &group->entries, at, NAMES_IN_REGEX, false);
		text_add(&writer->out, "/%s", regex_any_depth);
		add_alternatives(&writer->out, except, 0, except->count, true);
		close_regex(writer, "($|/)");
		text_add(&writer->out, "\n");
	}
	add_below_anchored(group, except);
}

static bool is_simple(const struct regex_part *part)
{
	if (part->is_plain)
		return true;
	for (const char *at = part->start; at != part->end; at++)
		if (strchr("*?[\\", *at))
			return false;
	return true;
}

/* Part 3: the exception's names with the denied one in place of (or, in a gap, among) those at `at`. If that is the first name of an
 * exception that matches anywhere, what comes before it is known too: the rest of the denied pattern. */
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
	/* A gap brings the slash behind it along. */
	text_add(&writer->out, "%s%s", end > 0 && before->items[end - 1].is_gap ? "" : "/", gap);
	regex_add_part(&writer->out, is_simple(part) && !part->is_gap ? part : last, REGEX_WIDE);
	text_add(&writer->out, "/%s", gap);
	regex_add_parts(&rest, except, at + 1, except->count, REGEX_WIDE);
	text_add(&writer->out, "%s", rest.data + 1);
	text_free(&rest);
	close_regex(writer, "($|/)");
	text_add(&writer->out, "\n");
}

static bool part_matches(const struct regex_part *part, const struct regex_part *name)
{
	return regex_part_matches(part, name->start, (size_t)(name->end - name->start));
}

static bool has_gap(const struct regex_shape *shape, size_t end)
{
	for (size_t i = 0; i < end; i++)
		if (shape->items[i].is_gap)
			return true;
	return false;
}

/* Could the denied pattern match what the exception's names up to `at` are? When in doubt: yes. */
static bool may_share(const struct regex_shape *denied, const struct regex_shape *except, size_t at)
{
	bool is_fixed =
		denied->is_anchored && except->is_anchored && !has_gap(denied, denied->count) && !has_gap(except, at + 1);
	const struct regex_part *part = &except->items[at];

	if (is_fixed && denied->count != at + 1)
		return false;
	for (size_t i = 0; is_fixed && i < at; i++)
		if (is_simple(&except->items[i]) && !part_matches(&denied->items[i], &except->items[i]))
			return false;
	if (part->is_gap || !is_simple(part))
		return true;
	return part_matches(&denied->items[denied->count - 1], part);
}

/* An exception that is one path: whether something above it is denied is known now. */
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
			if (is_spelled_out(&exception->item->pattern) && !is_below_denied(group, denied, exception))
				continue;
			for (size_t at = 0; at + 1 < exception->shape.count; at++) {
				if (!may_share(&denied->shape, &exception->shape, at))
					continue;
				if (!is_counting)
					add_shared_name(group->writer, &exception->shape, at, &denied->shape);
				count++;
			}
		}
	}
	return count;
}

static void write_first_part(struct group *group)
{
	struct profile_writer *writer = group->writer;
	open_form(group);
	for (size_t i = 0; i < group->entries.count; i++) {
		profile_comment(writer, "      ", group->entries.items[i].item->rule);
		text_add(&writer->out, "      ");
		add_covered(writer, &group->entries.items[i].shape, group->within, REGEX_WIDE);
		text_add(&writer->out, "\n");
	}
	text_add(&writer->out, "    ");
	close_form(group, OMIT_EXCEPTIONS);
}

static void write_other_parts(struct group *group)
{
	struct entries except = reaching_exceptions(group);
	bool has_below = count_relative(&except) > 0;
	if (!has_below && add_shared(group, &except, true) == 0)
		return;
	text_add(&group->writer->out, "; an exception does not reach below a name that is denied\n");
	open_form(group);
	if (has_below)
		add_below(group, &except);
	add_shared(group, &except, false);
	text_add(&group->writer->out, "    ");
	close_form(group, OMIT_GRANTS);
}

static void write_group(struct group *group)
{
	if (group->entries.count == 0)
		return;
	write_first_part(group);
	write_other_parts(group);
	group->entries.count = 0;
	group->entries.items = NULL;
}

/* A path that this pattern does not apply to although the name matches: lifted, or granted inside software whose own name matches. */
static const char *special_place(const struct group *group, const struct plan_pattern *item, size_t *next)
{
	const struct plan *plan = group->writer->plan;
	for (; *next < plan->lifted.count + plan->grants.count; ++*next) {
		const struct plan_grant *grant;
		if (*next < plan->lifted.count) {
			const char *lifted = plan->lifted.items[*next].pattern.text;
			if (!group->is_deny && item->rule->layer != LAYER_FLOOR &&
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

/* One pattern by itself: everywhere but at that place, and anew below it. A pattern from the root that has no `**` cannot match
 * once more below; of one that has, the last name is taken. */
static void write_special(const struct group *common, const struct plan_pattern *item, const char *place)
{
	struct group group = *common;
	struct regex_shape *shape;
	group.entries = (struct entries){ 0 };
	group.left_out = place;
	push_entry(&group, item);
	write_group(&group);
	group.left_out = NULL;
	group.within = place;
	push_entry(&group, item);
	shape = &group.entries.items[0].shape;
	if (shape->is_anchored && !has_gap(shape, shape->count))
		return;
	if (shape->is_anchored) {
		shape->items += shape->count - 1;
		shape->count = 1;
		shape->is_anchored = false;
	}
	write_group(&group);
}

static void write_list(struct group *group, const struct plan_patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++) {
		const struct plan_pattern *item = &patterns->items[i];
		const char *place;
		size_t next = 0;
		if (is_spelled_out(&item->pattern) || item->rule->layer != group->layer ||
		    item->pattern.is_anywhere != group->is_anywhere)
			continue;
		place = special_place(group, item, &next);
		if (place) {
			write_special(group, item, place);
			continue;
		}
		push_entry(group, item);
		if (group->entries.count == FILTERS_IN_FORM)
			write_group(group);
	}
	write_group(group);
}

/* Could the same name be spelled with characters above ASCII? Then the kernel's own folding is not relied upon. */
static bool needs_regex(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	for (const char *at = path; *at; at++)
		if (*at < ' ' || *at > '~')
			return true;
	return grant && grant->kind == GRANT_WRITE;
}

static void add_spelled_out(struct profile_writer *writer, const struct rule *rule, const struct pattern *pattern)
{
	profile_comment(writer, "      ", rule);
	text_add(&writer->out, "      ");
	if (!pattern->is_directory_only)
		profile_path(writer, "subpath", pattern->text);
	if (pattern->is_directory_only || needs_regex(writer->plan, pattern->text)) {
		struct regex_shape shape = regex_shape(writer->arena, pattern);
		if (shape.count > 0) {
			text_add(&writer->out, " ");
			add_covered(writer, &shape, NULL, REGEX_WIDE);
		}
	}
	text_add(&writer->out, "\n");
}

/* A pattern that is one path: whether it applies is known now. */
static bool applies(const struct group *group, const struct plan_pattern *item)
{
	const struct plan *plan = group->writer->plan;
	if (!is_spelled_out(&item->pattern))
		return false;
	return group->is_deny ? plan_deny_applies(plan, item, item->pattern.text, false)
			      : plan_protect_applies(plan, item, item->pattern.text);
}

/* Found by the scan and not by any name: other names of hidden files, what symlinks lead to, sockets of the host. */
static bool is_unnamed(const struct group *group, const struct plan_match *match)
{
	const struct plan *plan = group->writer->plan;
	bool is_directory = match->type == FILE_DIRECTORY;
	return group->is_deny ? !plan_denied_by(plan, match->path, is_directory)
			      : !plan_protected_by(plan, match->path, is_directory);
}

/* Opens a form before the first and closes it after the FILTERS_IN_FORM-th of a list. */
static void add_to_form(struct group *group, size_t *count, const struct rule *rule, const struct pattern *pattern)
{
	if (*count == FILTERS_IN_FORM) {
		text_add(&group->writer->out, "    ");
		close_form(group, OMIT_NOTHING);
		*count = 0;
	}
	if ((*count)++ == 0)
		open_form(group);
	add_spelled_out(group->writer, rule, pattern);
}

static void write_spelled_out(struct group *group, const struct plan_patterns *patterns, const struct plan_matches *matches)
{
	size_t count = 0;
	group->is_anywhere = false;
	for (size_t i = 0; i < patterns->count; i++)
		if (applies(group, &patterns->items[i]))
			add_to_form(group, &count, patterns->items[i].rule, &patterns->items[i].pattern);
	for (size_t i = 0; i < matches->count; i++) {
		struct pattern literal = { .text = matches->items[i].path, .is_literal = true };
		literal.literal_prefix = strlen(literal.text);
		if (is_unnamed(group, &matches->items[i]))
			add_to_form(group, &count, matches->items[i].rule, &literal);
	}
	if (count == 0)
		return;
	text_add(&group->writer->out, "    ");
	close_form(group, OMIT_NOTHING);
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
	text_add(&writer->out, "\n; Protected: readable, neither changed nor made.\n");
	write_patterns(&group, &writer->plan->protect, &writer->plan->locked);
}

void profile_write_deny(struct profile_writer *writer)
{
	struct group group = { .writer = writer, .operations = deny_operations, .is_deny = true };
	text_add(&writer->out, "\n; Denied: last, so that nothing above grants it.\n");
	write_patterns(&group, &writer->plan->deny, &writer->plan->masked);
}

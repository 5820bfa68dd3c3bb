/* SPDX-License-Identifier: Apache-2.0 */
/* What must keep its name. Seatbelt judges names: if a directory above a denied or protected name is renamed, what lies in it has
 * another name and is open. So these are neither removed nor renamed: the roots of what is writable, what the scan pinned, the
 * directories that a pattern spells out above its last name. And where a protected name is not there yet, the directory for it is
 * not made, or one that was filled elsewhere could be moved into its place. */
#include "macos/profile/internal.h"

#include <string.h>

#include "macos/profile/regex.h"

enum { FILTERS_IN_FORM = 40 };

struct pins {
	struct profile_writer *writer;
	size_t count; /* in the open form */
	bool is_creation; /* of directories, else removal of anything */
	bool has_names; /* the form holds names that match anywhere */
};

static void close_form(struct pins *pins)
{
	struct profile_writer *writer = pins->writer;
	if (pins->count == 0)
		return;
	if (pins->has_names) {
		text_add(&writer->out, "    )\n    (require-not (require-any ");
		profile_own_places(writer);
		text_add(&writer->out, ")))");
	} else {
		text_add(&writer->out, "%s", pins->is_creation ? "    ))" : "");
	}
	profile_end_deny(writer);
	pins->count = 0;
}

static void open_filter(struct pins *pins, const struct rule *rule)
{
	struct profile_writer *writer = pins->writer;
	if (pins->count == FILTERS_IN_FORM)
		close_form(pins);
	if (pins->count++ == 0) {
		text_add(&writer->out, "(deny %s\n", pins->is_creation ? "file-write-create" : "file-write-unlink");
		if (pins->is_creation || pins->has_names)
			text_add(&writer->out, "  (require-all%s\n    (require-any\n",
				 pins->is_creation ? " (vnode-type DIRECTORY)" : "");
	}
	profile_comment(writer, "      ", rule);
	text_add(&writer->out, "      ");
}

static void pin_path(struct pins *pins, const char *path, const struct rule *rule)
{
	open_filter(pins, rule);
	profile_path(pins->writer, "literal", path);
	text_add(&pins->writer->out, "\n");
}

static bool is_inside_writable(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	return grant && grant->kind == GRANT_WRITE && strcmp(grant->path, path) != 0;
}

static bool is_pinned(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->pinned.count; i++)
		if (strcmp(plan->pinned.items[i].path, path) == 0)
			return true;
	return false;
}

/* Did a pattern before this one have the same directory? */
static bool has_shown(const struct plan_patterns *patterns, size_t end, const char *directory)
{
	for (size_t i = 0; i < end; i++) {
		const struct pattern *pattern = &patterns->items[i].pattern;
		size_t length = strlen(directory);
		if (!pattern->is_anywhere && pattern->literal_prefix > length &&
		    strncmp(pattern->text, directory, length) == 0 && pattern->text[length] == '/')
			return true;
	}
	return false;
}

/* The directories above a pattern that starts at the root, as far as they are spelled out and can be written. */
static void pin_above(struct pins *pins, const struct plan_patterns *patterns, size_t number)
{
	const struct plan *plan = pins->writer->plan;
	const struct plan_pattern *item = &patterns->items[number];
	const char *path = arena_copy_n(plan->arena, item->pattern.text, item->pattern.literal_prefix);
	size_t length = strlen(path);

	/* Before a name with metacharacters it ends in a slash, and that directory itself is above. */
	if (item->pattern.is_literal || length == 0 || path[length - 1] != '/')
		path = path_parent(plan->arena, path);
	else if (length > 1)
		path = arena_copy_n(plan->arena, path, length - 1);
	for (; strcmp(path, "/") != 0; path = path_parent(plan->arena, path))
		if (is_inside_writable(plan, path) && !has_shown(patterns, number, path) &&
		    (pins->is_creation || !is_pinned(plan, path)))
			pin_path(pins, path, item->rule);
}

static void pin_list_paths(struct pins *pins, const struct plan_patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (!patterns->items[i].pattern.is_anywhere)
			pin_above(pins, patterns, i);
}

static bool is_simple(const struct regex_part *part)
{
	for (const char *at = part->start; !part->is_plain && at != part->end; at++)
		if (strchr("*?[\\", *at))
			return false;
	return true;
}

/* The directories of `**``/.git/hooks` and its like, up to the first that is not spelled out. */
static void pin_names(struct pins *pins, const struct plan_pattern *item, struct text *known)
{
	struct profile_writer *writer = pins->writer;
	struct regex_shape shape = regex_shape(writer->arena, &item->pattern);
	for (size_t end = 1; end < shape.count && is_simple(&shape.items[end - 1]); end++) {
		struct text regex = { 0 };
		text_add(&regex, " #\"");
		regex_add_parts(&regex, &shape, 0, end, REGEX_WIDE);
		text_add(&regex, "$\"");
		if (!known->data || !strstr(known->data, regex.data)) {
			text_add(known, "%s", regex.data);
			open_filter(pins, item->rule);
			text_add(&writer->out, "(regex%s)\n", regex.data);
		}
		text_free(&regex);
	}
}

static void pin_list_names(struct pins *pins, const struct plan_patterns *patterns, struct text *known)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (patterns->items[i].pattern.is_anywhere && !patterns->items[i].pattern.is_base_name)
			pin_names(pins, &patterns->items[i], known);
}

static void write_removal(struct profile_writer *writer)
{
	const struct plan *plan = writer->plan;
	struct pins pins = { .writer = writer };
	struct text known = { 0 };

	pin_path(&pins, writer->home, NULL);
	pin_path(&pins, writer->tmp, NULL);
	for (size_t i = 0; i < plan->grants.count; i++)
		pin_path(&pins, plan->grants.items[i].path, plan->grants.items[i].rule);
	for (size_t i = 0; i < plan->sockets.count; i++)
		pin_path(&pins, plan->sockets.items[i].path, plan->sockets.items[i].rule);
	for (size_t i = 0; i < plan->pinned.count; i++)
		pin_path(&pins, plan->pinned.items[i].path, plan->pinned.items[i].rule);
	pin_list_paths(&pins, &plan->deny);
	pin_list_paths(&pins, &plan->protect);
	close_form(&pins);
	pins.has_names = true;
	pin_list_names(&pins, &plan->deny, &known);
	pin_list_names(&pins, &plan->protect, &known);
	close_form(&pins);
	text_free(&known);
}

static void write_creation(struct profile_writer *writer)
{
	struct pins pins = { .writer = writer, .is_creation = true };
	struct text known = { 0 };
	pin_list_paths(&pins, &writer->plan->protect);
	close_form(&pins);
	pins.has_names = true;
	pin_list_names(&pins, &writer->plan->protect, &known);
	close_form(&pins);
	text_free(&known);
}

void profile_write_pins(struct profile_writer *writer)
{
	text_add(&writer->out, "\n; Neither removed nor renamed: what is denied or protected lies below.\n");
	write_removal(writer);
	text_add(&writer->out, "\n; Not made: a protected name would lie in it.\n");
	write_creation(writer);
}

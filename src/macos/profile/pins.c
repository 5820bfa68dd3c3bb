/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that must keep their names. Seatbelt matches paths: if a directory above a denied or
 * protected name is renamed, the files in it have other paths and become accessible. So these are
 * neither removed nor renamed: the roots of writable directories, the pins of the scan, and the
 * directories that a pattern names literally above its last name. If a protected name does not
 * exist yet, its directory cannot be created either: a directory prepared elsewhere could be moved
 * there. */
#include "macos/profile/internal.h"

#include <string.h>

#include "macos/profile/pin_tree.h"
#include "macos/profile/regex.h"

enum {
	FILTERS_IN_FORM = 40,
	FORM_BYTES = 6000,
	/* Of all pinned directories together. The compiler refuses more than 65,535 bytes of data
	 * for one object, and it is not documented how it divides a profile into objects. */
	PINNED_BYTES = 24000,
};

struct pins {
	struct profile_writer *writer;
	size_t count, start; /* of the open form */
	bool is_creation; /* denies creation of directories; else removal */
	const char *type; /* of the files, for vnode-type; NULL: any */
	bool has_names; /* the form has names that match anywhere */
};

static void close_form(struct pins *pins)
{
	struct profile_writer *writer = pins->writer;
	if (pins->count == 0)
		return;
	if (pins->has_names) {
		text_add(&writer->out, "    )\n    (require-not (require-any ");
		profile_private_paths(writer);
		text_add(&writer->out, ")))");
	} else {
		text_add(&writer->out, "%s", pins->type ? "    ))" : "");
	}
	profile_end_deny(writer);
	pins->count = 0;
}

static void open_filter(struct pins *pins, const struct rule *rule)
{
	struct profile_writer *writer = pins->writer;
	if (pins->count == FILTERS_IN_FORM || (pins->count > 0 && writer->out.length - pins->start > FORM_BYTES))
		close_form(pins);
	if (pins->count++ == 0) {
		pins->start = writer->out.length;
		text_add(&writer->out, "(deny %s\n", pins->is_creation ? "file-write-create" : "file-write-unlink");
		if (pins->type || pins->has_names)
			text_add(&writer->out, "  (require-all%s%s%s\n    (require-any\n", pins->type ? " (vnode-type " : "",
				 pins->type ? pins->type : "", pins->type ? ")" : "");
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
	for (size_t i = 0; i < plan->scan->pinned.count; i++)
		if (strcmp(plan->scan->pinned.items[i].path, path) == 0)
			return true;
	return false;
}

/* True if an earlier pattern is below the same directory, which is pinned already then. */
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

/* Pins the writable directories above the literal part of a pattern that starts at the root. */
static void pin_above(struct pins *pins, const struct plan_patterns *patterns, size_t number)
{
	const struct plan *plan = pins->writer->plan;
	const struct plan_pattern *item = &patterns->items[number];
	const char *path = arena_copy_n(plan->arena, item->pattern.text, item->pattern.literal_prefix);
	size_t length = strlen(path);

	/* A literal part that ends in a slash, before a name with wildcards, is itself a directory
	 * above. */
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

/* Pins the directories of patterns like `**``/.git/hooks`, up to the first name with a wildcard. */
static void pin_names(struct pins *pins, const struct plan_pattern *item, struct text *known)
{
	struct profile_writer *writer = pins->writer;
	struct regex_shape shape = regex_shape(writer->arena, &item->pattern);
	for (size_t end = 1; end < shape.count && regex_part_is_simple(&shape.items[end - 1]); end++) {
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

static void pin_literal(void *self, const char *text, bool is_any, const struct rule *rule)
{
	if (!is_any)
		pin_path(self, text, rule);
}

static void pin_merged(void *self, const char *text, bool is_any, const struct rule *rule)
{
	struct pins *pins = self;
	if (!is_any)
		return;
	open_filter(pins, rule);
	text_add(&pins->writer->out, "(regex #\"^%s$\")\n", text);
}

/* Pins what the scan found. Of a type with very many, entries of one directory are merged. */
static void pin_scanned(struct profile_writer *writer, enum file_type type, const char *name)
{
	const struct plan_matches *pinned = &writer->plan->scan->pinned;
	struct pin_node root = { 0 };
	struct pins pins = { .writer = writer };
	for (size_t i = 0; i < pinned->count; i++)
		if (pinned->items[i].type == type)
			pin_tree_add(writer->arena, &root, pinned->items[i].path, pinned->items[i].rule);
	pin_tree_fit(&root, PINNED_BYTES);
	pin_tree_walk(&root, pin_literal, &pins);
	close_form(&pins);
	pins.has_names = true;
	pins.type = name;
	pin_tree_walk(&root, pin_merged, &pins);
	close_form(&pins);
}

static void write_removal(struct profile_writer *writer)
{
	const struct plan *plan = writer->plan;
	struct pins pins = { .writer = writer };
	struct text known = { 0 };

	pin_path(&pins, writer->home, NULL);
	pin_path(&pins, writer->tmp, NULL);
	if (writer->run->user_temporary)
		pin_path(&pins, writer->run->user_temporary, NULL);
	if (writer->run->user_cache)
		pin_path(&pins, writer->run->user_cache, NULL);
	for (size_t i = 0; i < plan->grants.count; i++)
		pin_path(&pins, plan->grants.items[i].path, plan->grants.items[i].rule);
	for (size_t i = 0; i < plan->sockets.count; i++)
		pin_path(&pins, plan->sockets.items[i].value, plan->sockets.items[i].rule);
	for (size_t i = 0; i < plan->scan->pinned.count; i++)
		if (plan->scan->pinned.items[i].type != FILE_DIRECTORY && plan->scan->pinned.items[i].type != FILE_SYMLINK)
			pin_path(&pins, plan->scan->pinned.items[i].path, plan->scan->pinned.items[i].rule);
	pin_list_paths(&pins, &plan->deny);
	pin_list_paths(&pins, &plan->protect);
	close_form(&pins);
	pins.has_names = true;
	pin_list_names(&pins, &plan->deny, &known);
	pin_list_names(&pins, &plan->protect, &known);
	close_form(&pins);
	text_free(&known);
	pin_scanned(writer, FILE_DIRECTORY, "DIRECTORY");
	pin_scanned(writer, FILE_SYMLINK, "SYMLINK");
}

static void write_creation(struct profile_writer *writer)
{
	struct pins pins = { .writer = writer, .is_creation = true, .type = "DIRECTORY" };
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
	text_add(&writer->out, "\n; Neither removed nor renamed: denied or protected names are below.\n");
	write_removal(writer);
	text_add(&writer->out, "\n; Not created: a protected name would be in it.\n");
	write_creation(writer);
}

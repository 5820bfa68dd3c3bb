/* SPDX-License-Identifier: Apache-2.0 */
/* Denied names in the command's private directories, where patterns do not apply otherwise. A
 * denied file can get there only with a directory around it, because its own name is denied to
 * rename, link and clone. Directories above the files that the scan found are pinned, and
 * directories are not cloned; these rules hold if such a directory is carried there nevertheless.
 * So only names that exist in the project count, and only inside a directory. */
#include "macos/profile/internal.h"

#include <string.h>

#include "macos/profile/regex.h"

/* Each name is two expressions. The rules are a second line of defence, so the rest is left out. */
enum { NAMES_MAX = 128 };

/* Writing is harmless: a command may create files of these names for its tests. */
static const char carried_operations[] = "file-read* file-link file-clone file-map-executable process-exec*";

struct names {
	const char **items;
	size_t count;
};

static bool has_name(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

/* Collects the base names of the denied files that a directory could carry. Another hard link of a
 * denied file has any name, so those are not counted. */
static struct names find_names(const struct profile_writer *writer)
{
	const struct plan *plan = writer->plan;
	const struct plan_matches *masked = &plan->scan->masked;
	struct names names = { 0 };
	for (size_t i = 0; i < masked->count && names.count < NAMES_MAX; i++) {
		const char *path = masked->items[i].path, *name = path_base_name(path);
		if (plan_is_below_writable(plan, path) && !has_name(&names, name) &&
		    plan_denied_by(plan, path, masked->items[i].type == FILE_DIRECTORY))
			*(const char **)arena_push(writer->arena, &names) = name;
	}
	return names;
}

static void add_name(struct profile_writer *writer, const char *directory, const char *first, const char *name)
{
	struct regex_part part = { .start = name, .end = name + strlen(name), .is_plain = true };
	text_add(&writer->out, "\n  (regex #\"^");
	regex_add_path(&writer->out, directory);
	text_add(&writer->out, "/%s/%s", first, regex_any_depth);
	regex_add_part(&writer->out, &part, REGEX_WIDE);
	text_add(&writer->out, "($|/)\")");
}

void profile_write_carried(struct profile_writer *writer)
{
	struct names names = find_names(writer);
	if (names.count == 0)
		return;
	text_add(&writer->out, "\n; Denied files of the project, if a directory is carried into the private ones.\n");
	for (size_t i = 0; i < names.count; i++) {
		text_add(&writer->out, "(deny %s", carried_operations);
		add_name(writer, writer->tmp, "[^/]+", names.items[i]);
		/* In hidden directories of the home programs keep own files of such names:
		 * ~/.ssh. */
		add_name(writer, writer->home, "[^./][^/]*", names.items[i]);
		profile_end_deny(writer);
	}
}

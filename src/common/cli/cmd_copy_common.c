/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that `diff`, `apply`, `discard`, `copies` and `undo` share. */
#include "common/cli/copy_command.h"

#include <errno.h>
#include <string.h>

#include "common/base/text.h"
#include "common/cli/commands.h"
#include "common/fs/path.h"
#include "common/plan/plan.h"

int copy_words_parse(struct session *session, uint64_t accepted, int argc, char **argv, struct copy_words *words,
		     struct error *err)
{
	int at = 0;

	*words = (struct copy_words){ 0 };
	for (;;) {
		int rest;
		if (options_parse(&session->arena, accepted, argc - at, argv + at, &session->options, &rest, err) < 0)
			return -1;
		at += rest;
		if (at >= argc || strcmp(argv[at - 1], "--") == 0)
			break;
		*arena_push(&session->arena, words) = argv[at];
		words->before_dashes = words->count;
	}
	for (; at < argc; at++)
		*arena_push(&session->arena, words) = argv[at];
	for (size_t i = 0; i < words->count; i++)
		if (words->items[i][0] == '\0')
			return error_set(err, "an empty argument");
	return 0;
}

int copy_find_project(struct session *session, struct error *err)
{
	struct context_request request = { .project = session->options.project };
	return context_detect(&session->arena, &request, &session->context, err);
}

static bool is_copy(const struct copy_entries *entries, const char *name)
{
	for (size_t i = 0; i < entries->count; i++)
		if (strcmp(entries->items[i].name, name) == 0)
			return true;
	return false;
}

int copy_open_named(struct session *session, struct copy_words *words, struct copy *copy, struct error *err)
{
	const struct context *context = &session->context;
	const char *key = plan_project_key(&session->arena, context->project);
	const char *name = COPY_NAME_DEFAULT;
	struct copy_entries entries;

	if (copies_list(&session->arena, context->state_directory, key, false, &entries, err) < 0)
		return -1;
	if (words->before_dashes > 0 && is_copy(&entries, words->items[0])) {
		name = words->items[0];
		words->items++;
		words->count--;
		words->before_dashes--;
	} else if (words->before_dashes > 0 && !is_copy(&entries, name) && entries.count != 1) {
		name = words->items[0];
	} else if (!is_copy(&entries, name) && entries.count == 1) {
		name = entries.items[0].name;
	}
	return copy_open(&session->arena, context->state_directory, context->project, key, name, false, copy, err);
}

/* Removes `..` and what it leaves, textually: a path of a copy need not exist in the project. */
static const char *without_parents(struct arena *arena, const char *path)
{
	struct text out = { 0 };
	const char *result;

	for (const char *at = path; *at;) {
		size_t length = strcspn(at, "/");
		if (length == 2 && at[0] == '.' && at[1] == '.') {
			while (out.length > 0 && out.data[--out.length] != '/')
				continue;
		} else if (length > 0) {
			text_add_n(&out, "/", 1);
			text_add_n(&out, at, length);
		}
		at += length + (at[length] == '/');
	}
	result = out.length > 0 ? arena_copy_n(arena, out.data, out.length) : "/";
	text_free(&out);
	return result;
}

const char *copy_project_path(struct session *session, const char *word, struct error *err)
{
	const struct context *context = &session->context;
	struct arena *arena = &session->arena;
	const char *base = context->working_directory ? context->working_directory : context->project;
	const char *path = without_parents(arena, path_absolute(arena, base, word));

	if (!path_is_within(path, context->project)) {
		error_set(err, "%s is not in the project %s", text_visible(arena, word), text_visible(arena, context->project));
		return NULL;
	}
	return strcmp(path, context->project) == 0 ? "." : path + strlen(context->project) + 1;
}

int copy_project_paths(struct session *session, char **words, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *path = copy_project_path(session, words[i], err);
		if (!path)
			return -1;
		words[i] = arena_copy(&session->arena, path);
	}
	return 0;
}

static bool is_same_unit(const struct copy_change *left, const struct copy_change *right)
{
	return left->unit && right->unit && strcmp(left->unit, right->unit) == 0;
}

/* Changes are sorted, so those of a git directory follow each other, but for other ones in it. */
bool copy_begins_unit(const struct copy_changes *changes, size_t index)
{
	if (!changes->items[index].unit || (index > 0 && is_same_unit(&changes->items[index - 1], &changes->items[index])))
		return false;
	for (size_t i = index; i-- > 0;)
		if (is_same_unit(&changes->items[i], &changes->items[index]))
			return false;
	return true;
}

size_t copy_count_unit(const struct copy_changes *changes, size_t index)
{
	size_t count = 0;
	for (size_t i = index; i < changes->count; i++)
		count += is_same_unit(&changes->items[i], &changes->items[index]);
	return count;
}

bool copy_is_folded(const struct copy_changes *changes, size_t index)
{
	const struct copy_change *change = &changes->items[index];
	if (!change->refused || change->conflict)
		return false;
	if (change->unit)
		return !copy_begins_unit(changes, index);
	/* The nearest directory above it that is listed comes before it. */
	for (size_t i = index; i-- > 0;)
		if (path_is_within(change->path, changes->items[i].path))
			return changes->items[i].refused;
	return false;
}

char copy_letter(const struct copy_change *change)
{
	static const char letters[] = {
		[COPY_ADDED] = 'A', [COPY_MODIFIED] = 'M', [COPY_MODE] = 'm', [COPY_DELETED] = 'D', [COPY_RETYPED] = 'T'
	};
	return letters[change->kind];
}

/* A git directory that is not applied as a whole is named instead of its first file. */
static const char *marked_path(const struct copy_change *change, bool is_folding)
{
	return is_folding && change->unit && change->refused && !change->conflict ? change->unit : change->path;
}

void copy_add_marks(struct arena *arena, struct text *out, const struct copy_change *change, bool is_folding,
		    const char *indent)
{
	const char *path = text_visible(arena, marked_path(change, is_folding));
	if (change->conflict)
		text_add(out, "%s! %s: conflict: %s\n", indent, path, text_visible(arena, change->conflict));
	if (change->refused)
		text_add(out, "%s! %s: not applied: %s\n", indent, path, text_visible(arena, change->refused));
	if (change->leads_out)
		text_add(out, "%s! %s: leads out of the project: -> %s\n", indent, path,
			 text_visible(arena, change->after.target));
	if (change->drops_set_id)
		text_add(out, "%s! %s: its setuid or setgid bit is not applied\n", indent, path);
}

const char *copy_type_name(enum file_type type)
{
	switch (type) {
	case FILE_ABSENT:
		return "absent";
	case FILE_REGULAR:
		return "file";
	case FILE_DIRECTORY:
		return "directory";
	case FILE_SYMLINK:
		return "symlink";
	case FILE_SOCKET:
		return "socket";
	case FILE_DEVICE:
		return "device";
	case FILE_FIFO:
		return "fifo";
	case FILE_UNKNOWN:
		break;
	}
	return "unknown";
}

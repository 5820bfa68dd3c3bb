/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a call of an agent's tool names. What cannot be parsed is an error, which blocks the
 * call. Never resolves a path: the caller judges the file behind it. */
#include "common/setup/agent_tools.h"

#include <string.h>

#include "common/base/text.h"
#include "common/format/unicode.h"
#include "common/fs/path.h"

static const char wildcards[] = "*?[{";

const struct agent_tool *agent_tool_find(const struct agent_tool *table, const char *name)
{
	for (; table && table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

/* Returns a string without NULs, else NULL. */
static const char *plain(const struct jsonc_value *value)
{
	return value && value->type == JSONC_STRING && strlen(value->string) == value->length ? value->string : NULL;
}

/* White space that Rust's trim removes and C's isspace does not know. */
static bool is_wide_space(uint32_t character)
{
	static const uint32_t single[] = { 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000 };
	for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
		if (character == single[i])
			return true;
	return character >= 0x2000 && character <= 0x200a;
}

/* True if a program may trim the path, or read it as more than one: it would name another file. */
static bool is_ambiguous(const char *path)
{
	const char *end = path + strlen(path);
	bool was_space = true;
	for (const char *at = path; at < end;) {
		uint32_t character;
		at += unicode_decode(at, end, &character);
		was_space = was_space && is_wide_space(character);
		if (was_space || character < ' ' || character == 0x7f)
			return true;
		was_space = at < end ? false : is_wide_space(character);
	}
	return was_space;
}

/* True if a component is `..`. */
static bool has_parent(const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");
		if (length == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += length;
		path += strspn(path, "/");
	}
	return false;
}

/* Adds an access to a path as the tool got it. `~` and `..` are refused: some tools expand or
 * remove them before they open the file, others leave that to the kernel. */
static int add(struct arena *arena, struct agent_accesses *accesses, const char *cwd, const char *path, bool is_write,
	       struct error *err)
{
	if (path[0] == '\0' || is_ambiguous(path))
		return error_set(err, "hook input: not a valid path");
	if (path[0] == '~' || has_parent(path))
		return error_set(err, "the path %s has ~ or `..`: write it in full", text_visible(arena, path));
	*arena_push(arena, accesses) = (struct agent_access){ .path = path_absolute(arena, cwd, path), .is_write = is_write };
	return 0;
}

static int add_file(struct arena *arena, const struct agent_tool *tool, const struct jsonc_value *input, const char *cwd,
		    struct agent_accesses *accesses, struct error *err)
{
	const char *path = plain(jsonc_member(input, tool->path));
	if (!path)
		return error_set(err, "hook input: tool_input.%s is not a path", tool->path);
	return add(arena, accesses, cwd, path, tool->kind == TOOL_WRITE, err);
}

/* The directory of a tool that may name one. *directory is absolute. */
static int find_directory(struct arena *arena, const struct agent_tool *tool, const struct jsonc_value *input, const char *cwd,
			  const char **directory, struct error *err)
{
	const struct jsonc_value *value = jsonc_member(input, tool->path);
	struct agent_accesses one = { 0 };
	const char *path = plain(value);

	*directory = cwd;
	if (!value || value->type == JSONC_NULL || (path && !path[0]))
		return 0;
	if (!path)
		return error_set(err, "hook input: tool_input.%s is not a path", tool->path);
	if (add(arena, &one, cwd, path, false, err) < 0 || one.count == 0)
		return -1;
	*directory = one.items[0].path;
	return 0;
}

/* Adds the directory in which a pattern begins. */
static int add_pattern(struct arena *arena, struct agent_accesses *accesses, const char *directory, const char *pattern,
		       bool is_search, struct error *err)
{
	size_t fixed = strcspn(pattern, wildcards);

	if (has_parent(pattern))
		return error_set(err, "the pattern %s has `..`: write it in full", text_visible(arena, pattern));
	while (pattern[fixed] && fixed > 0 && pattern[fixed - 1] != '/')
		fixed--;
	if (add(arena, accesses, directory, fixed ? arena_copy_n(arena, pattern, fixed) : directory, false, err) < 0)
		return -1;
	accesses->items[accesses->count - 1].is_search = is_search;
	return 0;
}

static int add_glob(struct arena *arena, const struct agent_tool *tool, const struct jsonc_value *input, const char *cwd,
		    struct agent_accesses *accesses, struct error *err)
{
	const char *pattern = plain(jsonc_member(input, tool->pattern)), *directory;

	if (!pattern)
		return error_set(err, "hook input: tool_input.%s is not a pattern", tool->pattern);
	/* Braces could hide an absolute path or `..`. */
	if (strchr(pattern, '{') && (strstr(pattern, "{/") || strstr(pattern, ",/") || strstr(pattern, "..")))
		return error_set(err, "the pattern %s is too complex to be judged", text_visible(arena, pattern));
	if (find_directory(arena, tool, input, cwd, &directory, err) < 0)
		return -1;
	return add_pattern(arena, accesses, directory, pattern, false, err);
}

static int add_directory(struct arena *arena, const struct agent_tool *tool, const struct jsonc_value *input, const char *cwd,
			 struct agent_accesses *accesses, struct error *err)
{
	const char *directory;
	if (find_directory(arena, tool, input, cwd, &directory, err) < 0)
		return -1;
	*arena_push(arena, accesses) = (struct agent_access){ .path = directory, .is_search = tool->kind == TOOL_SEARCH };
	return 0;
}

static int add_many(struct arena *arena, const struct agent_tool *tool, const struct jsonc_value *input, const char *cwd,
		    struct agent_accesses *accesses, struct error *err)
{
	const struct jsonc_value *list = jsonc_member(input, tool->path);
	if (!list || list->type != JSONC_ARRAY || list->count == 0)
		return error_set(err, "hook input: tool_input.%s is not a list of paths", tool->path);
	for (size_t i = 0; i < list->count; i++) {
		const char *path = plain(&list->children[i].value);
		if (!path || strchr(path, '{'))
			return error_set(err, "hook input: an entry of tool_input.%s is not a path", tool->path);
		if (add_pattern(arena, accesses, cwd, path, strpbrk(path, wildcards) != NULL, err) < 0)
			return -1;
	}
	return 0;
}

/* Codex trims each line, also of wide spaces, before it compares. A marker therefore counts at any
 * place of a line: one in the text of a patch counts too, which can only refuse more. */
static int add_patch_line(struct arena *arena, const char *line, const char *cwd, struct agent_accesses *accesses,
			  struct error *err)
{
	static const char *const markers[] = { "*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:" };
	for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
		const char *found = strstr(line, markers[i]);
		size_t length;
		if (!found)
			continue;
		found += strlen(markers[i]);
		found += strspn(found, " \t");
		length = strcspn(found, "\r");
		while (length > 0 && strchr(" \t", found[length - 1]))
			length--;
		if (add(arena, accesses, cwd, arena_copy_n(arena, found, length), true, err) < 0)
			return -1;
	}
	return 0;
}

static int add_patch(struct arena *arena, const struct agent_tool *tool, const struct jsonc_value *input, const char *cwd,
		     struct agent_accesses *accesses, struct error *err)
{
	const char *patch = plain(jsonc_member(input, tool->path));

	if (!patch)
		return error_set(err, "hook input: tool_input.%s is not a patch", tool->path);
	while (*patch) {
		size_t length = strcspn(patch, "\n");
		if (add_patch_line(arena, arena_copy_n(arena, patch, length), cwd, accesses, err) < 0)
			return -1;
		patch += length + (patch[length] == '\n');
	}
	return accesses->count > 0 ? 0 : error_set(err, "hook input: the patch names no file");
}

int agent_tool_accesses(struct arena *arena, const struct agent_tool *tool, const struct jsonc_value *input, const char *cwd,
			struct agent_accesses *accesses, struct error *err)
{
	static int (*const adders[])(struct arena * arena, const struct agent_tool *tool, const struct jsonc_value *input,
				     const char *cwd, struct agent_accesses *accesses, struct error *err) = {
		[TOOL_READ] = add_file,	       [TOOL_WRITE] = add_file,	    [TOOL_LIST] = add_directory, [TOOL_GLOB] = add_glob,
		[TOOL_SEARCH] = add_directory, [TOOL_READ_MANY] = add_many, [TOOL_PATCH] = add_patch,
	};
	*accesses = (struct agent_accesses){ 0 };
	if (!input || input->type != JSONC_OBJECT)
		return error_set(err, "hook input: tool_input is not an object");
	return adders[tool->kind](arena, tool, input, cwd, accesses, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler: turns the text of a policy into the normalised form that pattern.c matches. Removes
 * `.` and empty components, anchors relative patterns, removes quotes before the first
 * metacharacter, and refuses ambiguous patterns. */
#include "common/fs/pattern.h"

#include <stdint.h>
#include <string.h>

#include "common/fs/pattern_class.h"

enum { PATTERN_MAX = 4096 };

/* The normalised text while it is built. */
struct draft {
	char *text;
	size_t length;
	size_t literal_prefix;
	bool has_meta;
	bool ends_with_stars; /* the last component is `**` */
};

static bool is_meta(char c)
{
	return c == '*' || c == '?' || c == '[';
}

/* Checks one component as written. Returns its problem or NULL, and sets has_meta if it has a
 * metacharacter. */
static const char *component_judge(const char *at, const char *end, bool *has_meta)
{
	unsigned stars = 0;

	*has_meta = false;
	while (at != end) {
		stars = *at == '*' ? stars + 1 : 0;
		if (stars > 2)
			return "`***` means nothing: `*` matches within a name, `**` across directories";
		*has_meta |= is_meta(*at);
		if (*at == '[') {
			bool is_match;
			const char *problem = pattern_class(&at, end, 0, false, &is_match);
			if (problem)
				return problem;
			continue;
		}
		if (*at == '\\' && ++at == end)
			return "`\\` quotes nothing: it is at the end of a name";
		at++;
	}
	return NULL;
}

/* Copies without quotes and returns the number of bytes. */
static size_t component_unquote(const char *at, const char *end, char *out)
{
	size_t length = 0;

	for (; at != end; at++) {
		if (*at == '\\')
			at++;
		out[length++] = *at;
	}
	return length;
}

static bool draft_ends_with_slash(const struct draft *draft)
{
	return draft->length > 0 && draft->text[draft->length - 1] == '/';
}

static void draft_slash(struct draft *draft)
{
	if (!draft_ends_with_slash(draft))
		draft->text[draft->length++] = '/';
}

/* Adds one component: unquoted before the first metacharacter, as written after it. */
static int draft_add(struct draft *draft, const char *start, const char *end, struct error *err)
{
	size_t length = (size_t)(end - start);
	bool has_meta, is_stars = length == 2 && memcmp(start, "**", 2) == 0;
	const char *problem = component_judge(start, end, &has_meta);
	char *out = draft->text + draft->length;

	if (problem)
		return error_set(err, "%s", problem);
	if (is_stars && draft->ends_with_stars)
		return 0;
	if (!has_meta) {
		size_t plain = component_unquote(start, end, out);
		if ((plain == 1 && *out == '.') || (plain == 2 && memcmp(out, "..", 2) == 0))
			return error_set(err, "a pattern must not contain `%.*s`: write the path it leads to", (int)plain, out);
		if (!draft->has_meta)
			length = plain;
	}
	if (has_meta || draft->has_meta)
		memcpy(out, start, (size_t)(end - start));
	if (has_meta && !draft->has_meta)
		draft->literal_prefix = draft->length;
	draft->has_meta |= has_meta;
	draft->ends_with_stars = is_stars;
	draft->length += length;
	return 0;
}

static bool is_dot(const char *start, const char *end)
{
	return end - start == 1 && *start == '.';
}

/* Adds the components of [at, end), each after a slash. */
static int draft_add_path(struct draft *draft, const char *at, const char *end, struct error *err)
{
	while (at != end) {
		const char *start = at;
		while (at != end && *at != '/')
			at++;
		if (start != at && !is_dot(start, at)) {
			draft_slash(draft);
			if (draft_add(draft, start, at, err) < 0)
				return -1;
			/* draft_add dropped a repeated `**`. */
			if (draft_ends_with_slash(draft))
				draft->length--;
		}
		if (at != end)
			at++;
	}
	return 0;
}

static void draft_finish(struct draft *draft, struct pattern *pattern)
{
	/* `**` at the end matches at least one component. */
	if (draft->ends_with_stars) {
		memcpy(draft->text + draft->length, "/*", 2);
		draft->length += 2;
	}
	draft->text[draft->length] = '\0';
	pattern->text = draft->text;
	pattern->is_literal = !draft->has_meta;
	pattern->literal_prefix = draft->has_meta ? draft->literal_prefix : draft->length;
}

static int compile_base_name(struct draft *draft, const char *text, const char *end, struct pattern *pattern, struct error *err)
{
	pattern->is_base_name = true;
	pattern->is_anywhere = true;
	if (draft_add(draft, text, end, err) < 0)
		return -1;
	draft->ends_with_stars = false; /* `**` alone matches any name, like `*` */
	draft_finish(draft, pattern);
	return 0;
}

/* True for a leading `**` and one name. As a base-name pattern it means the same and is cheaper to
 * match. */
static bool is_stars_and_name(const char *text, const char *end, const char **name)
{
	const char *slash;

	for (*name = text; end - *name > 3 && memcmp(*name, "**/", 3) == 0;) {
		*name += 3;
		while (*name != end && **name == '/')
			++*name;
	}
	slash = memchr(*name, '/', (size_t)(end - *name));
	return *name != text && *name != end && !slash && !is_dot(*name, end);
}

static int compile_path(struct draft *draft, const char *text, const char *end, const char *base, struct pattern *pattern,
			struct error *err)
{
	pattern->is_anywhere = end - text > 2 && memcmp(text, "**/", 3) == 0;
	if (*text != '/' && !pattern->is_anywhere) {
		/* The base is a path, not a pattern. */
		draft->length = strlen(base);
		while (draft->length > 0 && base[draft->length - 1] == '/')
			draft->length--;
		memcpy(draft->text, base, draft->length);
	}
	if (draft_add_path(draft, text, end, err) < 0)
		return -1;
	if (draft->length == 0)
		draft_slash(draft);
	draft_finish(draft, pattern);
	/* The root is a directory in any case. */
	if (pattern->text[1] == '\0')
		pattern->is_directory_only = false;
	return 0;
}

/* Returns the end of the text without trailing slashes. */
static const char *without_slashes(const char *text)
{
	const char *end = text + strlen(text);
	while (end - text > 1 && end[-1] == '/')
		end--;
	return end;
}

bool pattern_uses_base(const char *text)
{
	const char *end = without_slashes(text), *name;
	if (text == end || *text == '/' || is_stars_and_name(text, end, &name))
		return false;
	if (!memchr(text, '/', (size_t)(end - text)) && !is_dot(text, end))
		return false;
	return !(end - text > 2 && memcmp(text, "**/", 3) == 0);
}

int pattern_compile(struct arena *arena, const char *text, const char *base, struct pattern *pattern, struct error *err)
{
	const char *end = text + strlen(text), *name;
	struct draft draft = { 0 };
	size_t room;

	*pattern = (struct pattern){ 0 };
	if (text == end)
		return error_set(err, "a pattern must not be empty");
	if (*base != '/')
		return error_set(err, "patterns need an absolute directory to start from");
	room = (size_t)(end - text) + strlen(base) + sizeof "//*";
	if (room > PATTERN_MAX)
		return error_set(err, "a pattern must not be longer than %d bytes", PATTERN_MAX);
	draft.text = arena_alloc(arena, room);
	pattern->is_directory_only = without_slashes(text) != end;
	end = without_slashes(text);
	if (is_stars_and_name(text, end, &name))
		return compile_base_name(&draft, name, end, pattern, err);
	if (!memchr(text, '/', (size_t)(end - text)) && !is_dot(text, end))
		return compile_base_name(&draft, text, end, pattern, err);
	return compile_path(&draft, text, end, base, pattern, err);
}

char *pattern_quote(struct arena *arena, const char *text)
{
	char *quoted = arena_alloc(arena, 2 * strlen(text) + 1), *out = quoted;

	for (; *text; text++) {
		if (is_meta(*text) || *text == '\\')
			*out++ = '\\';
		*out++ = *text;
	}
	return quoted;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Path patterns. Input: one byte of flags, a pattern, a newline, a path. The path is made canonical
 * first, as callers do. A second, naive matcher with a table of all states stands against the
 * greedy one. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/fs/pattern.h"
#include "common/fs/pattern_class.h"
#include "common/format/unicode.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 400, PATH_BYTES = INPUT_MAX + 8 };

struct input {
	bool is_directory, case_fold;
	char pattern[INPUT_MAX + 1];
	char path[PATH_BYTES];
};

/* Adds the components of text to a canonical path. */
static void make_canonical(const char *text, char *path)
{
	size_t used = 0;

	while (*text) {
		size_t length = strcspn(text, "/");
		bool is_dots = (length == 1 && text[0] == '.') || (length == 2 && memcmp(text, "..", 2) == 0);
		if (length > 0 && !is_dots) {
			path[used++] = '/';
			memcpy(path + used, text, length);
			used += length;
		}
		text += length + (text[length] == '/');
	}
	if (used == 0)
		path[used++] = '/';
	path[used] = '\0';
}

static bool read_input(const uint8_t *data, size_t size, struct input *input)
{
	char text[INPUT_MAX + 1], *newline;

	if (size < 2 || size > INPUT_MAX || memchr(data + 1, '\0', size - 1))
		return false;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	newline = strchr(text, '\n');
	if (!newline)
		return false;
	*newline = '\0';
	*input = (struct input){ .is_directory = data[0] & 1, .case_fold = data[0] & 2 };
	memcpy(input->pattern, text, strlen(text) + 1);
	make_canonical(newline + 1, input->path);
	return true;
}

/* The naive matcher: every way to share out the path, remembered so that it ends. */
struct naive {
	const struct pattern *pattern;
	const char *text, *path;
	unsigned char failed[INPUT_MAX + 16][PATH_BYTES];
};

static bool naive_match(struct naive *naive, const char *at, const char *text);

static bool naive_one(struct naive *naive, const char *at, const char *text)
{
	const char *component_end = at + strcspn(at, "/");
	const char *text_end = text + strlen(text);
	uint32_t character, wanted;
	bool is_match;

	if (*text == '\0' || *text == '/')
		return false;
	text += unicode_decode(text, text_end, &character);
	if (*at == '?')
		return naive_match(naive, at + 1, text);
	if (*at == '[')
		return !pattern_class(&at, component_end, character, false, &is_match) && is_match &&
		       naive_match(naive, at, text);
	at += *at == '\\';
	at += unicode_decode(at, component_end, &wanted);
	return wanted == character && naive_match(naive, at, text);
}

static bool naive_step(struct naive *naive, const char *at, const char *text)
{
	uint32_t ignored;

	if (*at == '\0')
		return *text == '\0';
	if (at < naive->pattern->text + naive->pattern->literal_prefix)
		return *at == *text && naive_match(naive, at + 1, text + 1);
	/* The slash before the stars has been matched: `**` and its slash are nothing, or take one
	 * component. */
	if (strncmp(at, "**/", 3) == 0 && (at == naive->pattern->text || at[-1] == '/')) {
		size_t length = strcspn(text, "/");
		return naive_match(naive, at + 3, text) || (text[length] == '/' && naive_match(naive, at, text + length + 1));
	}
	if (*at == '*')
		return naive_match(naive, at + 1, text) ||
		       (*text && *text != '/' &&
			naive_match(naive, at, text + unicode_decode(text, text + strlen(text), &ignored)));
	if (*at == '/')
		return *text == '/' && naive_match(naive, at + 1, text + 1);
	return naive_one(naive, at, text);
}

static bool naive_match(struct naive *naive, const char *at, const char *text)
{
	unsigned char *failed = &naive->failed[at - naive->pattern->text][text - naive->path];

	if (*failed)
		return false;
	if (naive_step(naive, at, text))
		return true;
	*failed = 1;
	return false;
}

static void check_against_naive(const struct pattern *pattern, const char *path)
{
	static struct naive naive;
	bool expected;

	memset(&naive, 0, sizeof naive);
	naive.pattern = pattern;
	naive.path = pattern->is_base_name ? strrchr(path, '/') + 1 : path;
	/* The root has no components, and a `*` needs one. */
	expected = path[1] ? naive_match(&naive, pattern->text, naive.path) : strcmp(pattern->text, "/") == 0;
	PROPERTY(pattern_matches(pattern, path, true, false) == expected);
}

static void check_form(const struct pattern *pattern)
{
	size_t length = strlen(pattern->text);

	PROPERTY(length > 0 && pattern->literal_prefix <= length);
	PROPERTY(pattern->is_literal == (pattern->literal_prefix == length));
	PROPERTY(pattern->is_base_name == (strchr(pattern->text, '/') == NULL));
	PROPERTY(pattern->is_base_name || pattern->text[0] == '/');
	PROPERTY(!strstr(pattern->text, "//"));
	PROPERTY(length == 1 || pattern->text[length - 1] != '/');
	PROPERTY(!pattern->is_base_name || pattern->is_anywhere);
}

/* The length of the shortest ancestor (or the path itself) that matches, found by asking about
 * each. */
static size_t topmost_match(const struct pattern *pattern, const struct input *input)
{
	char prefix[PATH_BYTES];

	if (pattern_matches(pattern, "/", true, input->case_fold))
		return 1;
	for (size_t i = 1; input->path[i - 1]; i++) {
		bool is_whole = input->path[i] == '\0';
		if (!is_whole && input->path[i] != '/')
			continue;
		memcpy(prefix, input->path, i);
		prefix[i] = '\0';
		if (pattern_matches(pattern, prefix, !is_whole || input->is_directory, input->case_fold))
			return i;
	}
	return 0;
}

static void check_covers(const struct pattern *pattern, const struct input *input)
{
	size_t covered = pattern_covers(pattern, input->path, input->is_directory, input->case_fold);
	size_t as_directory = pattern_covers(pattern, input->path, true, input->case_fold);
	char child[PATH_BYTES + 8];

	PROPERTY(covered == topmost_match(pattern, input));
	PROPERTY(!covered || as_directory == covered);
	/* What lies below a covered directory is covered by the same ancestor. */
	if (as_directory) {
		snprintf(child, sizeof child, "%s%sx", input->path, input->path[1] ? "/" : "");
		PROPERTY(pattern_covers(pattern, child, false, input->case_fold) == as_directory);
	}
}

static void check_parent(const struct pattern *pattern, const struct input *input)
{
	char parent[PATH_BYTES];

	if (!input->path[1] || !pattern_matches(pattern, input->path, input->is_directory, input->case_fold))
		return;
	memcpy(parent, input->path, sizeof parent);
	char *slash = strrchr(parent, '/');
	slash[slash == parent] = '\0';
	PROPERTY(pattern_may_match_below(pattern, parent, input->case_fold));
	/* And every directory above that. */
	while (parent[1]) {
		slash = strrchr(parent, '/');
		slash[slash == parent] = '\0';
		PROPERTY(pattern_may_match_below(pattern, parent, input->case_fold));
	}
}

/* A quoted path is a literal that matches this path and no other. */
static void check_literal(struct arena *arena, const struct input *input)
{
	struct pattern pattern;
	struct error err = { 0 };
	char other[PATH_BYTES + 8];

	PROPERTY(pattern_compile(arena, pattern_quote(arena, input->path), "/base", &pattern, &err) == 0);
	PROPERTY(pattern.is_literal && strcmp(pattern.text, input->path) == 0);
	PROPERTY(pattern_matches(&pattern, input->path, false, false));
	PROPERTY(pattern_matches(&pattern, input->path, false, true));
	snprintf(other, sizeof other, "%sx", input->path);
	PROPERTY(!pattern_matches(&pattern, other, false, false));
	snprintf(other, sizeof other, "/x%s", input->path);
	PROPERTY(!pattern_matches(&pattern, other, false, false));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct error err = { 0 };
	struct pattern pattern;
	struct input input;

	if (!read_input(data, size, &input))
		return 0;
	check_literal(&arena, &input);
	pattern_matches_name(input.pattern, input.path);
	if (pattern_compile(&arena, input.pattern, "/base", &pattern, &err) == 0) {
		check_form(&pattern);
		check_covers(&pattern, &input);
		check_parent(&pattern, &input);
		/* Directory patterns differ only in what they ask of the path. */
		check_against_naive(&pattern, input.path);
		if (pattern.is_base_name)
			PROPERTY(pattern_matches_base(&pattern, strrchr(input.path, '/') + 1, input.is_directory,
						      input.case_fold) ==
				 pattern_matches(&pattern, input.path, input.is_directory, input.case_fold));
	} else {
		PROPERTY(error_is_set(&err));
	}
	arena_free(&arena);
	return 0;
}

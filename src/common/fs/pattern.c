/* SPDX-License-Identifier: Apache-2.0 */
/* The matcher: two greedy loops, over the characters of a component and over the components of a
 * path. Each returns only to the last `*` or `**`. An earlier star is never reconsidered, because
 * the leftmost match of what follows it leaves the most to the rest. So each pair of positions is
 * compared at most once. Nothing here allocates or fails. A malformed pattern, which
 * pattern_compile refuses, matches nothing. */
#include "common/fs/pattern.h"

#include <stdint.h>
#include <string.h>

#include "common/fs/pattern_class.h"
#include "common/format/unicode.h"

/* One component of a path or of a normalised pattern; empty at the end of the text. */
struct component {
	const char *start, *end;
};

static struct component component_at(const char *at)
{
	struct component component;

	while (*at == '/')
		at++;
	component.start = at;
	while (*at && *at != '/')
		at++;
	component.end = at;
	return component;
}

static bool component_is_none(struct component component)
{
	return component.start == component.end;
}

/* `**` in the literal prefix is a file of that name. */
static bool component_is_any_depth(const struct pattern *pattern, struct component component)
{
	return component.start >= pattern->text + pattern->literal_prefix && component.end - component.start == 2 &&
	       component.start[0] == '*' && component.start[1] == '*';
}

/* Reads the next character as a case-insensitive file system does: composed, folded, without
 * ignored characters. False at the end. */
static bool next_folded(const char **at, const char *end, uint32_t *character)
{
	uint32_t composed;

	do {
		if (*at == end)
			return false;
		*at += unicode_decode(*at, end, character);
	} while (unicode_is_ignored(*character));
	while (*at != end && (unsigned char)**at >= 0x80) {
		uint32_t mark;
		size_t length = unicode_decode(*at, end, &mark);
		if ((composed = unicode_compose(*character, mark)) == 0)
			break;
		*character = composed;
		*at += length;
	}
	*character = unicode_fold(*character);
	return true;
}

static bool next_character(const char **at, const char *end, bool case_fold, uint32_t *character)
{
	if (*at == end)
		return false;
	/* The fast path: nearly every name is ASCII, and a scan matches every name of a tree. */
	if ((unsigned char)**at < 0x80 && (!case_fold || end - *at == 1 || (unsigned char)(*at)[1] < 0x80)) {
		*character = (unsigned char)*(*at)++;
		if (case_fold && *character >= 'A' && *character <= 'Z')
			*character += 'a' - 'A';
		return true;
	}
	if (case_fold)
		return next_folded(at, end, character);
	*at += unicode_decode(*at, end, character);
	return true;
}

/* True if the one-character item at *pattern accepts the character. Moves *pattern behind the
 * item. */
static bool item_accepts(const char **pattern, const char *end, uint32_t character, bool case_fold)
{
	uint32_t wanted;
	bool is_match;

	switch (**pattern) {
	case '?':
		++*pattern;
		return true;
	case '[':
		return pattern_class(pattern, end, character, case_fold, &is_match) == NULL && is_match;
	case '\\':
		++*pattern;
		break;
	default:
		break;
	}
	return next_character(pattern, end, case_fold, &wanted) && wanted == character;
}

/* False if the first or last bytes already differ. This decides most names for a pattern that
 * begins or ends with a plain byte, such as `.env.*` or `*.pem`. */
static bool ends_agree(struct component pattern, struct component name, bool case_fold)
{
	char first, last;

	if (case_fold || component_is_none(pattern) || component_is_none(name))
		return true;
	first = pattern.start[0];
	last = pattern.end[-1];
	return (first == name.start[0] || first == '*' || first == '?' || first == '[' || first == '\\') &&
	       (last == name.end[-1] || last == '*' || last == '?' || last == ']');
}

/* Matches a component with metacharacters against a name. */
static bool glob_matches(struct component pattern, struct component name, bool case_fold)
{
	const char *at = pattern.start, *text = name.start;
	const char *after_star = NULL, *star_text = NULL;
	uint32_t character;

	if (!ends_agree(pattern, name, case_fold))
		return false;
	for (;;) {
		if (at != pattern.end && *at == '*') {
			after_star = ++at;
			star_text = text;
			continue;
		}
		if (at == pattern.end && after_star == at)
			return true;
		if (!next_character(&text, name.end, case_fold, &character))
			return at == pattern.end;
		if (at != pattern.end && item_accepts(&at, pattern.end, character, case_fold))
			continue;
		if (!after_star)
			return false;
		/* The star takes one more character, which the read above has found. */
		next_character(&star_text, name.end, case_fold, &character);
		at = after_star;
		text = star_text;
	}
}

/* Compares two names without metacharacters. */
static bool name_matches(struct component wanted, struct component name, bool case_fold)
{
	size_t length = (size_t)(wanted.end - wanted.start);
	uint32_t left, right;

	if ((size_t)(name.end - name.start) == length && memcmp(wanted.start, name.start, length) == 0)
		return true;
	if (!case_fold)
		return false;
	for (;;) {
		bool has_left = next_folded(&wanted.start, wanted.end, &left);
		bool has_right = next_folded(&name.start, name.end, &right);
		if (!has_left || !has_right)
			return has_left == has_right;
		if (left != right)
			return false;
	}
}

static bool component_matches(const struct pattern *pattern, struct component wanted, struct component name, bool case_fold)
{
	if (wanted.start < pattern->text + pattern->literal_prefix)
		return name_matches(wanted, name, case_fold);
	return glob_matches(wanted, name, case_fold);
}

static struct component last_component(const char *text)
{
	const char *slash = strrchr(text, '/');
	struct component last = { .start = slash ? slash + 1 : text };

	last.end = last.start + strlen(last.start);
	if (!component_is_none(last))
		return last;
	/* Only the root ends with a slash. */
	while (last.end != text && last.end[-1] == '/')
		last.end--;
	for (last.start = last.end; last.start != text && last.start[-1] != '/';)
		last.start--;
	return last;
}

/* Returns the end of the shortest prefix of path that matches, with is_whole the end of the path if
 * it matches; else NULL. The last component of a normalised pattern is never `**`. */
static const char *match_components(const struct pattern *pattern, const char *path, bool is_whole, bool case_fold)
{
	const char *at = pattern->text, *text = path;
	const char *after_stars = NULL, *stars_text = NULL;

	for (;;) {
		struct component wanted = component_at(at), name = component_at(text);
		if (component_is_none(wanted) && (!is_whole || component_is_none(name)))
			return text;
		if (component_is_any_depth(pattern, wanted)) {
			at = after_stars = wanted.end;
			stars_text = text;
			continue;
		}
		if (component_is_none(name))
			return NULL;
		if (!component_is_none(wanted) && component_matches(pattern, wanted, name, case_fold)) {
			at = wanted.end;
			text = name.end;
			continue;
		}
		if (!after_stars)
			return NULL;
		stars_text = component_at(stars_text).end;
		at = after_stars;
		text = stars_text;
	}
}

bool pattern_matches_base(const struct pattern *pattern, const char *name, bool is_directory, bool case_fold)
{
	struct component wanted = { pattern->text, pattern->text + strlen(pattern->text) };
	struct component given = { name, name + strlen(name) };

	if (!pattern->is_base_name || component_is_none(given) || (pattern->is_directory_only && !is_directory))
		return false;
	return component_matches(pattern, wanted, given, case_fold);
}

bool pattern_matches(const struct pattern *pattern, const char *path, bool is_directory, bool case_fold)
{
	struct component name, wanted;

	if (pattern->is_directory_only && !is_directory)
		return false;
	name = last_component(path);
	wanted = last_component(pattern->text);
	if (component_is_none(name) || component_is_none(wanted))
		return component_is_none(name) && component_is_none(wanted);
	/* Most paths differ in their last component, so compare it first. */
	if (!component_matches(pattern, wanted, name, case_fold))
		return false;
	return pattern->is_base_name || match_components(pattern, path, true, case_fold) != NULL;
}

static const char *base_name_covers(const struct pattern *pattern, const char *path, bool case_fold)
{
	struct component wanted = component_at(pattern->text);

	for (struct component name = component_at(path); !component_is_none(name); name = component_at(name.end)) {
		if (component_matches(pattern, wanted, name, case_fold))
			return name.end;
	}
	return NULL;
}

size_t pattern_covers(const struct pattern *pattern, const char *path, bool is_directory, bool case_fold)
{
	const char *end = pattern->is_base_name ? base_name_covers(pattern, path, case_fold)
						: match_components(pattern, path, false, case_fold);

	if (!end)
		return 0;
	/* If the shortest match is the whole path, no ancestor matched. */
	if (pattern->is_directory_only && !is_directory && component_is_none(component_at(end)))
		return 0;
	return end == path ? 1 : (size_t)(end - path);
}

bool pattern_may_match_below(const struct pattern *pattern, const char *directory, bool case_fold)
{
	struct component wanted = component_at(pattern->text), name = component_at(directory);

	if (pattern->is_base_name)
		return true;
	while (!component_is_none(name)) {
		if (component_is_none(wanted))
			return false;
		if (component_is_any_depth(pattern, wanted))
			return true;
		if (!component_matches(pattern, wanted, name, case_fold))
			return false;
		wanted = component_at(wanted.end);
		name = component_at(name.end);
	}
	return !component_is_none(wanted);
}

bool pattern_matches_name(const char *pattern, const char *name)
{
	struct component wanted = { pattern, pattern + strlen(pattern) }, given = { name, name + strlen(name) };

	return glob_matches(wanted, given, false);
}

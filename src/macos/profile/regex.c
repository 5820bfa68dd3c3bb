/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns to regular expressions; the header lists the syntax that may be used. A character
 * without a safe spelling becomes any character (wide) or makes the expression impossible (narrow).
 * It is not known whether the kernel matches bytes or characters: expressions above ASCII work for
 * both. */
#include "macos/profile/regex.h"

#include <stdint.h>
#include <string.h>

#include "common/fs/pattern_class.h"
#include "common/format/unicode.h"

/* A compiled class counts up to 15; two neighbouring characters may count as two. */
enum { RANGES_MAX = 7 };

const char regex_any_depth[] = "([^/]+/)*";

static const char any_character[] = "[^/]";
static const char any_name[] = "[^/]*";
static const char above_ascii[] = "[^ -~]"; /* and controls */

/* Letters that a case-insensitive volume also finds in other characters: U+017F equals s, U+212A
 * equals k, U+FB01 equals `fi`, and so on for ff, fl, ss, st. */
static const char folding_letters[] = "fiklstFIKLST";
/* These letters and everything above ASCII, but no other printable character. */
static const char folding_class[] = "[^ -EGHJM-RU-eghjm-ru-~]";

static bool is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_printable(unsigned char c)
{
	return c >= ' ' && c <= '~';
}

static void add_letter(struct text *out, unsigned char c)
{
	text_add(out, "[%c%c]", c | 0x20, c & ~0x20);
}

/* Returns how many bytes from `at` are such letters. can_fold: another character can replace
 * some. */
static size_t folding_run(const char *at, const char *end, bool *can_fold)
{
	size_t length = 0;
	*can_fold = false;
	while (at + length != end && strchr(folding_letters, at[length]) && at[length]) {
		char c = (char)(at[length] | 0x20), before = length > 0 ? (char)(at[length - 1] | 0x20) : '\0';
		*can_fold |= c == 'k' || c == 's' || (before == 'f' && (c == 'f' || c == 'i' || c == 'l'));
		length++;
	}
	return length;
}

static void add_folding_run(struct text *out, const char *at, size_t length, bool can_fold)
{
	text_add(out, "%s", can_fold ? "(" : "");
	for (size_t i = 0; i < length; i++)
		add_letter(out, (unsigned char)at[i]);
	if (can_fold)
		text_add(out, "|%s*%s%s*)", folding_class, above_ascii, folding_class);
}

/* Adds one literal printable character. False if there is no narrow expression. */
static bool add_printable(struct text *out, unsigned char c, enum regex_width width)
{
	if (is_letter(c))
		add_letter(out, c);
	else if (strchr(".*+?()|$", c))
		text_add(out, "[%c]", c);
	else if (!strchr("^[]\\{}\"", c))
		text_add(out, "%c", c);
	else if (width == REGEX_WIDE)
		text_add(out, "%s", any_character);
	else
		return false;
	return true;
}

/* Returns the end of the bytes that are not printable ASCII. */
static const char *skip_high(const char *at, const char *end)
{
	while (at != end && !is_printable((unsigned char)*at))
		at++;
	return at;
}

/* True if the characters up to the next printable ASCII are all ignored in names. */
static bool is_ignored(const char *at, const char *end)
{
	while (at != end && !is_printable((unsigned char)*at)) {
		uint32_t character;
		at += unicode_decode(at, end, &character);
		if (!unicode_is_ignored(character))
			return false;
	}
	return true;
}

/* True if a combining mark follows that forms one character with the base. */
static bool takes_mark(unsigned char base, const char *at, const char *end)
{
	uint32_t mark;
	if (at == end || is_printable((unsigned char)*at))
		return false;
	unicode_decode(at, end, &mark);
	return unicode_compose(base, mark) != 0;
}

/* Adds one or more literal characters. Returns the rest, or NULL if there is no narrow
 * expression. */
static const char *add_plain(struct text *out, const char *at, const char *end, enum regex_width width)
{
	unsigned char c = (unsigned char)*at;
	bool can_fold = false;
	size_t run;

	/* Any number of bytes or characters, composed or not. */
	if (!is_printable(c) || takes_mark(c, at + 1, end)) {
		if (width == REGEX_NARROW)
			return NULL;
		if (!is_printable(c) && is_ignored(at, end))
			text_add(out, "%s*", above_ascii);
		else if (!out->data || !text_ends_with(out->data, "[^/]+"))
			text_add(out, "[^/]+");
		return skip_high(at + (is_printable(c) ? 1 : 0), end);
	}
	run = width == REGEX_WIDE ? folding_run(at, end, &can_fold) : 0;
	/* The last letter of the run may be the base of a mark. */
	if (run > 0 && takes_mark((unsigned char)at[run - 1], at + run, end))
		folding_run(at, at + --run, &can_fold);
	if (run > 0) {
		add_folding_run(out, at, run, can_fold);
		return at + run;
	}
	return add_printable(out, c, width) ? at + 1 : NULL;
}

/* A class as the set of ASCII characters that it accepts, determined with pattern_class(). */
struct class_set {
	bool has[128];
	bool has_other; /* accepts a character that is not printable ASCII */
	bool is_negated;
};

static const char *read_class(const char *at, const char *end, struct class_set *set)
{
	const char *after = NULL;
	*set = (struct class_set){ .is_negated = end - at > 1 && (at[1] == '!' || at[1] == '^') };
	set->has_other = set->is_negated;
	for (uint32_t c = 1; c < 128; c++) {
		bool is_match = false;
		after = at;
		if (pattern_class(&after, end, c, true, &is_match) != NULL)
			return NULL;
		if (c != '/' && is_match && is_printable((unsigned char)c))
			set->has[c] = true;
		else if (is_match && c != '/')
			set->has_other = true;
	}
	for (const char *byte = at; byte != after; byte++)
		set->has_other |= !is_printable((unsigned char)*byte);
	set->has_other |= set->has['s'] || set->has['k'];
	return after;
}

/* Replaces characters that are special in a bracket class by the range around them (wide), or
 * leaves them out (narrow). */
static void make_safe(struct class_set *set, enum regex_width width)
{
	static const struct {
		char first, last;
		const char *unsafe;
	} ranges[] = { { '!', '#', "\"" }, { ',', '.', "-" }, { 'Z', '_', "[\\]^" }, { 'z', '~', "{}" } };
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
		bool is_needed = false;
		for (const char *c = ranges[i].unsafe; *c; c++) {
			is_needed |= set->has[(unsigned char)*c];
			set->has[(unsigned char)*c] = false;
		}
		for (char c = ranges[i].first; is_needed && width == REGEX_WIDE && c <= ranges[i].last; c++)
			set->has[(unsigned char)c] = true;
	}
}

static int count_ranges(const struct class_set *set)
{
	int count = 0;
	for (int c = ' '; c <= '~'; c++)
		count += set->has[c] && (c == ' ' || !set->has[c - 1]);
	return count;
}

/* Adds the set, with runs of three or more as ranges. After make_safe() no unsafe character is the
 * end of a range. More ranges than one class can count become alternatives of several classes. */
static void add_set(struct text *out, const struct class_set *set)
{
	int total = count_ranges(set), count = 0;
	text_add(out, "%s", total > RANGES_MAX ? "(" : "");
	for (int c = ' '; c <= '~'; c++) {
		int last = c;
		if (!set->has[c])
			continue;
		while (last < '~' && set->has[last + 1])
			last++;
		if (count % RANGES_MAX == 0)
			text_add(out, "%s[", count > 0 ? "|" : "");
		text_add(out, "%c", c);
		if (last - c > 1)
			text_add(out, "-");
		if (last > c)
			text_add(out, "%c", last);
		if (++count % RANGES_MAX == 0 || count == total)
			text_add(out, "]");
		c = last;
	}
	text_add(out, "%s", total > RANGES_MAX ? ")" : "");
}

static const char *add_class(struct text *out, const char *at, const char *end, enum regex_width width)
{
	struct class_set set;
	const char *after = read_class(at, end, &set);
	bool has_other, has_set = false;

	if (!after)
		return NULL;
	make_safe(&set, width);
	has_other = set.has_other && width == REGEX_WIDE;
	for (int c = ' '; c <= '~'; c++)
		has_set |= set.has[c];
	if (!has_set && !has_other)
		return NULL;
	text_add(out, "%s", has_other && has_set ? "(" : "");
	add_set(out, &set);
	/* A character above ASCII may be written as a letter with combining marks. */
	if (has_other)
		text_add(out, "%s%s?%s+%s", has_set ? "|" : "", any_character, above_ascii, has_set ? ")" : "");
	return after;
}

static const char *add_special(struct text *out, const char *at, const char *end, enum regex_width width)
{
	switch (*at) {
	case '*':
		while (at != end && *at == '*')
			at++;
		text_add(out, "%s", any_name);
		return at;
	case '?':
		text_add(out, "%s", any_character);
		if (width == REGEX_WIDE)
			text_add(out, "%s*", above_ascii);
		return at + 1;
	case '[':
		return add_class(out, at, end, width);
	default: /* a quoted character */
		if (++at == end)
			return NULL;
		return add_plain(out, at, is_printable((unsigned char)*at) ? at + 1 : skip_high(at, end), width);
	}
}

/* Returns the next special character, or the end of the part. */
static const char *plain_end(const struct regex_part *part, const char *at)
{
	while (at != part->end && (part->is_plain || !strchr("*?[\\", *at)))
		at++;
	return at;
}

/* True for `*` and `**`, which match any name but the empty one of the root. */
static bool is_only_stars(const struct regex_part *part)
{
	size_t length = (size_t)(part->end - part->start);
	return !part->is_plain && length > 0 && strspn(part->start, "*") >= length;
}

bool regex_add_part(struct text *out, const struct regex_part *part, enum regex_width width)
{
	const char *at = part->start;
	if (is_only_stars(part)) {
		text_add(out, "[^/]+");
		return true;
	}
	while (at && at != part->end) {
		const char *stop = plain_end(part, at);
		while (at && at != stop)
			at = add_plain(out, at, stop, width);
		if (at && at != part->end)
			at = add_special(out, at, part->end, width);
	}
	return at != NULL;
}

bool regex_add_parts(struct text *out, const struct regex_shape *shape, size_t first, size_t end, enum regex_width width)
{
	bool needs_slash = true;
	for (size_t i = first; i < end; i++) {
		const struct regex_part *part = &shape->items[i];
		if (needs_slash)
			text_add(out, "/");
		/* The expression of a gap ends with a slash. */
		needs_slash = !part->is_gap;
		if (part->is_gap)
			text_add(out, "%s", regex_any_depth);
		else if (!regex_add_part(out, part, width))
			return false;
	}
	return true;
}

static struct regex_part next_part(const char **at)
{
	struct regex_part part = { .start = *at + strspn(*at, "/") };
	part.end = part.start + strcspn(part.start, "/");
	*at = part.end;
	return part;
}

void regex_add_path(struct text *out, const char *path)
{
	for (;;) {
		struct regex_part part = next_part(&path);
		if (part.start == part.end)
			return;
		part.is_plain = true;
		text_add(out, "/");
		regex_add_part(out, &part, REGEX_WIDE);
	}
}

static bool is_stars(const struct regex_part *part)
{
	return !part->is_plain && part->end - part->start == 2 && memcmp(part->start, "**", 2) == 0;
}

static bool is_star(const struct regex_part *part)
{
	return !part->is_plain && part->end - part->start == 1 && *part->start == '*';
}

struct regex_shape regex_shape(struct arena *arena, const struct pattern *pattern)
{
	struct regex_shape shape = { .is_anchored = !pattern->is_anywhere, .is_directory_only = pattern->is_directory_only };
	const char *at = pattern->text;

	for (;;) {
		struct regex_part part = next_part(&at);
		if (part.start == part.end)
			break;
		part.is_plain = part.start < pattern->text + pattern->literal_prefix;
		part.is_gap = !pattern->is_base_name && is_stars(&part);
		/* A leading gap is implied by is_anchored = false. */
		if (part.is_gap && pattern->is_anywhere && shape.count == 0)
			continue;
		*arena_push(arena, &shape) = part;
	}
	/* A gap before a final `*`: the entries of the directory suffice, because everything below
	 * them is covered too. */
	if (shape.count > 1 && shape.items[shape.count - 2].is_gap && is_star(&shape.items[shape.count - 1])) {
		shape.items[shape.count - 2] = shape.items[shape.count - 1];
		shape.count--;
	}
	return shape;
}

bool regex_part_is_simple(const struct regex_part *part)
{
	return plain_end(part, part->start) == part->end;
}

bool regex_part_matches(const struct regex_part *part, const char *name, size_t length)
{
	struct arena arena = { 0 };
	struct pattern pattern = { .text = arena_copy_n(&arena, part->start, (size_t)(part->end - part->start)),
				   .is_base_name = true };
	bool result;

	pattern.is_literal = part->is_plain;
	pattern.literal_prefix = part->is_plain ? strlen(pattern.text) : 0;
	result = pattern_matches_base(&pattern, arena_copy_n(&arena, name, length), true, true);
	arena_free(&arena);
	return result;
}

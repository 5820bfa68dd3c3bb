/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical form of a host name. Converts to lower case, composes accents, and turns labels
 * beyond ASCII into A-labels. Refuses rather than maps whatever a resolver, a browser or a user
 * could take for another name: no character outside ASCII becomes an ASCII character, and a label
 * does not mix scripts with look-alike letters. Stricter than IDNA 2008: characters with contextual
 * rules are refused. */
#include "common/net/destination.h"

#include <string.h>

#include "common/format/punycode.h"
#include "common/format/unicode.h"

enum { LABEL_MAX = 63, NAME_MAX_BYTES = 253, INPUT_MAX = 1024 };

static const char ace_prefix[] = "xn--";
enum { ACE_PREFIX = sizeof ace_prefix - 1 };

/* One label: its characters in lower case, composed. */
struct label {
	uint32_t characters[PUNYCODE_MAX];
	size_t count;
	bool is_ascii;
};

/* Scripts with letters that look like those of another script in this list, and right-to-left
 * scripts. */
enum script {
	SCRIPT_OTHER = 0,
	SCRIPT_LATIN = 1,
	SCRIPT_GREEK = 2,
	SCRIPT_CYRILLIC = 4,
	SCRIPT_ARMENIAN = 8,
	SCRIPT_CHEROKEE = 16,
	SCRIPT_COPTIC = 32,
	SCRIPT_LISU = 64,
	SCRIPT_RIGHT_TO_LEFT = 128,
};

static const struct {
	uint32_t first, last;
	enum script script;
} scripts[] = {
	{ 'a', 'z', SCRIPT_LATIN },	     { 0xaa, 0x2b8, SCRIPT_LATIN },
	{ 0x370, 0x3e1, SCRIPT_GREEK },	     { 0x3e2, 0x3ef, SCRIPT_COPTIC },
	{ 0x3f0, 0x3ff, SCRIPT_GREEK },	     { 0x400, 0x52f, SCRIPT_CYRILLIC },
	{ 0x530, 0x58f, SCRIPT_ARMENIAN },   { 0x590, 0x8ff, SCRIPT_RIGHT_TO_LEFT },
	{ 0x13a0, 0x13ff, SCRIPT_CHEROKEE }, { 0x1c80, 0x1c8f, SCRIPT_CYRILLIC },
	{ 0x1d00, 0x1dbf, SCRIPT_LATIN },    { 0x1e00, 0x1eff, SCRIPT_LATIN },
	{ 0x1f00, 0x1fff, SCRIPT_GREEK },    { 0x2c60, 0x2c7f, SCRIPT_LATIN },
	{ 0x2c80, 0x2cff, SCRIPT_COPTIC },   { 0x2de0, 0x2dff, SCRIPT_CYRILLIC },
	{ 0xa4d0, 0xa4ff, SCRIPT_LISU },     { 0xa640, 0xa69f, SCRIPT_CYRILLIC },
	{ 0xa720, 0xa7ff, SCRIPT_LATIN },    { 0xab30, 0xab6f, SCRIPT_LATIN },
	{ 0xab70, 0xabbf, SCRIPT_CHEROKEE }, { 0x10800, 0x10fff, SCRIPT_RIGHT_TO_LEFT },
	{ 0x1df00, 0x1dfff, SCRIPT_LATIN },  { 0x1e800, 0x1efff, SCRIPT_RIGHT_TO_LEFT },
};

static enum script script_of(uint32_t character)
{
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
		if (character >= scripts[i].first && character <= scripts[i].last)
			return scripts[i].script;
	}
	return SCRIPT_OTHER;
}

static bool is_digit(uint32_t character)
{
	return character >= '0' && character <= '9';
}

static bool is_host_ascii(uint32_t character)
{
	return is_digit(character) || (character >= 'a' && character <= 'z') || character == '-' || character == '_';
}

static const char *ascii_problem(uint32_t character)
{
	if (character <= 0x20 || character == 0x7f)
		return "a host name must not contain blanks or control characters";
	if (character == '/' || character == ':' || character == '@')
		return "not a host name: write the name alone, without scheme, user or path";
	if (character == '%')
		return "zone ids and percent signs are not supported in host names";
	if (character == '*')
		return "`*` is allowed only at the beginning, as in `*.example.org`";
	return "a host name consists of letters, digits, `-` and `_`";
}

/* Adds one character in lower case, composed with the one before it. Returns a problem or NULL. */
static const char *label_add(struct label *label, uint32_t character)
{
	uint32_t composed;

	if (character < 0x80) {
		character = unicode_fold(character);
		if (!is_host_ascii(character))
			return ascii_problem(character);
	} else if (!unicode_is_idna_valid(character)) {
		uint32_t lower = unicode_fold(character);
		/* The table has no ASCII characters: full-width letters, the Kelvin sign and
		 * similar ones never become ASCII. */
		if (!unicode_is_idna_valid(lower))
			return "a character of this host name is not allowed in internationalised names";
		character = lower;
	}
	if (label->count > 0 && (composed = unicode_compose(label->characters[label->count - 1], character)) != 0) {
		label->characters[label->count - 1] = composed;
		return NULL;
	}
	if (label->count == PUNYCODE_MAX)
		return "a part of a host name must not be longer than 63 bytes";
	label->characters[label->count++] = character;
	return NULL;
}

/* Refuses mixed scripts with look-alike letters, and right-to-left letters mixed with others (RFC
 * 5893, simplified). */
static const char *script_problem(const struct label *label)
{
	unsigned seen = 0;

	for (size_t i = 0; i < label->count; i++)
		seen |= script_of(label->characters[i]);
	if (seen & (seen - 1))
		return "a part of this host name mixes scripts whose letters look alike";
	if (seen & SCRIPT_RIGHT_TO_LEFT && is_digit(label->characters[0]))
		return "a part of a host name that is written from right to left must not begin with a digit";
	return NULL;
}

static const char *unicode_problem(const struct label *label)
{
	for (size_t i = 0; i < label->count; i++) {
		uint32_t character = label->characters[i];
		if (character == '_' || (character >= 0x80 && !unicode_is_idna_valid(character)))
			return "a character of this host name is not allowed in internationalised names";
	}
	if (unicode_is_idna_mark(label->characters[0]))
		return "a part of a host name must not begin with a combining mark";
	return script_problem(label);
}

/* Returns the problem of a whole label or NULL. With is_ace the hyphens of "xn--" are allowed. */
static const char *label_problem(struct label *label, bool is_ace)
{
	const uint32_t *characters = label->characters;
	size_t count = label->count;

	if (count == 0)
		return "a host name must not have empty parts";
	if (characters[0] == '-' || characters[count - 1] == '-')
		return "a part of a host name must not begin or end with `-`";
	if (!is_ace && count >= 4 && characters[2] == '-' && characters[3] == '-')
		return "a part of a host name must not have `--` at its third character";
	label->is_ascii = true;
	for (size_t i = 0; i < count; i++)
		label->is_ascii &= characters[i] < 0x80;
	return label->is_ascii ? NULL : unicode_problem(label);
}

static bool label_is_ace(const struct label *label)
{
	for (size_t i = 0; i < ACE_PREFIX; i++) {
		if (label->count < ACE_PREFIX || label->characters[i] != (unsigned char)ace_prefix[i])
			return false;
	}
	return true;
}

/* Writes the label as ASCII. */
static const char *label_write(const struct label *label, char out[LABEL_MAX], size_t *length)
{
	if (!label->is_ascii) {
		memcpy(out, ace_prefix, ACE_PREFIX);
		if (!punycode_encode(label->characters, label->count, out + ACE_PREFIX, LABEL_MAX - ACE_PREFIX, length))
			return "a part of a host name must not be longer than 63 bytes";
		*length += ACE_PREFIX;
		return NULL;
	}
	if (label->count > LABEL_MAX)
		return "a part of a host name must not be longer than 63 bytes";
	for (size_t i = 0; i < label->count; i++)
		out[i] = (char)label->characters[i];
	*length = label->count;
	return NULL;
}

/* Refuses an A-label that differs from the encoding of the characters it decodes to: one host must
 * have one spelling. */
static const char *ace_problem(const char *text, size_t length)
{
	static const char problem[] = "a part of this host name begins with `xn--` and is not valid";
	uint32_t characters[PUNYCODE_MAX];
	struct label label = { 0 };
	size_t count, written;
	char again[LABEL_MAX];

	if (!punycode_decode(text + ACE_PREFIX, length - ACE_PREFIX, characters, &count))
		return problem;
	for (size_t i = 0; i < count; i++) {
		const char *inner = label_add(&label, characters[i]);
		if (inner)
			return inner;
	}
	if (label.count != count || memcmp(label.characters, characters, count * sizeof *characters) != 0)
		return problem;
	const char *inner = label_problem(&label, false);
	if (inner)
		return inner;
	if (label.is_ascii || label_write(&label, again, &written) || written != length || memcmp(again, text, length) != 0)
		return problem;
	return NULL;
}

static const char *label_canonical(const char *at, const char *end, char out[LABEL_MAX], size_t *length)
{
	struct label label = { 0 };
	const char *problem;
	uint32_t character;

	while (at != end) {
		at += unicode_decode(at, end, &character);
		if (character >= UNICODE_INVALID)
			return "a host name must be UTF-8";
		if ((problem = label_add(&label, character)))
			return problem;
	}
	if ((problem = label_problem(&label, label_is_ace(&label))) || (problem = label_write(&label, out, length)))
		return problem;
	/* Also refuses other characters after "xn--": such a label would get the prefix twice. */
	if (label_is_ace(&label))
		return label.is_ascii ? ace_problem(out, *length)
				      : "a part of a host name that begins with `xn--` must be ASCII";
	return NULL;
}

/* True if a URL parser or inet_aton takes a name with this last label for an address. */
static bool is_number(const char *label, size_t length)
{
	bool is_hex = length >= 2 && label[0] == '0' && label[1] == 'x';

	for (size_t i = is_hex ? 2 : 0; i < length; i++) {
		if (!is_digit((unsigned char)label[i]) && !(is_hex && label[i] >= 'a' && label[i] <= 'f'))
			return false;
	}
	return true;
}

/* Writes the canonical name to `out`. Returns a problem or NULL. */
static const char *name_canonical(const char *at, const char *end, char out[NAME_MAX_BYTES + 1])
{
	size_t used = 0;

	for (;;) {
		const char *dot = memchr(at, '.', (size_t)(end - at));
		char label[LABEL_MAX];
		size_t length;
		const char *problem = label_canonical(at, dot ? dot : end, label, &length);
		if (problem)
			return problem;
		if (used + length + (dot != NULL) > NAME_MAX_BYTES)
			return "a host name must not be longer than 253 bytes";
		memcpy(out + used, label, length);
		used += length;
		if (!dot) {
			out[used] = '\0';
			return is_number(label, length) ? "this is spelled like a number, not a host name" : NULL;
		}
		out[used++] = '.';
		at = dot + 1;
	}
}

int host_canonical(struct arena *arena, const char *host, size_t length, const char **canonical, struct error *err)
{
	char name[NAME_MAX_BYTES + 1];
	const char *problem;

	if (length > 0 && host[length - 1] == '.')
		length--;
	if (length == 0)
		return error_set(err, "a host name must not be empty");
	if (length > INPUT_MAX)
		return error_set(err, "a host name must not be longer than %d bytes", NAME_MAX_BYTES);
	problem = name_canonical(host, host + length, name);
	if (problem)
		return error_set(err, "%s", problem);
	*canonical = arena_copy(arena, name);
	return 0;
}

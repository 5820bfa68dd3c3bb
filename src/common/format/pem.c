/* SPDX-License-Identifier: Apache-2.0 */
/* Line by line, and every line must be one of five: blank, a comment, the begin of a public block,
 * base64 inside a block, the end of that block. Stricter than the readers of PEM, which skip what
 * they do not understand: what they would skip here hides the file.
 *
 * A line ends with LF or CR LF. A CR elsewhere, NUL and other control characters are refused,
 * because readers differ in whether a line ends there. */
#include "common/format/pem.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const char begin_mark[] = "-----BEGIN ", end_mark[] = "-----END ", dashes[] = "-----";

/* Labels of RFC 7468 and OpenSSL. Whatever is not here hides the file. */
static const struct {
	const char *label;
	enum pem_kind kind;
} labels[] = {
	{ "CERTIFICATE", PEM_CERTIFICATE },	    { "X509 CERTIFICATE", PEM_CERTIFICATE },
	{ "TRUSTED CERTIFICATE", PEM_CERTIFICATE }, { "X509 CRL", PEM_CRL },
	{ "CERTIFICATE REQUEST", PEM_REQUEST },	    { "NEW CERTIFICATE REQUEST", PEM_REQUEST },
	{ "PUBLIC KEY", PEM_PUBLIC_KEY },	    { "RSA PUBLIC KEY", PEM_PUBLIC_KEY },
	{ "DSA PUBLIC KEY", PEM_PUBLIC_KEY },	    { "ECDSA PUBLIC KEY", PEM_PUBLIC_KEY },
	{ "DH PARAMETERS", PEM_PARAMETERS },	    { "X9.42 DH PARAMETERS", PEM_PARAMETERS },
	{ "DSA PARAMETERS", PEM_PARAMETERS },	    { "EC PARAMETERS", PEM_PARAMETERS },
};

struct line {
	const char *start;
	size_t length; /* without the end of the line and blanks before it */
};

struct reader {
	const char *at, *end;
	struct pem_contents *contents;
};

static bool is_blank(char character)
{
	return character == ' ' || character == '\t';
}

/* Reads the next line. False if a character in it belongs into no line. */
static bool next_line(struct reader *reader, struct line *line)
{
	const char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
	const char *end = newline ? newline : reader->end;
	line->start = reader->at;
	reader->at = newline ? newline + 1 : reader->end;
	reader->contents->line++;
	if (newline && end > line->start && end[-1] == '\r')
		end--;
	for (const char *c = line->start; c < end; c++)
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
			return false;
	while (end > line->start && is_blank(end[-1]))
		end--;
	line->length = (size_t)(end - line->start);
	return true;
}

static bool starts_with(const struct line *line, const char *text)
{
	size_t length = strlen(text);
	return line->length >= length && memcmp(line->start, text, length) == 0;
}

/* True for a comment. One that contains the mark of a block may be a key that was commented out. */
static bool is_comment(const struct line *line)
{
	static const char word[] = "BEGIN";
	size_t length = strlen(word);
	if (line->length == 0 || line->start[0] != '#')
		return false;
	for (size_t i = 0; i + length <= line->length; i++)
		if (strncasecmp(line->start + i, word, length) == 0)
			return false;
	return true;
}

/* Finds the label of a line `mark` LABEL-----. False if the line is not of that form. */
static bool find_label(const struct line *line, const char *mark, struct line *label)
{
	size_t before = strlen(mark), after = strlen(dashes);
	if (!starts_with(line, mark) || line->length < before + after + 1 ||
	    memcmp(line->start + line->length - after, dashes, after) != 0)
		return false;
	*label = (struct line){ line->start + before, line->length - before - after };
	return true;
}

static bool is_label(const struct line *label, const char *wanted)
{
	return label->length == strlen(wanted) && memcmp(label->start, wanted, label->length) == 0;
}

/* Returns the row of a public label, or the number of rows. */
static size_t find_row(const struct line *label)
{
	size_t row = 0;
	while (row < sizeof labels / sizeof labels[0] && !is_label(label, labels[row].label))
		row++;
	return row;
}

static bool is_base64(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

/* Checks one line of a block. After padding no line may follow. */
static bool is_body(const struct line *line, bool *is_padded)
{
	size_t i = 0;
	if (line->length > 0 && *is_padded)
		return false;
	while (i < line->length && is_base64(line->start[i]))
		i++;
	for (size_t padding = 0; i < line->length && line->start[i] == '=' && padding < 2; padding++, i++)
		*is_padded = true;
	return i == line->length;
}

/* Reads the rest of a block, whose begin has been read. False if it is not complete. */
static bool read_block(struct reader *reader, const char *label)
{
	bool is_padded = false, is_filled = false;
	struct line line, end;
	while (reader->at < reader->end) {
		if (!next_line(reader, &line))
			return false;
		if (find_label(&line, end_mark, &end))
			return is_filled && is_label(&end, label);
		if (!is_body(&line, &is_padded))
			return false;
		is_filled |= line.length > 0;
	}
	return false;
}

enum pem_verdict pem_judge(const char *text, size_t length, struct pem_contents *contents)
{
	struct reader reader = { .at = text, .end = text + length, .contents = contents };
	bool has_block = false;

	*contents = (struct pem_contents){ 0 };
	while (reader.at < reader.end) {
		struct line line, label;
		size_t row;
		if (!next_line(&reader, &line))
			return PEM_OTHER_TEXT;
		if (line.length == 0 || is_comment(&line))
			continue;
		if (!find_label(&line, begin_mark, &label))
			return PEM_OTHER_TEXT;
		row = find_row(&label);
		if (row == sizeof labels / sizeof labels[0])
			return PEM_OTHER_KIND;
		if (!read_block(&reader, labels[row].label))
			return PEM_BROKEN;
		contents->counts[labels[row].kind]++;
		has_block = true;
	}
	return has_block ? PEM_PUBLIC : PEM_EMPTY;
}

const char *pem_kind_name(enum pem_kind kind, size_t count)
{
	static const char *const names[PEM_KIND_COUNT][2] = {
		[PEM_CERTIFICATE] = { "certificate", "certificates" },
		[PEM_CRL] = { "revocation list", "revocation lists" },
		[PEM_REQUEST] = { "certificate request", "certificate requests" },
		[PEM_PUBLIC_KEY] = { "public key", "public keys" },
		[PEM_PARAMETERS] = { "set of parameters", "sets of parameters" },
	};
	return names[kind][count != 1];
}

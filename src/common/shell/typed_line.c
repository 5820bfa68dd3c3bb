/* SPDX-License-Identifier: Apache-2.0 */
#include "common/shell/typed_line.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/base/text.h"

enum { LINE_MAX_BYTES = 64 * 1024 };

/* Byte by byte: what follows the line belongs to the shell. */
static int take_byte(int terminal, int wait_ms, char *byte)
{
	struct pollfd wanted = { .fd = terminal, .events = POLLIN };
	int ready;
	do {
		ready = poll(&wanted, 1, wait_ms);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return -1;
	return read(terminal, byte, 1) == 1 ? 0 : -1;
}

static bool is_line_end(char byte)
{
	return byte == '\r' || byte == '\n';
}

static bool is_control(char byte)
{
	return ((unsigned char)byte < ' ' && byte != '\t') || byte == '\177';
}

/* The time limit counts until the first byte: an editor types a line at once, a user slowly. */
static const char *take_line(struct arena *arena, int terminal, int wait_ms)
{
	struct text line = { 0 };
	const char *result = NULL;
	char byte;

	while (line.length < LINE_MAX_BYTES && take_byte(terminal, line.length > 0 ? -1 : wait_ms, &byte) == 0) {
		if (is_line_end(byte)) {
			result = line.length > 0 ? arena_copy_n(arena, line.data, line.length) : NULL;
			break;
		}
		if (is_control(byte))
			break;
		text_add_n(&line, &byte, 1);
	}
	text_free(&line);
	return result;
}

const char *typed_line_read(struct arena *arena, int terminal, int wait_ms)
{
	struct termios before, quiet;
	const char *line;

	if (tcgetattr(terminal, &before) < 0)
		return NULL;
	quiet = before;
	/* Without ICANON a line may be longer than 4095 bytes. */
	quiet.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	quiet.c_cc[VMIN] = 1;
	quiet.c_cc[VTIME] = 0;
	if (tcsetattr(terminal, TCSANOW, &quiet) < 0)
		return NULL;
	line = take_line(arena, terminal, wait_ms);
	(void)tcsetattr(terminal, TCSANOW, &before);
	return line;
}

/* Appends the text between single quotes; returns the place behind them. */
static const char *take_single(const char *at, struct text *out)
{
	size_t length = strcspn(at, "'");
	text_add_n(out, at, length);
	return at + length + (at[length] == '\'');
}

static const char *take_double(const char *at, struct text *out)
{
	for (; *at && *at != '"'; at++) {
		if (at[0] == '\\' && at[1] && strchr("\\\"$`", at[1]))
			at++;
		text_add_n(out, at, 1);
	}
	return at + (*at == '"');
}

/* Takes one word; returns the place behind it. */
static const char *take_word(const char *at, struct text *out)
{
	while (*at && !strchr(" \t;&|<>()", *at)) {
		if (*at == '\'') {
			at = take_single(at + 1, out);
		} else if (*at == '"') {
			at = take_double(at + 1, out);
		} else {
			at += at[0] == '\\' && at[1];
			text_add_n(out, at++, 1);
		}
	}
	return at;
}

const char *typed_line_variable(struct arena *arena, const char *line, const char *name)
{
	size_t length = strlen(name);
	const char *value = NULL;

	while (*line) {
		struct text word = { 0 };
		const char *end = take_word(line, &word);
		if (word.length > length && word.data[length] == '=' && memcmp(word.data, name, length) == 0)
			value = arena_copy_n(arena, word.data + length + 1, word.length - length - 1);
		text_free(&word);
		line = end > line ? end : line + 1;
	}
	return value;
}

const char *typed_line_replace(struct arena *arena, const char *line, const char *word, const char *other)
{
	struct text out = { 0 };
	size_t length = strlen(word);
	const char *result, *start = line;

	text_add_n(&out, "", 0);
	while (*line) {
		bool is_start = line == start || line[-1] == ' ';
		if (is_start && strncmp(line, word, length) == 0 && (line[length] == ' ' || line[length] == '\0')) {
			text_add(&out, "%s", other);
			line += length;
		} else {
			text_add_n(&out, line++, 1);
		}
	}
	result = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return result;
}

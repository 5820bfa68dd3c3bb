/* SPDX-License-Identifier: Apache-2.0 */
/* Takes violations out of `log stream --style ndjson`. A line is one JSON object whose eventMessage reads
 *   Sandbox: NAME(PID) deny(1) OPERATION [TARGET] TAG
 * Only that member is looked at. A line that reads otherwise is passed over: reports are for people, nothing is decided by them. */
#include "macos/profile/violations.h"

#include <stdint.h>
#include <string.h>

static const char member[] = "\"eventMessage\"";

static void put_utf8(char **out, uint32_t character)
{
	if (character < 0x80) {
		*(*out)++ = (char)character;
	} else if (character < 0x800) {
		*(*out)++ = (char)(0xc0 | character >> 6);
		*(*out)++ = (char)(0x80 | (character & 0x3f));
	} else {
		*(*out)++ = (char)(0xe0 | character >> 12);
		*(*out)++ = (char)(0x80 | (character >> 6 & 0x3f));
		*(*out)++ = (char)(0x80 | (character & 0x3f));
	}
}

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* After "\u"; false if these are no four hexadecimal digits. Halves of a pair stay two odd characters: they are only shown. */
static bool take_code(const char **at, char **out)
{
	uint32_t character = 0;
	for (int i = 0; i < 4; i++) {
		int value = hex_value(**at);
		if (value < 0)
			return false;
		character = character << 4 | (uint32_t)value;
		(*at)++;
	}
	put_utf8(out, character ? character : 0xfffd);
	return true;
}

static bool take_escape(const char **at, char **out)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	char name = *(*at)++;
	const char *known = name ? strchr(names, name) : NULL;
	if (name == 'u')
		return take_code(at, out);
	if (!known)
		return false;
	*(*out)++ = values[known - names];
	return true;
}

/* The string that starts at the quote, decoded where it stands: no escape is shorter than what it means. NULL if it does not end or is no
 * JSON. */
static char *decode_string(char *quote)
{
	const char *at = quote + 1;
	char *out = quote;
	while (*at != '"') {
		if (*at == '\0')
			return NULL;
		if (*at != '\\')
			*out++ = *at++;
		else if (at++, !take_escape(&at, &out))
			return NULL;
	}
	*out = '\0';
	return quote;
}

static char *event_message(char *line)
{
	char *at = strstr(line, member);
	if (!at)
		return NULL;
	at += sizeof member - 1;
	at += strspn(at, " \t");
	if (*at++ != ':')
		return NULL;
	at += strspn(at, " \t");
	return *at == '"' ? decode_string(at) : NULL;
}

/* The tag stands at the end: a path before it may hold anything, the tag of another run too. */
static bool cut_tag(char *message, const char *tag)
{
	size_t length = strlen(message), tag_length = strlen(tag);
	while (length > 0 && strchr(" \n\t", message[length - 1]))
		length--;
	if (length <= tag_length || memcmp(message + length - tag_length, tag, tag_length) != 0 ||
	    message[length - tag_length - 1] != ' ')
		return false;
	message[length - tag_length - 1] = '\0';
	return true;
}

static void record(struct violations *violations, const struct violation *seen)
{
	violations->total++;
	for (size_t i = 0; i < violations->count; i++) {
		struct violation *known = &violations->items[i];
		if (strcmp(known->operation, seen->operation) == 0 && strcmp(known->target, seen->target) == 0) {
			known->count++;
			return;
		}
	}
	/* Memory is taken for these alone: a command may be refused as often as it likes. */
	if (violations->count < VIOLATION_RECORDS_MAX)
		*arena_push(violations->arena, violations) =
			(struct violation){ .operation = arena_copy(violations->arena, seen->operation),
					    .target = arena_copy(violations->arena, seen->target),
					    .process = arena_copy(violations->arena, seen->process),
					    .count = seen->count };
}

static void take_line(struct violations *violations)
{
	char *message = event_message(violations->line), *name, *rest, *end;
	struct violation seen = { .count = 1, .target = "" };

	if (!message || !cut_tag(message, violations->tag))
		return;
	name = strstr(message, "Sandbox: ");
	rest = strstr(message, ") deny(");
	if (!name || !rest || rest < name)
		return;
	name += strlen("Sandbox: ");
	*rest = '\0';
	end = strrchr(name, '(');
	if (end)
		*end = '\0';
	seen.process = name;
	rest = strchr(rest + strlen(") deny("), ' ');
	if (!rest)
		return;
	seen.operation = rest + 1;
	end = strchr(rest + 1, ' ');
	if (end) {
		*end = '\0';
		seen.target = end + 1;
	}
	record(violations, &seen);
}

void violations_feed(struct violations *violations, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] != '\n') {
			if (violations->length + 1 >= sizeof violations->line)
				violations->is_too_long = true;
			else if (bytes[i]) /* a NUL would hide the rest */
				violations->line[violations->length++] = bytes[i];
			continue;
		}
		violations->line[violations->length] = '\0';
		if (!violations->is_too_long)
			take_line(violations);
		violations->length = 0;
		violations->is_too_long = false;
	}
}

static void add_one(const struct violation *violation, struct text *out)
{
	text_add_visible(out, violation->operation, strlen(violation->operation));
	if (violation->target[0]) {
		text_add(out, " ");
		text_add_visible(out, violation->target, strlen(violation->target));
	}
	if (violation->count > 1)
		text_add(out, " (%zu times)", violation->count);
}

void violations_summary(const struct violations *violations, struct text *out)
{
	if (violations->total == 0)
		return;
	text_add(out, "the sandbox refused %zu operation%s: ", violations->total, violations->total == 1 ? "" : "s");
	add_one(&violations->items[0], out);
	if (violations->count > 1)
		text_add(out, " and others");
}

void violations_details(const struct violations *violations, struct text *out)
{
	for (size_t i = 0; i < violations->count; i++) {
		const struct violation *violation = &violations->items[i];
		text_add(out, "  ");
		add_one(violation, out);
		text_add(out, " by ");
		text_add_visible(out, violation->process, strlen(violation->process));
		text_add(out, "\n");
	}
}

static void add_member(struct text *out, const char *name, const char *value)
{
	text_add(out, "\"%s\":", name);
	text_add_json(out, value);
	text_add(out, ",");
}

void violations_json(const struct violations *violations, struct text *out)
{
	for (size_t i = 0; i < violations->count; i++) {
		const struct violation *violation = &violations->items[i];
		text_add(out, "{");
		add_member(out, "run", violations->tag);
		add_member(out, "operation", violation->operation);
		add_member(out, "target", violation->target);
		add_member(out, "process", violation->process);
		text_add(out, "\"count\":%zu}\n", violation->count);
	}
}

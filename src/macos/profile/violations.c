/* SPDX-License-Identifier: Apache-2.0 */
/* Parses violations from `log show --style ndjson`. A line is a JSON object with an eventMessage of
 *   Sandbox: NAME(PID) deny(1) OPERATION [TARGET]
 *   TAG
 * in two lines, sometimes with more lines around the tag, or with the tag on the first line. The
 * kernel folds repetitions into "N duplicate reports for " and the same. Only that member is
 * parsed. Any other line is skipped: the reports are for users and decide nothing. */
#include "macos/profile/violations.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_write.h"

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

/* Decodes four hexadecimal digits after "\u"; false if there are not four. Surrogates are decoded
 * one by one, which is enough for display. */
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

/* Decodes the string that starts at the quote in place: no escape is shorter than its value.
 * Returns NULL if the string does not end or has a bad escape. */
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

/* True if the tag is a separate word of the message. Reduces the message to its first line, without
 * the tag. A path in it may contain anything, even the tag of another run. */
static bool cut_tag(char *message, const char *tag)
{
	size_t tag_length = strlen(tag);
	bool has_tag = false;
	char *end;
	for (char *at = message; !has_tag && (at = strstr(at, tag)); at++) {
		bool is_word = at > message && strchr(" \n\t", at[-1]) && strchr(" \n\t", at[tag_length]);
		if (!is_word)
			continue;
		has_tag = true;
		at[-1] = '\0';
		break;
	}
	end = strchr(message, '\n');
	if (end)
		*end = '\0';
	return has_tag;
}

/* Returns how many reports the message counts for, and moves *message behind that number. */
static size_t take_duplicates(char **message)
{
	static const char words[] = " duplicate report";
	char *found = strstr(*message, words), *deny = strstr(*message, " deny("), *start = found;
	size_t count;
	if (!found || (deny && deny < found))
		return 1;
	while (start > *message && start[-1] >= '0' && start[-1] <= '9')
		start--;
	count = strtoul(start, NULL, 10);
	found = strstr(found, " for ");
	if (!found)
		return 1;
	*message = found + strlen(" for ");
	return count > 0 ? count : 1;
}

static void record(struct violations *violations, const struct violation *seen)
{
	violations->total += seen->count;
	for (size_t i = 0; i < violations->count; i++) {
		struct violation *known = &violations->items[i];
		if (strcmp(known->operation, seen->operation) == 0 && strcmp(known->target, seen->target) == 0) {
			known->count += seen->count;
			return;
		}
	}
	/* Bounded: the command may cause any number of violations. */
	if (violations->count < VIOLATION_RECORDS_MAX)
		*arena_push(violations->arena, violations) =
			(struct violation){ .operation = arena_copy(violations->arena, seen->operation),
					    .target = arena_copy(violations->arena, seen->target),
					    .process = arena_copy(violations->arena, seen->process),
					    .count = seen->count };
}

static void take_line(struct violations *violations)
{
	static const char start[] = "Sandbox: ";
	char *message = event_message(violations->line), *name, *rest, *end;
	struct violation seen = { .target = "" };

	if (!message || !cut_tag(message, violations->tag) || !strstr(message, start))
		return;
	seen.count = take_duplicates(&message);
	name = strstr(message, start);
	name = name ? name + strlen(start) : message;
	rest = strstr(name, " deny(");
	if (!rest || rest == name)
		return;
	*rest = '\0';
	end = strrchr(name, '(');
	if (end)
		*end = '\0';
	seen.process = name;
	rest = strchr(rest + strlen(" deny("), ' ');
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

void violations_json(const struct violations *violations, struct text *out)
{
	for (size_t i = 0; i < violations->count; i++) {
		const struct violation *violation = &violations->items[i];
		struct json json = { .out = out, .is_compact = true };
		json_object(&json, NULL);
		json_string(&json, "run", violations->tag);
		json_string(&json, "operation", violation->operation);
		json_string(&json, "target", violation->target);
		json_string(&json, "process", violation->process);
		json_number(&json, "count", violation->count);
		json_object_end(&json);
	}
}

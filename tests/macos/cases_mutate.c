/* SPDX-License-Identifier: Apache-2.0 */
/* Applies mistakes that a profile generator could make to its output. */
#include "macos/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void replace_all(struct text *text, const char *from, const char *to)
{
	struct text out = { 0 };
	const char *at = text->data, *found;
	for (; (found = strstr(at, from)); at = found + strlen(from)) {
		text_add_n(&out, at, (size_t)(found - at));
		text_add(&out, "%s", to);
	}
	text_add(&out, "%s", at);
	text_free(text);
	*text = out;
}

/* Removes every form that starts with `start`. A form ends before a line that is not indented. */
static void drop_forms(struct text *text, const char *start)
{
	struct text out = { 0 };
	bool is_dropping = false;
	for (const char *line = text->data; *line;) {
		size_t length = strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
		if (line[0] != ' ')
			is_dropping = strncmp(line, start, strlen(start)) == 0;
		if (!is_dropping)
			text_add_n(&out, line, length);
		line += length;
	}
	text_free(text);
	*text = out;
}

/* Removes the line after every such comment. */
static void drop_lines_after(struct text *text, const char *comment)
{
	struct text out = { 0 };
	bool is_next = false;
	for (const char *line = text->data; *line;) {
		size_t length = strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
		if (!is_next)
			text_add_n(&out, line, length);
		is_next = strncmp(line + strspn(line, " "), comment, strlen(comment)) == 0;
		line += length;
	}
	text_free(text);
	*text = out;
}

/* Moves the denials before the grants. */
static void swap_order(struct text *text)
{
	const char *granted = strstr(text->data, "\n; Granted."), *denied = strstr(text->data, "\n; Denied:");
	struct text out = { 0 };
	if (!granted || !denied)
		abort();
	text_add_n(&out, text->data, (size_t)(granted - text->data));
	text_add(&out, "%s", denied);
	text_add_n(&out, granted, (size_t)(denied - granted));
	text_free(text);
	*text = out;
}

/* Replaces [eE] with e. */
static void unfold(struct text *text)
{
	struct text out = { 0 };
	for (const char *at = text->data; *at; at++) {
		if (at[0] == '[' && at[1] >= 'a' && at[1] <= 'z' && at[2] == at[1] - 32 && at[3] == ']') {
			text_add(&out, "%c", at[1]);
			at += 3;
		} else {
			text_add(&out, "%c", *at);
		}
	}
	text_free(text);
	*text = out;
}

static void spell_parameters_out(struct cases *cases, const struct profile *profile, struct text *text)
{
	for (size_t i = 0; i < profile->parameters.count; i++)
		replace_all(text, arena_printf(&cases->arena, "(param \"%s\")", profile->parameters.items[i].name),
			    arena_printf(&cases->arena, "\"%s\"", profile->parameters.items[i].value));
}

void cases_mutate(struct cases *cases, const char *mutation, const struct profile *profile, struct text *printed)
{
	if (strcmp(mutation, "drop-deny") == 0) {
		drop_forms(printed, "(deny file-read*");
	} else if (strcmp(mutation, "drop-protect") == 0) {
		drop_forms(printed, "(deny file-write* file-link file-clone network-inbound\n");
	} else if (strcmp(mutation, "drop-inner") == 0) {
		drop_forms(printed, "(deny file-write* file-link file-clone network-inbound network-outbound");
	} else if (strcmp(mutation, "drop-ancestors") == 0) {
		drop_forms(printed, "(deny file-write-unlink");
	} else if (strcmp(mutation, "drop-below") == 0) {
		replace_all(printed, "($|/)", "$");
	} else if (strcmp(mutation, "drop-order") == 0) {
		replace_all(printed, "; an exception does not apply below a denied name\n(deny", "(drop");
		drop_forms(printed, "(drop");
	} else if (strcmp(mutation, "drop-exceptions") == 0) {
		drop_lines_after(printed, "; files.except:");
	} else if (strcmp(mutation, "drop-software") == 0) {
		replace_all(printed, "\n      (subpath ", "\n      ;");
	} else if (strcmp(mutation, "swap-order") == 0) {
		swap_order(printed);
	} else if (strcmp(mutation, "wrong-level") == 0) {
		replace_all(printed, "(allow file-read* file-write* ",
			    "(allow file-read-data file-write-data file-write-create ");
	} else if (strcmp(mutation, "wrong-level-deny") == 0) {
		replace_all(printed, "(deny file-read* file-write* ", "(deny file-read-data file-write-data ");
	} else if (strcmp(mutation, "no-folding") == 0) {
		unfold(printed);
	} else if (strcmp(mutation, "broken-quoting") == 0) {
		spell_parameters_out(cases, profile, printed);
	} else {
		fprintf(stderr, "no such mutation: %s\n", mutation);
		exit(2);
	}
}

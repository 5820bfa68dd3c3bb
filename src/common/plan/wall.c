/* SPDX-License-Identifier: Apache-2.0 */
/* A line for each fact, as in held.c: a word, a blank, a value. */
#include "common/plan/wall.h"

#include <string.h>

#include "common/base/text.h"

static const char format[] = "berm wall 1";
static const char *const right_words[] = { [WALL_READ] = "read", [WALL_WRITE] = "write", [WALL_SOCKET] = "socket" };
static const char unset_word[] = "unset", set_word[] = "set";

static void add_line(struct text *out, const char *word, const char *value)
{
	if (!strchr(value, '\n'))
		text_add(out, "%s %s\n", word, value);
}

const char *wall_text(struct arena *arena, const struct wall *wall)
{
	struct text out = { 0 };
	const char *result;

	text_add(&out, "%s\n", format);
	for (size_t i = 0; i < wall->paths.count; i++)
		add_line(&out, right_words[wall->paths.items[i].right], wall->paths.items[i].path);
	for (size_t i = 0; i < wall->unset.count; i++)
		add_line(&out, unset_word, wall->unset.items[i]);
	for (size_t i = 0; i < wall->set.count; i++)
		add_line(&out, set_word, wall->set.items[i]);
	result = arena_copy(arena, out.data);
	text_free(&out);
	return result;
}

static bool is_right(const char *word, enum wall_right *right)
{
	for (size_t i = 0; i < sizeof right_words / sizeof right_words[0]; i++) {
		if (strcmp(word, right_words[i]) != 0)
			continue;
		*right = (enum wall_right)i;
		return true;
	}
	return false;
}

static int parse_line(struct arena *arena, const char *word, char *value, struct wall *wall)
{
	enum wall_right right;
	if (is_right(word, &right) && value[0] == '/')
		*arena_push(arena, &wall->paths) = (struct wall_path){ right, value };
	else if (strcmp(word, unset_word) == 0 && value[0] && !strchr(value, '='))
		*arena_push(arena, &wall->unset) = value;
	else if (strcmp(word, set_word) == 0 && strchr(value, '=') > value)
		*arena_push(arena, &wall->set) = value;
	else
		return -1;
	return 0;
}

int wall_parse(struct arena *arena, const char *text, struct wall *wall, struct error *err)
{
	char *rest = arena_copy(arena, text), *line;
	bool has_format = false;

	*wall = (struct wall){ 0 };
	while ((line = strsep(&rest, "\n"))) {
		char *value = strchr(line, ' ');
		if (!*line && !rest)
			break; /* after the last line break */
		if (!has_format && strcmp(line, format) == 0) {
			has_format = true;
			continue;
		}
		if (value)
			*value++ = '\0';
		if (!has_format || !value || parse_line(arena, line, value, wall) < 0)
			return error_set(err, "the document of the commands' wall cannot be read");
	}
	return has_format ? 0 : error_set(err, "the document of the commands' wall is empty");
}

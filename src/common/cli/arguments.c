/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands that change something for the user share: a word among options, a question, a date. */
#include "common/cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/base/arena.h"

int words_parse(struct arena *arena, enum command command, int argc, char **argv, struct options *options, const char **word,
		struct error *err)
{
	int at = 0, rest;

	*word = NULL;
	for (;;) {
		if (options_parse(arena, command, argc - at, argv + at, options, &rest, err) < 0)
			return -1;
		at += rest;
		if (at >= argc)
			return 0;
		if (*word)
			return error_set(err, "one word too many: %s", argv[at]);
		if (argv[at][0] == '\0')
			return error_set(err, "an empty word");
		*word = argv[at];
	}
}

static bool read_answer(char *answer, size_t size)
{
	if (!fgets(answer, (int)size, stdin))
		return false;
	answer[strcspn(answer, "\n")] = '\0';
	return true;
}

int words_confirm(const char *question, const char *how, struct error *err)
{
	char answer[16];

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		error_set(err, "this needs a confirmation, and there is no terminal to ask on");
		return error_hint(err, "%s", how);
	}
	/* What was typed before the question is no answer to it; what is typed once it can be seen is one, however quick. */
	fflush(stdout);
	tcflush(STDIN_FILENO, TCIFLUSH);
	fprintf(stderr, "%s [y/N] ", question);
	if (!read_answer(answer, sizeof answer))
		return 0;
	return strcmp(answer, "y") == 0 || strcmp(answer, "Y") == 0 || strcmp(answer, "yes") == 0;
}

const char *words_date(struct arena *arena, int64_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm local;
	char text[32];

	if (!localtime_r(&when, &local) || strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local) == 0)
		return "?";
	return arena_copy(arena, text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by subcommands that change something: one argument among options, a
 * confirmation, a date. */
#include "common/cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/base/arena.h"
#include "common/context/inside.h"

int arguments_parse(struct arena *arena, uint64_t accepted, int argc, char **argv, struct options *options, const char **word,
		    struct error *err)
{
	int at = 0, rest;

	*word = NULL;
	for (;;) {
		if (options_parse(arena, accepted, argc - at, argv + at, options, &rest, err) < 0)
			return -1;
		at += rest;
		if (at >= argc)
			return 0;
		if (*word)
			return error_set(err, "one argument too many: %s", argv[at]);
		if (argv[at][0] == '\0')
			return error_set(err, "an empty argument");
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

int arguments_confirm(const char *question, const char *how, struct error *err)
{
	char answer[16];

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		error_set(err, "this needs a confirmation, and there is no terminal to ask");
		return error_hint(err, "%s", how);
	}
	/* Discards what was typed before the question. Input after it counts, however
	 * fast it comes. */
	fflush(stdout);
	tcflush(STDIN_FILENO, TCIFLUSH);
	fprintf(stderr, "%s [y/N] ", question);
	if (!read_answer(answer, sizeof answer))
		return 0;
	return strcmp(answer, "y") == 0 || strcmp(answer, "Y") == 0 || strcmp(answer, "yes") == 0;
}

int arguments_refuse_inside(const char *what, struct error *err)
{
	if (!inside_sandbox())
		return 0;
	error_set(err, "this is a sandbox of berm, and %s", what);
	return error_hint(err, "run it in a terminal outside");
}

const char *arguments_date(struct arena *arena, int64_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm local;
	char text[32];

	if (!localtime_r(&when, &local) || strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local) == 0)
		return "?";
	return arena_copy(arena, text);
}

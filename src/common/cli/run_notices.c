/* SPDX-License-Identifier: Apache-2.0 */
/* A program that has turned off line editing has drawn a screen, and a line would spoil it. */
#include "common/cli/run_notices.h"

#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/cli/commands.h"

static bool is_drawn_on(int fd)
{
	struct termios terminal;
	return tcgetattr(fd, &terminal) == 0 && !(terminal.c_lflag & ICANON);
}

void run_notices_add(struct run_notices *notices, const char *sentence)
{
	if (is_drawn_on(STDERR_FILENO))
		text_add(&notices->later, "%s\n", sentence);
	else
		report_line(sentence);
}

void run_notices_end(struct run_notices *notices)
{
	char *rest = notices->later.data, *line;
	while (rest && (line = strsep(&rest, "\n")) && *line)
		report_line(line);
	text_free(&notices->later);
	notices->later = (struct text){ 0 };
}

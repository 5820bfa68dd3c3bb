/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/support/argument_words.h"

#include "common/cli/commands.h"
#include "common/cli/session.h"

int argument_words_rest(struct arena *arena, int argc, char **argv, int options)
{
	struct options parsed = { 0 };
	struct error err = { 0 };
	char *const *words;
	int rest = 0, count = 0;
	if (options_parse(arena, COMMAND_RUN, argc, argv, &parsed, &rest, &err) < 0)
		return -1;
	for (words = session_words(arena, argv, rest, NULL); *words; words++)
		count++;
	return count == options ? rest : -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `berm completions SHELL`: prints a completion script. For packages and the build; it is in no list of subcommands. */
#include "common/cli/commands.h"

#include "common/cli/completions.h"
#include "common/base/text.h"

static int refuse(const char *shell)
{
	struct error err = { 0 };
	if (shell)
		error_set(&err, "no completions for %s: bash, zsh or fish", shell);
	else
		error_set(&err, "completions for which shell?");
	error_hint(&err, "berm completions bash|zsh|fish");
	return report_error(&err);
}

int cmd_completions(int argc, char **argv)
{
	struct text out = { 0 };

	if (argc != 2)
		return refuse(NULL);
	if (!completions_write(argv[1], subcommand_table, subcommand_count, &out))
		return refuse(argv[1]);
	fputs(out.data, stdout);
	text_free(&out);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `berm completions SHELL`: prints a completion script for a shell, for packages and the
 * build. */
#include "common/cli/commands.h"

#include <string.h>

#include "common/cli/completions.h"
#include "common/base/text.h"

static int refuse(const char *shell)
{
	struct error err = { 0 };
	if (shell)
		error_set(&err, "no completions for %s", shell);
	else
		error_set(&err, "completions needs the name of a shell");
	error_hint(&err, "berm completions bash|zsh|fish");
	return report_error(&err);
}

static int print_help(void)
{
	return report_help("berm completions bash|zsh|fish\n\n"
			   "Prints a completion script. Packages install it; by hand:\n"
			   "  bash  berm completions bash > ~/.local/share/bash-completion/completions/berm\n"
			   "  zsh   berm completions zsh > DIRECTORY-IN-FPATH/_berm\n"
			   "  fish  berm completions fish > ~/.config/fish/completions/berm.fish\n",
			   0, "");
}

int cmd_completions(int argc, char **argv)
{
	struct text out = { 0 };

	if (argc != 2)
		return refuse(NULL);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	if (!completions_write(argv[1], subcommand_table, subcommand_count, &out))
		return refuse(argv[1]);
	return report_text(&out);
}

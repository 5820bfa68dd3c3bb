/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommand table. */
#include <stdio.h>
#include <string.h>

#include "common/backend.h"
#include "common/cli/commands.h"
#include "common/base/descriptors.h"
#include "common/fs/filesystem.h"
#include "common/context/programs.h"
#include "common/cli/subcommands.h"
#include "common/base/text.h"
#include "version.h"

static int cmd_help(int argc, char **argv);

static const struct subcommand_word check_words[] = {
	{ "read", COMMAND_CHECK, OPERAND_FILE },    { "write", COMMAND_CHECK, OPERAND_FILE },
	{ "exec", COMMAND_CHECK, OPERAND_FILE },    { "connect", COMMAND_CHECK, OPERAND_NONE },
	{ "env", COMMAND_CHECK, OPERAND_VARIABLE }, { 0 },
};

static const struct subcommand_word state_words[] = {
	{ "list", COMMAND_STATE, OPERAND_NONE },
	{ "reset", COMMAND_STATE, OPERAND_DIRECTORY },
	{ "path", COMMAND_STATE_PATH, OPERAND_DIRECTORY },
	{ 0 },
};

static const struct subcommand_word shell_words[] = {
	{ "bash", 0, OPERAND_NONE },
	{ "zsh", 0, OPERAND_NONE },
	{ "fish", 0, OPERAND_NONE },
	{ 0 },
};

static const struct subcommand_word shell_names[] = {
	{ "bash", COMMAND_SHELL, OPERAND_NONE }, { "zsh", COMMAND_SHELL, OPERAND_NONE },  { "sh", COMMAND_SHELL, OPERAND_NONE },
	{ "dash", COMMAND_SHELL, OPERAND_NONE }, { "fish", COMMAND_SHELL, OPERAND_NONE }, { 0 },
};

/* The hosts of setup_hosts.c, in its order; a test compares. */
static const struct subcommand_word setup_words[] = {
	{ "claude-code", COMMAND_SETUP, OPERAND_NONE }, { "codex", COMMAND_SETUP, OPERAND_NONE },
	{ "gemini", COMMAND_SETUP, OPERAND_NONE },	{ "opencode", COMMAND_SETUP, OPERAND_NONE },
	{ "aider", COMMAND_SETUP, OPERAND_NONE },	{ "cursor", COMMAND_SETUP, OPERAND_NONE },
	{ "vscode", COMMAND_SETUP, OPERAND_NONE },	{ "zed", COMMAND_SETUP, OPERAND_NONE },
	{ "jetbrains", COMMAND_SETUP, OPERAND_NONE },	{ "emacs", COMMAND_SETUP, OPERAND_NONE },
	{ "vim", COMMAND_SETUP, OPERAND_NONE },		{ "npm", COMMAND_SETUP, OPERAND_NONE },
	{ "make", COMMAND_SETUP, OPERAND_NONE },	{ "tmux", COMMAND_SETUP, OPERAND_NONE },
	{ "mcp", COMMAND_SETUP, OPERAND_NONE },		{ 0 },
};

static const struct subcommand_word hooks_words[] = {
	{ "install", COMMAND_HOOKS, OPERAND_NONE },
	{ "uninstall", COMMAND_HOOKS, OPERAND_NONE },
	{ "status", COMMAND_HOOKS, OPERAND_NONE },
	{ 0 },
};

const struct subcommand subcommand_table[] = {
	{ "run", cmd_run, "run [options] -- CMD...", "run a command in the sandbox", .options = COMMAND_RUN,
	  .operand = OPERAND_COMMAND },
	{ "shell", cmd_shell, "shell [options] [SHELL]", "an interactive shell in the sandbox", .options = COMMAND_SHELL,
	  .words = shell_names },
	{ "-c", cmd_shell_string, "-c STRING", "run a shell command line in the sandbox", .options = 0 },
	{ "plan", cmd_plan, "plan", "what the policy means here; runs nothing", .options = COMMAND_PLAN },
	{ "check", cmd_check, "check read|write|... X", "one question, answered with the rule", .options = COMMAND_CHECK,
	  .words = check_words },
	{ "policies", cmd_policies, "policies", "the built-in policies and the language", .options = COMMAND_POLICIES },
	{ "init", cmd_init, "init [DIR]", "write a berm.yml that fits the project", .options = COMMAND_INIT,
	  .operand = OPERAND_DIRECTORY },
	{ "trust", cmd_trust, "trust [DIR]", "accept what the project's berm.yml opens", .options = COMMAND_TRUST,
	  .operand = OPERAND_DIRECTORY },
	{ "state", cmd_state, "state list|reset|path", "private homes: what is kept, and emptying it", .words = state_words },
	{ "doctor", cmd_doctor, "doctor", "what this machine can hold, tried out", .options = COMMAND_DOCTOR },
	{ "doctor-attempts", cmd_doctor_attempts, "doctor-attempts", NULL, .options = 0 },
	{ "setup", cmd_setup, "setup [HOST]", "let an agent, editor or tool run commands in it", .options = COMMAND_SETUP,
	  .words = setup_words },
	{ "hook-rewrite", cmd_hook_rewrite, "hook-rewrite --host=HOST", NULL, .options = COMMAND_HOOK },
	{ "hooks", cmd_hooks, "hooks install|status|...", "git hooks in the sandbox", .options = COMMAND_HOOKS,
	  .words = hooks_words },
	{ "version", cmd_version, "version", "the version", .options = 0 },
	{ "help", cmd_help, "help", "this text", .options = 0 },
	{ "hook-run", cmd_hook_run, "hook-run NAME [ARGUMENT...]", NULL, .options = 0 },
	{ "completions", cmd_completions, "completions bash|zsh|fish", NULL, .words = shell_words },
};

enum { SUBCOMMAND_COUNT = sizeof subcommand_table / sizeof subcommand_table[0] };

const size_t subcommand_count = SUBCOMMAND_COUNT;

static void add_usage(struct text *out)
{
	text_add(out, "berm runs one command behind a wall made of what the operating system has.\n\n");
	for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
		if (subcommand_table[i].help)
			text_add(out, "  berm %-25s %s\n", subcommand_table[i].usage, subcommand_table[i].help);
	text_add(out, "\n`berm run --help` and so on say more. Manual: man berm, man 5 berm-policy.\n");
}

static int cmd_help(int argc, char **argv)
{
	struct text out = { 0 };
	(void)argc;
	(void)argv;
	add_usage(&out);
	fputs(out.data, stdout);
	text_free(&out);
	return 0;
}

int cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("berm %s\n", BERM_VERSION);
	return 0;
}

static int unknown(const char *word)
{
	const char *names[SUBCOMMAND_COUNT];
	struct error err = { 0 };
	const char *nearest;
	for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
		names[i] = subcommand_table[i].name;
	nearest = text_nearest(word, names, SUBCOMMAND_COUNT);
	error_set(&err, "no such subcommand: %s", word);
	if (nearest)
		error_hint(&err, "did you mean `berm %s`?", nearest);
	error_hint(&err, "to run a command: berm run -- %s", word);
	return report_error(&err);
}

/* A result that could not be written is a failure: `berm plan --json > /dev/full`. */
static int flush(int status)
{
	struct error err = { 0 };
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	error_set(&err, "cannot write the output");
	report_error(&err);
	return status ? status : EXIT_REFUSED;
}

/* The names that berm goes by when it stands for a shell. The name says which shell is meant, never where anything lies. */
static int (*named(const char *program))(int, char **)
{
	const char *base = path_base_name(program);
	if (strcmp(base, "berm-sh") == 0 || strcmp(base, "-berm-sh") == 0)
		return cmd_berm_shell;
	return program_shell_name(base) ? cmd_shim : NULL;
}

int main(int argc, char **argv)
{
	int (*shell)(int, char **) = argc > 0 ? named(argv[0]) : NULL;
	struct error err = { 0 };
	if (descriptors_secure_stdio(&err) < 0)
		return report_error(&err);
	if (shell)
		return shell(argc, argv);
	if (argc < 2) {
		struct text out = { 0 };
		add_usage(&out);
		fputs(out.data, stderr);
		text_free(&out);
		return EXIT_REFUSED;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return flush(cmd_help(argc, argv));
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return flush(cmd_version(argc, argv));
	for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
		if (strcmp(argv[1], subcommand_table[i].name) == 0)
			return flush(subcommand_table[i].run(argc - 1, argv + 1));
	return unknown(argv[1]);
}

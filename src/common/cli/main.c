/* SPDX-License-Identifier: Apache-2.0 */
/* The table of subcommands, and their dispatch. */
#include <stdio.h>
#include <string.h>

#include "common/agents/agents.h"
#include "common/backend.h"
#include "common/cli/commands.h"
#include "common/base/descriptors.h"
#include "common/fs/path.h"
#include "common/context/programs.h"
#include "common/cli/subcommands.h"
#include "common/setup/setup.h"
#include "common/shell/editor_terminal.h"
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
	{ "prune", COMMAND_STATE_PRUNE, OPERAND_NONE },
	{ "path", COMMAND_STATE_PATH, OPERAND_DIRECTORY },
	{ 0 },
};

static const struct subcommand_word quarantine_words[] = {
	{ "list", COMMAND_QUARANTINE_LIST, OPERAND_NONE },
	{ "show", COMMAND_QUARANTINE_SHOW, OPERAND_NONE },
	{ "restore", COMMAND_QUARANTINE_SHOW, OPERAND_NONE },
	{ "drop", COMMAND_QUARANTINE_DROP, OPERAND_NONE },
	{ 0 },
};

static const struct subcommand_word log_words[] = {
	{ "show", COMMAND_LOG_SHOW, OPERAND_NONE },
	{ "list", COMMAND_LOG_LIST, OPERAND_NONE },
	{ "tail", COMMAND_LOG_TAIL, OPERAND_NONE },
	{ "verify", COMMAND_LOG_SHOW, OPERAND_NONE },
	{ "export", COMMAND_LOG_EXPORT, OPERAND_NONE },
	{ "report", COMMAND_LOG_REPORT, OPERAND_NONE },
	{ 0 },
};

static const struct subcommand_word completion_shells[] = {
	{ "bash", 0, OPERAND_NONE },
	{ "zsh", 0, OPERAND_NONE },
	{ "fish", 0, OPERAND_NONE },
	{ 0 },
};

static const struct subcommand_word shell_names[] = {
	{ "bash", COMMAND_SHELL, OPERAND_NONE }, { "zsh", COMMAND_SHELL, OPERAND_NONE },  { "sh", COMMAND_SHELL, OPERAND_NONE },
	{ "dash", COMMAND_SHELL, OPERAND_NONE }, { "fish", COMMAND_SHELL, OPERAND_NONE }, { 0 },
};

static const struct subcommand_word hooks_words[] = {
	{ "install", COMMAND_HOOKS, OPERAND_NONE },
	{ "uninstall", COMMAND_HOOKS, OPERAND_NONE },
	{ "status", COMMAND_HOOKS, OPERAND_NONE },
	{ 0 },
};

static const struct subcommand_word session_words_list[] = {
	{ "start", COMMAND_SESSION_START, OPERAND_NONE },
	{ "exec", COMMAND_SESSION_EXEC, OPERAND_COMMAND },
	{ "list", COMMAND_SESSION_LIST, OPERAND_NONE },
	{ "stop", COMMAND_SESSION_STOP, OPERAND_NONE },
	{ 0 },
};

const struct subcommand subcommand_table[] = {
	{ "run", cmd_run, "run [options] -- CMD...", "run a command in the sandbox", .options = COMMAND_RUN,
	  .operand = OPERAND_COMMAND },
	{ "agent", cmd_agent, "agent NAME [ARGUMENT...]", "run a whole agent in the sandbox", .options = COMMAND_AGENT,
	  .names = agent_name, .operand = OPERAND_COMMAND },
	{ "shell", cmd_shell, "shell [options] [SHELL]", "start an interactive shell in the sandbox", .options = COMMAND_SHELL,
	  .words = shell_names },
	{ "-c", cmd_shell_string, "-c STRING", "run a shell command line in the sandbox", .options = 0 },
	{ "session", cmd_session, "session start|exec|...", "run several commands in one sandbox", .is_brief = true,
	  .words = session_words_list },
	{ "diff", cmd_diff, "diff [COPY] [PATH...]", "show what a copy changes in the project", .options = COMMAND_DIFF,
	  .operand = OPERAND_FILE },
	{ "apply", cmd_apply, "apply [COPY] [PATH...]", "apply the changes of a copy to the project", .options = COMMAND_APPLY,
	  .operand = OPERAND_FILE },
	{ "discard", cmd_discard, "discard [COPY...]", "remove a copy", .is_brief = true, .options = COMMAND_DISCARD },
	{ "copies", cmd_copies, "copies", "list the copies of the project", .is_brief = true, .options = COMMAND_COPIES },
	{ "undo", cmd_undo, "undo [N]", "take an apply back", .options = COMMAND_UNDO },
	{ "plan", cmd_plan, "plan", "show what the policy allows here; run nothing", .options = COMMAND_PLAN },
	{ "check", cmd_check, "check read|write|... X", "check one access and show the deciding rule", .options = COMMAND_CHECK,
	  .words = check_words },
	{ "log", cmd_log, "log show|list|verify|...", "show earlier runs, what was refused (berm why)", .words = log_words },
	{ "why", cmd_why, "why", "show what the last run was refused", .is_brief = true, .options = COMMAND_WHY },
	{ "policies", cmd_policies, "policies", "list the built-in policies and all policy keys", .options = COMMAND_POLICIES },
	{ "init", cmd_init, "init [DIR]", "write a berm.yml that fits the project", .options = COMMAND_INIT,
	  .operand = OPERAND_DIRECTORY },
	{ "trust", cmd_trust, "trust [DIR]", "accept what the project's berm.yml allows", .options = COMMAND_TRUST,
	  .operand = OPERAND_DIRECTORY },
	{ "state", cmd_state, "state list|reset|prune|path", "list or remove private homes and copies", .words = state_words },
	{ "quarantine", cmd_quarantine, "quarantine list|show|...", "list or restore what was taken out of a project",
	  .words = quarantine_words },
	{ "doctor", cmd_doctor, "doctor", "check which guarantees hold on this machine", .options = COMMAND_DOCTOR },
	{ "doctor-attempts", cmd_doctor_attempts, "doctor-attempts", NULL, .options = 0 },
	{ "setup", cmd_setup, "setup [HOST]", "configure an agent, editor or tool to use berm", .options = COMMAND_SETUP,
	  .names = setup_host_name },
	{ "hook-rewrite", cmd_hook_rewrite, "hook-rewrite --host=HOST", NULL, .options = COMMAND_HOOK },
	{ "hook-session", cmd_hook_session, "hook-session", NULL, .options = 0 },
	{ "hooks", cmd_hooks, "hooks install|status|...", "run git hooks in the sandbox", .options = COMMAND_HOOKS,
	  .words = hooks_words },
	{ "version", cmd_version, "version", "print the version", .is_brief = true, .options = 0 },
	{ "completions", cmd_completions, "completions SHELL", "print completions for bash, zsh or fish",
	  .words = completion_shells },
	{ "help", cmd_help, "help [SUBCOMMAND]", "print this text, or that of a subcommand", .options = 0 },
	{ "hook-run", cmd_hook_run, "hook-run NAME [ARGUMENT...]", NULL, .options = 0 },
};

enum { SUBCOMMAND_COUNT = sizeof subcommand_table / sizeof subcommand_table[0] };

const size_t subcommand_count = SUBCOMMAND_COUNT;

static void add_usage(struct text *out)
{
	text_add(out, "berm runs a command in a sandbox made of the operating system's own mechanisms.\n\n");
	for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
		if (subcommand_table[i].help && !subcommand_table[i].is_brief)
			text_add(out, "  berm %-25s %s\n", subcommand_table[i].usage, subcommand_table[i].help);
	text_add(out, "\nOptions: berm run --help and so on. Manual: man berm, man 5 berm-policy.\n");
}

static const struct subcommand *find(const char *word)
{
	for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
		if (strcmp(word, subcommand_table[i].name) == 0)
			return &subcommand_table[i];
	return NULL;
}

int cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("berm %s\n", BERM_VERSION);
	return 0;
}

/* Suggests the whole line: `berm npm test` is a frequent slip. */
static void suggest_run(struct error *err, int argc, char **argv)
{
	struct text line = { 0 };
	for (int i = 1; i < argc; i++) {
		text_add(&line, " ");
		text_add_shell_word(&line, argv[i]);
	}
	error_hint(err, "to run a command: berm run --%s", line.data);
	text_free(&line);
}

static int unknown(int argc, char **argv)
{
	const char *names[SUBCOMMAND_COUNT], *word = argv[1];
	struct error err = { 0 };
	const char *nearest;
	for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
		names[i] = subcommand_table[i].name;
	nearest = text_nearest(word, names, SUBCOMMAND_COUNT);
	error_set(&err, "unknown subcommand: %s", word);
	if (nearest)
		error_hint(&err, "did you mean `berm %s`?", nearest);
	suggest_run(&err, argc, argv);
	return report_error(&err);
}

/* `berm help run` prints what `berm run --help` prints. */
static int cmd_help(int argc, char **argv)
{
	struct text out = { 0 };
	const struct subcommand *subcommand = argc > 1 ? find(argv[1]) : NULL;
	char option[] = "--help";
	char *words[] = { argc > 1 ? argv[1] : NULL, option, NULL };

	if (argc > 1 && !subcommand)
		return unknown(argc, argv);
	if (subcommand && (subcommand->options || subcommand->words))
		return subcommand->run(2, words);
	add_usage(&out);
	return report_text(&out);
}

/* Reports failed output: `berm plan --json > /dev/full` must not succeed. */
static int flush(int status)
{
	struct error err = { 0 };
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	error_set(&err, "cannot write the output");
	report_error(&err);
	return status ? status : EXIT_REFUSED;
}

/* Returns the function for the names under which berm is a shell, else NULL. The name only selects
 * the shell, never a path. */
static int (*named(const char *program))(int, char **)
{
	const char *base = path_base_name(program);
	if (strcmp(base, "berm-sh") == 0 || strcmp(base, "-berm-sh") == 0)
		return cmd_berm_shell;
	if (strcmp(base, EDITOR_DEBUG_NODE) == 0)
		return cmd_node_shim;
	return program_shell_name(base) ? cmd_shim : NULL;
}

int main(int argc, char **argv)
{
	int (*shell)(int, char **) = argc > 0 ? named(argv[0]) : NULL;
	const struct subcommand *subcommand;
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
		return flush(cmd_help(1, argv));
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return flush(cmd_version(argc, argv));
	subcommand = find(argv[1]);
	return subcommand ? flush(subcommand->run(argc - 1, argv + 1)) : unknown(argc, argv);
}

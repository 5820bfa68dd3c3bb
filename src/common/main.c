/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommand table. */
#include <stdio.h>
#include <string.h>

#include "common/backend.h"
#include "common/commands.h"
#include "common/descriptors.h"
#include "common/text.h"
#include "version.h"

struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;
	const char *help;
};

static int cmd_help(int argc, char **argv);

static const struct subcommand subcommands[] = {
	{"run", cmd_run, "run [options] -- CMD...", "run a command in the sandbox"},
	{"-c", cmd_shell_string, "-c STRING", "run a shell command line in the sandbox"},
	{"plan", cmd_plan, "plan", "what the policy means here, before anything runs"},
	{"check", cmd_check, "check read|write|exec|connect|env X", "one question, answered with the rule"},
	{"policies", cmd_policies, "policies", "the built-in policies and the language"},
	{"init", cmd_init, "init [DIR]", "write a berm.yml that fits the project"},
	{"trust", cmd_trust, "trust [DIR]", "accept what the project's berm.yml opens"},
	{"state", cmd_state, "state list|reset|path", "private homes: what is kept, and emptying it"},
	{"version", cmd_version, "version", "the version"},
	{"help", cmd_help, "help", "this text"},
};

enum { SUBCOMMAND_COUNT = sizeof subcommands / sizeof subcommands[0] };

static void add_usage(struct text *out)
{
	text_add(out, "berm runs one command behind a wall made of what the operating system has.\n\n");
	for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
		text_add(out, "  berm %-37s %s\n", subcommands[i].usage, subcommands[i].help);
	text_add(out, "\n`berm run --help` and so on say more. Manual: man berm, man 5 berm-policy.\n");
}

static int cmd_help(int argc, char **argv)
{
	struct text out = {0};
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
	struct error err = {0};
	const char *nearest;
	for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
		names[i] = subcommands[i].name;
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
	struct error err = {0};
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	error_set(&err, "cannot write the output");
	report_error(&err);
	return status ? status : EXIT_REFUSED;
}

int main(int argc, char **argv)
{
	struct error err = {0};
	if (descriptors_secure_stdio(&err) < 0)
		return report_error(&err);
	if (argc < 2) {
		struct text out = {0};
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
		if (strcmp(argv[1], subcommands[i].name) == 0)
			return flush(subcommands[i].run(argc - 1, argv + 1));
	return unknown(argv[1]);
}

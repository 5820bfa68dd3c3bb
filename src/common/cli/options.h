/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. One table of options drives the parser, `--help` and the shell completions; what options say about the
 * policy is collected as a policy of its own layer, so that nothing else has to know that it came from a flag. */
#ifndef BERM_COMMON_CLI_OPTIONS_H
#define BERM_COMMON_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/policy/policy.h"

/* Bits, so that one option row can belong to several subcommands. */
enum command {
	COMMAND_RUN = 1 << 0,
	COMMAND_PLAN = 1 << 1,
	COMMAND_CHECK = 1 << 2,
	COMMAND_POLICIES = 1 << 3,
	COMMAND_VERSION = 1 << 4,
	COMMAND_TRUST = 1 << 5,
	COMMAND_INIT = 1 << 6,
	COMMAND_STATE = 1 << 7, /* list and reset */
	COMMAND_STATE_PATH = 1 << 8, /* path: depends on the policy */
	COMMAND_SHELL = 1 << 20,
	COMMAND_HOOKS = 1 << 21,
	COMMAND_DOCTOR = 1 << 9,
	COMMAND_SETUP = 1 << 22,
	COMMAND_HOOK = 1 << 23, /* hook-rewrite */
};

enum { OPTIONS_PASS_FD_MAX = 64 };

struct options {
	const char *project; /* --project=DIR */
	const char *policy_file; /* --policy=FILE */
	const char *context_file; /* --context=FILE */
	const char *os; /* --os=linux|macos */
	const char *show; /* policies --show=POLICY */
	bool wants_json, is_verbose, is_dry_run, wants_help, wants_schema, wants_keys;
	bool is_yes; /* --yes: no question is asked */
	bool wants_list, wants_revoke; /* trust */
	bool wants_print; /* init, setup --print */
	bool wants_write, wants_undo, wants_check; /* setup */
	const char *file; /* setup --file=FILE */
	const char *host; /* hook-rewrite --host=HOST */
	bool wants_all; /* state reset --all */
	bool wants_global, wants_repository, wants_uninstall; /* hooks */
	bool wants_sbpl; /* plan --format=sbpl */
	bool wants_apparmor; /* doctor --install-apparmor */
	bool wants_why_rebuilt; /* plan --why-rebuilt */
	struct policy command_line; /* LAYER_COMMAND_LINE */
	int pass_fds[OPTIONS_PASS_FD_MAX];
	size_t pass_fd_count;
};

/* Parses argv[1..]; stops at "--" or the first word that is no option. *rest is the index of the first word after the options.
 * -1 with err (and the nearest known option as a hint). */
int options_parse(struct arena *arena, enum command command, int argc, char **argv, struct options *options, int *rest,
		  struct error *err);
struct text;
/* The option lines of one subcommand's help. */
void options_help(enum command command, struct text *out);

/* One row of the table, for the shell completions. */
struct option_info {
	const char *name;
	char letter; /* 0 if it has none */
	const char *argument; /* NULL: takes none; in brackets: optional */
	unsigned commands;
	const char *help;
};
/* The index-th, in the order of the help; false past the last. */
bool options_at(size_t index, struct option_info *info);

#endif

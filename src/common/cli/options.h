/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. One table of options drives the parser, `--help` and the shell completions.
 * Options that change the policy become a policy layer, so no other code treats them specially. */
#ifndef BERM_COMMON_CLI_OPTIONS_H
#define BERM_COMMON_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/policy/policy.h"

/* One bit per option. The sets that the subcommands accept are in commands.h. */
enum option_id {
	OPTION_PROJECT,
	OPTION_POLICY,
	OPTION_ALLOW_READ,
	OPTION_ALLOW_WRITE,
	OPTION_ALLOW_NET,
	OPTION_PUBLISH,
	OPTION_DENY,
	OPTION_ENV,
	OPTION_STRICT,
	OPTION_ACCEPT_WEAKER,
	OPTION_PASS_FD,
	OPTION_DRY_RUN,
	OPTION_COPY,
	OPTION_UNDOABLE,
	OPTION_PLAN,
	OPTION_COMMANDS,
	OPTION_JSON,
	OPTION_FORMAT,
	OPTION_OS,
	OPTION_CONTEXT,
	OPTION_WHY_REBUILT,
	OPTION_SHOW,
	OPTION_SCHEMA,
	OPTION_KEYS,
	OPTION_LIST,
	OPTION_DROP,
	OPTION_PRINT,
	OPTION_WRITE,
	OPTION_UNDO,
	OPTION_CHECK,
	OPTION_FILE,
	OPTION_HOW,
	OPTION_MANAGED,
	OPTION_PROVE,
	OPTION_DEBUGGER,
	OPTION_HOST,
	OPTION_SINCE,
	OPTION_DENIED,
	OPTION_NET_HOST,
	OPTION_EXPORT,
	OPTION_OUTPUT,
	OPTION_FOLLOW,
	OPTION_ALL,
	OPTION_IDLE,
	OPTION_REPOSITORY,
	OPTION_GLOBAL,
	OPTION_UNINSTALL,
	OPTION_STAT,
	OPTION_NAME_ONLY,
	OPTION_EXIT_CODE,
	OPTION_OURS,
	OPTION_THEIRS,
	OPTION_FORCE,
	OPTION_OLDER,
	OPTION_YES,
	OPTION_INSTALL_APPARMOR,
	OPTION_REMOVE_APPARMOR,
	OPTION_VERBOSE,
	OPTION_HELP,
	OPTION_COUNT
};
#define OPTION(name) (UINT64_C(1) << OPTION_##name)

/* Options that add to the policy or choose it. */
#define OPTIONS_POLICY                                                                                                         \
	(OPTION(PROJECT) | OPTION(POLICY) | OPTION(ALLOW_READ) | OPTION(ALLOW_WRITE) | OPTION(ALLOW_NET) | OPTION(PUBLISH) |   \
	 OPTION(DENY) | OPTION(ENV) | OPTION(STRICT) | OPTION(ACCEPT_WEAKER) | OPTION(VERBOSE))

enum { OPTIONS_PASS_FD_MAX = 64 };

struct options {
	const char *project; /* --project=DIR */
	const char *policy_file; /* --policy=FILE */
	const char *context_file; /* --context=FILE */
	const char *os; /* --os=linux|macos */
	const char *show; /* policies --show=POLICY */
	bool wants_json, is_verbose, is_dry_run, wants_help, wants_keys;
	const char *schema; /* policies --schema[=policy|log]; NULL without */
	bool wants_denied, is_following; /* log */
	uint64_t since_ms; /* log list --since=DURATION; 0: none */
	const char *net_host; /* log list --host=NAME */
	const char *export_format; /* log export --format=FORMAT */
	const char *output; /* log report --output=FILE */
	bool wants_plan; /* agent --plan */
	const char *copy; /* run --copy[=NAME]; NULL without */
	bool awaits_copy; /* the name is that of BERM_COPY */
	bool wants_wall; /* agent --commands */
	bool is_yes; /* --yes: asks nothing */
	bool wants_list, wants_drop; /* trust */
	const char *content; /* trust --drop=CONTENT, or NULL for every content */
	bool wants_print; /* init, setup --print */
	bool wants_write, wants_undo, wants_check; /* setup */
	const char *file; /* setup --file=FILE */
	const char *how; /* setup --how=WAY */
	bool wants_managed, wants_prove, wants_debugger; /* setup */
	const char *host; /* hook-rewrite --host=HOST */
	bool wants_all; /* state reset --all */
	uint64_t idle_ms; /* session start --idle=DURATION; 0 without */
	bool wants_global, wants_repository, wants_uninstall; /* hooks */
	bool wants_sbpl; /* plan --format=sbpl */
	bool wants_apparmor; /* doctor --install-apparmor */
	bool wants_no_apparmor; /* doctor --remove-apparmor */
	bool wants_why_rebuilt; /* plan --why-rebuilt */
	bool wants_stat, wants_names, wants_exit_code; /* diff */
	struct option_paths {
		const char **items;
		size_t count;
	} ours, theirs; /* apply */
	bool is_forced; /* apply */
	uint64_t older_days; /* state prune --older=DAYS; 0 without */
	struct policy command_line; /* LAYER_COMMAND_LINE */
	int pass_fds[OPTIONS_PASS_FD_MAX];
	size_t pass_fd_count;
};

/* Parses argv[1..] with a set of options. Stops at "--" or at the first word that is not an option.
 * Sets *rest to the index of the first word after the options. Returns -1 with err, with the
 * nearest known option as a hint. */
int options_parse(struct arena *arena, uint64_t accepted, int argc, char **argv, struct options *options, int *rest,
		  struct error *err);
/* Asks for a copy of the project, as --copy=NAME does. */
int options_set_copy(struct arena *arena, struct options *options, const char *name, struct error *err);
struct text;
/* Adds the option lines of one subcommand's help. */
void options_help(uint64_t accepted, struct text *out);

/* One row of the table, for the shell completions. */
struct option_info {
	const char *name;
	char letter; /* 0: none */
	const char *argument; /* NULL: takes none; in brackets: optional */
	uint64_t bit;
	const char *help;
};
/* Copies the row with this index, in the order of the help. Returns false past the last row. */
bool options_at(size_t index, struct option_info *info);

#endif

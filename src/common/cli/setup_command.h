/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of `berm setup`: cmd_setup.c shows, writes and undoes, setup_list.c lists,
 * setup_check.c answers --check, setup_ways.c refuses ways that would weaken the user's own guards,
 * setup_trust.c records a user's trust in berm's hook. */
#ifndef BERM_COMMON_CLI_SETUP_COMMAND_H
#define BERM_COMMON_CLI_SETUP_COMMAND_H

#include "common/cli/commands.h"
#include "common/cli/session.h"
#include "common/setup/setup.h"

struct setup {
	struct session session;
	struct install_paths paths;
	const struct setup_host *host;
	struct setup_request request;
	struct setup_file file;
	enum setup_state state;
	bool has_file; /* there is a settings file to edit */
	struct setup_overrides overrides; /* settings that take berm's back */
	struct setup_overrides outside; /* tasks and launches of the project that run outside */
	const char *asked; /* the editor's program that named berm's shim as its shell, or NULL */
	bool is_proven; /* a command was run through the host, in the sandbox */
};

/* Returns -1 with err if a program that the settings name is missing. */
int setup_check_installation(const struct setup *setup, struct error *err);
/* Returns the state of the file, or of the host's environment variable. */
enum setup_state setup_judge_host(const struct setup *setup);
/* Returns a word for the state, for the user. */
const char *setup_state_name(const struct setup *setup);
/* Returns the mark of that state: good only if it was proven. */
enum report_mark setup_mark(const struct setup *setup);
/* Reads the host's settings and what overrides them. */
int setup_open_host(struct setup *setup, const struct setup_host *host, struct error *err);
/* Prints all hosts with their state. Returns 0. */
int setup_list(struct setup *setup);
/* Prints the host as JSON. Returns 0. */
int setup_print_json(const struct setup *setup);

/* Prints the answer of --check. Returns the exit status. */
int setup_check(struct setup *setup);

/* Checks the combination of options and host, and chooses the way. *host is NULL if none is
 * named. */
int setup_choose_host(const struct options *options, const char *word, const struct setup_host **host, struct error *err);
/* Returns -1 with err, with the hooks' names, if the way of this host would disable hooks of the
 * user that can block. */
int setup_refuse_prefix(struct setup *setup, struct error *err);
/* Returns -1 with err if the file has the settings of another way than `asked`. */
int setup_refuse_other(const struct setup *setup, const struct setup_host *asked, struct error *err);

/* For a host that asks its user to trust a hook: asks, and writes that into the host's record.
 * Without a terminal and --yes it prints the remaining step. `records` is open. */
int setup_trust_offer(const struct setup *setup, int records, struct error *err);
/* Takes back what setup_trust_offer wrote, before the hook goes. Reports what it cannot take
 * back. */
void setup_trust_withdraw(const struct setup *setup, int records);

#endif

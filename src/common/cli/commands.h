/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands. Each returns the process's exit status; printing happens in them and in main.c only. */
#ifndef BERM_COMMON_CLI_COMMANDS_H
#define BERM_COMMON_CLI_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/error.h"
#include "common/cli/options.h"
#include "common/policy/policy.h"

int cmd_run(int argc, char **argv);
int cmd_shell_string(int argc, char **argv); /* berm -c STRING */
int cmd_berm_shell(int argc, char **argv); /* the program named berm-sh */
int cmd_shim(int argc, char **argv); /* the program named as a shell */
int cmd_shell(int argc, char **argv); /* berm shell */
int cmd_plan(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_policies(int argc, char **argv);
int cmd_init(int argc, char **argv);
int cmd_trust(int argc, char **argv);
int cmd_state(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_doctor_attempts(int argc, char **argv); /* what doctor runs, bare and inside */
int cmd_setup(int argc, char **argv);
int cmd_hook_rewrite(int argc, char **argv);
int cmd_hooks(int argc, char **argv);
int cmd_hook_run(int argc, char **argv); /* what the dispatcher of `berm hooks` calls */
int cmd_completions(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* cmd_run.c: the session's options are parsed; its exit status. */
struct session;
int run_command(struct session *session, char *const *command);

/* cmd_words.c: a subcommand with at most one word beside its options, in any order. *word is NULL if there is none. */
int words_parse(struct arena *arena, enum command command, int argc, char **argv, struct options *options, const char **word,
		struct error *err);
/* Asks on the terminal; 1 yes, 0 no, -1 if there is nobody to ask (the hint then says `how`). */
int words_confirm(const char *question, const char *how, struct error *err);
/* Seconds since 1970 as local time, for a table. */
const char *words_date(struct arena *arena, int64_t seconds);

/* cmd_report.c: how failures look. Each returns EXIT_REFUSED. */
int report_error(const struct error *err);
int report_diagnostics(const struct diagnostics *diagnostics);
/* Colours are for terminals without NO_COLOR. `code` is an SGR sequence such as "1" or "31"; NULL resets. */
const char *report_colour(FILE *stream, const char *code);
/* A page for people on stdout: headings are the lines that are not indented, levels stand in a column of their own. */
void report_page(const char *page);

#endif

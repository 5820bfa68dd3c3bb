/* SPDX-License-Identifier: Apache-2.0 */
/* One function per subcommand: the only code that prints or exits. Each returns the exit status of
 * the process and never enforces anything itself. A new subcommand is a line here, a file
 * cmd_NAME.c and a row in main.c. */
#ifndef BERM_COMMON_CLI_COMMANDS_H
#define BERM_COMMON_CLI_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/error.h"
#include "common/cli/options.h"
#include "common/policy/policy.h"

/* The options that each subcommand accepts. */
#define COMMAND_RUN (OPTIONS_POLICY | OPTION(PASS_FD) | OPTION(DRY_RUN) | OPTION(COPY) | OPTION(UNDOABLE) | OPTION(HELP))
#define COMMAND_AGENT (COMMAND_RUN | OPTION(PLAN) | OPTION(COMMANDS))
#define COMMAND_SHELL (OPTIONS_POLICY | OPTION(PASS_FD) | OPTION(COPY) | OPTION(UNDOABLE) | OPTION(HELP))
#define COMMAND_PLAN                                                                                                           \
	(OPTIONS_POLICY | OPTION(JSON) | OPTION(FORMAT) | OPTION(OS) | OPTION(CONTEXT) | OPTION(WHY_REBUILT) | OPTION(HELP))
#define COMMAND_CHECK (OPTIONS_POLICY | OPTION(JSON) | OPTION(OS) | OPTION(CONTEXT) | OPTION(HELP))
#define COMMAND_POLICIES (OPTION(SHOW) | OPTION(SCHEMA) | OPTION(KEYS) | OPTION(HELP))
#define COMMAND_INIT (OPTION(PRINT) | OPTION(YES) | OPTION(HELP))
#define COMMAND_TRUST (OPTION(VERBOSE) | OPTION(LIST) | OPTION(DROP) | OPTION(YES) | OPTION(HELP))
#define COMMAND_STATE (OPTION(VERBOSE) | OPTION(JSON) | OPTION(ALL) | OPTION(YES) | OPTION(HELP)) /* list and reset */
#define COMMAND_STATE_PRUNE (OPTION(VERBOSE) | OPTION(DRY_RUN) | OPTION(OLDER) | OPTION(YES) | OPTION(HELP)) /* prune */
#define COMMAND_STATE_PATH (OPTIONS_POLICY | OPTION(JSON) | OPTION(HELP)) /* path */
#define COMMAND_QUARANTINE_LIST (OPTION(VERBOSE) | OPTION(JSON) | OPTION(HELP))
#define COMMAND_QUARANTINE (COMMAND_QUARANTINE_LIST | OPTION(ALL) | OPTION(YES)) /* all of them, for the help */
#define COMMAND_QUARANTINE_SHOW (OPTION(JSON) | OPTION(HELP)) /* show, restore */
#define COMMAND_QUARANTINE_DROP (OPTION(ALL) | OPTION(YES) | OPTION(HELP))
#define OPTIONS_LOG (OPTION(PROJECT) | OPTION(SINCE) | OPTION(DENIED) | OPTION(NET_HOST) | OPTION(HELP))
#define COMMAND_LOG_SHOW (OPTION(JSON) | OPTION(HELP)) /* show, verify */
#define COMMAND_LOG_LIST (OPTIONS_LOG | OPTION(JSON) | OPTION(VERBOSE))
#define COMMAND_LOG_TAIL (OPTION(FOLLOW) | OPTION(HELP))
#define COMMAND_LOG_EXPORT (OPTIONS_LOG | OPTION(EXPORT) | OPTION(OUTPUT))
#define COMMAND_LOG_REPORT (OPTION(OUTPUT) | OPTION(HELP))
#define COMMAND_LOG (COMMAND_LOG_LIST | COMMAND_LOG_TAIL | COMMAND_LOG_EXPORT) /* all of them, for the help */
#define COMMAND_WHY (OPTION(JSON) | OPTION(HELP))
#define COMMAND_DIFF (OPTION(PROJECT) | OPTION(STAT) | OPTION(NAME_ONLY) | OPTION(JSON) | OPTION(EXIT_CODE) | OPTION(HELP))
#define COMMAND_APPLY (OPTION(PROJECT) | OPTION(DRY_RUN) | OPTION(OURS) | OPTION(THEIRS) | OPTION(FORCE) | OPTION(HELP))
#define COMMAND_DISCARD (OPTION(PROJECT) | OPTION(ALL) | OPTION(YES) | OPTION(HELP))
#define COMMAND_COPIES (OPTION(PROJECT) | OPTION(JSON) | OPTION(HELP))
#define COMMAND_UNDO (OPTION(PROJECT) | OPTION(LIST) | OPTION(JSON) | OPTION(HELP))
#define COMMAND_SESSION_START (OPTIONS_POLICY | OPTION(IDLE) | OPTION(HELP))
#define COMMAND_SESSION_EXEC (OPTIONS_POLICY | OPTION(HELP))
#define COMMAND_SESSION_LIST (OPTION(VERBOSE) | OPTION(JSON) | OPTION(HELP))
#define COMMAND_SESSION_STOP (OPTION(PROJECT) | OPTION(ALL) | OPTION(HELP))
#define COMMAND_SESSION (COMMAND_SESSION_START | COMMAND_SESSION_LIST | COMMAND_SESSION_STOP) /* for the help */
#define COMMAND_DOCTOR (OPTION(JSON) | OPTION(INSTALL_APPARMOR) | OPTION(REMOVE_APPARMOR) | OPTION(VERBOSE) | OPTION(HELP))
#define COMMAND_SETUP                                                                                                          \
	(OPTION(JSON) | OPTION(PRINT) | OPTION(WRITE) | OPTION(UNDO) | OPTION(CHECK) | OPTION(FILE) | OPTION(HOW) |            \
	 OPTION(MANAGED) | OPTION(PROVE) | OPTION(DEBUGGER) | OPTION(YES) | OPTION(HELP))
#define COMMAND_HOOKS (OPTION(VERBOSE) | OPTION(REPOSITORY) | OPTION(GLOBAL) | OPTION(UNINSTALL) | OPTION(HELP))
#define COMMAND_HOOK (OPTION(HOST) | OPTION(HELP)) /* hook-rewrite */

int cmd_run(int argc, char **argv);
int cmd_shell_string(int argc, char **argv); /* berm -c STRING */
int cmd_berm_shell(int argc, char **argv); /* berm-sh */
int cmd_shim(int argc, char **argv); /* bash, zsh, sh, dash, fish */
int cmd_node_shim(int argc, char **argv); /* berm-node */
int cmd_shell(int argc, char **argv); /* berm shell */
int cmd_agent(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_policies(int argc, char **argv);
int cmd_init(int argc, char **argv);
int cmd_trust(int argc, char **argv);
int cmd_state(int argc, char **argv);
int cmd_quarantine(int argc, char **argv);
int cmd_session(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_discard(int argc, char **argv);
int cmd_copies(int argc, char **argv);
int cmd_undo(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_doctor_attempts(int argc, char **argv); /* run by doctor, bare and in the sandbox */
int cmd_setup(int argc, char **argv);
int cmd_hook_rewrite(int argc, char **argv);
int cmd_hook_session(int argc, char **argv);
int cmd_hooks(int argc, char **argv);
int cmd_hook_run(int argc, char **argv); /* called by the scripts of `berm hooks install` */
int cmd_completions(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* cmd_run.c: runs the command with the options that the session holds. Returns the exit status
 * of the process. */
struct session;
int run_command(struct session *session, char *const *command);

/* arguments.c: parses options and at most one word, in any order. *word is NULL if
 * there is none. */
int arguments_parse(struct arena *arena, uint64_t accepted, int argc, char **argv, struct options *options, const char **word,
		    struct error *err);
/* Asks on the terminal. Returns 1 for yes, 0 for no, -1 without a terminal; err then has `how`
 * as its hint. */
int arguments_confirm(const char *question, const char *how, struct error *err);
/* Returns -1 with err in a sandbox of berm. `what` completes "this is a sandbox of
 * berm, and ...". */
int arguments_refuse_inside(const char *what, struct error *err);
/* Formats seconds since 1970 as local time. */
const char *arguments_date(struct arena *arena, int64_t seconds);

/* report.c: prints a failure on stderr. Each returns EXIT_REFUSED. */
int report_error(const struct error *err);
int report_diagnostics(const struct diagnostics *diagnostics);
/* Prints the text on stdout and frees it. Returns 0. */
int report_text(struct text *text);
/* Prints a subcommand's help: `usage`, its options, `status`. Returns 0. */
int report_help(const char *usage, uint64_t accepted, const char *status);
/* Returns an escape sequence, or "" if the stream is not a terminal or NO_COLOR is set. `code` is
 * an SGR code such as "1" or "31"; NULL resets. The result is valid until the next call. */
const char *report_colour(FILE *stream, const char *code);
/* Returns the columns that pages on this stream fill: those of the terminal, at most
 * REPORT_WIDTH_MAX; TEXT_WIDTH without a terminal. */
enum { REPORT_WIDTH_MIN = 50, REPORT_WIDTH_MAX = 100 };
size_t report_width(FILE *stream);
/* Returns all columns of the terminal, for lists of paths. */
size_t report_columns(FILE *stream);
/* True if the locale's characters are UTF-8 and the terminal has more than the console's font. */
bool report_has_symbols(void);
enum report_mark { MARK_GOOD, MARK_WEAKER, MARK_BAD, MARK_NONE };
/* Prints a coloured symbol and a blank on stdout, in ASCII where the locale is not UTF-8; two
 * blanks for MARK_NONE; nothing without a terminal. */
void report_mark(enum report_mark mark);
/* Returns the escape sequence of the mark's colour for stdout, or "". */
const char *report_mark_colour(enum report_mark mark);
/* Prints the mark, `lead` in its colour, and the words on stdout; on a terminal the words are
 * wrapped to the right of `lead`. The caller has escaped the texts. */
void report_item(enum report_mark mark, const char *lead, const char *words);
/* Prints a line below an item, with `indent` blanks; on a terminal wrapped and below its text. */
void report_detail(size_t indent, const char *words);
/* Returns the path as a terminal shows it: with ~ for `home`, which may be NULL, and of a path with
 * more than `columns`, if that is not 0, the two ends. Unchanged without a terminal. */
const char *report_path(struct arena *arena, const char *home, const char *path, size_t columns);
/* Prints a unified difference on stdout, in colour on a terminal, and frees it. */
void report_difference(struct text *difference);
/* Prints "berm: " and the sentence on stderr, wrapped on a terminal. Escapes control characters. */
void report_line(const char *sentence);
/* Prints a page on stdout. On a terminal headings, the lines without indentation, are bold.
 * report_page gives lines with a level at a fixed column its colour and mark. */
void report_page(const char *page);
void report_headings(const char *page);

#endif

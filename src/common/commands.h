/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands. Each returns the process's exit status; printing happens in them and in main.c only. */
#ifndef BERM_COMMON_COMMANDS_H
#define BERM_COMMON_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/error.h"
#include "common/policy.h"

int cmd_run(int argc, char **argv);
int cmd_shell_string(int argc, char **argv); /* berm -c STRING */
int cmd_plan(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_policies(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* cmd_report.c: how failures look. Each returns EXIT_REFUSED. */
int report_error(const struct error *err);
int report_diagnostics(const struct diagnostics *diagnostics);
/* Colours are for terminals without NO_COLOR. `code` is an SGR sequence such as "1" or "31"; NULL resets. */
const char *report_colour(FILE *stream, const char *code);

#endif

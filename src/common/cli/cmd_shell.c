/* SPDX-License-Identifier: Apache-2.0 */
/* berm as a shell: the shims (bash, zsh, sh, dash, fish), berm-sh and `berm shell`; and as node,
 * for programs that an editor debugs. Shims and berm-sh pass every argument to the real program and
 * take no options. Their caller can only narrow what the user's policy allows. */
#include "common/cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/base/cleanup.h"
#include "common/shell/claude_files.h"
#include "common/shell/claude_prefix.h"
#include "common/shell/editor_terminal.h"
#include "common/context/inside.h"
#include "common/context/programs.h"
#include "common/cli/session.h"
#include "common/setup/setup.h"
#include "common/shell/startup.h"
#include "common/shell/typed_line.h"
#include "common/shell/user_functions.h"
#include "common/base/text.h"

/* Above the descriptors that scripts use (`exec 3<file`, `exec 9>lock`). */
enum { REPORT_DESCRIPTOR = 90 };
/* VS Code types its line after one to three seconds. */
enum { TYPED_WAIT_MS = 15000 };

/* Variables that VS Code's debugger sets for a program. */
static const char inspector_options[] = "VSCODE_INSPECTOR_OPTIONS", node_options[] = "NODE_OPTIONS";

static void narrow(struct session *session)
{
	struct policy *files = arena_alloc(&session->arena, sizeof *files);
	const char *piece = session->piece = "npm-script";

	session->is_narrowing = true;
	*files = (struct policy){ 0 };
	claude_files_rules(&session->arena, files);
	/* Other directories are another plan. */
	for (size_t i = 0; i < files->files.read.count; i++)
		piece = arena_printf(&session->arena, "%s %s", piece, files->files.read.items[i].text);
	if (files->files.read.count > 0)
		session->piece_rules = files;
	session->cache.words = session_narrow_words(&session->arena, piece);
}

/* The variables of a command behind the wall. */
static int change_variables(const struct wall *wall, struct error *err)
{
	for (size_t i = 0; i < wall->unset.count; i++)
		if (unsetenv(wall->unset.items[i]) < 0)
			return error_errno(err, errno, "cannot remove the variable %s", wall->unset.items[i]);
	for (size_t i = 0; i < wall->set.count; i++)
		if (putenv(wall->set.items[i]) != 0)
			return error_errno(err, errno, "cannot set a variable");
	return 0;
}

/* In the sandbox of `berm agent NAME --commands` a shell is behind a second wall. */
static int enter_wall(struct arena *arena, struct error *err)
{
	struct wall wall;
	int found = backend_wall_read(arena, &wall, err);
	if (found <= 0)
		return found;
	return change_variables(&wall, err) < 0 ? -1 : backend_wall_enter(arena, &wall, err);
}

/* Executes the shell without a second sandbox: this process already runs in one, for example in a
 * Makefile that names the shim. */
static int execute_here(struct arena *arena, char *const *command)
{
	struct error err = { 0 };
	if (enter_wall(arena, &err) < 0) {
		report_error(&err);
		return EXIT_REFUSED;
	}
	execv(command[0], command);
	error_errno(&err, errno, "cannot execute %s", command[0]);
	report_error(&err);
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int not_found(const struct error *err)
{
	report_error(err);
	return EXIT_NOT_FOUND;
}

/* Returns the shell that the string is written for: hosts use bash or zsh by $SHELL. It runs in the
 * sandbox in any case. */
static const char *string_shell(struct arena *arena, struct error *err)
{
	const char *variable = getenv("SHELL"), *path;
	const char *name = variable ? program_shell_name(path_base_name(variable)) : NULL;
	if (name && strcmp(name, "zsh") == 0 && (path = program_find(arena, "zsh", err)))
		return path;
	path = program_find(arena, "bash", err);
	return path ? path : program_find(arena, "sh", err);
}

/* The directory report of a string in the form of claude_prefix.h, during one run. */
struct report {
	struct claude_prefix prefix;
	const char *file; /* copy of prefix.file, for a retry */
	char **string, *original;
	int read_end, write_end;
};

/* A shell or a string of a host. */
struct host_shell {
	struct report *report; /* or NULL */
	struct editor_debugger debugger;
	const char *mark; /* name of an interactive shell, or NULL */
	const char *typed; /* the line that an editor typed into its terminal, or NULL */
};

/* Resets the report. A run is retried with another plan if the cached one is stale or the host
 * refuses its tier. */
static void reset_report(struct report *report)
{
	report->prefix.file = report->file;
	*report->string = report->original;
	if (report->read_end >= 0)
		close(report->read_end);
	if (report->write_end >= 0)
		close(report->write_end);
	report->read_end = report->write_end = -1;
}

static int open_report(struct session *session, struct report *report, struct error *err)
{
	const char *canonical;
	const struct plan_grant *grant;
	int ends[2];

	reset_report(report);
	if (path_resolve(session->context.fs, &session->arena, report->prefix.file, &canonical, NULL, NULL, err) < 0)
		return -1;
	grant = plan_grant_for(&session->plan, canonical);
	if (grant && grant->kind == GRANT_WRITE) {
		report->prefix.file = NULL; /* the command can write it itself */
		return 0;
	}
	if (pipe(ends) < 0)
		return error_errno(err, errno, "cannot create a pipe");
	report->read_end = ends[0];
	report->write_end = fcntl(ends[1], F_DUPFD, REPORT_DESCRIPTOR);
	close(ends[1]);
	if (report->write_end < 0 || fcntl(ends[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
		return error_errno(err, errno, "cannot create a pipe");
	report->prefix.functions = user_functions_file(&session->arena, &session->plan.context);
	*report->string = arena_copy(
		&session->arena, claude_prefix_rewrite(&session->plan, *report->string, &report->prefix, report->write_end));
	return 0;
}

/* Writes the directory that the command reported to the host's file. Falls back to the directory
 * that the command started in. */
static int close_report(struct session *session, struct report *report, int status)
{
	const struct context *context = &session->plan.context;
	char bytes[PATH_MAX + 1];
	struct error err = { 0 };
	const char *directory;
	ssize_t length;

	if (!report->prefix.file || report->read_end < 0)
		return status;
	close(report->write_end);
	length = read(report->read_end, bytes, sizeof bytes);
	close(report->read_end);
	if (length <= 0)
		return status; /* the command ended before it reported */
	directory = claude_prefix_judge(&session->plan, bytes, (size_t)length);
	if (!directory) {
		error_set(&err, "the next command starts in %s: this one ended in a directory outside the project",
			  context->working_directory);
		report_error(&err);
		directory = context->working_directory;
	}
	if (claude_prefix_deliver(&session->arena, &report->prefix, directory, &err) == 0)
		return status;
	report_error(&err);
	return status ? status : EXIT_FAILURE;
}

/* Called with the plan. A debugger that cannot attach is no reason to run nothing. */
static int open_host_shell(struct session *session, struct error *err)
{
	struct host_shell *host = session->self;
	struct error why = { 0 };

	editor_terminal_pass(&session->plan);
	if (host->debugger.socket && editor_debugger_pass(&session->plan, &host->debugger, &why) < 0)
		report_error(&why);
	if (host->mark)
		shell_mark_write(&session->plan, host->mark, host->typed);
	return host->report ? open_report(session, host->report, err) : 0;
}

/* Returns the text of the list of debuggers, or NULL. Only the usual place counts: the project may
 * have set the variables. */
static const char *allowed_debuggers(struct session *session)
{
	struct context_request request = { .has_no_project = true, .is_narrowing = true };
	struct context context;
	struct jsonc_text text;
	struct error ignored = { 0 };

	if (context_detect(&session->arena, &request, &context, &ignored) < 0 ||
	    setup_file_peek(&session->arena, path_join(&session->arena, context.config_directory, EDITOR_DEBUGGERS), &text,
			    &ignored) < 0)
		return NULL;
	return arena_copy_n(&session->arena, text.data, text.length);
}

/* Prepares the session for a host's shell. The socket of a debugger is part of the plan, and so of
 * its cache key. */
static struct host_shell *prepare_host_shell(struct session *session, const char *mark, const char *typed)
{
	struct arena *arena = &session->arena;
	struct host_shell *host = arena_alloc(arena, sizeof *host);

	*host = (struct host_shell){ .mark = mark, .typed = typed };
	if (typed)
		host->debugger = (struct editor_debugger){ .options = typed_line_variable(arena, typed, inspector_options),
							   .node_options = typed_line_variable(arena, typed, node_options),
							   .is_typed = true };
	else
		host->debugger =
			(struct editor_debugger){ .options = getenv(inspector_options), .node_options = getenv(node_options) };
	narrow(session);
	if (host->debugger.options)
		editor_debugger_find(&session->arena, allowed_debuggers(session), &host->debugger);
	if (host->debugger.socket) {
		if (session->piece_rules)
			policy_merge(&session->arena, &host->debugger.rules, session->piece_rules, false);
		session->piece_rules = &host->debugger.rules;
		session_add_word(session, arena_printf(&session->arena, "\ndebugger %s", host->debugger.socket));
	}
	session->self = host;
	session->opened = open_host_shell;
	return host;
}

/* The directory for temporary files that the host uses, by the host's own order, or NULL. */
static const char *host_temporary(void)
{
	const char *own = getenv("CLAUDE_CODE_TMPDIR");
	return own && *own ? own : getenv("TMPDIR");
}

/* Runs the command, whose argument *string may be in the form of claude_prefix.h. */
static int run_reporting(struct session *session, char **command, char **string)
{
	struct report *report = arena_alloc(&session->arena, sizeof *report);
	struct host_shell *host = prepare_host_shell(session, NULL, NULL);

	*report = (struct report){ .string = string, .original = *string, .read_end = -1, .write_end = -1 };
	claude_prefix_parse(&session->arena, *string, host_temporary(), &report->prefix);
	report->file = report->prefix.file;
	if (report->prefix.file)
		host->report = report;
	return close_report(session, report, run_command(session, command));
}

static int run_string(struct session *session, char *string)
{
	struct error err = { 0 };
	const char *shell = string_shell(&session->arena, &err);
	char dash_c[] = "-c", *arguments[] = { dash_c, string }, **command;

	if (!shell)
		return not_found(&err);
	command = program_command(&session->arena, shell, false, 2, arguments);
	if (inside_sandbox())
		return execute_here(&session->arena, command);
	return run_reporting(session, command, &command[2]);
}

/* Returns the string of `-c STRING` or `-c -l STRING`, as Claude Code calls its shell, or NULL. */
static char **find_string(int argc, char **argv, char **command)
{
	int at = argc == 4 && strcmp(argv[2], "-l") == 0 ? 3 : 2;
	return argc == at + 1 && strcmp(argv[1], "-c") == 0 ? &command[at] : NULL;
}

/* tmux and screen close the window of a shell that ended, and its message with it. */
static void wait_for_reader(void)
{
	char key;
	if (!(getenv("TMUX") || getenv("STY")) || !isatty(STDIN_FILENO) || getsid(0) != getpid())
		return;
	fputs("berm: no shell was started; press Enter to close this window\n", stderr);
	while (read(STDIN_FILENO, &key, 1) == 1 && key != '\n' && key != '\r')
		continue;
}

/* Reports that a debugger will wait in vain. */
static void report_no_debugger(struct session *session)
{
	struct error err = { 0 };
	if (editor_debugger_is_allowed(allowed_debuggers(session)))
		return;
	error_set(&err, "the program runs in the sandbox, and the debugger does not attach");
	error_hint(&err, "to allow it: berm setup vscode --debugger --write");
	report_error(&err);
}

/* Returns the launch that an editor types into a terminal for it, or NULL. */
static const char *typed_launch(struct session *session, const char *program)
{
	struct arena *arena = &session->arena;
	const char *line;

	if (!editor_debug_is_shim(arena, program) || !isatty(STDIN_FILENO))
		return NULL;
	line = typed_line_read(arena, STDIN_FILENO, TYPED_WAIT_MS);
	if (!line)
		return NULL;
	if (typed_line_variable(arena, line, inspector_options))
		report_no_debugger(session);
	/* The shim may be in a place that the sandbox does not show. */
	return typed_line_replace(arena, line, path_join(arena, path_parent(arena, program), EDITOR_DEBUG_NODE), "node");
}

static int run_shim(struct session *session, const char *shell, int argc, char **argv)
{
	const char *name = program_shell_name(path_base_name(argv[0]));
	bool is_login = path_base_name(argv[0])[0] == '-', has_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	char **command = program_command(&session->arena, shell, is_login, argc - 1, argv + 1), **string, **arguments;
	int count = argc - 1, status;

	if (inside_sandbox())
		return execute_here(&session->arena, command);
	string = find_string(argc, argv, command);
	if (string)
		return run_reporting(session, command, string);
	if (!shell_is_interactive(argc - 1, argv + 1, has_terminal)) {
		prepare_host_shell(session, NULL, NULL);
		return run_command(session, command);
	}
	arguments = shell_mark_arguments(&session->arena, name, &count, argv + 1);
	command = program_command(&session->arena, shell, is_login, count, arguments);
	prepare_host_shell(session, name, typed_launch(session, argv[0]));
	status = run_command(session, command);
	if (status == EXIT_REFUSED)
		wait_for_reader();
	return status;
}

int cmd_shim(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	const char *shell = program_find(&session.arena, program_shell_name(path_base_name(argv[0])), &err);
	int status = shell ? run_shim(&session, shell, argc, argv) : not_found(&err);

	session_close(&session);
	return status;
}

int cmd_node_shim(int argc, char **argv)
{
	struct session session = { 0 };
	char node[] = "node", **command = program_command(&session.arena, node, false, argc - 1, argv + 1);
	struct error err = { 0 };
	int status;

	if (inside_sandbox()) {
		if (enter_wall(&session.arena, &err) == 0) {
			execvp(node, command);
			error_errno(&err, errno, "cannot execute %s", node);
		}
		status = not_found(&err);
	} else {
		if (getenv(inspector_options))
			report_no_debugger(&session);
		prepare_host_shell(&session, NULL, NULL);
		status = run_command(&session, command);
	}
	session_close(&session);
	return status;
}

int cmd_berm_shell(int argc, char **argv)
{
	struct session session = { 0 };
	char name[] = "sh", login[] = "-sh";
	int status;

	if (argc == 2 && argv[1][0] != '-' && argv[1][0] != '\0') {
		status = run_string(&session, argv[1]);
		session_close(&session);
		return status;
	}
	argv[0] = path_base_name(argv[0])[0] == '-' ? login : name;
	return cmd_shim(argc, argv);
}

static int print_help(void)
{
	return report_help("berm shell [options] [bash|zsh|sh|dash|fish]\n\n"
			   "Starts an interactive shell in the sandbox, with (berm) in its prompt. Default:\n"
			   "$SHELL. Its history is in the private home.\n",
			   COMMAND_SHELL, "");
}

static int add_startup(struct session *session, struct error *err)
{
	(void)err;
	shell_startup_write(&session->plan, session->self);
	return 0;
}

static const char *interactive_shell(struct arena *arena, const char *word, struct error *err)
{
	const char *variable = getenv("SHELL");
	const char *name = word ? word : variable ? path_base_name(variable) : "bash";
	const char *known = program_shell_name(name), *path;

	if (word && (!known || word[0] == '-')) {
		error_set(err, "no such shell: %s", word);
		error_hint(err, "bash, zsh, sh, dash or fish");
		return NULL;
	}
	path = program_find(arena, known ? known : "bash", err);
	return path || word ? path : program_find(arena, "sh", err);
}

int cmd_shell(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	const char *word, *shell;
	struct shell_startup start;
	int status;

	if (arguments_parse(&session.arena, COMMAND_SHELL, argc, argv, &session.options, &word, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	shell = interactive_shell(&session.arena, word, &err);
	if (!shell)
		return word && !program_shell_name(word) ? report_error(&err) : not_found(&err);
	shell_startup_choose(&session.arena, shell, &start);
	/* With the shell's name: another cache key for the same plan. */
	session.cache.words = session_words(&session.arena, argv, argc, NULL);
	session.self = &start;
	session.opened = add_startup;
	status = run_command(&session, start.command);
	session_close(&session);
	return status;
}

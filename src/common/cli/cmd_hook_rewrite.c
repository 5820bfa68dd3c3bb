/* SPDX-License-Identifier: Apache-2.0 */
/* `berm hook-rewrite --host=HOST`: the hook of an agent. Reads the host's JSON on stdin, judges the
 * call of a file tool, and prints the rewritten JSON of a shell command. Fails closed: every
 * failure, also a wrong option, exits with the status that hosts treat as "block" and prints the
 * reason on stderr. */
#include "common/cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/setup/agent_hook.h"
#include "common/context/install_paths.h"
#include "common/context/inside.h"
#include "common/context/programs.h"
#include "common/cli/hook_judge.h"
#include "common/cli/session.h"
#include "common/setup/setup.h"
#include "common/base/text.h"

static int print_help(void)
{
	struct text hosts = { 0 };
	for (size_t i = 0; i < setup_host_count; i++)
		if (setup_host_table[i].hook)
			text_add(&hosts, "%s%s", hosts.length > 0 ? ", " : "Hosts: ", setup_host_table[i].name);
	text_add(&hosts, "\n\nExit status: 0 rewritten or allowed; 2 blocked, with the reason on stderr.\n");
	report_help("berm hook-rewrite --host=HOST\n\n"
		    "The hook of an agent: reads the JSON of a tool call on stdin. A shell command is\n"
		    "printed with berm around it; a file tool is judged by the policy, and nothing is\n"
		    "printed if it is allowed, so that the host decides as it would without berm.\n"
		    "`berm setup HOST` installs it. Input that cannot be parsed blocks the call.\n",
		    COMMAND_HOOK, hosts.data);
	text_free(&hosts);
	return 0;
}

static int block(const struct error *err)
{
	report_error(err);
	fputs("berm: the call was blocked; nothing ran\n", stderr);
	return HOOK_BLOCK;
}

static int read_input(struct text *input, struct error *err)
{
	char buffer[16384];
	for (;;) {
		ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_errno(err, errno, "cannot read the hook input");
		if (count == 0)
			return 0;
		text_add_n(input, buffer, (size_t)count);
		if (input->length > JSONC_SIZE_MAX)
			return error_set(err, "hook input: larger than %d MiB", JSONC_SIZE_MAX >> 20);
	}
}

/* Finds bash, for which agents write their commands, else sh. */
static const char *find_shell(struct arena *arena, struct error *err)
{
	struct error ignored = { 0 };
	const char *bash = program_find(arena, "bash", &ignored);
	return bash ? bash : program_find(arena, "sh", err);
}

/* Finds the project of the workspace and resolves it here: a directory that the agent chooses for
 * one command must not select another project. */
static int find_project(struct session *session, const char *workspace, const char **project, struct error *err)
{
	struct context *context = &session->context;
	struct context_request request = { .has_no_project = true };
	struct file_info info;

	if (context_detect(&session->arena, &request, context, err) < 0)
		return -1;
	if (path_resolve(context->fs, &session->arena, path_absolute(&session->arena, "/", workspace),
			 &context->working_directory, NULL, &info, err) < 0)
		return -1;
	if (info.type != FILE_DIRECTORY)
		return error_set(err, "the directory %s of the host does not exist", workspace);
	*project = context_find_project(&session->arena, context);
	return context_judge_project(context, *project, err);
}

/* Refuses a command of a host that would not run it in one of berm's shells. */
static int check_shell(struct session *session, const struct setup_host *host, const struct install_paths *paths,
		       struct error *err)
{
	const char *variable = host->hook->shell_variable, *value = getenv(variable);
	const char *prefix = getenv("CLAUDE_CODE_SHELL_PREFIX");
	struct arena *arena = &session->arena;

	/* `berm setup claude-code --how=prefix` */
	if (host->other && prefix && strcmp(prefix, paths->shell) == 0 && access(prefix, X_OK) == 0)
		return 0;
	if (!value || strcmp(path_parent(arena, value), paths->shims) != 0 || access(value, X_OK) < 0) {
		error_set(err, "%s would run this command outside the sandbox: %s is %s", host->title, variable,
			  value ? text_visible(arena, value) : "not set");
		return error_hint(err, "ask the user to run `berm setup %s --check` and to start a new session", host->name);
	}
	if (!setup_is_older_session(arena, &session->context, host))
		return 0;
	error_set(err, "this session of %s began before berm was set up, and uses another shell", host->title);
	return error_hint(err, "ask the user to start a new session");
}

/* A host that starts a shim itself: its command stays as it is. */
static int confirm_shell(struct session *session, const struct setup_host *host, struct jsonc_text text,
			 const struct install_paths *paths, struct agent_hook_answer *answer, struct error *err)
{
	/* Checks the shape of the input. */
	if (agent_hook_rewrite(&session->arena, host, text, NULL, answer, err) < 0)
		return -1;
	answer->json = NULL;
	return check_shell(session, host, paths, err);
}

/* A nested sandbox could only remove permissions that the agent was given. With `berm agent NAME
 * --commands` that is the purpose: berm-sh puts the command behind the second wall. */
static int answer_inside(struct session *session, const struct setup_host *host, struct jsonc_text input,
			 struct agent_hook_answer *answer, struct error *err)
{
	struct context_request request = { .has_no_project = true };
	struct agent_hook_wrapper wrapper = { 0 };
	struct install_paths paths;
	struct wall wall;
	int found = backend_wall_read(&session->arena, &wall, err);

	if (found < 0)
		return -1;
	if (found == 0)
		return agent_hook_rewrite(&session->arena, host, input, NULL, answer, err);
	if (context_detect(&session->arena, &request, &session->context, err) < 0)
		return -1;
	install_paths_find(&session->arena, session->context.fs, session->context.executable, &paths);
	if (host->hook->shell_variable)
		return confirm_shell(session, host, input, &paths, answer, err);
	/* Gemini CLI takes `bash -c` off a command again. */
	wrapper.program = paths.shell;
	if (access(wrapper.program, X_OK) < 0)
		return error_errno(err, errno, "cannot find %s", wrapper.program);
	return agent_hook_rewrite(&session->arena, host, input, &wrapper, answer, err);
}

static int make_answer(struct session *session, const struct setup_host *host, const struct text *input,
		       struct agent_hook_answer *answer, struct error *err)
{
	const char *root = host->hook->root_variable ? getenv(host->hook->root_variable) : NULL;
	struct hook_call call = { .host = host, .input = { input->data, input->length } };
	struct agent_hook_wrapper wrapper = { .shell = find_shell(&session->arena, err) };
	struct arena *arena = &session->arena;
	struct install_paths paths;

	if (agent_hook_accesses(arena, host, call.input, &call.tool, &call.accesses, err) < 0)
		return -1;
	if (inside_sandbox())
		return call.tool ? 0 : answer_inside(session, host, call.input, answer, err);
	if (!wrapper.shell || agent_hook_workspace(arena, host, call.input, root, &call.workspace, err) < 0 ||
	    find_project(session, call.workspace, &call.project, err) < 0)
		return -1;
	if (call.tool)
		return hook_judge(arena, &call, &answer->json, err);
	install_paths_find(arena, session->context.fs, session->context.executable, &paths);
	if (host->hook->shell_variable)
		return confirm_shell(session, host, call.input, &paths, answer, err);
	wrapper.project = call.project;
	wrapper.program = paths.program;
	if (access(wrapper.program, X_OK) < 0)
		return error_errno(err, errno, "cannot find the program berm: %s", wrapper.program);
	return agent_hook_rewrite(arena, host, call.input, &wrapper, answer, err);
}

static int rewrite(struct session *session, const struct setup_host *host)
{
	struct agent_hook_answer answer = { 0 };
	struct text input = { 0 };
	struct error err = { 0 };
	int status = 0;

	text_add_n(&input, "", 0);
	if (read_input(&input, &err) < 0 || make_answer(session, host, &input, &answer, &err) < 0)
		status = block(&err);
	else if (answer.json && answer.json[0] && (printf("%s\n", answer.json) < 0 || fflush(stdout) != 0)) {
		error_errno(&err, errno, "cannot write the result");
		status = block(&err);
	}
	text_free(&input);
	return status;
}

static int choose_host(const char *name, const struct setup_host **host, struct error *err)
{
	*host = name ? agent_hook_host(name) : NULL;
	if (*host)
		return 0;
	error_set(err, name ? "--host=%s: not a known host with hooks" : "hook-rewrite needs --host=HOST", name);
	for (size_t i = 0; i < setup_host_count; i++)
		if (setup_host_table[i].hook)
			error_hint(err, "--host=%s", setup_host_table[i].name);
	return -1;
}

static int parse(struct session *session, int argc, char **argv, const struct setup_host **host, struct error *err)
{
	const char *word;
	if (arguments_parse(&session->arena, COMMAND_HOOK, argc, argv, &session->options, &word, err) < 0)
		return -1;
	if (session->options.wants_help)
		return 0;
	return word ? error_set(err, "hook-rewrite takes no argument: %s", word)
		    : choose_host(session->options.host, host, err);
}

int cmd_hook_rewrite(int argc, char **argv)
{
	struct session session = { 0 };
	const struct setup_host *host = NULL;
	struct error err = { 0 };
	int status;

	if (parse(&session, argc, argv, &host, &err) < 0)
		status = block(&err);
	else
		status = host ? rewrite(&session, host) : print_help();
	session_close(&session);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `berm hook-rewrite --host=HOST`: an agent's hook. Reads the host's JSON on stdin and prints its answer. Fails closed: every failure,
 * a wrong option included, exits with the status that the hosts take for "block", and says why on stderr. */
#include "common/cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/setup/agent_hook.h"
#include "common/context/install_paths.h"
#include "common/context/programs.h"
#include "common/cli/session.h"
#include "common/base/text.h"

static int print_help(void)
{
	struct text out = { 0 };
	text_add(&out, "berm hook-rewrite --host=HOST\n\n"
		       "A hook for agents: reads the description of a shell command on stdin and answers\n"
		       "with the command inside berm. `berm setup HOST` installs it. What cannot be read\n"
		       "is blocked.\n\n");
	options_help(COMMAND_HOOK, &out);
	text_add(&out, "\nExit status: 0 rewritten; 2 blocked, the reason is on stderr.\n");
	fputs(out.data, stdout);
	text_free(&out);
	return 0;
}

static int block(const struct error *err)
{
	report_error(err);
	fputs("berm: the command was blocked; nothing ran\n", stderr);
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

/* The commands of agents are written for bash. */
static const char *find_shell(struct arena *arena, struct error *err)
{
	struct error ignored = { 0 };
	const char *bash = program_find(arena, "bash", &ignored);
	return bash ? bash : program_find(arena, "sh", err);
}

/* The project that contains the workspace. Named here, so that a directory which the agent chooses for one command does not. */
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
		return error_set(err, "the host's directory %s does not exist", workspace);
	*project = context_find_project(&session->arena, context);
	return context_judge_project(context, *project, err);
}

static int make_answer(struct session *session, const struct hook_host *host, const struct text *input,
		       struct hook_answer *answer, struct error *err)
{
	struct jsonc_text text = { input->data, input->length };
	struct hook_wrapper wrapper = { .shell = find_shell(&session->arena, err) };
	struct install_paths paths;
	const char *workspace, *root = host->root_variable ? getenv(host->root_variable) : NULL;

	/* Another wall inside the first would only take away what the agent was given. */
	if (program_is_inside())
		return hook_rewrite(&session->arena, host, text, NULL, answer, err);
	if (!wrapper.shell || hook_workspace(&session->arena, host, text, root, &workspace, err) < 0)
		return -1;
	if (find_project(session, workspace, &wrapper.project, err) < 0)
		return -1;
	install_paths_find(&session->arena, session->context.fs, session->context.executable, &paths);
	wrapper.program = paths.program;
	if (access(wrapper.program, X_OK) < 0)
		return error_errno(err, errno, "cannot find berm's own program, %s", wrapper.program);
	return hook_rewrite(&session->arena, host, text, &wrapper, answer, err);
}

static int rewrite(struct session *session, const struct hook_host *host)
{
	struct hook_answer answer = { 0 };
	struct text input = { 0 };
	struct error err = { 0 };
	int status = 0;

	text_add_n(&input, "", 0);
	if (read_input(&input, &err) < 0 || make_answer(session, host, &input, &answer, &err) < 0)
		status = block(&err);
	else if (printf("%s\n", answer.json) < 0 || fflush(stdout) != 0) {
		error_errno(&err, errno, "cannot write the answer");
		status = block(&err);
	}
	text_free(&input);
	return status;
}

static int choose_host(const char *name, const struct hook_host **host, struct error *err)
{
	*host = name ? hook_host_find(name) : NULL;
	if (*host)
		return 0;
	error_set(err, name ? "--host=%s: no host with hooks that berm knows" : "hook-rewrite needs --host=HOST", name);
	for (size_t i = 0; i < hook_host_count; i++)
		error_hint(err, "--host=%s", hook_host_table[i].name);
	return -1;
}

static int parse(struct session *session, int argc, char **argv, const struct hook_host **host, struct error *err)
{
	const char *word;
	if (words_parse(&session->arena, COMMAND_HOOK, argc, argv, &session->options, &word, err) < 0)
		return -1;
	if (session->options.wants_help)
		return 0;
	return word ? error_set(err, "hook-rewrite takes no %s", word) : choose_host(session->options.host, host, err);
}

int cmd_hook_rewrite(int argc, char **argv)
{
	struct session session = { 0 };
	const struct hook_host *host = NULL;
	struct error err = { 0 };
	int status;

	if (parse(&session, argc, argv, &host, &err) < 0)
		status = block(&err);
	else
		status = host ? rewrite(&session, host) : print_help();
	session_close(&session);
	return status;
}

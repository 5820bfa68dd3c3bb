/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on what the caller leaves lying about: descriptors, environment, search path, working
 * directory. */
#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void leave_directories(struct trial *trial)
{
	for (int fd = 10; fd < 16; fd++)
		if (dup2(open(trial->world.outside, O_RDONLY | O_DIRECTORY), fd) != fd)
			_exit(99);
}

static void directories_behind_proc(struct trial *trial)
{
	trial->before_exec = leave_directories;
	CONTAIN(trial, "proc-descriptors", "secret");
}

static void leave_secrets(struct trial *trial)
{
	int secret = open(trial->world.secret, O_RDONLY);
	for (int fd = 3; fd <= 200; fd++)
		if (fd != secret && dup2(secret, fd) != fd)
			_exit(99);
	dup2(open(trial->world.outside, O_RDONLY | O_DIRECTORY), 100);
	dup2(secret, 1000);
}

static void inherited_descriptors(struct trial *trial)
{
	trial->before_exec = leave_secrets;
	CONTAIN(trial, "descriptors");
	trial_option(trial, "--pass-fd=5");
	CONTAIN(trial, "descriptors", "5");
	/* An fd that is passed on purpose is open. */
	INSIDE(trial, "$ATTACK", "descriptors");
	expect(trial, strstr(trial->outcome.out, "REACHED descriptor-read") != NULL, "--pass-fd=5 does not pass descriptor 5");
}

static void own_descriptors(struct trial *trial)
{
	INSIDE(trial, "$ATTACK", "descriptors");
	expect(trial, trial->outcome.exit_code == 0 && !strstr(trial->outcome.out, "REACHED"),
	       "a descriptor of berm's is open inside");
	trial_victim(trial);
	BARE(trial, "$ATTACK", "proc-entries", "$VICTIM");
	expect(trial, strstr(trial->outcome.out, "REACHED fd") != NULL,
	       "control: descriptors of another process cannot be followed");
	INSIDE(trial, "$ATTACK", "proc-entries", "1");
	expect(trial, trial->outcome.exit_code == 0 && !strstr(trial->outcome.out, "REACHED fd"),
	       "init's descriptors can be followed");
	trial->before_exec = leave_secrets;
	BARE(trial, "$ATTACK", "descriptors");
	expect(trial, strstr(trial->outcome.out, "REACHED descriptor-open") != NULL, "control: descriptors are not seen");
}

static void code_variables(struct trial *trial)
{
	static const char *const variables[] = {
		"LD_LIBRARY_PATH=/x",
		"LD_AUDIT=",
		"NODE_OPTIONS=--require=/x",
		"PYTHONSTARTUP=/x",
		"PYTHONPATH=/x",
		"BASH_ENV=/x",
		"ENV=/x",
		"GIT_DIR=/x",
		"GIT_SSH_COMMAND=/x",
		"GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.fsmonitor",
		"GIT_CONFIG_VALUE_0=./evil",
		"PERL5OPT=-M/x",
		"RUBYOPT=-r/x",
		"JAVA_TOOL_OPTIONS=-x",
		"LESSOPEN=|/x",
		"EDITOR=/x",
		"PROMPT_COMMAND=/x",
	};
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		trial_variable(trial, variables[i]);
	CONTAIN(trial, "environment", "LD_LIBRARY_PATH", "NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH", "BASH_ENV", "ENV",
		"GIT_DIR", "GIT_SSH_COMMAND");
	CONTAIN(trial, "environment", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=./evil", "PERL5OPT", "RUBYOPT",
		"JAVA_TOOL_OPTIONS", "LESSOPEN", "PROMPT_COMMAND", "LD_AUDIT");
}

static void secret_variables(struct trial *trial)
{
	static const char *const variables[] = {
		"AWS_SECRET_ACCESS_KEY=$TOKEN",
		"AWS_ACCESS_KEY_ID=$TOKEN",
		"GITHUB_TOKEN=$TOKEN",
		"NPM_TOKEN=$TOKEN",
		"MY_SECRET_VALUE=$TOKEN",
		"SSH_AUTH_SOCK=/x",
		"DATABASE_URL=$TOKEN",
		"KUBECONFIG=/x",
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/x",
		"XAUTHORITY=/x",
		"GPG_AGENT_INFO=/x",
	};
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		trial_variable(trial, variables[i]);
	CONTAIN(trial, "environment", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "GITHUB_TOKEN", "NPM_TOKEN",
		"MY_SECRET_VALUE", "SSH_AUTH_SOCK", "DATABASE_URL", "KUBECONFIG", "DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY");
	trial_option(trial, "--env=MY_SECRET_VALUE");
	INSIDE(trial, "$ATTACK", "environment", "MY_SECRET_VALUE", "NPM_TOKEN");
	expect(trial, strstr(trial->outcome.out, "REACHED variable:MY_SECRET_VALUE") != NULL,
	       "a variable that is named does not arrive");
	expect(trial, !strstr(trial->outcome.out, "REACHED variable:NPM_TOKEN"), "naming one variable passes another");
}

/* The library writes the name of the program that loaded it. */
static void preloaded_library(struct trial *trial)
{
	char *library = path_of("%s/preload.so", trial->world.project), *marker = path_of("%s/loaded", trial->world.project);
	const char *source = getenv("BERM_PRELOAD");
	if (!source || access(source, R_OK)) {
		expect(trial, false, "BERM_PRELOAD does not name the library");
		return;
	}
	copy_file(source, library, 0755);
	trial_variable(trial, path_of("LD_PRELOAD=%s", library));
	trial_variable(trial, path_of("BERM_TEST_MARKER=%s", marker));
	BARE(trial, "/bin/cat", "/dev/null");
	expect(trial, file_contains(marker, "cat"), "control: the library is not loaded");
	unlink(marker);
	INSIDE(trial, "/bin/cat", "/dev/null");
	expect(trial, trial->outcome.exit_code == 0, "the command ended with %d", trial->outcome.exit_code);
	expect(trial, !file_contains(marker, "cat"), "the library ran inside");
	/* A dynamically linked launcher is the caller's own process; nothing that it starts may
	 * load the library again. */
	const char *text = file_text(marker);
	const char *first = strchr(text, '\n');
	expect(trial, text[0] == '\0' || (first && first[1] == '\0'), "a helper of berm's loaded the library: %s", text);
}

static void planted_programs(struct trial *trial)
{
	static const char *const names[] = {
		"git", "sh", "bash", "newuidmap", "newgidmap", "mount", "ip", "true", "id", "stty"
	};
	char *bin = path_of("%s/bin", trial->world.project), *marker = path_of("%s/planted-ran", trial->world.base);
	make_directory(bin, 0755);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *script = path_of("#!/bin/sh\necho %s >> %s\n", names[i], marker);
		make_filef(script, 0755, "%s/%s", bin, names[i]);
		make_filef(script, 0755, "%s/%s", trial->world.project, names[i]);
	}
	trial_variable(trial, path_of("PATH=.:%s:/usr/bin:/bin", bin));
	BARE(trial, "/bin/sh", "-c", "git");
	expect(trial, file_contains(marker, "git"), "control: the planted program does not run");
	unlink(marker);
	INSIDE(trial, "/bin/cat", "/dev/null");
	expect(trial, trial->outcome.exit_code == 0, "the command ended with %d", trial->outcome.exit_code);
	BERM(trial, "plan");
	BERM(trial, "doctor");
	BERM(trial, "check", "read", "/etc/hosts");
	expect(trial, access(marker, F_OK) != 0, "berm ran a planted program: %s", file_text(marker));
}

static void foreign_working_directory(struct trial *trial)
{
	trial_option(trial, "--project=$PROJECT");
	trial->directory = trial->world.outside;
	trial_renew(trial);
	BARE(trial, "$ATTACK", "cwd", "secret", "../outside/secret", "./secret");
	expect(trial, strstr(trial->outcome.out, "REACHED cwd:secret") != NULL, "control: the directory is not inherited");
	INSIDE(trial, "$ATTACK", "cwd", "secret", "../outside/secret", "./secret");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "the inherited directory still leads to the host");
}

static void denied_working_directory(struct trial *trial)
{
	char *directory = path_of("%s/vault", trial->world.project);
	make_directory(directory, 0755);
	make_filef(trial->world.token, 0644, "%s/key.txt", directory);
	trial_option(trial, "--deny=vault");
	trial->directory = directory;
	trial->pid_file = NULL;
	BARE(trial, "$ATTACK", "cwd", "key.txt");
	expect(trial, strstr(trial->outcome.out, "REACHED cwd:key.txt") != NULL, "control: the file cannot be read");
	INSIDE(trial, "$ATTACK", "cwd", "key.txt", "../vault/key.txt");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "the inherited directory leads behind its mask");
}

static void stdin_is_directory(struct trial *trial)
{
	close(STDIN_FILENO);
	if (open(trial->world.outside, O_RDONLY | O_DIRECTORY) != STDIN_FILENO)
		_exit(99);
}

static void directory_as_stdin(struct trial *trial)
{
	trial->before_exec = stdin_is_directory;
	BARE(trial, "$ATTACK", "stdin-directory", "secret");
	expect(trial, strstr(trial->outcome.out, "REACHED stdin-directory") != NULL, "control: the directory is not inherited");
	INSIDE(trial, "$ATTACK", "stdin-directory", "secret");
	expect(trial, trial->outcome.exit_code == 125 || strstr(trial->outcome.out, "END"), "neither refused nor finished (%d)",
	       trial->outcome.exit_code);
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "the directory leads to the host");
}

/* A log that holds lines from before, opened by the caller for appending. The outcome comes by
 * another way: stdout is the log. */
static void stdout_is_log(struct trial *trial)
{
	int fd = open(path_of("%s/log", trial->world.outside), O_WRONLY | O_APPEND);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(99);
	close(fd);
}

static void log_as_stdout(struct trial *trial)
{
	char *log = path_of("%s/log", trial->world.outside);
	trial->before_exec = stdout_is_log;
	make_file(log, "earlier\n", 0600);
	BARE(trial, "$ATTACK", "reopen-stdout");
	expect(trial, strstr(file_text(log), "REACHED reopen-read") != NULL, "control: the log cannot be read again");
	make_file(log, "earlier\n", 0600);
	INSIDE(trial, "$ATTACK", "reopen-stdout");
	const char *text = file_text(log);
	expect(trial, strncmp(text, "earlier\n", 8) == 0, "the log was cut");
	expect(trial, strstr(text, "END") != NULL, "the attack did not finish");
	expect(trial, !strstr(text, "REACHED"), "stdout's file can be opened again with more rights: %s", text);
}

const struct escape_case cases_descriptors[] = {
	{ 17, "chdir to a directory behind /proc/self/fd/N", 0, NULL, { NULL }, NULL, directories_behind_proc, 0 },
	{ 18, "descriptors 3..200 left open on secrets", 0, NULL, { NULL }, NULL, inherited_descriptors, 0 },
	{ 19, "berm's own descriptors", 0, NULL, { NULL }, NULL, own_descriptors, 0 },
	{ 21, "variables that make programs run code", 0, NULL, { NULL }, NULL, code_variables, 0 },
	{ 22, "variables that hold secrets", 0, NULL, { NULL }, NULL, secret_variables, 0 },
	{ 23, "LD_PRELOAD of the caller", 0, NULL, { NULL }, NULL, preloaded_library, 0 },
	{ 24, "planted programs in the caller's PATH", ABOUT_LAUNCHER, NULL, { NULL }, NULL, planted_programs, 0 },
	{ 119, "a working directory outside the view", 0, NULL, { NULL }, NULL, foreign_working_directory, 0 },
	{ 120, "a denied directory as working directory", 0, NULL, { NULL }, NULL, denied_working_directory, 0 },
	{ 121, "a host directory as standard input", 0, NULL, { NULL }, NULL, directory_as_stdin, 0 },
	{ 122, "a host log as standard output, opened again by its magic link", 0, NULL, { NULL }, NULL, log_as_stdout, 0 },
	{ 0 },
};

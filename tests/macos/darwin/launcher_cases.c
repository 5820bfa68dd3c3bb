/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher of macOS on Linux: src/macos/launch with darwin.c instead of Darwin, and scripts
 * instead of sandbox-exec and log. Shows the launcher's own logic: start, proof, terminal, signals,
 * time limit, sweep, reports, leftovers. Shows nothing of Seatbelt. Each case
 * is a separate process. */
#include "darwin.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>

#include "common/backend.h"
#include "common/plan/plan.h"
#include "common/scan/scan.h"

static char root[512]; /* of the case: home, app, T, C, sandbox-exec, log */
static const char *case_name;
static int failures;

#define CHECK(condition, ...)                                                                                                  \
	do {                                                                                                                   \
		if (!(condition)) {                                                                                            \
			failures++;                                                                                            \
			printf("%s: %s:%d: %s", case_name, __FILE__, __LINE__, #condition);                                    \
			printf(" " __VA_ARGS__);                                                                               \
			printf("\n");                                                                                          \
		}                                                                                                              \
	} while (0)

static const char *in_root(const char *name)
{
	static char paths[8][1200];
	static unsigned next;
	char *path = paths[next++ % 8];
	snprintf(path, sizeof paths[0], "%s/%s", root, name);
	return path;
}

static void write_file(const char *name, mode_t mode, const char *format, ...)
{
	FILE *file = fopen(in_root(name), "w");
	va_list arguments;
	if (!file)
		abort();
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	fchmod(fileno(file), mode);
	fclose(file);
}

static bool exists(const char *name)
{
	struct stat info;
	return lstat(in_root(name), &info) == 0;
}

/* True if a file contains the text. */
static bool has_text(const char *name, const char *text)
{
	char content[65536] = "";
	FILE *file = fopen(in_root(name), "r");
	size_t got = file ? fread(content, 1, sizeof content - 1, file) : 0;
	content[got] = '\0';
	if (file)
		fclose(file);
	return strstr(content, text) != NULL;
}

/* Counts what a shell pattern below the root matches. */
static int count(const char *pattern)
{
	char command[2048], number[32] = "";
	FILE *out;
	snprintf(command, sizeof command, "cd '%s' && for f in %s; do [ ! -e \"$f\" ] || echo; done | wc -l", root, pattern);
	out = popen(command, "r");
	if (!out || !fgets(number, sizeof number, out))
		abort();
	pclose(out);
	return atoi(number);
}

static void prepare_root(void)
{
	static const char *const directories[] = { "home", "app", "T", "C" };
	const char *tmp = getenv("TMPDIR");
	snprintf(root, sizeof root, "%s/berm-launcher.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(root))
		abort();
	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
		mkdir(in_root(directories[i]), 0700);
	/* As sandbox-exec: the profile, the parameters, `--`, the command. */
	write_file("sandbox-exec", 0755,
		   "#!/bin/sh\n[ ! -e '%s/status' ] || exit $(cat '%s/status')\n[ \"$1\" = -f ] || exit 64\n"
		   "cp \"$2\" '%s/profile'; stat -c %%a \"$2\" >'%s/mode'\nBERM_STUB_PROFILE=$2 && export BERM_STUB_PROFILE\n"
		   "while [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n",
		   root, root, root, root);
	/* As log: the report, and the tag on a separate line. */
	write_file(
		"log", 0755,
		"#!/bin/sh\nfor word; do last=$word; done\ntag=${last#*\\\"}\ntag=${tag%%\\\"}\necho \"$*\" >'%s/log-called'\n"
		"[ ! -e '%s/log-sleep' ] || exec sleep 60\n[ ! -e '%s/log-refuses' ] || exit 64\n"
		"printf '{\"eventMessage\":\"Sandbox: cat(7) deny(1) file-read-data /Users/ann/.env\\\\n%%s\"}\\n' \"$tag\"\n",
		root, root, root);
	setenv("BERM_STUB_DIR", root, 1);
}

struct report {
	int status; /* of backend_run */
	struct run_result result;
	struct error err;
	char details[512];
	int64_t milliseconds;
};

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void make_plan(struct arena *arena, const char *policy_text, struct context *context, struct policy *policy,
		      struct plan *plan)
{
	char machine[4096], policy_copy[4096];
	struct diagnostics diagnostics = { .arena = arena };
	struct policy *parsed = arena_alloc(arena, sizeof *parsed);
	struct error err;
	snprintf(machine, sizeof machine,
		 "os: macos\nuser: ann\nuid: %u\nhome: %s/home\nproject: %s/app\nfiles: [%s/app/, /bin/sh, /usr/bin/env]\n",
		 (unsigned)getuid(), root, root, root);
	snprintf(policy_copy, sizeof policy_copy, "version: 1\nfiles: {write: [.], system: [/usr, /bin]}\n%s", policy_text);
	*policy = (struct policy){ 0 };
	if (context_parse(arena, "machine.yml", arena_copy(arena, machine), strlen(machine), context, &err) < 0 ||
	    policy_parse(arena, "p.yml", LAYER_USER, arena_copy(arena, policy_copy), strlen(policy_copy), parsed,
			 &diagnostics) < 0) {
		printf("no plan: %s\n", err.message);
		abort();
	}
	policy_merge(arena, policy, parsed, false);
	if (plan_resolve(arena, policy, context, plan, &diagnostics) < 0 || plan_scan(plan, &err) < 0)
		abort();
}

/* Runs the script with the launcher in this process. */
static struct report run_here(const char *policy_text, const char *script)
{
	struct arena arena = { 0 };
	struct context context;
	struct policy policy;
	struct plan plan;
	struct report report = { 0 };
	char shell[] = "/bin/sh", flag[] = "-c", *argv[] = { shell, flag, arena_copy(&arena, script), NULL };
	struct run_request request = { .argv = argv };
	int64_t start = now_ms();

	make_plan(&arena, policy_text, &context, &policy, &plan);
	report.status = backend_run(&plan, &request, &report.result, &report.err) == RUN_DONE ? 0 : -1;
	report.milliseconds = now_ms() - start;
	if (report.result.details)
		snprintf(report.details, sizeof report.details, "%s", report.result.details);
	report.result.details = NULL;
	report.result.refused = NULL;
	arena_free(&arena);
	return report;
}

/* The same in a child, which `meanwhile` may signal. */
static struct report run_in_child(const char *policy_text, const char *script, void (*meanwhile)(pid_t launcher))
{
	struct report report = { .status = -2 };
	int ends[2], status;
	pid_t child;
	fflush(stdout);
	if (pipe(ends) < 0)
		abort();
	child = fork();
	if (child == 0) {
		close(ends[0]);
		fcntl(ends[1], F_SETFD, FD_CLOEXEC);
		report = run_here(policy_text, script);
		_exit(write(ends[1], &report, sizeof report) == (ssize_t)sizeof report ? 0 : 1);
	}
	close(ends[1]);
	if (meanwhile)
		meanwhile(child);
	if (read(ends[0], &report, sizeof report) != (ssize_t)sizeof report)
		report.status = -2;
	waitpid(child, &status, 0);
	close(ends[0]);
	return report;
}

static bool wait_for(const char *name, int milliseconds)
{
	for (; milliseconds > 0 && !exists(name); milliseconds -= 10)
		usleep(10000);
	return exists(name);
}

static pid_t pid_in(const char *name)
{
	char text[32] = "";
	FILE *file = fopen(in_root(name), "r");
	if (file && !fgets(text, sizeof text, file))
		text[0] = '\0';
	if (file)
		fclose(file);
	return atoi(text);
}

/* A killed process without a parent that reaps it counts as dead. */
static bool is_alive(pid_t pid)
{
	char path[64], state = 'X';
	FILE *file;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	fclose(file);
	return state != 'Z' && state != 'X';
}

static void statuses_and_leftovers(void)
{
	struct report report = run_in_child("", "pwd >../pwd; env >../environment; exit 7", NULL);
	CHECK(report.status == 0, "%s", report.err.message);
	CHECK(report.result.exit_code == 7, "%d", report.result.exit_code);
	CHECK(has_text("pwd", "/app"));
	CHECK(has_text("environment", "DIRHELPER_USER_DIR_SUFFIX=berm-"));
	CHECK(has_text("environment", "/home/.local/state/berm/t/"));
	CHECK(has_text("environment", "xcrun_db="));
	CHECK(has_text("mode", "600"));
	CHECK(has_text("profile", "/T/berm-"));
	CHECK(has_text("profile", ".out\")"));
	CHECK(count("home/.local/state/berm/*.sb") == 0);
	CHECK(count("home/.local/state/berm/projects/*/*/documents/berm-*") == 0);
	CHECK(count("T/*") == 0 && count("C/*") == 0);
	report = run_in_child("", "kill -KILL $$", NULL);
	CHECK(report.result.exit_code == 137 && report.result.signal == 9, "%d", report.result.exit_code);
}

static void user_directories_are_usable(void)
{
	struct report report = run_in_child(
		"", "touch '../T/'$DIRHELPER_USER_DIR_SUFFIX/x && mkdir -p ../C/$DIRHELPER_USER_DIR_SUFFIX/y/z", NULL);
	CHECK(report.result.exit_code == 0, "%d", report.result.exit_code);
	CHECK(count("T/*") == 0 && count("C/*") == 0);
	setenv("BERM_STUB_NO_CONFSTR", "1", 1);
	report = run_in_child("", "[ -z \"$DIRHELPER_USER_DIR_SUFFIX\" ]", NULL);
	CHECK(report.result.exit_code == 0, "%d", report.result.exit_code);
}

static void reports_after_a_failure_only(void)
{
	struct report report = run_in_child("", "exit 0", NULL);
	CHECK(report.result.exit_code == 0 && !exists("log-called"));
	CHECK(!error_is_set(&report.result.note));
	report = run_in_child("", "exit 1", NULL);
	CHECK(exists("log-called") && has_text("log-called", "show") && has_text("log-called", "CONTAINS"));
	CHECK(strstr(report.result.note.message, "refused 1 operation: file-read-data /Users/ann/.env"), "%s",
	      report.result.note.message);
	CHECK(strstr(report.details, "by cat"), "%s", report.details);
	CHECK(has_text("home/.local/state/berm/violations.jsonl", "\"target\":\"/Users/ann/.env\""));
	write_file("log-refuses", 0600, "x");
	report = run_in_child("", "exit 1", NULL);
	CHECK(report.result.exit_code == 1 && strstr(report.details, "administrators"), "%s", report.details);
	write_file("log-sleep", 0600, "x");
	report = run_in_child("", "exit 1", NULL);
	CHECK(report.milliseconds >= 2000 && report.milliseconds < 8000, "%d", (int)report.milliseconds);
	CHECK(strstr(report.details, "too long"), "%s", report.details);
}

static void without_proof_nothing_ran(void)
{
	struct report report;
	write_file("status", 0600, "65");
	report = run_in_child("", "touch ../ran", NULL);
	CHECK(report.status == -1 && strstr(report.err.message, "rejects the profile"), "%s", report.err.message);
	write_file("status", 0600, "71");
	report = run_in_child("", "touch ../ran", NULL);
	CHECK(report.status == -1 && strstr(report.err.message, "does not nest"), "%s", report.err.message);
	write_file("status", 0600, "0");
	report = run_in_child("", "touch ../ran", NULL);
	CHECK(report.status == -1, "a status of 0 without proof");
	unlink(in_root("sandbox-exec"));
	report = run_in_child("", "touch ../ran", NULL);
	CHECK(report.status == -1 && strstr(report.err.message, "cannot start"), "%s", report.err.message);
	CHECK(!exists("ran"));
	setenv("BERM_STUB_NESTED", "1", 1);
	report = run_in_child("", "touch ../ran", NULL);
	CHECK(report.status == -1 && strstr(report.err.message, "sandbox already"), "%s", report.err.message);
	CHECK(count("home/.local/state/berm/*.sb") == 0 && count("T/*") == 0);
}

/* Leaves a process in another session, and one that has lost its parent as well. */
static const char leave[] = "setsid sh -c 'echo $$ >../session; exec sleep 300' &\n"
			    "setsid sh -c 'sh ../twice.sh & exit 0'\n"
			    "while [ ! -s ../session ] || [ ! -s ../twice ]; do sleep 0.02; done\nexit 0\n";

static void nothing_survives(void)
{
	char other[64];
	pid_t stranger, left;
	/* Control: without the launcher both survive. */
	char command[2048];
	write_file("twice.sh", 0600, "echo $$ >../twice; exec sleep 300");
	snprintf(command, sizeof command, "cd '%s/app' || exit 1\n%s", root, leave);
	CHECK(system(command) == 0);
	left = pid_in("session");
	CHECK(left > 1 && is_alive(left) && is_alive(pid_in("twice")));
	kill(left, SIGKILL);
	kill(pid_in("twice"), SIGKILL);
	unlink(in_root("session"));
	unlink(in_root("twice"));
	/* A process of another run of the same user. */
	snprintf(other, sizeof other, "%s", "(version 1)\n");
	write_file("other.sb", 0600, "%s", other);
	stranger = fork();
	if (stranger == 0) {
		char sleep_name[] = "sleep", seconds[] = "300", variable[700], *words[] = { sleep_name, seconds, NULL };
		char *environment[] = { variable, NULL };
		snprintf(variable, sizeof variable, "BERM_STUB_PROFILE=%s/other.sb", root);
		darwin_execve("/bin/sleep", words, environment);
		_exit(1);
	}
	CHECK(run_in_child("", leave, NULL).result.exit_code == 0);
	CHECK(pid_in("session") > 1 && pid_in("twice") > 1);
	CHECK(!is_alive(pid_in("session")), "the process in another session survives");
	CHECK(!is_alive(pid_in("twice")), "the process with another parent survives");
	CHECK(is_alive(stranger), "a process of another run was killed");
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
}

static void time_limit(void)
{
	struct report report = run_in_child("limits: {time: 1s}", "trap '' TERM; while :; do sleep 0.1; done", NULL);
	CHECK(report.result.exit_code == 124, "%d", report.result.exit_code);
	CHECK(error_is_set(&report.result.ended));
	CHECK(report.milliseconds >= 1000 && report.milliseconds < 15000, "%d", (int)report.milliseconds);
}

static void send_user_signal(pid_t launcher)
{
	if (wait_for("ready", 10000))
		kill(launcher, SIGUSR1);
}

static void stop_and_continue(pid_t launcher)
{
	int status = 0;
	if (!wait_for("ready", 10000))
		return;
	kill(launcher, SIGTSTP);
	waitpid(launcher, &status, WUNTRACED);
	CHECK(WIFSTOPPED(status), "the launcher was not stopped with its command");
	write_file("go", 0600, "x");
	usleep(300000);
	CHECK(!exists("went"), "the command was not stopped");
	kill(launcher, SIGCONT);
}

static void signals(void)
{
	struct report report =
		run_in_child("", "trap 'exit 9' USR1; touch ../ready; while :; do sleep 0.05; done", send_user_signal);
	CHECK(report.result.exit_code == 9, "%d", report.result.exit_code);
	unlink(in_root("ready"));
	/* No child: a shell that has one in vfork does not stop before its child. */
	report = run_in_child("", ": >../ready; while [ ! -e ../go ]; do :; done; : >../went; exit 5", stop_and_continue);
	CHECK(report.result.exit_code == 5, "%d", report.result.exit_code);
}

/* In a session with a terminal: the command is in the foreground, and its modes do not stay. */
static int with_terminal(void)
{
	struct termios before, after;
	struct report report;
	tcgetattr(0, &before);
	report = run_here("", "stty -echo raw; [ \"$(ps -o tpgid= -p $$)\" -eq \"$(ps -o pgid= -p $$)\" ] && exit 3");
	if (report.result.exit_code != 3)
		return 10;
	if (tcgetpgrp(0) != getpgrp())
		return 11;
	if (tcgetattr(0, &after) < 0 || after.c_lflag != before.c_lflag || after.c_iflag != before.c_iflag)
		return 12;
	return has_text("profile", "(literal \"/dev/pts/") ? 0 : 13;
}

static void terminal(void)
{
	int master, status = 0;
	pid_t child = forkpty(&master, NULL, NULL, NULL);
	struct pollfd readable = { .fd = master, .events = POLLIN };
	if (child == 0)
		_exit(with_terminal());
	while (waitpid(child, &status, WNOHANG) == 0) {
		char ignored[256];
		if (poll(&readable, 1, 20) > 0 && read(master, ignored, sizeof ignored) < 0)
			usleep(10000);
	}
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
	close(master);
}

static void empty_directories(void)
{
	struct report report = run_in_child("home: empty\ntmp: empty",
					    "[ -d \"$HOME\" ] && [ -d \"$TMPDIR\" ] && touch \"$HOME/x\" \"$TMPDIR/x\" && "
					    "case $xcrun_db in \"$TMPDIR\"/*) ;; *) exit 1 ;; esac && [ ${#TMPDIR} -lt 200 ]",
					    NULL);
	CHECK(report.status == 0 && report.result.exit_code == 0, "%d %s", report.result.exit_code, report.err.message);
	CHECK(count("home/.local/state/berm/runs/*") == 0);
	CHECK(count("home/.local/state/berm/t/*") == 0);
	report = run_in_child("", "touch \"$TMPDIR/kept\"", NULL);
	report = run_in_child("", "[ -e \"$TMPDIR/kept\" ]", NULL);
	CHECK(report.result.exit_code == 0);
}

static void proxy(void)
{
	struct report report = run_in_child("network: {allow: ['a.example.org:443']}",
					    "case $http_proxy in http://berm:*@127.0.0.1:[1-9]*) exit 0 ;; esac; exit 1", NULL);
	CHECK(report.status == 0 && report.result.exit_code == 0, "%d %s", report.result.exit_code, report.err.message);
	CHECK(has_text("profile", "(remote tcp \"localhost:"));
	darwin_refuses_init = true;
	report = run_in_child("network: {allow: ['a.example.org:443']}", "touch ../ran", NULL);
	CHECK(report.status == -1 && strstr(report.err.message, "confine"), "%s", report.err.message);
	CHECK(!exists("ran"));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "statuses and leftovers", statuses_and_leftovers },
	{ "directories of confstr", user_directories_are_usable },
	{ "reports after a failure only", reports_after_a_failure_only },
	{ "without proof nothing ran", without_proof_nothing_ran },
	{ "nothing survives", nothing_survives },
	{ "time limit", time_limit },
	{ "signals", signals },
	{ "terminal", terminal },
	{ "empty directories", empty_directories },
	{ "proxy", proxy },
};

int main(void)
{
	int failed = 0;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int status;
		pid_t child;
		fflush(stdout);
		child = fork();
		if (child == 0) {
			char command[1024];
			int ignored;
			case_name = cases[i].name;
			alarm(120);
			prepare_root();
			cases[i].run();
			snprintf(command, sizeof command, "rm -rf '%s'", root);
			ignored = system(command);
			(void)ignored;
			fflush(stdout);
			_exit(failures > 0);
		}
		waitpid(child, &status, 0);
		printf("%s %s\n", status == 0 ? "ok  " : "FAIL", cases[i].name);
		failed += status != 0;
	}
	printf("%zu cases, %d failed\n", sizeof cases / sizeof cases[0], failed);
	return failed > 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One trial: starting programs with and without berm, reading the attack's output, comparing the
 * two. Never decides by exit status alone: an attack that did not say END, or left out a line of
 * its control, has proved nothing and fails the case. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *berm_path, *attack_path;
bool is_self_test;

enum { RUN_MS = 8000 * PATIENCE, MAX_ARGUMENTS = 64, MAX_LINES = 256 };

bool expect(struct trial *trial, bool holds, const char *format, ...)
{
	struct result *result = trial->result;
	if (holds) {
		result->checks++;
		return true;
	}
	size_t used = strlen(result->failures);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(result->failures + used, sizeof result->failures - used - 1, format, arguments);
	va_end(arguments);
	strcat(result->failures, "\n");
	/* Without a wall one thing noticed is enough; a control that fails is none. */
	if (is_self_test && strncmp(format, "control", 7) != 0) {
		result->is_noticed = result->is_finished = true;
		if (trial->victim > 0)
			kill(trial->victim, SIGKILL);
		_exit(0);
	}
	return false;
}

void skip(struct trial *trial, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(trial->result->skip_reason, sizeof trial->result->skip_reason, format, arguments);
	va_end(arguments);
}

static long long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static const char *variable_value(struct trial *trial, const char *name, size_t length)
{
	static char number[32];
	const struct world *world = &trial->world;
	const struct {
		const char *name, *value;
	} values[] = {
		{ "PROJECT", world->project },	 { "OUTSIDE", world->outside }, { "SECRET", world->secret },
		{ "READONLY", world->readonly }, { "HOME", world->home },	{ "HOMESECRET", world->home_secret },
		{ "STATE", world->state },	 { "CONFIG", world->config },	{ "RUNTIME", world->runtime },
		{ "TOKEN", world->token },	 { "ATTACK", world->attack },	{ "BASE", world->base },
	};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (strlen(values[i].name) == length && strncmp(values[i].name, name, length) == 0)
			return values[i].value;
	bool is_target = length == 6 && strncmp(name, "TARGET", 6) == 0;
	if (!is_target && !(length == 6 && strncmp(name, "VICTIM", 6) == 0))
		return NULL;
	snprintf(number, sizeof number, "%d", is_target && trial->is_inside && !is_self_test ? 1 : trial->victim);
	return number;
}

char *trial_expand(struct trial *trial, const char *text)
{
	char *expanded = NULL;
	size_t size;
	FILE *out = open_memstream(&expanded, &size);
	while (*text) {
		size_t length = *text == '$' ? strspn(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") : 0;
		const char *value = length > 0 ? variable_value(trial, text + 1, length) : NULL;
		if (value)
			fputs(value, out);
		else
			fputc(*text, out);
		text += value ? length + 1 : 1;
	}
	fclose(out);
	return expanded;
}

void trial_option(struct trial *trial, const char *option)
{
	for (size_t i = 0; i + 1 < sizeof trial->berm_options / sizeof *trial->berm_options; i++)
		if (!trial->berm_options[i]) {
			trial->berm_options[i] = option;
			return;
		}
	die("too many options");
}

void trial_variable(struct trial *trial, const char *assignment)
{
	for (size_t i = 0; i + 1 < sizeof trial->variables / sizeof *trial->variables; i++)
		if (!trial->variables[i]) {
			trial->variables[i] = assignment;
			return;
		}
	die("too many variables");
}

/* The caller's environment is part of the attack surface, so it is always built by hand. */
static char **build_environment(struct trial *trial)
{
	static char *environment[80];
	const struct world *world = &trial->world;
	size_t count = 0;
	environment[count++] = path_of("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	environment[count++] = path_of("HOME=%s", world->home);
	environment[count++] = path_of("XDG_STATE_HOME=%s", world->state);
	environment[count++] = path_of("XDG_CONFIG_HOME=%s", world->config);
	environment[count++] = path_of("XDG_RUNTIME_DIR=%s", world->runtime);
	environment[count++] = path_of("LANG=C");
	environment[count++] = path_of("TERM=dumb");
	for (size_t i = 0; trial->variables[i]; i++) {
		char *assignment = trial_expand(trial, trial->variables[i]);
		size_t name = strcspn(assignment, "=") + 1, place = count;
		for (size_t j = 0; j < count; j++)
			if (strncmp(environment[j], assignment, name) == 0)
				place = j;
		environment[place] = assignment;
		count += place == count;
	}
	environment[count] = NULL;
	return environment;
}

/* As a shell: a new session on the pseudo-terminal, the command as its foreground job, a
 * look at the terminal before and after. Returns only in the job. */
static void lead_session(struct trial *trial)
{
	struct terminal_state *state = trial->terminal_state;
	char name[64];
	int status = 0;
	if (setsid() < 0 || ptsname_r(trial->terminal, name, sizeof name))
		die("setsid");
	int slave = open(name, O_RDWR);
	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) || dup2(slave, STDIN_FILENO) < 0)
		die("terminal %s", name);
	close(slave);
	close(trial->terminal); /* only the test holds the other side: when it lets go, the terminal is gone */
	signal(SIGTTOU, SIG_IGN);
	tcflush(STDIN_FILENO, TCIFLUSH);
	tcgetattr(STDIN_FILENO, &state->before);
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	ioctl(STDIN_FILENO, TIOCSWINSZ, &size);
	pid_t job = fork();
	if (job < 0)
		die("fork");
	setpgid(job, job);
	tcsetpgrp(STDIN_FILENO, job > 0 ? job : getpid());
	if (job == 0) {
		signal(SIGTTOU, SIG_DFL);
		return;
	}
	while (waitpid(job, &status, 0) < 0 && errno == EINTR)
		;
	tcgetattr(STDIN_FILENO, &state->after);
	ioctl(STDIN_FILENO, TIOCGETD, &state->discipline);
	ioctl(STDIN_FILENO, TIOCGEXCL, &state->exclusive);
	ioctl(STDIN_FILENO, TIOCGWINSZ, &state->size);
	int writer = open("/dev/tty", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	state->is_stopped = writer >= 0 && write(writer, "", 1) < 0 && errno == EAGAIN;
	close(writer);
	tcflow(STDIN_FILENO, TCOON);
	state->flags = fcntl(STDIN_FILENO, F_GETFL);
	state->job = job;
	state->foreground = tcgetpgrp(STDIN_FILENO);
	/* The control leaves a job behind on purpose. */
	if (state->foreground > 1 && state->foreground != job && getsid(state->foreground) == getpid())
		kill(-state->foreground, SIGKILL);
	struct termios raw = state->after;
	cfmakeraw(&raw);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	ioctl(STDIN_FILENO, FIONREAD, &state->queued);
	tcsetattr(STDIN_FILENO, TCSANOW, &state->before);
	int discipline = 0;
	ioctl(STDIN_FILENO, TIOCSETD, &discipline);
	ioctl(STDIN_FILENO, TIOCNXCL);
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

static void become(struct trial *trial, const char *const *argv, int out, int err)
{
	char **environment = build_environment(trial), *expanded[MAX_ARGUMENTS];
	size_t count = 0;
	for (; argv[count] && count + 1 < MAX_ARGUMENTS; count++)
		expanded[count] = trial_expand(trial, argv[count]);
	expanded[count] = NULL;
	if (trial->terminal >= 0)
		lead_session(trial);
	else
		setpgid(0, 0);
	int null = open("/dev/null", O_RDWR);
	if (trial->terminal < 0)
		dup2(null, STDIN_FILENO);
	dup2(out < 0 ? null : out, STDOUT_FILENO);
	dup2(err < 0 ? null : err, STDERR_FILENO);
	if (null > 2)
		close(null);
	if (chdir(trial->directory ? trial->directory : trial->world.project))
		die("chdir");
	if (trial->before_exec)
		trial->before_exec(trial);
	execve(expanded[0], expanded, environment);
	_exit(127);
}

/* Reads both pipes until they end or time is over; what does not fit is dropped. */
static bool collect(int out, int err, struct outcome *outcome, long long deadline)
{
	struct pollfd ends[2] = { { out, POLLIN, 0 }, { err, POLLIN, 0 } };
	char *texts[2] = { outcome->out, outcome->err };
	size_t sizes[2] = { sizeof outcome->out, sizeof outcome->err }, used[2] = { 0, 0 };
	while (ends[0].fd >= 0 || ends[1].fd >= 0) {
		long long left = deadline - now_ms();
		if (left <= 0)
			return false;
		if (poll(ends, 2, (int)left) <= 0)
			continue;
		for (int i = 0; i < 2; i++) {
			char block[4096];
			if (ends[i].fd < 0 || !ends[i].revents)
				continue;
			ssize_t length = read(ends[i].fd, block, sizeof block);
			if (length <= 0)
				ends[i].fd = -1;
			else if (used[i] + (size_t)length < sizes[i]) {
				memcpy(texts[i] + used[i], block, (size_t)length);
				used[i] += (size_t)length;
			}
			texts[i][used[i]] = '\0';
		}
	}
	return true;
}

static int exit_code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int wait_exit(pid_t pid, int milliseconds)
{
	int status;
	for (long long deadline = now_ms() + milliseconds; now_ms() < deadline; usleep(1000))
		if (waitpid(pid, &status, WNOHANG) == pid)
			return exit_code_of(status);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

static void write_pid_file(struct trial *trial, pid_t pid)
{
	char text[32];
	snprintf(text, sizeof text, "%d\n", trial->is_inside ? pid : trial->victim);
	make_filef(text, 0644, "%s/%s", trial->world.project, trial->pid_file);
}

static int run(struct trial *trial, const char *const *argv)
{
	int out[2], err[2];
	struct outcome *outcome = &trial->outcome;
	memset(outcome, 0, sizeof *outcome);
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		die("pipe");
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		become(trial, argv, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	if (trial->pid_file)
		write_pid_file(trial, pid);
	long long deadline = now_ms() + RUN_MS;
	bool is_complete = collect(out[0], err[0], outcome, deadline);
	close(out[0]);
	close(err[0]);
	long long left = deadline - now_ms();
	outcome->exit_code = wait_exit(pid, is_complete && left > 0 ? (int)left : 1);
	note("  %s%s -> %d\n%s%s", trial->is_inside ? "inside: " : "", argv[0], outcome->exit_code, outcome->out, outcome->err);
	return outcome->exit_code;
}

int run_bare(struct trial *trial, const char *const *argv)
{
	trial->is_inside = false;
	return run(trial, argv);
}

static void inside_arguments(struct trial *trial, const char *const *argv, const char **full)
{
	size_t count = 0;
	full[count++] = berm_path;
	full[count++] = "run";
	for (size_t i = 0; trial->berm_options[i]; i++)
		full[count++] = trial->berm_options[i];
	full[count++] = "--";
	for (; *argv && count + 1 < MAX_ARGUMENTS; argv++)
		full[count++] = *argv;
	full[count] = NULL;
}

int run_inside(struct trial *trial, const char *const *argv)
{
	const char *full[MAX_ARGUMENTS];
	inside_arguments(trial, argv, full);
	trial->is_inside = true;
	run(trial, full);
	trial->is_inside = false;
	return trial->outcome.exit_code;
}

int run_berm(struct trial *trial, const char *const *argv)
{
	const char *full[MAX_ARGUMENTS] = { berm_path };
	for (size_t i = 0; argv[i] && i + 2 < MAX_ARGUMENTS; i++)
		full[i + 1] = argv[i];
	return run(trial, full);
}

pid_t start_inside(struct trial *trial, const char *const *argv)
{
	const char *full[MAX_ARGUMENTS];
	inside_arguments(trial, argv, full);
	trial->is_inside = true;
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		become(trial, full, -1, -1);
	trial->is_inside = false;
	return pid;
}

/* Until it is the program that it shall be. */
static void await_victim(pid_t pid)
{
	char *path = path_of("/proc/%d/cmdline", (int)pid);
	for (long long deadline = now_ms() + RUN_MS; now_ms() < deadline; usleep(1000)) {
		char name[8] = "";
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t length = fd < 0 ? 0 : read(fd, name, sizeof name - 1);
		if (fd >= 0)
			close(fd);
		if (length > 0 && strcmp(name, "victim") == 0)
			return;
	}
}

/* A new one each time: one that a control has just killed may still look alive on a busy
 * machine. */
void trial_victim(struct trial *trial)
{
	const char *token = trial->world.token;
	char *program = path_of("%s/victim", trial->world.base);
	if (trial->victim > 0) {
		kill(trial->victim, SIGKILL);
		waitpid(trial->victim, NULL, 0);
	}
	copy_file(attack_path, program, 0755);
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		char *variable = path_of("VICTIM_SECRET=%s", token);
		execle(program, "victim", "idle", token, (char *)NULL, (char *const[]){ variable, NULL });
		_exit(127);
	}
	trial->victim = pid;
	await_victim(pid);
}

bool is_alive(pid_t pid)
{
	return kill(pid, 0) == 0 && waitpid(pid, NULL, WNOHANG) == 0;
}

void refuse_call(long number, int error_number)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error_number),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof program / sizeof *program, program };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(99);
}

void trial_renew(struct trial *trial)
{
	world_renew_project(&trial->world);
	if (trial->self->set_up)
		trial->self->set_up(trial);
}

struct line {
	char *verdict, *what, *detail;
};

struct lines {
	struct line items[MAX_LINES];
	size_t count;
	bool is_complete; /* END was said */
};

static void parse_lines(char *text, struct lines *lines)
{
	char *rest = NULL;
	memset(lines, 0, sizeof *lines);
	for (char *line = strtok_r(text, "\n", &rest); line && lines->count < MAX_LINES; line = strtok_r(NULL, "\n", &rest)) {
		char *words = NULL;
		struct line *item = &lines->items[lines->count];
		item->verdict = strtok_r(line, " ", &words);
		item->what = strtok_r(NULL, " ", &words);
		item->detail = strtok_r(NULL, " ", &words);
		if (item->verdict && strcmp(item->verdict, "END") == 0)
			lines->is_complete = true;
		else if (item->what)
			lines->count++;
	}
}

static const struct line *find_line(const struct lines *lines, const char *what)
{
	for (size_t i = 0; i < lines->count; i++)
		if (strcmp(lines->items[i].what, what) == 0)
			return &lines->items[i];
	return NULL;
}

/* The kernel lacks the call or the family: nothing that a control here could show. */
static bool is_unsupported(const struct line *line)
{
	static const char *const names[] = { "ENOSYS",		"EAFNOSUPPORT", "EPROTONOSUPPORT",
					     "ESOCKTNOSUPPORT", "EOPNOTSUPP",	"ENODEV" };
	for (size_t i = 0; line->detail && i < sizeof names / sizeof *names; i++)
		if (strcmp(line->detail, names[i]) == 0)
			return true;
	return false;
}

static void compare_line(struct trial *trial, const struct line *control, const struct lines *inside)
{
	struct result *result = trial->result;
	const struct line *verdict = find_line(inside, control->what);
	bool is_reached = strcmp(control->verdict, "REACHED") == 0;
	result->reached += is_reached;
	result->unsupported += !is_reached && is_unsupported(control);
	result->refused += !is_reached && !is_unsupported(control);
	if (!expect(trial, verdict != NULL, "%s: the attack says nothing about it inside", control->what))
		return;
	bool is_stopped = strcmp(verdict->verdict, "REACHED") != 0;
	if (expect(trial, is_stopped, "%s: reached inside", control->what))
		result->stopped += is_reached;
}

static void compare(struct trial *trial, struct lines *control, struct lines *inside)
{
	for (size_t i = 0; i < control->count; i++)
		compare_line(trial, &control->items[i], inside);
	for (size_t i = 0; i < inside->count; i++)
		if (!find_line(control, inside->items[i].what))
			expect(trial, strcmp(inside->items[i].verdict, "REACHED") != 0, "%s: reached inside",
			       inside->items[i].what);
}

void contain(struct trial *trial, const char *const *attack)
{
	static char control_text[sizeof trial->outcome.out];
	struct lines control, inside;
	const char *argv[ATTACK_ARGUMENTS + 2] = { "$ATTACK" };
	for (size_t i = 0; i < ATTACK_ARGUMENTS && attack[i]; i++)
		argv[i + 1] = attack[i];
	trial_renew(trial);
	run_bare(trial, argv);
	memcpy(control_text, trial->outcome.out, sizeof control_text);
	parse_lines(control_text, &control);
	expect(trial, control.is_complete, "control of %s did not finish (exit %d): %.200s", attack[0],
	       trial->outcome.exit_code, trial->outcome.err);
	trial_renew(trial);
	run_inside(trial, argv);
	expect(trial, !strstr(trial->outcome.out, trial->world.token) && !strstr(trial->outcome.err, trial->world.token),
	       "%s: the secret itself came out", attack[0]);
	char saved[300];
	snprintf(saved, sizeof saved, "%.299s", trial->outcome.err);
	parse_lines(trial->outcome.out, &inside);
	expect(trial, inside.is_complete && trial->outcome.exit_code == 0, "%s: did not finish inside (exit %d): %s", attack[0],
	       trial->outcome.exit_code, saved);
	compare(trial, &control, &inside);
	if (trial->self->host_check)
		trial->self->host_check(trial);
}

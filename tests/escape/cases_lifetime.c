/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on the end of a run: nothing outlives it, signals arrive, exit codes are true. */
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <errno.h>
#include <unistd.h>

static off_t size_of(const char *path)
{
	struct stat info;
	return stat(path, &info) ? 0 : info.st_size;
}

static bool appears(const char *path)
{
	for (int i = 0; i < 6000; i++, usleep(10000))
		if (size_of(path) > 0)
			return true;
	return false;
}

/* True if it goes on. Waits for the next beat. */
static bool still_beats(const char *path)
{
	off_t before = size_of(path);
	for (int i = 0; i < 3000; i++, usleep(10000))
		if (size_of(path) > before)
			return true;
	return false;
}

/* True if it ends long before it would end by itself. */
static bool falls_silent(const char *path)
{
	for (int i = is_self_test ? 58 : 0; i < 60; i++) {
		off_t before = size_of(path);
		usleep(400000);
		if (size_of(path) == before)
			return true;
	}
	return false;
}

static char *heartbeat_of(struct trial *trial)
{
	return path_of("%s/heartbeat", trial->world.project);
}

/* Before anything is started: whatever leaves its parents becomes a child of the case. */
static void adopt_all(void)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die("subreaper");
}

/* The processes of the control are gone before the project is as new: none of them can write into
 * it. */
static void stop_control(struct trial *trial, const char *heartbeat)
{
	make_file(path_of("%s.stop", heartbeat), "", 0644);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	world_renew_project(&trial->world);
}

static pid_t start_family_bare(struct trial *trial)
{
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		setsid();
		execl(trial->world.attack, "attack", "family", heartbeat_of(trial), (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void kill_launcher(struct trial *trial)
{
	char *heartbeat = heartbeat_of(trial), *mounts = mounts_now(&trial->world);
	adopt_all();
	pid_t pid = start_family_bare(trial);
	expect(trial, appears(heartbeat), "control: no heartbeat");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	expect(trial, still_beats(heartbeat), "control: the family dies with its first process");
	stop_control(trial, heartbeat);
	char *before = tree_listing(trial->world.project);
	pid = START(trial, "$ATTACK", "family", heartbeat);
	expect(trial, appears(heartbeat), "no heartbeat inside");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	expect(trial, falls_silent(heartbeat), "processes survive their launcher");
	unlink(heartbeat);
	char *after = tree_listing(trial->world.project);
	expect(trial, strcmp(before, after) == 0, "the project holds something that the command did not write:\n%s", after);
	expect(trial, strcmp(mounts, mounts_now(&trial->world)) == 0, "the host's mounts changed");
}

static void daemon_ends(struct trial *trial)
{
	char *heartbeat = heartbeat_of(trial);
	adopt_all();
	BARE(trial, "$ATTACK", "daemon", heartbeat);
	expect(trial, still_beats(heartbeat), "control: the daemon does not outlive its command");
	stop_control(trial, heartbeat);
	INSIDE(trial, "$ATTACK", "daemon", heartbeat);
	expect(trial, trial->outcome.exit_code == 0 && strstr(trial->outcome.out, "REACHED daemon"),
	       "the daemon did not start inside: %d %.200s", trial->outcome.exit_code, trial->outcome.err);
	off_t at_exit = size_of(heartbeat);
	usleep(200000);
	expect(trial, size_of(heartbeat) == at_exit, "the daemon outlives the run");
}

/* A job that holds the output pipe keeps the caller of a bare shell waiting; a run ends with its
 * command. */
static void background_holds_pipe(struct trial *trial)
{
	int code = INSIDE(trial, "/bin/sh", "-c", "(sleep 4; echo >late) & exit 3");
	expect(trial, code == 3, "the run ended with %d, not with the command's 3", code);
	expect(trial, access(path_of("%s/late", trial->world.project), F_OK) != 0, "a background job held the run");
}

static void ignore_children(struct trial *trial)
{
	(void)trial;
	signal(SIGCHLD, SIG_IGN);
}

static void close_all(struct trial *trial)
{
	(void)trial;
	for (int fd = 0; fd < 3; fd++)
		close(fd);
}

static void close_input(struct trial *trial)
{
	(void)trial;
	close(STDIN_FILENO);
}

static void close_output(struct trial *trial)
{
	(void)trial;
	close(STDOUT_FILENO);
}

static void block_signals(struct trial *trial)
{
	sigset_t all;
	(void)trial;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int number = 1; number < 32; number++)
		signal(number, SIG_IGN);
}

static void odd_callers(struct trial *trial)
{
	static const struct {
		const char *name;
		void (*prepare)(struct trial *trial);
	} callers[] = {
		{ "plain", NULL },
		{ "SIGCHLD ignored", ignore_children },
		{ "no descriptors", close_all },
		{ "no stdin", close_input },
		{ "no stdout", close_output },
		{ "all signals blocked and ignored", block_signals },
	};
	for (size_t i = 0; i < sizeof callers / sizeof *callers; i++) {
		trial->before_exec = callers[i].prepare;
		int code = INSIDE(trial, "$ATTACK", "exit", "7");
		expect(trial, code == 7, "%s: exit code %d, not 7", callers[i].name, code);
		code = INSIDE(trial, "/bin/sh", "-c", "kill -9 $$");
		expect(trial, code == 137, "%s: exit code %d, not 137", callers[i].name, code);
		/* A closed descriptor must not become a file of berm's: a program that prints would
		 * write into it. */
		INSIDE(trial, "/bin/sh", "-c", "echo x; echo y >&2; exit 0");
	}
	trial->before_exec = close_all;
	INSIDE(trial, "$ATTACK", "descriptors");
	trial->before_exec = NULL;
	char *listing = path_of("%s/fds", trial->world.project);
	trial->before_exec = close_all;
	INSIDE(trial, "/bin/sh", "-c", "ls -l /proc/$$/fd > fds 2>&1; true");
	const char *text = file_text(listing);
	expect(trial, !strstr(text, "mem") && !strstr(text, "landlock") && !strstr(text, "namespace") && !strstr(text, "state"),
	       "a closed descriptor is one of berm's inside: %s", text);
}

static void forwarded_signals(struct trial *trial)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };
	char *path = path_of("%s/signals", trial->world.project);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		unlink(path);
		pid_t pid = START(trial, "$ATTACK", "await-signal", path);
		if (!expect(trial, appears(path), "the command does not start"))
			return;
		kill(pid, numbers[i]);
		int code = wait_exit(pid, 3000 * PATIENCE);
		expect(trial, code == 128 + numbers[i], "signal %d: exit code %d", numbers[i], code);
		expect(trial, file_contains(path, path_of("%d\n", numbers[i])), "signal %d did not arrive: %s", numbers[i],
		       file_text(path));
	}
}

static char state_letter(pid_t pid)
{
	const char *text = strrchr(file_text(path_of("/proc/%d/stat", pid)), ')');
	return text && text[1] ? text[2] : '?';
}

/* Stopped, or not any more, in the end. */
static bool becomes(pid_t pid, bool is_stopped)
{
	for (int i = 0; i < 2000; i++, usleep(10000))
		if ((state_letter(pid) == 'T') == is_stopped)
			return true;
	return false;
}

static void stop_and_continue(struct trial *trial)
{
	char *heartbeat = heartbeat_of(trial);
	pid_t pid = START(trial, "$ATTACK", "family", heartbeat);
	expect(trial, appears(heartbeat), "no heartbeat inside");
	kill(pid, SIGTSTP);
	expect(trial, becomes(pid, true), "SIGTSTP does not stop berm (state %c)", state_letter(pid));
	kill(pid, SIGCONT);
	expect(trial, becomes(pid, false), "SIGCONT does not continue berm");
	expect(trial, still_beats(heartbeat), "the command does not go on");
	kill(pid, SIGTERM);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	expect(trial, falls_silent(heartbeat), "processes survive");
}

/* The terminal goes away: its session is hung up, and nothing of the run is left. */
static void hang_up(struct trial *trial)
{
	char *heartbeat = heartbeat_of(trial);
	pid_t pid = START(trial, "$ATTACK", "family", heartbeat);
	expect(trial, appears(heartbeat), "no heartbeat inside");
	close(trial->terminal);
	trial->terminal = -1;
	expect(trial, falls_silent(heartbeat), "the command goes on without its terminal");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The first one's masks hold while others come and go. */
static void second_berm(struct trial *trial)
{
	char *ready = path_of("%s/ready", trial->world.project);
	const char *watch[] = { "$ATTACK", "watch", ".env", "1500", ready, NULL };
	BARE(trial, "$ATTACK", "watch", ".env", "10", ready);
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: the file cannot be read");
	unlink(ready);
	fflush(NULL);
	pid_t other = fork();
	if (other == 0) {
		struct trial copy = *trial;
		for (int i = 0; i < 6000 && access(ready, F_OK); i++)
			usleep(5000);
		for (int i = 0; i < 25; i++)
			INSIDE(&copy, "/bin/true");
		_exit(0);
	}
	run_inside(trial, watch);
	waitpid(other, NULL, 0);
	expect(trial, strstr(trial->outcome.out, "END") != NULL, "the first run did not finish");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "the denied file was readable while another berm ran");
}

/* Two small commands at once, each writing its own file and trying the secret. */
static void run_pair(struct trial *trial, int round)
{
	static const char *const script =
		"cat .env > leak.$1 2>/dev/null; echo $1 > out.$1; echo x >> .git/config 2>/dev/null; exit 0";
	char *names[2] = { path_of("%d-a", round), path_of("%d-b", round) };
	pid_t pids[2];
	for (int i = 0; i < 2; i++)
		pids[i] = START(trial, "/bin/sh", "-c", script, "sh", names[i]);
	for (int i = 0; i < 2; i++) {
		int code = wait_exit(pids[i], 5000 * PATIENCE);
		char *out = path_of("%s/out.%s", trial->world.project, names[i]),
		     *leak = path_of("%s/leak.%s", trial->world.project, names[i]);
		expect(trial, code == 0 && file_contains(out, names[i]), "round %s: exit code %d", names[i], code);
		expect(trial, size_of(leak) == 0, "round %s: the secret was read", names[i]);
	}
}

static void two_at_once(struct trial *trial)
{
	char *config = path_of("%s/.git/config", trial->world.project), *before = strdup(file_text(config));
	BARE(trial, "/bin/cat", ".env");
	expect(trial, strstr(trial->outcome.out, trial->world.token) != NULL, "control: the file cannot be read");
	for (int round = 0; round < 100 && !trial->result->failures[0]; round++)
		run_pair(trial, round);
	expect(trial, strcmp(before, file_text(config)) == 0, ".git/config changed");
	expect(trial, file_contains(path_of("%s/.env", trial->world.project), trial->world.token), ".env changed");
}

static void control_groups(struct trial *trial)
{
	CONTAIN(trial, "open-write", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/pids/cgroup.procs",
		"/sys/fs/cgroup/memory/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs",
		"/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/cgroup.subtree_control");
}

static struct {
	pid_t pid;
	int nice_value; /* the caller's own: the suite may run under nice(1) */
} * bystander;

/* Another process of the caller's group, as in `berm run -- a | tee log` or in a script without job
 * control. */
static void start_bystander(struct trial *trial)
{
	(void)trial;
	signal(SIGTERM, SIG_DFL);
	pid_t pid = fork();
	if (pid == 0) {
		close_range(0, ~0u, 0); /* no process has to wait for its end */
		alarm(200);
		for (;;)
			pause();
	}
	bystander->pid = pid;
	bystander->nice_value = getpriority(PRIO_PROCESS, 0);
}

static bool is_untouched(struct trial *trial, const char *situation)
{
	if (bystander->pid <= 0)
		die("no bystander");
	bool is_there = kill(bystander->pid, 0) == 0 && state_letter(bystander->pid) != 'Z';
	int nice_value = is_there ? getpriority(PRIO_PROCESS, (id_t)bystander->pid) : bystander->nice_value;
	bool is_same = nice_value == bystander->nice_value;
	if (trial)
		expect(trial, is_there, "%s: a process of the caller's group was signalled", situation);
	if (trial)
		expect(trial, is_same, "%s: a process of the caller's group has nice value %d", situation, nice_value);
	kill(bystander->pid, SIGKILL);
	return is_there && is_same;
}

static void callers_group(struct trial *trial)
{
	bystander = mmap(NULL, sizeof *bystander, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	trial->before_exec = start_bystander;
	BARE(trial, "$ATTACK", "group");
	expect(trial, !is_untouched(NULL, ""), "control: the group is not reached");
	INSIDE(trial, "$ATTACK", "group");
	expect(trial, trial->outcome.exit_code == 0, "the run ended with %d: %.200s", trial->outcome.exit_code,
	       trial->outcome.err);
	is_untouched(trial, "with all mechanisms");
}

/* A kernel without Landlock, or without its newer parts: refused, or nothing of the promise is
 * lost. */
static void without_landlock(struct trial *trial)
{
	start_bystander(trial);
	refuse_call(444 /* landlock_create_ruleset */, EOPNOTSUPP);
}

static void log_without_landlock(struct trial *trial)
{
	int fd = open(path_of("%s/log", trial->world.outside), O_WRONLY | O_APPEND);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	refuse_call(444, EOPNOTSUPP);
}

static void no_landlock(struct trial *trial)
{
	char *log = path_of("%s/log", trial->world.outside);
	bystander = mmap(NULL, sizeof *bystander, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	trial->before_exec = without_landlock;
	INSIDE(trial, "$ATTACK", "group");
	if (trial->outcome.exit_code == 125) {
		expect(trial, true, "refused");
		return;
	}
	is_untouched(trial, "without Landlock");
	make_file(log, "earlier\n", 0600);
	trial->before_exec = log_without_landlock;
	INSIDE(trial, "$ATTACK", "reopen-stdout");
	expect(trial, !file_contains(log, "REACHED"),
	       "without Landlock: stdout's file can be opened again with more rights: %s", file_text(log));
	expect(trial, strncmp(file_text(log), "earlier\n", 8) == 0, "without Landlock: the log was cut");
}

static void init_as_target(struct trial *trial)
{
	CONTAIN(trial, "proc-entries", "$TARGET");
	CONTAIN(trial, "ptrace", "$TARGET");
	CONTAIN(trial, "memory", "$TARGET");
}

const struct escape_case cases_lifetime[] = {
	{ 87, "kill the supervisor: the whole tree dies", 0, NULL, { NULL }, NULL, kill_launcher, 0 },
	{ 90, "a daemon in its own session", 0, NULL, { NULL }, NULL, daemon_ends, 0 },
	{ 96, "move itself to another control group", NEED_ROOT, NULL, { NULL }, NULL, control_groups, 0 },
	{ 97, "SIGCHLD ignored, descriptors closed: true exit codes", ABOUT_LAUNCHER, NULL, { NULL }, NULL, odd_callers, 15 },
	{ 107, "a second berm in the same project", 0, NULL, { NULL }, NULL, second_berm, 15 },
	{ 110, "init as a target", 0, trial_victim, { NULL }, NULL, init_as_target, 0 },
	{ 137, "background jobs do not hold the run", 0, NULL, { NULL }, NULL, background_holds_pipe, 0 },
	{ 138, "signals are forwarded, 128+n comes back", ABOUT_LAUNCHER, NULL, { NULL }, NULL, forwarded_signals, 15 },
	{ 139, "stop and continue", 0, NULL, { NULL }, NULL, stop_and_continue, 0 },
	{ 140, "the terminal goes away", NEED_TERMINAL, NULL, { NULL }, NULL, hang_up, 0 },
	{ 150, "signals and priorities to the caller's process group", 0, NULL, { NULL }, NULL, callers_group, 0 },
	{ 151, "a kernel without Landlock: refused, or nothing is lost", NEED_WALL, NULL, { NULL }, NULL, no_landlock, 0 },
	{ 141, "two berms at once, a hundred times", 0, NULL, { NULL }, NULL, two_at_once, 40 },
	{ 0 },
};

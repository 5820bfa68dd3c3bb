/* SPDX-License-Identifier: Apache-2.0 */
/* berm killed with SIGKILL at 200 random moments: no process, mount, file or directory is left that
 * the command did not make. */
#include "harness.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *berm_path, *attack_path;
bool is_self_test;

enum { KILLS = 200, LATEST_US = 15000, SETTLE_MS = 20000 };

static struct world world;
static unsigned seed = 20240229; /* the same moments each time, as far as a scheduler allows */

/* How many processes carry the mark in their arguments, and the last of them. Init has berm's
 * arguments, so every process of a run does. */
static int marked_processes(const char *mark, pid_t *last)
{
	DIR *proc = opendir("/proc");
	int found = 0;
	for (struct dirent *entry; proc && (entry = readdir(proc));) {
		char path[64], arguments[4096];
		pid_t pid = (pid_t)atoi(entry->d_name);
		if (!isdigit((unsigned char)entry->d_name[0]) || pid == getpid())
			continue;
		snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t length = fd < 0 ? 0 : read(fd, arguments, sizeof arguments);
		if (fd >= 0)
			close(fd);
		if (length > 0 && memmem(arguments, (size_t)length, mark, strlen(mark)))
			*last = pid, found++;
	}
	if (proc)
		closedir(proc);
	return found;
}

static pid_t marked_process(const char *mark)
{
	pid_t last;
	return marked_processes(mark, &last) > 0 ? last : 0;
}

static pid_t start(const char *mark)
{
	char *const environment[] = { "PATH=/usr/bin:/bin", path_of("HOME=%s", world.home),
				      path_of("XDG_STATE_HOME=%s", world.state), path_of("XDG_CONFIG_HOME=%s", world.config),
				      NULL };
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		setpgid(0, 0);
		if (chdir(world.project))
			_exit(99);
		execle(berm_path, "berm", "run", "--", world.attack, "family-idle", mark, (char *)NULL, environment);
		_exit(98);
	}
	return pid;
}

/* Death is not instantaneous: the kernel takes a pid namespace down after its init. */
static bool is_gone(const char *mark)
{
	for (int i = 0; i < SETTLE_MS; i++, usleep(1000)) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (!marked_process(mark))
			return true;
	}
	return false;
}

static int kill_once(int round, const char *project, const char *mounts)
{
	char *mark = path_of("mark-%d-%d", getpid(), round);
	pid_t pid = start(mark);
	usleep((useconds_t)(rand_r(&seed) % LATEST_US));
	kill(pid, SIGKILL);
	int failed = 0;
	if (!is_gone(mark)) {
		printf("FAILED round %d: process %d is left\n", round, marked_process(mark));
		kill(marked_process(mark), SIGKILL);
		failed = 1;
	}
	char *now = tree_listing(world.project);
	if (strcmp(project, now) != 0) {
		printf("FAILED round %d: the project changed:\n%s\n", round, now);
		failed = 1;
	}
	if (strcmp(mounts, mounts_now(&world)) != 0) {
		printf("FAILED round %d: the host's mounts changed\n", round);
		failed = 1;
	}
	free(now);
	free(mark);
	return failed;
}

enum { FAMILY = 4 /* the launcher, init, the command and its child */ };

/* The control: left alone the command runs and is seen. */
static bool check_control(void)
{
	pid_t last;
	char *mark = path_of("mark-%d-control", getpid());
	pid_t pid = start(mark);
	bool is_running = false;
	for (int i = 0; i < SETTLE_MS && !is_running && waitpid(pid, NULL, WNOHANG) == 0; i++, usleep(1000))
		is_running = marked_processes(mark, &last) >= FAMILY;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return is_running && is_gone(mark);
}

/* Names only: what berm keeps between runs may change in content. Without the markers of runs
 * (state/unfinished.h): a killed run's is reused, and the next run may take a second one before the
 * kernel has dropped the lock. Nor the records: each run has one. */
static char *names_below(const char *path)
{
	char *listing = tree_listing(path), *out = listing, *rest = NULL;
	for (char *line = strtok_r(strdup(listing), "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t length = strcspn(line, " ");
		if (strstr(line, "/berm/runs/") || strstr(line, "/berm/log/"))
			continue;
		memmove(out, line, length);
		out += length;
		*out++ = '\n';
	}
	*out = '\0';
	return listing;
}

int main(void)
{
	static struct world_created created;
	int failed = 0;
	time_t begin = time(NULL);
	berm_path = getenv("BERM");
	attack_path = getenv("BERM_ATTACK");
	if (!berm_path || !attack_path || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) {
		fputs("kills: BERM and BERM_ATTACK must name programs\n", stderr);
		return 2;
	}
	own_mounts();
	world_make(&world, NULL, &created);
	if (!check_control()) {
		printf("FAILED control: the command does not run\n");
		failed++;
	}
	char *project = tree_listing(world.project), *mounts = mounts_now(&world), *state = names_below(world.state);
	for (int round = 0; round < KILLS && failed < 10; round++)
		failed += kill_once(round, project, mounts);
	char *left = names_below(world.state);
	if (strcmp(state, left) != 0) {
		printf("FAILED something is left in the state directory:\n%s\nwas:\n%s\n", left, state);
		failed++;
	}
	world_remove_created(&created);
	printf("%d kills: %d failed; %d s\n", KILLS, failed, (int)(time(NULL) - begin));
	return failed ? 1 : 0;
}

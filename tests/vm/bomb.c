/* SPDX-License-Identifier: Apache-2.0 */
/* bomb KIND AMOUNT: uses up AMOUNT mebibytes or processes and no more, for machines without Python.
 * 0: it got all of it; 3: fork failed; 2: memory was refused. bomb raise DIRECTORY: mounts control
 * groups there and tries to lift limits. bomb as ID COMMAND...: as this user, which busybox does
 * not offer. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAUSE_US = 1000, CHILDREN = 4 };

static void fill(char *memory, long amount)
{
	for (long i = 0; i < amount; i++) {
		memset(memory + i * MIB, 1, MIB);
		usleep(PAUSE_US);
	}
}

static int mapped(long amount, int flags)
{
	char *memory = mmap(NULL, (size_t)amount * MIB, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 2;
	fill(memory, amount);
	sleep(1); /* what only looks from time to time gets a look */
	return 0;
}

static int children(long amount)
{
	int worst = 0;
	for (int i = 0; i < CHILDREN; i++)
		if (fork() == 0)
			_exit(mapped(amount / CHILDREN, MAP_PRIVATE));
	for (int i = 0, status; i < CHILDREN; i++) {
		wait(&status);
		worst = status ? status : worst;
	}
	return worst != 0;
}

/* Never mapped. */
static int memory_file(long amount)
{
	static char page[MIB];
	int fd = memfd_create("bomb", 0);
	memset(page, 1, sizeof page);
	for (long i = 0; i < amount; i++) {
		if (write(fd, page, sizeof page) != (ssize_t)sizeof page)
			return 2;
		usleep(PAUSE_US);
	}
	sleep(1);
	return 0;
}

/* With namespaces of its own, in which control groups can be mounted: is there a limit to be
 * lifted? */
static int raise_limits(const char *place)
{
	static const char *const files[] = { "memory.max", "run/memory.max", "../memory.max" };
	int fd;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | 0x02000000 /* CLONE_NEWCGROUP */) < 0) {
		puts("no namespaces");
		return 0;
	}
	if (mount("none", place, "cgroup2", 0, NULL) < 0 || chdir(place) < 0) {
		printf("not mounted: %m\n");
		return 0;
	}
	puts("mounted");
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		fd = open(files[i], O_WRONLY);
		if (fd >= 0 && write(fd, "max", 3) == 3)
			puts("RAISED");
	}
	fd = open("cgroup.subtree_control", O_WRONLY);
	if (fd >= 0 && write(fd, "+memory", 7) == 7)
		puts("RAISED");
	return 0;
}

static int processes(long amount)
{
	for (long i = 0; i < amount; i++) {
		pid_t pid = fork();
		if (pid < 0)
			return 3;
		if (pid == 0) {
			sleep(3);
			_exit(0);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	long amount = argc >= 3 ? strtol(argv[2], NULL, 10) : 0;
	if (argc == 3 && strcmp(argv[1], "raise") == 0)
		return raise_limits(argv[2]);
	if (amount <= 0)
		return 1;
	if (strcmp(argv[1], "as") == 0 && argc > 3) {
		if (setgroups(0, NULL) == 0 && setgid((gid_t)amount) == 0 && setuid((uid_t)amount) == 0)
			execvp(argv[3], argv + 3);
		return 127;
	}
	if (strcmp(argv[1], "private") == 0)
		return mapped(amount, MAP_PRIVATE);
	if (strcmp(argv[1], "shared") == 0)
		return mapped(amount, MAP_SHARED);
	if (strcmp(argv[1], "children") == 0)
		return children(amount);
	if (strcmp(argv[1], "memfd") == 0)
		return memory_file(amount);
	if (strcmp(argv[1], "processes") == 0)
		return processes(amount);
	return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks from directories whose path is longer than the kernel tells (4095 bytes), and from
 * directories that are renamed so that their path becomes longer or shorter meanwhile. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COMPONENT = 200, TEXT = 4096, KERNEL_TELLS = 4095 };

/* Enters, and makes where it is absent, a directory whose path has `length` bytes. */
static bool descend(size_t length)
{
	char here[TEXT], name[COMPONENT + 64];
	size_t left;
	if (!getcwd(here, sizeof here) || strlen(here) + 2 > length)
		return false;
	left = length - strlen(here);
	while (left > 0) {
		/* The last one is not shorter than a slash and a byte. */
		size_t bytes = left > COMPONENT + 2 ? COMPONENT : left - 1;
		memset(name, 'd', bytes);
		name[bytes] = '\0';
		if ((mkdir(name, 0755) < 0 && errno != EEXIST) || chdir(name) < 0)
			return false;
		left -= bytes + 1;
	}
	return true;
}

/* LENGTH ATTACK ARGUMENT...: an attack of the guard, from there. */
static void run_long(char **arguments)
{
	if (!descend((size_t)atol(arguments[0])) || (mkdir("src", 0755) < 0 && errno != EEXIST)) {
		report("descend", -errno);
		return;
	}
	for (const struct attack *attack = attacks_guard; attack->name; attack++)
		if (strcmp(attack->name, arguments[1]) == 0)
			attack->run(arguments + 2);
}

static atomic_bool is_over;
static int bottom = -1;
static char long_name[COMPONENT + 1];

/* The path of everything below changes between one that the kernel tells and one that it does
 * not. */
static void *rename_top(void *top)
{
	int root = *(const int *)top;
	while (!is_over) {
		renameat(root, "s", root, long_name);
		renameat(root, long_name, root, "s");
	}
	return NULL;
}

static void *rename_holder(void *unused)
{
	(void)unused;
	while (!is_over) {
		renameat(bottom, "x", bottom, "ci");
		renameat(bottom, "ci", bottom, "x");
		mkdirat(bottom, "ci", 0755);
	}
	return NULL;
}

static bool is_there(const char *name)
{
	struct stat info;
	return fstatat(bottom, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static void make_in(int directory, const char *name, int way)
{
	int fd = -1;
	if (way == 0)
		fd = openat(directory, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	else if (way == 1)
		fd = openat(directory, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	else if (way == 2)
		mkdirat(directory, name, 0755);
	else
		renameat(bottom, "ready", directory, name);
	if (fd >= 0)
		close(fd);
}

/* A file of a user's own entry, and one below a holder of such an entry. */
static void try_once(int way, unsigned wins[2])
{
	static const char *const holders[] = { "x", "ci" };
	int fd = openat(bottom, "ready", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
	make_in(bottom, "own.cfg", way);
	wins[0] += is_there("own.cfg");
	unlinkat(bottom, "own.cfg", 0), unlinkat(bottom, "own.cfg", AT_REMOVEDIR);
	fd = openat(bottom, holders[way & 1], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	make_in(fd, "steps", way);
	/* The file is nowhere for a moment while its directory is renamed. */
	for (int i = 0; i < 8; i++)
		wins[1] += is_there("ci/steps");
	unlinkat(fd, "steps", 0), unlinkat(fd, "steps", AT_REMOVEDIR);
	close(fd);
}

/* TRIES */
static void run_long_race(char **arguments)
{
	static const char *const names[] = { "long-own", "long-holder" };
	int tries = atoi(arguments[0]), root = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	unsigned wins[2] = { 0, 0 };
	pthread_t threads[2];
	memset(long_name, 't', COMPONENT);
	if (root < 0 || mkdir("s", 0755) < 0 || chdir("s") < 0 || !descend(KERNEL_TELLS - COMPONENT / 2) ||
	    mkdir("x", 0755) < 0 || (bottom = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) {
		report("descend", -errno);
		return;
	}
	pthread_create(&threads[0], NULL, rename_top, &root);
	pthread_create(&threads[1], NULL, rename_holder, NULL);
	for (int i = 0; i < tries; i++)
		try_once(i % 4, wins);
	is_over = true;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	for (int i = 0; i < 2; i++)
		report(names[i], wins[i] > 0 ? 0 : -EACCES);
}

const struct attack attacks_long[] = {
	{ "long", run_long, "LENGTH ATTACK ARGUMENT...: from a directory whose path has so many bytes" },
	{ "long-race", run_long_race, "TRIES: while a path becomes longer and shorter" },
	{ NULL, NULL, NULL },
};

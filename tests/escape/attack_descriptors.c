/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks with what a process is born with: inherited descriptors, environment, working
 * directory. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HIGHEST_DESCRIPTOR = 4096 };

static bool is_kept(int fd, char **kept)
{
	for (; *kept; kept++)
		if (atoi(*kept) == fd)
			return true;
	return false;
}

/* Arguments: descriptors that the caller passed on purpose. */
static void run_descriptors(char **kept)
{
	long open_result = -ENOENT, read_result = -ENOENT, directory_result = -ENOENT;
	for (int fd = 3; fd < HIGHEST_DESCRIPTOR; fd++) {
		char byte;
		if (fcntl(fd, F_GETFD) < 0 || is_kept(fd, kept))
			continue;
		open_result = 0;
		if (pread(fd, &byte, 1, 0) == 1)
			read_result = 0;
		if (fchdir(fd) == 0)
			directory_result = 0;
	}
	report("descriptor-open", open_result);
	report("descriptor-read", read_result);
	report("descriptor-chdir", directory_result);
}

static void run_proc_descriptors(char **names)
{
	long chdir_result = -ENOENT, read_result = -ENOENT;
	for (int fd = 3; fd < HIGHEST_DESCRIPTOR; fd++) {
		char path[4200];
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (chdir(path) == 0)
			chdir_result = 0;
		snprintf(path, sizeof path, "/proc/self/fd/%d/%s", fd, names[0]);
		int file = open(path, O_RDONLY | O_CLOEXEC);
		if (file >= 0) {
			read_result = 0;
			close(file);
		}
	}
	report("proc-fd-chdir", chdir_result);
	report("proc-fd-read", read_result);
}

/* NAME, or NAME=VALUE where berm sets a variable of that name itself. */
static void run_environment(char **names)
{
	for (; *names; names++) {
		char *value = strchr(*names, '=');
		char *name = strndup(*names, value ? (size_t)(value - *names) : strlen(*names));
		const char *found = getenv(name);
		report(labelled("variable", name), found && (!value || strcmp(found, value + 1) == 0) ? 0 : -ENOENT);
		free(name);
	}
}

/* The inherited working directory, by the relative name and by `..`. */
static void run_cwd(char **names)
{
	for (; *names; names++) {
		int fd = open(*names, O_RDONLY | O_CLOEXEC);
		char byte;
		report(labelled("cwd", *names), fd < 0 ? -errno : read(fd, &byte, 1) == 1 ? 0 : -ENODATA);
		if (fd >= 0)
			close(fd);
	}
}

const struct attack attacks_descriptors[] = {
	{ "descriptors", run_descriptors, "[KEPT...]: any other open descriptor" },
	{ "proc-descriptors", run_proc_descriptors, "NAME: directories behind /proc/self/fd/N" },
	{ "environment", run_environment, "NAME...: variables that should not be there" },
	{ "cwd", run_cwd, "NAME...: relative to the inherited directory" },
	{ NULL, NULL, NULL },
};

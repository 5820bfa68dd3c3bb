/* SPDX-License-Identifier: Apache-2.0 */
/* `sudo berm doctor --install-apparmor`. The only place where berm changes the machine and runs another program: both by fixed paths, as root,
 * because the user asked for exactly this. Never replaces a file that it did not write. */
#include "linux/probe/apparmor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/base/cleanup.h"
#include "common/fs/filesystem.h"
#include "linux/probe/host.h"

static const char directory[] = "/etc/apparmor.d";
static const char installed[] = "/etc/apparmor.d/berm";
static const char temporary[] = "/etc/apparmor.d/.berm.new";
static const char mark[] = "# Written by `berm doctor --install-apparmor`.\n";
static const char usual_places[] = "/usr/{,local/}bin/berm";
static const char *const parsers[] = { "/usr/sbin/apparmor_parser", "/sbin/apparmor_parser" };

enum { PROFILE_MAX = 4096 };

const char *apparmor_profile(struct arena *arena, const char *program)
{
	bool is_usual = strcmp(program, "/usr/bin/berm") == 0 || strcmp(program, "/usr/local/bin/berm") == 0;
	for (const char *c = program; *c; c++)
		if (*c <= ' ' || *c >= 127 || strchr("*?[]{}^\"\\,@#()<>=", *c))
			return NULL;
	if (program[0] != '/')
		return NULL;
	return arena_printf(arena,
			    "abi <abi/4.0>,\n"
			    "include <tunables/global>\n"
			    "\n"
			    "profile berm %s flags=(unconfined) {\n"
			    "  userns,\n"
			    "\n"
			    "  include if exists <local/berm>\n"
			    "}\n",
			    is_usual ? usual_places : program);
}

int apparmor_judge_program(struct arena *arena, const char *program, struct error *err)
{
	const char *path = program;
	struct stat info;
	for (;;) {
		if (lstat(path, &info) < 0)
			return error_errno(err, errno, "cannot look at %s", path);
		if (info.st_uid != 0 || (info.st_mode & 022) || S_ISLNK(info.st_mode))
			break;
		if (strcmp(path, "/") == 0)
			return 0;
		path = path_parent(arena, path);
	}
	error_set(err, "%s can be changed by others than root: a profile would let them make user namespaces with any program",
		  path);
	return error_hint(err, "install berm where only root can write, for example in /usr/local/bin, and use that one");
}

static const char *own_path(struct arena *arena)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	if (length <= 0)
		return NULL;
	path[length] = '\0';
	return arena_copy(arena, path);
}

/* Nothing to do is not a failure; the words say which. */
static const char *needless(void)
{
	struct probe_host host;
	char enabled[8];
	probe_host_read(&host);
	probe_read_line("/sys/module/apparmor/parameters/enabled", enabled, sizeof enabled);
	if (enabled[0] != 'Y')
		return "AppArmor is not in force here: no profile is needed, and nothing was changed";
	if (host.apparmor_userns <= 0)
		return "AppArmor does not keep user namespaces from programs here: no profile is needed, and nothing was "
		       "changed";
	return NULL;
}

/* A profile of this name that somebody else wrote is left alone. */
static int judge_existing(const char *text, bool *is_there, struct error *err)
{
	char old[PROFILE_MAX];
	struct stat info;
	autoclose int fd = open(installed, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, old, sizeof old - 1);
	*is_there = fd >= 0;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (length >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
		old[length] = '\0';
		if (strncmp(old, mark, sizeof mark - 1) == 0 || strstr(old, text))
			return 0;
	}
	error_set(err, "%s is there and was not written by berm", installed);
	return error_hint(err, "look at it; if it is not wanted, remove it and try again");
}

static int write_profile(const char *text, struct error *err)
{
	autoclose int fd = -1;
	size_t length = strlen(text);
	struct stat info;
	if (lstat(directory, &info) < 0 || !S_ISDIR(info.st_mode) || info.st_uid != 0 || (info.st_mode & 022))
		return error_set(err, "%s is not a directory of root's", directory);
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, mark, sizeof mark - 1) != (ssize_t)sizeof mark - 1 ||
	    write(fd, text, length) != (ssize_t)length || fchmod(fd, 0644) < 0 || rename(temporary, installed) < 0) {
		error_errno(err, errno, "cannot write %s", installed);
		unlink(temporary);
		return -1;
	}
	return 0;
}

static int load_profile(struct error *err)
{
	static char *const environment[] = { NULL };
	size_t at = 0, count = sizeof parsers / sizeof parsers[0];
	int status = 0;
	pid_t pid;
	while (at < count && access(parsers[at], X_OK) < 0)
		at++;
	if (at == count)
		return error_set(err, "there is no apparmor_parser in /usr/sbin or /sbin");
	pid = fork();
	if (pid == 0) {
		char replace[] = "--replace", name[] = "apparmor_parser", profile[sizeof installed];
		memcpy(profile, installed, sizeof installed);
		execve(parsers[at], (char *[]){ name, replace, profile, NULL }, environment);
		_exit(127);
	}
	if (pid < 0)
		return error_errno(err, errno, "cannot start apparmor_parser");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(err, errno, "cannot wait for apparmor_parser");
	if (status != 0)
		return error_set(err, "apparmor_parser did not take the profile (it says why above)");
	return 0;
}

int backend_install_profile(struct arena *arena, const char **done, struct error *err)
{
	const char *program = own_path(arena), *text;
	bool is_there;

	*done = needless();
	if (*done)
		return 0;
	if (geteuid() != 0) {
		error_set(err, "only root can load an AppArmor profile");
		return error_hint(err, "sudo %s doctor --install-apparmor", program ? program : "berm");
	}
	if (!program || apparmor_judge_program(arena, program, err) < 0)
		return program ? -1 : error_set(err, "where this berm lies cannot be found out");
	text = apparmor_profile(arena, program);
	if (!text)
		return error_set(err, "%s: a name that AppArmor would take for a pattern", program);
	if (judge_existing(text, &is_there, err) < 0 || write_profile(text, err) < 0)
		return -1;
	if (load_profile(err) < 0) {
		if (!is_there)
			unlink(installed);
		return -1;
	}
	*done = arena_printf(arena, "%s is written and loaded: %s may make user namespaces. Now, as yourself: berm doctor",
			     installed, program);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `sudo berm doctor --install-apparmor` and --remove-apparmor: the only code that changes the
 * machine. Uses fixed paths, runs as root on the user's explicit request, and never replaces a file
 * that berm did not write. */
#include "linux/probe/apparmor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/backend.h"
#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/fs/filesystem.h"
#include "linux/probe/host.h"

static const char directory[] = "/etc/apparmor.d";
static const char installed[] = "/etc/apparmor.d/berm";
static const char mark[] = "# Written by `berm doctor --install-apparmor`.\n";
static const char usual_paths[] = "/usr/{,local/}bin/berm";
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
			    is_usual ? usual_paths : program);
}

int apparmor_check_program(struct arena *arena, const char *program, struct error *err)
{
	const char *path = program;
	struct stat info;
	for (;;) {
		if (lstat(path, &info) < 0)
			return error_errno(err, errno, "cannot inspect %s", path);
		if (info.st_uid != 0 || (info.st_mode & 022) || S_ISLNK(info.st_mode))
			break;
		if (strcmp(path, "/") == 0)
			return 0;
		path = path_parent(arena, path);
	}
	error_set(err, "users other than root can change %s: with a profile they could run any program with user namespaces",
		  path);
	return error_hint(err, "install berm where only root can write, for example in /usr/local/bin, and run that copy");
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

/* Returns a message if no profile is needed, which is not a failure; else NULL. */
static const char *explain_needless(void)
{
	struct probe_host host;
	char enabled[8];
	probe_host_read(&host);
	probe_read_line("/sys/module/apparmor/parameters/enabled", enabled, sizeof enabled);
	if (enabled[0] != 'Y')
		return "AppArmor is not active here: no profile is needed, and nothing was changed";
	if (host.apparmor_userns <= 0)
		return "AppArmor does not restrict user namespaces here: no profile is needed, and nothing was changed";
	return NULL;
}

/* Fails if there is a profile of this name that berm did not write. */
static int check_existing(const char *text, bool *is_there, struct error *err)
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
	error_set(err, "%s exists and was not written by berm", installed);
	return error_hint(err, "if you do not need it, remove it and try again");
}

static int write_profile(const char *text, struct error *err)
{
	const struct private_file_options options = { .mode = 0644 };
	autoclose int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char content[PROFILE_MAX];
	struct stat info;
	int length = snprintf(content, sizeof content, "%s%s", mark, text);
	if (fd < 0 || fstat(fd, &info) < 0 || info.st_uid != 0 || (info.st_mode & 022))
		return error_set(err, "%s is not a directory that only root can change", directory);
	if (length < 0 || (size_t)length >= sizeof content)
		return error_set(err, "the profile for %s is too long", installed);
	if (private_file_write(fd, path_base_name(installed), content, (size_t)length, &options) < 0)
		return error_errno(err, errno, "cannot write %s", installed);
	return 0;
}

/* Runs apparmor_parser with `action` ("--replace", "--remove") on the installed profile. */
static int run_parser(const char *action, struct error *err)
{
	static char *const environment[] = { NULL };
	size_t at = 0, count = sizeof parsers / sizeof parsers[0];
	int status = 0;
	pid_t pid;
	while (at < count && access(parsers[at], X_OK) < 0)
		at++;
	if (at == count)
		return error_set(err, "apparmor_parser is neither in /usr/sbin nor in /sbin");
	pid = fork();
	if (pid == 0) {
		char option[16], name[] = "apparmor_parser", profile[sizeof installed];
		snprintf(option, sizeof option, "%s", action);
		memcpy(profile, installed, sizeof installed);
		execve(parsers[at], (char *[]){ name, option, profile, NULL }, environment);
		_exit(127);
	}
	if (pid < 0)
		return error_errno(err, errno, "cannot start apparmor_parser");
	if (child_wait(pid, &status) < 0)
		return error_errno(err, errno, "cannot wait for apparmor_parser");
	if (status != 0)
		return error_set(err, "apparmor_parser did not accept the profile; its message is above");
	return 0;
}

int backend_install_profile(struct arena *arena, const char **done, struct error *err)
{
	const char *program = own_path(arena), *text;
	bool is_there;

	*done = explain_needless();
	if (*done)
		return 0;
	if (geteuid() != 0) {
		error_set(err, "only root can load an AppArmor profile");
		return error_hint(err, "sudo %s doctor --install-apparmor", program ? program : "berm");
	}
	if (!program || apparmor_check_program(arena, program, err) < 0)
		return program ? -1 : error_set(err, "cannot find the path of this program");
	text = apparmor_profile(arena, program);
	if (!text)
		return error_set(err, "%s: AppArmor would read this path as a pattern", program);
	if (check_existing(text, &is_there, err) < 0 || write_profile(text, err) < 0)
		return -1;
	if (run_parser("--replace", err) < 0) {
		if (!is_there)
			unlink(installed);
		return -1;
	}
	*done = arena_printf(arena,
			     "%s is written and loaded: %s may create user namespaces. Next, as your own user: berm doctor",
			     installed, program);
	return 0;
}

/* Returns the path of another berm that the profile for this program also names, or NULL. */
static const char *other_program(const char *program)
{
	static const char *const usual[] = { "/usr/bin/berm", "/usr/local/bin/berm" };
	for (size_t i = 0; i < 2; i++)
		if (strcmp(program, usual[i]) == 0 && access(usual[1 - i], F_OK) == 0)
			return usual[1 - i];
	return NULL;
}

int backend_remove_profile(struct arena *arena, const char **done, struct error *err)
{
	const char *program = own_path(arena), *text = program ? apparmor_profile(arena, program) : NULL, *other;
	struct error unloading = { 0 };
	bool is_there;

	if (!text)
		return error_set(err, "cannot find the path of this program");
	if (check_existing(text, &is_there, err) < 0)
		return -1;
	*done = "no AppArmor profile of berm is installed; nothing was changed";
	if (!is_there)
		return 0;
	other = other_program(program);
	if (other) {
		*done = arena_printf(arena, "%s is kept: %s needs it", installed, other);
		return 0;
	}
	if (geteuid() != 0) {
		error_set(err, "only root can remove an AppArmor profile");
		return error_hint(err, "sudo %s doctor --remove-apparmor", program);
	}
	/* A profile that is not loaded cannot be unloaded; the file is removed in any case. */
	if (run_parser("--remove", &unloading) < 0)
		*done = arena_printf(arena, "%s is removed; if it was loaded it is in force until the next boot", installed);
	else
		*done = arena_printf(arena, "%s is unloaded and removed", installed);
	if (unlink(installed) < 0)
		return error_errno(err, errno, "cannot remove %s", installed);
	return 0;
}

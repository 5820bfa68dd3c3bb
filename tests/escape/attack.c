/* SPDX-License-Identifier: Apache-2.0 */
/* The attacker: one static program, one subcommand per attack. Linked without a library of the
 * host's choice, so that it runs wherever it is put. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct attack *const themes[] = {
	attacks_descriptors, attacks_files,    attacks_harm, attacks_kernel, attacks_lifetime,
	attacks_network,     attacks_planting, attacks_proc, attacks_race,   attacks_sockets,
	attacks_terminal,    attacks_guard,    attacks_long,
};

static const char *errno_name(int number)
{
	const char *name = strerrorname_np(number);
	return name ? name : "?";
}

/* One write per line: children and threads report too, and lines must not be torn. */
static void tell(const char *verdict, const char *what, const char *detail)
{
	char line[512];
	int length = snprintf(line, sizeof line, "%s %s%s%s\n", verdict, what, detail ? " " : "", detail ? detail : "");
	if (length < 0 || length >= (int)sizeof line || write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(70);
}

void report_reached(const char *what)
{
	tell("REACHED", what, NULL);
}

void report(const char *what, long result)
{
	int number = (int)-result;
	if (result >= 0)
		report_reached(what);
	else if (number == ENOENT || number == ESRCH || number == ENXIO || number == ENOTDIR)
		tell("ABSENT", what, errno_name(number));
	else
		tell("DENIED", what, errno_name(number));
}

const char *labelled(const char *verb, const char *object)
{
	static char label[256];
	snprintf(label, sizeof label, "%s:%s", verb, object);
	for (char *c = label; *c; c++)
		if (*c <= ' ' || *c >= 127)
			*c = '?';
	return label;
}

long result_of(long value)
{
	return value == -1 ? -errno : value;
}

static bool is_listed(const int *numbers, long result)
{
	for (; numbers && *numbers; numbers++)
		if (result == -*numbers)
			return true;
	return false;
}

void probe(const char *what, long (*call)(void *argument), void *argument, const int *through)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		exit(70);
	pid_t child = fork();
	if (child < 0)
		exit(70);
	if (child == 0) {
		alarm(5);
		long result = call(argument);
		_exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 70);
	}
	close(ends[1]);
	long result = 0;
	bool has_result = read(ends[0], &result, sizeof result) == sizeof result;
	close(ends[0]);
	int status = 0;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			exit(70);
	if (has_result && is_listed(through, result))
		report_reached(what);
	else if (has_result)
		report(what, result);
	else if (WIFSIGNALED(status))
		tell("KILLED", what, sigabbrev_np(WTERMSIG(status)));
	else
		exit(70);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

void gain_namespaces(void)
{
	char map[64];
	uid_t uid = getuid();
	gid_t gid = getgid();
	if (uid != 0 && unshare(CLONE_NEWUSER) == 0) {
		write_file("/proc/self/setgroups", "deny");
		snprintf(map, sizeof map, "0 %u 1", uid);
		write_file("/proc/self/uid_map", map);
		snprintf(map, sizeof map, "0 %u 1", gid);
		write_file("/proc/self/gid_map", map);
	}
	if (unshare(CLONE_NEWNS | CLONE_NEWNET) == 0) {
		/* Where this is not allowed (Landlock), no other mount is. */
		if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) && errno != EPERM && errno != EACCES)
			_exit(70);
	} else if (errno != EPERM && errno != ENOSYS && errno != EACCES) {
		/* Not a wall but a machine in trouble: what follows would not be private. */
		_exit(70);
	}
}

const char *wait_for_line(const char *path)
{
	static char line[256];
	for (int i = 0; i < 3000; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
		if (fd >= 0)
			close(fd);
		if (length > 0 && memchr(line, '\n', (size_t)length)) {
			line[length] = '\0';
			*strchr(line, '\n') = '\0';
			return line;
		}
		usleep(10000);
	}
	return NULL;
}

static const struct attack *attack_find(const char *name)
{
	for (size_t theme = 0; theme < sizeof themes / sizeof *themes; theme++)
		for (const struct attack *attack = themes[theme]; attack->name; attack++)
			if (strcmp(attack->name, name) == 0)
				return attack;
	return NULL;
}

static int list_attacks(void)
{
	for (size_t theme = 0; theme < sizeof themes / sizeof *themes; theme++)
		for (const struct attack *attack = themes[theme]; attack->name; attack++)
			printf("%-24s %s\n", attack->name, attack->help);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return list_attacks();
	const struct attack *attack = attack_find(argv[1]);
	if (!attack) {
		fprintf(stderr, "attack: no attack %s\n", argv[1]);
		return 64;
	}
	attack->run(argv + 2);
	return write(STDOUT_FILENO, "END\n", 4) == 4 ? 0 : 70;
}

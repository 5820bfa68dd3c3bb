/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces Darwin under src/macos/launch. A process is "in a sandbox" if its environment names
 * a profile, which the stub of sandbox-exec sets; a path is denied to it if the profile denies
 * exactly that path. What Seatbelt itself does is the model's part, not this file's. */
#include "darwin.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "libproc.h"
#include "sys/event.h"

enum { SOURCES = 32 };

/* One queue: the launcher has no other. */
static struct {
	bool is_open;
	int pipe[2]; /* handlers write, kevent() reads */
	struct kevent sources[SOURCES];
	int64_t due[SOURCES]; /* of timers */
	size_t count;
} queue;
static volatile sig_atomic_t arrived[65];

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void note(int number)
{
	int saved = errno;
	ssize_t ignored;
	arrived[number] = 1;
	ignored = write(queue.pipe[1], "", 1);
	(void)ignored;
	errno = saved;
}

/* On Darwin a queue sees ignored signals too; here a handler notes them. */
int darwin_sigaction(int number, const struct sigaction *action, struct sigaction *saved)
{
	struct sigaction noting = { .sa_handler = note };
	bool is_watched = action && queue.is_open &&
			  (action->sa_handler == SIG_IGN || (number == SIGCHLD && action->sa_handler == SIG_DFL));
	return sigaction(number, is_watched && saved ? &noting : action, saved);
}

int kqueue(void)
{
	if (pipe2(queue.pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	queue.is_open = true;
	queue.count = 0;
	for (size_t i = 0; i < sizeof arrived / sizeof arrived[0]; i++)
		arrived[i] = 0;
	return dup(queue.pipe[0]);
}

static void change(const struct kevent *wanted)
{
	size_t i = 0;
	while (i < queue.count && (queue.sources[i].ident != wanted->ident || queue.sources[i].filter != wanted->filter))
		i++;
	if (wanted->flags & EV_DELETE) {
		if (i < queue.count) {
			queue.sources[i] = queue.sources[queue.count - 1];
			queue.due[i] = queue.due[--queue.count];
		}
		return;
	}
	if (i == SOURCES)
		abort();
	queue.sources[i] = *wanted;
	queue.due[i] = now_ms() + wanted->data;
	if (i == queue.count)
		queue.count++;
}

static bool is_ready(size_t i, const struct pollfd *fds)
{
	struct kevent *source = &queue.sources[i];
	if (source->filter == EVFILT_SIGNAL && arrived[source->ident]) {
		arrived[source->ident] = 0;
		return true;
	}
	if (source->filter == EVFILT_TIMER && queue.due[i] <= now_ms()) {
		queue.due[i] = now_ms() + source->data;
		return true;
	}
	return source->filter == EVFILT_READ && fds[i].revents;
}

static int wait_once(struct kevent *events, int event_count)
{
	struct pollfd fds[SOURCES + 1];
	int64_t timeout = -1;
	char drained[64];
	int found = 0;
	for (size_t i = 0; i < queue.count; i++) {
		int64_t left = queue.due[i] - now_ms();
		fds[i] = (struct pollfd){ .fd = queue.sources[i].filter == EVFILT_READ ? (int)queue.sources[i].ident : -1,
					  .events = POLLIN };
		if (queue.sources[i].filter == EVFILT_TIMER && (timeout < 0 || left < timeout))
			timeout = left < 0 ? 0 : left;
	}
	fds[queue.count] = (struct pollfd){ .fd = queue.pipe[0], .events = POLLIN };
	(void)poll(fds, queue.count + 1, (int)timeout);
	while (read(queue.pipe[0], drained, sizeof drained) > 0)
		;
	for (size_t i = 0; i < queue.count && found < event_count; i++)
		if (is_ready(i, fds))
			events[found++] = queue.sources[i];
	return found;
}

int kevent(int number, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
	   const struct timespec *timeout)
{
	int found = 0;
	(void)number;
	(void)timeout;
	for (int i = 0; i < change_count; i++)
		change(&changes[i]);
	while (event_count > 0 && found == 0)
		found = wait_once(events, event_count);
	return found;
}

/* Reads a file of /proc or a profile; the caller frees it. */
static char *read_whole(const char *path, size_t *length)
{
	static const size_t most = 1 << 21;
	char *text = calloc(1, most + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	*length = 0;
	while (text && fd >= 0 && *length < most && (got = read(fd, text + *length, most - *length)) > 0)
		*length += (size_t)got;
	if (fd >= 0)
		close(fd);
	return text;
}

static char *profile_of(pid_t pid)
{
	static const char name[] = "BERM_STUB_PROFILE=";
	char path[64], *environment, *profile = NULL;
	size_t length, ignored;
	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	environment = read_whole(path, &length);
	for (char *at = environment; at < environment + length && !profile; at += strlen(at) + 1)
		if (strncmp(at, name, sizeof name - 1) == 0)
			profile = read_whole(at + sizeof name - 1, &ignored);
	free(environment);
	return profile;
}

int sandbox_check(pid_t pid, const char *operation, int type, ...);
int sandbox_check(pid_t pid, const char *operation, int type, ...)
{
	char *profile, wanted[1200];
	va_list arguments;
	int result = 0;
	if (!operation)
		return getenv("BERM_STUB_NESTED") ? 1 : 0;
	va_start(arguments, type);
	snprintf(wanted, sizeof wanted, "(deny file-read* (literal \"%s\")", va_arg(arguments, const char *));
	va_end(arguments);
	profile = profile_of(pid);
	if (profile && strstr(profile, wanted))
		result = 1;
	free(profile);
	return result;
}

bool darwin_refuses_init;

int sandbox_init_with_parameters(const char *profile, uint64_t flags, const char *const parameters[], char **errors);
int sandbox_init_with_parameters(const char *profile, uint64_t flags, const char *const parameters[], char **errors)
{
	static char refused[] = "refused by the stub";
	(void)flags;
	(void)parameters;
	if (!darwin_refuses_init && strncmp(profile, "(version 1)", 11) == 0)
		return 0;
	*errors = refused;
	return -1;
}

int proc_listpids(uint32_t type, uint32_t info, void *buffer, int size)
{
	DIR *stream = opendir("/proc");
	const struct dirent *entry;
	int count = 0;
	(void)type;
	while (stream && (entry = readdir(stream)) && (count + 1) * (int)sizeof(pid_t) <= size) {
		struct stat owner;
		if (isdigit((unsigned char)entry->d_name[0]) && fstatat(dirfd(stream), entry->d_name, &owner, 0) == 0 &&
		    owner.st_uid == info)
			((pid_t *)buffer)[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	if (stream)
		closedir(stream);
	return count * (int)sizeof(pid_t);
}

/* Programs of the system are scripts in a directory of the test. */
static const char *stub_of(const char *path, char *out, size_t size)
{
	const char *directory = getenv("BERM_STUB_DIR");
	if (!directory || strncmp(path, "/usr/bin/", 9) != 0)
		return path;
	snprintf(out, size, "%s/%s", directory, path + 9);
	return out;
}

int darwin_execve(const char *path, char *const *arguments, char *const *environment)
{
	char stub[1024];
	return execve(stub_of(path, stub, sizeof stub), arguments, environment);
}

int darwin_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
	char stub[1024];
	return posix_spawn(pid, stub_of(path, stub, sizeof stub), actions, attributes, arguments, environment);
}

size_t darwin_confstr(int name, char *out, size_t size)
{
	const char *directory = getenv("BERM_STUB_DIR");
	if (!directory || getenv("BERM_STUB_NO_CONFSTR"))
		return 0;
	return (size_t)snprintf(out, size, "%s/%s/", directory, name == _CS_DARWIN_USER_TEMP_DIR ? "T" : "C") + 1;
}

size_t darwin_strlcpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
	return strlen(from);
}

int darwin_memset_s(void *to, size_t size, int byte, size_t count)
{
	memset(to, byte, count < size ? count : size);
	return 0;
}

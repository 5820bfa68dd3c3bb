/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and removes doctor's private directory: a project with a secret, a repository and a
 * policy, a readable directory, and an invisible one. Holds a lock on it while in use, and removes
 * what a killed doctor left. */
#include "common/doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include "common/base/cleanup.h"
#include "common/fs/path.h"
#include "common/context/inside.h"
#include "common/policy/file.h"
#include "common/state/remove_tree.h"
#include "common/base/text.h"

static const char prefix[] = "berm-doctor.";
static const char mark[] = ".berm-doctor";

enum { RANDOM_LENGTH = 6 /* of mkdtemp */, OLD_S = 600, LOCK_TRIES = 200, LOCK_PAUSE_MS = 10 };

/* Directories in which programs can run. Not TMPDIR: an agent can set it. */
static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm" };

static bool is_usable(const char *place)
{
	struct statvfs info;
	return access(place, W_OK | X_OK) == 0 && statvfs(place, &info) == 0
#ifdef ST_NOEXEC
	       && !(info.f_flag & ST_NOEXEC)
#endif
		;
}

/* True if a doctor created the directory and no process holds its lock. The marker file is created
 * under the lock. Without it the directory may be about to be locked, or belong to something else:
 * it is removed only if empty and old. */
static bool is_left_over(int fd)
{
	struct stat info, marked;
	if (fstat(fd, &info) < 0 || info.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	return fstatat(fd, mark, &marked, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(marked.st_mode) && marked.st_uid == geteuid();
}

static void remove_leftovers(const char *place)
{
	autoclosedir DIR *stream = opendir(place);
	struct error ignored;
	const struct dirent *entry;
	while (stream && (entry = readdir(stream))) {
		struct stat info;
		if (!text_starts_with(entry->d_name, prefix) || strlen(entry->d_name) != sizeof prefix - 1 + RANDOM_LENGTH)
			continue;
		autoclose int fd = openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && is_left_over(fd))
			state_remove(dirfd(stream), entry->d_name, place, &ignored);
		else if (fd >= 0 && fstat(fd, &info) == 0 && info.st_uid == geteuid() && time(NULL) - info.st_mtime > OLD_S)
			unlinkat(dirfd(stream), entry->d_name, AT_REMOVEDIR);
	}
}

static int write_text(const char *file, const char *text, mode_t mode, struct error *err)
{
	autoclose int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	size_t length = strlen(text);
	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		return error_errno(err, errno, "cannot write %s", file);
	return 0;
}

/* Opens the running program, also if its file was replaced. */
static int open_self(void)
{
#ifdef __APPLE__
	char path[4096];
	uint32_t size = sizeof path;
	return _NSGetExecutablePath(path, &size) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
#else
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
#endif
}

static int copy_self(const char *to, struct error *err)
{
	autofree char *buffer = malloc(65536);
	autoclose int from = open_self();
	autoclose int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
	ssize_t count = 1;
	if (!buffer || from < 0 || target < 0)
		return error_errno(err, errno, "cannot copy berm to %s", to);
	while (count > 0) {
		count = read(from, buffer, 65536);
		if (count < 0 || write(target, buffer, (size_t)count) != count)
			return error_errno(err, errno, "cannot copy berm to %s", to);
	}
	return 0;
}

/* The tree. A name with a trailing slash is a directory; %T is the token. */
static const struct item {
	const char *name, *text;
} items[] = {
	{ "outside/", NULL },
	{ "outside/input", "input\n" },
	{ "readable/", NULL },
	{ "readable/file", "file\n" },
	{ "readable/name-bare", "" },
	{ "readable/name-inside", "" },
	{ "state/", NULL },
	{ "state/log/", NULL },
	{ "project/", NULL },
	{ "project/node_modules/", NULL },
	{ "project/" POLICY_FILE_NAME, "version: 1\n" },
	{ "project/.env", "%T" },
	{ "project/.env.link-bare", "%T" },
	{ "project/.env.link-inside", "%T" },
	{ "project/.env.name-bare", "%T" },
	{ "project/.env.name-inside", "%T" },
	{ "project/replaced.pem", "%T" },
	{ "project/.git/", NULL },
	{ "project/.git/HEAD", "ref: refs/heads/main\n" },
	{ "project/.git/config", "[core]\n\trepositoryformatversion = 0\n" },
	{ "project/.git/objects/", NULL },
	{ "project/.git/refs/", NULL },
	{ "project/.git/hooks/", NULL },
	{ "project/.git/hooks/pre-commit", "#!/bin/sh\n" },
	{ "project/.claude/", NULL },
};

static int fill(struct arena *arena, const char *directory, const char *token, struct error *err)
{
	for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
		char *name = path_join(arena, directory, items[i].name);
		if (items[i].text) {
			if (write_text(name, strcmp(items[i].text, "%T") == 0 ? token : items[i].text, 0644, err) < 0)
				return -1;
			continue;
		}
		name[strlen(name) - 1] = '\0';
		if (mkdir(name, 0700) < 0)
			return error_errno(err, errno, "cannot create %s", name);
	}
	return 0;
}

static int refuse_place(const char *place, struct error *err)
{
	error_errno(err, errno, "cannot create a directory in %s", place);
	if (inside_sandbox())
		error_hint(err, "this is a sandbox of berm: run `berm doctor` outside");
	return -1;
}

/* Takes the lock. Another doctor that removes leftovers holds it while it looks for
 * the marker file. */
static int lock(int fd)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		nanosleep(&(struct timespec){ .tv_nsec = LOCK_PAUSE_MS * 1000000L }, NULL);
	}
	return -1;
}

static int make_in(struct arena *arena, const char *place, struct doctor_scratch *scratch, struct error *err)
{
	char *directory = arena_printf(arena, "%s/%sXXXXXX", place, prefix);
	if (!mkdtemp(directory))
		return refuse_place(place, err);
	scratch->directory = directory;
	scratch->lock = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (scratch->lock < 0 || lock(scratch->lock) < 0)
		return error_errno(err, errno, "cannot lock %s", directory);
	/* The pid, for a user that finds the directory. */
	return write_text(path_join(arena, directory, mark), arena_printf(arena, "%ld\n", (long)getpid()), 0600, err);
}

int doctor_scratch_make(struct arena *arena, const char *token, struct doctor_scratch *scratch, struct error *err)
{
	size_t at = 0, count = sizeof places / sizeof places[0];
	*scratch = (struct doctor_scratch){ .lock = -1 };
	while (at < count && !is_usable(places[at]))
		at++;
	if (at == count)
		return error_set(err, "no directory to run programs in: /tmp, /var/tmp and /dev/shm are not usable");
	remove_leftovers(places[at]);
	if (make_in(arena, places[at], scratch, err) < 0)
		return -1;
	scratch->project = path_join(arena, scratch->directory, "project");
	scratch->outside = path_join(arena, scratch->directory, "outside");
	scratch->readable = path_join(arena, scratch->directory, "readable");
	scratch->state = path_join(arena, scratch->directory, "state");
	scratch->program = path_join(arena, scratch->project, "berm");
	if (fill(arena, scratch->directory, token, err) < 0)
		return -1;
	return copy_self(scratch->program, err);
}

int doctor_scratch_remove(const struct doctor_scratch *scratch, struct error *err)
{
	autoclose int place = -1;
	char parent[64];
	int status;
	if (!scratch->directory)
		return 0;
	snprintf(parent, sizeof parent, "%.*s", (int)(path_base_name(scratch->directory) - scratch->directory),
		 scratch->directory);
	place = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	status = place < 0 ? error_errno(err, errno, "cannot open %s", parent)
			   : state_remove(place, path_base_name(scratch->directory), scratch->directory, err);
	if (scratch->lock >= 0)
		close(scratch->lock);
	return status;
}

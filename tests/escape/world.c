/* SPDX-License-Identifier: Apache-2.0 */
/* See world.h. Everything here is set-up: a failure ends the process of the case, which is then
 * reported as failed. */
#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pwd.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

void die(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("escape: ", stderr);
	vfprintf(stderr, format, arguments);
	fprintf(stderr, " (%s)\n", strerror(errno));
	va_end(arguments);
	_exit(99);
}

char *path_of(const char *format, ...)
{
	char *path = NULL;
	va_list arguments;
	va_start(arguments, format);
	if (vasprintf(&path, format, arguments) < 0)
		die("memory");
	va_end(arguments);
	return path;
}

void make_directory(const char *path, mode_t mode)
{
	if (mkdir(path, mode) && errno != EEXIST)
		die("mkdir %s", path);
	if (chmod(path, mode))
		die("chmod %s", path);
}

void make_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode))
		die("write %s", path);
	close(fd);
}

void make_filef(const char *text, mode_t mode, const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(path, sizeof path, format, arguments);
	va_end(arguments);
	make_file(path, text, mode);
}

void make_link(const char *target, const char *path)
{
	if (symlink(target, path))
		die("symlink %s", path);
}

void copy_file(const char *from, const char *to, mode_t mode)
{
	static char block[1 << 17];
	ssize_t length;
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (in < 0 || out < 0)
		die("copy %s to %s", from, to);
	while ((length = read(in, block, sizeof block)) > 0)
		if (write(out, block, (size_t)length) != length)
			die("write %s", to);
	if (fchmod(out, mode))
		die("chmod %s", to);
	close(in);
	close(out);
}

/* Makes the files of a minimal git repository, without running git. */
void make_repository(const char *directory)
{
	static const char *const directories[] = { "", "/hooks", "/info", "/objects", "/refs", "/refs/heads" };
	char path[PATH_MAX];
	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
		snprintf(path, sizeof path, "%s%s", directory, directories[i]);
		make_directory(path, 0755);
	}
	make_filef("ref: refs/heads/main\n", 0644, "%s/HEAD", directory);
	make_filef("[core]\n\trepositoryformatversion = 0\n\tbare = false\n", 0644, "%s/config", directory);
	make_filef("#!/bin/sh\n", 0755, "%s/hooks/pre-commit", directory);
	make_filef("*.o\n", 0644, "%s/info/exclude", directory);
	make_filef("*.bin binary\n", 0644, "%s/info/attributes", directory);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *position)
{
	(void)info;
	(void)position;
	/* Cases seal directories; nftw reports those it could not open. */
	if (type == FTW_DNR) {
		chmod(path, 0700);
		remove_tree(path);
		return 0;
	}
	remove(path);
	return 0;
}

static int open_up(const char *path, const struct stat *info, int type, struct FTW *position)
{
	(void)position;
	if ((type == FTW_D || type == FTW_DNR) && (info->st_mode & 0700) != 0700)
		chmod(path, 0700);
	return 0;
}

/* By fds: nftw() stops where a path is longer than PATH_MAX. */
static void remove_below(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	while (entries && (entry = readdir(entries)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlinkat(fd, entry->d_name, 0) < 0)
			remove_below(fd, entry->d_name);
	if (entries)
		closedir(entries);
	unlinkat(parent, name, AT_REMOVEDIR);
}

void remove_tree(const char *path)
{
	nftw(path, open_up, 16, FTW_PHYS | FTW_MOUNT);
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	if (access(path, F_OK) == 0)
		remove_below(AT_FDCWD, path);
}

void world_renew_project(struct world *world)
{
	remove_tree(world->project);
	make_directory(world->project, 0755);
	copy_file(attack_path, world->attack, 0755);
	make_filef(world->token, 0644, "%s/.env", world->project);
	make_file(path_of("%s/README", world->project), "a scratch project\n", 0644);
	make_directory(path_of("%s/src", world->project), 0755);
	make_filef("int main(void) { return 0; }\n", 0644, "%s/src/main.c", world->project);
	make_repository(path_of("%s/.git", world->project));
}

static void make_token(struct world *world)
{
	uint64_t random[2];
	if (getrandom(random, sizeof random, 0) != sizeof random)
		die("getrandom");
	snprintf(world->token, sizeof world->token, "secret-%016jx%08jx", (uintmax_t)random[0], (uintmax_t)(uint32_t)random[1]);
}

static void remember(struct world_created *created, const char *path)
{
	if (created->count >= WORLD_CREATED_MAX || strlen(path) >= sizeof created->paths[0])
		die("too much elsewhere: %s", path);
	snprintf(created->paths[created->count++], sizeof created->paths[0], "%s", path);
}

void world_make(struct world *world, const char *parent, struct world_created *created)
{
	struct passwd *user = getpwuid(getuid());
	if (!user || !user->pw_dir)
		die("no home for uid %u", getuid());
	world->created = created;
	snprintf(world->home, sizeof world->home, "%s", user->pw_dir);
	snprintf(world->base, sizeof world->base, "%s/berm-escape-XXXXXX", parent ? parent : "/var/tmp");
	if (!mkdtemp(world->base) || chmod(world->base, 0755))
		die("mkdtemp %s", world->base);
	remember(created, world->base);
	make_token(world);
	snprintf(world->project, sizeof world->project, "%s/project", world->base);
	snprintf(world->attack, sizeof world->attack, "%s/attack", world->project);
	snprintf(world->outside, sizeof world->outside, "%s/outside", world->base);
	snprintf(world->secret, sizeof world->secret, "%s/secret", world->outside);
	snprintf(world->readonly, sizeof world->readonly, "%s/readonly", world->base);
	snprintf(world->state, sizeof world->state, "%s/state", world->base);
	snprintf(world->config, sizeof world->config, "%s/config", world->base);
	snprintf(world->runtime, sizeof world->runtime, "%s/run", world->base);
	make_directory(world->outside, 0755);
	make_directory(world->readonly, 0755);
	make_directory(world->state, 0700);
	make_directory(world->config, 0700);
	make_directory(world->runtime, 0700);
	make_file(world->secret, world->token, 0644);
	make_filef("readable\n", 0666, "%s/file", world->readonly);
	world_renew_project(world);
}

bool make_elsewhere(struct world *world, const char *path, bool is_directory, const char *text)
{
	int fd = is_directory ? mkdir(path, 0700) : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return false;
	if (fd < 0)
		die("create %s", path);
	remember(world->created, path);
	if (!is_directory) {
		if (write(fd, text, strlen(text)) < 0)
			die("write %s", path);
		close(fd);
	}
	return true;
}

void forget_later(struct world *world, const char *path)
{
	char prefix[256];
	snprintf(prefix, sizeof prefix, "%s", path);
	for (char *slash = strchr(prefix + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (access(prefix, F_OK))
			remember(world->created, prefix);
		*slash = '/';
	}
	if (access(path, F_OK))
		remember(world->created, path);
}

void world_home_secret(struct world *world)
{
	if (world->home_secret[0])
		return;
	make_elsewhere(world, path_of("%s/.ssh", world->home), true, NULL);
	snprintf(world->home_secret, sizeof world->home_secret, "%s/.ssh/berm-escape-test-%d", world->home, getpid());
	make_elsewhere(world, world->home_secret, false, world->token);
}

/* Names too long for a path are left by nftw; rm walks down step by step. */
static void remove_scratch(const char *path)
{
	remove_tree(path);
	if (access(path, F_OK))
		return;
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/rm", "rm", "-rf", "--", path, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

void world_remove_created(struct world_created *created)
{
	while (created->count > 0) {
		const char *path = created->paths[--created->count];
		const char *name = strrchr(path, '/');
		struct stat info;
		if (lstat(path, &info))
			continue;
		if (!S_ISDIR(info.st_mode))
			unlink(path);
		else if (name && strncmp(name, "/berm-escape-", 13) == 0)
			remove_scratch(path);
		else
			rmdir(path);
	}
}

void world_remove(const struct world *world)
{
	if (world->base[0])
		remove_scratch(world->base);
}

const char *file_text(const char *path)
{
	static char text[1 << 16];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[length < 0 ? 0 : length] = '\0';
	return text;
}

void own_mounts(void)
{
	if (geteuid() == 0 && (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
			       mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL)))
		die("a mount namespace of its own");
}

static void write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s", path);
	close(fd);
}

bool enter_user_namespace(void)
{
	char map[64];
	uid_t uid = getuid();
	gid_t gid = getgid();
	if (unshare(CLONE_NEWUSER))
		return false;
	write_map("/proc/self/setgroups", "deny");
	snprintf(map, sizeof map, "%u %u 1", uid, uid);
	write_map("/proc/self/uid_map", map);
	snprintf(map, sizeof map, "%u %u 1", gid, gid);
	write_map("/proc/self/gid_map", map);
	return true;
}

bool own_home(struct world *world)
{
	char *home = path_of("%s/home", world->base), *users = path_of("%s/passwd", world->base);
	const struct passwd *user = getpwuid(getuid());
	if (!user)
		die("no entry for uid %u", getuid());
	make_directory(home, 0700);
	/* The first entry counts. */
	make_file(users,
		  path_of("%s:x:%u:%u::%s:/bin/sh\n%s", user->pw_name, getuid(), getgid(), home, file_text("/etc/passwd")),
		  0644);
	if (geteuid() != 0 && !enter_user_namespace())
		return false;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(users, "/etc/passwd", NULL, MS_BIND, NULL))
		return false;
	user = getpwuid(getuid());
	if (!user || strcmp(user->pw_dir, home) != 0)
		return false; /* the users are not looked up in /etc/passwd */
	if ((size_t)snprintf(world->home, sizeof world->home, "%s", home) >= sizeof world->home)
		die("%s is too long", home);
	return true;
}

char *mounts_now(const struct world *world)
{
	char *text = NULL, line[8192];
	size_t size;
	FILE *in = fopen("/proc/self/mountinfo", "re"), *out = open_memstream(&text, &size);
	if (!in || !out)
		die("mountinfo");
	while (fgets(line, sizeof line, in))
		if (geteuid() == 0 || strstr(line, world->base))
			fputs(line, out);
	fclose(in);
	fclose(out);
	return text;
}

bool file_contains(const char *path, const char *needle)
{
	return strstr(file_text(path), needle) != NULL;
}

static FILE *listing;

static uint32_t hash_of(const char *path)
{
	uint32_t hash = 2166136261u;
	for (const char *c = file_text(path); *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	return hash;
}

static int list_entry(const char *path, const struct stat *info, int type, struct FTW *position)
{
	(void)position;
	fprintf(listing, "%s %o %u:%u", path, info->st_mode, info->st_uid, info->st_gid);
	if (type == FTW_F && S_ISREG(info->st_mode))
		fprintf(listing, " %jd %08x %jd.%09ld", (intmax_t)info->st_size, hash_of(path), (intmax_t)info->st_mtim.tv_sec,
			info->st_mtim.tv_nsec);
	fputc('\n', listing);
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *tree_listing(const char *path)
{
	char *text = NULL, *lines[4096], *sorted = NULL;
	size_t size, count = 0;
	listing = open_memstream(&text, &size);
	if (!listing || nftw(path, list_entry, 16, FTW_PHYS) < 0)
		die("list %s", path);
	fclose(listing);
	for (char *line = strtok(text, "\n"); line && count < 4096; line = strtok(NULL, "\n"))
		lines[count++] = line;
	qsort(lines, count, sizeof *lines, compare_lines);
	listing = open_memstream(&sorted, &size);
	for (size_t i = 0; i < count; i++)
		fprintf(listing, "%s\n", lines[i]);
	fclose(listing);
	free(text);
	return sorted;
}

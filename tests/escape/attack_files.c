/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on files by name: read, write, rename, link, change metadata. Each takes the paths it is
 * to try. */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Reached only if bytes come out: an open that succeeds on an empty stand-in is no leak. */
static long read_byte(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	struct stat info;
	if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	ssize_t length = read(fd, &byte, 1);
	long result = length > 0 ? 0 : length == 0 ? -ENODATA : -errno;
	close(fd);
	return result;
}

static void run_read(char **paths)
{
	for (; *paths; paths++)
		report(labelled("read", *paths), read_byte(*paths));
}

/* Reads with every call that can, since each is a separate row in a filter. */
static void run_read_ways(char **paths)
{
	for (; *paths; paths++) {
		char byte;
		struct iovec vector = { &byte, 1 };
		int fd = open(*paths, O_RDONLY | O_CLOEXEC);
		report(labelled("pread", *paths), fd < 0 ? -errno : result_of(pread(fd, &byte, 1, 0)));
		report(labelled("preadv", *paths), fd < 0 ? -errno : result_of(preadv(fd, &vector, 1, 0)));
		void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
		report(labelled("mmap", *paths), map == MAP_FAILED ? -errno : 0);
		int path_fd = open(*paths, O_PATH | O_CLOEXEC);
		char again[64];
		snprintf(again, sizeof again, "/proc/self/fd/%d", path_fd);
		report(labelled("reopen", *paths), path_fd < 0 ? -errno : read_byte(again));
		struct {
			uint64_t flags, mode, resolve;
		} how = { 0, 0, 0 };
		long fd2 = syscall(SYS_openat2, AT_FDCWD, *paths, &how, sizeof how);
		report(labelled("openat2", *paths), fd2 < 0 ? -errno : result_of(pread((int)fd2, &byte, 1, 0)));
	}
}

static long list_directory(const char *path)
{
	DIR *directory = opendir(path);
	if (!directory)
		return -errno;
	int count = 0;
	for (struct dirent *entry; (entry = readdir(directory));)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(directory);
	return count > 0 ? 0 : -ENODATA;
}

static void run_list(char **paths)
{
	for (; *paths; paths++)
		report(labelled("list", *paths), list_directory(*paths));
}

static long append_text(const char *path, int flags)
{
	static const char text[] = "PLANTED\n";
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0644);
	if (fd < 0)
		return -errno;
	long result = result_of(write(fd, text, sizeof text - 1));
	close(fd);
	return result;
}

static void run_write(char **paths)
{
	for (; *paths; paths++)
		report(labelled("write", *paths), append_text(*paths, 0));
}

static void run_create(char **paths)
{
	for (; *paths; paths++)
		report(labelled("create", *paths), append_text(*paths, O_CREAT | O_EXCL));
}

static void run_open_write(char **paths)
{
	for (; *paths; paths++) {
		int fd = open(*paths, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		report(labelled("open-write", *paths), fd < 0 ? -errno : 0);
		if (fd >= 0)
			close(fd);
	}
}

/* Opens without reading or writing: for devices, where a read could take something away from its
 * owner. */
static void run_open(char **paths)
{
	for (; *paths; paths++) {
		int fd = open(*paths, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		report(labelled("open", *paths), fd < 0 ? -errno : 0);
		if (fd >= 0)
			close(fd);
	}
}

/* The ways a file that must not change is changed. Each is tried on its own; the file may be gone
 * afterwards. */
static void run_alter(char **paths)
{
	for (; *paths; paths++) {
		const char *path = *paths;
		char aside[4096];
		snprintf(aside, sizeof aside, "%s.aside", path);
		report(labelled("append", path), append_text(path, 0));
		report(labelled("truncate", path), result_of(truncate(path, 1)));
		int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		report(labelled("o_trunc", path), fd < 0 ? -errno : 0);
		fd = open(path, O_RDWR | O_CLOEXEC);
		report(labelled("fallocate", path), fd < 0 ? -errno : result_of(fallocate(fd, 0, 0, 64)));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		char again[64];
		snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
		report(labelled("reopen", path), append_text(again, 0));
		report(labelled("replace", path),
		       append_text(aside, O_CREAT | O_TRUNC) < 0 ? -errno : result_of(rename(aside, path)));
		unlink(aside);
		report(labelled("move", path), result_of(rename(path, aside)));
		report(labelled("recreate", path), append_text(path, O_CREAT | O_EXCL));
		report(labelled("unlink", path), result_of(unlink(path)));
	}
}

static long set_times(const char *path)
{
	struct timeval times[2] = { { 1, 0 }, { 1, 0 } };
	return result_of(utimes(path, times));
}

static long set_flags(const char *path)
{
	int flags = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags))
		return -errno;
	flags ^= FS_NOATIME_FL;
	return result_of(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static void run_metadata(char **paths)
{
	for (; *paths; paths++) {
		const char *path = *paths;
		report(labelled("chmod", path), result_of(chmod(path, 0777)));
		report(labelled("fchmodat2", path), result_of(syscall(452, AT_FDCWD, path, 0777, 0)));
		report(labelled("chown", path), result_of(chown(path, getuid(), getgid())));
		report(labelled("utimes", path), set_times(path));
		report(labelled("setxattr", path), result_of(setxattr(path, "user.berm", "1", 1, 0)));
		report(labelled("setflags", path), set_flags(path));
	}
}

/* The same without changing anything, for what the machine needs: the right to set is what
 * counts. */
static void run_metadata_same(char **paths)
{
	for (; *paths; paths++) {
		struct stat info;
		if (stat(*paths, &info)) {
			report(labelled("chmod", *paths), -errno);
			continue;
		}
		struct timespec times[2] = { info.st_atim, info.st_mtim };
		report(labelled("chmod", *paths), result_of(chmod(*paths, info.st_mode & 07777)));
		report(labelled("chown", *paths), result_of(chown(*paths, info.st_uid, info.st_gid)));
		report(labelled("utimes", *paths), result_of(utimensat(AT_FDCWD, *paths, times, 0)));
	}
}

static void run_rename(char **pairs)
{
	for (; pairs[0] && pairs[1]; pairs += 2)
		report(labelled("rename", pairs[0]), result_of(rename(pairs[0], pairs[1])));
}

static void run_exchange(char **pairs)
{
	for (; pairs[0] && pairs[1]; pairs += 2)
		report(labelled("exchange", pairs[0]),
		       result_of(syscall(SYS_renameat2, AT_FDCWD, pairs[0], AT_FDCWD, pairs[1], RENAME_EXCHANGE)));
}

/* link(2) in all its spellings. */
static void run_link(char **pairs)
{
	for (; pairs[0] && pairs[1]; pairs += 2) {
		report(labelled("link", pairs[0]), result_of(link(pairs[0], pairs[1])));
		unlink(pairs[1]);
		int fd = open(pairs[0], O_PATH | O_CLOEXEC);
		char name[64];
		snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		report(labelled("linkat-fd", pairs[0]),
		       fd < 0 ? -errno : result_of(linkat(AT_FDCWD, name, AT_FDCWD, pairs[1], AT_SYMLINK_FOLLOW)));
		unlink(pairs[1]);
	}
}

static void run_remove(char **paths)
{
	for (; *paths; paths++) {
		report(labelled("unlink", *paths), result_of(unlink(*paths)));
		report(labelled("recreate", *paths), append_text(*paths, O_CREAT | O_EXCL));
	}
}

static void run_mkdir(char **paths)
{
	for (; *paths; paths++)
		report(labelled("mkdir", *paths), result_of(mkdir(*paths, 0755)));
}

static void run_readlink(char **paths)
{
	char target[4096];
	for (; *paths; paths++)
		report(labelled("readlink", *paths), result_of(readlink(*paths, target, sizeof target)));
}

static void run_chdir(char **paths)
{
	for (; *paths; paths++)
		report(labelled("chdir", *paths), result_of(chdir(*paths)));
}

/* The owner of a directory without permissions may give them back to himself. */
static void run_unseal(char **pairs)
{
	for (; pairs[0] && pairs[1]; pairs += 2) {
		if (chmod(pairs[0], 0700))
			report(labelled("unseal", pairs[1]), -errno);
		else
			report(labelled("unseal", pairs[1]), read_byte(pairs[1]));
	}
}

/* A name that only a chain of chdir reaches: DIRECTORY COUNT FILE. */
static void run_read_deep(char **arguments)
{
	int depth = atoi(arguments[1]);
	for (int i = 0; i < depth; i++)
		if (chdir(arguments[0])) {
			report("read-deep", -errno);
			return;
		}
	report("read-deep", read_byte(arguments[2]));
}

/* A chain of directories that is longer than any path: NAME COUNT. */
static void run_dig(char **arguments)
{
	for (int i = 0; i < atoi(arguments[1]); i++)
		if (mkdir(arguments[0], 0755) || chdir(arguments[0])) {
			report("dig", -errno);
			return;
		}
	report_reached("dig");
}

struct handle {
	struct file_handle header;
	unsigned char bytes[MAX_HANDLE_SZ];
};

static long open_handle(const char *path, struct handle *handle)
{
	int mount_id = 0;
	handle->header.handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(AT_FDCWD, path, &handle->header, &mount_id, 0))
		return -errno;
	int mount_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount_fd < 0)
		return -errno;
	return result_of(open_by_handle_at(mount_fd, &handle->header, O_RDONLY | O_CLOEXEC));
}

static void run_handle(char **paths)
{
	for (; *paths; paths++) {
		struct handle handle;
		memset(&handle, 0, sizeof handle);
		report(labelled("handle", *paths), open_handle(*paths, &handle));
	}
}

/* A handle made outside, in hexadecimal: type, then bytes. */
static void run_foreign_handle(char **arguments)
{
	struct handle handle;
	memset(&handle, 0, sizeof handle);
	handle.header.handle_type = (int)strtol(arguments[0], NULL, 10);
	const char *text = arguments[1];
	for (handle.header.handle_bytes = 0; text[0] && text[1] && handle.header.handle_bytes < MAX_HANDLE_SZ; text += 2) {
		char pair[3] = { text[0], text[1], 0 };
		handle.header.f_handle[handle.header.handle_bytes++] = (unsigned char)strtol(pair, NULL, 16);
	}
	int mount_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	report("foreign-handle", result_of(open_by_handle_at(mount_fd, &handle.header, O_RDONLY | O_CLOEXEC)));
}

static void run_mknod(char **paths)
{
	for (; *paths; paths++) {
		report(labelled("mknod-char", *paths), result_of(mknod(*paths, S_IFCHR | 0666, makedev(1, 3))));
		unlink(*paths);
		report(labelled("mknod-block", *paths), result_of(mknod(*paths, S_IFBLK | 0600, makedev(254, 0))));
		unlink(*paths);
	}
}

/* Opens a directory that was passed as standard input, and a file below it. */
static void run_stdin_directory(char **names)
{
	int fd = openat(STDIN_FILENO, names[0], O_RDONLY | O_CLOEXEC);
	report("stdin-directory", fd < 0 ? -errno : 0);
	report("stdin-directory-chdir", fchdir(STDIN_FILENO) ? -errno : read_byte(names[0]));
}

/* stdout may be a host's log file opened for appending only; its magic link must not give more than
 * that. */
static void run_reopen_stdout(char **arguments)
{
	(void)arguments;
	report("reopen-read", read_byte("/proc/self/fd/1"));
	int fd = open("/proc/self/fd/1", O_WRONLY | O_CLOEXEC);
	report("reopen-write", fd < 0 ? -errno : 0);
	report("reopen-truncate", result_of(truncate("/proc/self/fd/1", 4096)));
}

/* Looks for these bytes in the file. PATH NEEDLE. */
static void run_grep(char **arguments)
{
	static char content[1 << 20];
	int fd = open(arguments[0], O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, content, sizeof content);
	if (length < 0)
		report(labelled("grep", arguments[0]), -errno);
	else
		report(labelled("grep", arguments[0]),
		       memmem(content, (size_t)length, arguments[1], strlen(arguments[1])) ? 0 : -ENODATA);
}

/* Files that the host keeps from ordinary users, found by their mode. Opened, not read out. */
static int open_private(const char *path, int depth)
{
	DIR *directory = opendir(path);
	int count = 0;
	if (!directory)
		return 0;
	for (struct dirent *entry; (entry = readdir(directory));) {
		char child[4300];
		struct stat info;
		snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || lstat(child, &info))
			continue;
		if (S_ISDIR(info.st_mode) && depth > 0)
			count += open_private(child, depth - 1);
		if (!S_ISREG(info.st_mode) || (info.st_mode & S_IROTH))
			continue;
		int fd = open(child, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			continue;
		fprintf(stderr, "private: %s\n", child);
		close(fd);
		count++;
	}
	closedir(directory);
	return count;
}

static void run_private(char **paths)
{
	for (; *paths; paths++)
		report(labelled("private-below", *paths), open_private(*paths, 4) > 0 ? 0 : -EACCES);
}

/* Prints what can be seen: `SEE PATH`. Does not go below /proc, /sys, /dev and the directories that
 * are given. */
static void see(const char *path, int depth, char **known)
{
	DIR *directory = opendir(path);
	if (!directory)
		return;
	for (struct dirent *entry; (entry = readdir(directory));) {
		char child[4300];
		bool is_known = false;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(child, sizeof child, "%s/%s", strcmp(path, "/") == 0 ? "" : path, entry->d_name);
		printf("SEE %s\n", child);
		for (char **name = known; *name; name++)
			is_known |= strcmp(*name, child) == 0;
		if (!is_known && entry->d_type == DT_DIR && depth > 1)
			see(child, depth - 1, known);
	}
	closedir(directory);
	fflush(stdout);
}

static void run_walk(char **arguments)
{
	see("/", atoi(arguments[0]), arguments + 1);
}

const struct attack attacks_files[] = {
	{ "private", run_private, "DIRECTORY...: files that others may not read" },
	{ "walk", run_walk, "DEPTH [KNOWN...]: everything that is visible" },
	{ "read", run_read, "PATH..." },
	{ "read-ways", run_read_ways, "PATH...: with every call that can" },
	{ "list", run_list, "DIRECTORY..." },
	{ "write", run_write, "PATH...: appends a line" },
	{ "create", run_create, "PATH...: must not exist" },
	{ "open", run_open, "PATH...: for reading, reads nothing" },
	{ "open-write", run_open_write, "PATH...: opens, writes nothing" },
	{ "alter", run_alter, "PATH...: every way to change or replace a file" },
	{ "metadata", run_metadata, "PATH...: chmod, chown, times, attributes" },
	{ "metadata-same", run_metadata_same, "PATH...: sets what is set already" },
	{ "rename", run_rename, "FROM TO ..." },
	{ "exchange", run_exchange, "A B ...: RENAME_EXCHANGE" },
	{ "link", run_link, "FROM TO ...: hard links" },
	{ "remove", run_remove, "PATH...: unlink and recreate" },
	{ "mkdir", run_mkdir, "PATH..." },
	{ "readlink", run_readlink, "PATH..." },
	{ "chdir", run_chdir, "PATH..." },
	{ "unseal", run_unseal, "DIRECTORY FILE ...: chmod the directory, read the file" },
	{ "dig", run_dig, "NAME COUNT: directories in one another" },
	{ "read-deep", run_read_deep, "NAME COUNT FILE: chdir NAME count times" },
	{ "handle", run_handle, "PATH...: open_by_handle_at" },
	{ "foreign-handle", run_foreign_handle, "TYPE HEX" },
	{ "mknod", run_mknod, "PATH..." },
	{ "stdin-directory", run_stdin_directory, "NAME: below the directory that is stdin" },
	{ "reopen-stdout", run_reopen_stdout, "more rights to stdout's file by its magic link" },
	{ "grep", run_grep, "PATH NEEDLE" },
	{ NULL, NULL, NULL },
};

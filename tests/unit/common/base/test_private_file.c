/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files on a real file system: limits, types of file, privacy, and nothing left behind by a
 * failure or a kill. */
#include <greatest.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/private_file.h"
#include "common/base/text.h"
#include "unit/support/scratch.h"

static struct arena arena;
static struct private_file file;
static int directory;

/* A new empty directory. */
static void renew(const char *name)
{
	const char *path = scratch_path("%s", name);
	if (mkdir(path, 0700) < 0)
		perror(path);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put(const char *name, const char *text, mode_t mode)
{
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || text_write(fd, text, strlen(text)) < 0 || fchmod(fd, mode) < 0)
		perror(name);
	close(fd);
}

/* The number of files in the directory, hidden ones included. */
static int count_files(void)
{
	DIR *stream = fdopendir(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	int count = -2; /* . and .. */
	while (readdir(stream))
		count++;
	closedir(stream);
	return count;
}

static int write_text(const char *name, const char *text)
{
	return private_file_write(directory, name, text, strlen(text), &(struct private_file_options){ .mode = 0600 });
}

static int read_file(const char *name, unsigned flags, size_t maximum)
{
	errno = 0;
	return private_file_read(&arena, directory, name, flags, maximum, &file);
}

#define ASSERT_CONTENT(expected, name)                                                                                         \
	do {                                                                                                                   \
		ASSERT_EQ(0, read_file((name), 0, 4096));                                                                      \
		ASSERT_STR_EQ((expected), file.bytes);                                                                         \
	} while (0)

TEST reads_up_to_the_limit(void)
{
	renew("limit");
	put("a", "12345", 0600);
	ASSERT_EQ(0, read_file("a", 0, 5));
	ASSERT_EQ(5, file.length);
	ASSERT_STR_EQ("12345", file.bytes);
	ASSERT_EQ(5, file.info.st_size);
	ASSERT_EQ(-1, read_file("a", 0, 4));
	ASSERT_EQ(EFBIG, errno);
	ASSERT_EQ(-1, read_file("absent", 0, 4));
	ASSERT_EQ(ENOENT, errno);
	put("empty", "", 0600);
	ASSERT_EQ(0, read_file("empty", 0, 4));
	ASSERT_EQ(0, file.length);
	ASSERT_STR_EQ("", file.bytes);
	PASS();
}

#ifdef __linux__
/* Files of /proc have no size before they are read. */
TEST reads_files_of_unknown_size(void)
{
	ASSERT_EQ(0, private_file_read(&arena, AT_FDCWD, "/proc/self/status", 0, 65536, &file));
	ASSERT_EQ(0, file.info.st_size);
	ASSERT(strstr(file.bytes, "Name:"));
	ASSERT_EQ(-1, private_file_read(&arena, AT_FDCWD, "/proc/self/status", 0, 10, &file));
	ASSERT_EQ(EFBIG, errno);
	PASS();
}
#endif

TEST reads_from_an_open_file_without_an_arena(void)
{
	struct stat info;
	int fd;
	renew("open");
	put("a", "12345", 0600);
	fd = private_file_open(directory, "a", 0, &info);
	ASSERT(fd >= 0);
	ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	ASSERT_EQ(0, private_file_read_fd(NULL, fd, 5, &file));
	ASSERT_STR_EQ("12345", file.bytes);
	free(file.bytes);
	ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
	ASSERT_EQ(-1, private_file_read_fd(NULL, fd, 4, &file));
	ASSERT_EQ(EFBIG, errno);
	close(fd);
	PASS();
}

TEST reads_regular_files_only(void)
{
	renew("types");
	ASSERT_EQ(0, mkfifoat(directory, "pipe", 0600));
	ASSERT_EQ(0, mkdirat(directory, "directory", 0700));
	put("file", "x", 0600);
	ASSERT_EQ(0, symlinkat("file", directory, "link"));
	ASSERT_EQ(-1, read_file("pipe", 0, 100));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, read_file("directory", 0, 100));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, read_file("link", 0, 100));
	ASSERT_EQ(ELOOP, errno);
	ASSERT_EQ(0, read_file("link", PRIVATE_FILE_FOLLOW, 100));
	ASSERT_STR_EQ("x", file.bytes);
	PASS();
}

TEST demands_privacy(void)
{
	static const mode_t open_modes[] = { 0640, 0620, 0604, 0602, 0601 };
	renew("privacy");
	put("file", "x", 0600);
	ASSERT_EQ(0, read_file("file", PRIVATE_FILE_OWN, 100));
	for (size_t i = 0; i < sizeof open_modes / sizeof open_modes[0]; i++) {
		put("file", "x", open_modes[i]);
		ASSERT_EQ(-1, read_file("file", PRIVATE_FILE_OWN, 100));
		ASSERT_EQ(EPERM, errno);
		ASSERT_EQ(0, read_file("file", 0, 100));
	}
	put("file", "x", 0600);
	ASSERT_EQ(0, linkat(directory, "file", directory, "other", 0));
	ASSERT_EQ(-1, read_file("file", PRIVATE_FILE_OWN, 100));
	ASSERT_EQ(EPERM, errno);
	ASSERT_EQ(0, unlinkat(directory, "other", 0));
	ASSERT_EQ(0, read_file("file", PRIVATE_FILE_OWN, 100));
	PASS();
}

TEST refuses_files_of_another_user(void)
{
	if (geteuid() != 0)
		SKIPm("only root can give a file away");
	renew("owner");
	put("file", "x", 0600);
	ASSERT_EQ(0, read_file("file", PRIVATE_FILE_OWN, 100));
	ASSERT_EQ(0, fchownat(directory, "file", 1000, 0, 0));
	ASSERT_EQ(-1, read_file("file", PRIVATE_FILE_OWN, 100));
	ASSERT_EQ(EPERM, errno);
	PASS();
}

TEST replaces_the_file_with_its_mode(void)
{
	struct stat info, named;
	const struct private_file_options options = { .mode = 0644, .is_synced = true, .info = &info };
	mode_t mask;
	int status;
	renew("replace");
	put("file", "old", 0600);
	mask = umask(0777);
	status = private_file_write(directory, "file", "new", 3, &options);
	umask(mask);
	ASSERT_EQ(0, status);
	ASSERT_CONTENT("new", "file");
	ASSERT_EQ(0644, file.info.st_mode & 07777);
	ASSERT_EQ(0, fstatat(directory, "file", &named, AT_SYMLINK_NOFOLLOW));
	ASSERT_EQ(named.st_ino, info.st_ino);
	ASSERT_EQ(1, named.st_nlink);
	ASSERT_EQ(1, count_files());
	PASS();
}

TEST replaces_a_symlink_and_not_its_target(void)
{
	renew("symlink");
	put("target", "old", 0600);
	ASSERT_EQ(0, symlinkat("target", directory, "link"));
	ASSERT_EQ(0, write_text("link", "new"));
	ASSERT_CONTENT("old", "target");
	ASSERT_CONTENT("new", "link");
	PASS();
}

static int exceed_limit(void *data)
{
	static const char large[1 << 16];
	const struct rlimit limit = { 4096, 4096 };
	const struct private_file_options options = { .mode = 0600 };
	if (data)
		signal(SIGXFSZ, SIG_IGN);
	EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	EXPECT(private_file_write(directory, "file", large, sizeof large, &options) < 0 && errno == EFBIG);
	return 0;
}

TEST leaves_nothing_behind_when_a_write_fails(void)
{
	static int is_ignoring;
	renew("failure");
	put("file", "old", 0600);
	ASSERT_EQ(0, scratch_child(exceed_limit, &is_ignoring));
	ASSERT_CONTENT("old", "file");
	ASSERT_EQ(1, count_files());
	ASSERT_EQ(0, mkdirat(directory, "directory", 0700));
	ASSERT_EQ(-1, write_text("directory", "new"));
	ASSERT_EQ(-1, write_text("absent/file", "new"));
	ASSERT_EQ(2, count_files());
	PASS();
}

static int end_between_write_and_rename(void *data)
{
	struct private_file_new new;
	(void)data;
	EXPECT(private_file_begin(&new, directory, NULL, 0600) == 0 && text_write(new.fd, "new", 3) == 0);
	raise(SIGKILL);
	return 0;
}

/* The name keeps its old content. A write in one step leaves no file at all, where files can be
 * without a name. */
TEST survives_a_kill(void)
{
	int unnamed = -1;
	renew("kill");
	put("file", "old", 0600);
#ifdef O_TMPFILE
	unnamed = openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
#endif
	ASSERT_EQ(128 + SIGXFSZ, scratch_child(exceed_limit, NULL));
	ASSERT_CONTENT("old", "file");
	if (unnamed >= 0)
		ASSERT_EQ(1, count_files());
	ASSERT_EQ(128 + SIGKILL, scratch_child(end_between_write_and_rename, NULL));
	ASSERT_CONTENT("old", "file");
	PASS();
}

TEST writes_in_steps(void)
{
	struct private_file_new new;
	renew("steps");
	ASSERT_EQ(0, private_file_begin(&new, directory, NULL, 0600));
	ASSERT_EQ('.', new.name[0]);
	ASSERT_EQ(0, text_write(new.fd, "1", 1));
	ASSERT_EQ(0, private_file_finish(&new, "file", false));
	ASSERT_EQ(-1, new.fd);
	private_file_abandon(&new);
	ASSERT_CONTENT("1", "file");
	ASSERT_EQ(1, count_files());

	ASSERT_EQ(0, private_file_begin(&new, directory, NULL, 0600));
	ASSERT_EQ(-1, private_file_finish(&new, "file", false));
	ASSERT_EQ(EEXIST, errno);
	ASSERT_EQ(1, count_files());

	ASSERT_EQ(0, private_file_begin(&new, directory, "file.lock", 0600));
	ASSERT_EQ(-1, private_file_begin(&(struct private_file_new){ 0 }, directory, "file.lock", 0600));
	ASSERT_EQ(EEXIST, errno);
	ASSERT_EQ(0, text_write(new.fd, "2", 1));
	ASSERT_EQ(0, private_file_finish(&new, "file", true));
	ASSERT_CONTENT("2", "file");
	ASSERT_EQ(1, count_files());

	ASSERT_EQ(0, private_file_begin(&new, directory, NULL, 0600));
	private_file_abandon(&new);
	private_file_abandon(&new);
	ASSERT_EQ(1, count_files());
	PASS();
}

TEST follows_no_symlink_as_temporary_file(void)
{
	struct private_file_new new;
	renew("temporary");
	put("target", "old", 0600);
	ASSERT_EQ(0, symlinkat("target", directory, "file.lock"));
	ASSERT_EQ(-1, private_file_begin(&new, directory, "file.lock", 0600));
	ASSERT_EQ(EEXIST, errno);
	ASSERT_CONTENT("old", "target");
	PASS();
}

TEST removes_stale_temporary_files_only(void)
{
	const struct timespec old[] = { { 1000, 0 }, { 1000, 0 } };
	renew("stale");
	put(".new-0123", "old", 0600);
	put(".new-4567", "in use", 0600);
	put("file", "kept", 0600);
	ASSERT_EQ(0, symlinkat("file", directory, ".new-link"));
	ASSERT_EQ(0, utimensat(directory, ".new-0123", old, 0));
	ASSERT_EQ(0, utimensat(directory, "file", old, 0));
	ASSERT_EQ(0, utimensat(directory, ".new-link", old, AT_SYMLINK_NOFOLLOW));
	private_file_remove_stale(directory, 60);
	ASSERT_EQ(-1, faccessat(directory, ".new-0123", F_OK, 0));
	ASSERT_CONTENT("in use", ".new-4567");
	ASSERT_CONTENT("kept", "file");
	ASSERT_EQ(3, count_files());
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(reads_up_to_the_limit);
#ifdef __linux__
	RUN_TEST(reads_files_of_unknown_size);
#endif
	RUN_TEST(reads_from_an_open_file_without_an_arena);
	RUN_TEST(reads_regular_files_only);
	RUN_TEST(demands_privacy);
	RUN_TEST(refuses_files_of_another_user);
	RUN_TEST(replaces_the_file_with_its_mode);
	RUN_TEST(replaces_a_symlink_and_not_its_target);
	RUN_TEST(leaves_nothing_behind_when_a_write_fails);
	RUN_TEST(survives_a_kill);
	RUN_TEST(writes_in_steps);
	RUN_TEST(follows_no_symlink_as_temporary_file);
	RUN_TEST(removes_stale_temporary_files_only);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are read as a policy, and which are refused because another user could have written
 * them. */
#include <greatest.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/policy/file.h"
#include "unit/support/scratch.h"

static struct arena arena;
static struct error err;
static char *text;
static size_t length;

static int read_file(const char *path)
{
	memset(&err, 0, sizeof err);
	text = NULL;
	length = 0;
	return policy_file_read(NULL, &arena, path, &text, &length, &err);
}

TEST reads_the_whole_file(void)
{
	const char *path = scratch_path("plain.yml");
	scratch_write(path, "a\0b\n", 4, 0600);
	ASSERT_EQ(0, read_file(path));
	ASSERT_EQ(4, length);
	ASSERT_MEM_EQ("a\0b\n\0", text, 5); /* and a NUL behind it */
	scratch_write(path, "", 0, 0644);
	ASSERT_EQ(0, read_file(path));
	ASSERT_EQ(0, length);
	ASSERT_STR_EQ("", text);
	PASS();
}

TEST reads_up_to_one_mebibyte(void)
{
	const char *path = scratch_path("large.yml");
	char *large = malloc(POLICY_FILE_MAX + 1);
	memset(large, '#', POLICY_FILE_MAX + 1);
	scratch_write(path, large, POLICY_FILE_MAX, 0600);
	ASSERT_EQ(0, read_file(path));
	ASSERT_EQ(POLICY_FILE_MAX, length);
	scratch_write(path, large, POLICY_FILE_MAX + 1, 0600);
	ASSERT_EQ(-1, read_file(path));
	ASSERT(strstr(err.message, "1 MiB"));
	free(large);
	PASS();
}

TEST says_that_a_file_is_absent(void)
{
	ASSERT_EQ(-1, read_file(scratch_path("absent.yml")));
	ASSERT_EQ(ENOENT, err.number);
	PASS();
}

TEST refuses_what_is_no_regular_file(void)
{
	const char *link = scratch_path("link.yml"), *fifo = scratch_path("fifo.yml"), *file = scratch_path("file.yml");
	scratch_write(file, "x", 1, 0600);
	ASSERT_EQ(0, symlink(file, link));
	ASSERT_EQ(-1, read_file(link));
	ASSERT(strstr(err.message, "symbolic link"));
	ASSERT(err.number != ENOENT);
	ASSERT_EQ(0, unlink(link));
	ASSERT_EQ(0, symlink("nowhere", link)); /* a dangling one is not the absence of a policy */
	ASSERT_EQ(-1, read_file(link));
	ASSERT(err.number != ENOENT);
	ASSERT_EQ(0, mkfifo(fifo, 0600));
	ASSERT_EQ(-1, read_file(fifo)); /* and does not wait for a writer */
	ASSERT(strstr(err.message, "not a regular file"));
	ASSERT_EQ(-1, read_file(scratch_directory()));
	ASSERT_EQ(-1, read_file("/dev/zero"));
	PASS();
}

TEST refuses_what_others_could_have_written(void)
{
	static const struct {
		mode_t mode;
		int status;
	} rows[] = { { 0600, 0 }, { 0644, 0 }, { 0444, 0 }, { 0602, -1 }, { 0606, -1 }, { 0666, -1 }, { 0777, -1 } };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *path = scratch_path("mode%zu.yml", i);
		scratch_write(path, "x", 1, rows[i].mode);
		ASSERT_EQ(rows[i].status, read_file(path));
		if (rows[i].status < 0)
			ASSERT(strstr(err.hint, "chmod go-w"));
	}
	PASS();
}

/* Many distributions use umask 002 and a private group per user. */
TEST accepts_the_group_only_if_it_is_ones_own(void)
{
	const char *path = scratch_path("group.yml");
	scratch_write(path, "x", 1, 0664);
	ASSERT_EQ((unsigned)getuid() == (unsigned)getgid() ? 0 : -1, read_file(path));
	if (geteuid() != 0)
		PASS();
	ASSERT_EQ(0, chown(path, (uid_t)-1, 65533));
	ASSERT_EQ(-1, read_file(path));
	ASSERT(strstr(err.message, "other users can write"));
	ASSERT_EQ(0, chmod(path, 0644));
	ASSERT_EQ(0, read_file(path));
	PASS();
}

TEST refuses_files_of_other_users(void)
{
	const char *path = scratch_path("foreign.yml");
	if (geteuid() != 0)
		SKIPm("only root can give a file away");
	scratch_write(path, "x", 1, 0644);
	ASSERT_EQ(0, chown(path, 65533, (gid_t)-1));
	ASSERT_EQ(-1, read_file(path));
	ASSERT(strstr(err.message, "another user"));
	PASS();
}

TEST accepts_what_root_wrote(void)
{
	if (access("/etc/passwd", W_OK) == 0 && geteuid() != 0)
		SKIPm("/etc/passwd is not only root's here");
	ASSERT_EQ(0, read_file("/etc/passwd"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(reads_the_whole_file);
	RUN_TEST(reads_up_to_one_mebibyte);
	RUN_TEST(says_that_a_file_is_absent);
	RUN_TEST(refuses_what_is_no_regular_file);
	RUN_TEST(refuses_what_others_could_have_written);
	RUN_TEST(accepts_the_group_only_if_it_is_ones_own);
	RUN_TEST(refuses_files_of_other_users);
	RUN_TEST(accepts_what_root_wrote);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

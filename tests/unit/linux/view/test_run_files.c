/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's files of a run: unchanged documents, and masks that have the size and times of the
 * hidden file, cannot be opened, and are found only for that file. */
#define _GNU_SOURCE
#include <greatest.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux/channel.h"
#include "linux/view/run_files.h"
#include "unit/support/scratch.h"

enum { SECRET = 0, DIRECTORY, GONE, LARGE, MASKED };

static struct plan_match masked[MASKED];
static struct plan_document items[] = { { "/run/berm/summary", "words\n" }, { "/run/berm/gitconfig", "" } };
static const struct plan_documents documents = { items, 2 };
static const struct scan_results results = { .masked = { masked, MASKED } };
static const struct plan plan = { .scan = &results };
static char paths[MASKED][128];

static void make_project(void)
{
	static const char *const names[] = { "secret", "directory", "gone", "large" };
	const struct timespec times[] = { { 1000, 1 }, { 2000, 2 } };
	for (int i = 0; i < MASKED; i++) {
		strcpy(paths[i], scratch_path("%s", names[i]));
		masked[i].path = paths[i];
	}
	scratch_write(paths[SECRET], "hidden", 6, 0644);
	scratch_write(paths[LARGE], "", 0, 0600);
	utimensat(AT_FDCWD, paths[SECRET], times, 0);
	mkdir(paths[DIRECTORY], 0755);
}

/* Opens both ends of a channel, and an empty directory for this case. */
static void make_case(const char *name, int ends[2], int *own)
{
	struct error err;
	const char *directory = scratch_path("%s", name);
	mkdir(directory, 0755);
	*own = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	channel_open(ends, &err);
}

static void end_case(const int ends[2], int own)
{
	close(ends[0]);
	close(ends[1]);
	close(own);
}

/* Finds the mask of the file at this path as init does. Makes the masks accessible for that: only
 * root can enter a directory of mode 000. */
static int look(int own, const char *path, struct stat *info)
{
	char name[RUN_FILES_NAME_MAX];
	struct stat hidden;
	int result;
	if (lstat(path, &hidden) < 0 || fchmodat(own, RUN_FILES_MASKS, 0700, 0) < 0)
		return -2;
	run_files_mask_name(&hidden, name);
	result = fstatat(own, name, info, AT_SYMLINK_NOFOLLOW);
	return fchmodat(own, RUN_FILES_MASKS, 0, 0) < 0 ? -2 : result;
}

/* Passes a copy, because run_files_fill closes it. */
static int fill(int channel, int own, struct error *err)
{
	int came = dup(own);
	int status = run_files_fill(channel, &came, 1, &plan, &documents, err);
	return fcntl(came, F_GETFD) >= 0 ? -2 : status;
}

TEST makes_what_a_run_has(void)
{
	int ends[2], own;
	size_t made;
	struct stat info, directory;
	struct error err = { 0 };
	mode_t mask;

	make_project();
	make_case("whole", ends, &own);
	mask = umask(0777); /* the caller's umask must not matter */
	ASSERT_EQm(err.message, 0, fill(ends[0], own, &err));
	ASSERT_EQ(0777, umask(mask));
	ASSERT_EQ(0, run_files_await(ends[1], &made, &err));
	ASSERT_EQ(plan.scan->masked.count, made);
	ASSERT_EQ(0, fstatat(own, RUN_FILES_MASKS, &directory, 0));
	ASSERT_EQ(S_IFDIR, directory.st_mode); /* mode 000 */
	ASSERT_EQ(0, look(own, paths[SECRET], &info));
	ASSERT_EQ(S_IFREG, info.st_mode);
	ASSERT_EQ(6, info.st_size);
	ASSERT_EQ(2000, info.st_mtim.tv_sec);
	ASSERT_EQ(2, info.st_mtim.tv_nsec);
	ASSERT_EQ(0, info.st_blocks);
	ASSERT_EQ(-1, look(own, paths[DIRECTORY], &info));
	ASSERT_EQ(0, fstatat(own, "summary", &info, 0));
	ASSERT_EQ(S_IFREG | 0444, info.st_mode);
	ASSERT_EQ(6, info.st_size);
	ASSERT_EQ(0, fstatat(own, "gitconfig", &info, 0));
	end_case(ends, own);
	PASS();
}

/* The file has been replaced by another one, whose size must not be visible inside. */
TEST masks_are_found_for_what_they_hide_only(void)
{
	int ends[2], own;
	struct stat info;
	struct error err = { 0 };
	const char *elsewhere = scratch_path("elsewhere");

	make_project();
	scratch_write(elsewhere, "somebody else's", 15, 0600);
	make_case("swapped", ends, &own);
	ASSERT_EQ(0, renameat2(AT_FDCWD, elsewhere, AT_FDCWD, paths[SECRET], RENAME_EXCHANGE));
	ASSERT_EQ(0, fill(ends[0], own, &err));
	ASSERT_EQ(0, look(own, paths[SECRET], &info)); /* control: before the replacement */
	ASSERT_EQ(15, info.st_size);
	ASSERT_EQ(0, renameat2(AT_FDCWD, elsewhere, AT_FDCWD, paths[SECRET], RENAME_EXCHANGE));
	ASSERT_EQ(-1, look(own, paths[SECRET], &info));
	end_case(ends, own);
	PASS();
}

/* Another sandbox of the project may have replaced a directory by a link since the scan: its target
 * must not be visible inside. */
TEST looks_at_nothing_behind_a_link(void)
{
	int ends[2], own;
	struct stat info;
	struct error err = { 0 };
	char real[128], link[128];

	make_project();
	strcpy(real, scratch_path("real"));
	strcpy(link, scratch_path("link"));
	ASSERT_EQ(0, mkdir(real, 0755));
	ASSERT_EQ(0, symlink(real, link));
	scratch_write(scratch_path("real/.env"), "elsewhere", 9, 0600);
	strcpy(paths[SECRET], scratch_path("link/.env"));
	make_case("led", ends, &own);
	ASSERT_EQ(0, fill(ends[0], own, &err));
	ASSERT_EQ(-1, look(own, paths[SECRET], &info));
	end_case(ends, own);
	strcpy(paths[SECRET], scratch_path("real/.env")); /* control */
	make_case("straight", ends, &own);
	ASSERT_EQ(0, fill(ends[0], own, &err));
	ASSERT_EQ(0, look(own, paths[SECRET], &info));
	end_case(ends, own);
	PASS();
}

/* One file with two names has one mask. */
TEST hard_links_have_one_mask(void)
{
	int ends[2], own;
	struct stat info;
	struct error err = { 0 };

	make_project();
	make_case("linked", ends, &own);
	ASSERT_EQ(0, link(paths[SECRET], paths[GONE]));
	ASSERT_EQm(err.message, 0, fill(ends[0], own, &err));
	ASSERT_EQ(0, look(own, paths[GONE], &info));
	ASSERT_EQ(0, unlink(paths[GONE]));
	end_case(ends, own);
	PASS();
}

TEST writes_over_nothing(void)
{
	int ends[2], own;
	struct error err = { 0 };

	make_project();
	make_case("taken", ends, &own);
	ASSERT_EQ(0, symlinkat("/etc/passwd", own, "summary"));
	ASSERT_EQ(-1, fill(ends[0], own, &err));
	ASSERT(strstr(err.message, "/run/berm/summary"));
	end_case(ends, own);
	PASS();
}

/* SIGXFSZ would be blocked and later forwarded to the command. */
static int obey_limit(void *data)
{
	int ends[2], own;
	struct error err = { 0 };
	struct rlimit limit = { 65536, RLIM_INFINITY };
	struct stat info;
	sigset_t pending;
	(void)data;

	make_project();
	make_case("limit", ends, &own);
	EXPECT(truncate(paths[LARGE], 1 << 20) == 0);
	EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	sigemptyset(&pending);
	sigaddset(&pending, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &pending, NULL);
	EXPECT(fill(ends[0], own, &err) == 0);
	EXPECT(look(own, paths[LARGE], &info) == 0 && info.st_size == 0);
	EXPECT(look(own, paths[SECRET], &info) == 0 && info.st_size == 6);
	limit.rlim_cur = 5; /* less than a document's size */
	make_case("less", ends, &own);
	EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	EXPECT(fill(ends[0], own, &err) < 0 && strstr(err.message, "summary"));
	EXPECT(sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ));
	return 0;
}

TEST obeys_a_limit_on_file_sizes(void)
{
	int status = scratch_child(obey_limit, NULL);
	ASSERT_EQm(scratch_errors(), 0, status);
	PASS();
}

TEST init_hears_nothing_else(void)
{
	int ends[2], own;
	size_t made;
	struct error err = { 0 };
	struct message go = { .type = MESSAGE_GO };

	make_case("other", ends, &own);
	ASSERT_EQ(0, channel_send(ends[0], &go));
	ASSERT_EQ(-1, run_files_await(ends[1], &made, &err));
	close(ends[0]);
	ends[0] = -1;
	ASSERT_EQ(-1, run_files_await(ends[1], &made, &err));
	end_case(ends, own);
	PASS();
}

TEST is_an_error_without_a_directory(void)
{
	int ends[2], own;
	struct error err = { 0 };

	make_case("lost", ends, &own);
	ASSERT_EQ(-1, run_files_fill(ends[0], NULL, 0, &plan, &documents, &err));
	ASSERT(strstr(err.message, "did not arrive"));
	end_case(ends, own);
	PASS();
}

TEST is_no_error_for_an_init_that_is_gone(void)
{
	int ends[2], own;
	struct error err = { 0 };

	make_project();
	make_case("gone", ends, &own);
	close(ends[1]);
	ends[1] = -1;
	ASSERT_EQ(0, fill(ends[0], own, &err));
	ASSERT(!error_is_set(&err));
	end_case(ends, own);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(makes_what_a_run_has);
	RUN_TEST(masks_are_found_for_what_they_hide_only);
	RUN_TEST(looks_at_nothing_behind_a_link);
	RUN_TEST(hard_links_have_one_mask);
	RUN_TEST(writes_over_nothing);
	RUN_TEST(obeys_a_limit_on_file_sizes);
	RUN_TEST(init_hears_nothing_else);
	RUN_TEST(is_an_error_without_a_directory);
	RUN_TEST(is_no_error_for_an_init_that_is_gone);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Inherited fds. Each case runs in a child, so that it can close any fd. */
#include <greatest.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/descriptors.h"
#include "unit/support/scratch.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Exits with 1 + number of the failing check: there may be no stderr. */
static int fill_closed(void *data)
{
	unsigned closed = *(unsigned *)data;
	struct error err;
	for (int fd = 0; fd <= 2; fd++)
		if (closed & (1u << fd))
			close(fd);
	if (descriptors_secure_stdio(&err) < 0)
		return 2;
	for (int fd = 0; fd <= 2; fd++) {
		struct stat info;
		int flags = fcntl(fd, F_GETFD);
		bool was_closed = closed & (1u << fd);
		if (flags < 0)
			return 3;
		/* The caller's fds stay as they are; those of berm are close-on-exec. */
		if (was_closed != ((flags & FD_CLOEXEC) != 0))
			return 4;
		if (was_closed && (fstat(fd, &info) < 0 || !S_ISCHR(info.st_mode) || info.st_rdev != makedev(1, 3)))
			return 5;
	}
	/* The next file gets a higher fd. */
	return open("/dev/null", O_RDONLY | O_CLOEXEC) > 2 ? 0 : 6;
}

TEST fills_what_was_closed_in_every_combination(void)
{
	for (unsigned closed = 0; closed < 8; closed++)
		ASSERT_EQ_FMT(0, scratch_child(fill_closed, &closed), "%d");
	PASS();
}

static int close_but_kept(void *data)
{
	static const int kept[] = { 3, 7, 8, 300 };
	struct error err;
	(void)data;
	for (int fd = 3; fd < 320; fd++)
		dup2(0, fd);
	EXPECT(descriptors_close_others(kept, 4, &err) == 0);
	for (int fd = 0; fd < 320; fd++)
		EXPECT(is_open(fd) == (fd <= 2 || fd == 3 || fd == 7 || fd == 8 || fd == 300));
	return 0;
}

static int close_all(void *data)
{
	struct error err;
	(void)data;
	for (int fd = 3; fd < 320; fd++)
		dup2(0, fd);
	EXPECT(descriptors_close_others(NULL, 0, &err) == 0);
	for (int fd = 0; fd < 320; fd++)
		EXPECT(is_open(fd) == (fd <= 2));
	return 0;
}

TEST closes_everything_but_what_is_kept(void)
{
	ASSERT_EQ(0, scratch_child(close_but_kept, NULL));
	ASSERT_EQ(0, scratch_child(close_all, NULL));
	PASS();
}

/* The limit does not apply to fds that are already open. */
static int close_above_the_limit(void *data)
{
	struct rlimit limit = { 16, 16 };
	struct error err;
	(void)data;
	EXPECT(dup2(0, 900) == 900);
	EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	EXPECT(is_open(900));
	EXPECT(descriptors_close_others(NULL, 0, &err) == 0);
	EXPECT(!is_open(900));
	return 0;
}

TEST closes_above_a_lowered_limit(void)
{
	ASSERT_EQ(0, scratch_child(close_above_the_limit, NULL));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(fills_what_was_closed_in_every_combination);
	RUN_TEST(closes_everything_but_what_is_kept);
	RUN_TEST(closes_above_a_lowered_limit);
	GREATEST_MAIN_END();
}

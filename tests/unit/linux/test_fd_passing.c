/* SPDX-License-Identifier: Apache-2.0 */
/* Passed fds arrive as the same open files, close-on-exec, and never more than there is room for;
 * lost ones are reported. */
#include <greatest.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux/fd_passing.h"

enum { GUARD = -77 };

static int ends[2];

static void open_ends(void)
{
	socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static void close_ends(void)
{
	close(ends[0]);
	close(ends[1]);
}

static int count_open(void)
{
	int count = 0;
	DIR *directory = opendir("/proc/self/fd");
	while (directory && readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* Opens `count` fds that are not close-on-exec. */
static void open_many(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fds[i] = open("/dev/null", O_RDONLY);
}

static void close_many(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

static bool is_same(int left, int right)
{
	struct stat a, b;
	return fstat(left, &a) == 0 && fstat(right, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static enum greatest_test_res travels(size_t number)
{
	int sent[FD_PASSING_MAX], got[FD_PASSING_MAX + 1];
	struct passed_fds passed = { .descriptors = got, .room = number };
	char bytes[8] = "";
	open_ends();
	open_many(sent, number);
	got[number] = GUARD;
	ASSERT_EQ(0, fd_passing_send(ends[0], (char[]){ "packet" }, 7, sent, number));
	ASSERT_EQ(7, fd_passing_receive(ends[1], 0, bytes, sizeof bytes, &passed));
	ASSERT_STR_EQ("packet", bytes);
	ASSERT_EQ(number, passed.count);
	ASSERT_FALSE(passed.is_cut);
	ASSERT_EQ(GUARD, got[number]);
	for (size_t i = 0; i < number; i++) {
		ASSERT(is_same(sent[i], got[i]));
		/* Control: the fd that was sent is not close-on-exec. */
		ASSERT_EQ(0, fcntl(sent[i], F_GETFD));
		ASSERT_EQ(FD_CLOEXEC, fcntl(got[i], F_GETFD));
	}
	close_many(sent, number);
	close_many(got, number);
	close_ends();
	PASS();
}

TEST passes_any_number(void)
{
	static const size_t numbers[] = { 0, 1, 2, 3, 4, FD_PASSING_MAX - 1, FD_PASSING_MAX };
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		CHECK_CALL(travels(numbers[i]));
	PASS();
}

/* An odd number leaves four bytes of padding, which the kernel would use for one more fd with
 * CMSG_SPACE. */
TEST receives_no_more_than_there_is_room_for(void)
{
	for (size_t room = 0; room < 6; room++) {
		int sent[8], got[9], before;
		struct passed_fds passed = { .descriptors = got, .room = room };
		char byte = 'x';
		open_ends();
		open_many(sent, 8);
		for (size_t i = 0; i < 9; i++)
			got[i] = GUARD;
		before = count_open();
		ASSERT_EQ(0, fd_passing_send(ends[0], &byte, 1, sent, 8));
		ASSERT_EQ(1, fd_passing_receive(ends[1], 0, &byte, 1, &passed));
		ASSERT_EQ(room, passed.count);
		ASSERT(passed.is_cut);
		for (size_t i = room; i < 9; i++)
			ASSERT_EQ(GUARD, got[i]);
		/* No unreported fd is open. */
		ASSERT_EQ(before + (int)room, count_open());
		close_many(got, room);
		close_many(sent, 8);
		close_ends();
	}
	PASS();
}

TEST too_many_are_not_sent(void)
{
	int sent[FD_PASSING_MAX + 1];
	struct passed_fds passed = { .room = 0 };
	char byte = 'x';
	open_ends();
	for (size_t i = 0; i < FD_PASSING_MAX + 1; i++)
		sent[i] = STDIN_FILENO;
	errno = 0;
	ASSERT_EQ(-1, fd_passing_send(ends[0], &byte, 1, sent, FD_PASSING_MAX + 1));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, fd_passing_receive(ends[1], MSG_DONTWAIT, &byte, 1, &passed));
	ASSERT_EQ(EAGAIN, errno);
	close_ends();
	PASS();
}

TEST a_truncated_packet_is_reported(void)
{
	char bytes[4];
	struct passed_fds passed = { .room = 0 };
	open_ends();
	ASSERT_EQ(0, fd_passing_send(ends[0], (char[]){ "12345678" }, 8, NULL, 0));
	ASSERT_EQ(4, fd_passing_receive(ends[1], 0, bytes, sizeof bytes, &passed));
	ASSERT(passed.is_cut);
	/* Control. */
	ASSERT_EQ(0, fd_passing_send(ends[0], (char[]){ "1234" }, 4, NULL, 0));
	ASSERT_EQ(4, fd_passing_receive(ends[1], 0, bytes, sizeof bytes, &passed));
	ASSERT_FALSE(passed.is_cut);
	close_ends();
	PASS();
}

/* A process at its limit of open files receives fewer fds than were sent. */
TEST no_free_fd(void)
{
	int sent[2], got[2];
	struct passed_fds passed = { .descriptors = got, .room = 2 };
	struct rlimit limit, tight;
	char byte = 'x';
	open_ends();
	open_many(sent, 2);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	tight = limit;
	tight.rlim_cur = (rlim_t)sent[1] + 1;
	ASSERT_EQ(0, fd_passing_send(ends[0], &byte, 1, sent, 2));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &tight));
	ASSERT_EQ(1, fd_passing_receive(ends[1], 0, &byte, 1, &passed));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(0, passed.count);
	ASSERT(passed.is_cut);
	close_many(sent, 2);
	close_ends();
	PASS();
}

TEST the_other_end_is_closed(void)
{
	char byte = 'x';
	struct passed_fds passed = { .room = 0 };
	open_ends();
	close(ends[1]);
	errno = 0;
	/* A SIGPIPE would end this test. */
	ASSERT_EQ(-1, fd_passing_send(ends[0], &byte, 1, NULL, 0));
	ASSERT_EQ(EPIPE, errno);
	ASSERT_EQ(0, fd_passing_receive(ends[0], 0, &byte, 1, &passed));
	ASSERT_EQ(0, passed.count);
	close(ends[0]);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(passes_any_number);
	RUN_TEST(receives_no_more_than_there_is_room_for);
	RUN_TEST(too_many_are_not_sent);
	RUN_TEST(a_truncated_packet_is_reported);
	RUN_TEST(no_free_fd);
	RUN_TEST(the_other_end_is_closed);
	GREATEST_MAIN_END();
}

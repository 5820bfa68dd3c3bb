/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that travel: they arrive as what they were, closed by execve, never more than there is room for, and what was left behind
 * is told. */
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

/* So many of them, none of which is close-on-exec here. */
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
	int sent[RIGHTS_MAX], got[RIGHTS_MAX + 1];
	struct rights rights = { .descriptors = got, .room = number };
	char bytes[8] = "";
	open_ends();
	open_many(sent, number);
	got[number] = GUARD;
	ASSERT_EQ(0, rights_send(ends[0], (char[]){ "packet" }, 7, sent, number));
	ASSERT_EQ(7, rights_receive(ends[1], 0, bytes, sizeof bytes, &rights));
	ASSERT_STR_EQ("packet", bytes);
	ASSERT_EQ(number, rights.count);
	ASSERT_FALSE(rights.is_cut);
	ASSERT_EQ(GUARD, got[number]);
	for (size_t i = 0; i < number; i++) {
		ASSERT(is_same(sent[i], got[i]));
		/* Control: the one that was sent is not. */
		ASSERT_EQ(0, fcntl(sent[i], F_GETFD));
		ASSERT_EQ(FD_CLOEXEC, fcntl(got[i], F_GETFD));
	}
	close_many(sent, number);
	close_many(got, number);
	close_ends();
	PASS();
}

TEST any_number_travels(void)
{
	static const size_t numbers[] = { 0, 1, 2, 3, 4, RIGHTS_MAX - 1, RIGHTS_MAX };
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		CHECK_CALL(travels(numbers[i]));
	PASS();
}

/* With an odd number there are four bytes of padding, which the kernel would take for room if it were told of them. */
TEST no_more_than_there_is_room_for(void)
{
	for (size_t room = 0; room < 6; room++) {
		int sent[8], got[9], before;
		struct rights rights = { .descriptors = got, .room = room };
		char byte = 'x';
		open_ends();
		open_many(sent, 8);
		for (size_t i = 0; i < 9; i++)
			got[i] = GUARD;
		before = count_open();
		ASSERT_EQ(0, rights_send(ends[0], &byte, 1, sent, 8));
		ASSERT_EQ(1, rights_receive(ends[1], 0, &byte, 1, &rights));
		ASSERT_EQ(room, rights.count);
		ASSERT(rights.is_cut);
		for (size_t i = room; i < 9; i++)
			ASSERT_EQ(GUARD, got[i]);
		/* None is open that nobody knows of. */
		ASSERT_EQ(before + (int)room, count_open());
		close_many(got, room);
		close_many(sent, 8);
		close_ends();
	}
	PASS();
}

TEST too_many_are_not_sent(void)
{
	int sent[RIGHTS_MAX + 1];
	struct rights rights = { .room = 0 };
	char byte = 'x';
	open_ends();
	for (size_t i = 0; i < RIGHTS_MAX + 1; i++)
		sent[i] = STDIN_FILENO;
	errno = 0;
	ASSERT_EQ(-1, rights_send(ends[0], &byte, 1, sent, RIGHTS_MAX + 1));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, rights_receive(ends[1], MSG_DONTWAIT, &byte, 1, &rights));
	ASSERT_EQ(EAGAIN, errno);
	close_ends();
	PASS();
}

TEST a_packet_that_is_cut_is_told(void)
{
	char bytes[4];
	struct rights rights = { .room = 0 };
	open_ends();
	ASSERT_EQ(0, rights_send(ends[0], (char[]){ "12345678" }, 8, NULL, 0));
	ASSERT_EQ(4, rights_receive(ends[1], 0, bytes, sizeof bytes, &rights));
	ASSERT(rights.is_cut);
	/* Control. */
	ASSERT_EQ(0, rights_send(ends[0], (char[]){ "1234" }, 4, NULL, 0));
	ASSERT_EQ(4, rights_receive(ends[1], 0, bytes, sizeof bytes, &rights));
	ASSERT_FALSE(rights.is_cut);
	close_ends();
	PASS();
}

/* A process that has no number left for a descriptor gets fewer than were sent. */
TEST no_numbers_left(void)
{
	int sent[2], got[2];
	struct rights rights = { .descriptors = got, .room = 2 };
	struct rlimit limit, tight;
	char byte = 'x';
	open_ends();
	open_many(sent, 2);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	tight = limit;
	tight.rlim_cur = (rlim_t)sent[1] + 1;
	ASSERT_EQ(0, rights_send(ends[0], &byte, 1, sent, 2));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &tight));
	ASSERT_EQ(1, rights_receive(ends[1], 0, &byte, 1, &rights));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(0, rights.count);
	ASSERT(rights.is_cut);
	close_many(sent, 2);
	close_ends();
	PASS();
}

TEST the_other_end_is_gone(void)
{
	char byte = 'x';
	struct rights rights = { .room = 0 };
	open_ends();
	close(ends[1]);
	errno = 0;
	ASSERT_EQ(-1, rights_send(ends[0], &byte, 1, NULL, 0)); /* a SIGPIPE would end this test */
	ASSERT_EQ(EPIPE, errno);
	ASSERT_EQ(0, rights_receive(ends[0], 0, &byte, 1, &rights));
	ASSERT_EQ(0, rights.count);
	close(ends[0]);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(any_number_travels);
	RUN_TEST(no_more_than_there_is_room_for);
	RUN_TEST(too_many_are_not_sent);
	RUN_TEST(a_packet_that_is_cut_is_told);
	RUN_TEST(no_numbers_left);
	RUN_TEST(the_other_end_is_gone);
	GREATEST_MAIN_END();
}

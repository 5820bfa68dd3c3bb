/* SPDX-License-Identifier: Apache-2.0 */
/* Messages arrive whole and in order; sending to a closed end raises no signal. */
#include <greatest.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linux/channel.h"

TEST carries_messages_whole_and_in_order(void)
{
	int ends[2];
	struct error err;
	struct message sent = { .type = MESSAGE_FAILED, .value = -5 }, got;
	ASSERT_EQ(0, channel_open(ends, &err));
	error_errno(&sent.error, EPERM, "cannot do %s", "it");
	error_hint(&sent.error, "do something else");
	ASSERT_EQ(0, channel_send(ends[1], &sent));
	for (int i = 0; i < 20; i++) {
		struct message number = { .type = MESSAGE_SIGNAL, .value = i };
		ASSERT_EQ(0, channel_send(ends[1], &number));
	}
	ASSERT_EQ(1, channel_receive(ends[0], &got));
	ASSERT_EQ(MESSAGE_FAILED, got.type);
	ASSERT_EQ(-5, got.value);
	ASSERT_EQ(EPERM, got.error.number);
	ASSERT_STR_EQ("cannot do it: Operation not permitted", got.error.message);
	ASSERT_STR_EQ("do something else", got.error.hint);
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(1, channel_receive(ends[0], &got));
		ASSERT_EQ(i, got.value);
	}
	close(ends[0]);
	close(ends[1]);
	PASS();
}

TEST goes_both_ways(void)
{
	int ends[2];
	struct error err;
	struct message up = { .type = MESSAGE_CONTINUED }, down = { .type = MESSAGE_SIGNAL, .value = 15 }, got;
	ASSERT_EQ(0, channel_open(ends, &err));
	ASSERT_EQ(0, channel_send(ends[1], &up));
	ASSERT_EQ(0, channel_send(ends[0], &down));
	ASSERT_EQ(1, channel_receive(ends[0], &got));
	ASSERT_EQ(MESSAGE_CONTINUED, got.type);
	ASSERT_EQ(1, channel_receive(ends[1], &got));
	ASSERT_EQ(15, got.value);
	close(ends[0]);
	close(ends[1]);
	PASS();
}

TEST is_closed_by_execve(void)
{
	int ends[2];
	struct error err;
	ASSERT_EQ(0, channel_open(ends, &err));
	ASSERT(fcntl(ends[0], F_GETFD) & FD_CLOEXEC);
	ASSERT(fcntl(ends[1], F_GETFD) & FD_CLOEXEC);
	close(ends[0]);
	close(ends[1]);
	PASS();
}

TEST reports_a_closed_end(void)
{
	int ends[2];
	struct error err;
	struct message message = { .type = MESSAGE_CONTINUED }, got;
	ASSERT_EQ(0, channel_open(ends, &err));
	ASSERT_EQ(0, channel_send(ends[1], &message));
	close(ends[1]);
	/* Messages sent before the close are not lost. */
	ASSERT_EQ(1, channel_receive(ends[0], &got));
	ASSERT_EQ(0, channel_receive(ends[0], &got));
	ASSERT_EQ(-1, channel_send(ends[0], &message)); /* a SIGPIPE would end this test */
	ASSERT_EQ(EPIPE, errno);
	ASSERT_FALSE(channel_has_failed(channel_send(ends[0], &message)));
	ASSERT(channel_has_failed(channel_send(-1, &message)));
	close(ends[0]);
	PASS();
}

/* The signal that the launcher forwards has ended the command already: init reports the end and
 * exits before it reads the message. */
TEST delivers_messages_of_an_end_that_closed_with_unread_ones(void)
{
	int ends[2];
	struct error err;
	struct message unread = { .type = MESSAGE_SIGNAL, .value = 2 }, last = { .type = MESSAGE_EXITED, .value = 2 }, got;
	ASSERT_EQ(0, channel_open(ends, &err));
	ASSERT_EQ(0, channel_send(ends[0], &unread));
	ASSERT_EQ(0, channel_send(ends[1], &last));
	close(ends[1]);
	ASSERT_EQ(1, channel_receive(ends[0], &got));
	ASSERT_EQ(MESSAGE_EXITED, got.type);
	ASSERT_EQ(2, got.value);
	ASSERT_EQ(0, channel_receive(ends[0], &got));
	close(ends[0]);
	PASS();
}

TEST refuses_an_incomplete_message(void)
{
	int ends[2];
	struct error err;
	struct message got;
	ASSERT_EQ(0, channel_open(ends, &err));
	ASSERT_EQ(3, send(ends[1], "abc", 3, 0));
	ASSERT_EQ(-1, channel_receive(ends[0], &got));
	ASSERT_EQ(EPROTO, errno);
	close(ends[0]);
	close(ends[1]);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(carries_messages_whole_and_in_order);
	RUN_TEST(goes_both_ways);
	RUN_TEST(is_closed_by_execve);
	RUN_TEST(reports_a_closed_end);
	RUN_TEST(delivers_messages_of_an_end_that_closed_with_unread_ones);
	RUN_TEST(refuses_an_incomplete_message);
	GREATEST_MAIN_END();
}

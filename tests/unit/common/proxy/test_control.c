/* SPDX-License-Identifier: Apache-2.0 */
/* The reports that the launcher receives from its proxy: the complete, validated table, or an empty
 * one and a note. Never waits without a timeout. */
#include <greatest.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/proxy/control.h"

static struct refusals sent, received;
static struct error note;
static int ends[2];

static void open_ends(void)
{
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
	memset(&sent, 0, sizeof sent);
	memset(&received, 0x55, sizeof received);
	note = (struct error){ 0 };
}

static void close_ends(void)
{
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
}

/* Acts as the proxy: waits for the end, then sends the first `size` bytes. */
static pid_t start_proxy(size_t size, bool in_pieces)
{
	pid_t pid = fork();
	char byte;
	if (pid != 0)
		return pid;
	close(ends[0]);
	if (read(ends[1], &byte, 1) != 0)
		_exit(1);
	for (size_t done = 0, count; done < size; done += count) {
		count = in_pieces && size - done > 1000 ? 1000 : size - done;
		if (!control_send(ends[1], (const char *)&sent + done, count))
			_exit(1);
	}
	_exit(0);
}

static int finish_proxy(pid_t pid)
{
	int status = -1;
	waitpid(pid, &status, 0);
	return status;
}

static enum greatest_test_res takes(bool in_pieces)
{
	pid_t pid;
	open_ends();
	refusals_add(&sent, "h.test", 443, "no rule allows this name", true);
	pid = start_proxy(sizeof sent, in_pieces);
	control_take_reports(ends[0], "network proxy", &received, &note);
	ASSERT_EQ(0, finish_proxy(pid));
	ASSERT_EQ(0, memcmp(&sent, &received, sizeof sent));
	ASSERT_FALSE(error_is_set(&note));
	close_ends();
	PASS();
}

TEST the_whole_table(void)
{
	CHECK_CALL(takes(false));
	CHECK_CALL(takes(true));
	PASS();
}

/* The proxy talks to untrusted hosts, so that its reports are not trusted. */
TEST made_harmless(void)
{
	pid_t pid;
	open_ends();
	memset(&sent, 'x', sizeof sent);
	pid = start_proxy(sizeof sent, false);
	control_take_reports(ends[0], "network proxy", &received, &note);
	ASSERT_EQ(0, finish_proxy(pid));
	/* Control: as sent it would index beyond the table. */
	ASSERT(sent.count > EGRESS_REPORT_MAX);
	ASSERT(received.count <= EGRESS_REPORT_MAX);
	ASSERT_EQ('\0', received.items[0].host[EGRESS_HOST_MAX]);
	ASSERT_FALSE(error_is_set(&note));
	close_ends();
	PASS();
}

/* The proxy exits before or during the transfer. */
TEST half_a_table_is_none(void)
{
	static const size_t sizes[] = { 0, 1, sizeof sent - 1 };
	static const struct refusals none;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		pid_t pid;
		open_ends();
		refusals_add(&sent, "h.test", 443, "no rule allows this name", true);
		pid = start_proxy(sizes[i], false);
		close(ends[1]);
		ends[1] = -1;
		control_take_reports(ends[0], "network proxy", &received, &note);
		ASSERT_EQ(0, finish_proxy(pid));
		ASSERT_EQ(0, memcmp(&none, &received, sizeof none));
		ASSERT(error_is_set(&note));
		ASSERT(strstr(note.message, "the network proxy of this run ended early"));
		close_ends();
	}
	PASS();
}

/* The other end lives and sends nothing more; `received` bytes have arrived. */
TEST a_limit_of_time(void)
{
	int64_t start = clock_ms();
	char bytes[8] = "";
	open_ends();
	ASSERT(control_send(ends[1], "1234", 4));
	ASSERT_FALSE(control_receive(ends[0], bytes, sizeof bytes, 50));
	ASSERT(clock_ms() - start >= 50);
	/* Control: with the rest there is no wait. */
	ASSERT(control_send(ends[1], "12345678", 8));
	ASSERT(control_receive(ends[0], bytes, sizeof bytes, 60000));
	ASSERT_EQ(0, memcmp(bytes, "12345678", 8));
	close_ends();
	PASS();
}

TEST nobody_to_send_to(void)
{
	open_ends();
	ASSERT(control_send(ends[1], "1", 1));
	close(ends[0]);
	ASSERT_FALSE(control_send(ends[1], "1", 1));
	close(ends[1]);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	signal(SIGPIPE, SIG_IGN);
	RUN_TEST(the_whole_table);
	RUN_TEST(made_harmless);
	RUN_TEST(half_a_table_is_none);
	RUN_TEST(a_limit_of_time);
	RUN_TEST(nobody_to_send_to);
	GREATEST_MAIN_END();
}

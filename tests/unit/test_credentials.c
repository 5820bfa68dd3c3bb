/* SPDX-License-Identifier: Apache-2.0 */
/* Privileges given up in a child, and whether they are really gone. */
#include <greatest.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/confine/credentials.h"
#include "unit/scratch.h"

/* Is this line of /proc/self/status all zeros? */
static int is_zero(const char *name)
{
	char text[4096];
	char *line;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t count = read(fd, text, sizeof text - 1);
	close(fd);
	if (count <= 0)
		return 0;
	text[count] = '\0';
	line = strstr(text, name);
	return line && strncmp(line + strlen(name), "\t0000000000000000\n", 18) == 0;
}

static int drop(void *data)
{
	struct error err;
	(void)data;
	/* Dropping the bounding set needs CAP_SETPCAP, as in the new user namespace; a plain user has it nowhere. */
	if (geteuid() != 0)
		return 77;
	EXPECT(!is_zero("CapEff:") && !is_zero("CapBnd:"));
	EXPECT(credentials_bound(&err) == 0 && is_zero("CapBnd:") && !is_zero("CapEff:") && !is_zero("CapPrm:"));
	EXPECT(credentials_drop(&err) == 0);
	EXPECT(is_zero("CapInh:") && is_zero("CapPrm:") && is_zero("CapEff:") && is_zero("CapBnd:") && is_zero("CapAmb:"));
	EXPECT(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) < 0); /* locked */
	/* Root by number only: what needs a capability fails. */
	EXPECT(chroot("/") < 0);
	EXPECT(setuid(65533) < 0);
	/* Again is no error. */
	EXPECT(credentials_drop(&err) < 0 || is_zero("CapEff:"));
	return 0;
}

static int drop_at_once(void *data)
{
	struct error err;
	(void)data;
	if (geteuid() != 0)
		return 77;
	EXPECT(credentials_drop(&err) == 0);
	EXPECT(is_zero("CapPrm:") && is_zero("CapEff:") && is_zero("CapBnd:"));
	return 0;
}

TEST drops_every_capability(int (*run)(void *data))
{
	int status = scratch_child(run, NULL);
	if (status == 77)
		SKIPm("needs capabilities to drop; done inside by the escape suite");
	ASSERT_EQ(0, status);
	PASS();
}

static int freeze_and_hide(void *data)
{
	struct error err;
	(void)data;
	EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
	EXPECT(credentials_freeze(&err) == 0);
	EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	EXPECT(prctl(PR_GET_DUMPABLE) == 1);
	EXPECT(credentials_hide(&err) == 0);
	EXPECT(prctl(PR_GET_DUMPABLE) == 0);
	return 0;
}

TEST freezes_and_hides(void)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0)
		SKIPm("no_new_privs is set already");
	ASSERT_EQ(0, scratch_child(freeze_and_hide, NULL));
	PASS();
}

/* The grandchild holds the writing end; it closes when that one dies. */
static int die_with_parent(void *data)
{
	int ends[2], ready[2];
	char byte;
	pid_t middle;
	(void)data;
	EXPECT(pipe2(ends, O_CLOEXEC) == 0 && pipe2(ready, O_CLOEXEC) == 0);
	middle = fork();
	if (middle == 0) {
		if (fork() == 0) {
			struct error err;
			close(ends[0]);
			if (credentials_follow_parent(&err) < 0)
				_exit(1);
			if (write(ready[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		close(ends[1]);
		pause();
		_exit(0);
	}
	close(ends[1]);
	EXPECT(read(ready[0], &byte, 1) == 1);
	kill(middle, SIGKILL);
	EXPECT(waitpid(middle, NULL, 0) == middle);
	EXPECT(read(ends[0], &byte, 1) == 0); /* waits for ever if the grandchild lives */
	return 0;
}

TEST follows_its_parent(void)
{
	ASSERT_EQ(0, scratch_child(die_with_parent, NULL));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST1(drops_every_capability, drop);
	RUN_TEST1(drops_every_capability, drop_at_once);
	RUN_TEST(freezes_and_hides);
	RUN_TEST(follows_its_parent);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Gives up privileges in a child and verifies that they are gone. */
#include <greatest.h>

#include <fcntl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/confine/credentials.h"
#include "unit/support/scratch.h"

/* True if this line of /proc/self/status is all zeros. */
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

/* True if execve and setuid can give no capability back, and nothing can change that any more. */
static bool is_closed_for_good(void)
{
	const int bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
			 SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	return prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == bits && is_zero("CapAmb:");
}

/* Emptying the bounding set needs CAP_SETPCAP. A plain user has it in a new user namespace, where
 * the host allows one. */
static bool has_capabilities(void)
{
	return (geteuid() == 0 || unshare(CLONE_NEWUSER) == 0) && !is_zero("CapEff:");
}

/* An ambient capability survives execve without the file's consent. It has to be inheritable
 * first. */
static bool raise_ambient(void)
{
	cap_value_t capability = CAP_NET_RAW;
	cap_t all = cap_get_proc();
	bool is_raised = all && cap_set_flag(all, CAP_INHERITABLE, 1, &capability, CAP_SET) == 0 && cap_set_proc(all) == 0 &&
			 prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) == 0;
	if (all)
		cap_free(all);
	return is_raised;
}

static int drop(void *data)
{
	struct error err;
	(void)data;
	if (!has_capabilities())
		return 77;
	EXPECT(!is_zero("CapEff:") && !is_zero("CapBnd:"));
	EXPECT(credentials_drop_bounded(false, &err) < 0 && !is_zero("CapEff:"));
	EXPECT(credentials_bound(&err) == 0 && is_zero("CapBnd:") && !is_zero("CapEff:") && !is_zero("CapPrm:"));
	EXPECT(credentials_drop_bounded(true, &err) == 0 && !is_zero("CapEff:"));
	EXPECT(credentials_drop_bounded(false, &err) < 0 && credentials_drop_rest(&err) == 0);
	EXPECT(is_zero("CapInh:") && is_zero("CapPrm:") && is_zero("CapEff:") && is_zero("CapBnd:") && is_zero("CapAmb:"));
	EXPECT(is_closed_for_good());
	/* The uid is still root's, but calls that need a capability fail. */
	EXPECT(chroot("/") < 0);
	EXPECT(setuid(65533) < 0);
	/* A second call is harmless. */
	EXPECT(credentials_drop(&err) < 0 || is_zero("CapEff:"));
	return 0;
}

extern char **environ;

/* Looks for a secret in the memory that /proc/self/environ shows. */
static int shows_environment(const char *secret)
{
	char text[65536];
	int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	ssize_t count = read(fd, text, sizeof text);
	close(fd);
	return count > 0 && memmem(text, (size_t)count, secret, strlen(secret)) != NULL;
}

static int wipe(void *data)
{
	const char *first = environ[0];
	char secret[256];
	(void)data;
	EXPECT(first && strlen(first) > 4);
	snprintf(secret, sizeof secret, "%s", first);
	EXPECT(shows_environment(secret));
	credentials_wipe_environment();
	EXPECT(!shows_environment(secret) && first[0] == '\0' && first[strlen(secret) - 1] == '\0');
	return 0;
}

TEST wipes_the_environment(void)
{
	ASSERT_EQ(0, scratch_child(wipe, NULL));
	PASS();
}

static int drop_at_once(void *data)
{
	struct error err;
	(void)data;
	if (!has_capabilities())
		return 77;
	EXPECT(raise_ambient() && !is_zero("CapAmb:"));
	EXPECT(credentials_drop(&err) == 0);
	EXPECT(is_zero("CapPrm:") && is_zero("CapEff:") && is_zero("CapBnd:"));
	EXPECT(is_closed_for_good());
	return 0;
}

TEST drops_every_capability(int (*run)(void *data))
{
	int status = scratch_child(run, NULL);
	if (status == 77)
		SKIPm("no user namespace, so no capabilities to drop; the escape suite tests it inside");
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

/* The grandchild holds the write end, which is closed when it is killed. */
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
	EXPECT(read(ends[0], &byte, 1) == 0); /* blocks forever if the grandchild keeps running */
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
	RUN_TEST(wipes_the_environment);
	RUN_TEST(freezes_and_hides);
	RUN_TEST(follows_its_parent);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the namespaces of a run, and tests the errors if they are refused. */
#include <greatest.h>

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/view/namespaces.h"
#include "linux/probe/causes.h"
#include "unit/support/scratch.h"

static const char *const kinds[] = { "user", "mnt", "pid", "ipc", "uts", "cgroup", "net" };
enum { KINDS = 7, NET = 6 };

static int identities(ino_t inodes[KINDS])
{
	for (int i = 0; i < KINDS; i++) {
		char path[64];
		struct stat info;
		snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i]);
		if (stat(path, &info) < 0)
			return -1;
		inodes[i] = info.st_ino;
	}
	return 0;
}

static bool is_loopback_up(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo" };
	bool is_up = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_UP);
	close(fd);
	return is_up;
}

/* Runs in the new namespaces; the outer ones are passed in. */
static int check_inside(const struct namespaces_options *options, const ino_t *outer, uid_t uid, gid_t gid)
{
	ino_t inner[KINDS];
	struct error err;
	EXPECT(getpid() == 1);
	EXPECT(identities(inner) == 0 && inner[NET] == outer[NET]); /* created last */
	if (namespaces_settle(options, uid, gid, &err) < 0) {
		dprintf(2, "%s\n", err.message);
		return 1;
	}
	EXPECT(getuid() == uid && getgid() == gid);
	EXPECT(is_loopback_up());
	EXPECT(identities(inner) == 0);
	for (int i = 0; i < KINDS; i++)
		EXPECT((inner[i] == outer[i]) == (i == NET && options->has_host_network));
	return 0;
}

static int enter(void *data)
{
	const struct namespaces_options *options = data;
	uid_t uid = getuid();
	gid_t gid = getgid();
	ino_t outer[KINDS];
	struct error err;
	struct pollfd ended = { .fd = -1, .events = POLLIN };
	int status;
	pid_t pid;

	EXPECT(identities(outer) == 0);
	pid = namespaces_fork(options, &ended.fd, &err);
	if (pid == 0)
		_exit(check_inside(options, outer, uid, gid));
	if (pid < 0)
		return 77;
	EXPECT(poll(&ended, 1, 60000) == 1);
	EXPECT(fcntl(ended.fd, F_GETFD) & FD_CLOEXEC);
	EXPECT(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

TEST are_new_and_settled(void)
{
	struct namespaces_options own = { 0 }, shared = { .has_host_network = true };
	int status = scratch_child(enter, &own);
	if (status == 77)
		SKIPm("this host refuses user namespaces");
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, scratch_child(enter, &shared));
	PASS();
}

/* In a user namespace that allows no further one the kernel fails with ENOSPC. */
static int refused(void *data)
{
	struct namespaces_options options = { 0 };
	struct error err;
	int fd, pidfd;
	(void)data;
	if (unshare(CLONE_NEWUSER) < 0)
		return 77;
	fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		return 77;
	EXPECT(namespaces_fork(&options, &pidfd, &err) < 0);
	EXPECT(err.number == ENOSPC && err.stage == STAGE_NAMESPACES);
	return 0;
}

/* The same for network namespaces alone, which the child creates. */
static int network_refused(void *data)
{
	struct namespaces_options options = { 0 };
	struct error err = { 0 };
	int fd, pidfd, status;
	uid_t uid = getuid();
	gid_t gid = getgid();
	pid_t pid;
	(void)data;
	pid = namespaces_fork(&options, &pidfd, &err);
	if (pid < 0)
		return 77;
	if (pid == 0) {
		fd = open("/proc/sys/user/max_net_namespaces", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "0", 1) != 1)
			_exit(77);
		_exit(namespaces_settle(&options, uid, gid, &err) == 0 || err.number != ENOSPC ||
		      err.stage != STAGE_NAMESPACES);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST network_is_refused_in_words(void)
{
	int status = scratch_child(network_refused, NULL);
	if (status == 77)
		SKIPm("cannot limit namespaces here");
	ASSERT_EQ(0, status);
	PASS();
}

TEST are_refused_in_words(void)
{
	int status = scratch_child(refused, NULL);
	if (status == 77)
		SKIPm("cannot limit namespaces here");
	ASSERT_EQ(0, status);
	PASS();
}

/* An identity that this user may not map. */
static int wrong_identity(void *data)
{
	struct namespaces_options options = { 0 };
	struct error err;
	int status, pidfd;
	pid_t pid;
	(void)data;
	pid = namespaces_fork(&options, &pidfd, &err);
	if (pid == 0)
		_exit(namespaces_settle(&options, 12345, getgid(), &err) == 0 || !strstr(err.message, "uid_map"));
	if (pid < 0)
		return 77;
	EXPECT(waitpid(pid, &status, 0) == pid);
	EXPECT(status == 0);
	return 0;
}

TEST are_not_settled_for_somebody_else(void)
{
	int status = scratch_child(wrong_identity, NULL);
	if (geteuid() == 0 || status == 77)
		SKIPm("root may map whom it likes");
	ASSERT_EQ(0, status);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(are_new_and_settled);
	RUN_TEST(are_refused_in_words);
	RUN_TEST(network_is_refused_in_words);
	RUN_TEST(are_not_settled_for_somebody_else);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The ruleset in this machine's kernel. Each attempt runs in a child process, with the control that
 * it succeeds without Landlock. Older ABIs are emulated: a newer kernel accepts their rulesets. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "greatest.h"
#include "linux/confine/landlock.h"

/* A writable and a readable tree that the plan names, and a third that it does not. */

static char root[64];
static int abi;

static const char *at(const char *relative)
{
	static char paths[4][160];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", root, relative);
	return path;
}

static bool make_file(const char *relative)
{
	int fd = open(at(relative), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool is_made = fd >= 0 && write(fd, "text\n", 5) == 5;

	if (fd >= 0)
		close(fd);
	return is_made;
}

static bool make_world(void)
{
	static const char *const directories[] = { "", "write", "write/sub", "read", "read/sub", "other", "tmp" };
	static const char *const files[] = { "write/file", "read/file", "read/sub/file", "other/file", "single" };

	snprintf(root, sizeof root, "/tmp/berm-landlock-XXXXXX");
	if (!mkdtemp(root))
		return false;
	for (size_t i = 1; i < sizeof directories / sizeof *directories; i++)
		if (mkdir(at(directories[i]), 0755) < 0)
			return false;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (!make_file(files[i]))
			return false;
	return true;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
	(void)info, (void)type, (void)place;
	return remove(path);
}

static void remove_world(void)
{
	if (nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
		printf("%s was not removed\n", root);
}

static int apply(int at_abi, enum network_mode network)
{
	struct plan_grant grants[] = {
		{ .path = at("read"), .kind = GRANT_READ, .type = FILE_DIRECTORY },
		{ .path = at("single"), .kind = GRANT_WRITE, .type = FILE_REGULAR },
		{ .path = at("write"), .kind = GRANT_WRITE, .type = FILE_DIRECTORY },
		{ .path = "/usr", .kind = GRANT_SYSTEM, .type = FILE_DIRECTORY },
		{ .path = "/lib", .kind = GRANT_SYSTEM, .type = FILE_DIRECTORY }, /* a symlink here: skipped */
		{ .path = "/nowhere/at/all", .kind = GRANT_WRITE, .type = FILE_DIRECTORY },
	};
	char tmp[160];
	struct landlock_extra extra[] = {
		{ .path = tmp, .is_writable = true },
		{ .path = "/proc" },
		{ .path = "/dev/null", .is_writable = true, .is_device = true },
	};
	struct plan plan = { .grants = { grants, sizeof grants / sizeof *grants } };
	struct error err = { 0 };

	snprintf(tmp, sizeof tmp, "%s/tmp", root);
	plan.network.mode = network;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	if (landlock_apply(&plan, extra, sizeof extra / sizeof *extra, at_abi, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	return 0;
}

struct attempt {
	const char *label;
	int (*work)(void); /* 0 or errno */
	int expected; /* with Landlock */
	int since; /* from this ABI on; allowed before */
};

static int result_of(long result)
{
	return result < 0 ? errno : 0;
}

static int open_and_close(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int write_inside(void)
{
	return open_and_close(at("write/new"), O_WRONLY | O_CREAT);
}
static int write_in_tmp(void)
{
	return open_and_close(at("tmp/new"), O_WRONLY | O_CREAT);
}
static int write_single_file(void)
{
	return open_and_close(at("single"), O_WRONLY | O_TRUNC);
}
static int read_readable(void)
{
	return open_and_close(at("read/sub/file"), O_RDONLY);
}
static int list_readable(void)
{
	return open_and_close(at("read/sub"), O_RDONLY | O_DIRECTORY);
}
static int run_program(void)
{
	return system("/usr/bin/env true </dev/null") == 0 ? 0 : EACCES;
}
static int write_readable(void)
{
	return open_and_close(at("read/file"), O_WRONLY);
}
static int create_in_readable(void)
{
	return open_and_close(at("read/new"), O_WRONLY | O_CREAT);
}
static int read_other(void)
{
	return open_and_close(at("other/file"), O_RDONLY);
}
static int list_other(void)
{
	return open_and_close(at("other"), O_RDONLY | O_DIRECTORY);
}
static int create_in_other(void)
{
	return open_and_close(at("other/new"), O_WRONLY | O_CREAT);
}
static int remove_from_readable(void)
{
	return result_of(unlink(at("read/file")));
}
static int make_directory_in_other(void)
{
	return result_of(mkdir(at("other/new"), 0700));
}
static int rename_inside(void)
{
	return result_of(rename(at("write/file"), at("write/sub/moved")));
}
static int rename_out(void)
{
	return result_of(rename(at("write/file"), at("other/moved")));
}
static int rename_in(void)
{
	return result_of(rename(at("other/file"), at("write/moved")));
}
static int link_readable_in(void)
{
	return result_of(link(at("read/file"), at("write/linked")));
}
static int truncate_readable(void)
{
	return result_of(truncate(at("read/file"), 0));
}
static int truncate_inside(void)
{
	return result_of(truncate(at("write/file"), 0));
}
static int make_fifo(void)
{
	return result_of(mkfifo(at("write/fifo"), 0600));
}
static int make_device(void)
{
	return result_of(mknod(at("write/device"), S_IFCHR | 0600, 0)); /* 0:0, which needs no privilege since 5.8 */
}
static int write_null(void)
{
	return open_and_close("/dev/null", O_WRONLY | O_TRUNC);
}
static int signal_the_parent(void)
{
	return result_of(kill(getppid(), 0));
}
static int signal_itself(void)
{
	return result_of(kill(getpid(), 0));
}

static int abstract_listener = -1, path_listener = -1;

static struct sockaddr_un abstract_address(socklen_t *length)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int size = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", root);

	*length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
	return address;
}

static int listen_at(const struct sockaddr_un *address, socklen_t length)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)address, length) < 0 || listen(fd, 8) < 0)
		return -1;
	return fd;
}

static int connect_to(const struct sockaddr_un *address, socklen_t length)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int result = result_of(connect(fd, (const struct sockaddr *)address, length));

	close(fd);
	return result;
}

static int connect_abstract(void)
{
	socklen_t length;
	struct sockaddr_un address = abstract_address(&length);
	return connect_to(&address, length);
}

static struct sockaddr_un path_address(const char *relative)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", root, relative);
	return address;
}

/* A socket of the host in the writable tree that the plan does not name. */
static int connect_path(void)
{
	struct sockaddr_un address = path_address("write/socket");
	return connect_to(&address, sizeof address);
}

static int connect_own_path(void)
{
	struct sockaddr_un address = path_address("write/own");
	int fd = listen_at(&address, sizeof address), result;

	if (fd < 0)
		return errno;
	result = connect_to(&address, sizeof address);
	close(fd);
	return result;
}

static const struct attempt attempts[] = {
	{ "writing in a writable tree", write_inside, 0, 1 },
	{ "writing in an extra tree", write_in_tmp, 0, 1 },
	{ "writing a single writable file", write_single_file, 0, 1 },
	{ "reading in a readable tree", read_readable, 0, 1 },
	{ "listing a readable tree", list_readable, 0, 1 },
	{ "running a program", run_program, 0, 1 },
	{ "renaming across writable directories", rename_inside, 0, 2 },
	{ "truncating a writable file", truncate_inside, 0, 1 },
	{ "making a pipe", make_fifo, 0, 1 },
	{ "writing to /dev/null", write_null, 0, 1 },
	{ "signalling itself", signal_itself, 0, 1 },
	{ "connecting to its own socket", connect_own_path, 0, 1 },
	{ "writing a readable file", write_readable, EACCES, 1 },
	{ "creating in a readable tree", create_in_readable, EACCES, 1 },
	{ "removing from a readable tree", remove_from_readable, EACCES, 1 },
	{ "reading what is not named", read_other, EACCES, 1 },
	{ "listing what is not named", list_other, EACCES, 1 },
	{ "creating where nothing is named", create_in_other, EACCES, 1 },
	{ "making a directory where nothing is named", make_directory_in_other, EACCES, 1 },
	{ "renaming out", rename_out, EACCES, 2 },
	{ "renaming in", rename_in, EACCES, 2 },
	{ "linking a readable file into a writable tree", link_readable_in, EXDEV, 2 },
	{ "making a device node", make_device, EACCES, 1 },
	{ "truncating a readable file", truncate_readable, EACCES, 3 },
	{ "signalling a process outside", signal_the_parent, EPERM, 6 },
	{ "connecting to an abstract socket outside", connect_abstract, EPERM, 6 },
	{ "connecting to a socket of the host in a writable tree", connect_path, EACCES, 9 },
};

static int in_child(int (*work)(void), bool is_restricted, int at_abi)
{
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		alarm(120);
		if (is_restricted && apply(at_abi, NETWORK_NONE) < 0)
			_exit(125);
		_exit(work());
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Every attempt gets new trees, so that the control cannot affect it. */
static int in_fresh_world(const struct attempt *attempt, bool is_restricted, int at_abi)
{
	struct sockaddr_un address, abstract;
	socklen_t length;
	int result;

	if (!make_world())
		return -1;
	abstract = abstract_address(&length);
	address = path_address("write/socket");
	abstract_listener = listen_at(&abstract, length);
	path_listener = listen_at(&address, sizeof address);
	result = in_child(attempt->work, is_restricted, at_abi);
	close(abstract_listener);
	close(path_listener);
	remove_world();
	return result;
}

static int expected_at(const struct attempt *attempt, int at_abi)
{
	if (at_abi >= attempt->since)
		return attempt->expected;
	/* ABI 1 refuses all renames across directories. */
	if (attempt->since == 2)
		return attempt->expected ? attempt->expected : EXDEV;
	return 0;
}

TEST every_attempt_works_without_landlock(void)
{
	for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
		int control = in_fresh_world(&attempts[i], false, 0);

		if (control != 0)
			printf("%s without Landlock: errno %d\n", attempts[i].label, control);
		ASSERT_EQ(0, control);
	}
	PASS();
}

TEST attempts_end_as_the_abi_allows(int at_abi)
{
	for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
		const struct attempt *attempt = &attempts[i];
		int expected = expected_at(attempt, at_abi), got = in_fresh_world(attempt, true, at_abi);

		if (got != expected)
			printf("%s at ABI %d: errno %d, expected %d\n", attempt->label, at_abi, got, expected);
		ASSERT_EQ(expected, got);
	}
	PASS();
}

static int bind_tcp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : result_of(bind(fd, (struct sockaddr *)&address, sizeof address));
}

static int bind_udp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : result_of(bind(fd, (struct sockaddr *)&address, sizeof address));
}

static int connect_tcp(void)
{
	/* No process listens at port 1: without Landlock the kernel refuses the connection. */
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) }, .sin_port = htons(1) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : result_of(connect(fd, (struct sockaddr *)&address, sizeof address));
}

static int with_destinations(int (*work)(void))
{
	return apply(abi, NETWORK_ALLOW) < 0 ? 125 : work();
}
static int bind_tcp_restricted(void)
{
	return with_destinations(bind_tcp);
}
static int bind_udp_restricted(void)
{
	return with_destinations(bind_udp);
}
static int connect_tcp_restricted(void)
{
	return with_destinations(connect_tcp);
}

TEST tcp_is_left_to_the_network_namespace(void)
{
	if (abi < 4)
		SKIPm("needs Landlock ABI 4");
	ASSERT(make_world());
	ASSERT_EQ(0, in_child(bind_tcp, false, 0));
	ASSERT_EQ(ECONNREFUSED, in_child(connect_tcp, false, 0));
	ASSERT_EQ(0, in_child(bind_tcp, true, abi)); /* no destinations: the network namespace confines it */
	/* With destinations too: the proxy listens in that network. */
	ASSERT_EQ(0, in_child(bind_tcp_restricted, false, 0));
	ASSERT_EQ(ECONNREFUSED, in_child(connect_tcp_restricted, false, 0));
	ASSERT_EQ(0, in_child(bind_udp_restricted, false, 0));
	remove_world();
	PASS();
}

static int restrict_with(const struct plan *plan, const struct landlock_extra *extra, size_t count)
{
	struct error err = { 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return landlock_apply(plan, extra, count, abi, &err);
}

/* A symlink in place of a planned directory grants nothing. */
static int read_through_swapped_grant(void)
{
	struct plan_grant grant = { .path = at("swapped"), .kind = GRANT_READ, .type = FILE_DIRECTORY };
	struct plan plan = { .grants = { &grant, 1 } };

	return restrict_with(&plan, NULL, 0) < 0 ? 125 : read_other();
}

static int read_through_true_grant(void)
{
	struct plan_grant grant = { .path = at("other"), .kind = GRANT_READ, .type = FILE_DIRECTORY };
	struct plan plan = { .grants = { &grant, 1 } };

	return restrict_with(&plan, NULL, 0) < 0 ? 125 : read_other();
}

TEST a_symlink_in_place_of_a_grant_gives_nothing(void)
{
	ASSERT(make_world());
	ASSERT_EQ(0, symlink("other", at("swapped")));
	ASSERT_EQ(0, in_child(read_through_true_grant, false, 0));
	ASSERT_EQ(EACCES, in_child(read_through_swapped_grant, false, 0));
	remove_world();
	PASS();
}

static int list_root_only(void)
{
	struct landlock_extra extra = { .path = root, .is_list_only = true };
	struct plan plan = { 0 };

	if (restrict_with(&plan, &extra, 1) < 0)
		return 125;
	if (open_and_close(root, O_RDONLY | O_DIRECTORY) != 0 || list_other() != 0)
		return 124;
	return read_other();
}

TEST a_listed_directory_is_not_read(void)
{
	ASSERT(make_world());
	ASSERT_EQ(EACCES, in_child(list_root_only, false, 0));
	remove_world();
	PASS();
}

/* ioctl on a device only if the plan names a device. */
static int ask_tty_size(bool is_device)
{
	struct landlock_extra extra = { .path = "/dev", .is_writable = true, .is_device = is_device };
	struct plan plan = { 0 };
	struct winsize size;
	int fd;

	if (restrict_with(&plan, &extra, 1) < 0)
		return 125;
	fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? 124 : result_of(ioctl(fd, TIOCGWINSZ, &size));
}
static int ask_as_device(void)
{
	return ask_tty_size(true);
}
static int ask_as_files(void)
{
	return ask_tty_size(false);
}

TEST device_ioctls_need_a_device(void)
{
	if (abi < 5)
		SKIPm("needs Landlock ABI 5");
	if (access("/dev/ptmx", R_OK | W_OK) < 0)
		SKIPm("no /dev/ptmx");
	ASSERT_EQ(0, in_child(ask_as_device, false, 0));
	ASSERT_EQ(EACCES, in_child(ask_as_files, false, 0));
	PASS();
}

/* On a read-only mount TRUNCATE is granted to end walks early; the mount still refuses. */
static int truncate_on_read_only_mount(void)
{
	struct plan_grant grant = { .path = at("read"), .kind = GRANT_READ, .type = FILE_DIRECTORY };
	struct plan plan = { .grants = { &grant, 1 } };

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(grant.path, grant.path, NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, grant.path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0)
		return 124;
	if (restrict_with(&plan, NULL, 0) < 0 || read_readable() != 0)
		return 125;
	return truncate_readable();
}

TEST read_only_mounts_stay_read_only(void)
{
	if (geteuid() != 0)
		SKIPm("needs root for a mount");
	ASSERT(make_world());
	ASSERT_EQ(EROFS, in_child(truncate_on_read_only_mount, false, 0));
	remove_world();
	PASS();
}

static double microseconds_between(const struct timespec *start, const struct timespec *end)
{
	return (double)(end->tv_sec - start->tv_sec) * 1e6 + (double)(end->tv_nsec - start->tv_nsec) / 1e3;
}

static int measure(void)
{
	static const char *const system_paths[] = { "/usr", "/etc", "/var", "/opt", "/srv", "/mnt", "/home", "/root" };
	struct plan_grant grants[10] = { { .path = at("read"), .kind = GRANT_READ },
					 { .path = at("write"), .kind = GRANT_WRITE } };
	struct plan plan = { .grants = { grants, 10 } };
	struct timespec start, end;

	for (size_t i = 0; i < 8; i++)
		grants[i + 2] = (struct plan_grant){ .path = system_paths[i], .kind = GRANT_SYSTEM };
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (restrict_with(&plan, NULL, 0) < 0)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("landlock_apply with 10 grants: %.0f us\n", microseconds_between(&start, &end));
	fflush(stdout);
	return 0;
}

TEST ten_grants_take_microseconds(void)
{
	ASSERT(make_world());
	ASSERT_EQ(0, in_child(measure, false, 0));
	remove_world();
	PASS();
}

SUITE(live)
{
	static int at_abi; /* outlives greatest's longjmp */

	printf("Landlock ABI %d\n", abi);
	RUN_TEST(every_attempt_works_without_landlock);
	for (at_abi = 1; at_abi <= abi && at_abi <= LANDLOCK_ABI_NEWEST; at_abi++)
		RUN_TESTp(attempts_end_as_the_abi_allows, at_abi);
	RUN_TEST(tcp_is_left_to_the_network_namespace);
	RUN_TEST(a_symlink_in_place_of_a_grant_gives_nothing);
	RUN_TEST(a_listed_directory_is_not_read);
	RUN_TEST(device_ioctls_need_a_device);
	RUN_TEST(read_only_mounts_stay_read_only);
	RUN_TEST(ten_grants_take_microseconds);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	const char *must_run = getenv("BERM_MUST_RUN");

	GREATEST_MAIN_BEGIN();
	abi = landlock_abi();
	if (abi == 0) {
		printf("this kernel has no Landlock\n");
		return must_run && strcmp(must_run, "1") == 0 ? 1 : 77;
	}
	RUN_SUITE(live);
	GREATEST_MAIN_END();
}

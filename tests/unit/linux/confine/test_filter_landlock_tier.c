/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of the landlock tier, in the simulator: refuses access that namespaces prevent in the
 * full tier, also with junk in the bits that the kernel does not read. */
#include <errno.h>
#include <linux/fs.h>
#include <linux/fiemap.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "greatest.h"
#include "unit/support/filter_fixture.h"

enum { INTERNET = 1, UNIX = 2, LISTENS = 4, SETS = 8 };

static struct arena arena;
static struct filter_program programs[ARCHITECTURES][SETS];

static void build(void)
{
	struct error err;
	for (unsigned a = 0; a < ARCHITECTURES; a++)
		for (unsigned set = 0; set < SETS; set++) {
			struct filter_options options = {
				.architecture = filter_fixture_architectures[a],
				.is_landlock_tier = true,
				.has_internet = set & INTERNET,
				.has_unix = set & UNIX,
				.has_metadata_notify = set & LISTENS,
			};
			if (filter_build(&arena, &options, &programs[a][set], &err) < 0) {
				printf("%s\n", err.message);
				_exit(1);
			}
		}
}

static const struct filter_row *row_named(const char *name)
{
	for (size_t i = 0; i < filter_landlock_tier_table_count; i++)
		if (strcmp(filter_landlock_tier_table[i].name, name) == 0)
			return &filter_landlock_tier_table[i];
	return filter_fixture_row(name);
}

/* True if the call has this result on both architectures, as far as they have it. */
static bool leads(unsigned set, const char *name, uint64_t first, uint64_t second, uint64_t third, uint32_t action)
{
	for (unsigned a = 0; a < ARCHITECTURES; a++) {
		int number = filter_row_number(row_named(name), filter_fixture_architectures[a]);
		struct seccomp_data data = { .nr = number, .arch = filter_fixture_audit[a], .args = { first, second, third } };
		uint32_t got;
		if (number < 0)
			continue;
		got = bpf_simulator_run(programs[a][set].instructions, programs[a][set].count, &data, NULL);
		if (got == action)
			continue;
		printf("%s(%#llx, %#llx, %#llx), %s, options %u: %#x instead of %#x\n", name, (unsigned long long)first,
		       (unsigned long long)second, (unsigned long long)third, filter_fixture_names[a], set, got, action);
		return false;
	}
	return true;
}

TEST the_kernel_would_take_every_program(void)
{
	for (unsigned a = 0; a < ARCHITECTURES; a++)
		for (unsigned set = 0; set < SETS; set++)
			ASSERT_EQ(NULL, bpf_simulator_refusal(programs[a][set].instructions, programs[a][set].count));
	PASS();
}

TEST sockets_are_those_that_the_policy_has(void)
{
	for (unsigned set = 0; set < SETS; set++) {
		uint32_t internet = set & INTERNET ? ALLOW : FAIL_WITH(EACCES);
		uint32_t local = set & UNIX ? ALLOW : FAIL_WITH(EACCES), other;
		for (uint64_t junk = 0; junk <= HIGH; junk += HIGH) {
			ASSERT(leads(set, "socket", AF_INET | junk, SOCK_STREAM | SOCK_CLOEXEC | junk, junk, internet));
			ASSERT(leads(set, "socket", AF_INET6 | junk, SOCK_DGRAM | junk, IPPROTO_UDP | junk, internet));
			ASSERT(leads(set, "socket", AF_UNIX | junk, SOCK_STREAM | junk, junk, local));
			ASSERT(leads(set, "socketpair", AF_UNIX | junk, SOCK_STREAM, 0, ALLOW));
		}
		ASSERT(leads(set, "socket", AF_INET, SOCK_RAW, 0, set & INTERNET ? FAIL_WITH(EPERM) : FAIL_WITH(EACCES)));
		other = (set & INTERNET) && (set & UNIX) ? FAIL_WITH(EAFNOSUPPORT) : FAIL_WITH(EACCES);
		ASSERT(leads(set, "socket", AF_VSOCK, SOCK_STREAM, 0, other));
		ASSERT(leads(set, "socket", AF_PACKET, SOCK_RAW, 0, other));
		other = set & INTERNET ? FAIL_WITH(EPROTONOSUPPORT) : FAIL_WITH(EACCES);
		ASSERT(leads(set, "socket", AF_INET, SOCK_STREAM, 262, other)); /* MPTCP */
	}
	PASS();
}

TEST memory_and_queues_of_the_host_are_not_there(void)
{
	static const char *const calls[] = { "shmget", "shmat",	 "shmctl", "semget", "semop",	"semctl",    "semtimedop",
					     "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "mq_notify" };
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		ASSERT(leads(0, calls[i], 1, 1, 1, FAIL_WITH(ENOSYS)));
	PASS();
}

TEST only_the_caller_itself_is_tuned(void)
{
	static const char *const calls[] = { "sched_setparam", "sched_setscheduler", "sched_setattr", "sched_setaffinity" };
	for (uint64_t junk = 0; junk <= HIGH; junk += HIGH) {
		for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
			ASSERT(leads(0, calls[i], junk, 8, 8, ALLOW));
			ASSERT(leads(0, calls[i], 4711 | junk, 8, 8, FAIL_WITH(EPERM)));
		}
		ASSERT(leads(0, "setpriority", junk, junk, 5, ALLOW));
		ASSERT(leads(0, "setpriority", junk, 4711 | junk, 5, FAIL_WITH(EPERM)));
		ASSERT(leads(0, "setpriority", 1 | junk, junk, 5, FAIL_WITH(EPERM)));
		ASSERT(leads(0, "setpriority", 2 | junk, junk, 5, FAIL_WITH(EPERM)));
		ASSERT(leads(0, "ioprio_set", 1 | junk, junk, 5, ALLOW));
		ASSERT(leads(0, "ioprio_set", 2 | junk, junk, 5, FAIL_WITH(EPERM)));
		ASSERT(leads(0, "prlimit64", junk, 7, 0x1000, ALLOW));
		ASSERT(leads(0, "prlimit64", 4711 | junk, 7, 0, ALLOW));
		ASSERT(leads(0, "prlimit64", 4711 | junk, 7, 0x1000, FAIL_WITH(EPERM)));
		/* RLIMIT_CORE is 4: as in every tier, after the process. */
		ASSERT(leads(0, "setrlimit", 4 | junk, 0x1000, 0, FAIL_WITH(0)));
		ASSERT(leads(0, "prlimit64", junk, 4 | junk, 0x1000, FAIL_WITH(0)));
		ASSERT(leads(0, "prlimit64", 4711 | junk, 4 | junk, 0x1000, FAIL_WITH(EPERM)));
		ASSERT(leads(0, "prlimit64", 4711 | junk, 4 | junk, 0, ALLOW));
		/* All bits of a pointer count. */
		ASSERT(leads(0, "prlimit64", 4711 | junk, 7, HIGH, FAIL_WITH(EPERM)));
	}
	PASS();
}

TEST the_mark_is_the_filters_alone(void)
{
	ASSERT(leads(0, "ioctl", UINT64_MAX, FILTER_MARK_REQUEST, 0, FAIL_WITH(FILTER_MARK_ERRNO)));
	ASSERT(leads(INTERNET, "ioctl", 0, FILTER_MARK_REQUEST, 0, FAIL_WITH(FILTER_MARK_ERRNO)));
	/* No such filter is loaded here, and no variable can fake it. */
	setenv("BERM", "1", 1);
	ASSERT_FALSE(filter_is_marked());
	ASSERT_EQ(EBADF, errno);
	PASS();
}

TEST files_are_not_changed_by_ioctl(void)
{
	static const uint64_t refused[] = { TIOCSTI,	       TIOCLINUX,  TIOCSETD,   FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR,
					    FS_IOC_SETVERSION, 0x40806685, 0x800c6613, 0x5000940e,	0x50009401,
					    0x50009417,	       0x5000940f, 0x4020bc10, 0x4008941a,	FS_IOC_SETFSLABEL };
	static const uint64_t allowed[] = { FS_IOC_GETFLAGS, FS_IOC_FIEMAP, FICLONE,  FICLONERANGE,
					    TCGETS,	     TIOCGWINSZ,    FIONREAD, FIONBIO };
	for (uint64_t junk = 0; junk <= HIGH; junk += HIGH) {
		for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
			ASSERT(leads(0, "ioctl", 3, refused[i] | junk, 0, FAIL_WITH(EPERM)));
		for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
			ASSERT(leads(0, "ioctl", 3, allowed[i] | junk, 0, ALLOW));
	}
	PASS();
}

TEST metadata_is_judged_by_who_listens(void)
{
	static const char *const calls[] = {
		"chmod",    "fchmod",	 "fchmodat",  "fchmodat2",   "chown",	     "fchown",
		"lchown",   "fchownat",	 "utime",     "utimes",	     "futimesat",    "utimensat",
		"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"
	};
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		ASSERT(leads(LISTENS, calls[i], 0, 0, 0, NOTIFY));
		ASSERT(leads(LISTENS, calls[i], 0, 06777, 06777, NOTIFY));
		ASSERT(leads(0, calls[i], 0, 0, 0, ALLOW));
	}
	ASSERT(leads(0, "chmod", 0, 04755, 0, FAIL_WITH(EPERM)));
	ASSERT(leads(LISTENS, "setxattrat", 0, 0, 0, FAIL_WITH(ENOSYS)));
	ASSERT(leads(LISTENS, "file_setattr", 0, 0, 0, FAIL_WITH(ENOSYS)));
	/* A second listener inside. */
	ASSERT(leads(LISTENS, "seccomp", SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0, FAIL_WITH(EBUSY)));
	PASS();
}

TEST what_is_refused_in_every_tier_is_refused_here(void)
{
	for (unsigned set = 0; set < SETS; set++) {
		ASSERT(leads(set, "mount", 0, 0, 0, FAIL_WITH(EPERM)));
		ASSERT(leads(set, "unshare", 0x10000000, 0, 0, FAIL_WITH(EPERM)));
		ASSERT(leads(set, "io_uring_setup", 0, 0, 0, FAIL_WITH(ENOSYS)));
		ASSERT(leads(set, "pidfd_getfd", 0, 0, 0, FAIL_WITH(EPERM)));
		ASSERT(leads(set, "keyctl", 0, 0, 0, FAIL_WITH(EPERM)));
		ASSERT(leads(set, "open_by_handle_at", 0, 0, 0, FAIL_WITH(EPERM)));
		ASSERT(leads(set, "read", 0, 0, 0, ALLOW));
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	build();
	RUN_TEST(the_kernel_would_take_every_program);
	RUN_TEST(sockets_are_those_that_the_policy_has);
	RUN_TEST(memory_and_queues_of_the_host_are_not_there);
	RUN_TEST(only_the_caller_itself_is_tuned);
	RUN_TEST(the_mark_is_the_filters_alone);
	RUN_TEST(files_are_not_changed_by_ioctl);
	RUN_TEST(metadata_is_judged_by_who_listens);
	RUN_TEST(what_is_refused_in_every_tier_is_refused_here);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The filter in this machine's kernel. Each attempt runs in a child process, first without the
 * filter: the two results have to differ, or the case proves nothing. Arguments are harmless even
 * if the call succeeds: invalid pointers, descriptors and flags. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/seccomp.h>

#include "greatest.h"
#include "linux/confine/filter.h"
#include "linux/probe/causes.h"

#define NOWHERE 1L /* an invalid address */
#define HIGH (0x7eadbeefL << 32)

static struct arena arena;

static void load_filter(const struct filter_options *options, bool has_listener, int *listener)
{
	struct filter_program program;
	struct error err = { 0 };
	int fd;

	if (filter_build(&arena, options, &program, &err) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(99);
	fd = filter_load(&program, has_listener, &err);
	if (fd < 0) {
		fprintf(stderr, "%s\n", err.message);
		_exit(99);
	}
	if (listener)
		*listener = fd;
}

/* Runs work in a child, with or without the filter, and returns its wait status. An alarm kills a
 * child that hangs. */
static int in_child(bool has_filter, int (*work)(const void *), const void *argument)
{
	struct filter_options options = { .architecture = filter_native() };
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		alarm(120);
		if (has_filter)
			load_filter(&options, false, NULL);
		_exit(work(argument));
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

struct attempt {
	const char *label;
	long number;
	long arguments[5];
	int expected; /* errno with the filter; 0: allowed */
	bool is_optional; /* this kernel may refuse it itself with the same errno */
};

/* Returns the errno of the call as an exit status. The child of a successful clone exits at
 * once. */
static int try_attempt(const void *argument)
{
	const struct attempt *attempt = argument;
	pid_t self = getpid();
	long result = syscall(attempt->number, attempt->arguments[0], attempt->arguments[1], attempt->arguments[2],
			      attempt->arguments[3], attempt->arguments[4]);

	if (getpid() != self)
		_exit(0);
	return result == -1 ? errno : 0;
}

static const struct attempt attempts[] = {
	{ "TIOCSTI", SYS_ioctl, { -1, TIOCSTI, NOWHERE }, EPERM, false },
	{ "TIOCSTI with high bits", SYS_ioctl, { -1, TIOCSTI | HIGH, NOWHERE }, EPERM, false },
	{ "TIOCLINUX", SYS_ioctl, { -1, TIOCLINUX, NOWHERE }, EPERM, false },
	{ "TIOCLINUX with high bits", SYS_ioctl, { -1, TIOCLINUX | HIGH, NOWHERE }, EPERM, false },
	{ "mount", SYS_mount, { NOWHERE, NOWHERE, NOWHERE, 0, 0 }, EPERM, false },
	{ "umount2", SYS_umount2, { NOWHERE, -1 }, EPERM, false },
	{ "pivot_root", SYS_pivot_root, { NOWHERE, NOWHERE }, EPERM, true },
	{ "chroot", SYS_chroot, { NOWHERE }, EPERM, false },
	{ "open_tree", 428, { -1, NOWHERE, 0 }, EPERM, false },
	{ "move_mount", 429, { -1, NOWHERE, -1, NOWHERE, 0xffff }, EPERM, true },
	{ "fsopen", 430, { NOWHERE, 0xffff }, EPERM, true },
	{ "mount_setattr", 442, { -1, NOWHERE, 0xffffff, NOWHERE, 1 }, EPERM, true },
	{ "setns", SYS_setns, { -1, 0 }, EPERM, false },
	{ "unshare of a user namespace", SYS_unshare, { CLONE_NEWUSER }, EPERM, true },
	{ "unshare of everything", SYS_unshare, { 0x7e020080 }, EPERM, true },
	{ "unshare of nothing", SYS_unshare, { CLONE_FS | CLONE_FILES }, 0, true },
	{ "clone with a user namespace", SYS_clone, { CLONE_NEWUSER | SIGCHLD }, EPERM, true },
	{ "clone with a user namespace and high bits", SYS_clone, { HIGH | CLONE_NEWUSER | SIGCHLD }, EPERM, true },
	{ "clone3", 435, { NOWHERE, 88 }, ENOSYS, false },
	{ "io_uring_setup", 425, { 0, NOWHERE }, ENOSYS, false },
	{ "io_uring_enter", 426, { -1 }, ENOSYS, false },
	{ "io_uring_register", 427, { -1, 99 }, ENOSYS, false },
	{ "bpf", SYS_bpf, { 9999, NOWHERE, 1 }, EPERM, true },
	{ "perf_event_open", SYS_perf_event_open, { NOWHERE, 0, -1, -1, 0 }, EPERM, false },
	{ "userfaultfd", SYS_userfaultfd, { 0x7fffffff }, EPERM, true },
	{ "keyctl", SYS_keyctl, { 9999 }, EPERM, false },
	{ "add_key", SYS_add_key, { NOWHERE, NOWHERE, 0, 0, 0 }, EPERM, false },
	{ "request_key", SYS_request_key, { NOWHERE, NOWHERE, 0, 0 }, EPERM, false },
	{ "kexec_load", SYS_kexec_load, { 0, 9999, NOWHERE, -1 }, EPERM, true },
	{ "init_module", SYS_init_module, { NOWHERE, 64, NOWHERE }, EPERM, true },
	{ "finit_module", SYS_finit_module, { -1, NOWHERE, 0 }, EPERM, true },
	{ "delete_module", SYS_delete_module, { NOWHERE, 0 }, EPERM, true },
	{ "open_by_handle_at", SYS_open_by_handle_at, { -1, NOWHERE, 0 }, EPERM, true },
	{ "fanotify_init", SYS_fanotify_init, { 0x7fffffff, 0 }, EPERM, true },
	{ "swapon", SYS_swapon, { NOWHERE, 0x7fffffff }, EPERM, true },
	{ "reboot", SYS_reboot, { 0, 0, 0, 0 }, EPERM, true },
	{ "acct", SYS_acct, { NOWHERE }, EPERM, true },
	{ "settimeofday", SYS_settimeofday, { NOWHERE, 0 }, EPERM, false },
	{ "clock_settime", SYS_clock_settime, { 12345, NOWHERE }, EPERM, false },
	{ "adjtimex", SYS_adjtimex, { NOWHERE }, EPERM, false },
	{ "sethostname", SYS_sethostname, { NOWHERE, 1 }, EPERM, true },
	{ "syslog", SYS_syslog, { 9999, NOWHERE, 1 }, EPERM, true },
	{ "kcmp", SYS_kcmp, { 0, 0, 99 }, EPERM, false },
	{ "pidfd_getfd", 438, { -1, 0, 0 }, EPERM, false },
	{ "process_madvise", 440, { -1, NOWHERE, 1, 0, 0 }, EPERM, false },
	{ "personality READ_IMPLIES_EXEC", SYS_personality, { 0x400000 }, EPERM, false },
	{ "personality READ_IMPLIES_EXEC with high bits", SYS_personality, { HIGH | 0x400000 }, EPERM, false },
	{ "set-user-id by fchmodat", SYS_fchmodat, { -1, NOWHERE, 04755 }, EPERM, false },
	{ "set-user-id by fchmod with high bits", SYS_fchmod, { -1, HIGH | 04755 }, EPERM, false },
	{ "a device node", SYS_mknodat, { -1, NOWHERE, S_IFCHR | 0600, 0 }, EPERM, false },
	{ "a device node with bits above the mode", SYS_mknodat, { -1, NOWHERE, HIGH | 0x10000 | S_IFBLK, 0 }, EPERM, false },
	{ "AF_PACKET", SYS_socket, { AF_PACKET, SOCK_RAW, 0 }, EAFNOSUPPORT, true },
	{ "AF_PACKET with high bits", SYS_socket, { HIGH | AF_PACKET, SOCK_RAW, 0 }, EAFNOSUPPORT, true },
	{ "AF_VSOCK", SYS_socket, { AF_VSOCK, SOCK_STREAM, 0 }, EAFNOSUPPORT, true },
	{ "AF_ALG", SYS_socket, { AF_ALG, SOCK_SEQPACKET, 0 }, EAFNOSUPPORT, true },
	{ "a raw socket", SYS_socket, { AF_INET, SOCK_RAW, IPPROTO_ICMP }, EPERM, true },
	{ "a ping socket", SYS_socket, { AF_INET, SOCK_DGRAM, IPPROTO_ICMP }, EPROTONOSUPPORT, false },
	{ "MPTCP", SYS_socket, { AF_INET, SOCK_STREAM, 262 }, EPROTONOSUPPORT, true },
	{ "generic netlink", SYS_socket, { AF_NETLINK, SOCK_RAW, 16 }, EPROTONOSUPPORT, false },
	{ "socketpair of AF_INET", SYS_socketpair, { AF_INET, SOCK_STREAM, 0, NOWHERE }, EAFNOSUPPORT, false },
	{ "TCP", SYS_socket, { AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0 }, 0, true },
	{ "UDP over IPv6", SYS_socket, { AF_INET6, SOCK_DGRAM, IPPROTO_UDP }, 0, true },
	{ "route netlink", SYS_socket, { AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0 }, 0, true },
	{ "personality query", SYS_personality, { 0xffffffff }, 0, true },
	{ "personality of gdb", SYS_personality, { 0x40000 }, 0, true },
};

static bool is_must_run(void)
{
	const char *value = getenv("BERM_MUST_RUN");
	return value && strcmp(value, "1") == 0;
}

TEST attempts_fail_with_the_filter_and_only_with_it(void)
{
	unsigned inconclusive = 0;

	for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
		const struct attempt *attempt = &attempts[i];
		int control = in_child(false, try_attempt, attempt), got = in_child(true, try_attempt, attempt);

		if (!WIFEXITED(control) || !WIFEXITED(got) || WEXITSTATUS(got) != attempt->expected) {
			printf("%s: status %x, expected errno %d; without the filter %x\n", attempt->label, (unsigned)got,
			       attempt->expected, (unsigned)control);
			FAIL();
		}
		if (attempt->expected == 0 || WEXITSTATUS(control) != attempt->expected)
			continue;
		printf("%s: the kernel itself says errno %d, so this shows nothing here\n", attempt->label, attempt->expected);
		ASSERT(attempt->is_optional);
		inconclusive++;
	}
	/* As root, on a kernel with all features, every row is conclusive. */
	ASSERT(inconclusive < (geteuid() == 0 ? 6u : 30u));
	PASS();
}

#ifdef __x86_64__
/* getpid of i386 has the number of another call in the 64-bit table: only the architecture
 * distinguishes them. */
static int call_int_80(const void *argument)
{
	long result = 20;
	(void)argument;
	__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
	return result == getpid() ? 0 : 1;
}

static int call_x32(const void *argument)
{
	(void)argument;
	syscall(0x40000000 | SYS_getpid);
	return 0;
}

static bool is_killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

/* Escape case 62. */
TEST foreign_entries_are_killed(void)
{
	int control = in_child(false, call_int_80, NULL);

	if (!WIFEXITED(control))
		printf("int 0x80: this kernel has no 32-bit entry\n");
	ASSERT(!is_killed(control));
	ASSERT(is_killed(in_child(true, call_int_80, NULL)) || !WIFEXITED(control));
	ASSERT_EQ(0, in_child(false, call_x32, NULL));
	ASSERT(is_killed(in_child(true, call_x32, NULL)));
	PASS();
}

/* Escape case 13: a debugger replaces its child's getppid by another call. The exit status is the
 * child's result. */
static int rewrite_call(const void *argument)
{
	long number = *(const long *)argument;
	struct user_regs_struct registers;
	int status;
	pid_t child = fork();

	if (child == 0) {
		long result;
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		result = syscall(SYS_getppid, NOWHERE, NOWHERE, NOWHERE, 0);
		_exit(result < 0 ? errno : 0);
	}
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return 97;
	do {
		if (ptrace(PTRACE_SYSCALL, child, NULL, NULL) < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return 96;
		if (ptrace(PTRACE_GETREGS, child, NULL, &registers) < 0)
			return 95;
	} while (registers.orig_rax != SYS_getppid);
	registers.orig_rax = (unsigned long long)number;
	if (ptrace(PTRACE_SETREGS, child, NULL, &registers) < 0 || ptrace(PTRACE_CONT, child, NULL, NULL) < 0 ||
	    waitpid(child, &status, 0) != child)
		return 94;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 93;
}

TEST a_debugger_cannot_put_a_refused_call_in_place(void)
{
	long swapped = SYS_mount, skipped = -1;

	ASSERT_EQ(EFAULT, WEXITSTATUS(in_child(false, rewrite_call, &swapped)));
	ASSERT_EQ(EPERM, WEXITSTATUS(in_child(true, rewrite_call, &swapped)));
	/* Debuggers may skip a call. */
	ASSERT_EQ(ENOSYS, WEXITSTATUS(in_child(false, rewrite_call, &skipped)));
	ASSERT_EQ(ENOSYS, WEXITSTATUS(in_child(true, rewrite_call, &skipped)));
	PASS();
}
#endif

static void *say_seven(void *argument)
{
	*(int *)argument = 7;
	return NULL;
}

/* clone3 fails with ENOSYS: the C library has to fall back to clone. */
static int run_thread_and_shell(const void *argument)
{
	pthread_t thread;
	int said = 0;

	(void)argument;
	if (pthread_create(&thread, NULL, say_seven, &said) != 0 || pthread_join(thread, NULL) != 0 || said != 7)
		return 1;
	return WEXITSTATUS(system("for i in 1 2 3; do echo $i; done | cat >/dev/null && ls / >/dev/null"));
}

TEST threads_and_shells_work(void)
{
	ASSERT_EQ(0, in_child(true, run_thread_and_shell, NULL));
	PASS();
}

/* A write clears the set-user-id bit that open() set, so only chmod is checked. Root's writes keep
 * it, so the test changes its uid first. */
static int create_with_bit(const void *argument)
{
	char path[] = "/tmp/berm-filter-XXXXXX";
	struct stat empty, written;
	int fd;

	(void)argument;
	if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
		return 98;
	fd = mkstemp(path);
	if (fd < 0 || unlink(path) < 0 || close(fd) < 0)
		return 97;
	fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 04700);
	if (fd < 0 || unlink(path) < 0 || fstat(fd, &empty) < 0 || write(fd, "x", 1) != 1 || fstat(fd, &written) < 0)
		return 96;
	return (empty.st_mode & S_ISUID) && !(written.st_mode & S_ISUID) ? 0 : 1;
}

TEST a_created_set_user_id_file_loses_the_bit_when_filled(void)
{
	ASSERT_EQ(0, in_child(true, create_with_bit, NULL));
	PASS();
}

static int send_descriptor(int channel, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof fd)] = { 0 };
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	return sendmsg(channel, &message, 0) == 1 ? 0 : -1;
}

static int receive_descriptor(int channel)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	int fd = -1;

	if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
	return fd;
}

/* A second listener; a fast open; a connect that the supervisor answers. */
static int live_under_a_listener(int channel)
{
	struct filter_options options = { .architecture = filter_native(), .has_network_notify = true };
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };
	int listener, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	alarm(120);
	close(STDIN_FILENO); /* the listener must not become the command's standard input */
	load_filter(&options, true, &listener);
	if (listener <= STDERR_FILENO || send_descriptor(channel, listener) < 0)
		return 10;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) != -1 || errno != EBUSY)
		return 11;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		return 12;
	if (sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)NOWHERE, 16) != -1 || errno != EOPNOTSUPP)
		return 13;
	if (setsockopt(fd, IPPROTO_TCP, 30, &one, sizeof one) != -1 || errno != ENOPROTOOPT)
		return 14;
	if (connect(fd, (struct sockaddr *)NOWHERE, 16) != -1)
		return 15;
	return errno;
}

TEST connects_go_to_the_one_listener(void)
{
	struct seccomp_notif request = { 0 };
	struct seccomp_notif_resp response = { 0 };
	int channel[2], listener, status;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel));
	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(live_under_a_listener(channel[1]));
	close(channel[1]);
	listener = receive_descriptor(channel[0]);
	ASSERT(listener >= 0);
	ASSERT_EQ(0, ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request));
	ASSERT_EQ(SYS_connect, request.data.nr);
	response.id = request.id;
	response.error = -EHOSTUNREACH;
	ASSERT_EQ(0, ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT(WIFEXITED(status));
	ASSERT_EQ(EHOSTUNREACH, WEXITSTATUS(status));
	close(listener);
	close(channel[0]);
	PASS();
}

static int load_without_no_new_privs(const void *argument)
{
	struct filter_options options = { .architecture = filter_native() };
	struct filter_program program;
	struct error err = { 0 };

	(void)argument;
	if (geteuid() == 0 && setuid(65534) < 0)
		return 98;
	if (filter_build(&arena, &options, &program, &err) < 0)
		return 97;
	return filter_load(&program, false, &err) == -1 && err.number == EACCES && err.stage == STAGE_FILTER ? 0 : 1;
}

TEST loading_without_no_new_privs_is_an_error(void)
{
	int status = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);

	if (status == 1)
		SKIPm("no_new_privs is already set here");
	ASSERT_EQ(0, in_child(false, load_without_no_new_privs, NULL));
	PASS();
}

static int is_seccomp_missing(const void *argument)
{
	struct filter_options options = { .architecture = filter_native() };
	(void)argument;
	load_filter(&options, false, NULL);
	return 0;
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	if (in_child(false, is_seccomp_missing, NULL) != 0) {
		printf("a seccomp filter cannot be loaded here\n");
		return is_must_run() ? 1 : 77;
	}
	RUN_TEST(attempts_fail_with_the_filter_and_only_with_it);
#ifdef __x86_64__
	RUN_TEST(foreign_entries_are_killed);
	RUN_TEST(a_debugger_cannot_put_a_refused_call_in_place);
#endif
	RUN_TEST(threads_and_shells_work);
	RUN_TEST(a_created_set_user_id_file_loses_the_bit_when_filled);
	RUN_TEST(connects_go_to_the_one_listener);
	RUN_TEST(loading_without_no_new_privs_is_an_error);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

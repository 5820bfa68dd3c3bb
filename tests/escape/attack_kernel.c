/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on the kernel's surface: calls that a sandbox has no need of. Every call is given
 * arguments with which it cannot do anything, even to a machine where it is allowed: bad pointers,
 * bad descriptors, bad magic numbers. `through` lists the errors that prove that the call was let
 * through. */
#include "attack.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BAD ((unsigned long)-1)
#define HIGH(low) (0xdeadbeefUL << 32 | (unsigned)(low))

struct call {
	const char *name;
	long number;
	unsigned long arguments[6];
	int through[5]; /* success always counts */
	bool gains; /* in new namespaces first, if they can be made */
};

static long make_call(void *argument)
{
	const struct call *call = argument;
	const unsigned long *a = call->arguments;
	if (call->gains)
		gain_namespaces();
	return result_of(syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

static void try_calls(const struct call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct call call = calls[i];
		probe(call.name, make_call, &call, call.through);
	}
}
#define TRY(table) try_calls(table, sizeof table / sizeof *table)

static const struct call mount_calls[] = {
	{ "mount", SYS_mount, { BAD, BAD, BAD, 0, BAD }, { EFAULT }, true },
	{ "umount2", SYS_umount2, { BAD, MNT_DETACH }, { EFAULT }, true },
	{ "move_mount", SYS_move_mount, { BAD, BAD, BAD, BAD, 0 }, { EFAULT, EBADF }, true },
	{ "open_tree", SYS_open_tree, { BAD, BAD, 1 }, { EFAULT, EBADF }, true },
	{ "fsopen", SYS_fsopen, { BAD, 0 }, { EFAULT }, true },
	{ "fsconfig", SYS_fsconfig, { BAD, 0, 0, 0, 0 }, { EBADF, EINVAL }, true },
	{ "fsmount", SYS_fsmount, { BAD, 0, 0 }, { EBADF }, true },
	{ "fspick", SYS_fspick, { BAD, BAD, 0 }, { EFAULT, EBADF }, true },
	{ "mount_setattr", 442, { BAD, BAD, 0, BAD, 32 }, { EFAULT, EBADF }, true },
	{ "open_tree_attr", 467, { BAD, BAD, 1, BAD, 32 }, { EFAULT, EBADF }, true },
};

static void run_mount_calls(char **arguments)
{
	(void)arguments;
	TRY(mount_calls);
}

static const struct call forbidden_calls[] = {
	{ "bpf", SYS_bpf, { BPF_MAP_CREATE, BAD, 16 }, { EFAULT }, false },
	{ "perf_event_open", SYS_perf_event_open, { BAD, 0, BAD, BAD, 0 }, { EFAULT }, false },
	{ "userfaultfd", SYS_userfaultfd, { 1 /* user mode only */ }, { EINVAL }, false },
	{ "kexec_load", SYS_kexec_load, { 0, 1000, BAD, 0 }, { EFAULT, EINVAL }, false },
	{ "kexec_file_load", SYS_kexec_file_load, { BAD, BAD, 0, BAD, 0 }, { EBADF, EFAULT, EINVAL }, false },
	{ "init_module", SYS_init_module, { BAD, 64, BAD }, { EFAULT }, false },
	{ "finit_module", SYS_finit_module, { BAD, BAD, 0 }, { EBADF, EFAULT }, false },
	{ "delete_module", SYS_delete_module, { BAD, 0 }, { EFAULT }, false },
};

static void run_forbidden(char **arguments)
{
	(void)arguments;
	TRY(forbidden_calls);
}

/* Beyond the catalogue's list: what else an ordinary program never calls. */
static const struct call administrative_calls[] = {
	{ "acct", SYS_acct, { BAD }, { EFAULT }, false },
	{ "reboot", SYS_reboot, { 1, 2, 3, 0 }, { EINVAL }, false },
	{ "swapon", SYS_swapon, { BAD, 0 }, { EFAULT }, false },
	{ "swapoff", SYS_swapoff, { BAD }, { EFAULT }, false },
	{ "settimeofday", SYS_settimeofday, { BAD, 0 }, { EFAULT }, false },
	{ "clock_settime", SYS_clock_settime, { 0, BAD }, { EFAULT }, false },
	{ "clock_adjtime", SYS_clock_adjtime, { 0, BAD }, { EFAULT }, false },
	{ "sethostname", SYS_sethostname, { BAD, 5 }, { EFAULT }, false },
	{ "setdomainname", SYS_setdomainname, { BAD, 5 }, { EFAULT }, false },
	{ "syslog", SYS_syslog, { 10 /* size */, 0, 0 }, { EINVAL }, false },
	{ "quotactl", SYS_quotactl, { 0x80000700, BAD, 0, BAD }, { EFAULT }, false },
	{ "fanotify_init", SYS_fanotify_init, { 0, 0 }, { EINVAL }, false },
#ifdef __x86_64__
	{ "iopl", SYS_iopl, { 3 }, { EINVAL }, false },
	{ "ioperm", SYS_ioperm, { 0x80, 1, 1 }, { EINVAL }, false },
	{ "modify_ldt", SYS_modify_ldt, { 0, BAD, 8 }, { EFAULT }, false },
#endif
	{ "lsm_set_self_attr", 460, { 100, BAD, 32, 0 }, { EFAULT, EINVAL, EOPNOTSUPP }, false },
};

static void run_administrative(char **arguments)
{
	(void)arguments;
	TRY(administrative_calls);
}

static const struct call key_calls[] = {
	{ "keyctl", SYS_keyctl, { 0 /* id of */, (unsigned long)-3, 0 }, { ENOKEY }, false },
	{ "keyctl-join", SYS_keyctl, { 1, 0 }, { EFAULT }, false },
	{ "add_key", SYS_add_key, { BAD, BAD, BAD, 1, 0 }, { EFAULT }, false },
	{ "request_key", SYS_request_key, { BAD, BAD, BAD, 0 }, { EFAULT }, false },
};

static void run_keys(char **arguments)
{
	(void)arguments;
	TRY(key_calls);
}

static const struct call uring_calls[] = {
	{ "io_uring_setup", SYS_io_uring_setup, { 1, BAD }, { EFAULT }, false },
	{ "io_uring_enter", SYS_io_uring_enter, { BAD, 1, 0, 0, 0, 0 }, { EBADF }, false },
	{ "io_uring_register", SYS_io_uring_register, { BAD, 0, BAD, 1 }, { EBADF, EINVAL }, false },
};

/* A ring that works, on the same kernel, with the same user. */
static long make_ring(void *unused)
{
	unsigned char parameters[120] = { 0 };
	(void)unused;
	return result_of(syscall(SYS_io_uring_setup, 1, parameters));
}

static void run_uring(char **arguments)
{
	(void)arguments;
	TRY(uring_calls);
	probe("io_uring", make_ring, NULL, NULL);
}

static const struct call namespace_calls[] = {
	{ "unshare-user", SYS_unshare, { CLONE_NEWUSER }, { 0 }, false },
	{ "unshare-mount", SYS_unshare, { CLONE_NEWUSER | CLONE_NEWNS }, { 0 }, false },
	{ "unshare-net", SYS_unshare, { CLONE_NEWUSER | CLONE_NEWNET }, { 0 }, false },
	{ "unshare-pid", SYS_unshare, { CLONE_NEWUSER | CLONE_NEWPID }, { 0 }, false },
	{ "unshare-ipc", SYS_unshare, { CLONE_NEWUSER | CLONE_NEWIPC }, { 0 }, false },
	{ "unshare-uts", SYS_unshare, { CLONE_NEWUSER | CLONE_NEWUTS }, { 0 }, false },
	{ "unshare-cgroup", SYS_unshare, { CLONE_NEWUSER | CLONE_NEWCGROUP }, { 0 }, false },
	{ "unshare-time", SYS_unshare, { CLONE_NEWUSER | CLONE_NEWTIME }, { 0 }, false },
};

/* clone and clone3 return twice: the child leaves at once. */
static long clone_flags(void *argument)
{
	unsigned long flags = *(unsigned long *)argument;
	long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	if (child == 0)
		_exit(0);
	return result_of(child);
}

static long clone3_flags(void *argument)
{
	struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} parameters = { .flags = *(unsigned long *)argument, .exit_signal = SIGCHLD };
	long child = syscall(SYS_clone3, &parameters, sizeof parameters);
	if (child == 0)
		_exit(0);
	return result_of(child);
}

static void run_namespaces(char **arguments)
{
	unsigned long user = CLONE_NEWUSER, mount = CLONE_NEWUSER | CLONE_NEWNS, high = HIGH(CLONE_NEWUSER);
	(void)arguments;
	TRY(namespace_calls);
	probe("clone-user", clone_flags, &user, NULL);
	probe("clone-mount", clone_flags, &mount, NULL);
	probe("clone-user-high", clone_flags, &high, NULL);
	probe("clone3-user", clone3_flags, &user, NULL);
	probe("clone3-mount", clone3_flags, &mount, NULL);
}

static long enter_namespace(void *argument)
{
	gain_namespaces();
	int fd = open(argument, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return result_of(syscall(SYS_setns, fd, 0));
}

static const struct call root_calls[] = {
	{ "setns-bad", SYS_setns, { BAD, 0 }, { EBADF }, true },
	{ "pivot_root", SYS_pivot_root, { BAD, BAD }, { EFAULT }, true },
	{ "chroot-bad", SYS_chroot, { BAD }, { EFAULT }, true },
};

static long change_root(void *unused)
{
	(void)unused;
	gain_namespaces();
	return result_of(chroot("."));
}

static void run_roots(char **arguments)
{
	(void)arguments;
	TRY(root_calls);
	probe("chroot", change_root, NULL, NULL);
	probe("setns-uts", enter_namespace, (char[]){ "/proc/self/ns/uts" }, THROUGH(EINVAL));
	probe("setns-net", enter_namespace, (char[]){ "/proc/self/ns/net" }, THROUGH(EINVAL));
}

static const struct call personality_calls[] = {
	{ "personality-read-implies-exec", SYS_personality, { READ_IMPLIES_EXEC }, { 0 }, false },
	{ "personality-compat", SYS_personality, { ADDR_COMPAT_LAYOUT }, { 0 }, false },
	{ "personality-mmap-zero", SYS_personality, { MMAP_PAGE_ZERO }, { 0 }, false },
	{ "personality-high", SYS_personality, { HIGH(READ_IMPLIES_EXEC) }, { 0 }, false },
};

static void run_personality(char **arguments)
{
	(void)arguments;
	TRY(personality_calls);
}

#ifdef __x86_64__
static long int80(long number, unsigned long first, unsigned long second)
{
	long result;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(first), "c"(second), "d"(0L), "S"(0L), "D"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

static long i386_getpid(void *unused)
{
	(void)unused;
	return int80(20, 0, 0);
}

/* i386 number 102 multiplexes every socket call behind a pointer that no filter can look
 * through. */
static long i386_socketcall(void *unused)
{
	(void)unused;
	unsigned *arguments = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (arguments == MAP_FAILED)
		return -errno;
	arguments[0] = 2 /* AF_INET */;
	arguments[1] = 1 /* SOCK_STREAM */;
	return int80(102, 1 /* SYS_SOCKET */, (unsigned long)arguments);
}

static long i386_mount(void *unused)
{
	(void)unused;
	return int80(21, BAD, BAD);
}

static long x32_getpid(void *unused)
{
	(void)unused;
	return result_of(syscall(0x40000000 | SYS_getpid));
}

static void run_foreign(char **arguments)
{
	(void)arguments;
	probe("int80", i386_getpid, NULL, NULL);
	probe("int80-mount", i386_mount, NULL, THROUGH(EFAULT));
	/* A kernel without x32 answers ENOSYS: the number got through to it, where the filter
	 * should have killed. */
	probe("x32", x32_getpid, NULL, THROUGH(ENOSYS));
}

static void run_socketcall(char **arguments)
{
	(void)arguments;
	probe("socketcall", i386_socketcall, NULL, NULL);
}
#else
static void run_foreign(char **arguments)
{
	(void)arguments;
	report("int80", -ENOSYS);
}

static void run_socketcall(char **arguments)
{
	(void)arguments;
	report("socketcall", -ENOSYS);
}
#endif

/* Real mounts, not only the calls: a bind, a remount, an unmount of whatever covers PATH, then a
 * look at it. */
static long uncover(void *path)
{
	gain_namespaces();
	while (umount2(path, MNT_DETACH) == 0)
		;
	/* A stand-in may be readable to the owner of a namespace; blanks are not the secret. */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte = ' ';
	return fd < 0 ? -errno : read(fd, &byte, 1) == 1 && isgraph((unsigned char)byte) ? 0 : -ENODATA;
}

static long bind_over(void *path)
{
	gain_namespaces();
	return result_of(mount("/", path, NULL, MS_BIND, NULL));
}

static long remount_writable(void *path)
{
	gain_namespaces();
	if (mount(path, path, NULL, MS_BIND, NULL))
		return -errno;
	return result_of(mount(NULL, path, NULL, MS_REMOUNT | MS_BIND, NULL));
}

/* FILE DIRECTORY */
static void run_mounts(char **arguments)
{
	probe("uncover", uncover, arguments[0], NULL);
	probe("bind-over", bind_over, arguments[1], NULL);
	probe("remount", remount_writable, arguments[1], NULL);
}

/* Where the policy allows nesting, a mount may be made inside; it must stay there. DIRECTORY */
static void run_nested_mount(char **arguments)
{
	char path[4200];
	gain_namespaces();
	long result = result_of(mount("tmpfs", arguments[0], "tmpfs", 0, NULL));
	snprintf(path, sizeof path, "%s/nested", arguments[0]);
	if (result == 0)
		result = result_of(creat(path, 0644));
	report("nested-mount", result);
}

/* Programs that no file of the plan holds: memory, an interpreter, the dynamic loader. Each runs
 * `attack read PATH`; its own lines are the result. ATTACK PATH */
static void run_indirect_exec(char **arguments)
{
	int status, source = open(arguments[0], O_RDONLY | O_CLOEXEC), memory = memfd_create("program", MFD_CLOEXEC);
	static char block[1 << 16];
	for (ssize_t length; source >= 0 && (length = read(source, block, sizeof block)) > 0;)
		if (write(memory, block, (size_t)length) != length)
			exit(70);
	pid_t child = fork();
	if (child == 0) {
		char *const argv[] = { arguments[0], "read", arguments[1], NULL };
		char *const environment[] = { NULL };
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		syscall(SYS_execveat, memory, "", argv, environment, AT_EMPTY_PATH);
		report("execveat", -errno);
		_exit(0);
	}
	waitpid(child, &status, 0);
}

/* The process itself: whatever user started it, it must hold no capability and be unable to get
 * one. */
static long status_field(const char *name, int base)
{
	char line[256];
	long value = -1;
	size_t length = strlen(name);
	FILE *file = fopen("/proc/self/status", "re");
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			value = (long)strtoul(line + length + 1, NULL, base);
	if (file)
		fclose(file);
	return value;
}

static long can_raise(void)
{
	long result = -EPERM;
	for (int capability = 0; capability <= 40; capability++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1)
			result = 0;
	return result;
}

static void run_powers(char **arguments)
{
	(void)arguments;
	report("can-gain-privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? -EPERM : 0);
	report("capabilities-effective", status_field("CapEff", 16) == 0 ? -EPERM : 0);
	report("capabilities-permitted", status_field("CapPrm", 16) == 0 ? -EPERM : 0);
	report("capabilities-inheritable", status_field("CapInh", 16) == 0 ? -EPERM : 0);
	report("capabilities-bounding", status_field("CapBnd", 16) == 0 ? -EPERM : 0);
	report("capabilities-ambient", can_raise());
	report("unfiltered", prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2 ? -EPERM : 0);
}

/* Tries to gain rights through a set-user-ID program. Run as such a copy of this one. */
static void run_setuid(char **arguments)
{
	uid_t real, effective, saved;
	(void)arguments;
	getresuid(&real, &effective, &saved);
	report("setuid-gain", effective != real ? 0 : -EPERM);
}

static long keeps_bit(int fd)
{
	struct stat info;
	if (fstat(fd, &info))
		return -errno;
	return (info.st_mode & S_ISUID) && info.st_size > 0 ? 0 : -EPERM;
}

static long fill_by_map(int fd)
{
	if (ftruncate(fd, 4096))
		return -errno;
	char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	memcpy(map, "#!/bin/sh\nid\n", 13);
	return keeps_bit(fd);
}

static long splice_in(int fd)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) || write(ends[1], "#!/bin/sh\n", 10) != 10)
		return -errno;
	return result_of(splice(ends[0], NULL, fd, NULL, 10, 0));
}

/* Leaves a set-user-ID program behind, and one with file capabilities. ATTACK TARGET */
static void run_leave_setuid(char **arguments)
{
	static const unsigned char capability[20] = { 1, 0, 0, 2, 0xff, 0xff, 0xff, 0xff };
	int fd = open(arguments[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, "#!/bin/sh\n", 10) != 10) {
		report("setuid-create", -errno);
		return;
	}
	report("setuid-fchmod", result_of(fchmod(fd, 04755)));
	report("setuid-chmod", result_of(chmod(arguments[1], 06755)));
	report("setuid-fchmodat2", result_of(syscall(452, AT_FDCWD, arguments[1], 04755, 0)));
	report("file-capability",
	       result_of(syscall(SYS_fsetxattr, fd, "security.capability", capability, sizeof capability, 0)));
	close(fd);
	char born[4200];
	snprintf(born, sizeof born, "%s.born", arguments[1]);
	fd = open(born, O_WRONLY | O_CREAT | O_CLOEXEC, 04755);
	/* Born with the bit it is empty; each way to give it content must cost the bit. */
	static const char script[] = "#!/bin/sh\nid\n";
	report("setuid-born-written", fd < 0 || write(fd, script, sizeof script) < 0 ? -errno : keeps_bit(fd));
	close(fd);
	unlink(born);
	fd = open(born, O_RDWR | O_CREAT | O_CLOEXEC, 04755);
	report("setuid-born-mapped", fd < 0 ? -errno : fill_by_map(fd));
	close(fd);
	unlink(born);
	if (mknod(born, S_IFREG | 04755, 0) == 0)
		fd = open(born, O_RDWR | O_CLOEXEC);
	report("setuid-mknod", fd < 0 || fallocate(fd, 0, 0, 4096) ? -errno : keeps_bit(fd));
	close(fd);
	unlink(born);
	struct {
		uint64_t flags, mode, resolve;
	} how = { O_RDWR | O_CREAT | O_CLOEXEC, 04755, 0 };
	fd = (int)syscall(SYS_openat2, AT_FDCWD, born, &how, sizeof how);
	report("setuid-openat2", fd < 0 || splice_in(fd) < 0 ? -errno : keeps_bit(fd));
}

const struct attack attacks_kernel[] = {
	{ "mount-calls", run_mount_calls, "every call of the mount family" },
	{ "mounts", run_mounts, "FILE DIRECTORY: uncover, bind, remount" },
	{ "nested-mount", run_nested_mount, "DIRECTORY: a tmpfs in namespaces of its own" },
	{ "forbidden", run_forbidden, "bpf, perf, userfaultfd, kexec, modules" },
	{ "administrative", run_administrative, "clocks, swap, accounting, kernel log, ports" },
	{ "keys", run_keys, "keyctl, add_key, request_key" },
	{ "uring", run_uring, "io_uring" },
	{ "namespaces", run_namespaces, "unshare, clone, clone3" },
	{ "roots", run_roots, "setns, pivot_root, chroot" },
	{ "personality", run_personality, "personalities other than the plain one" },
	{ "foreign", run_foreign, "int 0x80 and x32" },
	{ "socketcall", run_socketcall, "i386 socketcall" },
	{ "indirect-exec", run_indirect_exec, "ATTACK PATH: read PATH from a program in memory" },
	{ "powers", run_powers, "capabilities, no_new_privs, seccomp" },
	{ "setuid", run_setuid, "to be run from a set-user-ID copy" },
	{ "leave-setuid", run_leave_setuid, "ATTACK TARGET" },
	{ NULL, NULL, NULL },
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on other processes and on what /proc shows of the host. Targets are given by pid: a
 * victim of the test, the launcher, or pid 1 of wherever the attack runs. */
#include "attack.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* "@FILE" waits for a pid in FILE: the test learns the launcher's pid only after it has started
 * it. */
static pid_t pid_argument(const char *text)
{
	const char *line = text[0] == '@' ? wait_for_line(text + 1) : text;
	return line ? (pid_t)atoi(line) : 0;
}

static long read_entry(pid_t pid, const char *entry)
{
	char path[128], byte;
	snprintf(path, sizeof path, "/proc/%d/%s", pid, entry);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The content matters, not the open: a wiped environment reads as nothing. mem is read
	 * where the program surely is not, so EIO is the answer of a kernel that would have
	 * read. */
	ssize_t length = read(fd, &byte, 1);
	long result = length > 0 || (length < 0 && errno == EIO) ? 0 : length == 0 ? -ENODATA : -errno;
	close(fd);
	return result;
}

/* Numbers alone say nothing (root may list them); an entry that can be read or followed does. */
static long follow_any(pid_t pid, const char *entry)
{
	char path[128], target[4096];
	snprintf(path, sizeof path, "/proc/%d/%s", pid, entry);
	DIR *directory = opendir(path);
	if (!directory)
		return -errno;
	long result = -ENODATA;
	for (struct dirent *item; (item = readdir(directory));) {
		if (item->d_name[0] == '.')
			continue;
		int fd = openat(dirfd(directory), item->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		bool is_reached = fd >= 0 || readlinkat(dirfd(directory), item->d_name, target, sizeof target) > 0;
		if (fd >= 0)
			close(fd);
		result = is_reached ? 0 : result == 0 ? 0 : -errno;
	}
	closedir(directory);
	return result;
}

static long follow_entry(pid_t pid, const char *entry)
{
	char path[128];
	snprintf(path, sizeof path, "/proc/%d/%s", pid, entry);
	int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void run_proc_entries(char **pids)
{
	for (; *pids; pids++) {
		pid_t pid = pid_argument(*pids);
		report("environ", read_entry(pid, "environ"));
		report("mem", read_entry(pid, "mem"));
		report("maps", read_entry(pid, "maps"));
		report("auxv", read_entry(pid, "auxv"));
		report("fd", follow_any(pid, "fd"));
		report("fdinfo", follow_any(pid, "fdinfo"));
		report("root", follow_entry(pid, "root"));
		report("cwd", follow_entry(pid, "cwd"));
		report("exe", follow_entry(pid, "exe"));
		report("ns", follow_entry(pid, "ns/mnt"));
	}
}

static void run_proc_cmdline(char **pids)
{
	for (; *pids; pids++) {
		pid_t pid = pid_argument(*pids);
		report("cmdline", read_entry(pid, "cmdline"));
		report("comm", read_entry(pid, "comm"));
		report("stat", read_entry(pid, "stat"));
	}
}

/* Looks for the file or the needle in every visible process. PATH NEEDLE. */
static long scan_processes(bool (*matches)(const char *directory, char **arguments), char **arguments)
{
	DIR *proc = opendir("/proc");
	if (!proc)
		return -errno;
	long result = -ENOENT;
	for (struct dirent *entry; (entry = readdir(proc));) {
		char directory[300];
		snprintf(directory, sizeof directory, "/proc/%s", entry->d_name);
		if (isdigit((unsigned char)entry->d_name[0]) && matches(directory, arguments))
			result = 0;
	}
	closedir(proc);
	return result;
}

static bool opens_below(const char *directory, const char *link, const char *path)
{
	char full[4600];
	snprintf(full, sizeof full, "%s/%s%s", directory, link, path);
	int fd = open(full, O_RDONLY | O_CLOEXEC);
	char byte;
	bool is_read = fd >= 0 && read(fd, &byte, 1) == 1;
	if (fd >= 0)
		close(fd);
	return is_read;
}

static bool root_gives(const char *directory, char **arguments)
{
	return opens_below(directory, "root", arguments[0]);
}

static bool cwd_gives(const char *directory, char **arguments)
{
	return opens_below(directory, "cwd", arguments[0]);
}

static bool file_holds(const char *directory, const char *name, const char *needle)
{
	static char content[1 << 16];
	char path[4600];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, content, sizeof content);
	if (fd >= 0)
		close(fd);
	return length > 0 && memmem(content, (size_t)length, needle, strlen(needle));
}

/* This process and what it started carry the needle in their own arguments: only the environment
 * can give it away. */
static bool environment_holds(const char *directory, char **arguments)
{
	return file_holds(directory, "environ", arguments[1]);
}

static void run_proc_scan(char **arguments)
{
	report("any-root", scan_processes(root_gives, arguments));
	report("any-cwd", scan_processes(cwd_gives, arguments));
	report("any-environ", scan_processes(environment_holds, arguments));
}

/* Every non-process entry of /proc, at most `depth` levels, that opens for writing. Nothing is
 * written. */
static int count_writable(const char *path, int depth)
{
	DIR *directory = opendir(path);
	if (!directory)
		return 0;
	int count = 0;
	for (struct dirent *entry; (entry = readdir(directory));) {
		char child[4600];
		snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
		/* Every process may open the files of /proc/pressure for writing, to be woken by a
		 * threshold; it changes nothing else. */
		if (strcmp(child, "/proc/pressure") == 0)
			continue;
		if (entry->d_name[0] == '.' || isdigit((unsigned char)entry->d_name[0]) || strstr(entry->d_name, "self"))
			continue;
		if (entry->d_type == DT_DIR && depth > 0)
			count += count_writable(child, depth - 1);
		if (entry->d_type != DT_REG)
			continue;
		int fd = open(child, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0) {
			fprintf(stderr, "writable: %s\n", child);
			close(fd);
			count++;
		}
	}
	closedir(directory);
	return count;
}

static void run_proc_writable(char **roots)
{
	for (; *roots; roots++)
		report(labelled("writable-below", *roots), count_writable(*roots, 7) > 0 ? 0 : -EROFS);
}

static long seize(void *pid)
{
	return result_of(ptrace(PTRACE_SEIZE, *(pid_t *)pid, NULL, NULL));
}

static long attach(void *pid)
{
	if (ptrace(PTRACE_ATTACH, *(pid_t *)pid, NULL, NULL))
		return -errno;
	ptrace(PTRACE_DETACH, *(pid_t *)pid, NULL, NULL);
	return 0;
}

static void run_ptrace(char **pids)
{
	for (; *pids; pids++) {
		pid_t pid = pid_argument(*pids);
		probe("ptrace-seize", seize, &pid, NULL);
		probe("ptrace-attach", attach, &pid, NULL);
	}
}

static long vm_read(void *pid)
{
	char byte;
	struct iovec local = { &byte, 1 }, remote = { &byte, 1 };
	return result_of(process_vm_readv(*(pid_t *)pid, &local, 1, &remote, 1, 0));
}

/* Writes to the null page, which no process maps: EFAULT proves the access. */
static long vm_write(void *pid)
{
	char byte = 0;
	struct iovec local = { &byte, 1 }, remote = { NULL, 1 };
	return result_of(process_vm_writev(*(pid_t *)pid, &local, 1, &remote, 1, 0));
}

static long steal_descriptor(void *pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, *(pid_t *)pid, 0);
	if (pidfd < 0)
		return -errno;
	return result_of(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static long compare_kernel(void *pid)
{
	return result_of(syscall(SYS_kcmp, *(pid_t *)pid, *(pid_t *)pid, 1 /* KCMP_VM */, 0, 0));
}

static long read_robust_list(void *pid)
{
	void *head;
	size_t length;
	return result_of(syscall(SYS_get_robust_list, *(pid_t *)pid, &head, &length));
}

static void run_memory(char **pids)
{
	for (; *pids; pids++) {
		pid_t pid = pid_argument(*pids);
		probe("process_vm_readv", vm_read, &pid, THROUGH(EFAULT));
		probe("process_vm_writev", vm_write, &pid, THROUGH(EFAULT));
		probe("pidfd_getfd", steal_descriptor, &pid, THROUGH(EBADF));
		probe("kcmp", compare_kernel, &pid, NULL);
		probe("get_robust_list", read_robust_list, &pid, NULL);
	}
}

static long signal_plain(void *pid)
{
	return result_of(kill(*(pid_t *)pid, 0));
}

static long signal_thread(void *pid)
{
	return result_of(syscall(SYS_tgkill, *(pid_t *)pid, *(pid_t *)pid, 0));
}

static long signal_queue(void *pid)
{
	union sigval value = { 0 };
	return result_of(sigqueue(*(pid_t *)pid, 0, value));
}

static long signal_pidfd(void *pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, *(pid_t *)pid, 0);
	if (pidfd < 0)
		return -errno;
	return result_of(syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0));
}

/* The kernel sends SIGIO to the owner of a descriptor. */
static long signal_owner(void *pid)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	return result_of(fcntl(ends[0], F_SETOWN, *(pid_t *)pid));
}

static long change_priority(void *pid)
{
	return result_of(setpriority(PRIO_PROCESS, (id_t) * (pid_t *)pid, 19));
}

static long change_limit(void *pid)
{
	struct rlimit limit;
	return result_of(prlimit(*(pid_t *)pid, RLIMIT_CORE, NULL, &limit));
}

static long change_affinity(void *pid)
{
	unsigned long mask[16] = { 0 };
	return result_of(syscall(SYS_sched_getaffinity, *(pid_t *)pid, sizeof mask, mask));
}

static void run_signal(char **pids)
{
	for (; *pids; pids++) {
		pid_t pid = pid_argument(*pids);
		probe("kill", signal_plain, &pid, NULL);
		probe("tgkill", signal_thread, &pid, NULL);
		probe("sigqueue", signal_queue, &pid, NULL);
		probe("pidfd_send_signal", signal_pidfd, &pid, NULL);
		probe("f_setown", signal_owner, &pid, NULL);
		probe("setpriority", change_priority, &pid, NULL);
		probe("prlimit", change_limit, &pid, NULL);
		probe("sched_getaffinity", change_affinity, &pid, NULL);
		report("sigkill", result_of(kill(pid, SIGKILL)));
	}
}

/* Opens the program of another process for writing. ETXTBSY: permission was given, only the moment
 * is wrong (CVE-2019-5736 waits). */
static long open_program(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == ETXTBSY ? 0 : -errno;
}

static void run_overwrite_program(char **pids)
{
	for (; *pids; pids++) {
		pid_t pid = pid_argument(*pids);
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/exe", pid);
		report("exe-write", open_program(path));
		int fd = open(path, O_PATH | O_CLOEXEC);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		report("exe-reopen", fd < 0 ? -errno : open_program(path));
	}
}

static void set_call_number(pid_t child, long number)
{
#if defined(__x86_64__)
	struct user_regs_struct registers;
	if (ptrace(PTRACE_GETREGS, child, NULL, &registers) == 0) {
		registers.orig_rax = (unsigned long)number;
		registers.rdi = (unsigned long)-1;
		ptrace(PTRACE_SETREGS, child, NULL, &registers);
	}
#elif defined(__aarch64__)
	int call = (int)number;
	struct iovec vector = { &call, sizeof call };
	ptrace(PTRACE_SETREGSET, child, (void *)(uintptr_t)NT_ARM_SYSTEM_CALL, &vector);
#endif
}

/* The traced child asks for something harmless; the tracer turns it into acct(bad pointer) while it
 * enters the kernel. */
static long tracee(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(EPERM);
	raise(SIGSTOP);
	long result = result_of(syscall(SYS_getppid, -1L));
	_exit(result == -EFAULT ? 0 : result < 0 ? (int)-result : EPROTO);
}

static long change_call(void *unused)
{
	(void)unused;
	int status;
	pid_t child = fork();
	if (child == 0)
		tracee();
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPROTO;
	if (ptrace(PTRACE_SYSCALL, child, NULL, NULL) || waitpid(child, &status, 0) != child)
		return -errno;
	if (WIFSTOPPED(status))
		set_call_number(child, SYS_mount);
	ptrace(PTRACE_DETACH, child, NULL, NULL);
	if (waitpid(child, &status, 0) != child)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

static void run_ptrace_change(char **arguments)
{
	(void)arguments;
	probe("changed-call", change_call, NULL, NULL);
}

const struct attack attacks_proc[] = {
	{ "proc-entries", run_proc_entries, "PID|@FILE...: environ, mem, fd, root of a process" },
	{ "proc-cmdline", run_proc_cmdline, "PID|@FILE..." },
	{ "proc-scan", run_proc_scan, "PATH NEEDLE: through any visible process" },
	{ "proc-writable", run_proc_writable, "DIRECTORY...: anything below that opens for writing" },
	{ "ptrace", run_ptrace, "PID|@FILE..." },
	{ "memory", run_memory, "PID|@FILE...: process_vm_*, pidfd_getfd, kcmp" },
	{ "signal", run_signal, "PID|@FILE...: every way to signal, then SIGKILL" },
	{ "overwrite-program", run_overwrite_program, "PID|@FILE...: /proc/PID/exe for writing" },
	{ "ptrace-change", run_ptrace_change, "a tracer changes its child's system call" },
	{ NULL, NULL, NULL },
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on /proc and on other processes. */
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void host_process(struct trial *trial)
{
	CONTAIN(trial, "proc-entries", "$VICTIM");
	CONTAIN(trial, "proc-scan", "$SECRET", "$TOKEN");
	trial->pid_file = "launcher.pid";
	CONTAIN(trial, "proc-entries", "@launcher.pid");
}

static void victim_lives(struct trial *trial)
{
	expect(trial, is_alive(trial->victim), "the host's process is gone");
}

static void trace_host(struct trial *trial)
{
	CONTAIN(trial, "ptrace", "$VICTIM");
	trial->pid_file = "launcher.pid";
	CONTAIN(trial, "ptrace", "@launcher.pid");
}

static void reach_memory(struct trial *trial)
{
	CONTAIN(trial, "memory", "$VICTIM");
	trial->pid_file = "launcher.pid";
	CONTAIN(trial, "memory", "@launcher.pid");
}

static void signal_host(struct trial *trial)
{
	CONTAIN(trial, "signal", "$VICTIM");
	trial->pid_file = "launcher.pid";
	CONTAIN(trial, "signal", "@launcher.pid");
	trial_victim(trial);
	INSIDE(trial, "$ATTACK", "kill-all", "$VICTIM");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "kill(-1) inside would reach host processes");
	expect(trial, is_alive(trial->victim), "kill(-1) inside ended a host process");
}

static void write_kernel_files(struct trial *trial)
{
	CONTAIN(trial, "open-write", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches",
		"/proc/sysrq-trigger", "/proc/sys/kernel/hostname", "/proc/irq/default_smp_affinity");
	CONTAIN(trial, "proc-writable", "/proc");
	CONTAIN(trial, "proc-writable", "/sys");
}

/* A copy of berm that this user could overwrite by its own rights. */
static void overwrite_berm(struct trial *trial)
{
	char *copy = path_of("%s/berm", trial->world.base);
	struct stat before, after;
	copy_file(berm_path, copy, 0755);
	const char *saved = berm_path;
	if (!is_self_test)
		berm_path = copy;
	stat(copy, &before);
	CONTAIN(trial, "overwrite-program", "$TARGET");
	expect(trial,
	       stat(copy, &after) == 0 && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec && after.st_size == before.st_size,
	       "berm's program was changed");
	berm_path = saved;
}

const struct escape_case cases_proc[] = {
	{ 8, "/proc of host processes: environ, mem, fd, root", 0, trial_victim, { NULL }, NULL, host_process, 0 },
	{ 9, "/proc/PID/cmdline of a host process", 0, trial_victim, { "proc-cmdline", "$VICTIM" }, NULL, NULL, 0 },
	{ 10, "write /proc/sys, sysrq-trigger, irq, /sys", NEED_ROOT, NULL, { NULL }, NULL, write_kernel_files, 20 },
	{ 11, "ptrace a host process or the launcher", 0, trial_victim, { NULL }, victim_lives, trace_host, 0 },
	{ 12, "process_vm_*, pidfd_getfd, kcmp on host processes", 0, trial_victim, { NULL }, victim_lives, reach_memory, 0 },
	{ 13, "a tracer changes its child's system call", 0, NULL, { "ptrace-change" }, NULL, NULL, 0 },
	{ 14, "signal a host process or the launcher", 0, trial_victim, { NULL }, victim_lives, signal_host, 0 },
	{ 15,
	  "denied files through /proc/self/root and cwd",
	  0,
	  NULL,
	  { "read", "/proc/self/root$PROJECT/.env", "/proc/self/cwd/.env", "/proc/thread-self/root$PROJECT/.env",
	    "/proc/self/root$SECRET", "/proc/1/root$SECRET", "/proc/self/task/../cwd/.env" },
	  NULL,
	  NULL,
	  0 },
	{ 16, "overwrite berm through /proc/PID/exe", 0, trial_victim, { NULL }, NULL, overwrite_berm, 0 },
	{ 0 },
};

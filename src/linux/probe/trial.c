/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the trials in children that share only one page of memory with the caller. The launch stages
 * use the functions of a real launch (namespaces.h, view.h), because some hosts allow a namespace
 * and then refuse the operations that it is needed for. */
#include "linux/probe/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "linux/confine/landlock.h"
#include "linux/view/namespaces.h"
#include "linux/syscalls.h"
#include "linux/view/mount.h"
#include "linux/view/view.h"

enum {
	TRIAL_MS = 5000, /* timeout; a trial that hangs is killed and counts as untried */
	NR_PIDFD_GETFD = 438,
};

static void try_bind(struct trial *trial)
{
	autoclose int target = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int source = target < 0 ? -1 : mount_clone(target, true);
	trial->number[STAGE_BIND] = source >= 0 && mount_attach(source, target) == 0 ? 0 : errno;
}

static void try_enter(struct trial *trial)
{
	struct error err = { 0 };
	trial->number[STAGE_ENTER] = view_probe_entry(&err) == 0 ? 0 : err.number ? err.number : EPERM;
}

/* Tries an upper layer on a tmpfs, as for a throwaway layer. */
static void try_overlay(struct trial *trial)
{
	autoclose int root = mount_new("tmpfs", "mode=755,size=1m", ATTR_NOSUID | ATTR_NODEV);
	autoclose int slash = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int overlay = -1;
	if (root < 0 || slash < 0 || mount_attach(root, slash) < 0 || fchdir(root) < 0)
		return;
	if (mkdir("lower", 0755) < 0 || mkdir("upper", 0755) < 0 || mkdir("work", 0755) < 0)
		return;
	overlay = mount_new("overlay", "lowerdir=lower,upperdir=upper,workdir=work", 0);
	trial->number[STAGE_OVERLAY] = overlay >= 0 ? 0 : errno;
}

static void try_fuse(struct trial *trial)
{
	autoclose int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	autoclose int tree = -1;
	char options[128];
	if (device >= 0) {
		snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device, (unsigned)getuid(),
			 (unsigned)getgid());
		tree = mount_new("fuse", options, ATTR_NOSUID | ATTR_NODEV);
	}
	trial->number[STAGE_FUSE] = tree >= 0 ? 0 : errno;
}

static void note(struct trial *trial, const struct error *err)
{
	if (err->stage > STAGE_NONE && err->stage < STAGE_COUNT)
		trial->number[err->stage] = err->number ? err->number : EPERM;
}

/* Records success for the untried stages from first to last. */
static void note_worked(struct trial *trial, enum stage first, enum stage last)
{
	for (int i = first; i <= (int)last; i++)
		if (trial->number[i] == TRIAL_UNTRIED)
			trial->number[i] = 0;
}

static void try_chain(const struct namespaces_options *options, uid_t uid, gid_t gid, struct trial *trial)
{
	struct view_result view = { 0 };
	struct error err = { 0 };
	note_worked(trial, STAGE_NAMESPACES, STAGE_NAMESPACES);
	if (namespaces_settle(options, uid, gid, &err) < 0) {
		if (err.stage != STAGE_MAP)
			note_worked(trial, STAGE_MAP, STAGE_MAP);
		note(trial, &err);
		return;
	}
	note_worked(trial, STAGE_MAP, STAGE_LOOPBACK);
	try_fuse(trial); /* before the view, which covers the host's /dev */
	if (view_probe(&view, &err) < 0) {
		if (err.stage == STAGE_ROOT)
			note_worked(trial, STAGE_LOCK, STAGE_LOCK);
		else if (err.stage != STAGE_LOCK)
			err.stage = STAGE_PROC;
		note(trial, &err);
		return;
	}
	note_worked(trial, STAGE_LOCK, STAGE_ROOT);
	trial->number[STAGE_PROC] = view.has_proc ? 0 : EPERM;
	try_bind(trial);
	try_enter(trial);
	try_overlay(trial);
}

static void wait_for(pid_t pid, int pidfd)
{
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };
	int ready;
	do
		ready = poll(&ended, 1, TRIAL_MS);
	while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		kill(pid, SIGKILL);
	(void)child_wait(pid, NULL);
}

/* A seccomp profile cannot see the flags of clone3, so profiles refuse it with ENOSYS to make
 * programs fall back to calls with visible flags. Returns the errno of such a call then. */
static int refined(int number)
{
	int status = 0;
	pid_t pid;
	if (number != ENOSYS)
		return number;
	pid = fork();
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC) == 0 ? 0 : errno);
	if (pid < 0 || child_wait(pid, &status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == 0)
		return number;
	return WEXITSTATUS(status);
}

static void run_chain(bool has_host_network, struct trial *trial)
{
	struct namespaces_options options = { .has_host_network = has_host_network };
	uid_t uid = getuid();
	gid_t gid = getgid();
	autoclose int pidfd = -1;
	struct error err = { 0 };
	pid_t pid = namespaces_fork(&options, &pidfd, &err);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		try_chain(&options, uid, gid, trial);
		_exit(0);
	}
	if (pid < 0)
		trial->number[STAGE_NAMESPACES] = refined(err.number);
	else
		wait_for(pid, pidfd);
}

/* Tries to make a child of berm's group in the v2 hierarchy, with the controllers for limits. */
static void try_cgroup(struct trial *trial)
{
	char line[PATH_MAX], path[PATH_MAX + 64], controllers[256];
	autofclose FILE *file = fopen("/proc/self/cgroup", "re");
	line[0] = '\0';
	while (file && fgets(line, sizeof line, file) && strncmp(line, "0::/", 4) != 0)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	trial->number[STAGE_CGROUP] = ENOENT;
	if (!line[0])
		return;
	snprintf(path, sizeof path, "/sys/fs/cgroup%s/cgroup.controllers", line + 3);
	if (access(path, R_OK) < 0)
		return;
	probe_read_line(path, controllers, sizeof controllers);
	snprintf(path, sizeof path, "/sys/fs/cgroup%s/berm-probe-%ld", line + 3, (long)getpid());
	if (mkdir(path, 0755) < 0 || rmdir(path) < 0)
		trial->number[STAGE_CGROUP] = errno;
	else
		trial->number[STAGE_CGROUP] = strstr(controllers, "memory") && strstr(controllers, "pids") ? 0 : EOPNOTSUPP;
}

static void try_getfd(struct trial *trial)
{
	int gate[2];
	pid_t pid;
	char byte;
	if (pipe2(gate, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) < 0 ? 1 : 0);
	}
	close(gate[0]);
	if (pid > 0) {
		autoclose int pidfd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
		autoclose int taken = pidfd < 0 ? -1 : (int)syscall(NR_PIDFD_GETFD, pidfd, gate[0], 0);
		trial->number[STAGE_GETFD] = taken >= 0 ? 0 : errno;
	}
	close(gate[1]);
	if (pid > 0)
		(void)child_wait(pid, NULL);
}

static void try_landlock(struct trial *trial)
{
	trial->landlock_abi = landlock_abi();
	trial->number[STAGE_LANDLOCK] = landlock_refusal();
}

/* In a child, because a seccomp filter cannot be removed. */
static void run_notify(struct trial *trial)
{
	pid_t pid = fork();
	autoclose int pidfd = -1;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		trial_notify_run(trial);
		_exit(0);
	}
	if (pid < 0)
		return;
	pidfd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
	wait_for(pid, pidfd);
}

void trial_run(bool has_host_network, struct trial *trial)
{
	struct trial *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		shared = trial;
	for (int i = 0; i < STAGE_COUNT; i++)
		shared->number[i] = TRIAL_UNTRIED;
	shared->number[STAGE_NONE] = 0;
	shared->network = !has_host_network;
	try_landlock(shared);
	run_chain(has_host_network, shared);
	run_notify(shared);
	try_cgroup(shared);
	try_getfd(shared);
	if (shared == trial)
		return;
	*trial = *shared;
	munmap(shared, sizeof *shared);
}

enum stage trial_failure(const struct trial *trial)
{
	static const enum stage needed[] = { STAGE_NAMESPACES, STAGE_MAP,  STAGE_LOOPBACK, STAGE_LOCK,
					     STAGE_ROOT,       STAGE_BIND, STAGE_ENTER,	   STAGE_FILTER };
	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if (trial->number[needed[i]] != 0)
			return needed[i];
	return STAGE_NONE;
}

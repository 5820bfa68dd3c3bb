/* SPDX-License-Identifier: Apache-2.0 */
/* The floor: what a launch with berm's mechanisms costs on this machine without anything of berm.
 * Six namespaces, identity map, loopback, the host read-only, a tmpfs over /tmp, a fresh /proc,
 * device nodes, `masks` files covered, Landlock, no capabilities, a filter, an init that waits.
 * Every call is fixed, nothing is looked up, planned or checked for, and it is no sandbox: the rest
 * of the host stays visible.
 *
 * bench_floor MASK-SOURCE PROJECT MASKED... -- COMMAND [ARGUMENT...]
 *
 * It has no allocation, no second copy of its memory (init shares the launcher's), no supervisor. A
 * ratio to it can be compared between machines, which a ratio to the bare command cannot:
 * processors that are slow at namespaces are not slow at everything. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 65536, FILTER_LEAVES = 96, CALLS_PER_LEAF = 5, AT_RECURSIVELY = 0x8000 };

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

extern char **environ;

static struct {
	char **argv;
	char **masked; /* ends with NULL */
	const char *mask, *project;
	uid_t uid;
	gid_t gid;
	volatile int status;
} run;

static char init_stack[STACK_BYTES] __attribute__((aligned(16))), command_stack[STACK_BYTES] __attribute__((aligned(16)));

static void need(long result, const char *what)
{
	if (result >= 0)
		return;
	dprintf(2, "bench_floor: %s: %s\n", what, strerror(errno));
	_exit(125);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	need(fd, path);
	need(write(fd, text, strlen(text)), path);
	close(fd);
}

static void settle(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	char map[64];
	int fd;
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof map, "%u %u 1", run.uid, run.uid);
	put("/proc/self/uid_map", map);
	snprintf(map, sizeof map, "%u %u 1", run.gid, run.gid);
	put("/proc/self/gid_map", map);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	need(fd, "socket");
	need(ioctl(fd, SIOCSIFFLAGS, &request), "loopback");
	close(fd);
}

static void bind_device(const char *name)
{
	char from[32], to[32];
	int fd;
	snprintf(from, sizeof from, "/dev/%s", name);
	snprintf(to, sizeof to, "/tmp/%s", name);
	fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	need(fd, to);
	close(fd);
	need(mount(from, to, NULL, MS_BIND, NULL), to);
}

/* The project and the mask are in place before the host becomes read-only, and the masks on the
 * project's mount. */
static void view(void)
{
	static const char *const devices[] = { "null", "zero", "full", "random", "urandom", "tty" };
	struct {
		uint64_t set, clear, propagation, user_namespace;
	} change = { MS_RDONLY | MS_NOSUID, 0, MS_PRIVATE, 0 }, writable = { 0, MS_RDONLY, 0, 0 };

	need(mount(run.project, run.project, NULL, MS_BIND | MS_REC, NULL), run.project);
	need(syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVELY, &change, sizeof change), "mount_setattr");
	need(syscall(SYS_mount_setattr, AT_FDCWD, run.project, 0, &writable, sizeof writable), run.project);
	for (char **path = run.masked; *path; path++)
		need(mount(run.mask, *path, NULL, MS_BIND, NULL), *path);
	need(mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID, "mode=755"), "/tmp");
	for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
		bind_device(devices[i]);
	need(mount("/tmp", "/dev", NULL, MS_MOVE, NULL), "/dev");
	need(mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"), "/tmp");
	need(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL), "/proc");
	need(chdir(run.project), run.project);
}

static void restrict_files(void)
{
	static const char *const paths[] = { "/usr", "/etc", "/opt", "/proc", "/dev", "/tmp", "/sys", "/var", "/home", "/" };
	struct landlock_ruleset_attr attributes = { .handled_access_fs =
							    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
							    LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
	need(rules, "Landlock");
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct landlock_path_beneath_attr rule = { .allowed_access = attributes.handled_access_fs };
		rule.parent_fd = open(paths[i], O_PATH | O_CLOEXEC);
		if (rule.parent_fd < 0)
			continue;
		need(syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0), paths[i]);
		close(rule.parent_fd);
	}
	need(syscall(SYS_landlock_restrict_self, rules, 0), "landlock_restrict_self");
	close(rules);
}

/* A balanced tree over the numbers of calls, each leaf of which allows: the kernel walks it for
 * every number when it is loaded. Returns where it ends. */
static int tree(struct sock_filter *code, int at, unsigned first, unsigned count)
{
	int right;
	if (count == 1) {
		code[at] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		return at + 1;
	}
	right = tree(code, at + 1, first, count / 2);
	code[at] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (first + count / 2) * CALLS_PER_LEAF,
						(unsigned char)(right - at - 1), 0);
	return tree(code, right, first + count / 2, count - count / 2);
}

static void filter_calls(void)
{
	struct sock_filter code[2 * FILTER_LEAVES] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { .filter = code };
	program.len = (unsigned short)tree(code, 1, 0, FILTER_LEAVES);
	need(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), "seccomp");
}

static int become_command(void *unused)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	(void)unused;
	need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	restrict_files();
	need(syscall(SYS_capset, &header, none), "capset");
	filter_calls();
	execve(run.argv[0], run.argv, environ);
	need(-1, run.argv[0]);
	return 0;
}

static int become_init(void *unused)
{
	pid_t command;
	int status;
	(void)unused;
	need(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "PDEATHSIG");
	settle();
	view();
	command = clone(become_command, command_stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	need(command, "clone");
	need(waitpid(command, &status, 0), "wait");
	run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	_exit(0);
}

int main(int argc, char **argv)
{
	int namespaces =
		CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
	int last = 3;
	pid_t init;

	while (last < argc && strcmp(argv[last], "--") != 0)
		last++;
	if (last + 1 >= argc) {
		fputs("usage: bench_floor MASK-SOURCE PROJECT MASKED... -- COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	argv[last] = NULL;
	run.mask = argv[1];
	run.project = argv[2];
	run.masked = argv + 3;
	run.argv = argv + last + 1;
	run.uid = getuid();
	run.gid = getgid();
	run.status = 125;
	init = clone(become_init, init_stack + STACK_BYTES, namespaces | CLONE_VM | SIGCHLD, NULL);
	need(init, "clone");
	need(waitpid(init, NULL, 0), "wait");
	return run.status;
}

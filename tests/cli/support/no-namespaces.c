/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command where namespaces and mounts are refused, in the way of containers' usual
 * system-call profile: EPERM for what makes or enters a namespace or mounts, ENOSYS for clone3.
 * With --listener it also takes the one notification listener that a process tree can have. For
 * x86_64 and aarch64. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define GIVE(action) BPF_STMT(BPF_RET | BPF_K, action)
/* The next two instructions refuse a call of this number. */
#define REFUSE(number, with) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), GIVE(SECCOMP_RET_ERRNO | (with))

int main(int argc, char **argv)
{
	struct sock_filter program[] = {
		LOAD(nr),
		REFUSE(435, ENOSYS), /* clone3 */
		REFUSE(SYS_mount, EPERM),
		REFUSE(SYS_umount2, EPERM),
		REFUSE(SYS_pivot_root, EPERM),
		REFUSE(SYS_setns, EPERM),
		REFUSE(428, EPERM), /* open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr */
		REFUSE(429, EPERM),
		REFUSE(430, EPERM),
		REFUSE(431, EPERM),
		REFUSE(432, EPERM),
		REFUSE(433, EPERM),
		REFUSE(442, EPERM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
		GIVE(SECCOMP_RET_ERRNO | EPERM),
		GIVE(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog description = { sizeof program / sizeof program[0], program };
	int status = 0;
	pid_t child;
	int has_listener = argc > 1 && strcmp(argv[1], "--listener") == 0;
	unsigned long flags = has_listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;

	argv += 1 + has_listener;
	if (!*argv)
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &description) < 0) {
		perror("no-namespaces: seccomp");
		return 99;
	}
	/* The kernel keeps a listener while a process holds its fd. */
	if (has_listener && (child = fork()) > 0)
		return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 98;
	execvp(argv[0], argv);
	perror(argv[0]);
	return 127;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A host that refuses: `refuse WHAT... -- COMMAND` runs COMMAND on what looks like a machine
 * without something.
 *
 *   docker              namespaces and mounts, as Docker's default seccomp profile does (clone3
 *                       hidden, unshare EPERM, mounts EPERM)
 *   mounts              mounts only
 *   chroot=ERRNO        chroot fails with this number, as in containers without capabilities
 *                       (podman, CRI-O)
 *   setns=ERRNO         setns fails with this number
 *   clone3=ERRNO        clone3 fails with this number
 *   landlock=ERRNO      Landlock's calls fail with this number
 *   landlock-abi=N      Landlock says that it is of this version
 *   notify              a listener is refused with EBUSY, as where somebody listens already
 *   socket=FAMILY       sockets of this family are refused with EPERM, as other sandboxes do
 *   covered-proc        a mount covers a part of /proc, as in containers: a new one is refused
 *   no-namespaces       a user namespace in which user.max_user_namespaces is 0
 *   lie-landlock        landlock_restrict_self succeeds and restricts nothing
 *   lie-seccomp         loading a filter succeeds and loads none
 *   lie-listener        the same for a filter with a listener
 *   none                nothing: the control */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NR_CREATE_RULESET = 444, NR_RESTRICT_SELF = 446, VERSION_FLAG = 1, LISTENER_FLAG = 8, NOTHING = 125 };

static scmp_filter_ctx filter;
static bool has_rules;
static int faked_abi = -1;

_Noreturn static void fail(const char *what, int number)
{
	fprintf(stderr, "refuse: %s: %s\n", what, strerror(number));
	exit(NOTHING);
}

static void add(uint32_t action, int number)
{
	int status = seccomp_rule_add(filter, action, number, 0);
	has_rules = true;
	if (status < 0)
		fail("rule", -status);
}

static void add_if(uint32_t action, int number, struct scmp_arg_cmp condition)
{
	int status = seccomp_rule_add(filter, action, number, 1, condition);
	has_rules = true;
	if (status < 0)
		fail("rule", -status);
}

static void add_flagged(uint32_t action, int number, unsigned argument, uint64_t flag)
{
	add_if(action, number, SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, flag, flag));
}

static void add_equal(uint32_t action, int number, unsigned argument, uint64_t value)
{
	add_if(action, number, SCMP_CMP(argument, SCMP_CMP_EQ, value));
}

static void refuse_mounts(void)
{
	/* mount, umount2, pivot_root; open_tree, move_mount, fsopen, fsconfig, fsmount, fspick,
	 * mount_setattr: since 5.2 the numbers are the same everywhere. */
	const int numbers[] = { SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), 428, 429, 430, 431, 432, 433, 442 };
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		add(SCMP_ACT_ERRNO(EPERM), numbers[i]);
}

static void refuse_namespaces(void)
{
	const uint64_t flags[] = { CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS };
	add(SCMP_ACT_ERRNO(ENOSYS), 435); /* clone3: its flags cannot be seen */
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		add_flagged(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 0, flags[i]);
		add_flagged(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 0, flags[i]);
	}
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path, errno);
	close(fd);
}

/* The same user in a namespace of its own, with all capabilities in it until the next execve. */
static void enter_namespace(int flags)
{
	unsigned uid = getuid(), gid = getgid();
	char map[64];
	if (unshare(CLONE_NEWUSER | flags) < 0)
		fail("unshare", errno);
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof map, "%u %u 1", uid, uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof map, "%u %u 1", gid, gid);
	write_file("/proc/self/gid_map", map);
}

static void cover_proc(void)
{
	enter_namespace(CLONE_NEWNS);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/proc/driver", "tmpfs", MS_RDONLY, NULL) < 0)
		fail("mount", errno);
}

static bool take(const char *word)
{
	const char *value = strchr(word, '=');
	int number = value ? atoi(value + 1) : 0;
	size_t length = value ? (size_t)(value - word) : strlen(word);
	if (strncmp(word, "docker", length) == 0) {
		refuse_namespaces();
		refuse_mounts();
	} else if (strncmp(word, "mounts", length) == 0) {
		refuse_mounts();
	} else if (strncmp(word, "chroot", length) == 0) {
		add(SCMP_ACT_ERRNO((uint32_t)number), SCMP_SYS(chroot));
	} else if (strncmp(word, "setns", length) == 0) {
		add(SCMP_ACT_ERRNO((uint32_t)number), SCMP_SYS(setns));
	} else if (strncmp(word, "clone3", length) == 0) {
		add(SCMP_ACT_ERRNO((uint32_t)number), 435);
	} else if (strncmp(word, "landlock-abi", length) == 0 && length > 8) {
		faked_abi = number;
		add_flagged(SCMP_ACT_NOTIFY, NR_CREATE_RULESET, 2, VERSION_FLAG);
	} else if (strncmp(word, "landlock", length) == 0) {
		for (int call = NR_CREATE_RULESET; call < NR_CREATE_RULESET + 3; call++)
			add(SCMP_ACT_ERRNO((uint32_t)number), call);
	} else if (strncmp(word, "notify", length) == 0) {
		add_flagged(SCMP_ACT_ERRNO(EBUSY), SCMP_SYS(seccomp), 1, LISTENER_FLAG);
	} else if (strncmp(word, "socket", length) == 0) {
		add_equal(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 0, (uint64_t)number);
	} else if (strncmp(word, "no-namespaces", length) == 0) {
		enter_namespace(0);
		write_file("/proc/sys/user/max_user_namespaces", "0");
	} else if (strncmp(word, "covered-proc", length) == 0) {
		cover_proc();
	} else if (strncmp(word, "lie-landlock", length) == 0) {
		add(SCMP_ACT_ERRNO(0), NR_RESTRICT_SELF);
	} else if (strncmp(word, "lie-seccomp", length) == 0) {
		add_equal(SCMP_ACT_ERRNO(0), SCMP_SYS(seccomp), 1, 0);
	} else if (strncmp(word, "lie-listener", length) == 0) {
		add_flagged(SCMP_ACT_ERRNO(0), SCMP_SYS(seccomp), 1, LISTENER_FLAG);
	} else if (strncmp(word, "none", length) != 0) {
		return false;
	}
	return true;
}

/* Answers every question for Landlock's version until nobody is left to ask. */
static void supervise(int listener)
{
	struct seccomp_notif *question;
	struct seccomp_notif_resp *answer;
	if (seccomp_notify_alloc(&question, &answer) < 0)
		fail("notification", ENOMEM);
	while (seccomp_notify_receive(listener, question) == 0) {
		memset(answer, 0, sizeof *answer);
		answer->id = question->id;
		answer->val = faked_abi;
		seccomp_notify_respond(listener, answer);
		memset(question, 0, sizeof *question);
	}
	seccomp_notify_free(question, answer);
}

int main(int argc, char **argv)
{
	int at = 1, status = 0, listener;
	pid_t command, supervisor = -1;

	filter = seccomp_init(SCMP_ACT_ALLOW);
	for (; at < argc && strcmp(argv[at], "--") != 0; at++)
		if (!take(argv[at]))
			fail(argv[at], EINVAL);
	if (at + 1 >= argc)
		fail("no command", EINVAL);
	if (has_rules && (status = seccomp_load(filter)) < 0)
		fail("seccomp", -status);
	if (faked_abi < 0) {
		execvp(argv[at + 1], argv + at + 1);
		fail(argv[at + 1], errno);
	}
	listener = seccomp_notify_fd(filter);
	supervisor = fork();
	if (supervisor == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		supervise(listener);
		_exit(0);
	}
	command = fork();
	if (command == 0) {
		close(listener);
		execvp(argv[at + 1], argv + at + 1);
		fail(argv[at + 1], errno);
	}
	while (waitpid(command, &status, 0) < 0 && errno == EINTR)
		;
	kill(supervisor, SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

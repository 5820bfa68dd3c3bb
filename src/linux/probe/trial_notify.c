/* SPDX-License-Identifier: Apache-2.0 */
/* Notification, for real: a filter with a listener, a call that waits for an answer, a descriptor handed in as that answer. Takes a filter
 * on that cannot be taken off: only for a throwaway child. */
#include "linux/probe/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/confine/filter.h"

enum {
	ANSWER_MS = 2000,
	FLAG_LISTENER = 1 << 3, /* SECCOMP_FILTER_FLAG_* */
	FLAG_KILLABLE = 1 << 5,
	ADDFD_ANSWERS = 1 << 1, /* SECCOMP_ADDFD_FLAG_SEND */
	VALUE_TOLD = 4711, /* what the supervisor answers where it cannot answer with a descriptor */
};

/* struct seccomp_notif_addfd and its ioctl: headers older than 5.9 lack them. */
struct addfd {
	uint64_t id;
	uint32_t flags, source, target, target_flags;
};
#define IOCTL_ADDFD _IOW('!', 3, struct addfd)

/* A call without effect that neither the C library nor this file makes otherwise. */
static struct sock_filter notifying[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_filter allowing[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };

static int load(struct sock_filter *code, size_t count, unsigned flags)
{
	struct sock_fprog program = { .len = (unsigned short)count, .filter = code };
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* The descriptor that the answer brought is one that was not there before. */
_Noreturn static void ask(int listener)
{
	long got;
	close(listener); /* without a supervisor the call ends */
	got = syscall(SYS_getpgid, 0);
	_exit(got == VALUE_TOLD || (got > STDERR_FILENO && fcntl((int)got, F_GETFD) >= 0) ? 0 : 1);
}

static int answer(int listener, uint64_t id, struct probe_trial *trial)
{
	struct addfd addfd = { .id = id, .flags = ADDFD_ANSWERS, .source = (uint32_t)listener };
	struct seccomp_notif_resp response = { .id = id, .val = VALUE_TOLD };
	if (ioctl(listener, IOCTL_ADDFD, &addfd) >= 0) {
		trial->number[STAGE_ADDFD] = 0;
		trial->number[STAGE_ADDFD_SEND] = 0;
		return 0;
	}
	trial->number[STAGE_ADDFD_SEND] = errno;
	addfd.flags = 0;
	trial->number[STAGE_ADDFD] = ioctl(listener, IOCTL_ADDFD, &addfd) >= 0 ? 0 : errno;
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* Was there a question, and was it answered? */
static bool serve(int listener, struct probe_trial *trial)
{
	struct pollfd asked = { .fd = listener, .events = POLLIN };
	/* The kernel may know longer structures than this header; it asks for zeroes and for room. */
	union {
		struct seccomp_notif notification;
		char room[512];
	} received;
	memset(&received, 0, sizeof received);
	return poll(&asked, 1, ANSWER_MS) == 1 && ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &received) == 0 &&
	       answer(listener, received.notification.id, trial) == 0;
}

void probe_notify_run(struct probe_trial *trial)
{
	autoclose int listener = -1;
	int status = 0;
	pid_t pid;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return;
	trial->number[STAGE_FILTER] = load(allowing, 1, 0) == 0 ? 0 : errno;
	if (trial->number[STAGE_FILTER])
		return;
	listener = load(notifying, sizeof notifying / sizeof notifying[0], FLAG_LISTENER | FLAG_KILLABLE);
	trial->number[STAGE_KILLABLE] = listener >= 0 ? 0 : errno;
	if (listener < 0)
		listener = load(notifying, sizeof notifying / sizeof notifying[0], FLAG_LISTENER);
	trial->number[STAGE_LISTENER] = listener >= 0 ? 0 : errno;
	if (listener < 0) {
		trial->number[STAGE_KILLABLE] = TRIAL_UNTRIED;
		return;
	}
	pid = fork();
	if (pid == 0)
		ask(listener);
	if (pid < 0)
		return;
	if (!serve(listener, trial))
		kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		trial->number[STAGE_ADDFD] = EPROTO;
}

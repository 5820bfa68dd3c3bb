/* SPDX-License-Identifier: Apache-2.0 */
/* Tries seccomp notification: a filter with a listener, a call that waits for a reply, an fd passed
 * as the reply. Loads a filter that cannot be removed: only for a throwaway child. */
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
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "linux/confine/filter.h"

enum {
	REPLY_MS = 2000,
	FLAG_LISTENER = 1 << 3, /* SECCOMP_FILTER_FLAG_* */
	FLAG_KILLABLE = 1 << 5,
	ADDFD_REPLIES = 1 << 1, /* SECCOMP_ADDFD_FLAG_SEND */
	REPLY_VALUE = 4711, /* the reply if it cannot be an fd */
};

/* struct seccomp_notif_addfd and its ioctl: headers older than 5.9 lack them. */
struct addfd {
	uint64_t id;
	uint32_t flags, source, target, target_flags;
};
#define IOCTL_ADDFD _IOW('!', 3, struct addfd)

/* Notifies getpgid(), which has no effect and has no other caller in this process. */
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

/* Makes the call. Exits with 0 if the result is the reply's value or an open fd. */
_Noreturn static void ask(int listener)
{
	long got;
	close(listener); /* or the call would wait forever for a supervisor that exited */
	got = syscall(SYS_getpgid, 0);
	_exit(got == REPLY_VALUE || (got > STDERR_FILENO && fcntl((int)got, F_GETFD) >= 0) ? 0 : 1);
}

static int reply(int listener, uint64_t id, struct trial *trial)
{
	struct addfd addfd = { .id = id, .flags = ADDFD_REPLIES, .source = (uint32_t)listener };
	struct seccomp_notif_resp response = { .id = id, .val = REPLY_VALUE };
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

/* True if one call was notified and received a reply. */
static bool serve(int listener, struct trial *trial)
{
	struct pollfd asked = { .fd = listener, .events = POLLIN };
	/* A newer kernel may write a longer structure than this header's, and requires zeroes. */
	union {
		struct seccomp_notif notification;
		char room[512];
	} received;
	memset(&received, 0, sizeof received);
	return poll(&asked, 1, REPLY_MS) == 1 && ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &received) == 0 &&
	       reply(listener, received.notification.id, trial) == 0;
}

void trial_notify_run(struct trial *trial)
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
	if (child_wait(pid, &status) < 0 || status != 0)
		trial->number[STAGE_ADDFD] = EPROTO;
}

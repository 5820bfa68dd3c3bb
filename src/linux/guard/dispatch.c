/* SPDX-License-Identifier: Apache-2.0 */
/* Receives, looks up, replies. A reply that the kernel refuses for another reason than that the
 * caller is gone would leave the caller hanging, so it is followed by a plain error. */
#include "linux/guard/dispatch.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

enum { SYNC_WAKE_UP = 1, ADDFD_REPLIES = 1 << 1, NEW_FD_CLOEXEC = 02000000 };
/* struct seccomp_notif_addfd and the ioctls: old headers lack them. */
struct addfd {
	uint64_t id;
	uint32_t flags, source, target, target_flags;
};
#define IOCTL_ADDFD _IOW('!', 3, struct addfd)
#define IOCTL_SET_FLAGS _IOW('!', 4, uint64_t)

int dispatch_wake_synchronously(int listener)
{
	return ioctl(listener, IOCTL_SET_FLAGS, (unsigned long)SYNC_WAKE_UP);
}

static void reply(struct dispatch_call *call, int error, uint32_t flags)
{
	struct seccomp_notif_resp response = { .id = call->notification.id, .error = -error, .flags = flags };
	if (call->is_answered)
		return;
	call->is_answered = true;
	if (ioctl(call->listener, SECCOMP_IOCTL_NOTIF_SEND, &response) == 0 || errno == ENOENT)
		return;
	response.error = -EACCES;
	response.flags = 0;
	ioctl(call->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void dispatch_answer(struct dispatch_call *call, int error)
{
	reply(call, error, 0);
}

void dispatch_continue(struct dispatch_call *call)
{
	reply(call, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

int dispatch_inject(struct dispatch_call *call, int fd, bool is_close_on_exec)
{
	struct addfd addfd = { .id = call->notification.id,
			       .flags = ADDFD_REPLIES,
			       .source = (uint32_t)fd,
			       .target_flags = is_close_on_exec ? NEW_FD_CLOEXEC : 0 };
	if (call->is_answered)
		return 0;
	/* ENOENT: the caller was killed. */
	if (ioctl(call->listener, IOCTL_ADDFD, &addfd) < 0 && errno != ENOENT)
		return errno;
	call->is_answered = true;
	return 0;
}

bool dispatch_is_waiting(const struct dispatch_call *call)
{
	uint64_t id = call->notification.id;
	return ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* True if no process can notify any more. */
static bool has_ended(int listener)
{
	struct pollfd state = { .fd = listener, .events = POLLIN };
	return poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR | POLLNVAL));
}

bool dispatch_await(int listener)
{
	struct pollfd state = { .fd = listener, .events = POLLIN };
	while (poll(&state, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	return !(state.revents & (POLLHUP | POLLERR | POLLNVAL));
}

bool dispatch_serve(const struct dispatch_table *table, int listener)
{
	struct dispatch_call call = { .listener = listener, .self = table->self };
	size_t i = 0;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call.notification) < 0)
		/* ENOENT: the caller was killed meanwhile, or there is no caller left. */
		return errno == EINTR || errno == EAGAIN || (errno == ENOENT && !has_ended(listener));
	while (i < table->count && table->rows[i].number != call.notification.data.nr)
		i++;
	if (i < table->count && table->around)
		table->around(&call, table->rows[i].handle);
	else if (i < table->count)
		table->rows[i].handle(&call);
	reply(&call, EPERM, 0); /* has no effect after an answer */
	return true;
}

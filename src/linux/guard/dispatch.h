/* SPDX-License-Identifier: Apache-2.0 */
/* The one listener and its dispatcher: a table from system calls to handlers. No other code talks
 * to the listener. Every notification gets a reply, whatever its handler does; when the holder of
 * the listener dies, the kernel fails every notified call with ENOSYS. */
#ifndef BERM_LINUX_GUARD_DISPATCH_H
#define BERM_LINUX_GUARD_DISPATCH_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A system call that waits for its reply. */
struct dispatch_call {
	struct seccomp_notif notification;
	int listener;
	void *self; /* of the table */
	bool is_answered;
};

struct dispatch_row {
	long number;
	void (*handle)(struct dispatch_call *call);
};
struct dispatch_table {
	const struct dispatch_row *rows;
	size_t count;
	void *self;
	/* Calls the handler; NULL: it is called as it is. */
	void (*around)(struct dispatch_call *call, void (*handle)(struct dispatch_call *call));
};

/* Makes the kernel switch directly between caller and receiver (6.6). Returns 0, or -1 with
 * errno. */
int dispatch_wake_synchronously(int listener);
/* Waits for a notification. False if no process can send one any more. */
bool dispatch_await(int listener);
/* Receives one notification, waiting for it, calls its handler and makes sure of a reply: a call
 * without a row, or without an answer of its handler, fails with EPERM. False if the listener has
 * ended. */
bool dispatch_serve(const struct dispatch_table *table, int listener);

/* The reply; only the first of a call counts. */
void dispatch_answer(struct dispatch_call *call, int error); /* 0: success */
/* The kernel performs the call, with the arguments as they are then: only where Landlock is the
 * judge of it. */
void dispatch_continue(struct dispatch_call *call);
/* Puts a copy of the fd into the caller, as the call's result. Returns 0 or an errno; then there is
 * no answer yet. */
int dispatch_inject(struct dispatch_call *call, int fd, bool is_close_on_exec);
/* True if the caller still waits: otherwise its pid may belong to another process. */
bool dispatch_is_waiting(const struct dispatch_call *call);
static inline uint64_t dispatch_argument(const struct dispatch_call *call, int number)
{
	return call->notification.data.args[number];
}

#endif

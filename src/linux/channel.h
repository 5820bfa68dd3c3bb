/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-size messages between the launcher outside and init inside. No pointers, no parsing. */
#ifndef BERM_LINUX_CHANNEL_H
#define BERM_LINUX_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

enum message_type {
	MESSAGE_FAILED = 1, /* init → launcher: set-up failed, nothing ran; error says it */
	MESSAGE_NOTE, /* init → launcher: something to say on stderr; the run goes on */
	MESSAGE_NOT_EXECUTED, /* init → launcher: value is the errno of execve */
	MESSAGE_STOPPED, /* init → launcher: the command stopped; value is the signal */
	MESSAGE_CONTINUED,
	MESSAGE_GIT_REFUSED, /* init → launcher: git inside could not write a locked configuration, by its own account */
	MESSAGE_NETWORK_SOUGHT, /* init → launcher: what failed looked for a network that is not there */
	MESSAGE_EXITED, /* init → launcher: value is the wait status */
	MESSAGE_SIGNAL, /* launcher → init: send the signal `value` to the command */
	MESSAGE_FOREGROUND, /* launcher → init: berm's group has the terminal; the command's group gets it */
	MESSAGE_SIGNAL_ALL, /* launcher → init: send it to every process inside */
	MESSAGE_SCOPE, /* launcher → init: systemd was asked for a scope; value says whether init is in it. Go on */
	MESSAGE_WATCH, /* init → launcher: descriptors for watch_take; value says which */
	MESSAGE_PLAN, /* launcher → init: the launch is complete but for findings; value says where it lies (early.h) */
	MESSAGE_OWN, /* init → launcher: the directory of the run's own files, as a descriptor (furnish.h) */
	MESSAGE_FURNISHED, /* launcher → init: what belongs there is there */
	MESSAGE_GO, /* launcher → init: the plan may be run */
	MESSAGE_FINDINGS, /* launcher → init: what the scan found follows, so many bytes (findings.h) */
};

enum { CHANNEL_DESCRIPTOR_MAX = 4 };

struct message {
	enum message_type type;
	int value;
	struct error error;
};

/* Two close-on-exec ends. */
int channel_open(int ends[2], struct error *err);
/* 0, or -1 with errno; the other end's absence is EPIPE, never a signal. */
int channel_send(int fd, const struct message *message);
/* Of a sending's result, with its errno: it failed though the other end may well be there, and wait for ever. (One that is gone is told of by its
 * pidfd.) */
bool channel_has_failed(int sent);
/* As channel_send, with descriptors, at most CHANNEL_DESCRIPTOR_MAX. */
int channel_send_with(int fd, const struct message *message, const int *descriptors, size_t count);
/* 1 with a whole message, 0 when the other end is gone, -1 with errno. */
int channel_receive(int fd, struct message *message);
/* The same; descriptors that came with it are the caller's, and close-on-exec. */
int channel_receive_with(int fd, struct message *message, int *descriptors, size_t *count);

/* Bytes in as many packets as they need; the other end must expect just that many. 0, or -1 with errno. */
int channel_send_bytes(int fd, void *bytes, size_t length);
int channel_receive_bytes(int fd, void *bytes, size_t length);

#endif

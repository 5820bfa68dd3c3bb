/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-size messages between the launcher outside and init inside. They contain no pointers and
 * need no parsing. */
#ifndef BERM_LINUX_CHANNEL_H
#define BERM_LINUX_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

enum message_type {
	MESSAGE_FAILED = 1, /* init → launcher: set-up failed, nothing ran; `error` is set */
	MESSAGE_NOTE, /* init → launcher: `error` is a note for stderr; the run goes on */
	MESSAGE_NOT_EXECUTED, /* init → launcher: value is the errno of execve */
	MESSAGE_STOPPED, /* init → launcher: the command stopped; value is the signal */
	MESSAGE_CONTINUED, /* init → launcher: the command was continued */
	/* Init → launcher: git reported that it could not change something; value is
	 * GIT_REFUSED_*. */
	MESSAGE_GIT_REFUSED,
	/* Init → launcher: the guard refused a name; `error.message` is its path, `error.hint`
	 * names what obeys it, `error.number` 1 if files.write can lift it, `value` the number of
	 * all refusals. */
	MESSAGE_NAME_REFUSED,
	MESSAGE_NETWORK_TRIED, /* init → launcher: the failed command tried to use the network */
	MESSAGE_EXITED, /* init → launcher: value is the wait status */
	MESSAGE_SIGNAL, /* launcher → init: send the signal `value` to the command */
	MESSAGE_FOREGROUND, /* launcher → init: give the terminal to the command's group */
	MESSAGE_SIGNAL_ALL, /* launcher → init: send the signal `value` to every process inside */
	MESSAGE_SCOPE, /* launcher → init: value is 1 if init is in a systemd scope now, else 0 */
	MESSAGE_WATCH, /* init → launcher: fds for watch_take; `value` has a bit for each */
	MESSAGE_RUN_FILES, /* init → launcher: fd of the run files' directory (view/run_files.h) */
	/* Launcher → init: `value` masks exist and the documents do. The last message of this type
	 * has the number of all masks. */
	MESSAGE_RUN_FILES_DONE,
	MESSAGE_GO, /* launcher → init: the command may be started */
	MESSAGE_SCAN_RESULTS, /* launcher → init: `value` bytes follow (launch/scan_results.h) */

	/* Of a session (linux/session/session.h). `id` is that of a command, or MESSAGE_ID_ALL. */
	MESSAGE_READY, /* init → holder: it waits for commands */
	MESSAGE_JOIN, /* holder → init: `value` bytes of a request follow; with three fds */
	MESSAGE_STARTED, /* holder → client: init gets the command */
	MESSAGE_KILL, /* holder → init: end the command */
	MESSAGE_LEFT, /* a question and its answer: `value` processes or commands are left */
	MESSAGE_ENDED, /* holder → client: berm has ended the command; value is the exit status */
};

enum { CHANNEL_DESCRIPTOR_MAX = 4 };
#define MESSAGE_ID_ALL 0xffffffffu

struct message {
	enum message_type type;
	unsigned id; /* of a session's command; 0: none */
	int value;
	struct error error;
};

/* Creates a socket pair, close-on-exec. The caller closes both ends. */
int channel_open(int ends[2], struct error *err);
/* Returns 0, or -1 with errno. A closed other end is EPIPE, never a signal. */
int channel_send(int fd, const struct message *message);
/* True if this result of a send, with its errno, is a failure although the other end may be alive
 * and would wait forever. A process that has exited is reported by its pidfd instead. */
bool channel_has_failed(int sent);
/* As channel_send, with at most CHANNEL_DESCRIPTOR_MAX fds. */
int channel_send_with(int fd, const struct message *message, const int *descriptors, size_t count);
/* Returns 1 with a whole message, 0 if the other end is closed, -1 with errno. */
int channel_receive(int fd, struct message *message);
/* The same with fds. They are close-on-exec, and the caller closes them. */
int channel_receive_with(int fd, struct message *message, int *descriptors, size_t *count);

/* Send and receive bytes in as many packets as needed; both ends must use the same length. Return
 * 0, or -1 with errno. */
int channel_send_bytes(int fd, void *bytes, size_t length);
int channel_receive_bytes(int fd, void *bytes, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of the room session. */
#ifndef BERM_LINUX_SESSION_INTERNAL_H
#define BERM_LINUX_SESSION_INTERNAL_H

#include "linux/session/session.h"

/* covers.c: what the sandbox covers, and what a newer scan found besides. */

struct path_set {
	const char **items; /* sorted */
	size_t count;
};
struct covers {
	struct path_set masked, locked, pinned, opened;
};
/* Notes what the sandbox was built with. */
void covers_begin(struct covers *covers, const struct plan *plan);

/* A path that must be covered before the command may start. */
struct cover {
	const char *path;
	bool is_mask;
};
struct new_covers {
	struct cover *items;
	size_t count;
};
/* Lists in `arena` what the newer results have and the sandbox does not cover. -1 with err if late
 * mounts cannot follow the difference. */
int covers_compare(const struct covers *covers, const struct scan_results *now, struct arena *arena, struct new_covers *added,
		   struct error *err);
/* Adds paths that are covered now. */
void covers_add(struct covers *covers, struct arena *arena, const struct new_covers *added);

/* vet.c: what a request may contain. Each returns -1 with err if the command must run elsewhere. */

int vet_streams(const int *streams, size_t count, struct error *err);
/* A process cannot raise its limits or its priority: the command would have less than the
 * caller. */
int vet_caller(const struct session_caller *own, const struct session_caller *caller, struct error *err);

/* client.c: one connection. */

enum client_state {
	CLIENT_FREE,
	CLIENT_READING, /* until its request is complete */
	CLIENT_WAITING, /* for the watcher, which covers new names */
	CLIENT_RUNNING, /* init has its command */
	CLIENT_GONE, /* the same, and the client is not connected any more */
};

struct client {
	enum client_state state;
	unsigned id;
	int socket; /* -1: closed */
	char *bytes; /* the request; NULL once init has it */
	size_t length, received;
	int streams[SESSION_STREAMS];
	size_t stream_count;
	int64_t deadline; /* monotonic milliseconds; 0: none */
	uint64_t sync; /* the watcher has covered everything when it reaches this number */
	struct new_covers added; /* in `arena` */
	struct arena arena;
	bool is_time_over, is_asked_to_end;
};

/* Receives a packet. Returns 1 if the request is complete, 0 if it is not, -1 if the client is to
 * be dropped. */
int client_receive(struct client *client);
/* Closes everything and frees the slot. */
void client_free(struct client *client);
/* Closes the streams and forgets the request, which init has. */
void client_forget_request(struct client *client);
/* Sends a message. False if it cannot arrive; a hangup follows then. */
bool client_send(const struct client *client, const struct message *message);

#endif

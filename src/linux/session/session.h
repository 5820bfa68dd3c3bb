/* SPDX-License-Identifier: Apache-2.0 */
/* A session: one sandbox whose commands come one after the other or at once. Never hands a command
 * on that a cold launch would confine differently: then the client runs it cold, or refuses.
 *
 * Theory of operation. Init is the fork server: it forks each command inside the confined state.
 * The supervisor of the sandbox is the holder: it owns the socket, which no view contains, checks
 * each request and hands it to init with the client's streams. The client is an ordinary `berm
 * run`: it has read the policy, verified its plan and scanned the project as for a cold launch, and
 * it sweeps the project afterwards. So the holder decides three things only.
 *   - The client's plan is this sandbox's plan: plan_identity() of both is equal.
 *   - Everything that the client's scan found is covered. Names that are new since the session
 *     began are masked and locked by the watcher (linux/repair), and every cover is checked, before
 *     init gets the command. A change that no late mount can follow is refused.
 *   - Nothing in the request leads out: the streams are files, pipes and sockets, the working
 *     directory is a name that init resolves in the view, limits and priority only go down.
 * A client that is gone ends its command. A holder that is gone ends init, and so everything. */
#ifndef BERM_LINUX_SESSION_SESSION_H
#define BERM_LINUX_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/backend.h"
#include "linux/channel.h"
#include "linux/repair/repair.h"
#include "linux/session/request.h"

enum {
	/* Commands at once, with what they left: more are refused. */
	SESSION_COMMANDS_MAX = 128,
	/* Within this time a request is answered, or the client runs its command cold. */
	SESSION_ANSWER_MS = 2000,
};

/* caller.c: fills *caller for this process. Called before it blocks or ignores a signal. */
void session_caller_read(struct session_caller *caller);

/* connect.c: connects to the session's socket. Returns an fd that the caller closes, or -1 with
 * err. */
int session_connect(int directory, const char *stem, struct error *err);
/* Sends a whole request with `count` fds. -1 with errno. */
int session_send(int socket, struct text *bytes, const int *streams, size_t count);

struct holder_request {
	const struct plan *plan; /* scanned */
	const struct run_session *session;
	const char *proxy_secret; /* or NULL */
	int channel; /* to init */
	struct repair *repair; /* its watcher runs */
};

struct holder;
/* Makes the socket and the record; clients can connect from then on. NULL with err. */
struct holder *holder_open(const struct holder_request *request, struct error *err);
/* An fd that becomes readable when holder_turn has something to do. */
int holder_events(const struct holder *holder);
/* When holder_turn must be called at the latest, in monotonic milliseconds. */
int64_t holder_next(const struct holder *holder);
/* Handles clients and timeouts. True if the session must end. */
bool holder_turn(struct holder *holder, int64_t now);
/* Handles a message of init about a command, or about the session. True if the session must end. */
bool holder_take(struct holder *holder, const struct message *message);
/* The session has ended: reports that to its clients, and removes the socket. */
void holder_close(struct holder *holder, const struct run_result *result);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The deputy's state and handlers. Internal to the room. */
#ifndef BERM_LINUX_GUARD_DEPUTY_H
#define BERM_LINUX_GUARD_DEPUTY_H

#include "linux/guard/caller.h"
#include "linux/guard/dispatch.h"
#include "linux/guard/guard.h"
#include "linux/guard/lineage.h"

/* Shared by the threads. */
struct deputies {
	struct caller_umasks umasks;
	/* Lineage and its performers are used by one thread at a time. */
	pthread_mutex_t turn;
	struct lineage lineage;
	atomic_int count; /* of threads that serve */
};

/* One thread. Two are enough: while one waits until its caller has taken an fd, on another CPU, the
 * other one serves. They need no lock against each other, as two runs in a project need none. */
struct deputy {
	struct guard *guard;
	struct deputies *shared;
	mode_t mask; /* the thread's umask */
	bool has_turn;
	struct trees_seen seen;
	struct performer *performer; /* of the caller that is served; NULL: this thread */
};

/* True if the caller can be served; chooses the thread that performs its call. */
bool deputy_serves(struct deputy *deputy, const struct dispatch_call *call);
/* Gives this thread the caller's umask. */
void deputy_take_umask(struct deputy *deputy, const struct dispatch_call *call);
/* Performs the act for the caller. Returns as perform(). */
int deputy_perform(struct deputy *deputy, struct act *act);

/* Answers a call whose name was not found: with the errno if it is sure, else the kernel
 * answers. */
void deputy_leave(struct dispatch_call *call, int failed);
/* Reads the call's path at this argument and finds its name. False if the call was answered: it is
 * continued where it cannot make a name in the project, or fails by itself. */
bool deputy_find(struct dispatch_call *call, int base, int argument, struct caller_name *name);
/* Judges the name. False if the call was answered with a refusal; EEXIST if the name exists. */
bool deputy_allows(struct dispatch_call *call, const struct caller_name *name, enum guard_thing thing);
/* Returns the errno of a refusal, and adds the name to the list unless a read-only mount holds its
 * directory: that the kernel would have said itself. */
int deputy_refuse(const struct deputy *deputy, const struct caller_name *name, const struct guard_verdict *verdict);
/* Adds a refusal to the list. */
void deputy_note(const struct deputy *deputy, const char *path, const struct rule *rule);
static inline pid_t deputy_caller(const struct dispatch_call *call)
{
	return (pid_t)call->notification.pid;
}

/* deputy_open.c: open, openat, creat, openat2 with O_CREAT. */
void deputy_open(struct dispatch_call *call);
void deputy_openat(struct dispatch_call *call);
void deputy_creat(struct dispatch_call *call);
void deputy_openat2(struct dispatch_call *call);
/* deputy_move.c */
void deputy_rename(struct dispatch_call *call);
void deputy_renameat(struct dispatch_call *call);
void deputy_renameat2(struct dispatch_call *call);
void deputy_link(struct dispatch_call *call);
void deputy_linkat(struct dispatch_call *call);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The creating call itself, made by the deputy's thread or, for a program that has put Landlock on
 * itself, by a thread of init that has put the same rules on itself. Landlock does not check a
 * lookup, so only this last call differs. */
#ifndef BERM_LINUX_GUARD_PERFORM_H
#define BERM_LINUX_GUARD_PERFORM_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/types.h>

enum act_kind { ACT_OPEN, ACT_NODE, ACT_DIRECTORY, ACT_SYMLINK, ACT_LINK, ACT_RENAME, ACT_LAYER, ACT_END };

/* Names are relative to open directories, so that the checked name is the one that is made. */
struct act {
	enum act_kind kind;
	int directory;
	const char *name;
	int from; /* directory of from_name */
	const char *from_name; /* of a link or a rename; target of a symlink */
	unsigned flags; /* of openat2, linkat or renameat2; an open follows no symlink */
	mode_t mode;
	dev_t device;
	mode_t mask; /* the umask; set by perform() */
	struct performer *layer; /* ACT_LAYER: the thread to start */
};

/* A thread with the rules of one Landlock layer, and of those above it. */
struct performer {
	sem_t asked, answered;
	const struct act *act;
	int result;
	int ruleset; /* fd; kept open to recognise the same rules */
};

/* Performs the act with this umask. performer: NULL for the calling thread. Returns 0, an fd of
 * ACT_OPEN, or a negative errno. */
int perform(struct performer *performer, struct act *act, mode_t mask);
/* Starts a thread that has the rules of `above`, or of the calling thread if that is NULL, and
 * those of the ruleset, whose fd it takes. It inherits the rules above as they were enforced: a
 * ruleset can be widened afterwards. False if it cannot be had. */
bool performer_start(struct performer *performer, struct performer *above, int ruleset);
void performer_end(struct performer *performer);

#endif

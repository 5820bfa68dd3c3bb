/* SPDX-License-Identifier: Apache-2.0 */
/* Gives up capabilities, every means to regain them, and readability by other processes. */
#ifndef BERM_LINUX_CONFINE_CREDENTIALS_H
#define BERM_LINUX_CONFINE_CREDENTIALS_H

#include <stdbool.h>

#include "common/base/error.h"

/* Makes the caller not dumpable: no process inside can read, trace or take descriptors from it. */
int credentials_hide(struct error *err);
/* Zeroes the environment's strings in this process's memory. It may hold the caller's secrets, and
 * a process that never calls execve keeps it. Then getenv finds nothing. */
void credentials_wipe_environment(void);
/* Sets no_new_privs: no later execve gains privileges (set-user-id, file capabilities). */
int credentials_freeze(struct error *err);
/* Drops every capability from every set, the bounding set included, and locks the securebits. */
int credentials_drop(struct error *err);
/* Empties the bounding set only, which is the slowest part and may be done earlier. The caller
 * keeps its capabilities. */
int credentials_bound(struct error *err);
/* credentials_drop after credentials_bound; refuses if the bounding set is not empty. May keep
 * CAP_SYS_PTRACE, which applies to the sandbox's own user namespace only: init's deputy reads the
 * calls of processes that are not dumpable. An execve loses it. */
int credentials_drop_bounded(bool keeps_ptrace, struct error *err);
/* Drops what credentials_drop_bounded has kept. */
int credentials_drop_rest(struct error *err);
/* credentials_drop for a process outside the namespaces. Without CAP_SETPCAP it cannot lower the
 * bounding set; no_new_privs, which must be set, then keeps execve from giving anything back. */
int credentials_drop_all(struct error *err);
/* For a process that has entered a view: keeps the capabilities to mount there and to write its
 * closed directories, and drops all others. */
int credentials_keep_mounting(struct error *err);
/* The kernel kills the caller when its parent exits. Must be repeated after a change of
 * credentials, which clears it. */
int credentials_follow_parent(struct error *err);

/* For a helper process outside the namespaces: drops every capability and, as root, switches to the
 * user `nobody` if that uid is mapped. */
int credentials_drop_outside(struct error *err);

#endif

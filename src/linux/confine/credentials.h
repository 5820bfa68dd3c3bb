/* SPDX-License-Identifier: Apache-2.0 */
/* The last power to go: capabilities, the ways to get them back, and readability by others. */
#ifndef BERM_LINUX_CONFINE_CREDENTIALS_H
#define BERM_LINUX_CONFINE_CREDENTIALS_H

#include "common/base/error.h"

/* Not dumpable: no process inside can read, trace or take descriptors from the caller. */
int credentials_hide(struct error *err);
/* no_new_privs: nothing executed from here on gains anything (setuid, file capabilities). */
int credentials_freeze(struct error *err);
/* Drops every capability from every set, the bounding set included, and locks the securebits. */
int credentials_drop(struct error *err);
/* The longest part of it, which may be done before: the bounding set. What the caller has stays as it is. */
int credentials_bound(struct error *err);
/* credentials_drop without namespaces: who never had the right to lower the bounding set needs no_new_privs to have been set, which keeps
 * execve from giving anything back. */
int credentials_drop_all(struct error *err);
/* Dies when the parent does. To be called again after a change of credentials, which clears it. */
int credentials_follow_parent(struct error *err);

/* For a helper process outside the namespaces: root becomes nobody (where there is one to become), and no capability is left. */
int credentials_drop_outside(struct error *err);

#endif

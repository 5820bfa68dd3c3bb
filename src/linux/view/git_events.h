/* SPDX-License-Identifier: Apache-2.0 */
/* What git inside reports of itself (its trace2 "normal" format, one datagram per line), for one purpose: to know that git was refused
 * because a configuration file is locked, so that berm can say why. Everything that arrives is written by the command or by
 * whoever it runs: it is compared with one sentence and thrown away, and all that ever comes of it is a yes. */
#ifndef BERM_LINUX_VIEW_GIT_EVENTS_H
#define BERM_LINUX_VIEW_GIT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

/* A socket at PLAN_GIT_EVENTS below `root`, which becomes the working directory; non-blocking. -1 with errno. */
int git_events_open(int root);
/* Takes what is there, a bounded number at a time; was a refusal among it? */
bool git_events_take(int fd);
/* Is this line git's complaint about a locked configuration of a repository? */
bool git_events_is_refusal(const char *line, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Receives the reports of git inside: its trace2 "normal" format, one datagram per line. Their only
 * use is to notice that git could not change a locked configuration, a hidden or protected file of
 * the working tree, or a directory beside the project, so that berm can explain it. The command can
 * send anything, so a report is compared with fixed sentences and discarded. It yields three bits
 * and nothing else. */
#ifndef BERM_LINUX_VIEW_GIT_EVENTS_H
#define BERM_LINUX_VIEW_GIT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

/* Opens a non-blocking socket at PLAN_GIT_EVENTS below `root`, which becomes the working directory.
 * The caller closes it. -1 with errno. */
int git_events_open(int root);
/* Returns the GIT_REFUSED_* bit of a line that is such a complaint, else 0. */
unsigned git_events_refusal(const char *line, size_t length);

#endif

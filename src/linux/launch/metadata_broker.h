/* SPDX-License-Identifier: Apache-2.0 */
/* Modes, owners, times and extended attributes in the tier landlock. Landlock does not see the calls that change them, so the filter
 * sends these to init, which does what they ask for where the plan lets the command write, and refuses the rest. */
#ifndef BERM_LINUX_LAUNCH_METADATA_BROKER_H
#define BERM_LINUX_LAUNCH_METADATA_BROKER_H

#include <stdbool.h>

#include "linux/launch/launch.h"

/* Can a listener be had here? Tried in a child: another supervisor (a container's, WSL's, a sandbox around this one) may own the only
 * one that the kernel allows. */
bool metadata_can_listen(void);
/* One notification of the listener: judged, done, answered. False if there will be no more. */
bool metadata_serve(const struct launch *launch, int listener);

/* For the tests: is this a place where the command may change metadata? `path` as the kernel names an open file. */
bool metadata_is_writable(const struct plan *plan, const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the launcher and its proxy say to each other over the control socket, a stream: bytes of a size that both know, whole or not at
 * all. The launcher never waits longer than a limit, and believes nothing of what comes: the proxy talks to strangers. */
#ifndef BERM_COMMON_PROXY_CONTROL_H
#define BERM_COMMON_PROXY_CONTROL_H

#include "common/proxy/refusals.h"
#include "common/base/error.h"

/* In the proxy, which ignores SIGPIPE. False if the other end is gone. */
bool egress_send(int control, const void *bytes, size_t size);
/* False if the other end is gone or the time is over; the bytes are then worth nothing. */
bool egress_receive(int control, void *bytes, size_t size, int milliseconds);
/* In the launcher, at the end: says that it is the end, and takes the table of refusals, made harmless. If it does not come, the table is
 * empty and *note says that `name`, as the user knows it, had died before. The process itself is the caller's to end. */
void egress_take_reports(int control, const char *name, struct egress_reports *reports, struct error *note);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket between launcher and proxy: a stream of messages whose sizes both sides know.
 * The launcher never waits longer than a timeout and never trusts what it receives, because the
 * proxy talks to untrusted hosts. */
#ifndef BERM_COMMON_PROXY_CONTROL_H
#define BERM_COMMON_PROXY_CONTROL_H

#include "common/proxy/refusals.h"
#include "common/base/error.h"

/* Called by the proxy, which ignores SIGPIPE. False if the other end is closed. */
bool control_send(int control, const void *bytes, size_t size);
/* False if the other end is closed or the timeout expires; the bytes are invalid then. */
bool control_receive(int control, void *bytes, size_t size, int milliseconds);
/* Called by the launcher at the end of a run. Tells the proxy to stop and receives its table of
 * refusals, validated. Without a reply the table is empty and *note reports that `name` had exited
 * before. Does not end the process. */
void control_take_reports(int control, const char *name, struct refusals *reports, struct error *note);

#endif

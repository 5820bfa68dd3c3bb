/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of the egress room: the helper process and its filter. */
#ifndef BERM_LINUX_EGRESS_INTERNAL_H
#define BERM_LINUX_EGRESS_INTERNAL_H

#include "linux/egress/egress.h"

struct egress_role {
	const struct plan *plan;
	const char *secret; /* NULL: the publisher */
	int control, inside;
	struct proxy_listener *listeners; /* of the publisher; the proxy gets its own from init */
	size_t listener_count;
};
/* Runs a helper process; never returns. */
_Noreturn void egress_helper_main(const struct egress_role *role);

/* publish.c: opens the plan's published ports in the launcher, so that a port in use is reported
 * before anything runs. The caller closes the `count` listeners, after a failure too. */
int egress_publish(const struct plan *plan, struct egress *egress, struct proxy_listener listeners[PROXY_LISTENER_MAX],
		   size_t *count, struct error *err);
/* Ends this process's claims of ports. */
void egress_end_claims(struct egress *egress);

/* Loads the seccomp filter of a helper. has_files allows it to open files for reading. */
int egress_filter_load(bool has_files, struct error *err);

#endif

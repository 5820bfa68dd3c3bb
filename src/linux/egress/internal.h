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

/* Loads the seccomp filter of a helper. has_files allows it to open files for reading. */
int egress_filter_load(bool has_files, struct error *err);

#endif

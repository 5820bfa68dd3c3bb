/* SPDX-License-Identifier: Apache-2.0 */
/* `berm init`: recognises the kind of project and finds out from where its package managers fetch.
 * Reads names and configuration. Where a package manager must be asked, runs it in a sandbox
 * without network and without the project. Never copies credentials. */
#ifndef BERM_COMMON_DETECT_DETECT_H
#define BERM_COMMON_DETECT_DETECT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/context/context.h"
#include "common/registry/registry.h"

/* One ecosystem in this project. */
struct detected {
	const char *marker; /* the file that identifies it, or NULL: absent */
	const char *tool; /* by package.json or lock file, else the default one; or NULL */
	struct registries registries;
	/* Why the default registry of the package manager is not known, in a clause; NULL: it is,
	 * or the project replaces it. */
	const char *unanswered;
};

/* An address outside the public network to which an allowed name resolves. Only a rule with the
 * address itself allows it. */
struct detected_address {
	const char *host; /* host:port, of the rule */
	const char *destination; /* address:port */
	const char *kind; /* "private", ... */
	/* False: this machine, a metadata service and the like, or a name that only the project
	 * chose. Such an address is never allowed without a question. */
	bool is_usual;
	bool is_accepted;
};

struct detection {
	struct detected ecosystems[ECOSYSTEM_COUNT];
	struct detected_addresses {
		struct detected_address *items;
		size_t count;
	} addresses;
};

/* Reads context->project, the user's configuration and the environment. */
int detect_project(struct arena *arena, const struct context *context, struct detection *detection, struct error *err);
/* ask.c: asks the package managers whose default registry the project does not replace. Adds their
 * answers, or the reason why there is none. */
void detect_ask(struct arena *arena, const struct context *context, struct detection *detection);
/* client.c: returns the path of a program in PATH if root or a toolchain directory of the default
 * policy vouches for it, else NULL. Never one in a project. */
const char *detect_client(struct arena *arena, const struct context *context, const char *name);
/* addresses.c: resolves the names that were found. Fills detection->addresses. */
void detect_addresses(struct arena *arena, struct detection *detection);

/* write_policy.c: writes a commented berm.yml. With can_allow the network rules are active, else
 * they are comments. */
struct text;
void detect_policy(const struct detection *detection, bool can_allow, struct text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of project this is, and where its package managers would fetch from: by names of files and by reading configuration,
 * never by running anything. */
#ifndef BERM_COMMON_DETECT_DETECT_H
#define BERM_COMMON_DETECT_DETECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/context/context.h"
#include "common/base/error.h"

enum ecosystem {
	ECOSYSTEM_GIT,
	ECOSYSTEM_NODE,
	ECOSYSTEM_RUST,
	ECOSYSTEM_PYTHON,
	ECOSYSTEM_GO,
	ECOSYSTEM_JAVA,
	ECOSYSTEM_RUBY,
	ECOSYSTEM_PHP,
	ECOSYSTEM_DOTNET,
	ECOSYSTEM_C,
	ECOSYSTEM_COUNT
};

struct ecosystem_info {
	const char *piece; /* the built-in policy for `use`, and its name */
	const char *registry; /* the built-in policy with the usual registry, or NULL */
	const char *tool; /* the usual package manager, or NULL */
};
extern const struct ecosystem_info ecosystem_table[ECOSYSTEM_COUNT];

/* One ecosystem in this project. */
struct detected {
	const char *marker; /* the file that tells, or NULL: not here */
	const char *tool; /* by lock file, else the usual one; or NULL */
};

/* A place that packages come from. */
struct registry {
	enum ecosystem ecosystem;
	const char *destination; /* host:port; NULL: an address could not be read there */
	uint16_t local_port; /* not 0: on this machine's loopback */
	const char *source; /* ".npmrc:2", "~/.npmrc:1", "$GOPROXY", or NULL for the usual one */
};

struct detection {
	struct detected ecosystems[ECOSYSTEM_COUNT];
	struct registries {
		struct registry *items;
		size_t count;
	} registries; /* in the order of the ecosystems, no destination twice */
};

/* Looks at context->project, the user's configuration and the environment. */
int detect_project(struct arena *arena, const struct context *context, struct detection *detection, struct error *err);

/* detect_registry.c: for the ecosystems that were detected. */
void detect_registries(struct arena *arena, const struct context *context, struct detection *detection);

/* detect_policy.c: a commented berm.yml for it. With can_allow the lines of network are live, else they are comments. */
struct text;
void detect_policy(const struct detection *detection, const char *schema, bool can_allow, struct text *out);

#endif

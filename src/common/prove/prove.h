/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one command through a real host: starts the host with a copy of its settings and a model on
 * loopback that asks for a harmless command, and sees where the command ran. Never uses the user's
 * account, and leaves nothing behind. */
#ifndef BERM_COMMON_PROVE_PROVE_H
#define BERM_COMMON_PROVE_PROVE_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/context/context.h"
#include "common/format/jsonc.h"

enum prove_outcome {
	PROVE_INSIDE, /* the command ran in the sandbox */
	PROVE_OUTSIDE, /* it ran, and saw the host's files */
	PROVE_BLOCKED, /* the host refused to run it */
	PROVE_NOTHING, /* the host did not ask the model, or ended without running it */
};

struct prove_request {
	const char *host; /* as in `berm setup` */
	const char *file; /* its settings file */
	struct jsonc_text text; /* the content */
	const char *project; /* the host is started there */
};

/* True if the host can be proven. */
bool prove_is_known(const char *host);
/* Returns -1 with err if the host is not installed or nothing could be started. */
int prove_run(struct arena *arena, const struct prove_request *request, enum prove_outcome *outcome, struct error *err);

#endif

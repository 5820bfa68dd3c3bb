/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with a copy of the project: --copy, --undo, BERM_COPY and the keys of `workspace`. */
#ifndef BERM_COMMON_CLI_RUN_COPY_H
#define BERM_COMMON_CLI_RUN_COPY_H

#include "common/backend.h"
#include "common/cli/session.h"
#include "common/copies/copies.h"

/* The copy of one run, in one or more attempts. */
struct run_copy_state {
	struct copy copy;
	bool is_open;
	bool is_undo; /* applied at the end, and removed */
	unsigned undo_tries; /* names tried for it */
	struct error no_overlay; /* why a full copy is made; not set: an overlay is tried */
	struct run_copy layers;
};

/* Takes the name of BERM_COPY into the options, if they have none, and into the words by which a
 * plan is cached. */
int run_copy_take_variable(struct session *session, struct error *err);
/* Adds a note to a plan that asks for a copy: which kind of copy this machine can make. */
void run_copy_note(struct session *session);
/* Opens the copy that the plan asks for, if any, and prepares it for one attempt. */
int run_copy_prepare(struct session *session, struct run_copy_state *state, struct run_request *request, struct error *err);
/* Called before the command starts. */
int run_copy_await(const struct run_copy_state *state, struct error *err);
/* When every process is dead: reports the changes, or applies them. Returns false if changes that
 * had to be applied were not. */
bool run_copy_end(struct session *session, struct run_copy_state *state);
/* Nothing has run. */
void run_copy_forget(struct run_copy_state *state);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What `run`, `plan` and `check` share: from the options to a resolved plan. The project's policy is read once: the bytes that are
 * parsed are the bytes whose hash was compared with what the user trusts. */
#ifndef BERM_COMMON_CLI_SESSION_H
#define BERM_COMMON_CLI_SESSION_H

#include "common/base/arena.h"
#include "common/context/context.h"
#include "common/cli/options.h"
#include "common/cache/dependencies.h"
#include "common/plan/plan.h"
#include "common/cache/prefork_hint.h"
#include "common/cache/plan_cache.h"
#include "common/policy/policy.h"
#include "common/base/sha256.h"

struct session {
	struct arena arena;
	struct options options;
	struct context context;
	struct policy policy;
	struct plan plan;
	struct diagnostics diagnostics;
	/* The project's own berm.yml; path NULL if there is none or --policy stands in for it. */
	struct session_project_file {
		const char *path; /* canonical, as in trust.h */
		char *text;
		size_t length;
		struct error error; /* set if it could not be read */
		char content[SHA256_HEX + 1]; /* its hash */
		bool is_trusted;
	} project_file;
	/* The stored plan. `words` is set by who wants to use it: the options as they were written. */
	char *const *words;
	struct plan_guess guess;
	struct plan_key key;
	struct plan_loaded loaded;
	bool is_restored; /* the plan is the stored one */
	bool is_stored; /* the plan, by this run */
	bool is_outdated; /* which did not hold any more: session_restore finds none */
	struct facts facts;
	bool is_narrowing; /* shims, berm-sh, hooks: neither options nor variables of the caller widen anything */
	const char *piece; /* a built-in piece that is merged in addition, or NULL */
	/* Called when the plan is there and before anything runs, with `self`; -1 with err refuses the run. May be NULL. */
	int (*opened)(struct session *session, struct error *err);
	void *self;
	enum tier tier; /* the plan is made for this one */
	bool ignores_trust; /* `berm trust` asks what the file would open, whatever is recorded */
};

/* The options among argv[1..rest-1] as they were written, for `words`: without the `--` that ends them, and without `omitted` (or
 * NULL). */
char *const *session_words(struct arena *arena, char **argv, int rest, const char *omitted);
/* The same for a caller who may only narrow: all that its plan depends on besides what every key holds. */
char *const *session_narrow_words(struct arena *arena, const char *piece);
/* Is it likely that a stored plan will be found, for which a sandbox may be begun? */
bool session_guess(struct session *session);
/* Has this launch shown that it is? */
bool session_could_begin(const struct session *session);
/* The next guess will be this. */
void session_learn(struct session *session, bool can_begin);
/* Opens the file of the stored plan. False (with loaded.reason) if there is none. */
bool session_find(struct session *session);
/* From the file that session_find has opened: context and plan, no policy. False if it is damaged. Nothing may rest on it, no refusal
 * either, before session_confirm: looking at all it was made from takes time, in which a sandbox can be made. */
bool session_restore(struct session *session);
/* Does the plan still hold? True for one that was just made. False (with loaded.reason): session_restart, and make it anew. */
bool session_confirm(struct session *session);
/* Stores the plan that session_open made, with what the backend prepared. */
void session_keep(struct session *session, const void *blob, size_t blob_size);
/* Options already parsed into session->options. -1: either err is set, or session->diagnostics has entries. Does not scan. */
int session_open(struct session *session, struct error *err);
/* The same for the tier that this machine allows, which the plan's notes explain. */
int session_open_here(struct session *session, struct error *err);
/* The first half of it: the context and the policy, no plan. */
int session_load(struct session *session, struct error *err);
/* Everything anew, with the same options, for another tier; or for the same, if the stored plan turned out not to hold. */
void session_restart(struct session *session, enum tier tier);
void session_close(struct session *session);

#endif

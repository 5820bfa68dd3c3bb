/* SPDX-License-Identifier: Apache-2.0 */
/* The part that `run`, `plan` and `check` share: from the options to a resolved plan. The project's
 * policy is read once, so the parsed bytes are those whose hash was compared with the user's record
 * of trust. */
#ifndef BERM_COMMON_CLI_SESSION_H
#define BERM_COMMON_CLI_SESSION_H

#include "common/base/arena.h"
#include "common/context/context.h"
#include "common/cli/options.h"
#include "common/plan/plan.h"
#include "common/cache/cache.h"
#include "common/policy/policy.h"
#include "common/base/sha256.h"

/* How a command uses a session, one sandbox that commands share (run_joined.h). */
struct joining {
	enum {
		JOIN_BY_POLICY, /* the key `sessions` decides */
		JOIN_ONLY, /* `session exec`: in this session or not at all */
		JOIN_HOLD, /* `session start`: there is no command */
	} mode;
	const char *name; /* of the session, unless the policy decides */
	uint64_t idle_ms; /* of JOIN_HOLD; 0: the policy's */
	bool is_tried; /* a session is joined or started before a sandbox is made */
	bool is_holder; /* this process holds a session */
};

struct session {
	struct arena arena;
	struct options options;
	struct context context;
	struct policy policy;
	struct plan plan;
	struct diagnostics diagnostics;
	/* The project's own berm.yml; path NULL if there is none or --policy replaces it. */
	struct session_project_file {
		const char *path; /* canonical, as in trust.h */
		char *text;
		size_t length;
		struct error error; /* set if it could not be read */
		char content[SHA256_HEX + 1]; /* its hash */
		bool is_trusted;
	} project_file;
	/* Trusted policies that are absent now, in directories that the command can write: it could
	 * create them with their trusted content. */
	struct session_paths {
		const char **items;
		size_t count;
	} absent;
	struct launch_cache cache; /* callers that want to use it set cache.words */
	/* Shims, berm-sh, hooks: neither options nor variables of the caller can widen the
	 * policy. */
	bool is_narrowing;
	const char *piece; /* an additional built-in policy piece, or NULL */
	const struct policy *piece_rules; /* merged after it, with its authority; or NULL */
	const char *agent; /* of `berm agent`: it has a separate private state; or NULL */
	/* Called with the plan, before anything runs. -1 with err refuses the run. May be NULL. */
	int (*opened)(struct session *session, struct error *err);
	/* Called after a run, when all of its processes are dead. May be NULL. */
	void (*ended)(struct session *session);
	void *self; /* for `opened` and `ended` */
	struct joining joining;
	enum tier tier; /* the plan is made for this one */
	bool ignores_trust; /* `berm trust` shows the effect of the file whatever is recorded */
};

/* Returns the options among argv[1..rest-1] for cache.words, without the `--` that ends them and
 * without `omitted`, which may be NULL. */
char *const *session_words(struct arena *arena, char **argv, int rest, const char *omitted);
/* The same for a session with is_narrowing: everything its plan depends on besides the other parts
 * of a key. */
char *const *session_narrow_words(struct arena *arena, const char *piece);
/* Adds a word to cache.words, if the cache is used: for a plan that differs by something else than
 * options. It begins with a line break, as no option does. */
void session_add_word(struct session *session, const char *word);
/* Takes context and plan from the cache, without a policy. False with cache_reason() if there is
 * none; see cache_load(). */
bool session_restore(struct session *session);
/* Sets session->context without a project, for lists of what other projects left. */
int session_detect(struct session *session, struct error *err);
/* Makes the plan for session->options. -1: either err is set, or session->diagnostics has entries.
 * Does not scan. */
int session_open(struct session *session, struct error *err);
/* The same for the best tier that this machine allows. The plan's notes explain a lower one. */
int session_open_here(struct session *session, struct error *err);
/* The first half of session_open: context and policy, no plan. */
int session_load(struct session *session, struct error *err);
/* Resets the session, with the same options, for another tier, or for the same tier if the cached
 * plan is outdated. */
void session_restart(struct session *session, enum tier tier);
/* Frees everything. */
void session_close(struct session *session);

#endif

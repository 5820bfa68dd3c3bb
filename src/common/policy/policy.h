/* SPDX-License-Identifier: Apache-2.0 */
/* The policy as the user wrote it: plain data, every value with its source position. This room
 * reads policy files and nothing else; it never determines what a value means on this machine: the
 * plan does. */
#ifndef BERM_COMMON_POLICY_POLICY_H
#define BERM_COMMON_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/diagnostic.h"
#include "common/base/error.h"
#include "common/policy/guarantee.h"

/* Later layers win for scalars; lists are united. No other layer can lift the floor. Files of
 * enclosing projects only narrow, and hold over the project's own file. */
enum layer { LAYER_FLOOR, LAYER_BASE, LAYER_USER, LAYER_PROJECT, LAYER_ENCLOSING, LAYER_COMMAND_LINE };

/* One value of the policy. Plan items point to the rule they come from. */
struct rule {
	const char *key; /* full key: "files.deny" */
	const char *text; /* the value as written */
	struct origin origin;
	enum layer layer;
	/* The directory that a relative pattern with a slash starts from. NULL: the project and
	 * each enclosing one. Used to make a plan; a cached plan does not contain it. */
	const char *base;
};

struct rules {
	struct rule *items;
	size_t count;
};

/* A scalar. The key defines the meaning of value: an enum, bytes, milliseconds, a count or a
 * boolean. */
struct setting {
	bool is_set;
	uint64_t value;
	struct rule rule;
};

struct assignment {
	struct rule rule; /* text is the name */
	const char *value;
};

struct assignments {
	struct assignment *items;
	size_t count;
};

enum home_mode { HOME_PRIVATE, HOME_EMPTY, HOME_HOST };
enum tmp_mode { TMP_PRIVATE, TMP_EMPTY };
enum network_mode { NETWORK_NONE, NETWORK_ALLOW, NETWORK_ALL };
enum git_mode { GIT_LOCKED, GIT_GUARDED };
enum session_use { SESSIONS_NEVER, SESSIONS_AUTO };
enum leftovers_mode { LEFTOVERS_KEEP, LEFTOVERS_END };
enum command_line_mode { COMMAND_LINE_WIDEN, COMMAND_LINE_NARROW };

enum copy_mode { COPY_NEVER, COPY_ALWAYS };

enum limit {
	LIMIT_MEMORY, /* bytes */
	LIMIT_PROCESSES,
	LIMIT_CPUS,
	LIMIT_TIME, /* milliseconds */
	LIMIT_DISK, /* bytes */
	LIMIT_OPEN_FILES,
	LIMIT_FILE_SIZE, /* bytes */
	LIMIT_COUNT
};

/* A policy that was read. */
struct policy_source {
	const char *path; /* absolute; NULL for built-in policies */
	const char *shown; /* as messages name it */
	enum layer layer;
	bool is_trusted; /* false: only its narrowing values were taken */
	const char *hash; /* SHA-256 of its text; NULL for built-in policies */
};

/* A field per key of the language; keys.c maps each key to its field. */
struct policy {
	struct {
		/* Read-only software: not scanned, relative deny patterns do not apply. */
		struct rules system;
		struct rules read, write;
		/* An exception lifts denies of the same layer and of lower ones, so that a built-in
		 * one cannot undo a deny of the user or the project. Only the floor's exceptions
		 * lift the floor's denies. */
		struct rules deny, except, protect, unprotect, prune;
		/* Names of files that are not denied while their content is public. Applies to the
		 * same layers as an exception, never to the floor's denies. */
		struct rules public;
		struct setting guard; /* enum level: LEVEL_LAUNCH, LEVEL_REPAIR, LEVEL_STRICT */
	} files;
	struct setting home, tmp, git, nesting;
	struct {
		struct setting mode;
		struct rules allow, deny, local, publish;
	} network;
	struct rules sockets, devices;
	struct {
		struct rules pass;
		struct assignments set;
	} environment;
	struct setting limits[LIMIT_COUNT];
	struct setting require[GUARANTEE_COUNT]; /* enum level */
	/* User's file and command line only; text is the guarantee's name. */
	struct rules accept_weaker;
	struct setting command_line;
	struct {
		struct setting exec, keep, sync;
	} audit;
	struct {
		struct setting trustd;
	} macos;
	struct {
		struct setting copy; /* enum copy_mode */
		struct setting undo, keep, size;
	} workspace;
	struct {
		struct setting use; /* enum session_use */
		struct setting leftovers; /* enum leftovers_mode */
		struct setting idle; /* milliseconds */
	} sessions;
	struct setting extends; /* rule.text is the name or path */
	struct rules use;

	/* Not granted: from an untrusted project file or a narrowed command line. */
	struct rules ignored;
	struct policy_source *sources; /* every policy that was read, in the order of merging */
	size_t source_count;
};

/* Parses one document (parse.c). Every rule gets `layer` and an origin that names `source`. Returns
 * -1 and adds to diagnostics if anything is wrong; the policy must not be used then. */
int policy_parse(struct arena *arena, const char *source, enum layer layer, const char *text, size_t length,
		 struct policy *policy, struct diagnostics *diagnostics);

/* Merges `from` over `into` (merge.c): lists unite, later scalars win. With is_narrowing, only
 * values that the key table marks as narrowing are taken; the others are added to into->ignored. */
void policy_merge(struct arena *arena, struct policy *into, const struct policy *from, bool is_narrowing);

/* The inputs of policy_load. Files are read through `read`, so that tests need no disk. */
struct policy_request {
	const char *user_file; /* absolute, or NULL */
	const char *project_file; /* absolute path of the project's policy, or NULL */
	bool project_is_trusted;
	/* Absolute paths of the policies of enclosing projects, which only narrow; ends with NULL,
	 * or NULL. */
	const char *const *enclosing_files;
	/* --policy=FILE: replaces the project's file, with the user's authority; or NULL */
	const char *explicit_file;
	const struct policy *command_line; /* options as a policy of LAYER_COMMAND_LINE, or NULL */
	/* Shims and hooks: command line and --policy only narrow, regardless of the user's file. */
	bool is_narrowing;
	/* A built-in piece that is merged in addition to those in the files, or NULL. */
	const char *piece;
	const struct policy *piece_rules; /* rules of LAYER_BASE that are merged after it, or NULL */
	/* Reads a whole file into the arena. Returns 0, or -1 with err; err->number is ENOENT if
	 * the file is absent. May be NULL. */
	int (*read)(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err);
	void *self;
	const char *home; /* replaces `~` in `extends`; messages shorten it to `~`; or NULL */
};
/* Reads and merges all layers of one run (load.c). Returns -1 with diagnostics of all files. */
int policy_load(struct arena *arena, const struct policy_request *request, struct policy *policy,
		struct diagnostics *diagnostics);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the user wrote: pure data, every value with its source position. Parsing a policy reads the files of its layers and
 * nothing else; what the values mean on this machine is plan.c's business. */
#ifndef BERM_COMMON_POLICY_POLICY_H
#define BERM_COMMON_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/policy/guarantee.h"

/* Later layers win for scalars; lists are united. The floor cannot be lifted by any other layer. */
enum layer { LAYER_FLOOR, LAYER_BASE, LAYER_USER, LAYER_PROJECT, LAYER_COMMAND_LINE };

struct origin {
	const char *source; /* path as the user would write it, "built-in default", or "command line" */
	unsigned line, column; /* from 1; 0 where there is none */
};

/* One value of the policy. Plan items point to the rule they come from. */
struct rule {
	const char *key; /* full key: "files.deny" */
	const char *text; /* the value as written */
	struct origin origin;
	enum layer layer;
};

struct rules {
	struct rule *items;
	size_t count;
};

/* A scalar; value is meaningful for its key only: an enum, bytes, milliseconds, a count or a boolean. */
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
enum command_line_mode { COMMAND_LINE_WIDEN, COMMAND_LINE_NARROW };

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

struct policy_source {
	const char *path; /* NULL for built-in ones */
	const char *shown;
	enum layer layer;
	bool is_trusted;
};

struct policy {
	struct {
		struct rules system; /* read-only software trees: not scanned, relative deny patterns do not apply there */
		struct rules read, write;
		/* An except lifts the denies of its own and of lower layers, so that a built-in exception cannot undo what the user
		 * or the project denies; the floor's denies are lifted by the floor's exceptions only. */
		struct rules deny, except, protect, prune;
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
	struct rules accept_weaker; /* user's file and command line only; text is the guarantee's name */
	struct setting command_line;
	struct {
		struct setting exec, keep;
	} audit;
	struct {
		struct setting trustd;
	} macos;
	struct setting extends; /* rule.text is the name or path */
	struct rules use;

	/* What an untrusted project file or a narrowed command line asked for and did not get. */
	struct rules ignored;
	/* Every policy file that was read, in order: absolute path and whether it was the project's and trusted. */
	struct policy_source *sources;
	size_t source_count;
};

/* All errors of a file at once, each with its place. */
struct diagnostic {
	struct origin origin;
	const char *message;
	const char *hint; /* "did you mean `deny`?" or NULL */
	const char *line; /* the source line, for quoting with a caret, or NULL */
};

struct diagnostics {
	struct arena *arena;
	struct diagnostic *items;
	size_t count;
};

/* policy_parse.c: one document. Adds to diagnostics and returns -1 if anything is wrong; the policy is then not to be used.
 * Every rule gets `layer` and origins that name `source`. */
int policy_parse(struct arena *arena, const char *source, enum layer layer, const char *text, size_t length,
		 struct policy *policy, struct diagnostics *diagnostics);

/* policy_merge.c: `from` over `into` by the rules of the language (lists unite, scalars: later wins). With is_narrowing only
 * what the key table marks as narrowing is taken; the rest goes to into->ignored. */
void policy_merge(struct arena *arena, struct policy *into, const struct policy *from, bool is_narrowing);

/* policy_load.c: the layers of one run. Text of files comes through `read`, so that tests need no disk. */
struct policy_request {
	const char *user_file; /* absolute, or NULL */
	const char *project_file; /* absolute path of berm.yml, or NULL */
	bool project_is_trusted;
	const char *explicit_file; /* --policy=FILE: stands in for the project's file and is the user's own word; or NULL */
	const struct policy *command_line; /* options as a policy of LAYER_COMMAND_LINE, or NULL */
	bool is_narrowing; /* shims and hooks: the command line and --policy may only narrow, whatever the user's file says */
	const char *piece; /* a built-in piece that is merged in addition to what the files say, or NULL */
	/* Reads a whole file into the arena; 0, or -1 with err (ENOENT in err->number if it is absent). May be NULL. */
	int (*read)(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err);
	void *self;
	const char *home; /* what `~` in `extends` means, and what messages shorten to `~`; or NULL */
};
int policy_load(struct arena *arena, const struct policy_request *request, struct policy *policy,
		struct diagnostics *diagnostics);

/* policy_keys.c: the key table. One row per key drives the parser, the schema, `plan` and the man page. */
enum key_kind {
	KEY_MAP, /* a mapping whose keys are further rows: "files" */
	KEY_PATHS, /* list of paths with ~ and $VAR */
	KEY_PATTERNS, /* list of path patterns */
	KEY_NAMES, /* list of names from a fixed set, or of free names (choices NULL) */
	KEY_VARIABLES, /* list of environment variable name patterns */
	KEY_ASSIGNMENTS, /* mapping of free names to strings */
	KEY_DESTINATIONS, /* list of host:port patterns */
	KEY_PORTS, /* list of port numbers or ranges */
	KEY_PUBLISH, /* list of PORT, HOSTPORT:PORT, ADDRESS:HOSTPORT:PORT */
	KEY_CHOICE, /* one of choices */
	KEY_SIZE,
	KEY_DURATION,
	KEY_COUNT,
	KEY_BOOLEAN,
	KEY_VERSION,
	KEY_NAME, /* one free name or path: extends */
	KEY_RESERVED, /* known, an error: "not yet supported" */
	KEY_DEVICES, /* list of device classes (choices) or paths below /dev */
};

enum key_flag {
	KEY_NARROWS = 1, /* an untrusted project file may use it (for scalars: only the values that narrow) */
	KEY_USER_ONLY = 2, /* an error in a project's file */
	KEY_ALSO_SCALAR = 4, /* `network: none` as well as a mapping */
	KEY_UNBUILT = 8, /* part of the language, but nothing enforces it yet: an error, like a reserved key */
	KEY_RAISES = 16, /* a level: the highest of all layers counts, not the last */
};

struct key_choice {
	const char *name;
	uint64_t value;
	const char *help;
	bool narrows;
	bool is_unbuilt; /* as KEY_UNBUILT, for one value */
};

struct key {
	const char *path; /* "files.deny" */
	enum key_kind kind;
	unsigned flags;
	size_t offset; /* of the field in struct policy */
	const struct key_choice *choices; /* ends with a NULL name */
	const char *help; /* one sentence, shown by the schema, `berm policies --keys` and the man page */
};

extern const struct key policy_keys[];
extern const size_t policy_key_count;
const struct key *policy_key_find(const char *path);
/* The variables that may stand at the start of a path (`$NAME` or `$NAME/rest`); ends with NULL. Any other is an error. */
extern const char *const policy_path_variables[];

/* policy_schema.c: JSON Schema (draft 2020-12) of the language from the same table. */
struct text;
void policy_schema(struct text *out);

#endif

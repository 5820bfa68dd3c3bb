/* SPDX-License-Identifier: Apache-2.0 */
/* The key table: the policy language as data. One row per key drives the parser, the merge rules,
 * the schema, `berm policies --keys` and the check of the man page. */
#ifndef BERM_COMMON_POLICY_KEYS_H
#define BERM_COMMON_POLICY_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_kind {
	KEY_MAP, /* a mapping whose keys are further rows: "files" */
	KEY_PATHS, /* list of paths with ~ and $VAR */
	KEY_PATTERNS, /* list of path patterns */
	KEY_NAMES, /* list of names from a fixed set, or of free names (choices NULL) */
	KEY_VARIABLES, /* list of environment variable name patterns */
	KEY_ASSIGNMENTS, /* mapping of free names to strings */
	KEY_DESTINATIONS, /* list of host:port patterns */
	KEY_PORTS, /* list of port numbers or ranges */
	KEY_PUBLISH, /* list of PORT, auto:PORT, HOSTPORT:PORT, ADDRESS:HOSTPORT:PORT */
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
	/* An untrusted project file may use it; for scalars, only values that narrow. */
	KEY_NARROWS = 1,
	KEY_USER_ONLY = 2, /* an error in a project's file */
	KEY_ALSO_SCALAR = 4, /* `network: none` as well as a mapping */
	/* Part of the language but not enforced yet: an error, like a reserved key. */
	KEY_UNBUILT = 8,
	KEY_RAISES = 16, /* a level: the highest of all layers wins, not the last */
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
	/* One sentence, shown by the schema, `berm policies --keys` and the man page. */
	const char *help;
};

extern const struct key policy_keys[];
extern const size_t policy_key_count;
/* Returns the key with this full path, or NULL. */
const struct key *policy_key_find(const char *path);

/* The type of a key's field in struct policy. */
enum key_storage { STORAGE_NONE, STORAGE_RULES, STORAGE_ASSIGNMENTS, STORAGE_SETTING };
enum key_storage policy_key_storage(const struct key *key);

/* The variables allowed at the start of a path (`$NAME` or `$NAME/rest`); ends with NULL. Any other
 * variable is an error. */
extern const char *const policy_path_variables[];

/* Writes the JSON Schema (draft 2020-12) of the language, generated from the key table
 * (schema.c). */
struct text;
void policy_schema(struct text *out);

#endif

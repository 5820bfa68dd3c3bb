/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts from which package managers fetch, as their configuration names them: the project's,
 * the user's and the system's files, lock files and variables. Runs nothing. Only hosts and ports
 * leave this room, and the settings below, which never have a credential. */
#ifndef BERM_COMMON_REGISTRY_REGISTRY_H
#define BERM_COMMON_REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/context/context.h"

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
	const char *piece; /* the built-in policy for `use` */
	const char *registry; /* the built-in policy that allows the user's registry, or NULL */
	const char *tool; /* the default package manager, or NULL */
};
extern const struct ecosystem_info ecosystem_table[ECOSYSTEM_COUNT];

/* Finds the ecosystem of a built-in policy such as registry-npm. False for any other name. */
bool ecosystem_of_registry(const char *piece, enum ecosystem *ecosystem);

enum registry_origin {
	REGISTRY_SYSTEM, /* a file of the machine, which commands can read */
	REGISTRY_USER, /* a file in the home, which commands cannot read */
	REGISTRY_PROJECT, /* a file of the project */
	REGISTRY_LOCK, /* a lock file of the project */
	REGISTRY_ENVIRONMENT, /* a variable of the caller */
	REGISTRY_CLIENT, /* the answer of the package manager itself */
	REGISTRY_ORIGIN_COUNT
};

/* A source of packages. */
struct registry {
	enum ecosystem ecosystem;
	enum registry_origin origin;
	const char *destination; /* host:port; NULL: the address could not be parsed */
	uint16_t local_port; /* nonzero: a port on this machine's loopback */
	const char *source; /* ".npmrc", "~/.npmrc", "$GOPROXY", "npm config get registry" */
	unsigned line; /* 0: none */
	bool is_default; /* used in place of the client's own default */
};

/* A setting of the user's file that a command gets as a variable, because it cannot read the
 * file. */
struct registry_setting {
	const char *variable, *value;
	const char *source;
	unsigned line;
	bool is_withheld; /* the value may have a credential: value is NULL */
};

struct registries {
	struct registry *items; /* without duplicates */
	size_t count;
	size_t left_out; /* addresses beyond the limits */
	bool is_replaced[REGISTRY_ORIGIN_COUNT]; /* a setting of that origin replaces the client's default */
	struct registry_settings {
		struct registry_setting *items;
		size_t count;
	} settings;
};

/* places.c: adds what the files of the user and the system name. These files alone decide about
 * `use`. */
void registries_of_user(struct arena *arena, const struct context *context, enum ecosystem ecosystem, struct registries *found);
/* The same for the project's files, its lock files and the caller's variables. */
void registries_of_project(struct arena *arena, const struct context *context, enum ecosystem ecosystem,
			   struct registries *found);
/* True if a file of the project replaces the client's default. Opens the project's files alone. */
bool registries_project_replaces(struct arena *arena, const struct context *context, enum ecosystem ecosystem);
/* Adds the addresses in a text, for example in an answer of a client. A word without a scheme
 * counts as a host if has_bare_hosts. */
void registries_add_text(struct arena *arena, struct registries *found, const struct registry *like, const char *text,
			 bool has_bare_hosts);
/* cargo_index.c: adds the hosts of downloads for the indexes that were found: an index names them,
 * and cargo keeps a copy of that in the home. */
void registries_of_cargo_indexes(struct arena *arena, const struct context *context, struct registries *found);
/* Adds one registry unless it is known, or more than the limit. */
void registries_add(struct arena *arena, struct registries *found, const struct registry *registry);
/* Returns the index-th file in the home that a client of this ecosystem reads, beginning with
 * `~/`, or NULL past the last. */
const char *registry_user_file(struct arena *arena, enum ecosystem ecosystem, size_t index);

#endif

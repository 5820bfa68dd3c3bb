/* SPDX-License-Identifier: Apache-2.0 */
/* The policy made absolute for this user, directory and machine. One `const struct plan` is what `plan` prints, what `check`
 * answers from and what the backend enforces; nothing re-derives a verdict. Every item points to the rule it comes from. */
#ifndef BERM_COMMON_PLAN_PLAN_H
#define BERM_COMMON_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/context/context.h"
#include "common/net/destination.h"
#include "common/base/error.h"
#include "common/fs/filesystem.h"
#include "common/policy/guarantee.h"
#include "common/fs/pattern.h"
#include "common/policy/policy.h"

enum grant_kind {
	GRANT_SYSTEM, /* readable, executable; a software tree */
	GRANT_READ, /* readable, executable; scanned for denied names */
	GRANT_WRITE, /* read-write; scanned */
};

/* A path that is visible inside. Sorted by path, so a parent comes before what lies below it; no two have the same path.
 * The longest grant that contains a path decides about it (before deny and protect). */
struct plan_grant {
	const char *path; /* canonical */
	enum grant_kind kind;
	enum file_type type;
	const struct rule *rule;
};

struct plan_pattern {
	struct pattern pattern;
	const struct rule *rule;
};
struct plan_patterns {
	struct plan_pattern *items;
	size_t count;
};

/* Something that exists now and is hidden (denied) or read-only (protected). Sorted by path; none lies below another of the
 * same list. */
struct plan_match {
	const char *path; /* canonical */
	enum file_type type; /* FILE_DIRECTORY or a file */
	const struct rule *rule;
};
struct plan_matches {
	struct plan_match *items;
	size_t count;
};

struct plan_variable {
	const char *name;
	const char *value;
	const struct rule *rule; /* NULL for those that berm itself sets: HOME, TMPDIR, BERM ... */
};

struct plan_socket {
	const char *path; /* canonical path of the socket on the host */
	const struct rule *rule;
};

struct plan_device {
	const char *path; /* /dev/... */
	const struct rule *rule;
};

struct plan_publish {
	struct address address; /* on the host, loopback unless written */
	uint16_t host_port, port;
	const struct rule *rule;
};

enum note_kind {
	NOTE_MISSING, /* a read, write or socket path that is not there: skipped */
	NOTE_IGNORED, /* an untrusted project file or narrowed command line asked for it */
	NOTE_LIFTED, /* an exact write entry lifted a protect */
	NOTE_HARD_LINK, /* a denied file has other names, or a project file is linked from outside */
	NOTE_GIT, /* a git directory that was found, or a pointer that was refused */
	NOTE_UNSUPPORTED, /* asked for, not built yet on this system: `run` refuses */
	NOTE_OTHER,
};
struct plan_note {
	enum note_kind kind;
	const char *text; /* one sentence, without file:line */
	const struct rule *rule; /* or NULL */
};

/* A pattern with wildcards and the directory below which it may match. */
struct plan_search {
	const char *start;
	size_t pattern; /* number in plan->deny */
};

/* A small text that is visible inside, at a path of berm's own. */
struct plan_document {
	const char *path;
	const char *text;
};

/* What git inside gets to know of the user's own configuration. */
struct plan_git_user {
	const char *config; /* who commits, as lines of a git configuration; NULL: nothing is said of it */
	struct plan_git_files {
		struct plan_document *items; /* the same of files that it includes */
		size_t count;
	} files;
	const char *ignores; /* the text of its ignore patterns, or NULL */
};

#define PLAN_DOCUMENTS "/run/berm"
#define PLAN_GIT_EVENTS PLAN_DOCUMENTS "/git-events" /* a socket, where plan_locks_git_config */
#define PLAN_SUMMARY PLAN_DOCUMENTS "/summary"

/* Where private state of this project lives; chosen by project and grant class, so that a run without grants cannot prepare a
 * run that has them. */
struct plan_state {
	const char *directory; /* <state>/projects/<key>/<class> */
	const char *home; /* directory/home */
	const char *tmp; /* directory/tmp */
	const char *documents; /* where the plan's documents are seen: PLAN_DOCUMENTS, or directory/documents without mounts */
	const char *project_key; /* readable name plus hash of the canonical path */
	const char *grant_class; /* "offline", or a hash of network and socket grants */
};

struct plan_port {
	uint16_t low, high;
	const struct rule *rule;
};

struct plan {
	struct arena *arena;
	const struct policy *policy;
	struct context context;

	struct plan_grants {
		struct plan_grant *items;
		size_t count;
	} grants;
	struct path_links links; /* symlinks that lie outside every grant and lead to one: /bin -> usr/bin */
	struct plan_patterns deny, except, protect, prune;
	struct plan_patterns lifted; /* exact write entries of trusted layers: protect does not apply there */
	/* Denied in trees of software: what was there by its name when the plan was made, and where patterns are looked for. */
	struct plan_matches named;
	struct plan_searches {
		struct plan_search *items;
		size_t count;
	} searches;
	struct plan_matches masked; /* denied and there now */
	struct plan_matches locked; /* protected and there now */
	/* Directories from a locked, masked or read-only item up to its writable root, and symlinks that lead to one: never renamed
	 * away or replaced. */
	struct plan_matches pinned;
	uint64_t scanned_directories, scanned_files;

	enum home_mode home;
	enum tmp_mode tmp;
	struct setting home_setting, tmp_setting; /* with the deciding rule */
	struct plan_state state;

	struct {
		enum network_mode mode;
		const struct rule *rule;
		struct destinations allow, deny;
		struct plan_ports {
			struct plan_port *items;
			size_t count;
		} local;
		struct plan_published {
			struct plan_publish *items;
			size_t count;
		} publish;
	} network;

	struct plan_sockets {
		struct plan_socket *items;
		size_t count;
	} sockets;
	struct plan_devices {
		struct plan_device *items;
		size_t count;
	} devices;
	struct plan_variables {
		struct plan_variable *items; /* sorted by name */
		size_t count;
	} environment;
	struct setting limits[LIMIT_COUNT];
	bool has_nesting;

	enum level guard; /* what files.guard asks for */
	enum level required[GUARANTEE_COUNT];
	bool accepted_weaker[GUARANTEE_COUNT];

	struct plan_git_user git_user;

	const char *summary; /* the plan in plain words, for PLAN_SUMMARY */
	/* Documents that the run itself asks for, besides those of the plan; not stored. */
	struct plan_documents {
		struct plan_document *items;
		size_t count;
	} added;
	struct plan_documents documents; /* filled by plan_add_documents */

	struct plan_notes {
		struct plan_note *items;
		size_t count;
	} notes;
};

/* Pure given its inputs (the file system is one of them). -1 with diagnostics in words. The scan for what patterns match now is
 * a second step, because `check` does not need it. */
int plan_resolve(struct arena *arena, const struct policy *policy, const struct context *context, struct plan *plan,
		 struct diagnostics *diagnostics);
/* scan.c: fills masked, locked, pinned, documents and the hard-link notes. */
int plan_scan(struct plan *plan, struct error *err);
/* The same without the documents, with a memory of earlier scans of this very plan (walk_memory.h), which is used and filled; NULL: none. */
int plan_scan_again(struct plan *plan, struct walk_memory *memory, struct error *err);
/* plan_documents.c, after the scan. */
void plan_add_documents(struct plan *plan);
/* plan_documents.c: is the configuration of a repository among what is locked? After the scan. */
bool plan_locks_git_config(const struct plan *plan);

/* scan_outside.c: a note if files of the project have names elsewhere. For `plan` only: it looks at every file. */
int plan_note_outside_links(struct plan *plan, struct error *err);

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_EXECUTE };

struct verdict {
	bool is_allowed;
	const struct rule *rule; /* the deciding rule; NULL if nothing names it */
	const char *reason; /* one clause: "denied by a pattern", "no rule grants it", "the home is private" */
};

/* explain.c: the one evaluator. Paths must be canonical (path_resolve). */
struct verdict plan_check_path(const struct plan *plan, enum access access, const char *path, bool is_directory);
/* The same for an absolute path as somebody wrote it, with symlinks and `..`; *canonical is what it leads to. What is not there counts as
 * a directory if needs_directory. -1 with err if it leads nowhere. */
int plan_check_spelling(const struct plan *plan, enum access access, const char *absolute, bool needs_directory,
			const char **canonical, struct verdict *verdict, struct error *err);
struct verdict plan_check_connect(const struct plan *plan, const char *host, uint16_t port);
struct verdict plan_check_variable(const struct plan *plan, const char *name);

/* environment.c: one more variable of berm's own, in a plan that is made already. */
void plan_add_variable(struct plan *plan, const char *name, const char *value);
/* environment_proxy.c: the port inside that the proxy gets (the next one is its port without a password), and a variable's value with that port and the run's secret in it. */
uint16_t plan_proxy_port(const struct plan *plan);
const char *environment_fill_proxy(struct arena *arena, const char *value, uint16_t port, const char *secret);
/* Can this plan show things at other places than the host's? */
bool plan_has_mounts(const struct plan *plan);

/* plan_state.c: the name of a project's directory in the state directory. */
const char *plan_project_key(struct arena *arena, const char *project);

/* The grant that contains path, or NULL. */
const struct plan_grant *plan_grant_for(const struct plan *plan, const char *path);
/* Deny and protect, before grants: the rule that hides (or locks) path or one of its ancestors; NULL if none. */
const struct rule *plan_denied_by(const struct plan *plan, const char *path, bool is_directory);
const struct rule *plan_protected_by(const struct plan *plan, const char *path, bool is_directory);

/* plan_print.c, plan_json.c */
struct text;
struct guarantee_state;
void plan_print(const struct plan *plan, const struct guarantee_state states[GUARANTEE_COUNT], bool is_verbose,
		struct text *out);
void plan_json(const struct plan *plan, const struct guarantee_state states[GUARANTEE_COUNT], struct text *out);

#endif

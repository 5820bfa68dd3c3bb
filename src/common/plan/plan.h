/* SPDX-License-Identifier: Apache-2.0 */
/* The policy made absolute for one user, directory and machine: `plan` prints it, `check` answers
 * from it and a backend enforces it. Never enforces anything itself. Verdicts are in query.h; no
 * other code derives one. Every item points to the rule that it comes from. */
#ifndef BERM_COMMON_PLAN_PLAN_H
#define BERM_COMMON_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/context/context.h"
#include "common/context/inside.h"
#include "common/net/destination.h"
#include "common/base/error.h"
#include "common/fs/filesystem.h"
#include "common/git/directory.h"
#include "common/policy/guarantee.h"
#include "common/fs/pattern.h"
#include "common/plan/query.h"
#include "common/policy/policy.h"

enum grant_kind {
	GRANT_SYSTEM, /* readable and executable: software, not searched for denied names */
	GRANT_READ, /* readable and executable; searched */
	GRANT_WRITE, /* also writable; searched */
};

/* A path that is visible inside. Grants are sorted, so that a directory comes before its entries,
 * and no two have the same path. The innermost grant that contains a path decides about it, after
 * deny and protect. */
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

/* An existing file or directory that is hidden (denied) or read-only (protected). Lists are sorted
 * by path, and no item is below another of the same list. */
struct plan_match {
	const char *path; /* canonical */
	enum file_type type; /* FILE_DIRECTORY or a file */
	const struct rule *rule;
};
struct plan_matches {
	struct plan_match *items;
	size_t count;
};

/* An existing file of files.public, which the scan has read. */
struct plan_judged_file {
	const char *path; /* canonical */
	const struct rule *rule; /* that denies its name */
	bool is_public; /* and so not hidden */
	const char *reason; /* its content, in some words */
};
struct plan_judged {
	struct plan_judged_file *items;
	size_t count;
};

struct plan_variable {
	const char *name;
	const char *value;
	const struct rule *rule; /* NULL: berm itself sets it (HOME, TMPDIR, BERM) */
};

/* One value of a list key, for example the canonical path of a socket. */
struct plan_item {
	const char *value;
	const struct rule *rule;
};
struct plan_items {
	struct plan_item *items;
	size_t count;
};

struct plan_publish {
	struct address address; /* on the host; 127.0.0.1 unless the rule has one */
	uint16_t host_port, port; /* host_port 0: a free one */
	const struct rule *rule;
};
struct plan_published {
	struct plan_publish *items;
	size_t count;
};

enum note_kind {
	NOTE_MISSING, /* a path of the policy does not exist and is skipped */
	NOTE_IGNORED, /* an untrusted project file or a narrowed command line asked for it */
	NOTE_DENIED, /* a grant has no effect, because a deny wins over it */
	NOTE_LIFTED, /* an exact entry of files.write lifts a protection */
	NOTE_HARD_LINK, /* a denied file has other names, or a project file has names outside */
	NOTE_GIT, /* a git directory was granted, or a git pointer refused */
	NOTE_UNSUPPORTED, /* not supported on this system: `run` refuses */
	NOTE_OTHER,
};
struct plan_note {
	enum note_kind kind;
	const char *text; /* one sentence, without file:line */
	const struct rule *rule; /* or NULL */
};

/* A pattern with wildcards, and the directory below which it may match. */
struct plan_search {
	const char *start;
	size_t pattern; /* index in plan->deny */
};

/* A small file that berm makes for the command. */
struct plan_document {
	const char *path; /* inside */
	const char *text;
};

/* The part of the user's git configuration that git inside can read. */
struct plan_git_user {
	const char *config; /* lines with user.name and user.email, or NULL */
	struct plan_git_files {
		struct plan_document *items; /* the same from included files */
		size_t count;
	} files;
	const char *ignores; /* the text of core.excludesFile, or NULL */
};

#define PLAN_DOCUMENTS INSIDE_DIRECTORY
/* The key of the rule for an editor's debugger. Its socket has another name in each session, and
 * the private home stays the same. */
#define PLAN_DEBUGGER_KEY "setup --debugger"
#define PLAN_GIT_EVENTS PLAN_DOCUMENTS "/git-events" /* a socket, if plan_locks_git_config */
#define PLAN_SUMMARY INSIDE_SUMMARY

/* The directories of this project's private state. Their names depend on the project and on the
 * grant class: a run must not leave files for one with sockets, devices, variables or denied files
 * that it has not itself. Network grants do not matter (docs/decisions.md). */
struct plan_state {
	const char *directory; /* <state>/projects/<key>/<class> */
	const char *home; /* directory/home */
	const char *tmp; /* directory/tmp; on macOS PLAN_SHORT_TMP in the state directory */
	const char *documents; /* PLAN_DOCUMENTS, or directory/documents without mounts */
	const char *project_key; /* plan_project_key */
	/* PLAN_ORDINARY_CLASS, "agent-NAME", or PLAN_OWN_CLASS and a hash of those grants. */
	const char *grant_class;
};
/* The name is that of earlier versions, which kept such a home for runs without network: it is
 * found again. Theirs of runs with network began with PLAN_OLD_CLASS; no run uses one now. */
#define PLAN_ORDINARY_CLASS "offline"
#define PLAN_OWN_CLASS "own-"
#define PLAN_OLD_CLASS "grants-"

struct plan_port {
	uint16_t low, high;
	const struct rule *rule;
};
struct plan_ports {
	struct plan_port *items;
	size_t count;
};

struct plan_documents {
	struct plan_document *items;
	size_t count;
};

struct plan_notes {
	struct plan_note *items;
	size_t count;
};

/* A git directory in a writable tree. */
struct plan_git_directory {
	const char *path; /* canonical */
	const char *common; /* canonical; with its configuration and hooks */
	enum git_kind kind;
	bool is_born; /* made inside: not locked, checked at the end of each run */
};
struct plan_git_directories {
	struct plan_git_directory *items; /* sorted by path */
	size_t count;
};

/* A directory in which a program of the host looks for names that it obeys. */
enum place_kind {
	PLACE_ROOT, /* of a project: a write grant, or a directory that holds such a name already */
	PLACE_POINTER, /* the same; its .git is a file that leads to a repository, and may be made again */
	PLACE_GIT, /* a git directory */
	PLACE_BORN, /* a git directory that was made inside: its entries are free */
};
struct plan_place {
	const char *path; /* canonical */
	enum place_kind kind;
	const struct rule *rule; /* of the name that it holds; NULL: a write grant, or decoded */
};

struct name_filter;
/* Matches of the plan's patterns in the project at one moment. Only a scan fills it. */
/* Directories called `.git` that a search has entered, and `info`, `remotes` and `branches` in
 * them; and the names in these that git obeys (scan/git_parts.c). Both lists are sorted by path. */
struct plan_git_seen {
	struct plan_matches searched, parts;
};

struct scan_results {
	struct plan_matches masked; /* denied and present */
	struct plan_judged judged; /* sorted by path */
	struct plan_matches locked; /* protected and present */
	struct plan_matches opened; /* below a locked directory, and writable; of files.unprotect */
	/* Directories from a locked, masked or read-only item up to its writable root, and symlinks
	 * that lead to one: never renamed away or replaced. */
	struct plan_matches pinned;
	struct plan_git_directories git_directories;
	struct plan_git_seen git_seen;
	/* Every `.git` that the search has seen, sorted by path; and the directories of writable
	 * trees that it skipped. */
	struct plan_matches git_entries, unsearched;
	struct plan_matches git_links; /* symlinks in these directories */
	struct plan_matches git_absent; /* writable paths that their settings name and that do not exist */
	struct plan_places {
		struct plan_place *items;
		size_t count;
	} places; /* sorted by path and kind */
	struct plan_notes notes;
	uint64_t directories, files; /* visited */
	/* A setting of git's configuration that names a directory which cannot be locked, with its
	 * file and line, in a sentence; NULL: none. */
	const char *unheld_setting;
	const struct name_filter *names; /* the compiled patterns, for scan_writable; or NULL */
	const char *unlisted_sockets; /* why the host's sockets could not be listed; NULL: they were */
};
/* The results of no scan: empty. */
extern const struct scan_results plan_not_scanned;

/* Scalar keys that a backend reads as they are. A row of plan_setting_table is enough to resolve,
 * cache and print one. */
enum plan_setting {
	SETTING_NESTING, /* boolean: the command may create namespaces */
	SETTING_COPY, /* enum copy_mode */
	SETTING_UNDO, /* boolean: the project is a copy that is applied at the end */
	SETTING_UNDO_KEEP, /* number of applied changes that can be undone */
	SETTING_UNDO_SIZE, /* bytes that they may take */
	SETTING_SESSIONS, /* enum session_use */
	SETTING_LEFTOVERS, /* enum leftovers_mode */
	SETTING_SESSION_IDLE, /* milliseconds */
	SETTING_AUDIT_SYNC, /* boolean: the record is on the disk before berm goes on */
	SETTING_AUDIT_KEEP, /* milliseconds after which records are removed */
	SETTING_COUNT
};

struct plan_setting_info {
	const char *key; /* as in the policy; its row in the key table has the kind */
	size_t offset; /* of the field in struct policy */
	uint64_t fallback; /* the value where no policy sets it */
};
extern const struct plan_setting_info plan_setting_table[SETTING_COUNT];

/* List keys whose values are strings: X(field, key, member, title, nothing). A row and its function
 * resolve_FIELD, which adds the values of one rule, are enough to resolve, cache and print the key.
 *   field    the field of struct plan, and its name in the JSON
 *   key      the key, and its field in struct policy
 *   member   the name of a value in the JSON
 *   title    the heading of the printed list
 *   nothing  the text for an empty list; NULL: it is not printed */
#define PLAN_LISTS(X)                                                                                                          \
	X(sockets, sockets, "path", "Sockets", "none")                                                                         \
	X(devices, devices, "path", "Devices besides the basic ones", NULL)

/* List keys of the network: X(field, type, kind). network.c resolves them by the mode; a row caches
 * and prints one. The codec and the JSON have a function for each kind. */
#define NETWORK_LISTS(X)                                                                                                       \
	X(allow, destinations, destinations)                                                                                   \
	X(deny, destinations, destinations)                                                                                    \
	X(local, plan_ports, local_ports)                                                                                      \
	X(publish, plan_published, published_ports)

struct plan {
	struct arena *arena;
	const struct policy *policy;
	struct context context;

	struct plan_grants {
		struct plan_grant *items;
		size_t count;
	} grants;
	struct path_links links; /* outside of every grant, leading to one: /bin -> usr/bin */
	struct plan_patterns deny, except, protect, unprotect, prune;
	struct plan_patterns public; /* names that are denied unless the content is public */
	struct plan_patterns lifted; /* exact write entries that files.protect does not protect */
	/* Denied in trees of software: paths that existed when the plan was made, and the
	 * directories in which patterns are looked up. */
	struct plan_matches named;
	struct plan_searches {
		struct plan_search *items;
		size_t count;
	} searches;
	/* Directories of policies that the user trusts, and of enclosing projects, where they are
	 * writable: hosts look there, also if they hold no protected name now. Set by the caller of
	 * plan_resolve. */
	struct plan_matches projects;
	const struct scan_results *scan; /* never NULL: plan_not_scanned before a scan */

	enum home_mode home;
	enum tmp_mode tmp;
	struct setting home_setting, tmp_setting; /* with the deciding rule */
	struct plan_state state;

	struct {
		enum network_mode mode;
		const struct rule *rule;
#define NETWORK_LIST_FIELD(field, type, kind) struct type field;
		NETWORK_LISTS(NETWORK_LIST_FIELD)
#undef NETWORK_LIST_FIELD
	} network;

#define PLAN_LIST_FIELD(field, ...) struct plan_items field;
	PLAN_LISTS(PLAN_LIST_FIELD)
#undef PLAN_LIST_FIELD
	struct plan_variables {
		struct plan_variable *items; /* sorted by name */
		size_t count;
	} environment;

	enum level guard; /* of files.guard */
	/* Absent protected names are refused where the machine can: files.guard is not set, or
	 * planting is required to be strict. */
	bool guards_creation;
	bool is_guarded; /* and this machine can; set by the caller of plan_resolve */
	bool sweeps_names; /* new protected names are moved after the run: files.guard is not `launch` */
	enum level required[GUARANTEE_COUNT];
	bool accepted_weaker[GUARANTEE_COUNT];

	struct plan_git_user git_user;

	/* The first rules of an untrusted project file that are ignored, in one line, or NULL. */
	const char *untrusted;
	/* The first grants of the user, the project and the command line that have no effect, each
	 * in a line without its end; or NULL. */
	const char *unmet;
	const char *summary; /* the plan in plain words, for PLAN_SUMMARY */
	const char *held; /* what it holds, for a berm inside: held.c */
	/* The policies that were read, for the record: a line each with + if it is trusted, else -,
	 * its hash or a dash, and its name. */
	const char *policies;
	/* Documents that the run itself adds to those of the plan; not cached. */
	struct plan_documents added;
	/* The destinations of commands behind a second wall (wall.h), which use the proxy's open
	 * port; not cached. */
	struct plan_commands {
		bool are_walled;
		struct destinations allow;
	} commands;

	struct plan_notes notes;

	/* Last: see every_field_is_listed in test_plan_codec.c. */
	struct setting settings[SETTING_COUNT]; /* read by plan_setting() */
	struct setting limits[LIMIT_COUNT];
};

/* Makes the plan from its inputs, of which the file system is one; has no other effect. Returns -1
 * with diagnostics. The scan for matches of the patterns is a second step, because `check` does not
 * need it. */
int plan_resolve(struct arena *arena, const struct policy *policy, const struct context *context, struct plan *plan,
		 struct diagnostics *diagnostics);
/* run_documents.c: lists the files for programs inside, of a plan that was scanned, in its
 * arena. */
void plan_run_documents(const struct plan *plan, struct plan_documents *documents);
/* run_documents.c: true if the configuration of a repository is locked. After the scan. */
bool plan_locks_git_config(const struct plan *plan);
/* settings.c: the value of a setting. */
uint64_t plan_setting(const struct plan *plan, enum plan_setting setting);
/* settings.c: true if the command sees a copy of the project instead of the project. */
bool plan_is_copy(const struct plan *plan);
/* settings.c: true if it can also write nothing of the host besides: no command of such a run can
 * change a name that the host obeys. */
bool plan_is_only_copy(const struct plan *plan);

/* environment.c: adds a variable of berm's own to a finished plan. */
void plan_add_variable(struct plan *plan, const char *name, const char *value);
/* environment_proxy.c: returns the value of an environment variable with the proxy's port and the
 * secret of this run filled in. */
const char *environment_fill_proxy(struct arena *arena, const char *value, uint16_t port, const char *secret);
/* Returns a value of a proxy variable for the open port, which takes no secret. NULL if the value
 * names no proxy, "" if the open port does not serve its protocol. */
const char *environment_open_proxy(struct arena *arena, const char *value, uint16_t port);
/* environment.c: fills the environment of a cached plan: the caller's variables as they are now,
 * and `own`, which berm and the policy set when the plan was made. */
void environment_restore(struct plan *plan, const struct plan_variables *own);

/* state_names.c: returns the name of a project's directory in the state directory: the last
 * component of its path and a hash of the whole. */
const char *plan_project_key(struct arena *arena, const char *project);
/* Returns the name of the class's temporary directory in PLAN_SHORT_TMP. */
#define PLAN_SHORT_TMP "t"
const char *plan_short_name(struct arena *arena, const char *project_key, const char *grant_class);

struct text;
struct guarantee_state;
/* print.c and json.c: add the plan to `out`, for people and for programs. `states` is NULL for
 * another machine, which cannot be probed. */
void plan_print(const struct plan *plan, const struct guarantee_state states[GUARANTEE_COUNT], bool is_verbose,
		struct text *out);
void plan_json(const struct plan *plan, const struct guarantee_state states[GUARANTEE_COUNT], struct text *out);
struct json;
/* Adds a rule as an object with key, text, layer, source, line and column, or null for NULL. */
void plan_json_rule(struct json *json, const char *name, const struct rule *rule);

#endif

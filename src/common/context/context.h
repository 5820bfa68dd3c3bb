/* SPDX-License-Identifier: Apache-2.0 */
/* The user, the directories and the system: every input of plan_resolve besides the policy. This
 * room reads the machine and changes nothing on it; it never reads a policy. */
#ifndef BERM_COMMON_CONTEXT_CONTEXT_H
#define BERM_COMMON_CONTEXT_CONTEXT_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/fs/filesystem.h"

enum operating_system { OS_LINUX, OS_MACOS };

/* The mechanisms of the sandbox. Full: namespaces, mounts, Landlock, seccomp. Landlock: only the
 * last two, on hosts that refuse user namespaces. There the plan's paths are those of the host, and
 * variables name home and tmp instead of mounts. */
enum tier { TIER_FULL, TIER_LANDLOCK };
extern const char *const tier_names[];

/* A directory above the project that has a marker of a project (berm.yml, .git), or the workspace
 * that the host names. Its rules hold in the project too, and only narrow. */
struct enclosing_project {
	const char *path; /* canonical */
	bool has_policy; /* with a berm.yml of this user or of root */
	const char *skipped; /* the reason why it is left out, or NULL */
};

enum { ENCLOSING_MAX = 16 }; /* further ones are skipped, the innermost first */

struct context {
	enum operating_system os;
	uid_t uid;
	gid_t gid;
	/* Shims, berm-sh and git hooks: the project's own files may start them, such as a Makefile
	 * with exports, so no variable may widen the plan. Used to make a plan; a cached plan does
	 * not contain it. */
	bool has_terminal; /* one of the standard descriptors is one */
	bool is_narrowing;
	const char *agent; /* see struct context_request; used to make a plan */
	enum tier tier;
	const char *user; /* login name */
	const char *home; /* canonical, from the password database: an agent can set $HOME */
	const char *project; /* canonical */
	/* The innermost first. Used to make a plan; a cached plan does not contain it. */
	struct enclosing_projects {
		struct enclosing_project *items;
		size_t count;
	} enclosing;
	const char *working_directory; /* canonical, or NULL if it is not inside the view */
	const char *config_directory; /* ~/.config/berm or $XDG_CONFIG_HOME/berm */
	const char *state_directory; /* ~/.local/state/berm or $XDG_STATE_HOME/berm */
	const char *executable; /* berm's own path, or NULL */
	char *const *environment;
	const struct filesystem *fs;
};

struct context_request {
	const char *project; /* --project, or NULL */
	const struct filesystem *fs; /* NULL: the real one */
	bool is_narrowing; /* see struct context */
	/* The name of the private state that a run with credentials has for itself, or NULL: what
	 * other runs leave in their home must not reach it. */
	const char *agent;
	bool has_no_project; /* for subcommands that need no project: context->project stays NULL */
};

/* Reads the real machine. The project is --project, else the nearest ancestor with berm.yml or
 * .git, else the current directory. Refuses `/`, the home, its ancestors and system directories,
 * with a hint to use --project. */
int context_detect(struct arena *arena, const struct context_request *request, struct context *context, struct error *err);
/* Returns the value of a variable in the context's environment, or NULL. */
const char *context_variable(const struct context *context, const char *name);
/* The variables in which agents and editors pass their workspace, as documented by them; ends with
 * NULL. */
extern const char *const context_workspace_variables[];
/* Returns -1 with the reason if this directory cannot be a project. Does no I/O. */
int context_judge_project(const struct context *context, const char *project, struct error *err);
/* True if stdin, stdout or stderr is a terminal. */
bool context_has_terminal(void);
/* Returns the nearest ancestor of the working directory that can be a project and has berm.yml or
 * .git, else the working directory. */
const char *context_find_project(struct arena *arena, const struct context *context);
/* Fills context->enclosing: the directories above the project, up to but without the home and the
 * root, that have a marker, and those in `workspaces`, which ends with NULL. A command can create
 * markers below a project but not above it. So the innermost marker decides which files are
 * writable, never which rules hold. */
void context_find_enclosing(struct arena *arena, struct context *context, const char *const *workspaces);
/* True if an enclosing project that is not skipped contains the path. */
bool context_is_enclosed(const struct context *context, const char *path);
/* Returns the system directory that forbids writing to a canonical path, or NULL. */
const char *context_system_directory(const char *path);
/* Parses a described machine, for --context=FILE and tests (context_file.c). The text is YAML:
 *   {os: macos, user: ann, uid: 501, home: /Users/ann, project: /Users/ann/src/app,
 *    cwd: /Users/ann/src/app, case_insensitive: true, environment: {LANG: C},
 *    files: [/usr/, /etc/hosts, "/etc/resolv.conf -> ../run/resolv.conf", /Users/ann/src/app/.env]}
 * A trailing slash marks a directory. Parents of listed files exist as directories. On Linux,
 * `tier: landlock` chooses the lower tier. A file that needs more is a mapping:
 *   {path: /Users/ann/src/app/.git, text: 'gitdir: ...\n', mode: "0600", uid: 0, links: 2,
 *    inode: 7, type: socket} */
int context_parse(struct arena *arena, const char *source, const char *text, size_t length, struct context *context,
		  struct error *err);

#endif

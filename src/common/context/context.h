/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs, where, and on what: everything plan_resolve may depend on besides the policy. */
#ifndef BERM_COMMON_CONTEXT_CONTEXT_H
#define BERM_COMMON_CONTEXT_CONTEXT_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/fs/filesystem.h"

enum operating_system { OS_LINUX, OS_MACOS };

/* What the wall is made of. Full: namespaces, mounts, Landlock, seccomp. Landlock: only the last two, on hosts that refuse user
 * namespaces; the plan's paths are the host's own there, and home and tmp are named instead of mounted. */
enum tier { TIER_FULL, TIER_LANDLOCK };
extern const char *const tier_names[];

struct context {
	enum operating_system os;
	uid_t uid;
	gid_t gid;
	/* Shims, berm-sh and git hooks: what starts them may be the project's own files (a Makefile's exports), so that no variable may
	 * widen the plan. For making a plan only; a stored one does not carry it. */
	bool is_narrowing;
	enum tier tier;
	const char *user; /* login name */
	const char *home; /* canonical, from the password database: $HOME can be set by an agent */
	const char *project; /* canonical */
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
	bool has_no_project; /* for commands that work anywhere: context->project stays NULL */
};

/* The real machine. Project: --project, else the nearest ancestor with berm.yml or .git, else the current directory. Refuses
 * `/`, the home, its ancestors and system directories (with a hint to use --project). */
int context_detect(struct arena *arena, const struct context_request *request, struct context *context, struct error *err);
/* The variables in which hosts name the workspace that they work in, as they document it; ends with NULL. */
extern const char *const context_workspace_variables[];
/* Is this directory fit to be a project? Pure; used by context_detect and tests. */
int context_judge_project(const struct context *context, const char *project, struct error *err);
/* The nearest fit ancestor of the working directory with berm.yml or .git, else the working directory. */
const char *context_find_project(struct arena *arena, const struct context *context);
/* The directory of the system that a canonical path is or lies in, if nothing there is to be written; else NULL. */
const char *context_system_directory(const char *path);
/* context_file.c: a description in the YAML subset of the policy, for --context=FILE and tests:
 *   os: macos            user: ann        uid: 501      home: /Users/ann    project: /Users/ann/src/app
 *   cwd: /Users/ann/src/app          tier: landlock (Linux only; full if it is not said)
 *   environment: {LANG: C}
 *   files: [/usr/, /etc/hosts, "/etc/resolv.conf -> ../run/resolv.conf", /Users/ann/src/app/.env]   # trailing slash: directory
 * Parents of listed files exist as directories. A file that needs more is a mapping:
 *   {path: /Users/ann/src/app/.git, text: 'gitdir: ...\n', mode: "0600", uid: 0, links: 2, inode: 7, type: socket} */
int context_parse(struct arena *arena, const char *source, const char *text, size_t length, struct context *context,
		  struct error *err);

#endif

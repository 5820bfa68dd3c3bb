/* SPDX-License-Identifier: Apache-2.0 */
/* `berm agent`: a whole agent in the sandbox. One table says where an agent is installed, what it
 * gets as a private copy and which values of a copy may go back. Never writes anything to the host
 * but those values, and never runs a program that commands can write. */
#ifndef BERM_COMMON_AGENTS_AGENTS_H
#define BERM_COMMON_AGENTS_AGENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/text.h"
#include "common/context/context.h"
#include "common/context/install_paths.h"
#include "common/format/jsonc.h"
#include "common/plan/plan.h"
#include "common/policy/policy.h"

/* How a value of a private copy is judged before it goes back. The host's file must have the value
 * already, of the same type: nothing is ever added to it. */
enum agent_value {
	AGENT_TOKEN, /* printable without blanks, of bounded length, with the field's prefix */
	AGENT_JWT, /* the same; its claims name the account that the host's token names */
	AGENT_EXPIRY, /* milliseconds; later than the host's, at most AGENT_EXPIRY_DAYS ahead */
	AGENT_DATE, /* RFC 3339 in UTC; later than the host's, not in the future */
	AGENT_SAME, /* must be equal on both sides: the account, the kind of login */
	AGENT_COUNT, /* a counter that only grows, by AGENT_COUNT_STEP at most */
	AGENT_TRUE, /* false may become true */
	AGENT_VERSION, /* digits and dots */
};
enum { AGENT_EXPIRY_DAYS = 400, AGENT_COUNT_STEP = 1000, AGENT_FIELD_PATH = 3 };

struct agent_field {
	const char *path[AGENT_FIELD_PATH + 1]; /* keys; ends with NULL */
	enum agent_value kind;
	const char *prefix; /* of a token; NULL: any */
};

/* A file that the agent gets as a private copy, made at each start. */
struct agent_copy {
	const char *path; /* below the home, on both sides */
	const char *what; /* for people */
	const struct agent_field *fields; /* that go back; ends with an empty path; NULL: none */
	/* The fields are one login: all of them are fine and one is newer, or none goes back. */
	bool is_login;
	bool is_per_member; /* the paths start in each member of the root: one login per provider */
	const char *own_project; /* a member by project, of which only this project's is copied; or NULL */
};

/* A name below the agent's directories that stays for the next `berm agent` of this project. */
struct agent_kept {
	const char *path; /* below the home; the last component may have `*` */
	const char *why;
};

/* How the agent's shell commands get behind a second wall (`--commands`). */
struct agent_commands {
	const char *refusal; /* why that cannot be had; NULL: it can */
	const char *const *arguments; /* before the user's; @shims@: berm's shims; ends with NULL */
	const char *const *refused; /* how arguments begin that would undo it; ends with NULL */
	const char *host; /* of `berm setup`, whose hook the private copy `file` gets; NULL: none */
	const char *file; /* below the home */
	const char *trust; /* below the home: the copy that gets Codex's record of trust; NULL: none */
	const char *how; /* for people: what leads a command to the wall */
};

struct agent {
	const char *name; /* as typed, and the name of the program */
	const char *title;
	const char *piece; /* the built-in policy */
	const char *const *arguments; /* before the user's; ends with NULL */
	const char *const *places; /* where installers put it, below the home; ends with NULL */
	/* Below the home: emptied at each start, except for what is kept. Ends with NULL. */
	const char *const *directories;
	const char *directory_variable; /* moves the first of them; NULL: none */
	const struct agent_kept *kept; /* ends with a NULL path */
	const struct agent_copy *copies; /* ends with a NULL path */
	const char *const *hooks; /* JSON files below the home with the user's hooks; ends with NULL */
	const char *const *url_variables; /* name the API's host; ends with NULL */
	const char *login, *update; /* one sentence each */
	const struct agent_commands *commands;
};

extern const struct agent agent_table[];
extern const size_t agent_count;
/* Returns the name of the agent with this index, or NULL past the last. */
const char *agent_name(size_t index);
/* Returns NULL for an unknown name. */
const struct agent *agent_find(const char *name);

/* The program of an agent on this machine. All paths are canonical, except `found`. */
struct agent_program {
	const char *found; /* as PATH or a known place names it */
	struct path_links links; /* from `found` to `path` */
	const char *path;
	const char *interpreter; /* of a script; NULL: none */
	const char *const *interpreter_arguments; /* ends with NULL */
};

/* program.c: finds the program in the caller's PATH and in the known places. -1 with err names
 * where it was searched. */
int agent_program_find(struct arena *arena, const struct agent *agent, const struct context *context,
		       struct agent_program *program, struct error *err);
/* Refuses a program that the plan hides, or that commands could replace. */
int agent_program_judge(const struct agent_program *program, const struct plan *plan, struct error *err);
/* Returns the argument vector: interpreter, program, berm's arguments, the user's. */
char *const *agent_program_command(struct arena *arena, const char *const *own, const struct agent_program *program, int count,
				   char **arguments);

/* guards.c: refuses a hook of the user whose program is hidden inside. */
int agent_guards_judge(struct arena *arena, const struct agent *agent, const struct plan *plan, struct error *err);

/* rules.c: adds to `policy` what the piece cannot know: the program's directory, and the host that
 * a variable of the agent names instead of its API. */
int agent_rules(struct arena *arena, const struct agent *agent, const struct context *context,
		const struct agent_program *program, struct policy *policy, struct error *err);

/* merge.c: the host's text with those values of `inside` that may go back. Returns 1 with the new
 * text in `out`, 0 if there is nothing to write, -1 with the reason if `inside` is refused. */
int agent_merge(struct arena *arena, const struct agent_copy *copy, int64_t now_ms, struct jsonc_text host,
		struct jsonc_text inside, struct text *out, struct error *err);

/* private_copy.c: the files of one run. */
struct agent_box {
	struct arena *arena;
	const struct agent *agent;
	const char *home; /* of the host, canonical */
	const char *private_home; /* on the host */
	const char *project, *working_directory;
	int lock; /* shared by the runs of this private home; -1: none */
	bool is_shared; /* another run uses it: its copies stay */
};

/* Refuses files of the agent that commands could replace. Changes nothing. */
int agent_box_judge(const struct agent_box *box, const struct plan *plan, struct error *err);
/* Empties the agent's private directories and makes the copies. Called after state_prepare made the
 * private home; `class` is its directory. Unless another run uses it. */
int agent_box_fill(struct agent_box *box, int class, struct error *err);
/* Writes the values that may go back. Adds a line to `lines` for each file that was refused, and
 * with is_verbose for each that was written. */
void agent_box_write_back(const struct agent_box *box, bool is_verbose, struct text *lines);

/* Opens the directory of a path below `top`, component by component, without following symlinks.
 * With is_creating missing ones are made, and what is no directory is removed. Sets *name to the
 * last component. */
int agent_open_below(int top, const char *path, bool is_creating, const char **name);

/* commands.c: `--commands`. Refuses an agent, or arguments of the user, with which a command could
 * be outside of the second wall. */
int agent_commands_judge(const struct agent *agent, int count, char **arguments, struct error *err);
/* Returns the table's arguments with those that lead the agent's commands to the wall. */
const char *const *agent_commands_arguments(struct arena *arena, const struct agent *agent, const struct install_paths *paths);
/* Adds what the agent needs of berm to `policy`: the shims. */
void agent_commands_rules(struct arena *arena, const struct install_paths *paths, const char *executable,
			  struct policy *policy);
/* Adds the wall to the plan. */
int agent_commands_plan(struct arena *arena, const struct agent *agent, struct plan *plan, struct error *err);
/* Makes the home of the commands and the copy with berm's hook. After agent_box_fill. */
int agent_commands_fill(const struct agent_box *box, const struct plan *plan, const struct install_paths *paths,
			struct error *err);
/* Adds the part of `--plan` about the wall. */
void agent_commands_describe(struct arena *arena, const struct agent *agent, const struct plan *plan, struct text *out);

/* keeper.c: starts a process that writes back while the run lasts, and once more if the launcher is
 * killed. */
int agent_keeper_start(const struct agent_box *box, struct error *err);

/* describe.c: adds the agent's part of the plan. */
void agent_describe(struct arena *arena, const struct agent *agent, const struct agent_program *program,
		    const struct context *context, struct text *out);

#endif

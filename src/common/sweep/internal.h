/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room. */
#ifndef BERM_COMMON_SWEEP_INTERNAL_H
#define BERM_COMMON_SWEEP_INTERNAL_H

#include <time.h>

#include "common/git/directory.h"
#include "common/scan/scan.h"
#include "common/state/born.h"
#include "common/sweep/sweep.h"

enum { SWEEP_TEXT_MAX = 1 << 20 }; /* bytes of a configuration or todo file */

/* The first character of a fact. */
enum sweep_fact {
	FACT_PRESENT = 'L', /* path: protected, and there */
	FACT_LOCKED = 'R', /* path: read-only with everything in it */
	FACT_OPENED = 'O', /* directory in a locked one: writable */
	FACT_PLACE = 'D', /* directory: where the host looks */
	FACT_GIT = 'G', /* git directory of the host */
	FACT_BORN = 'B', /* git directory that was made inside */
	FACT_POINTER = 'P', /* file, text */
	FACT_TODO = 'X', /* file, line that executes */
	FACT_SETTING = 'S', /* configuration, setting that executes */
	FACT_HOOK = 'H', /* file, hash of its content */
	FACT_LINK = 'K', /* symlink in a git directory, target */
	FACT_NAMED = 'N', /* path that a setting of git names: absent */
	FACT_CLOSED = 'C', /* directory that could not be listed, and was hidden */
	FACT_STATE = 'M', /* file of an interrupted operation, text */
	FACT_PATTERNS = 'V', /* checksum of the plan's protect patterns */
};

/* Ends the path in a fact with a detail. Not a slash, and not a character of UTF-8 text; a path
 * with it only looks new. */
enum { FACT_SEPARATOR = '\x01' };

/* facts.c. `detail` may be NULL. */
void facts_add(struct arena *arena, struct sweep_facts *facts, enum sweep_fact kind, const char *path, const char *detail);
bool facts_have(struct arena *arena, struct sweep_facts *facts, enum sweep_fact kind, const char *path, const char *detail);
/* Returns the detail of the first fact about this path, or NULL. */
const char *facts_find(struct arena *arena, struct sweep_facts *facts, enum sweep_fact kind, const char *path);
/* True if the path is in a directory where the host looks: each writable directory is one. Does not
 * sort. */
bool facts_have_place(const struct sweep_facts *facts, const char *path);
/* Encodes sorted facts. Returns bytes in the arena. */
char *facts_encode(struct arena *arena, struct sweep_facts *facts, size_t *length);
void facts_decode(struct arena *arena, const char *bytes, size_t length, struct sweep_facts *facts);

/* One look at the project after a run. */
struct look {
	const struct plan *plan;
	struct arena *arena;
	struct sweep_facts *baseline;
	struct scan_found found;
	bool was_guarded;
	bool is_preview; /* nothing is changed: the verdicts are only reported */
	struct timespec started; /* the run: nothing that is older was made by it */
	bool is_same_policy; /* the baseline was made with the same patterns */
	bool is_alone; /* no other run lives in the project */
	bool has_deferred; /* something waits for the end of another run */
	struct look_directories {
		struct look_directory {
			struct git_directory git;
			const char *worktree; /* or NULL */
			bool is_born; /* or new */
			bool is_new;
		} * items;
		size_t count;
	} directories;
	struct plan_matches submodules; /* `.git` of submodules, where names are not searched */
	struct look_links {
		const char **items;
		size_t count;
	} unsearched_links;
	struct sweep_report *report;
};

/* facts.c: true if the path was there when the run was launched, or is in a directory that nothing
 * inside could change. */
bool facts_was_present(struct arena *arena, struct sweep_facts *facts, const char *path);

/* act.c: do what the verdict says, and report it. */
void act_move(struct look *look, const char *path, const char *reason);
void act_note(struct look *look, enum sweep_verdict verdict, const char *path, const char *reason);
/* Replaces the text of a regular file, if it still has the text that was read. */
void act_replace(struct look *look, enum sweep_verdict verdict, const char *path, const char *old, size_t old_length,
		 const char *text, size_t length, const char *reason);
/* Reads a regular file of bounded size without following symlinks in its path. Returns 0, 1 if it
 * is absent, -1 if it is something else. */
int act_read(struct arena *arena, const char *path, char **text, size_t *length);

/* closed.c: makes directories readable that the search could not list. True if there was one: the
 * search must be repeated. */
bool closed_open(struct look *look);

/* names.c: names of files.protect that are new. */
void names_look(struct look *look);
/* Judges one match, if it is new. */
void names_look_at(struct look *look, const struct plan_match *match);
/* Returns the directory in which a match of this rule is looked for. */
const char *names_place(struct arena *arena, const char *path, const struct rule *rule);

/* repositories.c: finds the git directories and judges them. */
void repositories_find(struct look *look);
void repositories_look(struct look *look);
/* Adds the git directory of a `.git` or HEAD that exists. */
void repositories_add(struct look *look, const struct plan_match *mark);
/* True if the file was changed, moved or made during the run. */
bool look_is_of_run(const struct look *look, const char *path);
/* Notes what a git directory executes, at launch. */
void repositories_note(const struct plan *plan, struct sweep_facts *facts, const char *path, bool is_born);

/* parts.c: the parts of one git directory. */
void parts_look(struct look *look, const struct look_directory *directory);
void parts_note(const struct plan *plan, struct sweep_facts *facts, const char *path, bool is_born);

/* crowded.c: nothing, unless the search found more names than it can list. */
void crowded_repositories(struct look *look);
void crowded_names(struct look *look);

/* links.c: symlinks in git directories. */
void links_look(struct look *look);
void links_note(struct arena *arena, struct sweep_facts *facts, const struct plan_matches *links);

/* operations.c: files of an interrupted rebase, cherry-pick or am, from which git takes names of
 * programs and options. */
void operations_look(struct look *look, const char *git_directory);
void operations_note(const struct plan *plan, struct sweep_facts *facts, const char *git_directory);
/* True if git writes such a text for a user who names a strategy of git, options of one or of git
 * apply. Pure. */
bool operations_is_strategy(const char *text);
bool operations_are_strategy_options(struct arena *arena, const char *text);
bool operations_are_sequencer_options(struct arena *arena, const char *text);
bool operations_are_apply_options(struct arena *arena, const char *text);

/* todo.c: exec lines. */
void todo_look(struct look *look, const char *git_directory);
void todo_note(const struct plan *plan, struct sweep_facts *facts, const char *git_directory);
/* Returns the text with each line that executes and is no fact as a comment, or NULL if there is
 * none. `facts` may be NULL. */
char *todo_edit(struct arena *arena, const char *path, const char *text, size_t length, struct sweep_facts *facts,
		size_t *new_length);

/* config.c: settings that execute. */
void config_look(struct look *look, const char *path, bool is_born);
void config_note(struct arena *arena, struct sweep_facts *facts, const char *path);
/* Returns the text with each such setting that is no fact as a comment. NULL if there is none;
 * *is_hopeless if they do not have lines for themselves. */
char *config_edit(struct arena *arena, const char *path, const char *text, size_t length, struct sweep_facts *facts,
		  bool *is_hopeless, const char **first);

/* pointers.c: `.git` files and links, and the commondir of worktrees. */
void pointers_look(struct look *look);
void pointers_note(const struct plan *plan, struct sweep_facts *facts, const char *git_directory);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the subcommands about copies: their arguments, the project, and how a change is
 * shown. */
#ifndef BERM_COMMON_CLI_COPY_COMMAND_H
#define BERM_COMMON_CLI_COPY_COMMAND_H

#include "common/base/json_write.h"
#include "common/cli/copy_judge.h"
#include "common/cli/session.h"
#include "common/copies/copies.h"

struct copy_words {
	char **items;
	size_t count;
	size_t before_dashes; /* words before `--`, of which the first may name a copy */
};

/* Parses options and words in any order. Words after `--` are never options. */
int copy_words_parse(struct session *session, uint64_t accepted, int argc, char **argv, struct copy_words *words,
		     struct error *err);
/* Finds the user, the project and the state directory, without a policy. */
int copy_find_project(struct session *session, struct error *err);
/* Opens the copy that the first word names, and takes that word away. Without one: `default`, or
 * the only copy there is. */
int copy_open_named(struct session *session, struct copy_words *words, struct copy *copy, struct error *err);
/* Returns a path of the command line relative to the project, or NULL with err. */
const char *copy_project_path(struct session *session, const char *word, struct error *err);
/* Replaces all words by paths relative to the project. */
int copy_project_paths(struct session *session, char **words, size_t count, struct error *err);

/* True if a line about this change would repeat one about a directory above it, which is not
 * applied as a whole: a refused one, or a git directory. */
bool copy_is_folded(const struct copy_changes *changes, size_t index);
/* True if the change is the first of a git directory. */
bool copy_begins_unit(const struct copy_changes *changes, size_t index);
/* Returns how many changes the git directory of this one has. */
size_t copy_count_unit(const struct copy_changes *changes, size_t index);
/* Returns one letter for a change: A, M, D, T (another type), or m (only the mode). */
char copy_letter(const struct copy_change *change);
/* Adds "!" and the reason why a change is a conflict or not applied, if it is. With is_folding one
 * line is for a whole git directory. */
void copy_add_marks(struct arena *arena, struct text *out, const struct copy_change *change, bool is_folding,
		    const char *indent);
const char *copy_type_name(enum file_type type);

#endif

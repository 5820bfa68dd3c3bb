/* SPDX-License-Identifier: Apache-2.0 */
/* Records which project policies the user has accepted. One record per file and content,
 * <state>/trust/<sha256 of the file's path>-<sha256 of the content>. It applies only to these bytes
 * at this path. In doubt a policy is untrusted. */
#ifndef BERM_COMMON_STATE_TRUST_H
#define BERM_COMMON_STATE_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/sha256.h"

struct trust_entry {
	const char *path; /* canonical path of the policy file */
	char content[SHA256_HEX + 1];
	int64_t time; /* seconds since 1970 */
	const char *text; /* the content itself, or NULL if it is too large to be kept */
	size_t length;
};

struct trust_entries {
	struct trust_entry *items;
	size_t count;
	size_t damaged; /* number of invalid records; they grant nothing */
};

/* A content of a policy file. */
struct trust_text {
	const char *bytes;
	size_t length;
};

enum { TRUST_CONTENTS_MAX = 16 }; /* of one file */

void trust_hash(const char *text, size_t length, char content[SHA256_HEX + 1]);

bool trust_is_recorded(struct arena *arena, const char *state_directory, const char *path, const char *content);
/* Records these bytes beside the earlier contents of the file. Removes the oldest of more than
 * TRUST_CONTENTS_MAX. */
int trust_record(struct arena *arena, const char *state_directory, const char *path, struct trust_text text, struct error *err);
/* Removes the records of a file: all, or those whose hash begins with `content`, if it is not NULL.
 * Returns their number, or -1. Two processes may do it at once. */
int trust_drop(struct arena *arena, const char *state_directory, const char *path, const char *content, struct error *err);
/* Sorted by path; of one path the newest first. */
int trust_list(struct arena *arena, const char *state_directory, struct trust_entries *entries, struct error *err);
/* Returns the newest record of a file, or NULL. */
const struct trust_entry *trust_newest(const struct trust_entries *entries, const char *path);

/* True if trust_note_shown was called with this content of the file last. */
bool trust_was_shown(struct arena *arena, const char *state_directory, const char *path, const char *content);
/* Remembers that `run` reported an untrusted content. Best effort. */
void trust_note_shown(struct arena *arena, const char *state_directory, const char *path, const char *content);

/* True if the path is in the private home or tmp of a sandbox, as seen from outside. */
bool trust_is_in_sandbox(const char *path);
/* Refuses a state directory that a command could have prepared: in the project, or in the private
 * home or tmp of a sandbox. An agent can set XDG_STATE_HOME. */
int trust_judge_place(const char *state_directory, const char *project, struct error *err);

#endif

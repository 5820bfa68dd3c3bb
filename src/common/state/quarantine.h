/* SPDX-License-Identifier: Apache-2.0 */
/* Files that were taken out of a project because a program of the host would obey them:
 * <state>/quarantine/<id>/ with the content under a neutral name, the original path and a record.
 * A process that is killed at any moment leaves a file in its place or in quarantine, never in
 * neither. Nothing is overwritten, and only quarantine_drop removes content. */
#ifndef BERM_COMMON_STATE_QUARANTINE_H
#define BERM_COMMON_STATE_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/sha256.h"

enum { QUARANTINE_ID = 8 }; /* characters of an id */

struct quarantine_entry {
	const char *id;
	const char *path; /* original, absolute */
	const char *project_key;
	const char *reason; /* one clause */
	const char *type; /* "file", "directory", "symlink", "other" */
	mode_t mode;
	int64_t time; /* seconds since 1970 */
	int64_t run; /* pid of the launcher */
	/* The file is still there, edited, and this is the original; the hash of the edited text.
	 * NULL: it was moved. */
	const char *edited;
	bool is_beside; /* the content stayed in its directory, as quarantine_beside_name() */
};
struct quarantine_entries {
	struct quarantine_entry *items; /* newest first */
	size_t count;
	size_t damaged; /* without a readable record */
};

/* Moves `name` of an open directory to quarantine. `path` is its absolute path. Fills `id`. -1 with
 * err; its number is ENOENT if there is no such file. If the state directory cannot hold the
 * content, it gets a neutral name in its own directory; if there is no room for a record either,
 * `id` is empty and err contains that name. */
int quarantine_move(struct arena *arena, const char *state_directory, const char *project_key, int directory, const char *name,
		    const char *path, const char *reason, char id[QUARANTINE_ID + 1], struct error *err);

/* A file that is about to be edited in place. */
struct quarantine_original {
	const char *path;
	const char *bytes;
	size_t length;
	mode_t mode;
	char edited[SHA256_HEX + 1]; /* hash of the new text */
};
/* Keeps the original. The caller edits the file afterwards. */
int quarantine_keep(struct arena *arena, const char *state_directory, const char *project_key,
		    const struct quarantine_original *original, const char *reason, char id[QUARANTINE_ID + 1],
		    struct error *err);

/* Lists the entries of the quarantine. An absent state directory has nothing. */
int quarantine_list(struct arena *arena, const char *state_directory, struct quarantine_entries *entries, struct error *err);
/* Finds one entry by its id. */
int quarantine_find(struct arena *arena, const char *state_directory, const char *id, struct quarantine_entry *entry,
		    struct error *err);
/* Opens the private directory of an entry, which has `content` unless is_beside. The caller closes
 * the fd. */
int quarantine_open(struct arena *arena, const char *state_directory, const char *id, struct error *err);
extern const char quarantine_content[];
/* Returns the name in its own directory of an entry with is_beside. */
const char *quarantine_beside_name(struct arena *arena, const char *id);
/* Puts an entry back at its path and forgets it. Refuses to overwrite; an edited file is replaced
 * only while it has the edited text. */
int quarantine_restore(struct arena *arena, const char *state_directory, const struct quarantine_entry *entry,
		       struct error *err);
/* Removes an entry and its content. */
int quarantine_drop(struct arena *arena, const char *state_directory, const struct quarantine_entry *entry, struct error *err);

/* Opens the directory of an absolute path, component by component, without following a symlink. The
 * caller closes the fd. -1 with errno. */
int quarantine_open_parent(const char *path);

#endif

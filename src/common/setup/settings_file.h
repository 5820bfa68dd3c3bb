/* SPDX-License-Identifier: Apache-2.0 */
/* Another program's settings file on disk, and the record of its original. Internal to setup.h. */
#ifndef BERM_COMMON_SETUP_SETTINGS_FILE_H
#define BERM_COMMON_SETUP_SETTINGS_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/context/context.h"
#include "common/context/install_paths.h"
#include "common/format/jsonc.h"
#include "common/base/sha256.h"

struct setup_file {
	const char *path; /* as given */
	const char *real; /* the target of a symlink: it is changed, the symlink stays */
	bool is_link, exists;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	dev_t device;
	ino_t inode;
	struct jsonc_text text; /* "" if it does not exist */
	const char *missing; /* the topmost directory of its path that does not exist, or NULL */
};

/* Refuses a file that cannot be replaced safely: not a regular file, with further hard links,
 * or another user's. */
int setup_file_read(struct arena *arena, const struct context *context, const char *path, struct setup_file *file,
		    struct error *err);
/* Reads a file of a host that berm does not change. One that does not exist is empty. */
int setup_file_peek(struct arena *arena, const char *path, struct jsonc_text *text, struct error *err);
/* Replaces or creates the file and its directories in one step and keeps its mode and owner. Fails
 * if it changed since it was read. */
int setup_file_write(struct arena *arena, const struct setup_file *file, struct jsonc_text text, struct error *err);
/* Removes the file if it is unchanged since it was read, and then the empty directories from its
 * parent up to `made`. */
int setup_file_remove(struct arena *arena, const struct setup_file *file, const char *made, struct error *err);

struct setup_record {
	bool existed; /* before the --write */
	char after[SHA256_HEX + 1]; /* hash of the bytes that berm wrote */
	const char *made; /* the topmost directory that was created for it, or NULL */
	struct install_paths paths; /* the paths in the settings */
	struct jsonc_text original;
};

/* Opens the directory of records and locks it until the descriptor is closed, so that concurrent
 * setups wait. Returns -1 with err. */
int setup_records_open(struct arena *arena, const struct context *context, struct error *err);
/* Returns 1 if found, 0 if there is none, -1 with err if it cannot be read. */
int setup_record_read(struct arena *arena, int records, const char *host, const char *real, struct setup_record *record,
		      struct error *err);
/* Returns the time of the last --write in milliseconds since 1970, or -1 if there is no record. */
int64_t setup_record_time(struct arena *arena, const struct context *context, const char *host, const char *real);
int setup_record_write(struct arena *arena, int records, const char *host, const char *real, const struct setup_record *record,
		       struct error *err);
int setup_record_remove(struct arena *arena, int records, const char *host, const char *real, struct error *err);

void setup_hash(struct jsonc_text text, char hex[SHA256_HEX + 1]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Another program's settings file on the disk, and berm's record of what it was before. */
#ifndef BERM_COMMON_SETUP_SETTINGS_FILE_H
#define BERM_COMMON_SETUP_SETTINGS_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/context/context.h"
#include "common/context/install_paths.h"
#include "common/format/jsonc.h"
#include "common/base/sha256.h"

struct setup_file {
	const char *path; /* as named */
	const char *real; /* where a symlink leads: that file is changed, the symlink stays */
	bool is_link, exists;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	dev_t device;
	ino_t inode;
	struct jsonc_text text; /* "" if it does not exist */
	const char *missing; /* the topmost directory on its way that does not exist, or NULL */
};

/* Refuses what cannot be replaced safely: no regular file, hard links elsewhere, another user's. */
int setup_file_read(struct arena *arena, const struct context *context, const char *path, struct setup_file *file,
		    struct error *err);
/* Replaces or creates the file (and the directories for it) in one step, with its mode and owner, if it is still what was read. */
int setup_file_write(struct arena *arena, const struct setup_file *file, struct jsonc_text text, struct error *err);
/* Removes it, if it is still what was read, and `made` with what is below it, if that is empty. */
int setup_file_remove(struct arena *arena, const struct setup_file *file, const char *made, struct error *err);

struct setup_record {
	bool existed; /* the file, before */
	char after[SHA256_HEX + 1]; /* of the bytes that berm wrote */
	const char *made; /* the topmost directory that was made for it, or NULL */
	struct install_paths paths; /* that were written */
	struct jsonc_text original;
};

/* The directory of records, locked for this process until it is closed; -1. Two setups at once come one after the other. */
int setup_records_open(struct arena *arena, const struct context *context, struct error *err);
/* 1: found; 0: none; -1: there is one that cannot be read. */
int setup_record_read(struct arena *arena, int records, const char *host, const char *real, struct setup_record *record,
		      struct error *err);
int setup_record_write(struct arena *arena, int records, const char *host, const char *real, const struct setup_record *record,
		       struct error *err);
int setup_record_remove(struct arena *arena, int records, const char *host, const char *real, struct error *err);

void setup_hash(struct jsonc_text text, char hex[SHA256_HEX + 1]);

#endif

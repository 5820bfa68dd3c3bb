/* SPDX-License-Identifier: Apache-2.0 */
/* Which texts of project policies the user has accepted: one record per file, <state>/trust/<sha256 of the file's path>, with the
 * sha256 of the content. A record counts only for exactly these bytes at exactly this path; every doubt means untrusted. */
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
};

struct trust_entries {
	struct trust_entry *items;
	size_t count;
	size_t damaged; /* records that say nothing usable; they grant nothing */
};

void trust_hash(const char *text, size_t length, char content[SHA256_HEX + 1]);

bool trust_is_recorded(struct arena *arena, const char *state_directory, const char *path, const char *content);
int trust_record(struct arena *arena, const char *state_directory, const char *path, const char *content, struct error *err);
/* 0; 1 if there was no record. */
int trust_revoke(struct arena *arena, const char *state_directory, const char *path, struct error *err);
/* Sorted by path. */
int trust_list(struct arena *arena, const char *state_directory, struct trust_entries *entries, struct error *err);

/* May a state directory at this place be believed? Not if a command could have prepared it: in the project, or in the private
 * home or tmp of a sandbox (XDG_STATE_HOME can be set by an agent). */
bool trust_is_in_sandbox(const char *path); /* in the private home or tmp of one, as reached from outside */
int trust_judge_place(const char *state_directory, const char *project, struct error *err);

#endif

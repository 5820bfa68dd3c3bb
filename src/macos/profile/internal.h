/* SPDX-License-Identifier: Apache-2.0 */
/* The writer that the files of profile_write() share. */
#ifndef BERM_MACOS_PROFILE_INTERNAL_H
#define BERM_MACOS_PROFILE_INTERNAL_H

#include "common/plan/plan.h"
#include "common/base/text.h"
#include "macos/profile/profile.h"

struct profile_writer {
	struct arena *arena;
	const struct plan *plan;
	const struct profile_run *run;
	const char *tag;
	const char *home, *tmp; /* the command's private directories */
	struct text out;
	struct profile_parameters parameters;
};

/* profile.c */
/* Adds `; key: text (file:line:column)`, or "berm's own" if the rule is NULL. */
void profile_comment(struct profile_writer *writer, const char *indent, const struct rule *rule);
/* Adds `(kind "path")`, with a parameter instead if the path is not plain printable ASCII. */
void profile_path(struct profile_writer *writer, const char *kind, const char *path);
/* Adds ` (with message "tag"))` and a line break: the end of every denial. */
void profile_end_deny(struct profile_writer *writer);
/* Adds `(subpath home) (subpath tmp)`. */
void profile_private_paths(struct profile_writer *writer);

/* system.c: the parts that do not depend on paths of the policy. */
void profile_write_process(struct profile_writer *writer);
void profile_write_devices(struct profile_writer *writer);
int profile_write_network(struct profile_writer *writer, struct error *err);
void profile_write_closed(struct profile_writer *writer);

/* patterns.c: files.deny and files.protect. */
void profile_write_protect(struct profile_writer *writer);
void profile_write_deny(struct profile_writer *writer);
/* carried.c: denied names in the private directories. */
void profile_write_carried(struct profile_writer *writer);
/* pins.c: names that must not be renamed or removed. */
void profile_write_pins(struct profile_writer *writer);

#endif

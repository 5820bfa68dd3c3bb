/* SPDX-License-Identifier: Apache-2.0 */
/* Inside profile_write: what its files share. */
#ifndef BERM_MACOS_PROFILE_INTERNAL_H
#define BERM_MACOS_PROFILE_INTERNAL_H

#include "common/plan/build.h"
#include "common/base/text.h"
#include "macos/profile/profile.h"

struct profile_writer {
	struct arena *arena;
	const struct plan *plan;
	const struct profile_run *run;
	const char *tag;
	const char *home, *tmp; /* the command's own places */
	struct text out;
	struct profile_parameters parameters;
};

/* profile.c */
/* `; key: text (file:line:column)`; NULL: berm's own. */
void profile_comment(struct profile_writer *writer, const char *indent, const struct rule *rule);
/* `(kind "path")`, or with a parameter if the path is not plain printable ASCII. */
void profile_path(struct profile_writer *writer, const char *kind, const char *path);
/* ` (with message "tag"))` and a line break: the end of every denial. */
void profile_end_deny(struct profile_writer *writer);
/* `(subpath home) (subpath tmp)` */
void profile_own_places(struct profile_writer *writer);

/* profile_system.c: what does not depend on paths of the policy. */
void profile_write_process(struct profile_writer *writer);
void profile_write_devices(struct profile_writer *writer);
int profile_write_network(struct profile_writer *writer, struct error *err);
void profile_write_closed(struct profile_writer *writer);

/* profile_patterns.c: files.deny and files.protect. */
void profile_write_protect(struct profile_writer *writer);
void profile_write_deny(struct profile_writer *writer);
/* profile_pins.c: what must not be renamed away. */
void profile_write_pins(struct profile_writer *writer);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by quarantine.c, which fills it, and quarantine_list.c, which empties it. */
#ifndef BERM_COMMON_STATE_QUARANTINE_INTERNAL_H
#define BERM_COMMON_STATE_QUARANTINE_INTERNAL_H

#include <stdbool.h>

#include "common/base/arena.h"
#include "common/base/error.h"

/* Opens <state>/quarantine. Returns an fd that the caller closes, or -1 with err. */
int quarantine_open_all(struct arena *arena, const char *state_directory, bool is_creating, struct error *err);
/* Names of the files in an entry. */
extern const char quarantine_record[], quarantine_path[];

#endif

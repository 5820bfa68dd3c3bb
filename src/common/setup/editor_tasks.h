/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks and launches of a project that an editor starts outside, whatever its settings say: of
 * .vscode/tasks.json and .vscode/launch.json. Only reads. Internal to setup.h. */
#ifndef BERM_COMMON_SETUP_EDITOR_TASKS_H
#define BERM_COMMON_SETUP_EDITOR_TASKS_H

#include "common/setup/overrides.h"

/* Finds them all, each with its file and line. A file that cannot be parsed is one entry. */
void setup_find_outside(const struct setup_overrides_request *request, struct setup_overrides *found);

#endif

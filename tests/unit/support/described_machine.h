/* SPDX-License-Identifier: Apache-2.0 */
/* A machine as text, whose files may have lines: a text of a described file has no line breaks, so
 * % is one here. */
#ifndef BERM_TESTS_UNIT_DESCRIBED_MACHINE_H
#define BERM_TESTS_UNIT_DESCRIBED_MACHINE_H

#include "common/base/arena.h"
#include "common/context/context.h"

/* One entry of `files` with content. */
#define FILE_TEXT(path, text) "  - {path: " path ", text: \"" text "\"}\n"

/* Returns the context of ann, whose project is /p/app and whose home is /home/ann. `environment`
 * and `files` are the lists of a context file. Aborts if they are not understood. */
struct context described_machine(struct arena *arena, const char *environment, const char *files);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a run has of its own in its view, below /run/berm: the documents, and the files that lie over what is hidden. The launcher makes them,
 * because it has the time while init mounts; init sends it the directory as soon as that is there. Nothing has run by then, and the directory
 * is read-only before anything does. */
#ifndef BERM_LINUX_VIEW_RUN_FILES_H
#define BERM_LINUX_VIEW_RUN_FILES_H

#include <sys/stat.h>

#include "common/base/error.h"
#include "common/plan/plan.h"

/* Init: here it is. */
int furnish_offer(int channel, int own, struct error *err);
/* Init: waits until it is filled. */
int furnish_await(int channel, struct error *err);
/* The launcher: fills the directory that came with MESSAGE_OWN, as one descriptor, and says so. Closes what came. */
int furnish_fill(int channel, const int *came, size_t count, const struct plan *plan, struct error *err);

/* The path in it of what lies over a file, if there is one: named by what it was made for. (A number that was given to another file since makes size and time of the mask
 * wrong, nothing else.) */
enum { FURNISH_NAME = 64 };
#define FURNISH_MASKS ".masks"
#define FURNISH_DIRECTORY "directory" /* there: over all directories */
void furnish_mask_name(const struct stat *hidden, char name[FURNISH_NAME]);
/* Makes one in the directory `masks`, under this name, that looks like what it hides. -1 with errno. */
int furnish_make_mask(int masks, const char *name, const struct stat *hidden);

#endif

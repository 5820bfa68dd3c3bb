/* SPDX-License-Identifier: Apache-2.0 */
/* The files of one run in its view, below /run/berm: documents, and masks for hidden files. The
 * launcher creates them while init mounts; init sends it the directory as soon as that exists. The
 * directory is read-only before the command runs. */
#ifndef BERM_LINUX_VIEW_RUN_FILES_H
#define BERM_LINUX_VIEW_RUN_FILES_H

#include <sys/stat.h>

#include "common/base/error.h"
#include "common/plan/plan.h"

/* Called by init: sends the directory's descriptor to the launcher. */
int run_files_offer(int channel, int directory, struct error *err);
/* Called by init: waits until more of the directory is filled. *masks is the number of masks that
 * exist by then, of the first hidden paths. All exist and the directory is complete if it is the
 * number of hidden paths; until then the function must be called again. */
int run_files_await(int channel, size_t *masks, struct error *err);
/* Called by the launcher: fills the directory that came with MESSAGE_RUN_FILES, as one descriptor,
 * and notifies init, for many masks several times: init mounts them meanwhile. Closes the
 * descriptors. */
int run_files_fill(int channel, const int *came, size_t count, const struct plan *plan, const struct plan_documents *documents,
		   struct error *err);

/* Writes the path of a file's mask in that directory, made of the file's device and inode numbers.
 * If the inode number was reused since, only size and time of the mask are wrong. */
enum { RUN_FILES_NAME_MAX = 64 };
#define RUN_FILES_MASKS ".masks"
#define RUN_FILES_DIRECTORY "directory" /* in RUN_FILES_MASKS: the mask of every directory */
void run_files_mask_name(const struct stat *hidden, char name[RUN_FILES_NAME_MAX]);
/* Creates a mask in the directory `masks`, under this name, with the size and times of the hidden
 * file. -1 with errno. */
int run_files_make_mask(int masks, const char *name, const struct stat *hidden);

#endif

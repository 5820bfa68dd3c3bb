/* SPDX-License-Identifier: Apache-2.0 */
/* Long work calls progress_tick() now and then, in the thread that started it. Prints nothing
 * itself: the program sets a callback that does (cli/progress.h). */
#ifndef BERM_COMMON_BASE_PROGRESS_H
#define BERM_COMMON_BASE_PROGRESS_H

/* Sets the callback; NULL removes it. */
void progress_watch(void (*callback)(void *self), void *self);
/* Calls it, if there is one. Cheap enough for every few directories of a walk. */
void progress_tick(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/progress.h"

#include <stddef.h>

static void (*watching)(void *self);
static void *watcher;

void progress_watch(void (*callback)(void *self), void *self)
{
	watching = callback;
	watcher = self;
}

void progress_tick(void)
{
	if (watching)
		watching(watcher);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/progress.h"
#include "common/scan/scan.h"

enum { SHOWN_AFTER_S = 1, MS_PER_S = 1000 };

static bool can_be_shown(void)
{
	return isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static void erase(struct progress *progress)
{
	/* Blanks, because a terminal need not have a sequence for it. */
	if (progress->width > 0)
		fprintf(stderr, "\r%*s\r", (int)progress->width, "");
	progress->width = 0;
}

/* Called often: asks the clock only, until there is something to show. */
static void tick(void *self)
{
	struct progress *progress = self;
	int64_t seconds = (clock_ms() - progress->started_ms) / MS_PER_S;

	if (seconds < SHOWN_AFTER_S || seconds == progress->shown_s || !can_be_shown())
		return;
	erase(progress);
	progress->shown_s = seconds;
	progress->width = (size_t)fprintf(stderr, "berm: %s (%lld s)", progress->what, (long long)seconds);
	fflush(stderr);
}

void progress_begin(struct progress *progress, const char *what)
{
	*progress = (struct progress){ .what = what, .started_ms = clock_ms() };
	progress_watch(tick, progress);
}

void progress_end(struct progress *progress)
{
	progress_watch(NULL, NULL);
	erase(progress);
}

int progress_scan(struct plan *plan, struct error *err)
{
	struct progress progress;
	int status;

	progress_begin(&progress, "searching the project");
	status = plan_scan(plan, err);
	progress_end(&progress);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sends reports to the supervisor. A report that does not fit into the socket is dropped: the
 * supervisor may be stopped, and the repairs must go on. One that ends the run waits. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linux/repair/watcher.h"

void watcher_report(const struct watcher *watcher, struct report *report, const char *text)
{
	bool must_arrive = report->type != REPORT_EVENT && report->type != REPORT_LIMIT;
	size_t length = strnlen(text, sizeof report->text - 1);
	memcpy(report->text, text, length);
	report->text[length] = '\0';
	while (send(watcher->socket, report, report_size(length + 1), MSG_NOSIGNAL | (must_arrive ? 0 : MSG_DONTWAIT)) < 0)
		if (errno == EPIPE || errno == ECONNRESET)
			_exit(0); /* the supervisor has exited */
		else if (errno != EINTR)
			return;
}

void watcher_report_limit(struct watcher *watcher)
{
	struct report report = { .type = REPORT_LIMIT, .value = (int64_t)watcher->watches.count };
	if (!watcher->has_reported_limit)
		watcher_report(watcher, &report, "");
	watcher->has_reported_limit = true;
}

_Noreturn void watcher_fail(const struct watcher *watcher, const struct error *err)
{
	struct report report = { .type = REPORT_FAILED };
	watcher_report(watcher, &report, err->message);
	_exit(1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Complete sends and receives with a timeout. */
#include "common/proxy/control.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "common/base/clock.h"

enum { FINISH_MS = 2000 /* timeout for the reports of a proxy */ };

bool control_send(int control, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t count = send(control, (const char *)bytes + done, size - done, 0);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		done += (size_t)count;
	}
	return true;
}

bool control_receive(int control, void *bytes, size_t size, int milliseconds)
{
	int64_t end = clock_ms() + milliseconds;
	for (size_t done = 0; done < size;) {
		struct pollfd watched = { .fd = control, .events = POLLIN };
		int64_t left = end - clock_ms();
		ssize_t count;
		if (left <= 0 || poll(&watched, 1, (int)left) == 0)
			return false;
		count = recv(control, (char *)bytes + done, size - done, MSG_DONTWAIT);
		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (count <= 0)
			return false;
		done += (size_t)count;
	}
	return true;
}

void control_take_reports(int control, const char *name, struct refusals *reports, struct error *note)
{
	shutdown(control, SHUT_WR);
	if (control_receive(control, reports, sizeof *reports, FINISH_MS)) {
		refusals_secure(reports);
		return;
	}
	*reports = (struct refusals){ 0 };
	error_set(note, "the %s of this run ended early: connections failed from then on", name);
}

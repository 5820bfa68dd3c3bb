/* SPDX-License-Identifier: Apache-2.0 */
/* The part of kqueue that the launcher uses. */
#include <stdint.h>
#include <time.h>

enum { EVFILT_READ = -1, EVFILT_SIGNAL = -6, EVFILT_TIMER = -7 };
enum { EV_ADD = 1, EV_DELETE = 2 };

struct kevent {
	uintptr_t ident;
	int16_t filter;
	uint16_t flags;
	uint32_t fflags;
	intptr_t data;
	void *udata;
};

#define EV_SET(event, what, kind, change, more, value, own)                                                                    \
	(*(event) = (struct kevent){ (what), (int16_t)(kind), (uint16_t)(change), (more), (value), (own) })

int kqueue(void);
int kevent(int queue, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
	   const struct timespec *timeout);

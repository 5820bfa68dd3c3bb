/* SPDX-License-Identifier: Apache-2.0 */
/* CLOCK_MONOTONIC exists on every supported system and cannot fail. */
#include "common/base/clock.h"

#include <time.h>

int64_t clock_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

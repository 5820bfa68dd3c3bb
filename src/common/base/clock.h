/* SPDX-License-Identifier: Apache-2.0 */
/* The clock for limits and timeouts. It never goes back and cannot be set. */
#ifndef BERM_COMMON_BASE_CLOCK_H
#define BERM_COMMON_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_ms(void); /* monotonic milliseconds */

#endif

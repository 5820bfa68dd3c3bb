/* SPDX-License-Identifier: Apache-2.0 */
/* The clock for limits and patience: it never goes back, and nobody can set it. */
#ifndef BERM_COMMON_BASE_CLOCK_H
#define BERM_COMMON_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_ms(void); /* monotonic milliseconds */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Macros for argument checks. Internal interface of filter_checks.c and filter_landlock_tier.c. */
#ifndef BERM_LINUX_CONFINE_FILTER_INTERNAL_H
#define BERM_LINUX_CONFINE_FILTER_INTERNAL_H

#include <linux/seccomp.h>
#include <sys/socket.h>

#include "linux/confine/filter.h"

#define ALLOW SECCOMP_RET_ALLOW
#define NOTIFY SECCOMP_RET_USER_NOTIF
#define FAIL(number) (SECCOMP_RET_ERRNO | (number))

#define INT_MASK UINT64_C(0xffffffff) /* int, unsigned int */
#define POINTER_MASK (~UINT64_C(0))
#define IS(argument_, value_)                                                                                                  \
	{                                                                                                                      \
		.argument = (argument_), .mask = INT_MASK, .value = (value_)                                                   \
	}
#define MASKED(argument_, mask_, value_)                                                                                       \
	{                                                                                                                      \
		.argument = (argument_), .mask = (mask_), .value = (value_)                                                    \
	}
#define HAS_ANY(argument_, mask_)                                                                                              \
	{                                                                                                                      \
		.argument = (argument_), .is_unequal = true, .mask = (mask_), .value = 0                                       \
	}

#define OTHERWISE(action_)                                                                                                     \
	{                                                                                                                      \
		.action = (action_)                                                                                            \
	}

#define INTERNET MASKED(0, INT_MASK & ~UINT64_C(8), AF_INET) /* AF_INET is 2, AF_INET6 is 10 */
#define TYPE(value_) MASKED(1, 0xf, value_)
_Static_assert(AF_INET == 2 && AF_INET6 == 10, "INTERNET matches both and nothing else");

#endif

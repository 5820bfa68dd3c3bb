/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzz target asserts. Not assert(): it has to hold in every build. */
#ifndef BERM_TESTS_FUZZ_PROPERTY_H
#define BERM_TESTS_FUZZ_PROPERTY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/text.h"

#define PROPERTY(condition)                                                                                                    \
	do {                                                                                                                   \
		if (!(condition)) {                                                                                            \
			fprintf(stderr, "%s:%d: property does not hold: %s\n", __FILE__, __LINE__, #condition);                \
			abort();                                                                                               \
		}                                                                                                              \
	} while (0)

static inline bool is_utf8(const char *bytes, size_t length)
{
	uint32_t character;
	size_t size = 1;
	for (; length > 0 && size > 0; bytes += size, length -= size)
		size = text_decode(bytes, length, &character);
	return size > 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzz target asserts. Not assert(): it has to hold in every build. */
#ifndef BERM_TESTS_FUZZ_PROPERTY_H
#define BERM_TESTS_FUZZ_PROPERTY_H

#include <stdio.h>
#include <stdlib.h>

#define PROPERTY(condition)                                                                                                    \
	do {                                                                                                                   \
		if (!(condition)) {                                                                                            \
			fprintf(stderr, "%s:%d: property does not hold: %s\n", __FILE__, __LINE__, #condition);                \
			abort();                                                                                               \
		}                                                                                                              \
	} while (0)

#endif

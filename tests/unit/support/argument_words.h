/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser for test_arguments.c, which cannot include it: options.h and linux/command.h
 * share a tag. */
#ifndef BERM_TESTS_ARGUMENT_WORDS_H
#define BERM_TESTS_ARGUMENT_WORDS_H

#include "common/base/arena.h"

/* The index of the command in `berm run`'s argv; -1 if the options were refused, or are not as many
 * as `options`. */
int argument_words_rest(struct arena *arena, int argc, char **argv, int options);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A guess, made before anything is known: will this launch have a stored plan of the usual kind? Then its sandbox is begun while the plan is still
 * looked for. It is what was true the last time in this directory with these options, kept as a file that is there or not. Nothing rests on
 * it: a wrong guess costs a sandbox that is ended before anything ran in it, and the file is corrected. Two directories may share one. */
#ifndef BERM_COMMON_CACHE_PREFORK_HINT_H
#define BERM_COMMON_CACHE_PREFORK_HINT_H

#include <stdbool.h>

enum { PLAN_GUESS_NAME = 16 };

struct plan_guess {
	char name[PLAN_GUESS_NAME]; /* of the file among the stored plans; empty: none was asked for */
	bool can_begin;
};

/* `words` as for plan_store_key. */
void plan_guess_read(char *const *words, struct plan_guess *guess);
/* `plans` is the directory of the stored plans. Best effort. */
void plan_guess_write(const struct plan_guess *guess, int plans, bool can_begin);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts, as a table. */
#include <greatest.h>

#include "common/sweep/sweep.h"

#define NAME .kind = SWEEP_NAME
#define PLACE .is_place = true
#define SWEEPS .sweeps_names = true

static const struct row {
	const char *title;
	struct sweep_question question;
	enum sweep_verdict wanted;
} rows[] = {
	{ "a name where the host looks", { NAME, PLACE, SWEEPS }, SWEEP_QUARANTINE },
	{ "elsewhere", { NAME, SWEEPS }, SWEEP_REPORT },
	{ "a rule of the user, elsewhere", { NAME, SWEEPS, .is_users = true }, SWEEP_QUARANTINE },
	{ "the guard held", { NAME, PLACE, SWEEPS, .was_guarded = true }, SWEEP_STAYS },
	{ "the guard held, elsewhere", { NAME, SWEEPS, .was_guarded = true }, SWEEP_REPORT },
	{ "files.guard: launch", { NAME, PLACE }, SWEEP_REPORT },
	{ "it was there", { NAME, PLACE, SWEEPS, .was_there = true }, SWEEP_FINE },
	{ "a commondir, whatever the guard", { .kind = SWEEP_GIT_PART, .was_guarded = true }, SWEEP_QUARANTINE },
	{ "a commondir that was there", { .kind = SWEEP_GIT_PART, .was_there = true }, SWEEP_FINE },
	{ "a hook", { .kind = SWEEP_GIT_HOOK, .is_born = true }, SWEEP_QUARANTINE },
	{ "a hook that was there", { .kind = SWEEP_GIT_HOOK, .was_there = true }, SWEEP_FINE },
	{ "a configuration that executes", { .kind = SWEEP_GIT_CONFIG, .is_readable = true, .executes = true }, SWEEP_EDIT },
	{ "one that does not", { .kind = SWEEP_GIT_CONFIG, .is_readable = true, .is_born = true }, SWEEP_FINE },
	{ "one that cannot be read", { .kind = SWEEP_GIT_CONFIG }, SWEEP_QUARANTINE },
	{ "steps that execute", { .kind = SWEEP_GIT_TODO, .is_readable = true, .executes = true }, SWEEP_EDIT },
	{ "steps that do not", { .kind = SWEEP_GIT_TODO, .is_readable = true }, SWEEP_FINE },
	{ "a pointer within", { .kind = SWEEP_GIT_POINTER, .is_readable = true }, SWEEP_FINE },
	{ "a new pointer out", { .kind = SWEEP_GIT_POINTER, .is_readable = true, .leads_out = true }, SWEEP_QUARANTINE },
	{ "a changed pointer out",
	  { .kind = SWEEP_GIT_POINTER, .is_readable = true, .leads_out = true, .has_original = true },
	  SWEEP_UNDO },
	{ "a pointer that cannot be read", { .kind = SWEEP_GIT_POINTER }, SWEEP_QUARANTINE },
};

TEST each_row(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_EQ_FMTm(rows[i].title, rows[i].wanted, sweep_judge(&rows[i].question), "%u");
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(each_row);
	GREATEST_MAIN_END();
}

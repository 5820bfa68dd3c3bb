/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that decides. A new name counts where the host looks; what git executes counts
 * everywhere. */
#include "common/sweep/sweep.h"

/* A user's own entry holds wherever it matches. Elsewhere clones, templates and packages bring such
 * names, and no host looks there yet. */
static enum sweep_verdict judge_name(const struct sweep_question *question)
{
	if (!question->is_place && !question->is_users)
		return SWEEP_REPORT;
	if (question->was_guarded)
		return SWEEP_STAYS;
	return question->sweeps_names ? SWEEP_QUARANTINE : SWEEP_REPORT;
}

/* A repository that was made inside has attributes and links of its own; without a driver in its
 * configuration they execute nothing. */
static enum sweep_verdict judge_text(const struct sweep_question *question)
{
	if (!question->is_readable)
		return SWEEP_QUARANTINE;
	return question->executes ? SWEEP_EDIT : SWEEP_FINE;
}

static enum sweep_verdict judge_pointer(const struct sweep_question *question)
{
	if (question->is_readable && !question->leads_out)
		return SWEEP_FINE;
	return question->has_original ? SWEEP_UNDO : SWEEP_QUARANTINE;
}

enum sweep_verdict sweep_judge(const struct sweep_question *question)
{
	if (question->was_there)
		return SWEEP_FINE;
	switch (question->kind) {
	case SWEEP_NAME:
		return judge_name(question);
	case SWEEP_GIT_PART:
	case SWEEP_GIT_HOOK:
		return SWEEP_QUARANTINE;
	case SWEEP_GIT_CONFIG:
	case SWEEP_GIT_TODO:
		return judge_text(question);
	case SWEEP_GIT_POINTER:
		return judge_pointer(question);
	}
	return SWEEP_QUARANTINE;
}

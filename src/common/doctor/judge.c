/* SPDX-License-Identifier: Apache-2.0 */
/* Compares claims with the results of the attempts. Pure functions. */
#include "common/doctor/doctor.h"

static const char *const verification_names[] = {
	[VERIFIED_HELD] = "held",	    [VERIFIED_WEAKER] = "weaker, as claimed",
	[VERIFIED_NOT] = "unverified",	    [VERIFIED_NOTHING_RAN] = "nothing ran",
	[VERIFIED_DISPROVED] = "disproved",
};

const char *verification_name(enum verification verification)
{
	return verification_names[verification];
}

enum attempt_outcome doctor_outcome(const struct doctor_result *result, size_t attempt)
{
	if (result->bare[attempt] != ATTEMPT_REACHED)
		return result->bare[attempt] == ATTEMPT_UNTRIED ? OUTCOME_UNTRIED : OUTCOME_NO_CONTROL;
	if (result->inside[attempt] == ATTEMPT_REACHED)
		return OUTCOME_REACHED;
	/* A limit may end the run before the attempt reports. */
	if (result->inside[attempt] == ATTEMPT_UNTRIED)
		return attempt_table[attempt].guarantee == GUARANTEE_LIMITS && result->has_run ? OUTCOME_STOPPED
											       : OUTCOME_UNTRIED;
	return OUTCOME_STOPPED;
}

/* Strict and enforced are one level with two names. */
static bool is_claimed_against(enum level level, enum level stopped_at)
{
	return level != LEVEL_MISSING && !guarantee_falls_short(stopped_at, level);
}

static enum verification verify(const struct doctor_report *report, enum guarantee guarantee)
{
	enum level level = report->states[guarantee].level;
	size_t stopped = 0, passed = 0;

	if (level == LEVEL_MISSING && !report->result->has_run)
		return VERIFIED_NOTHING_RAN;
	for (size_t i = 0; i < attempt_count; i++) {
		if (attempt_table[i].guarantee != guarantee)
			continue;
		switch (doctor_outcome(report->result, i)) {
		case OUTCOME_STOPPED:
			stopped++;
			break;
		case OUTCOME_REACHED:
			if (is_claimed_against(level, attempt_table[i].stopped_at))
				return VERIFIED_DISPROVED;
			passed++;
			break;
		case OUTCOME_NO_CONTROL:
		case OUTCOME_UNTRIED:
			break;
		}
	}
	if (passed > 0)
		return VERIFIED_WEAKER;
	return stopped > 0 ? VERIFIED_HELD : VERIFIED_NOT;
}

void doctor_judge(struct doctor_report *report)
{
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		enum guarantee guarantee = (enum guarantee)i;
		report->verified[i] = verify(report, guarantee);
		report->is_disproved |= report->verified[i] == VERIFIED_DISPROVED;
		report->is_unverified |= report->verified[i] == VERIFIED_NOT;
		report->is_short |= guarantee_falls_short(guarantee_table[i].default_level, report->states[i].level);
	}
}

int doctor_exit_code(const struct doctor_report *report)
{
	if (report->is_disproved)
		return DOCTOR_UNPROVEN;
	if (report->is_short)
		return DOCTOR_WEAKER;
	return report->is_unverified ? DOCTOR_UNPROVEN : DOCTOR_HOLDS;
}

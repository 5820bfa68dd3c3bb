/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the report as JSON. docs/doctor-json.md describes every member; within one schema number
 * it stays true. */
#include "common/doctor/doctor.h"

#include <string.h>

#include "common/base/json_write.h"
#include "version.h"

enum { SCHEMA = 1 };

static const char *const outcome_names[] = {
	[OUTCOME_STOPPED] = "stopped",
	[OUTCOME_REACHED] = "reached",
	[OUTCOME_NO_CONTROL] = "no control",
	[OUTCOME_UNTRIED] = "untried",
};

static void write_attempts(struct json *json, const struct doctor_report *report, enum guarantee guarantee)
{
	json_list(json, "attempts");
	for (size_t i = 0; i < attempt_count; i++) {
		int inside = report->result->inside[i];
		if (attempt_table[i].guarantee != guarantee)
			continue;
		json_object(json, NULL);
		json_string(json, "name", attempt_table[i].name);
		json_string(json, "what", attempt_table[i].what);
		json_string(json, "outcome", outcome_names[doctor_outcome(report->result, i)]);
		json_number(json, "errno", inside > 0 ? (uint64_t)inside : 0);
		json_string(json, "stopped_from", level_name(guarantee, attempt_table[i].stopped_at));
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_guarantees(struct json *json, const struct doctor_report *report)
{
	json_list(json, "guarantees");
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		enum guarantee guarantee = (enum guarantee)i;
		const struct guarantee_state *state = &report->states[i];
		json_object(json, NULL);
		json_string(json, "name", guarantee_table[i].name);
		json_string(json, "promise", guarantee_table[i].promise);
		json_string(json, "required", level_name(guarantee, guarantee_table[i].default_level));
		json_string(json, "level", level_name(guarantee, state->level));
		json_boolean(json, "holds",
			     !guarantee_falls_short(guarantee_table[i].default_level, state->level) &&
				     report->verified[i] != VERIFIED_DISPROVED && report->result->has_run);
		json_string(json, "mechanism", state->mechanism);
		json_string(json, "reason", state->reason);
		json_string(json, "fix", state->fix);
		json_string(json, "verified", verification_name(report->verified[i]));
		json_string(json, "label", report->verified[i] == VERIFIED_NOT ? "unverified" : report->machine->label);
		write_attempts(json, report, guarantee);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_machine(struct json *json, const struct machine *machine)
{
	json_object(json, "machine");
	for (size_t i = 0; i < machine->count; i++)
		if (!machine->items[i].is_trial)
			json_string(json, machine->items[i].name, machine->items[i].value);
	json_object_end(json);
	json_list(json, "mechanisms");
	for (size_t i = 0; i < machine->count; i++) {
		const struct machine_fact *fact = &machine->items[i];
		if (!fact->is_trial)
			continue;
		json_object(json, NULL);
		json_string(json, "name", fact->name);
		json_string(json, "state", fact->number == 0 ? "works" : fact->number < 0 ? "untried" : "refused");
		json_number(json, "errno", fact->number > 0 ? (uint64_t)fact->number : 0);
		json_string(json, "cause", fact->value);
		json_string(json, "fix", fact->fix);
		json_object_end(json);
	}
	json_list_end(json);
}

void doctor_json(const struct doctor_report *report, struct text *out)
{
	struct json json = { .out = out };
	const struct error *failure = &report->result->failure;
	json_object(&json, NULL);
	json_number(&json, "schema", SCHEMA);
	json_string(&json, "version", BERM_VERSION);
	json_boolean(&json, "holds", doctor_exit_code(report) == DOCTOR_HOLDS);
	json_number(&json, "exit", (uint64_t)doctor_exit_code(report));
	json_boolean(&json, "sandbox_started", report->result->has_run);
	json_string(&json, "failure", error_is_set(failure) ? failure->message : NULL);
	json_string(&json, "label", report->machine->label);
	write_guarantees(&json, report);
	write_machine(&json, report->machine);
	json_object_end(&json);
}

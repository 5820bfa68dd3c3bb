/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the report as one page, as wide as the text. Adds nothing that the report does not
 * contain; does not print. */
#include "common/doctor/doctor.h"

#include <stdio.h>
#include <string.h>

#include "common/base/text.h"

enum { FACT_COLUMN = 15, DETAIL_COLUMN = 31 };

/* Adds text wrapped at blanks, with control characters escaped. */
static void put_words(struct text *out, size_t column, size_t indent, const char *text)
{
	bool is_first = true;
	while (*text) {
		size_t length = strcspn(text, " ");
		if (!is_first && column + 1 + length > text_width(out)) {
			text_add(out, "\n%*s", (int)indent, "");
			column = indent;
			is_first = true;
		}
		if (!is_first)
			text_add(out, " ");
		text_add_visible(out, text, length);
		column += length + !is_first;
		is_first = false;
		text += length + (text[length] == ' ');
	}
	text_add(out, "\n");
}

static void put_detail(struct text *out, size_t column, const char *label, const char *text)
{
	text_add(out, "%*s%s", (int)column, "", label);
	put_words(out, column + strlen(label), column + (label[0] ? 2 : 0), text);
}

/* Lists the attempts that got through, and all of them with -v. */
static void put_attempts(const struct doctor_report *report, enum guarantee guarantee, struct text *out)
{
	static const char *const labels[] = {
		[OUTCOME_STOPPED] = "stopped: ",
		[OUTCOME_REACHED] = "not stopped: ",
		[OUTCOME_NO_CONTROL] = "also fails outside: ",
		[OUTCOME_UNTRIED] = "not tested: ",
	};
	for (size_t i = 0; i < attempt_count; i++) {
		enum attempt_outcome outcome = doctor_outcome(report->result, i);
		if (attempt_table[i].guarantee == guarantee && (report->is_verbose || outcome == OUTCOME_REACHED))
			put_detail(out, DETAIL_COLUMN, labels[outcome], attempt_table[i].what);
	}
}

static void put_tally(const struct doctor_report *report, enum guarantee guarantee, struct text *out)
{
	unsigned stopped = 0, tried = 0;
	char tally[16] = "-";
	for (size_t i = 0; i < attempt_count; i++) {
		enum attempt_outcome outcome = doctor_outcome(report->result, i);
		if (attempt_table[i].guarantee != guarantee)
			continue;
		stopped += outcome == OUTCOME_STOPPED;
		tried += outcome == OUTCOME_STOPPED || outcome == OUTCOME_REACHED;
	}
	if (tried)
		snprintf(tally, sizeof tally, "%u/%u", stopped, tried);
	text_add(out, " %-6s", tally);
}

static bool is_same(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static const char *headline(const struct guarantee_state *state)
{
	if (state->mechanism)
		return state->mechanism;
	return state->reason ? state->reason : "unknown reason";
}

static void put_guarantee(const struct doctor_report *report, int number, struct text *out)
{
	enum guarantee guarantee = (enum guarantee)number;
	const struct guarantee_state *state = &report->states[number], *before = number > 0 ? state - 1 : NULL;
	enum level required = guarantee_table[number].default_level;
	/* One cause can affect every guarantee: print it once. */
	bool is_repeated = before && state->level == LEVEL_MISSING && is_same(state->reason, before->reason);

	text_add(out, "  %-12s %-9s", guarantee_table[number].name, level_name(guarantee, state->level));
	put_tally(report, guarantee, out);
	put_words(out, DETAIL_COLUMN, DETAIL_COLUMN, is_repeated ? "same reason" : headline(state));
	if (report->verified[number] == VERIFIED_DISPROVED)
		put_detail(out, DETAIL_COLUMN, "", "DISPROVED: a bug in berm; please report it");
	if (report->verified[number] == VERIFIED_NOT)
		put_detail(out, DETAIL_COLUMN, "", "unverified: no attempt had a control");
	put_attempts(report, guarantee, out);
	if (state->mechanism && state->reason)
		put_detail(out, DETAIL_COLUMN, "", state->reason);
	if (guarantee_falls_short(required, state->level) && !is_repeated)
		put_detail(out, DETAIL_COLUMN, "required: ", level_name(guarantee, required));
}

static bool is_first_with_fix(const struct doctor_report *report, int number)
{
	for (int i = 0; i < number; i++)
		if (is_same(report->states[i].fix, report->states[number].fix))
			return false;
	return report->states[number].fix != NULL;
}

/* Prints each fix once, with all guarantees that it fixes. */
static void put_fixes(const struct doctor_report *report, struct text *out)
{
	bool has_heading = false;
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		struct text names = { 0 };
		bool is_all = i == 0;
		if (!is_first_with_fix(report, i))
			continue;
		text_add(out, "%s", has_heading ? "" : "\nFixes\n");
		has_heading = true;
		for (int j = i; j < GUARANTEE_COUNT; j++)
			if (is_same(report->states[j].fix, report->states[i].fix))
				text_add(&names, "%s%s", names.length ? ", " : "for ", guarantee_table[j].name);
			else
				is_all = false;
		put_detail(out, 2, "", is_all ? "for all guarantees" : names.data);
		put_detail(out, 4, "", report->states[i].fix);
		text_free(&names);
	}
}

static bool is_shown(const struct doctor_report *report, const char *fix)
{
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		if (is_same(report->states[i].fix, fix))
			return true;
	return false;
}

static void put_fact(struct text *out, const char *name, const char *value)
{
	if (strlen(name) > FACT_COLUMN - 3)
		text_add(out, "  %s\n%*s", name, FACT_COLUMN, "");
	else
		text_add(out, "  %-12s ", name);
	put_words(out, FACT_COLUMN, FACT_COLUMN, value);
}

static void put_names(const struct machine *machine, const char *name, int number, struct text *out)
{
	struct text names = { 0 };
	for (size_t i = 0; i < machine->count; i++)
		if (machine->items[i].is_trial && machine->items[i].number == number)
			text_add(&names, "%s%s", names.length ? ", " : "", machine->items[i].name);
	if (names.length)
		put_fact(out, name, names.data);
	text_free(&names);
}

static void put_machine(const struct doctor_report *report, struct text *out)
{
	const struct machine *machine = report->machine;
	text_add(out, "\nMachine\n");
	for (size_t i = 0; i < machine->count; i++) {
		const struct machine_fact *fact = &machine->items[i];
		if (!fact->is_trial && !fact->is_for_programs && fact->value[0])
			put_fact(out, fact->name, fact->value);
	}
	put_names(machine, "works", 0, out);
	for (size_t i = 0; i < machine->count; i++) {
		const struct machine_fact *fact = &machine->items[i];
		if (!fact->is_trial || fact->number <= 0)
			continue;
		put_fact(out, arena_printf(report->plan->arena, "no %s", fact->name), fact->value);
		if (fact->fix && !is_shown(report, fact->fix))
			put_detail(out, FACT_COLUMN, "fix: ", fact->fix);
	}
	put_names(machine, "not tested", -1, out);
}

/* True if all that falls short depends on files of the test project: other projects may run. */
static bool is_short_by_project(const struct doctor_report *report)
{
	if (report->plan->context.tier != TIER_LANDLOCK)
		return false;
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		if (i != GUARANTEE_SECRETS && i != GUARANTEE_PLANTING && i != GUARANTEE_INTEGRITY &&
		    guarantee_falls_short(guarantee_table[i].default_level, report->states[i].level))
			return false;
	return true;
}

static const char *verdict(const struct doctor_report *report)
{
	if (report->is_disproved)
		return "A claim does not hold here: see DISPROVED below";
	if (report->is_short && is_short_by_project(report))
		return "The default policy does not hold here: `berm run` refuses projects with a\n"
		       "secret, a git repository or a policy, and runs others (tier landlock)";
	if (report->is_short)
		return "The default policy does not hold here: `berm run` refuses";
	if (!report->result->has_run)
		return "Not known: the test sandbox did not start, so nothing could be tested (see below)";
	if (report->is_unverified)
		return "The default policy should hold here, but not all of it could be tested";
	return "The default policy holds here";
}

void doctor_print(const struct doctor_report *report, struct text *out)
{
	const struct error *failure = &report->result->failure;
	text_add(out, "%s\n\n", verdict(report));
	text_add(out, "Guarantees     level     tests mechanism\n");
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		put_guarantee(report, i, out);
	put_fixes(report, out);
	put_machine(report, out);
	if (error_is_set(failure)) {
		text_add(out, "\nTest sandbox\n");
		put_detail(out, 2, "", failure->message);
	}
	text_add(out, "\n");
	text_add_wrapped(out, 0,
			 arena_printf(report->plan->arena,
				      "Tests (%s): attempts that work outside and were stopped inside; see -v.",
				      report->machine->label));
}

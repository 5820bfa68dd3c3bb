/* SPDX-License-Identifier: Apache-2.0 */
/* `berm setup HOST --check`: `in force` only after a command ran through the host, `configured, not
 * proven` if the settings are there and nothing overrides them, else `not in force` with the
 * reason. Changes nothing. */
#include "common/cli/setup_command.h"

#include <stdio.h>

#include "common/cli/commands.h"
#include "common/base/text.h"
#include "common/prove/prove.h"

enum { NOT_IN_FORCE = 1 };

/* Prints first which parts of the host run outside in any case, and what the project has of
 * them. */
static void print_uncovered(const struct setup *setup)
{
	struct arena *arena = setup->request.arena;
	for (size_t i = 0; setup->host->uncovered && setup->host->uncovered[i]; i++)
		report_detail(2, arena_printf(arena, "not covered: %s", setup->host->uncovered[i]));
	for (size_t i = 0; i < setup->outside.count; i++)
		report_detail(2, arena_printf(arena, "%s: %s", setup->outside.items[i].place, setup->outside.items[i].why));
}

/* Asks an editor for its shell. One that names another is not in force, whatever its file has. */
static void ask(struct setup *setup)
{
	const struct options *options = &setup->session.options;
	struct arena *arena = setup->request.arena;
	struct editor_asked asked;

	if (!setup->has_file || options->wants_debugger)
		return;
	setup_ask_editor(arena, setup->host, &setup->paths, setup->file.real, options->file, &asked);
	setup->asked = asked.answer == EDITOR_USES_SHIM ? asked.program : NULL;
	if (asked.answer == EDITOR_USES_OTHER)
		*arena_push(arena, &setup->overrides) = (struct setup_override_found){
			.place = asked.program,
			.why = arena_printf(arena, "says that its shell is %s", text_visible(arena, asked.said)),
		};
	if (asked.answer == EDITOR_SILENT)
		*arena_push(arena, &setup->overrides) = (struct setup_override_found){
			.place = asked.program, .why = "does not say which shell it uses; does it start without a message?"
		};
}

static void print_reasons(const struct setup *setup)
{
	struct arena *arena = setup->request.arena;
	if (setup->session.options.wants_managed && setup->state == SETUP_IN_FORCE)
		report_detail(2, arena_printf(arena, "by the administrator's settings: %s", setup->file.path));
	for (size_t i = 0; i < setup->overrides.count; i++)
		report_detail(2, arena_printf(arena, "%s: %s", setup->overrides.items[i].place, setup->overrides.items[i].why));
	if (setup->asked)
		report_detail(2, arena_printf(arena, "%s was asked: its shell is berm's", setup->asked));
	else if (setup->overrides.count == 0 && setup_judge_host(setup) == SETUP_IN_FORCE && !setup->is_proven)
		report_detail(2, arena_printf(arena, "the settings are there; whether %s obeys them, only a command shows%s",
					      setup->host->title, prove_is_known(setup->host->name) ? " (--prove)" : ""));
}

/* Runs a command through the host. Returns the reason why that proves nothing, or NULL. */
static const char *prove(struct setup *setup, struct error *err)
{
	const struct prove_request request = {
		.host = setup->host->name,
		.file = setup->file.real,
		.text = setup->file.text,
		.project = setup->session.context.working_directory,
	};
	enum prove_outcome outcome;

	if (!prove_is_known(setup->host->name))
		return "this host cannot be proven: it needs its user";
	if (prove_run(setup->request.arena, &request, &outcome, err) < 0)
		return err->message;
	setup->is_proven = outcome == PROVE_INSIDE;
	switch (outcome) {
	case PROVE_INSIDE:
		return NULL;
	case PROVE_OUTSIDE:
		return "a command that the host ran was OUTSIDE the sandbox";
	case PROVE_BLOCKED:
		return "the host did not run a command: it was blocked or failed";
	case PROVE_NOTHING:
		break;
	}
	return "the host ended without running a command";
}

/* True if each reason against the settings is one that a proof can refute. */
static bool can_be_proven(const struct setup *setup)
{
	for (size_t i = 0; i < setup->overrides.count; i++)
		if (!setup->overrides.items[i].is_doubt)
			return false;
	return setup_judge_host(setup) == SETUP_IN_FORCE;
}

int setup_check(struct setup *setup)
{
	const char *refuted = NULL;
	struct error err = { 0 };
	bool is_configured;

	if (setup_judge_host(setup) == SETUP_IN_FORCE)
		ask(setup);
	is_configured = setup_judge_host(setup) == SETUP_IN_FORCE && setup->overrides.count == 0;
	if (is_configured && setup_check_installation(setup, &err) < 0) {
		report_error(&err);
		return NOT_IN_FORCE;
	}
	if (setup->session.options.wants_prove && can_be_proven(setup)) {
		refuted = prove(setup, &err);
		is_configured = !refuted;
		if (!refuted)
			setup->overrides.count = 0;
		else
			*arena_push(setup->request.arena, &setup->overrides) =
				(struct setup_override_found){ .place = "proof",
							       .why = text_visible(setup->request.arena, refuted) };
	}
	if (setup->session.options.wants_json)
		return setup_print_json(setup), is_configured ? 0 : NOT_IN_FORCE;
	report_item(is_configured ? setup_mark(setup) : MARK_BAD,
		    arena_printf(setup->request.arena, "%s: ", setup->host->title), setup_state_name(setup));
	print_uncovered(setup);
	print_reasons(setup);
	return is_configured ? 0 : NOT_IN_FORCE;
}

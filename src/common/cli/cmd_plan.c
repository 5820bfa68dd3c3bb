/* SPDX-License-Identifier: Apache-2.0 */
/* `berm plan`: shows what the policy allows here. Runs nothing and changes nothing. */
#include "common/cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/backend.h"
#include "common/cli/progress.h"
#include "common/cli/run_copy.h"
#include "common/cli/session.h"
#include "common/base/text.h"
#include "macos/profile/profile.h"
#include "common/scan/scan.h"

static int print_help(void)
{
	return report_help("berm plan [options]\n\n"
			   "Shows guarantees, and every path with its access and rule. Runs nothing.\n",
			   COMMAND_PLAN,
			   "Exit status: 0; 125 if the policy is invalid. With --why-rebuilt: 0 if the\n"
			   "cached plan is used, 1 if a new one is made.\n");
}

/* The proxy's port and the names of the run are not known yet: the profile has placeholders. */
static int show_profile(struct session *session)
{
	static const struct profile_run run;
	struct profile profile;
	struct text out = { 0 };
	struct error err = { 0 };

	if (session->options.os && strcmp(session->options.os, "macos") != 0) {
		error_set(&err, "--format=sbpl is for macOS and excludes --os=%s", session->options.os);
		return report_error(&err);
	}
	session->options.os = "macos";
	if (session_open(session, &err) < 0)
		return session->diagnostics.count ? report_diagnostics(&session->diagnostics) : report_error(&err);
	if (progress_scan(&session->plan, &err) < 0 || profile_write(&session->arena, &session->plan, &run, &profile, &err) < 0)
		return report_error(&err);
	profile_print(&profile, &out);
	return report_text(&out);
}

static int show(struct session *session)
{
	struct guarantee_state states[GUARANTEE_COUNT] = { 0 };
	/* The guarantees of another machine are unknown here. */
	bool is_here = !session->options.os && !session->options.context_file;
	struct text out = { .width = report_width(stdout) };
	struct error err = { 0 };

	if (session_open_here(session, &err) < 0)
		return session->diagnostics.count ? report_diagnostics(&session->diagnostics) : report_error(&err);
	if (progress_scan(&session->plan, &err) < 0 || (is_here && plan_note_outside_links(&session->plan, &err) < 0))
		return report_error(&err);
	if (is_here)
		run_copy_note(session);
	if (is_here)
		backend_probe(&session->plan, states);
	if (session->options.wants_json) {
		plan_json(&session->plan, is_here ? states : NULL, &out);
		fputs(out.data, stdout);
	} else {
		plan_print(&session->plan, is_here ? states : NULL, session->options.is_verbose, &out);
		report_page(out.data);
	}
	text_free(&out);
	return 0;
}

/* Uses the same cache key as `run` with these options. */
static int why_rebuilt(struct session *session, char **argv, int rest)
{
	struct error err = { 0 };
	if (session->options.wants_json || session->options.wants_sbpl || session->options.os ||
	    session->options.context_file) {
		error_set(&err, "--why-rebuilt excludes --json, --format, --os and --context");
		return report_error(&err);
	}
	session->cache.words = session_words(&session->arena, argv, rest, "--why-rebuilt");
	if (session_restore(session) && cache_verify(&session->cache, &session->arena)) {
		size_t known = cache_index_size(&session->cache);
		printf("the cached plan is used");
		if (known > 0)
			printf(", and an index of %zu director%s", known, known == 1 ? "y" : "ies");
		puts("");
		return 0;
	}
	printf("a new plan is made: %s\n", text_visible(&session->arena, cache_reason(&session->cache)));
	return 1;
}

int cmd_plan(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	int rest, status;

	if (options_parse(&session.arena, COMMAND_PLAN, argc, argv, &session.options, &rest, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (rest < argc) {
		error_set(&err, "`berm plan` takes no arguments: %s", argv[rest]);
		return report_error(&err);
	}
	if (session.options.wants_why_rebuilt)
		status = why_rebuilt(&session, argv, rest);
	else
		status = session.options.wants_sbpl ? show_profile(&session) : show(&session);
	session_close(&session);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The copy of a run: its name, its directories, and the line or the changes at the end. An overlay
 * is tried first, then a full copy of the project. Never lets a run go on with the project itself
 * where a copy was asked for. */
#include "common/cli/run_copy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/cli/commands.h"
#include "common/cli/copy_command.h"
#include "common/cli/copy_judge.h"

enum { WAIT_MS = 10, PATIENCE_MS = 10000 };

static const char variable[] = "BERM_COPY";

int run_copy_take_variable(struct session *session, struct error *err)
{
	const char *name = getenv(variable);
	if (!name || !*name || session->options.copy)
		return 0;
	if (options_set_copy(&session->arena, &session->options, name, err) < 0) {
		struct error why = *err;
		return error_set(err, "%s: %s", variable, why.message);
	}
	session->options.awaits_copy = true;
	session_add_word(session, "\ncopy"); /* the plan differs */
	return 0;
}

void run_copy_note(struct session *session)
{
	struct plan *plan = &session->plan;
	struct copy_outlook outlook;
	struct text text = { 0 }, size = { 0 };

	if (!plan_is_copy(plan))
		return;
	copy_foresee(plan->arena, plan->context.state_directory, plan->context.project, &outlook);
	text_add_size(&size, outlook.bytes);
	if (!outlook.reason)
		text_add(&text, "copy: an overlay, which stores only changes");
	else if (outlook.is_too_large)
		text_add(&text,
			 "copy: not possible, the run is refused: %s, and the project is too large to be copied as a whole",
			 outlook.reason);
	else
		text_add(&text, "copy: the whole project is copied (%llu files, %s), because %s",
			 (unsigned long long)outlook.files, size.data, outlook.reason);
	*(struct plan_note *)arena_push(plan->arena, &plan->notes) =
		(struct plan_note){ .kind = NOTE_OTHER, .text = arena_copy(plan->arena, text.data) };
	text_free(&text);
	text_free(&size);
}

/* git in a linked worktree writes to a repository that is not in the project. */
static int refuse_worktree(const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (grant->kind != GRANT_WRITE || strcmp(grant->rule->text, rule_git_worktree.text) != 0 ||
		    path_is_within(grant->path, plan->context.project))
			continue;
		error_set(err, "the project is a linked worktree: its repository %s is outside and would not be copied",
			  text_visible(plan->arena, grant->path));
		return error_hint(err, "use --copy in the main worktree, or in a clone");
	}
	return 0;
}

static const char *name_of(const struct session *session, struct run_copy_state *state)
{
	if (plan_setting(&session->plan, SETTING_COPY) == COPY_ALWAYS)
		return session->options.copy ? session->options.copy : COPY_NAME_DEFAULT;
	state->is_undo = true;
	return arena_printf(session->plan.arena, "undo-%ld-%u", (long)getpid(), ++state->undo_tries);
}

/* Commands of one agent's turn may begin while another one ends. A command in the background is not
 * waited for. */
static int open_copy(struct session *session, struct run_copy_state *state, struct error *err)
{
	const struct timespec moment = { .tv_nsec = WAIT_MS * 1000000L };
	const struct plan *plan = &session->plan;

	for (int waited = 0;; waited += WAIT_MS) {
		*err = (struct error){ 0 };
		if (copy_open(plan->arena, plan->context.state_directory, plan->context.project, plan->state.project_key,
			      name_of(session, state), true, &state->copy, err) == 0) {
			if (!state->is_undo || state->copy.is_new)
				return 0;
			/* Changes that an earlier run with this pid could not apply must not go
			 * on. */
			copy_close(&state->copy);
			continue;
		}
		if (err->number != EBUSY || !session->options.awaits_copy || waited >= PATIENCE_MS)
			return -1;
		nanosleep(&moment, NULL);
	}
}

static void close_layers(struct run_copy_state *state)
{
	if (state->layers.upper > 0)
		close(state->layers.upper);
	if (state->layers.work > 0)
		close(state->layers.work);
	state->layers = (struct run_copy){ 0 };
}

static bool hides(void *self, const char *path, bool is_directory)
{
	const struct plan *plan = self;
	return plan_denied_by(plan, path_join(plan->arena, plan->context.project, path), is_directory) != NULL;
}

/* Reports the full copy that takes the place of an overlay, and the reason. */
static int prepare_full(struct session *session, struct run_copy_state *state, struct error *err)
{
	struct copy_full full = { .self = &session->plan, .hides = hides };
	struct text size = { 0 };

	if (copy_prepare_full(session->plan.arena, &state->copy, &full, &state->layers.upper, err) < 0) {
		if (error_is_set(&state->no_overlay))
			error_hint(err, "it would have to be, because: %s\n%s", state->no_overlay.message,
				   state->no_overlay.hint);
		return -1;
	}
	state->layers.is_full = true;
	if (!full.is_new)
		return 0;
	text_add_size(&size, full.bytes);
	fprintf(stderr, "berm: the whole project was copied (%llu files, %s)%s%s\n", (unsigned long long)full.files, size.data,
		error_is_set(&state->no_overlay) ? ": " : "",
		error_is_set(&state->no_overlay) ? state->no_overlay.message : "");
	text_free(&size);
	return 0;
}

static int prepare_layers(struct session *session, struct run_copy_state *state, struct error *err)
{
	struct run_copy *layers = &state->layers;
	if (state->copy.is_full || error_is_set(&state->no_overlay))
		return prepare_full(session, state, err);
	if (copy_prepare(&state->copy, &layers->upper, &layers->work, err) < 0)
		return -1;
	layers->work_path = path_join(session->plan.arena, state->copy.directory, "work");
	return 0;
}

int run_copy_prepare(struct session *session, struct run_copy_state *state, struct run_request *request, struct error *err)
{
	const struct plan *plan = &session->plan;

	request->copy = NULL;
	if (!plan_is_copy(plan))
		return 0;
	if (refuse_worktree(plan, err) < 0)
		return -1;
	if (!state->is_open && open_copy(session, state, err) < 0)
		return -1;
	state->is_open = true;
	close_layers(state); /* of an earlier attempt */
	if (prepare_layers(session, state, err) < 0)
		return -1;
	state->layers.upper_path = path_join(plan->arena, state->copy.directory, copy_layer(&state->copy));
	request->copy = &state->layers;
	return 0;
}

int run_copy_await(const struct run_copy_state *state, struct error *err)
{
	return state->is_open ? copy_await_clock(&state->copy, err) : 0;
}

static void report_changes(const struct run_copy_state *state, const struct copy_changes *changes)
{
	const char *name = strcmp(state->copy.name, COPY_NAME_DEFAULT) == 0 ? "" : state->copy.name;
	if (changes->count == 0)
		fprintf(stderr, "berm: nothing changed in %scopy '%s'\n", state->copy.is_full ? "full " : "", state->copy.name);
	else
		fprintf(stderr, "berm: %zu %s in %scopy '%s': berm diff%s%s | berm apply%s%s | berm discard%s%s\n",
			changes->count, changes->count == 1 ? "change" : "changes", state->copy.is_full ? "full " : "",
			state->copy.name, *name ? " " : "", name, *name ? " " : "", name, *name ? " " : "", name);
}

/* Names what stays in the copy. */
static void report_left(const struct session *session, const struct copy_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct copy_change *change = &changes->items[i];
		const char *why = change->conflict ? change->conflict : change->refused;
		if (why && !copy_is_folded(changes, i))
			fprintf(stderr, "berm: not applied: %s: %s\n", text_visible(session->plan.arena, change->path), why);
	}
}

/* Applies everything that may be applied. The rest stays in a copy that the user can inspect. */
static bool apply(struct session *session, struct run_copy_state *state, struct error *err)
{
	struct copy_apply_options options = { 0 };
	struct copy_changes changes;
	struct copy_report report = { 0 };
	struct copy_judge judge;

	if (copies_judge_open(session, &state->copy, &judge, err) < 0 ||
	    copy_list_changes(&session->arena, &state->copy, &judge, &changes, err) < 0)
		return false;
	options.keep = (size_t)plan_setting(&session->plan, SETTING_UNDO_KEEP);
	options.keep_bytes = plan_setting(&session->plan, SETTING_UNDO_SIZE);
	if (changes.count > 0 && copy_apply(&session->arena, &state->copy, &changes, &options, &report, err) < 0)
		return false;
	report_left(session, &changes);
	if (report.conflicts > 0) {
		error_set(err, "the project changed meanwhile: the changes of this run are in copy '%s'", state->copy.name);
		error_hint(err, "berm diff %s; berm apply %s; berm discard %s", state->copy.name, state->copy.name,
			   state->copy.name);
		return false;
	}
	if (report.applied > 0)
		fprintf(stderr, "berm: %zu %s; to take %s back: berm undo\n", report.applied,
			report.applied == 1 ? "change" : "changes", report.applied == 1 ? "it" : "them");
	return copy_discard(&state->copy, err) == 0;
}

static bool end(struct session *session, struct run_copy_state *state, struct error *err)
{
	struct copy_changes changes;
	if (copy_finish(&state->copy, err) < 0)
		return false;
	if (state->is_undo)
		return apply(session, state, err);
	if (copy_list_changes(&session->arena, &state->copy, NULL, &changes, err) < 0)
		return false;
	report_changes(state, &changes);
	return true;
}

bool run_copy_end(struct session *session, struct run_copy_state *state)
{
	struct error err = { 0 };
	bool is_done;
	if (!state->is_open)
		return true;
	close_layers(state);
	is_done = end(session, state, &err);
	if (error_is_set(&err))
		report_error(&err);
	copy_close(&state->copy);
	state->is_open = false;
	return is_done;
}

void run_copy_forget(struct run_copy_state *state)
{
	struct error ignored = { 0 };
	if (!state->is_open)
		return;
	close_layers(state);
	if (state->copy.is_new)
		(void)copy_discard(&state->copy, &ignored);
	copy_close(&state->copy);
	state->is_open = false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The baseline of a launch, and the comparison with it. The marker is set before anything runs and
 * cleared after the last file is judged. */
#include "common/sweep/internal.h"

#include <string.h>
#include <sys/stat.h>

#include "common/base/file_time.h"
#include "common/base/checksum.h"
#include "common/base/cleanup.h"
#include "common/fs/path.h"

/* The stored baseline of a run with other patterns says nothing about names that only the new ones
 * match. Against accidents: no command can choose patterns. */
static const char *pattern_sum(const struct plan *plan)
{
	uint64_t sum = plan->protect.count;
	for (size_t i = 0; i < plan->protect.count; i++) {
		const char *text = plan->protect.items[i].rule->text;
		sum = sum * 31 + checksum_of(text, strlen(text));
	}
	return arena_printf(plan->arena, "%016llx", (unsigned long long)sum);
}

static void note_repositories(const struct plan *plan, const struct scan_results *results, struct sweep_facts *facts)
{
	for (size_t i = 0; i < results->git_directories.count; i++) {
		const struct plan_git_directory *directory = &results->git_directories.items[i];
		repositories_note(plan, facts, directory->path, directory->is_born);
		if (strcmp(directory->common, directory->path) != 0)
			repositories_note(plan, facts, directory->common, directory->is_born);
	}
}

static void note_matches(const struct plan *plan, const struct plan_matches *matches, enum sweep_fact kind,
			 struct sweep_facts *facts)
{
	for (size_t i = 0; i < matches->count; i++)
		facts_add(plan->arena, facts, kind, matches->items[i].path, NULL);
}

static void note_closed(const struct plan *plan, const struct scan_results *results, struct sweep_facts *facts)
{
	for (size_t i = 0; i < results->masked.count; i++)
		if (results->masked.items[i].rule == &rule_unsearchable)
			facts_add(plan->arena, facts, FACT_CLOSED, results->masked.items[i].path, NULL);
}

/* Where the host looks for names. Git directories are judged part by part. */
static void note_places(const struct plan *plan, const struct scan_results *results, struct sweep_facts *facts)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE)
			facts_add(plan->arena, facts, FACT_PLACE, plan->grants.items[i].path, NULL);
	for (size_t i = 0; i < results->places.count; i++)
		if (results->places.items[i].kind == PLACE_ROOT || results->places.items[i].kind == PLACE_POINTER)
			facts_add(plan->arena, facts, FACT_PLACE, results->places.items[i].path, NULL);
}

static void note_launch(const struct plan *plan, const struct scan_results *results, struct sweep_facts *facts)
{
	*facts = (struct sweep_facts){ 0 };
	facts_add(plan->arena, facts, FACT_PATTERNS, pattern_sum(plan), NULL);
	note_matches(plan, &results->locked, FACT_LOCKED, facts);
	note_matches(plan, &results->opened, FACT_OPENED, facts);
	note_matches(plan, &results->pinned, FACT_PRESENT, facts);
	note_closed(plan, results, facts);
	note_matches(plan, &results->git_absent, FACT_NAMED, facts);
	note_places(plan, results, facts);
	note_repositories(plan, results, facts);
	links_note(plan->arena, facts, &results->git_links);
}

static void look_around(struct look *look, struct tree_index *index)
{
	if (scan_writable(look->plan, index, &look->found, &look->report->problem) < 0)
		return;
	/* More than a list holds may be closed. */
	while (look->found.closed.count > 0 && closed_open(look))
		if (scan_writable(look->plan, NULL, &look->found, &look->report->problem) < 0)
			return;
	if (look->found.is_incomplete)
		error_set(&look->report->problem, "the project has too many protected names: not all that are new were judged");
	repositories_find(look);
	pointers_look(look);
	links_look(look);
	repositories_look(look);
	names_look(look);
}

/* Sweeps for a run that never finished. A damaged baseline says nothing: only the next launch's
 * scan protects what is there. */
static void sweep_left(const struct plan *plan, struct unfinished_slot *slot, bool is_alone, struct sweep_report *report)
{
	struct sweep_facts baseline;
	struct look look = {
		.plan = plan, .arena = plan->arena, .baseline = &baseline, .is_alone = is_alone, .report = report
	};
	struct stat info;
	if (fstat(slot->fd, &info) == 0)
		look.started = info.st_mtim; /* the marker was set then */
	if (!slot->bytes) {
		error_set(&report->problem, "a run in this project was killed, and what it left is not known");
		error_hint(&report->problem, "look at `git status` and at new files before you use the project outside");
	} else {
		facts_decode(plan->arena, slot->bytes, slot->length, &baseline);
		look.is_same_policy = facts_have(plan->arena, &baseline, FACT_PATTERNS, pattern_sum(plan), NULL);
		look_around(&look, NULL);
	}
	if (!look.has_deferred)
		(void)unfinished_clear(slot);
}

static void sweep_all_left(struct sweep *sweep, const struct plan *plan, struct sweep_report *report)
{
	struct unfinished *markers = &sweep->markers;
	for (size_t i = 0; i < markers->left_count; i++) {
		sweep_left(plan, &markers->left[i], markers->live == 0, report);
		cleanup_close(&markers->left[i].fd); /* one that waits stays set */
	}
	markers->left_count = 0;
}

int sweep_leftovers(struct sweep *sweep, const struct plan *plan, int (*has_leftovers)(void *self, struct error *err),
		    void *self, struct sweep_report *report, struct error *err)
{
	struct error ignored = { 0 };

	sweep_forget(sweep);
	/* Without a state directory the run is swept at its end nevertheless. */
	sweep->has_markers = unfinished_take(plan->arena, plan->context.state_directory, plan->state.project_key,
					     &sweep->markers, &ignored) == 0;
	if (!sweep->has_markers || sweep->markers.left_count == 0)
		return 0;
	if (has_leftovers(self, err) < 0)
		return -1;
	sweep_all_left(sweep, plan, report);
	return 0;
}

void sweep_begin(struct sweep *sweep, const struct plan *plan, const struct scan_results *results)
{
	size_t length;
	char *bytes;

	note_launch(plan, results, &sweep->baseline);
	sweep->has_begun = true;
	clock_gettime(CLOCK_REALTIME, &sweep->started);
	if (!sweep->has_markers)
		return;
	if (!plan->is_guarded)
		sweep->loose = unfinished_loose_begin(plan->arena, plan->context.state_directory, plan->state.project_key);
	bytes = facts_encode(plan->arena, &sweep->baseline, &length);
	(void)unfinished_set(&sweep->markers.own, bytes, length);
}

void sweep_end(struct sweep *sweep, const struct plan *plan, struct tree_index *index, bool was_guarded,
	       struct sweep_report *report)
{
	struct error ignored = { 0 };
	struct look look = { .plan = plan,
			     .arena = plan->arena,
			     .baseline = &sweep->baseline,
			     .was_guarded = was_guarded,
			     .started = sweep->started,
			     .is_alone = true,
			     .is_same_policy = true,
			     .report = report };

	if (!sweep->has_begun)
		return;
	if (!was_guarded && sweep->has_markers && sweep->loose < 0)
		sweep->loose = unfinished_loose_begin(plan->arena, plan->context.state_directory, plan->state.project_key);
	/* Another run may have worked without the guard. */
	look.was_guarded =
		look.was_guarded && sweep->has_markers &&
		!unfinished_had_loose(plan->arena, plan->context.state_directory, plan->state.project_key, &sweep->started);
	if (sweep->has_markers && unfinished_look(plan->arena, plan->context.state_directory, plan->state.project_key,
						  &sweep->markers, &ignored) == 0)
		look.is_alone = sweep->markers.live <= sweep->companions;
	look.was_guarded &= sweep->markers.left_count == 0;
	look_around(&look, index);
	/* Runs that ended meanwhile may have left something for the last one. */
	if (look.is_alone && sweep->has_markers)
		sweep_all_left(sweep, plan, report);
	if (!look.has_deferred)
		(void)unfinished_clear(&sweep->markers.own);
	unfinished_close(&sweep->markers);
	unfinished_loose_end(sweep->loose);
	sweep->loose = -1;
	sweep->has_begun = sweep->has_markers = false;
}

void sweep_note(const struct plan *plan, const struct scan_results *results, struct sweep_facts *facts)
{
	note_launch(plan, results, facts);
}

void sweep_preview(const struct plan *plan, struct sweep_facts *facts, struct timespec started, struct sweep_report *report)
{
	struct look look = { .plan = plan,
			     .arena = plan->arena,
			     .baseline = facts,
			     .started = started,
			     .is_preview = true,
			     .is_alone = true,
			     .is_same_policy = true,
			     .report = report };
	look_around(&look, NULL);
}

void sweep_forget(struct sweep *sweep)
{
	if (sweep->has_markers) {
		if (sweep->has_begun)
			(void)unfinished_clear(&sweep->markers.own);
		unfinished_close(&sweep->markers);
		unfinished_loose_end(sweep->loose);
	}
	*sweep = (struct sweep){ .markers = { .own = { .fd = -1 } }, .loose = -1 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `berm state prune`: removes what no run will use again: the state of projects that are gone, and
 * with --older what was not used for so long. Asks before it removes, and never removes what a run
 * is using. A kind of state is a row of the table. */
#include "common/cli/state_prune.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "common/base/text.h"
#include "common/cli/commands.h"
#include "common/cli/table.h"
#include "common/copies/copies.h"
#include "common/state/list.h"

enum { DAY_SECONDS = 24 * 60 * 60, EXIT_KEPT = 1 };

struct prune {
	struct session *session;
	struct state_entries entries; /* all state there is */
	int64_t oldest; /* what was used before is old; 0: nothing is */
};

/* One thing to remove. */
struct prunable {
	const struct prune_kind *kind;
	const char *project; /* a path; NULL: unknown */
	const char *name, *reason;
	uint64_t bytes;
	int64_t last_use;
	const void *self; /* of its kind */
};
struct prunables {
	struct prunable *items;
	size_t count;
};

struct prune_kind {
	const char *name;
	/* Adds what can be removed. */
	int (*list)(const struct prune *prune, const struct prune_kind *kind, struct prunables *found, struct error *err);
	/* Removes one of them and counts it in *result. */
	int (*remove)(const struct prune *prune, const struct prunable *item, struct state_reset *result, struct error *err);
};

/* Only a path that certainly does not exist is gone: a directory that cannot be searched may still
 * have it. */
static bool is_gone(const char *project)
{
	struct stat info;
	return project && lstat(project, &info) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

static void add(const struct prune *prune, const struct prune_kind *kind, const struct state_entry *entry, const char *reason,
		struct prunables *found)
{
	*(struct prunable *)arena_push(&prune->session->arena, found) = (struct prunable){
		.kind = kind,
		.project = entry->project,
		.name = entry->grant_class,
		.reason = reason,
		.bytes = entry->home.bytes + entry->tmp.bytes,
		.last_use = entry->last_use,
		.self = entry,
	};
}

static int list_entries(const struct prune *prune, const struct prune_kind *kind, enum state_kind wanted, bool has_age,
			struct prunables *found)
{
	for (size_t i = 0; i < prune->entries.count; i++) {
		const struct state_entry *entry = &prune->entries.items[i];
		if (entry->kind != wanted || entry->problem || entry->is_in_use)
			continue;
		if (entry->is_leftover)
			add(prune, kind, entry, "its removal was interrupted", found);
		else if (is_gone(entry->project))
			add(prune, kind, entry, "the project is gone", found);
		else if (has_age && entry->last_use < prune->oldest)
			add(prune, kind, entry, "not used for long", found);
	}
	return 0;
}

static int list_copies(const struct prune *prune, const struct prune_kind *kind, struct prunables *found, struct error *err)
{
	(void)err;
	return list_entries(prune, kind, STATE_COPY, true, found);
}

/* The state of `berm undo` is limited by its own number and size. */
static int list_undo(const struct prune *prune, const struct prune_kind *kind, struct prunables *found, struct error *err)
{
	(void)err;
	return list_entries(prune, kind, STATE_UNDO, false, found);
}

static int remove_entry(const struct prune *prune, const struct prunable *item, struct state_reset *result, struct error *err)
{
	return state_remove_entry(&prune->session->arena, prune->session->context.state_directory, item->self, result, err);
}

/* Also those that an interrupted removal has left. */
static int list_homes(const struct prune *prune, const struct prune_kind *kind, struct prunables *found, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < prune->entries.count; i++) {
		const struct state_entry *entry = &prune->entries.items[i];
		if (entry->kind != STATE_CLASS || entry->problem || entry->is_in_use)
			continue;
		if (entry->orphan || entry->is_leftover)
			add(prune, kind, entry, entry->orphan ? entry->orphan : "half removed", found);
		else if (entry->last_use < prune->oldest)
			add(prune, kind, entry, "not used for long", found);
	}
	return 0;
}

/* A copy whose apply was interrupted stays: it may have the only version of a file of the
 * project. */
static int remove_copy(const struct prune *prune, const struct prunable *item, struct state_reset *result, struct error *err)
{
	const struct state_entry *entry = item->self;
	struct copy copy = { .fd = -1, .state = -1 };
	int status;

	if (entry->is_leftover || is_gone(entry->project) || !entry->project)
		return remove_entry(prune, item, result, err);
	status = copy_open(&prune->session->arena, prune->session->context.state_directory, entry->project, entry->project_key,
			   entry->name, false, &copy, err);
	if (status == 0 && (status = copy_discard(&copy, err)) == 0)
		result->removed++;
	copy_close(&copy);
	if (status < 0 && err->number == EBUSY)
		result->in_use++;
	else if (status < 0 && !error_is_set(&result->failure))
		result->failure = *err;
	*err = (struct error){ 0 };
	return 0;
}

static const struct prune_kind kinds[] = {
	{ "home", list_homes, remove_entry },
	{ "copy", list_copies, remove_copy },
	{ "undo", list_undo, remove_entry },
};

static void print_found(const struct prune *prune, const struct prunables *found)
{
	struct arena *arena = &prune->session->arena;
	struct table table = { .arena = arena,
			       .titles = { "size", "last use", "state", "why" },
			       .is_right = { true },
			       .marked = 3,
			       .home = prune->session->context.home,
			       .is_verbose = prune->session->options.is_verbose };

	for (size_t i = 0; i < found->count; i++) {
		const struct prunable *item = &found->items[i];
		struct text size = { 0 };
		const char *cells[TABLE_COLUMNS_MAX];
		text_add_size(&size, item->bytes);
		cells[0] = arena_copy(arena, size.data);
		cells[1] = arguments_date(arena, item->last_use);
		cells[2] = item->name;
		cells[3] = arena_printf(arena, "%s: %s", item->reason, item->project ? item->project : "an unknown project");
		table_add(&table, MARK_WEAKER, cells);
		text_free(&size);
	}
	table_print(&table);
}

static int remove_all(const struct prune *prune, const struct prunables *found)
{
	struct state_reset result = { 0 };
	struct error err = { 0 };

	for (size_t i = 0; i < found->count; i++)
		if (found->items[i].kind->remove(prune, &found->items[i], &result, &err) < 0)
			return report_error(&err);
	return state_report_removed(&result);
}

int state_prune(struct session *session, const char *word)
{
	struct prune prune = { .session = session };
	const struct options *options = &session->options;
	struct prunables found = { 0 };
	struct error err = { 0 };
	int answer = 1;

	if (word) {
		error_set(&err, "`berm state prune` takes only options");
		return report_error(&err);
	}
	if (session_detect(session, &err) < 0 ||
	    state_list(&session->arena, session->context.state_directory, NULL, true, &prune.entries, &err) < 0)
		return report_error(&err);
	if (options->older_days > 0)
		prune.oldest = (int64_t)time(NULL) - (int64_t)options->older_days * DAY_SECONDS;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (kinds[i].list(&prune, &kinds[i], &found, &err) < 0)
			return report_error(&err);
	if (found.count == 0) {
		printf("nothing to prune\n");
		return 0;
	}
	if (options->is_dry_run || !options->is_yes)
		print_found(&prune, &found);
	if (options->is_dry_run)
		return 0;
	if (!options->is_yes)
		answer = arguments_confirm("Remove all of these?", "to do it without asking: berm state prune --yes", &err);
	if (answer <= 0)
		return answer < 0 ? report_error(&err) : EXIT_KEPT;
	return remove_all(&prune, &found);
}

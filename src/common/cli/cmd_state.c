/* SPDX-License-Identifier: Apache-2.0 */
/* `berm state`: lists and removes the private homes and /tmp directories of each project
 * and grant class. */
#include "common/cli/commands.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_write.h"
#include "common/cli/session.h"
#include "common/cli/state_prune.h"
#include "common/cli/table.h"
#include "common/cli/verbs.h"
#include "common/state/list.h"
#include "common/base/text.h"

static int print_help(void)
{
	return report_help("berm state [list] [options]       list sizes and last use\n"
			   "berm state reset [options] [DIR]  remove the state of a project\n"
			   "berm state prune [--older=DAYS] [--dry-run] [--yes]\n"
			   "                                  remove copies of projects that are gone\n"
			   "berm state path [options] [DIR]   print the paths of its home and tmp\n\n"
			   "Commands see a private home and /tmp. Each project has its own, one per set of\n"
			   "grants (network, sockets), so that a run without network cannot prepare one with\n"
			   "it. Copies and what `berm undo` needs are listed and removed, too. DIR is the\n"
			   "project (default: nearest berm.yml or .git).\n\nlist and reset:",
			   COMMAND_STATE,
			   "path takes the options of `berm plan`: they select the home.\n\n"
			   "Exit status: 0 done; 1 not done (in use, or not confirmed); 125 an error.\n");
}

static const char *size_text(struct arena *arena, const struct state_size *size)
{
	struct text number = { 0 };
	const char *result;
	text_add(&number, "%s", size->is_partial ? ">" : "");
	text_add_size(&number, size->bytes);
	result = arena_copy(arena, number.data);
	text_free(&number);
	return result;
}

static void add_entry(struct table *table, const struct state_entry *entry)
{
	struct arena *arena = table->arena;
	bool is_used = entry->is_in_use && !entry->is_leftover;
	const char *cells[TABLE_COLUMNS_MAX] = { size_text(arena, &entry->home), size_text(arena, &entry->tmp),
						 is_used ? "in use" : arguments_date(arena, entry->last_use),
						 entry->is_leftover ? "being removed" : entry->grant_class };
	if (entry->problem)
		table_add_note(table, MARK_BAD, arena_printf(arena, "not usable: %s", entry->problem));
	else
		table_add(table, entry->is_leftover ? MARK_WEAKER : is_used ? MARK_GOOD : MARK_NONE, cells);
}

/* The entries of one project, which follow each other. */
struct group {
	const struct state_entry *first;
	size_t count;
	int64_t last_use;
};

struct groups {
	struct group *items;
	size_t count;
};

static int compare_groups(const void *left, const void *right)
{
	const struct group *one = left, *other = right;
	if (one->last_use != other->last_use)
		return one->last_use > other->last_use ? -1 : 1;
	return strcmp(one->first->project_key, other->first->project_key);
}

/* Returns the projects, the last used one first: a folded list shows those. */
static struct groups group_entries(struct arena *arena, const struct state_entries *entries)
{
	struct groups groups = { 0 };
	for (size_t i = 0; i < entries->count; i++) {
		const struct state_entry *entry = &entries->items[i];
		struct group *group = groups.count > 0 ? &groups.items[groups.count - 1] : NULL;
		if (!group || strcmp(group->first->project_key, entry->project_key) != 0) {
			group = arena_push(arena, &groups);
			group->first = entry;
		}
		group->count++;
		if (entry->last_use > group->last_use)
			group->last_use = entry->last_use;
	}
	if (groups.count > 0)
		qsort(groups.items, groups.count, sizeof *groups.items, compare_groups);
	return groups;
}

static void print_entries(struct session *session, const struct state_entries *entries)
{
	struct groups groups = group_entries(&session->arena, entries);
	struct table table = { .arena = &session->arena,
			       .titles = { "home", "tmp", "last use", "grants" },
			       .is_right = { true, true },
			       .marked = 2,
			       .home = session->context.home,
			       .is_verbose = session->options.is_verbose,
			       .empty = "no project has a private home or /tmp yet" };

	for (size_t i = 0; i < groups.count; i++) {
		const struct state_entry *first = groups.items[i].first;
		table_add_heading(&table, first->project ? first->project : first->project_key);
		for (size_t k = 0; k < groups.items[i].count; k++)
			add_entry(&table, &first[k]);
	}
	table_print(&table);
}

static void add_json_size(struct json *json, const char *name, const struct state_size *size)
{
	json_object(json, name);
	json_number(json, "bytes", size->bytes);
	json_number(json, "entries", size->entries);
	json_boolean(json, "partial", size->is_partial);
	json_object_end(json);
}

static void add_json(struct text *out, const struct state_entries *entries)
{
	struct json json = { .out = out };
	json_list(&json, NULL);
	for (size_t i = 0; i < entries->count; i++) {
		const struct state_entry *entry = &entries->items[i];
		json_object(&json, NULL);
		json_string(&json, "key", entry->project_key);
		json_string(&json, "project", entry->project);
		json_string(&json, "grants", entry->grant_class);
		json_string(&json, "kind", entry->kind == STATE_COPY ? "copy" : entry->kind == STATE_UNDO ? "undo" : "home");
		add_json_size(&json, "home", &entry->home);
		add_json_size(&json, "tmp", &entry->tmp);
		json_number(&json, "last_use", entry->last_use > 0 ? (uint64_t)entry->last_use : 0);
		json_boolean(&json, "in_use", entry->is_in_use);
		json_string(&json, "problem", entry->problem);
		json_object_end(&json);
	}
	json_list_end(&json);
}

static int list(struct session *session, const char *word)
{
	struct state_entries entries;
	struct error err = { 0 };
	struct text out = { 0 };

	if (word || session->options.wants_all || session->options.is_yes) {
		error_set(&err, "`berm state list` takes only --json and -v");
		return report_error(&err);
	}
	if (session_detect(session, &err) < 0 ||
	    state_list(&session->arena, session->context.state_directory, NULL, true, &entries, &err) < 0)
		return report_error(&err);
	if (session->options.wants_json)
		add_json(&out, &entries);
	else
		print_entries(session, &entries);
	return report_text(&out);
}

/* Resolves the project's path. The directory may be gone while its state remains. */
static int project_named(struct session *session, const char *word, const char **project, struct error *err)
{
	const struct context *context = &session->context;
	if (!word) {
		*project = context_find_project(&session->arena, context);
		return 0;
	}
	return path_resolve(context->fs, &session->arena, path_absolute(&session->arena, context->working_directory, word),
			    project, NULL, NULL, err);
}

static int confirm_reset(struct session *session, const struct state_entries *entries, struct error *err)
{
	if (session->options.is_yes)
		return 1;
	print_entries(session, entries);
	return arguments_confirm("Remove all of these?", "to do it without asking: berm state reset --yes", err);
}

int state_report_removed(const struct state_reset *result)
{
	printf("removed: %zu\n", result->removed);
	if (error_is_set(&result->failure))
		return report_error(&result->failure);
	if (result->in_use == 0)
		return 0;
	fflush(stdout);
	fprintf(stderr, "berm: %zu not removed: in use by a run\n", result->in_use);
	return 1;
}

static int reset(struct session *session, const char *word)
{
	const char *project = NULL, *key;
	struct state_entries entries;
	struct state_reset result;
	struct error err = { 0 };
	int answer;

	if (session->options.wants_all && word) {
		error_set(&err, "--all excludes a directory");
		return report_error(&err);
	}
	if (session_detect(session, &err) < 0 || project_named(session, word, &project, &err) < 0)
		return report_error(&err);
	key = session->options.wants_all ? NULL : plan_project_key(&session->arena, project);
	if (state_list(&session->arena, session->context.state_directory, key, !session->options.is_yes, &entries, &err) < 0)
		return report_error(&err);
	if (entries.count == 0) {
		printf("no state for %s\n", key ? text_visible(&session->arena, project) : "any project");
		return 0;
	}
	answer = confirm_reset(session, &entries, &err);
	if (answer <= 0)
		return answer < 0 ? report_error(&err) : 1;
	if (state_reset(&session->arena, session->context.state_directory, key, &result, &err) < 0)
		return report_error(&err);
	return state_report_removed(&result);
}

static int path(struct session *session, const char *word)
{
	const struct plan *plan = &session->plan;
	const char *home, *tmp;
	struct error err = { 0 };
	struct text out = { 0 };
	struct json json = { .out = &out };

	if (word)
		session->options.project = word;
	if (session_open(session, &err) < 0)
		return session->diagnostics.count ? report_diagnostics(&session->diagnostics) : report_error(&err);
	home = plan->home == HOME_PRIVATE ? plan->state.home : NULL;
	tmp = plan->tmp == TMP_PRIVATE ? plan->state.tmp : NULL;
	if (session->options.wants_json) {
		json_object(&json, NULL);
		json_string(&json, "home", home);
		json_string(&json, "tmp", tmp);
		json_object_end(&json);
	} else {
		text_add(&out, "home %s\n", home ? text_visible(&session->arena, home) : "-");
		text_add(&out, "tmp %s\n", tmp ? text_visible(&session->arena, tmp) : "-");
	}
	return report_text(&out);
}

static const struct verb verbs[] = {
	{ "list", COMMAND_STATE, list },
	{ "reset", COMMAND_STATE, reset },
	{ "prune", COMMAND_STATE_PRUNE, state_prune },
	{ "path", COMMAND_STATE_PATH, path },
};

int cmd_state(int argc, char **argv)
{
	static const struct verbs state = { "state", verbs, sizeof verbs / sizeof verbs[0], print_help };
	return verbs_run(&state, argc, argv);
}

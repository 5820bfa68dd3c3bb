/* SPDX-License-Identifier: Apache-2.0 */
/* `berm state`: lists and removes the private homes and /tmp directories of each project
 * and grant class. */
#include "common/cli/commands.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_write.h"
#include "common/cli/session.h"
#include "common/state/list.h"
#include "common/base/text.h"

static int print_help(void)
{
	return report_help("berm state [list] [options]       list sizes and last use\n"
			   "berm state reset [options] [DIR]  remove the state of a project\n"
			   "berm state path [options] [DIR]   print the paths of its home and tmp\n\n"
			   "Commands see a private home and /tmp. Each project has its own, one per set of\n"
			   "grants (network, sockets), so that a run without network cannot prepare one with\n"
			   "it. Copies and what `berm undo` needs are listed and removed, too. DIR is the\n"
			   "project (default: nearest berm.yml or .git).\n\nlist and reset:",
			   COMMAND_STATE,
			   "path takes the options of `berm plan`: they select the home.\n\n"
			   "Exit status: 0 done; 1 not done (in use, or not confirmed); 125 an error.\n");
}

static int detect(struct session *session, struct error *err)
{
	struct context_request request = { .has_no_project = true };
	return context_detect(&session->arena, &request, &session->context, err);
}

static void add_size(struct text *out, const struct state_size *size)
{
	struct text number = { 0 };
	text_add(&number, "%s", size->is_partial ? ">" : "");
	text_add_size(&number, size->bytes);
	text_add(out, "%9s  ", number.data);
	text_free(&number);
}

static void add_entry(struct arena *arena, struct text *out, const struct state_entry *entry)
{
	if (entry->problem) {
		text_add(out, "  not usable: ");
		text_add_visible(out, entry->problem, strlen(entry->problem));
		text_add(out, "\n");
		return;
	}
	add_size(out, &entry->home);
	add_size(out, &entry->tmp);
	text_add(out, "%-16s  ", entry->is_in_use && !entry->is_leftover ? "in use" : arguments_date(arena, entry->last_use));
	if (entry->is_leftover)
		text_add(out, "being removed\n");
	else
		text_add(out, "%s\n", text_visible(arena, entry->grant_class));
}

static void add_table(struct arena *arena, struct text *out, const struct state_entries *entries)
{
	const char *key = NULL;
	if (entries->count > 0)
		text_add(out, "%9s  %9s  %-16s  %s\n", "home", "tmp", "last use", "grants");
	for (size_t i = 0; i < entries->count; i++) {
		const struct state_entry *entry = &entries->items[i];
		if (!key || strcmp(key, entry->project_key) != 0)
			text_add(out, "%s\n", text_visible(arena, entry->project ? entry->project : entry->project_key));
		key = entry->project_key;
		add_entry(arena, out, entry);
	}
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
		error_set(&err, "`berm state list` takes only --json");
		return report_error(&err);
	}
	if (detect(session, &err) < 0 ||
	    state_list(&session->arena, session->context.state_directory, NULL, true, &entries, &err) < 0)
		return report_error(&err);
	if (session->options.wants_json)
		add_json(&out, &entries);
	else
		add_table(&session->arena, &out, &entries);
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
	struct text out = { 0 };
	if (session->options.is_yes)
		return 1;
	add_table(&session->arena, &out, entries);
	report_text(&out);
	return arguments_confirm("Remove all of these?", "to do it without asking: berm state reset --yes", err);
}

static int report_reset(const struct state_reset *result)
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
	if (detect(session, &err) < 0 || project_named(session, word, &project, &err) < 0)
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
	return report_reset(&result);
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

static const struct verb {
	const char *name;
	uint64_t options;
	int (*run)(struct session *session, const char *word);
} verbs[] = {
	{ "list", COMMAND_STATE, list },
	{ "reset", COMMAND_STATE, reset },
	{ "path", COMMAND_STATE_PATH, path },
};

enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static int unknown_verb(const char *name)
{
	const char *names[VERB_COUNT], *nearest;
	struct error err = { 0 };

	for (size_t i = 0; i < VERB_COUNT; i++)
		names[i] = verbs[i].name;
	error_set(&err, "unknown: `berm state %s`; use list, reset or path", name);
	nearest = text_nearest(name, names, VERB_COUNT);
	if (nearest)
		error_hint(&err, "did you mean `berm state %s`?", nearest);
	return report_error(&err);
}

static int run_verb(struct session *session, const struct verb *verb, int argc, char **argv)
{
	struct error err = { 0 };
	const char *word;

	if (arguments_parse(&session->arena, verb->options, argc, argv, &session->options, &word, &err) < 0)
		return report_error(&err);
	if (session->options.wants_help)
		return print_help();
	return verb->run(session, word);
}

int cmd_state(int argc, char **argv)
{
	struct session session = { 0 };
	int status = -1;

	char list[] = "list", *words[] = { argv[0], list, NULL };

	if (argc < 2) {
		argc = 2;
		argv = words;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	for (size_t i = 0; i < VERB_COUNT && status < 0; i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			status = run_verb(&session, &verbs[i], argc - 1, argv + 1);
	session_close(&session);
	return status < 0 ? unknown_verb(argv[1]) : status;
}

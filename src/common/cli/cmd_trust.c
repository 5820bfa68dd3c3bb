/* SPDX-License-Identifier: Apache-2.0 */
/* `berm trust`: records that the user accepts what the project's policy allows. The recorded
 * hash is of the bytes that were parsed and shown, so the file cannot be swapped between
 * question and answer. */
#include "common/cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/format/diff.h"
#include "common/policy/file.h"
#include "common/policy/keys.h"
#include "common/cli/session.h"
#include "common/cli/table.h"
#include "common/base/text.h"
#include "common/state/trust.h"

static const char policy_name[] = POLICY_FILE_NAME;

enum { CONTENT_SHOWN = 12 }; /* characters of a hash */

static int print_help(void)
{
	return report_help("berm trust [options] [DIR]\n\n"
			   "Until you trust it, a project's berm.yml can only restrict. This shows what it\n"
			   "would allow, asks, and records the content: a changed file is untrusted, and of\n"
			   "one only the changes are shown. Several contents may be trusted at once.\n"
			   "DIR is the project (default: nearest berm.yml or .git).\n",
			   COMMAND_TRUST, "Exit status: 0 done; 1 not done, not confirmed; 125 an error.\n");
}

/* A record that is written inside is never read outside. */
static int refuse_inside(struct error *err)
{
	return arguments_refuse_inside("trust cannot be given from inside", err);
}

/* Returns the value of an `environment.set` rule; struct rule has only the name. */
static const char *assigned_value(const struct policy *parsed, const struct rule *rule)
{
	const struct assignments *set = &parsed->environment.set;
	if (strcmp(rule->key, "environment.set") != 0)
		return NULL;
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->items[i].rule.text, rule->text) == 0)
			return set->items[i].value;
	return NULL;
}

static void add_rule(struct text *out, const struct policy *parsed, const struct rule *rule)
{
	const char *value = assigned_value(parsed, rule);
	struct text place = { 0 };

	text_add(&place, "%s:%u:%u", policy_name, rule->origin.line, rule->origin.column);
	text_add(out, "  %-18s %s: ", place.data, rule->key);
	text_add_visible(out, rule->text, strlen(rule->text));
	if (value) {
		text_add(out, "=");
		text_add_visible(out, value, strlen(value));
	}
	text_add(out, "\n");
	text_free(&place);
}

/* True if a policy has this value of this key. */
static bool has_rule(const struct policy *policy, const struct rule *rule, const char *value)
{
	const struct key *key = policy_key_find(rule->key);
	const void *field = key ? (const char *)policy + key->offset : NULL;
	const struct rules *rules = key && policy_key_storage(key) == STORAGE_RULES ? field : &(const struct rules){ 0 };
	const struct setting *setting =
		key && policy_key_storage(key) == STORAGE_SETTING ? field : &(const struct setting){ 0 };

	if (strcmp(rule->key, "environment.set") == 0) {
		const char *before = assigned_value(policy, rule);
		return before && value && strcmp(before, value) == 0;
	}
	for (size_t i = 0; i < rules->count; i++)
		if (strcmp(rules->items[i].text, rule->text) == 0)
			return true;
	return setting->is_set && strcmp(setting->rule.text, rule->text) == 0;
}

/* Parses a content of the project's file. The policy is empty if that fails. */
static struct policy parse_content(struct session *session, const char *text, size_t length)
{
	struct diagnostics none = { .arena = &session->arena };
	struct policy parsed = { 0 };
	if (policy_parse(&session->arena, session->project_file.path, LAYER_PROJECT, text, length, &parsed, &none) < 0)
		parsed = (struct policy){ 0 };
	return parsed;
}

/* Adds each rule of the project's file that needs trust to `out`, except those that `before` has.
 * Returns the number of rules that need trust. */
static size_t add_opened(struct session *session, const struct policy *before, struct text *out)
{
	const struct rules *ignored = &session->policy.ignored;
	const struct session_project_file *file = &session->project_file;
	struct policy parsed = parse_content(session, file->text, file->length);
	size_t count = 0;

	for (size_t i = 0; i < ignored->count; i++) {
		const struct rule *rule = &ignored->items[i];
		if (rule->layer != LAYER_PROJECT)
			continue;
		if (!has_rule(before, rule, assigned_value(&parsed, rule)))
			add_rule(out, &parsed, rule);
		count++;
	}
	return count;
}

static int print_path(const char *before, struct arena *arena, const char *path, const char *after)
{
	printf("%s%s%s\n", before, text_visible(arena, path), after);
	return 0;
}

/* Prints the lines that changed since the file was last trusted. */
static void print_changes(struct session *session, const struct trust_entry *last)
{
	const struct session_project_file *file = &session->project_file;
	struct jsonc_text before = { last->text, last->length }, after = { file->text, file->length };
	struct text diff = { 0 };

	diff_lines(&session->arena, "trusted " POLICY_FILE_NAME, POLICY_FILE_NAME, before, after, &diff);
	printf("%s changed since it was last trusted, %s:\n\n", text_visible(&session->arena, file->path),
	       arguments_date(&session->arena, last->time));
	report_difference(&diff);
}

/* Returns 1 for yes, 0 for no, -1 with err. */
static int show_and_ask(struct session *session, const struct trust_entry *last, struct text *opened, struct error *err)
{
	const char *shown = text_visible(&session->arena, session->project_file.path);

	if (last) {
		print_changes(session, last);
		printf(opened->length > 0 ? "\nNew rules that are ignored until it is trusted:\n\n"
					  : "\nIt allows nothing that was not trusted then.\n");
	} else
		printf("Rules of %s that are ignored until it is trusted:\n\n", shown);
	if (opened->length > 0)
		report_text(opened);
	printf("\nThe file then applies to every run in this project, until it changes.\n"
	       "`berm policies --show floor` denies its paths in any case.\n\n");
	if (session->options.is_yes)
		return 1;
	return arguments_confirm(arena_printf(&session->arena, "Trust %s?", shown),
				 "read the rules above, then: berm trust --yes", err);
}

static int failed(const struct session *session, const struct error *err)
{
	return session->diagnostics.count ? report_diagnostics(&session->diagnostics) : report_error(err);
}

/* Returns the content that was trusted last, or NULL if there is none with a text. */
static const struct trust_entry *find_last(struct session *session)
{
	struct trust_entries entries;
	struct error ignored = { 0 };
	const struct trust_entry *last = NULL;
	if (trust_list(&session->arena, session->context.state_directory, &entries, &ignored) == 0)
		last = trust_newest(&entries, session->project_file.path);
	return last && last->text ? last : NULL;
}

static int give(struct session *session)
{
	const struct session_project_file *file = &session->project_file;
	const struct trust_entry *last;
	struct policy before = { 0 };
	struct text opened = { 0 };
	struct error err = { 0 };
	int answer;

	session->ignores_trust = true;
	if (refuse_inside(&err) < 0 || session_load(session, &err) < 0)
		return failed(session, &err);
	if (!file->path) {
		error_set(&err, "no %s in %s", policy_name, session->context.project);
		error_hint(&err, "`berm init` writes one");
		return report_error(&err);
	}
	if (trust_is_recorded(&session->arena, session->context.state_directory, file->path, file->content))
		return print_path("", &session->arena, file->path, " is already trusted");
	last = find_last(session);
	if (last)
		before = parse_content(session, last->text, last->length);
	if (add_opened(session, &before, &opened) == 0)
		return print_path("", &session->arena, file->path, " only restricts: it needs no trust");
	answer = show_and_ask(session, last, &opened, &err);
	if (answer <= 0)
		return answer < 0 ? report_error(&err) : 1;
	if (trust_record(&session->arena, session->context.state_directory, file->path,
			 (struct trust_text){ file->text, file->length }, &err) < 0)
		return report_error(&err);
	return print_path("trusted: ", &session->arena, file->path, "");
}

/* Returns the path of the policy file. The project itself may be gone. */
static int named_file(struct session *session, const char *word, const char **path, struct error *err)
{
	const struct context *context = &session->context;
	const char *directory = context_find_project(&session->arena, context);

	if (word && path_resolve(context->fs, &session->arena, path_absolute(&session->arena, context->working_directory, word),
				 &directory, NULL, NULL, err) < 0)
		return -1;
	*path = path_join(&session->arena, directory, policy_name);
	return 0;
}

static int drop(struct session *session, const char *word)
{
	const char *content = session->options.content, *path;
	struct error err = { 0 };
	int count;

	if (refuse_inside(&err) < 0 || session_detect(session, &err) < 0 || named_file(session, word, &path, &err) < 0)
		return report_error(&err);
	count = trust_drop(&session->arena, session->context.state_directory, path, content, &err);
	if (count < 0)
		return report_error(&err);
	if (count > 0)
		return print_path("no longer trusted: ", &session->arena, path,
				  arena_printf(&session->arena, " (%d content%s)", count, count == 1 ? "" : "s"));
	print_path("", &session->arena, path,
		   content ? arena_printf(&session->arena, " is not trusted with content %s", content) : " is not trusted");
	return 1;
}

static const char *current_state(struct arena *arena, const struct trust_entry *entry, enum report_mark *mark)
{
	char content[SHA256_HEX + 1], *text;
	size_t length;
	struct error err = { 0 };

	*mark = MARK_NONE;
	if (policy_file_read(NULL, arena, entry->path, &text, &length, &err) < 0) {
		if (err.number == ENOENT || err.number == ENOTDIR)
			return "gone";
		*mark = MARK_BAD;
		return "unreadable";
	}
	trust_hash(text, length, content);
	*mark = strcmp(content, entry->content) == 0 ? MARK_GOOD : MARK_WEAKER;
	return *mark == MARK_GOOD ? "trusted" : "changed";
}

static int list(struct session *session)
{
	struct table table = { .arena = &session->arena,
			       .titles = { "state", "time", "content", "path" },
			       .is_verbose = session->options.is_verbose,
			       .empty = "no project's policy is trusted" };
	struct trust_entries entries;
	struct error err = { 0 };

	if (session_detect(session, &err) < 0 ||
	    trust_list(&session->arena, session->context.state_directory, &entries, &err) < 0)
		return report_error(&err);
	table.home = session->context.home;
	for (size_t i = 0; i < entries.count; i++) {
		const struct trust_entry *entry = &entries.items[i];
		enum report_mark mark;
		const char *cells[TABLE_COLUMNS_MAX] = { current_state(&session->arena, entry, &mark),
							 arguments_date(&session->arena, entry->time),
							 arena_printf(&session->arena, "%.*s", CONTENT_SHOWN, entry->content),
							 entry->path };
		table_add(&table, mark, cells);
	}
	table_print(&table);
	if (entries.damaged)
		fprintf(stderr, "berm: ignored %zu damaged record%s in %s/trust\n", entries.damaged,
			entries.damaged == 1 ? "" : "s", session->context.state_directory);
	return 0;
}

static int dispatch(struct session *session, const char *word)
{
	const struct options *options = &session->options;
	struct error err = { 0 };

	if (options->wants_help)
		return print_help();
	if (options->wants_list + options->wants_drop + options->is_yes > 1) {
		error_set(&err, "--list, --drop and --yes exclude each other");
		return report_error(&err);
	}
	if (options->wants_list && word) {
		error_set(&err, "--list takes no directory");
		return report_error(&err);
	}
	if (options->wants_list)
		return list(session);
	if (options->wants_drop)
		return drop(session, word);
	session->options.project = word;
	return give(session);
}

int cmd_trust(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	const char *word;
	int status;

	if (arguments_parse(&session.arena, COMMAND_TRUST, argc, argv, &session.options, &word, &err) < 0)
		status = report_error(&err);
	else
		status = dispatch(&session, word);
	session_close(&session);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `berm trust`: the user accepts what the project's policy opens. What is recorded is the hash of the bytes that were parsed and
 * shown, so that nothing can be slipped in between the question and the answer. */
#include "common/cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/policy/file.h"
#include "common/cli/session.h"
#include "common/base/text.h"
#include "common/state/trust.h"

static const char policy_name[] = "berm.yml";

static int print(struct text *out)
{
	if (out->data)
		fputs(out->data, stdout);
	text_free(out);
	return 0;
}

static int print_help(void)
{
	struct text out = { 0 };
	text_add(&out, "berm trust [options] [DIR]\n\n"
		       "A project's berm.yml may only take away until you trust it. This shows what it\n"
		       "would open, asks, and records a hash of its content: a file that changes is\n"
		       "untrusted again. DIR is the project (default: nearest berm.yml or .git).\n\n");
	options_help(COMMAND_TRUST, &out);
	text_add(&out, "\nExit status: 0 done; 1 not done, because you said no; 125 an error.\n");
	return print(&out);
}

/* A record made inside would never be seen outside; saying so is better than pretending. */
static int refuse_inside(struct error *err)
{
	const char *mark = getenv("BERM");
	if (!mark || strcmp(mark, "1") != 0)
		return 0;
	error_set(err, "this is a sandbox (BERM=1), and trust cannot be given from inside");
	return error_hint(err, "run it in your own terminal");
}

/* The value of `environment.set`, which the rule does not carry. */
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

/* How many rules of the project's file count only if it is trusted; each is added to `out`. */
static size_t add_opened(struct session *session, struct text *out)
{
	const struct rules *ignored = &session->policy.ignored;
	const struct session_project_file *file = &session->project_file;
	struct diagnostics none = { .arena = &session->arena };
	struct policy parsed = { 0 };
	size_t count = 0;

	/* It was parsed before without complaint. */
	(void)policy_parse(&session->arena, file->path, LAYER_PROJECT, file->text, file->length, &parsed, &none);
	for (size_t i = 0; i < ignored->count; i++) {
		if (ignored->items[i].layer != LAYER_PROJECT)
			continue;
		add_rule(out, &parsed, &ignored->items[i]);
		count++;
	}
	return count;
}

static int say_path(const char *before, struct arena *arena, const char *path, const char *after)
{
	printf("%s%s%s\n", before, text_visible(arena, path), after);
	return 0;
}

/* 1 yes, 0 no, -1 with err. */
static int show_and_ask(struct session *session, struct text *opened, struct error *err)
{
	const char *shown = text_visible(&session->arena, session->project_file.path);

	printf("%s would open what is ignored now:\n\n", shown);
	print(opened);
	printf("\nTrusted, this counts for every run in this project, until the file changes.\n"
	       "Whatever it says, what `berm policies --show floor` denies stays denied.\n\n");
	if (session->options.is_yes)
		return 1;
	return words_confirm(arena_printf(&session->arena, "Trust %s?", shown),
			     "read what it opens above, then: berm trust --yes", err);
}

static int failed(const struct session *session, const struct error *err)
{
	return session->diagnostics.count ? report_diagnostics(&session->diagnostics) : report_error(err);
}

static int give(struct session *session)
{
	const struct session_project_file *file = &session->project_file;
	struct text opened = { 0 };
	struct error err = { 0 };
	int answer;

	session->ignores_trust = true;
	if (refuse_inside(&err) < 0 || session_load(session, &err) < 0)
		return failed(session, &err);
	if (!file->path) {
		error_set(&err, "there is no %s in %s", policy_name, session->context.project);
		error_hint(&err, "`berm init` writes one");
		return report_error(&err);
	}
	if (trust_is_recorded(&session->arena, session->context.state_directory, file->path, file->content))
		return say_path("", &session->arena, file->path, " is trusted already");
	if (add_opened(session, &opened) == 0)
		return say_path("", &session->arena, file->path, " opens nothing: it counts as it is");
	answer = show_and_ask(session, &opened, &err);
	if (answer <= 0)
		return answer < 0 ? report_error(&err) : 1;
	if (trust_record(&session->arena, session->context.state_directory, file->path, file->content, &err) < 0)
		return report_error(&err);
	return say_path("trusted: ", &session->arena, file->path, "");
}

/* The project may be gone, and then only its name is left. */
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

static int revoke(struct session *session, const char *word)
{
	struct context_request request = { .has_no_project = true };
	struct error err = { 0 };
	const char *path;
	int status;

	if (refuse_inside(&err) < 0 || context_detect(&session->arena, &request, &session->context, &err) < 0 ||
	    named_file(session, word, &path, &err) < 0)
		return report_error(&err);
	status = trust_revoke(&session->arena, session->context.state_directory, path, &err);
	if (status < 0)
		return report_error(&err);
	if (status == 0)
		return say_path("no longer trusted: ", &session->arena, path, "");
	say_path("", &session->arena, path, " is not trusted");
	return 1;
}

static const char *current_state(struct arena *arena, const struct trust_entry *entry)
{
	char content[SHA256_HEX + 1], *text;
	size_t length;
	struct error err = { 0 };

	if (policy_file_read(NULL, arena, entry->path, &text, &length, &err) < 0)
		return err.number == ENOENT || err.number == ENOTDIR ? "gone" : "unreadable";
	trust_hash(text, length, content);
	return strcmp(content, entry->content) == 0 ? "trusted" : "changed";
}

static int list(struct session *session)
{
	struct context_request request = { .has_no_project = true };
	struct trust_entries entries;
	struct error err = { 0 };
	struct text out = { 0 };

	if (context_detect(&session->arena, &request, &session->context, &err) < 0 ||
	    trust_list(&session->arena, session->context.state_directory, &entries, &err) < 0)
		return report_error(&err);
	for (size_t i = 0; i < entries.count; i++) {
		const struct trust_entry *entry = &entries.items[i];
		text_add(&out, "%-10s  %s  ", current_state(&session->arena, entry), words_date(&session->arena, entry->time));
		text_add_visible(&out, entry->path, strlen(entry->path));
		text_add(&out, "\n");
	}
	print(&out);
	if (entries.damaged)
		fprintf(stderr, "berm: %zu damaged record%s in %s/trust, without effect\n", entries.damaged,
			entries.damaged == 1 ? "" : "s", session->context.state_directory);
	return 0;
}

static int dispatch(struct session *session, const char *word)
{
	const struct options *options = &session->options;
	struct error err = { 0 };

	if (options->wants_help)
		return print_help();
	if (options->wants_list + options->wants_revoke + options->is_yes > 1) {
		error_set(&err, "--list, --revoke and --yes do not go together");
		return report_error(&err);
	}
	if (options->wants_list && word) {
		error_set(&err, "--list takes no directory");
		return report_error(&err);
	}
	if (options->wants_list)
		return list(session);
	if (options->wants_revoke)
		return revoke(session, word);
	session->options.project = word;
	return give(session);
}

int cmd_trust(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	const char *word;
	int status;

	if (words_parse(&session.arena, COMMAND_TRUST, argc, argv, &session.options, &word, &err) < 0)
		status = report_error(&err);
	else
		status = dispatch(&session, word);
	session_close(&session);
	return status;
}

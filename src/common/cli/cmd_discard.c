/* SPDX-License-Identifier: Apache-2.0 */
/* `berm discard`: removes copies with the changes in them. */
#include "common/cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cli/copy_command.h"

enum { EXIT_KEPT = 1 };

static int print_help(void)
{
	return report_help("berm discard [options] [COPY...]\n\n"
			   "Removes a copy (default: `default`) and the changes in it. The project stays\n"
			   "as it is.\n",
			   COMMAND_DISCARD, "Exit status: 0 done; 1 not confirmed, or in use by a run; 125 an error.\n");
}

/* Lists the names to remove. */
static int choose(struct session *session, const char *key, struct copy_words *words, struct error *err)
{
	static char default_name[] = COPY_NAME_DEFAULT;
	struct copy_entries entries;

	if (session->options.wants_all && words->count > 0)
		return error_set(err, "--all excludes a name");
	if (session->options.wants_all) {
		if (copies_list(&session->arena, session->context.state_directory, key, false, &entries, err) < 0)
			return -1;
		for (size_t i = 0; i < entries.count; i++)
			*arena_push(&session->arena, words) = arena_copy(&session->arena, entries.items[i].name);
	} else if (words->count == 0) {
		*arena_push(&session->arena, words) = default_name;
	}
	return 0;
}

/* Removes one copy. Returns 0, or the exit status of a failure. */
static int remove_one(struct session *session, const char *key, const char *name)
{
	const struct context *context = &session->context;
	struct copy copy = { .fd = -1, .state = -1 };
	struct error err = { 0 };
	int status = copy_open(&session->arena, context->state_directory, context->project, key, name, false, &copy, &err);
	bool is_busy = status < 0 && err.number == EBUSY;

	if (status == 0)
		status = copy_discard(&copy, &err);
	copy_close(&copy);
	if (status == 0)
		printf("discarded: %s\n", name);
	else
		status = report_error(&err);
	return is_busy ? EXIT_KEPT : status;
}

static int discard(struct session *session, struct copy_words *words)
{
	const char *key = plan_project_key(&session->arena, session->context.project);
	struct error err = { 0 };
	int answer = 1, status = 0;

	if (choose(session, key, words, &err) < 0)
		return report_error(&err);
	if (words->count == 0) {
		printf("no copies of this project\n");
		return 0;
	}
	if (!session->options.is_yes)
		answer = arguments_confirm(
			words->count == 1
				? arena_printf(&session->arena, "Discard copy '%s' and its changes?",
					       text_visible(&session->arena, words->items[0]))
				: arena_printf(&session->arena, "Discard %zu copies and their changes?", words->count),
			"without asking: berm discard --yes", &err);
	if (answer <= 0)
		return answer < 0 ? report_error(&err) : EXIT_KEPT;
	for (size_t i = 0; i < words->count; i++) {
		int one = remove_one(session, key, words->items[i]);
		status = one > status ? one : status;
	}
	return status;
}

int cmd_discard(int argc, char **argv)
{
	struct session session = { 0 };
	struct copy_words words;
	struct error err = { 0 };
	int status;

	if (copy_words_parse(&session, COMMAND_DISCARD, argc, argv, &words, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (arguments_refuse_inside("only the user discards a copy", &err) < 0 || copy_find_project(&session, &err) < 0)
		return report_error(&err);
	status = discard(&session, &words);
	session_close(&session);
	return status;
}

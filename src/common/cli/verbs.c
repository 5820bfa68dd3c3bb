/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/verbs.h"

#include <string.h>

#include "common/cli/commands.h"
#include "common/base/text.h"

enum { VERBS_MAX = 8 };

static int refuse_unknown(struct arena *arena, const struct verbs *verbs, const char *word)
{
	const char *names[VERBS_MAX], *nearest, *list = "";
	struct error err = { 0 };
	size_t count = verbs->count < VERBS_MAX ? verbs->count : VERBS_MAX;

	for (size_t i = 0; verbs->items && i < count; i++) {
		names[i] = verbs->items[i].name;
		list = arena_printf(arena, "%s%s%s", list, i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
	}
	error_set(&err, "unknown: `berm %s %s`; use %s", verbs->command, word, list);
	nearest = text_nearest(word, names, count);
	if (nearest)
		error_hint(&err, "did you mean `berm %s %s`?", verbs->command, nearest);
	return report_error(&err);
}

static int run_verb(struct session *session, const struct verbs *verbs, const struct verb *verb, int argc, char **argv)
{
	struct error err = { 0 };
	const char *word;

	if (arguments_parse(&session->arena, verb->options, argc, argv, &session->options, &word, &err) < 0)
		return report_error(&err);
	return session->options.wants_help ? verbs->help() : verb->run(session, word);
}

int verbs_run(const struct verbs *verbs, int argc, char **argv)
{
	/* Options alone belong to the first verb. */
	bool is_named = argc > 1 && argv[1][0] != '-';
	const struct verb *verb = is_named ? NULL : &verbs->items[0];
	struct session session = { 0 };
	int status;

	for (size_t i = 0; is_named && i < verbs->count; i++)
		if (strcmp(argv[1], verbs->items[i].name) == 0)
			verb = &verbs->items[i];
	if (verb)
		status = run_verb(&session, verbs, verb, argc - is_named, argv + is_named);
	else
		status = refuse_unknown(&session.arena, verbs, argv[1]);
	session_close(&session);
	return status;
}

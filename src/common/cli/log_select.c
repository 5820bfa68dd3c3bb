/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/log_select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/fs/path.h"

int log_names(struct session *session, struct record_names *names, struct error *err)
{
	if (session_detect(session, err) < 0)
		return -1;
	return record_runs(&session->arena, session->context.state_directory, names, err);
}

static int read_run(struct session *session, const struct record_name *name, struct log_run *run, struct error *err)
{
	*run = (struct log_run){ .name = *name };
	if (record_read(&run->arena, session->context.state_directory, &run->name, &run->run, err) == 0)
		return 0;
	arena_free(&run->arena);
	return -1;
}

static bool is_of_directory(struct log_run *run, const char *directory)
{
	const char *project = run->run.start ? record_text(&run->arena, &run->run.start->value, "project") : NULL;
	return project && path_is_within(directory, project);
}

int log_choose(struct session *session, const char *word, struct log_run *chosen, struct error *err)
{
	const struct record_name *name;
	struct record_names names;
	char *directory = NULL;

	if (log_names(session, &names, err) < 0)
		return -1;
	if (word)
		return record_find(&names, word, &name, err) < 0 ? -1 : read_run(session, name, chosen, err);
	directory = getcwd(NULL, 0);
	for (size_t i = 0; directory && i < names.count; i++) {
		struct error ignored = { 0 };
		if (read_run(session, &names.items[i], chosen, &ignored) < 0)
			continue;
		if (is_of_directory(chosen, directory)) {
			free(directory);
			return 0;
		}
		arena_free(&chosen->arena);
	}
	free(directory);
	if (names.count > 0)
		return read_run(session, &names.items[0], chosen, err);
	error_set(err, "no run is recorded yet");
	return error_hint(err, "records are in %s/log", session->context.state_directory);
}

/* The canonical form of --project, or as it was written if there is no such directory any more. */
static const char *wanted_project(struct session *session)
{
	const char *wanted = session->options.project;
	char *canonical = wanted ? realpath(wanted, NULL) : NULL;
	const char *copy = canonical ? arena_copy(&session->arena, canonical) : wanted;
	free(canonical);
	return copy;
}

static bool is_selected(struct session *session, struct log_run *run, const char *project)
{
	const struct options *options = &session->options;
	const char *own = run->run.start ? record_text(&run->arena, &run->run.start->value, "project") : NULL;

	if (project && (!own || !path_is_within(own, project)))
		return false;
	if (options->wants_denied && record_denied(&run->run) == 0)
		return false;
	return !options->net_host || record_has_host(&run->arena, &run->run, options->net_host);
}

bool log_next(struct session *session, const struct record_names *names, size_t *at, struct log_run *next, size_t *unreadable)
{
	const char *project = wanted_project(session);
	uint64_t now_ms = (uint64_t)time(NULL) * 1000, since = session->options.since_ms;

	for (; *at < names->count; ++*at) {
		struct error ignored = { 0 };
		if (read_run(session, &names->items[*at], next, &ignored) < 0) {
			++*unreadable;
			continue;
		}
		/* The newest come first: those that follow are older. */
		if (since > 0 && next->run.ms + since < now_ms) {
			arena_free(&next->arena);
			*at = names->count;
			return false;
		}
		if (is_selected(session, next, project)) {
			++*at;
			return true;
		}
		arena_free(&next->arena);
	}
	return false;
}

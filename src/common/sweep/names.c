/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files.protect that were not there at launch. Those of git directories are judged by
 * content, in parts.c. */
#include "common/sweep/internal.h"

#include <string.h>
#include <sys/stat.h>

#include "common/base/text.h"
#include "common/fs/path.h"

static const char reason[] = "programs of the host obey a file of this name, and it was not there at launch";

static const char named[] = "a setting of git names it, and it was not there at launch";

/* True for a rule that is not a built-in one: the user's, and paths that the user's git settings
 * name. They hold wherever they match. */
static bool is_users(const struct rule *rule)
{
	return rule->layer >= LAYER_USER || !text_starts_with(rule->origin.source, "built-in");
}

static bool is_git_rule(const struct rule *rule)
{
	return rule->layer < LAYER_USER && strstr(rule->text, ".git/");
}

/* `.github/hooks` is looked for in the directory of `.github`. */
const char *names_place(struct arena *arena, const char *path, const struct rule *rule)
{
	const char *text = rule->text, *place = path_parent(arena, path);
	while (text_starts_with(text, "**/"))
		text += 3;
	if (strstr(text, "**"))
		return place;
	for (const char *at = text; (at = strchr(at, '/')); at++)
		if (at[1] && strcmp(place, "/") != 0)
			place = path_parent(arena, place);
	return place;
}

static bool is_new(struct look *look, const struct plan_match *match)
{
	return !is_git_rule(match->rule) && !facts_was_present(look->arena, look->baseline, match->path);
}

static void judge(struct look *look, const struct plan_match *match)
{
	const char *place = names_place(look->arena, match->path, match->rule);
	struct sweep_question question = { .kind = SWEEP_NAME,
					   .is_users = is_users(match->rule),
					   .was_guarded = look->was_guarded,
					   .sweeps_names = look->plan->sweeps_names && look->is_same_policy };
	enum sweep_verdict verdict;

	question.is_place = facts_have(look->arena, look->baseline, FACT_PLACE, place, NULL);
	verdict = sweep_judge(&question);
	if (verdict == SWEEP_QUARANTINE)
		act_move(look, match->path, reason);
	else
		act_note(look, verdict, match->path, reason);
}

void names_look_at(struct look *look, const struct plan_match *match)
{
	if (is_new(look, match))
		judge(look, match);
}

/* Files that the settings of a repository name. */
static void look_at_named(struct look *look)
{
	struct stat info;
	for (size_t i = 0; i < look->baseline->count; i++)
		if (look->baseline->items[i][0] == FACT_NAMED && lstat(look->baseline->items[i] + 1, &info) == 0)
			act_move(look, look->baseline->items[i] + 1, named);
}

void names_look(struct look *look)
{
	const struct plan_matches *protected = &look->found.protected;
	const char *last = NULL; /* a new one; what is in it goes with it */
	for (size_t i = 0; i < protected->count; i++) {
		const struct plan_match *match = &protected->items[i];
		if ((last && path_is_within(match->path, last)) || !is_new(look, match))
			continue;
		last = match->path;
		judge(look, match);
	}
	crowded_names(look);
	look_at_named(look);
}

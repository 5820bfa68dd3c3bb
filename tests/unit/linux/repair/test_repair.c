/* SPDX-License-Identifier: Apache-2.0 */
/* What repair decides: the table of verdicts, the places in which the host looks for protected
 * names, and the sorted list of covered paths. */
#include <string.h>

#include "greatest.h"
#include "linux/repair/internal.h"
#include "unit/support/plan_fixture.h"

TEST the_table_decides(void)
{
	static const struct {
		const char *what;
		struct sighting sighting;
		enum repair_action action;
	} rows[] = {
		{ "nothing is known", { 0 }, ACTION_NONE },
		{ "a mask was lost", { .was_hidden = true }, ACTION_HIDE },
		{ "a hidden name was absent and is there again", { .was_hidden = true, .was_absent = true }, ACTION_HIDE },
		{ "a lock was lost", { .was_locked = true, .repairs_planting = true }, ACTION_LOCK },
		{ "a protected file was removed and made again",
		  { .was_locked = true, .was_absent = true, .repairs_planting = true },
		  ACTION_LOCK },
		{ "the same in a git directory",
		  { .was_locked = true, .was_absent = true, .is_git = true, .repairs_planting = true },
		  ACTION_END },
		{ "the same, moved in by the host",
		  { .was_locked = true, .was_absent = true, .is_git = true, .is_from_host = true, .repairs_planting = true },
		  ACTION_LOCK },
		{ "git config on the host", { .was_locked = true, .is_git = true, .repairs_planting = true }, ACTION_LOCK },
		{ "a new secret of the host", { .is_denied = true, .is_from_host = true }, ACTION_HIDE },
		{ "a new secret, perhaps the command's own", { .is_denied = true }, ACTION_LEAVE },
		{ "a new setting of the host",
		  { .is_protected = true, .is_from_host = true, .is_place = true, .repairs_planting = true },
		  ACTION_LOCK },
		{ "a new setting while another mechanism judges creations",
		  { .is_protected = true, .is_place = true },
		  ACTION_LOCK },
		{ "a plant", { .is_protected = true, .is_place = true, .repairs_planting = true }, ACTION_QUARANTINE },
		{ "a plant that came back",
		  { .is_protected = true, .is_place = true, .is_back = true, .repairs_planting = true },
		  ACTION_END },
		{ "a plant in a git directory",
		  { .is_protected = true, .is_place = true, .is_git = true, .repairs_planting = true },
		  ACTION_END },
		{ "a protected name where no host looks", { .is_protected = true, .repairs_planting = true }, ACTION_NONE },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_EQm(rows[i].what, rows[i].action, verdict_of(&rows[i].sighting));
	PASS();
}

static struct plan_match locked[] = {
	{ "/p/.git/config", FILE_REGULAR, NULL },
	{ "/p/.git/hooks", FILE_DIRECTORY, NULL },
	{ "/p/web/.vscode", FILE_DIRECTORY, NULL },
};
static struct plan_match masked[] = {
	{ "/p/.env", FILE_REGULAR, NULL },
	{ "/p/web/.env", FILE_REGULAR, NULL },
};
static struct plan_git_directory directories[] = { { .path = "/p/.git", .common = "/p/.git" },
						   { .path = "/p/clone/.git", .common = "/p/clone/.git", .is_born = true } };
static struct plan_grant grants[] = { { .path = "/p", .kind = GRANT_WRITE, .type = FILE_DIRECTORY },
				      { .path = "/read", .kind = GRANT_READ, .type = FILE_DIRECTORY } };

static void make_plan(struct plan *plan, struct scan_results *results, struct arena *arena)
{
	*results = (struct scan_results){ .masked = { masked, 2 },
					  .locked = { locked, 3 },
					  .git_directories = { directories, 2 } };
	*plan = (struct plan){ .arena = arena, .grants = { grants, 2 }, .scan = results };
	plan->context.project = "/p";
	plan->context.os = OS_LINUX;
}

TEST places_are_where_the_host_looks(void)
{
	static const struct rule built_in = { .layer = LAYER_BASE }, users = { .layer = LAYER_USER };
	static const struct {
		const char *path;
		const struct rule *rule;
		bool is_place, is_git;
	} rows[] = {
		{ "/p/.zed", &built_in, true, false },
		{ "/p/web/.zed", &built_in, true, false }, /* beside .vscode */
		{ "/p/lib/.zed", &built_in, false, false },
		{ "/p/lib/.zed", &users, true, false },
		{ "/p/.git/commondir", &built_in, true, true },
		{ "/p/.git/info/attributes", &built_in, true, true },
		{ "/p/clone/.git/hooks", &built_in, false, false }, /* a repository born inside */
		{ "/p/.git/modules/new/config", &built_in, false, false },
		{ "/read/.zed", &users, false, false }, /* nothing is created there */
	};
	struct arena arena = { 0 };
	struct scan_results results;
	struct plan plan;
	make_plan(&plan, &results, &arena);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct place place = place_of(&plan, rows[i].path, rows[i].rule);
		ASSERT_EQm(rows[i].path, rows[i].is_place, place.is_place);
		ASSERT_EQm(rows[i].path, rows[i].is_git, place.is_git);
	}
	arena_free(&arena);
	PASS();
}

TEST known_paths_stay_sorted(void)
{
	struct arena arena = { 0 };
	struct known known = { 0 };
	struct scan_results results;
	struct plan plan;
	const struct plan_match added = { "/p/late.pem", FILE_REGULAR, NULL };

	make_plan(&plan, &results, &arena);
	known_fill(&known, &plan);
	ASSERT_EQ(5, known.count);
	ASSERT(known_find(&known, "/p/.env")->is_mask);
	ASSERT(!known_find(&known, "/p/.git/config")->is_mask);
	ASSERT_EQ(NULL, known_find(&known, "/p/late.pem"));
	ASSERT(known_add(&known, &arena, &added, true)->is_mask);
	for (size_t i = 1; i < known.count; i++)
		ASSERT(strcmp(known.items[i - 1].match.path, known.items[i].match.path) < 0);
	ASSERT(known_find(&known, "/p/late.pem"));
	ASSERT(known_is_below(&known, "/p/web"));
	ASSERT(!known_is_below(&known, "/p/we"));
	ASSERT(!known_is_below(&known, "/q"));
	arena_free(&arena);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_table_decides);
	RUN_TEST(places_are_where_the_host_looks);
	RUN_TEST(known_paths_stay_sorted);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of names that the host obeys agrees with the built-in policies, and its rules reach as
 * far as they should. */
#include <greatest.h>

#include <string.h>

#include "common/plan/planting.h"
#include "common/scan/scan.h"
#include "unit/support/plan_fixture.h"

static struct plan_fixture fixture;

static bool is_protected(const char *text)
{
	for (size_t i = 0; i < fixture.plan.protect.count; i++)
		if (strcmp(fixture.plan.protect.items[i].rule->text, text) == 0)
			return true;
	return false;
}

TEST every_entry_has_a_row_and_every_row_an_entry(void)
{
	plan_fixture_default(&fixture, "", NULL);
	for (size_t i = 0; i < fixture.plan.protect.count; i++) {
		const struct rule *rule = fixture.plan.protect.items[i].rule;
		if (rule->origin.line > 0) /* not one of berm's own, which have no position */
			ASSERTm(rule->text, planting_obeyed_by(rule) != NULL);
	}
	for (size_t i = 0; i < planting_table_count; i++)
		ASSERTm(planting_table[i].pattern, is_protected(planting_table[i].pattern));
	plan_fixture_free(&fixture);
	PASS();
}

TEST own_entries_are_everywhere(void)
{
	plan_fixture_default(&fixture, "", "files: {protect: [own.cfg]}");
	for (size_t i = 0; i < fixture.plan.protect.count; i++) {
		const struct plan_pattern *item = &fixture.plan.protect.items[i];
		if (item->pattern.is_anywhere)
			ASSERT_EQm(item->rule->text, strcmp(item->rule->text, "own.cfg") == 0, planting_is_everywhere(item));
		if (strcmp(item->rule->text, "own.cfg") == 0)
			ASSERT_EQ(NULL, planting_obeyed_by(item->rule));
	}
	plan_fixture_free(&fixture);
	PASS();
}

static enum place_kind kind_of(const char *path)
{
	const struct plan_places *places = &fixture.plan.scan->places;
	for (size_t i = 0; i < places->count; i++)
		if (strcmp(places->items[i].path, path) == 0)
			return places->items[i].kind;
	return (enum place_kind) - 1;
}

/* The project, subprojects that hold a name, git directories; nothing else. */
TEST places_are_where_names_are_found(void)
{
	struct error err = { 0 };
	plan_fixture_default(&fixture,
			     "files: [/home/ann/app/.git/config, /home/ann/app/.git/HEAD, /home/ann/app/src/x.c,"
			     " /home/ann/app/packages/a/.vscode/tasks.json, /home/ann/app/packages/b/x.c,"
			     " /home/ann/app/tools/.github/hooks/x, /home/ann/app/node_modules/n/.idea/x]",
			     NULL);
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_EQm(err.message, 0, plan_scan(&fixture.plan, &err));
	ASSERT_EQ(PLACE_ROOT, kind_of("/home/ann/app"));
	ASSERT_EQ(PLACE_ROOT, kind_of("/home/ann/app/packages/a"));
	ASSERT_EQ(PLACE_ROOT, kind_of("/home/ann/app/tools"));
	ASSERT_EQ((enum place_kind) - 1, kind_of("/home/ann/app/packages/b"));
	ASSERT_EQ((enum place_kind) - 1, kind_of("/home/ann/app/packages"));
	ASSERT_EQ((enum place_kind) - 1, kind_of("/home/ann/app/src"));
	ASSERT_EQ((enum place_kind) - 1, kind_of("/home/ann/app/node_modules/n"));
	ASSERT(planting_refused_by(&fixture.plan, "/home/ann/app/packages/a/.mcp.json", false) != NULL);
	ASSERT(planting_refused_by(&fixture.plan, "/home/ann/app/.git/hooks", true) != NULL);
	ASSERT_EQ(NULL, planting_refused_by(&fixture.plan, "/home/ann/app/packages/b/.mcp.json", false));
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(every_entry_has_a_row_and_every_row_an_entry);
	RUN_TEST(own_entries_are_everywhere);
	RUN_TEST(places_are_where_names_are_found);
	GREATEST_MAIN_END();
}

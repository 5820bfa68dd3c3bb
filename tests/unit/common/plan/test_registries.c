/* SPDX-License-Identifier: Apache-2.0 */
/* `use: [registry-npm]`: the hosts of the user's and the system's files, never the project's. */
#include <greatest.h>

#include <string.h>

#include "unit/support/plan_fixture.h"

static struct plan_fixture fixture;

#define USERS "files: [{path: /home/ann/.npmrc, text: \"registry=https://npm.example.org/\"}]"
#define PROJECTS "files: [{path: /home/ann/app/.npmrc, text: \"registry=https://npm.example.org/\"}]"
#define BOTH                                                                                                                   \
	"files: [{path: /home/ann/.npmrc, text: \"registry=https://npm.example.org/\"}, "                                      \
	"{path: /home/ann/app/.npmrc, text: \"registry=https://project.example.org/\"}]"

static bool has_note(const char *part)
{
	for (size_t i = 0; i < fixture.plan.notes.count; i++)
		if (strstr(fixture.plan.notes.items[i].text, part))
			return true;
	return false;
}

TEST registries_of_the_user_are_allowed(void)
{
	static const struct {
		const char *machine, *policy;
		size_t allowed;
		const char *variable;
		bool is_noted;
	} rows[] = {
		{ USERS, "use: [registry-npm]", 1, "https://npm.example.org/", false },
		{ USERS, "use: [registry-pypi]", 0, "(unset)", true },
		{ USERS, "use: [node]", 0, "(unset)", false },
		{ PROJECTS, "use: [registry-npm]", 0, "(unset)", true },
		/* The project's own setting wins in npm, and gets no host. */
		{ BOTH, "use: [registry-npm]", 1, "(unset)", false },
		{ USERS, "use: [registry-npm]\nnetwork: none", 0, "(unset)", false },
		{ USERS, "use: [registry-npm]\nnetwork: {allow: [a.example.org]}", 2, "https://npm.example.org/", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		plan_fixture_make(&fixture, rows[i].machine,
				  (const struct plan_layer[]){ { LAYER_USER, rows[i].policy }, { 0 } });
		ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
		ASSERT_EQm(rows[i].policy, rows[i].allowed, fixture.plan.network.allow.count);
		ASSERT_STR_EQm(rows[i].policy, rows[i].variable, plan_fixture_variable(&fixture, "npm_config_registry"));
		ASSERT_EQm(rows[i].policy, rows[i].is_noted, has_note("berm init"));
		if (rows[i].allowed == 1) {
			ASSERT_EQ(NETWORK_ALLOW, fixture.plan.network.mode);
			ASSERT_STR_EQ("~/.npmrc", fixture.plan.network.allow.items[0].rule->origin.source);
			ASSERT_EQ(1, fixture.plan.network.allow.items[0].rule->origin.line);
		}
		plan_fixture_free(&fixture);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(registries_of_the_user_are_allowed);
	GREATEST_MAIN_END();
}

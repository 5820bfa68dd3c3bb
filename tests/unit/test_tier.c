/* SPDX-License-Identifier: Apache-2.0 */
/* The tier landlock on paper: docs/tiers.md shows the code's table, row by row; what a project holds decides about its guarantees; and the
 * plan points to other places. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "greatest.h"
#include "common/base/text.h"
#include "linux/confine/landlock.h"
#include "linux/launch/metadata_broker.h"
#include "linux/probe/landlock_tier.h"
#include "plan_fixture.h"

/* Of the last judgement; the words lie in its plan's arena. */
static struct guarantee_state states[GUARANTEE_COUNT];
static struct plan_fixture fixture;

static char *read_docs(void)
{
	const char *source = getenv("BERM_SOURCE_DIR");
	static char text[65536];
	char path[4096];
	size_t length;
	FILE *file;
	snprintf(path, sizeof path, "%s/docs/tiers.md", source ? source : ".");
	file = fopen(path, "re");
	length = file ? fread(text, 1, sizeof text - 1, file) : 0;
	text[length] = '\0';
	if (file)
		fclose(file);
	return text;
}

static void write_row(struct text *out, const struct tier_row *row)
{
	text_add(out, "| `%s` | %s | %s | %s | %s%s |\n", guarantee_table[row->guarantee].name, row->when,
		 level_name(row->guarantee, row->level), row->mechanism ? row->mechanism : "", row->reason ? row->reason : "",
		 row->named ? " (the names follow)" : "");
}

TEST the_document_shows_the_table(void)
{
	const char *docs = read_docs();
	struct text whole = { 0 };
	for (size_t i = 0; i < tier_table_count; i++)
		write_row(&whole, &tier_table[i]);
	if (!strstr(docs, whole.data))
		printf("docs/tiers.md must have these lines, and no others between them:\n%s", whole.data);
	ASSERT(strstr(docs, whole.data));
	text_free(&whole);
	PASS();
}

TEST every_guarantee_ends_with_a_row_for_the_rest(void)
{
	for (int guarantee = 0; guarantee < GUARANTEE_COUNT; guarantee++) {
		const struct tier_row *last = NULL;
		if (guarantee == GUARANTEE_LIMITS)
			continue; /* judged by limits_choose.c in every tier */
		for (size_t i = 0; i < tier_table_count; i++) {
			if (tier_table[i].guarantee != (enum guarantee)guarantee)
				continue;
			ASSERT(!last || last->applies); /* nothing after the one that always applies */
			last = &tier_table[i];
		}
		ASSERT(last && !last->applies);
		ASSERT_STR_EQ("otherwise", last->when);
	}
	PASS();
}

static enum level judge(const char *machine, const char *user, int abi, bool has_listener, enum guarantee guarantee)
{
	char whole[2048];
	plan_fixture_free(&fixture);
	snprintf(whole, sizeof whole, "tier: landlock\n%s", machine);
	plan_fixture_default(&fixture, whole, user);
	if (fixture.status != 0 || plan_scan(&fixture.plan, &fixture.error) < 0) {
		printf("%s\n", plan_fixture_says(&fixture));
		abort();
	}
	tier_judge(&fixture.plan, abi, has_listener, states);
	return states[guarantee].level;
}

TEST what_lies_in_the_project_decides(void)
{
	static const char plain[] = "files: [/home/ann/app/main.c]\n";
	static const char secret[] = "files: [/home/ann/app/deep/.env]\n";
	static const char git[] = "files: [/home/ann/app/.git/config, /home/ann/app/.git/hooks/]\n";
	static const char server[] = "files: [{path: /home/ann/app/s, type: socket}]\n";
	ASSERT_EQ(LEVEL_LAUNCH, judge(plain, NULL, 6, true, GUARANTEE_SECRETS));
	ASSERT_EQ(LEVEL_LAUNCH, judge(plain, NULL, 6, true, GUARANTEE_PLANTING));
	ASSERT_EQ(LEVEL_ENFORCED, judge(plain, NULL, 6, true, GUARANTEE_WRITES));
	ASSERT_EQ(LEVEL_PARTIAL, judge(secret, NULL, 6, true, GUARANTEE_SECRETS));
	ASSERT(strstr(states[GUARANTEE_SECRETS].reason, ": deep/.env"));
	ASSERT_EQ(LEVEL_LAUNCH, judge(secret, NULL, 6, true, GUARANTEE_PLANTING));
	ASSERT_EQ(LEVEL_MISSING, judge(git, NULL, 6, true, GUARANTEE_PLANTING));
	ASSERT(strstr(states[GUARANTEE_PLANTING].reason, ".git/config, .git/hooks"));
	ASSERT_EQ(LEVEL_ENFORCED, states[GUARANTEE_INTEGRITY].level);
	ASSERT_EQ(LEVEL_MISSING, judge("files: [/home/ann/app/deep/berm.yml]\n", NULL, 6, true, GUARANTEE_INTEGRITY));
	ASSERT_EQ(LEVEL_LAUNCH, states[GUARANTEE_PLANTING].level);
	ASSERT_EQ(LEVEL_LAUNCH, judge(server, NULL, 6, true, GUARANTEE_SECRETS));
	/* A name that is granted only for reading can be left out; so can what lies elsewhere. */
	ASSERT_EQ(LEVEL_LAUNCH, judge("files: [/home/ann/lib/x.pem]\n", "files: {read: [~/lib]}", 6, true, GUARANTEE_SECRETS));
	ASSERT_EQ(LEVEL_LAUNCH, judge("files: [/home/ann/.ssh/id_rsa]\n", NULL, 6, true, GUARANTEE_SECRETS));
	ASSERT_EQ(LEVEL_PARTIAL, judge("files: [/home/ann/app/sub/x]\n", "files: {read: [sub]}", 6, true, GUARANTEE_WRITES));
	PASS();
}

TEST the_kernel_decides(void)
{
	static const char plain[] = "files: [/home/ann/app/main.c, {path: /run/s, type: socket}]\n";
	for (int abi = 1; abi <= LANDLOCK_ABI_NEWEST; abi++) {
		ASSERT_EQ(abi < 3 ? LEVEL_MISSING : LEVEL_ENFORCED, judge(plain, NULL, abi, true, GUARANTEE_WRITES));
		ASSERT_EQ(abi < 6 ? LEVEL_MISSING : LEVEL_PARTIAL, states[GUARANTEE_PROCESSES].level);
		ASSERT_EQ(LEVEL_ENFORCED, states[GUARANTEE_NETWORK].level);
		ASSERT_EQ(LEVEL_ENFORCED, states[GUARANTEE_IPC].level);
		ASSERT_EQ(abi < 9 ? LEVEL_PARTIAL : LEVEL_ENFORCED,
			  judge(plain, "sockets: [/run/s]", abi, true, GUARANTEE_IPC));
	}
	ASSERT_EQ(LEVEL_PARTIAL, judge(plain, NULL, 6, false, GUARANTEE_WRITES));
	ASSERT_EQ(LEVEL_MISSING, judge(plain, "network: {allow: [example.org:443]}", 6, true, GUARANTEE_NETWORK));
	ASSERT_EQ(LEVEL_ENFORCED, judge(plain, "network: all", 6, true, GUARANTEE_NETWORK));
	PASS();
}

TEST the_plan_points_to_other_places(void)
{
	const char *state = "/home/ann/.local/state/berm/projects/";
	plan_fixture_free(&fixture);
	plan_fixture_default(&fixture, "tier: landlock\nfiles: [/home/ann/app/.env, /home/ann/app/.vscode/tasks.json]\n", NULL);
	ASSERT_EQ(0, fixture.status);
	ASSERT_EQ(0, strncmp(plan_fixture_variable(&fixture, "HOME"), state, strlen(state)));
	ASSERT_EQ(0, strncmp(plan_fixture_variable(&fixture, "XDG_CACHE_HOME"), state, strlen(state)));
	ASSERT_EQ(0, strncmp(plan_fixture_variable(&fixture, "TMPDIR"), state, strlen(state)));
	ASSERT_EQ(0, strncmp(plan_fixture_variable(&fixture, "GIT_CONFIG_SYSTEM"), state, strlen(state)));
	/* These are the command's; the rest of the state is denied as ever. */
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, path_join(&fixture.arena, fixture.plan.state.home, "x")));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_READ,
				   path_join(&fixture.arena, fixture.plan.state.documents, "gitconfig")));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE,
					 path_join(&fixture.arena, fixture.plan.state.documents, "gitconfig")));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/.local/state/berm/plans/00"));
	ASSERT(metadata_is_writable(&fixture.plan, path_join(&fixture.arena, fixture.plan.state.tmp, "x")));
	ASSERT(metadata_is_writable(&fixture.plan, "/home/ann/app"));
	ASSERT(metadata_is_writable(&fixture.plan, "/home/ann/app/a b (deleted)"));
	ASSERT_FALSE(metadata_is_writable(&fixture.plan, "/home/ann/application"));
	ASSERT_FALSE(metadata_is_writable(&fixture.plan, "/home/ann"));
	ASSERT_FALSE(metadata_is_writable(&fixture.plan, "/usr/bin/env"));
	ASSERT_FALSE(metadata_is_writable(&fixture.plan, fixture.plan.state.documents));
	ASSERT_FALSE(metadata_is_writable(&fixture.plan, "pipe:[1]"));
	ASSERT_FALSE(metadata_is_writable(&fixture.plan, "(unreachable)/home/ann/app"));
	/* `check` follows what is accepted. */
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/.env"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.vscode/tasks.json"));
	fixture.plan.accepted_weaker[GUARANTEE_SECRETS] = fixture.plan.accepted_weaker[GUARANTEE_PLANTING] = true;
	ASSERT(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/.env"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.vscode/tasks.json"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/.ssh/id_rsa"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_document_shows_the_table);
	RUN_TEST(every_guarantee_ends_with_a_row_for_the_rest);
	RUN_TEST(what_lies_in_the_project_decides);
	RUN_TEST(the_kernel_decides);
	RUN_TEST(the_plan_points_to_other_places);
	plan_fixture_free(&fixture);
	GREATEST_MAIN_END();
}

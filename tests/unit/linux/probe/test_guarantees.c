/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of guarantees: docs/tiers.md shows that of the tier landlock row by row; the files of
 * a project, the kernel and the policy select rows; and a plan of the tier landlock has other
 * paths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "greatest.h"
#include "common/base/text.h"
#include "linux/confine/landlock.h"
#include "linux/guard/guard.h"
#include "linux/probe/guarantees.h"
#include "unit/support/plan_fixture.h"
#include "common/scan/scan.h"

/* Of the last call of judge_tier(); the strings are in the arena of `fixture`. */
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

static void write_row(struct text *out, const struct guarantee_row *row)
{
	text_add(out, "| `%s` | %s | %s | %s | %s%s |\n", guarantee_table[row->guarantee].name, row->when,
		 level_name(row->guarantee, row->level), row->mechanism ? row->mechanism : "", row->reason ? row->reason : "",
		 row->names ? " (the names follow)" : "");
}

TEST the_document_shows_the_table(void)
{
	const char *docs = read_docs();
	struct text whole = { 0 };
	for (size_t i = 0; i < guarantees_landlock_count; i++)
		write_row(&whole, &guarantees_landlock[i]);
	if (!strstr(docs, whole.data))
		printf("docs/tiers.md must have these lines, and no others between them:\n%s", whole.data);
	ASSERT(strstr(docs, whole.data));
	text_free(&whole);
	PASS();
}

static enum greatest_test_res check_last_rows(const struct guarantee_row *rows, size_t count)
{
	for (int guarantee = 0; guarantee < GUARANTEE_COUNT; guarantee++) {
		const struct guarantee_row *last = NULL;
		if (guarantee == GUARANTEE_LIMITS)
			continue; /* limits.h decides it in every tier */
		for (size_t i = 0; i < count; i++) {
			if (rows[i].guarantee != (enum guarantee)guarantee)
				continue;
			ASSERT(!last || last->applies); /* nothing after the one that always applies */
			last = &rows[i];
		}
		ASSERT(last && !last->applies);
		ASSERT_STR_EQ("otherwise", last->when);
	}
	PASS();
}

TEST every_guarantee_ends_with_a_row_for_the_rest(void)
{
	CHECK_CALL(check_last_rows(guarantees_full, guarantees_full_count));
	CHECK_CALL(check_last_rows(guarantees_landlock, guarantees_landlock_count));
	PASS();
}

static struct held held = { .planting = LEVEL_LAUNCH, .secrets = LEVEL_LAUNCH }; /* by a berm around this one */

static enum level judge_tier(const char *tier, const char *machine, const char *user, int abi, bool has_listener,
			     enum guarantee guarantee)
{
	char whole[2048];
	plan_fixture_free(&fixture);
	snprintf(whole, sizeof whole, "tier: %s\n%s", tier, machine);
	plan_fixture_default(&fixture, whole, user);
	if (fixture.status != 0 || plan_scan(&fixture.plan, &fixture.error) < 0) {
		printf("%s\n", plan_fixture_says(&fixture));
		abort();
	}
	guarantees_expect(&fixture.plan, abi, has_listener, &held, states);
	return states[guarantee].level;
}

static enum level judge(const char *machine, const char *user, int abi, bool has_listener, enum guarantee guarantee)
{
	return judge_tier("landlock", machine, user, abi, has_listener, guarantee);
}

TEST the_full_tier_depends_on_landlock_and_network(void)
{
	static const char plain[] = "files: [/home/ann/app/main.c]\n";
	for (int abi = 0; abi <= LANDLOCK_ABI_NEWEST; abi++) {
		ASSERT_EQ(abi < 2 ? LEVEL_PARTIAL : LEVEL_ENFORCED,
			  judge_tier("full", plain, NULL, abi, false, GUARANTEE_WRITES));
		ASSERT_EQ(abi < 6 ? LEVEL_PARTIAL : LEVEL_ENFORCED, states[GUARANTEE_PROCESSES].level);
		ASSERT_EQ(abi < 6 ? guarantees_fix_landlock : NULL, states[GUARANTEE_PROCESSES].fix);
		ASSERT_EQ(abi < 9 ? LEVEL_LAUNCH : LEVEL_ENFORCED, states[GUARANTEE_IPC].level);
		ASSERT_EQ(LEVEL_ENFORCED, states[GUARANTEE_NETWORK].level);
		ASSERT_EQ(abi < 6   ? LEVEL_PARTIAL
			  : abi < 9 ? LEVEL_LAUNCH
				    : LEVEL_ENFORCED,
			  judge_tier("full", plain, "network: all", abi, false, GUARANTEE_IPC));
		ASSERT_EQ(LEVEL_ENFORCED, states[GUARANTEE_NETWORK].level);
	}
	ASSERT_EQ(LEVEL_ENFORCED,
		  judge_tier("full", plain, "network: {allow: [example.org:443]}", 6, false, GUARANTEE_NETWORK));
	ASSERT_EQ(LEVEL_REPAIR, states[GUARANTEE_SECRETS].level);
	ASSERT_EQ(guard_fits_plan(&fixture.plan, 6) ? LEVEL_STRICT : LEVEL_REPAIR, states[GUARANTEE_PLANTING].level);
	ASSERT_EQ(LEVEL_REPAIR, fixture.plan.required[GUARANTEE_PLANTING]);
	ASSERT_EQ(LEVEL_REPAIR, fixture.plan.required[GUARANTEE_SECRETS]);
	ASSERT_EQ(LEVEL_REPAIR, judge_tier("full", plain, "files: {guard: repair}", 6, false, GUARANTEE_PLANTING));
	ASSERT_EQ(LEVEL_REPAIR, judge_tier("full", plain, NULL, 1, false, GUARANTEE_PLANTING));
	PASS();
}

/* Where nothing can be mounted again the default asks for less, so that no run is refused for
 * it. */
TEST repair_needs_one_mount_namespace(void)
{
	static const char plain[] = "files: [/home/ann/app/main.c]\n";
	static const char *const policies[] = { "nesting: true", "files: {guard: launch}" };
	for (size_t i = 0; i < 2; i++) {
		ASSERT_EQ(LEVEL_LAUNCH, judge_tier("full", plain, policies[i], 6, false, GUARANTEE_SECRETS));
		ASSERT_EQ(LEVEL_LAUNCH, states[GUARANTEE_PLANTING].level);
		ASSERT_EQ(LEVEL_LAUNCH, fixture.plan.required[GUARANTEE_SECRETS]);
	}
	ASSERT_EQ(LEVEL_LAUNCH, judge(plain, NULL, 6, true, GUARANTEE_SECRETS));
	ASSERT_EQ(LEVEL_LAUNCH, fixture.plan.required[GUARANTEE_SECRETS]);
	/* Asked for, it is required, and such a run is refused. */
	ASSERT_EQ(LEVEL_LAUNCH,
		  judge_tier("full", plain, "nesting: true\nfiles: {guard: repair}", 6, false, GUARANTEE_SECRETS));
	ASSERT_EQ(LEVEL_REPAIR, fixture.plan.required[GUARANTEE_SECRETS]);
	PASS();
}

/* Without the kernel's list of sockets those in trees of software cannot be found. */
TEST an_unreadable_list_of_sockets_lowers_ipc(void)
{
	static struct scan_results results;
	judge_tier("full", "files: [/home/ann/app/main.c]\n", NULL, 8, false, GUARANTEE_IPC);
	results = *fixture.plan.scan;
	results.unlisted_sockets = "cannot open /proc/net/unix";
	fixture.plan.scan = &results;
	guarantees_expect(&fixture.plan, 8, false, &held, states);
	ASSERT_EQ(LEVEL_PARTIAL, states[GUARANTEE_IPC].level);
	ASSERT(strstr(states[GUARANTEE_IPC].reason, "/proc/net/unix"));
	guarantees_expect(&fixture.plan, 9, false, &held, states);
	ASSERT_EQ(LEVEL_ENFORCED, states[GUARANTEE_IPC].level);
	PASS();
}

/* What a berm around this one holds counts in the tier landlock. */
TEST a_berm_around_counts(void)
{
	static const char plain[] = "files: [/home/ann/app/main.c]\n";
	ASSERT_EQ(LEVEL_PARTIAL, judge(plain, NULL, 6, false, GUARANTEE_WRITES));
	ASSERT_EQ(LEVEL_LAUNCH, states[GUARANTEE_PLANTING].level);
	held = (struct held){ .are_writes_same = true, .planting = LEVEL_REPAIR, .secrets = LEVEL_REPAIR };
	ASSERT_EQ(LEVEL_ENFORCED, judge(plain, NULL, 6, false, GUARANTEE_WRITES));
	ASSERT_EQ(LEVEL_REPAIR, states[GUARANTEE_SECRETS].level);
	ASSERT_EQ(LEVEL_REPAIR, states[GUARANTEE_PLANTING].level);
	held.planting = LEVEL_STRICT;
	ASSERT_EQ(LEVEL_STRICT, judge(plain, NULL, 6, false, GUARANTEE_PLANTING));
	/* Names that neither holds still refuse. */
	ASSERT_EQ(LEVEL_MISSING, judge("files: [/home/ann/app/.vscode/tasks.json]\n", NULL, 6, false, GUARANTEE_PLANTING));
	held = (struct held){ .planting = LEVEL_LAUNCH, .secrets = LEVEL_LAUNCH };
	PASS();
}

TEST files_in_the_project_decide(void)
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
	/* A denied name in a read-only or ungranted directory is not granted. */
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
	/* The command gets these directories; the rest of the state stays denied. */
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, path_join(&fixture.arena, fixture.plan.state.home, "x")));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_READ,
				   path_join(&fixture.arena, fixture.plan.state.documents, "gitconfig")));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE,
					 path_join(&fixture.arena, fixture.plan.state.documents, "gitconfig")));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/.local/state/berm/plans/00"));
	ASSERT(guard_metadata_is_writable(&fixture.plan, path_join(&fixture.arena, fixture.plan.state.tmp, "x")));
	ASSERT(guard_metadata_is_writable(&fixture.plan, "/home/ann/app"));
	ASSERT(guard_metadata_is_writable(&fixture.plan, "/home/ann/app/a b (deleted)"));
	ASSERT_FALSE(guard_metadata_is_writable(&fixture.plan, "/home/ann/application"));
	ASSERT_FALSE(guard_metadata_is_writable(&fixture.plan, "/home/ann"));
	ASSERT_FALSE(guard_metadata_is_writable(&fixture.plan, "/usr/bin/env"));
	ASSERT_FALSE(guard_metadata_is_writable(&fixture.plan, fixture.plan.state.documents));
	ASSERT_FALSE(guard_metadata_is_writable(&fixture.plan, "pipe:[1]"));
	ASSERT_FALSE(guard_metadata_is_writable(&fixture.plan, "(unreachable)/home/ann/app"));
	/* `check` follows the accepted guarantees. */
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
	RUN_TEST(the_full_tier_depends_on_landlock_and_network);
	RUN_TEST(repair_needs_one_mount_namespace);
	RUN_TEST(an_unreadable_list_of_sockets_lowers_ipc);
	RUN_TEST(a_berm_around_counts);
	RUN_TEST(files_in_the_project_decide);
	RUN_TEST(the_kernel_decides);
	RUN_TEST(the_plan_points_to_other_places);
	plan_fixture_free(&fixture);
	GREATEST_MAIN_END();
}

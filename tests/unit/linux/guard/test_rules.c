/* SPDX-License-Identifier: Apache-2.0 */
/* The rule table of the guard, row by row: what may come into being where. */
#include <greatest.h>

#include <errno.h>
#include <string.h>
#include <time.h>

#include "linux/guard/rules.h"
#include "unit/support/plan_fixture.h"

#define APP "/home/ann/app"

static struct plan_fixture fixture;
static struct guard_rules rules;
static struct scan_results results;

static struct plan_place places[] = {
	{ APP, PLACE_ROOT, NULL },
	{ APP "/.git", PLACE_GIT, NULL },
	{ APP "/.git/modules/m", PLACE_GIT, NULL },
	{ APP "/packages/a", PLACE_ROOT, NULL },
	{ APP "/wt", PLACE_POINTER, NULL },
	{ APP "/gone/trusted", PLACE_ROOT, NULL }, /* by a record of trust; absent */
	{ APP "/packages/a/born/.git", PLACE_BORN, NULL },
	{ APP "/packages/a/born", PLACE_ROOT, NULL },
	{ APP "/bare.git", PLACE_GIT, NULL },
};

static void make(const char *user)
{
	plan_fixture_default(&fixture, "files: [/usr/bin/sh, /home/ann/app/src/x.c]", user);
	results = (struct scan_results){ .places = { places, sizeof places / sizeof places[0] } };
	fixture.plan.scan = &results;
	guard_rules_build(&rules, &fixture.plan);
}

enum way { FILE_MADE, LINK_MADE, DIR_MADE, DIR_MOVED };

static int judge(enum way way, const char *path)
{
	static const enum guard_thing things[] = { GUARD_FILE, GUARD_SYMLINK, GUARD_DIRECTORY, GUARD_DIRECTORY };
	return guard_judge(&rules, path, things[way], way == DIR_MOVED).error;
}

struct row {
	const char *path;
	int made_file, made_link, made_directory, moved_directory;
};

static enum greatest_test_res check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ASSERT_EQ_FMTm(rows[i].path, rows[i].made_file, judge(FILE_MADE, rows[i].path), "%d");
		ASSERT_EQ_FMTm(rows[i].path, rows[i].made_link, judge(LINK_MADE, rows[i].path), "%d");
		ASSERT_EQ_FMTm(rows[i].path, rows[i].made_directory, judge(DIR_MADE, rows[i].path), "%d");
		ASSERT_EQ_FMTm(rows[i].path, rows[i].moved_directory, judge(DIR_MOVED, rows[i].path), "%d");
	}
	PASS();
}
#define CHECK_ROWS(rows_) CHECK_CALL(check_rows(rows_, sizeof rows_ / sizeof rows_[0]))

/* Protected names in roots: never, whatever they are made as. */
TEST protected_names_in_roots_are_refused(void)
{
	static const char *const names[] = { ".vscode",	  ".mcp.json",	      "berm.yml",  ".claude",	  ".codex",
					     ".gemini",	  "opencode.json",    ".envrc",	   ".husky",	  ".idea",
					     "mise.toml", "x.code-workspace", ".lefthook", ".huskyrc.js", ".devcontainer" };
	static const char *const roots[] = { APP, APP "/packages/a", APP "/wt", APP "/gone/trusted" };
	char path[256];
	make(NULL);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		for (size_t k = 0; k < sizeof roots / sizeof roots[0]; k++)
			for (int way = FILE_MADE; way <= DIR_MOVED; way++) {
				snprintf(path, sizeof path, "%s/%s", roots[k], names[i]);
				ASSERT_EQ_FMTm(path, EACCES, judge((enum way)way, path), "%d");
				snprintf(path, sizeof path, "%s/%s/below", roots[k], names[i]);
				ASSERT_EQ_FMTm(path, EACCES, judge((enum way)way, path), "%d");
			}
	plan_fixture_free(&fixture);
	PASS();
}

/* Elsewhere below a root no host looks: templates, clones and packages bring these names. */
TEST the_same_names_elsewhere_are_free(void)
{
	static const struct row rows[] = {
		{ APP "/src/.vscode", 0, 0, 0, 0 },
		{ APP "/src/.mcp.json", 0, 0, 0, 0 },
		{ APP "/template/.claude/settings.json", 0, 0, 0, 0 },
		{ APP "/node_modules/nan/.pre-commit-config.yaml", 0, 0, 0, 0 },
		{ APP "/packages/.vscode", 0, 0, 0, 0 },
		{ APP "/packages/a/src/.vscode", 0, 0, 0, 0 },
		{ APP "/clone/.git", 0, 0, 0, 0 },
		{ APP "/clone/.git/config", 0, 0, 0, 0 },
		{ APP "/clone/.git/hooks", 0, 0, 0, 0 },
		{ APP "/vscode", 0, 0, 0, 0 },
		{ APP "/.vscodes", 0, 0, 0, 0 },
		{ APP "/x.vscode", 0, 0, 0, 0 },
		{ "/tmp/.vscode", 0, 0, 0, 0 },
		{ "/home/ann/.claude", 0, 0, 0, 0 },
	};
	make(NULL);
	CHECK_ROWS(rows);
	plan_fixture_free(&fixture);
	PASS();
}

/* What git obeys in its directories; the rest of them is git's everyday work. */
TEST git_directories_have_their_own_names(void)
{
	static const struct row rows[] = {
		{ APP "/.git/config", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.git/config.worktree", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.git/commondir", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.git/hooks", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.git/hooks/pre-commit", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.git/info/attributes", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.git/info", 0, EACCES, 0, EXDEV },
		{ APP "/.git/info/exclude", 0, 0, 0, 0 },
		{ APP "/.git/modules/m/commondir", EACCES, EACCES, EACCES, EACCES },
		/* A new submodule's: a repository made inside, judged after the run. */
		{ APP "/.git/modules/new/config", 0, 0, 0, 0 },
		{ APP "/.git/modules/new/hooks", 0, 0, 0, 0 },
		{ APP "/.git/modules/m/objects/80/7", 0, 0, 0, 0 },
		{ APP "/.git/worktrees", 0, EACCES, 0, EXDEV },
		{ APP "/.git/worktrees/w", 0, EACCES, 0, EXDEV },
		{ APP "/.git/worktrees/w/config.worktree", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.git/worktrees/w/commondir", 0, 0, 0, 0 },
		{ APP "/.git/worktrees/w/gitdir", 0, 0, 0, 0 },
		{ APP "/bare.git/hooks", EACCES, EACCES, EACCES, EACCES },
		{ APP "/bare.git/HEAD", 0, 0, 0, 0 },
		/* made by a command in an earlier run */
		{ APP "/packages/a/born/.git/hooks", 0, 0, 0, 0 },
		{ APP "/packages/a/born/.git/config", 0, 0, 0, 0 },
		{ APP "/packages/a/born/.vscode", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.git/config.lock", 0, 0, 0, 0 },
		{ APP "/.git/index.lock", 0, 0, 0, 0 },
		{ APP "/.git/HEAD", 0, 0, 0, 0 },
		{ APP "/.git/objects/ab", 0, 0, 0, 0 },
		{ APP "/.git/refs/heads/config", 0, 0, 0, 0 },
		{ APP "/.git/refs/heads/hooks", 0, 0, 0, 0 },
	};
	make(NULL);
	CHECK_ROWS(rows);
	plan_fixture_free(&fixture);
	PASS();
}

/* Holders, places and spines come from mkdir only: a symlink would let a host look elsewhere, and a
 * moved directory brings names that were never judged. */
TEST holders_are_made_by_mkdir_only(void)
{
	static const struct row rows[] = {
		{ APP "/.github", 0, EACCES, 0, EXDEV },
		{ APP "/.github/hooks", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.github/workflows", 0, 0, 0, 0 },
		{ APP "/.hg", 0, EACCES, 0, EXDEV },
		{ APP "/.hg/hgrc", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.jj/repo/store", 0, EACCES, 0, EXDEV },
		{ APP "/.jj/repo/store/git_target", EACCES, EACCES, EACCES, EACCES },
		{ APP "/.config", 0, EACCES, 0, EXDEV },
		{ APP "/.config/mise", 0, EACCES, 0, EXDEV },
		{ APP "/.run/x.run.xml", EACCES, EACCES, EACCES, EACCES },
		{ APP "/packages", 0, EACCES, 0, EXDEV },
		{ APP "/gone", 0, EACCES, 0, EXDEV },
		{ APP "/gone/trusted", 0, EACCES, 0, EXDEV },
		{ APP "/packages/a", 0, EACCES, 0, EXDEV },
		{ APP "/packages/b", 0, 0, 0, 0 },
		{ APP "/packages/a/.git", EACCES, EACCES, 0, EXDEV },
		{ APP "/packages/a/.git/config", EACCES, EACCES, EACCES, EACCES },
		/* git worktree remove and add */
		{ APP "/wt/.git", 0, EACCES, 0, EXDEV },
		{ APP "/src/.github", 0, 0, 0, 0 },
	};
	make(NULL);
	CHECK_ROWS(rows);
	plan_fixture_free(&fixture);
	PASS();
}

TEST places_and_spines_are_never_renamed(void)
{
	make(NULL);
	ASSERT(guard_is_fixed(&rules, APP));
	ASSERT(guard_is_fixed(&rules, APP "/.git"));
	ASSERT(guard_is_fixed(&rules, APP "/packages"));
	ASSERT(guard_is_fixed(&rules, APP "/packages/a"));
	ASSERT(guard_is_fixed(&rules, APP "/wt"));
	ASSERT_FALSE(guard_is_fixed(&rules, APP "/packages/b"));
	ASSERT_FALSE(guard_is_fixed(&rules, APP "/package"));
	ASSERT_FALSE(guard_is_fixed(&rules, APP "/src"));
	plan_fixture_free(&fixture);
	PASS();
}

/* Landlock grants whole trees: one with a write grant in it is not free. */
TEST trees_without_a_write_grant_are_free(void)
{
	make(NULL);
	ASSERT(guard_is_free(&rules, "/tmp/x"));
	ASSERT(guard_is_free(&rules, "/dev/shm/x"));
	ASSERT_FALSE(guard_is_free(&rules, "/tmpx"));
	ASSERT_FALSE(guard_is_free(&rules, APP "/src"));
	ASSERT_FALSE(guard_is_free(&rules, "/home/ann/.cache"));
	ASSERT_FALSE(guard_is_free(&rules, "/usr"));
	plan_fixture_free(&fixture);
	PASS();
}

/* A user's own entry holds wherever it matches, in every shape of pattern. */
TEST own_entries_hold_everywhere(void)
{
	static const struct row rows[] = {
		{ APP "/deep/down/own.cfg", EACCES, EACCES, EACCES, EACCES },
		{ APP "/own.cfg", EACCES, EACCES, EACCES, EACCES },
		{ APP "/ci/steps", EACCES, EACCES, EACCES, EACCES },
		{ APP "/ci/steps/x", EACCES, EACCES, EACCES, EACCES },
		{ APP "/ci", 0, EACCES, 0, EXDEV },
		{ APP "/src/any/kept/file", EACCES, EACCES, EACCES, EACCES },
		{ APP "/src/any/kept", 0, EACCES, 0, EXDEV },
		{ APP "/other/ci/steps", 0, 0, 0, 0 },
	};
	make("files: {protect: [own.cfg, ci/steps, \"src/*/kept/*\"]}");
	CHECK_ROWS(rows);
	plan_fixture_free(&fixture);
	PASS();
}

/* Also one that begins with two stars, wherever a part of it would be put. */
TEST own_entries_at_any_depth_have_holders_at_any_depth(void)
{
	static const struct row rows[] = {
		{ APP "/ci/steps", EACCES, EACCES, EACCES, EACCES },
		{ APP "/a/b/ci/steps", EACCES, EACCES, EACCES, EACCES },
		{ APP "/a/b/ci", 0, EACCES, 0, EXDEV },
		{ APP "/ci", 0, EACCES, 0, EXDEV },
		{ APP "/a/b", 0, 0, 0, 0 },
		{ APP "/a/steps", 0, 0, 0, 0 },
		{ APP "/a/ci/other", 0, 0, 0, 0 },
		{ APP "/a/one/x/two", 0, EACCES, 0, EXDEV },
		{ APP "/a/one/x/y/two/three", EACCES, EACCES, EACCES, EACCES },
	};
	make("files: {protect: [\"**/ci/steps\", \"**/one/**/two/three\"]}");
	CHECK_ROWS(rows);
	plan_fixture_free(&fixture);
	PASS();
}

/* An entry that the user lifts or opens is free, in the place where that was said. */
TEST lifted_entries_are_free(void)
{
	make("files: {write: [.mcp.json], unprotect: [.devcontainer, \"**/.claude/worktrees\"]}");
	ASSERT_EQ(0, judge(FILE_MADE, APP "/.devcontainer"));
	ASSERT_EQ(0, judge(DIR_MADE, APP "/.devcontainer"));
	ASSERT_EQ(0, judge(FILE_MADE, APP "/.devcontainer/devcontainer.json"));
	ASSERT_EQ(0, judge(FILE_MADE, APP "/.claude/worktrees/w/x.c"));
	ASSERT_EQ(EACCES, judge(FILE_MADE, APP "/.claude/settings.json"));
	ASSERT_EQ(EACCES, judge(FILE_MADE, APP "/.vscode"));
	plan_fixture_free(&fixture);
	PASS();
}

/* Paths that the kernel does not tell are judged by the same rules. */
TEST long_paths_are_judged(void)
{
	static const struct {
		const char *end;
		int made_file, moved_directory;
	} ends[] = {
		{ "plain", 0, 0 },    { ".vscode", 0, 0 },  { "own.cfg", EACCES, EACCES },
		{ "steps", 0, 0 },    { "ci", 0, EXDEV },   { "ci/steps", EACCES, EACCES },
		{ "ci/other", 0, 0 }, { "own.cfgs", 0, 0 },
	};
	static char path[GUARD_PATH_BYTES];
	make("files: {protect: [own.cfg, \"**/ci/steps\"]}");
	for (size_t length = 4000; length < 20000; length += 97)
		for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
			memset(path, 'd', length);
			memcpy(path, APP "/", sizeof APP);
			for (size_t at = 200; at < length; at += 200)
				path[at] = '/';
			snprintf(path + length, sizeof path - length, "/%s", ends[i].end);
			ASSERT_EQ_FMTm(ends[i].end, ends[i].made_file, judge(FILE_MADE, path), "%d");
			ASSERT_EQ_FMTm(ends[i].end, ends[i].moved_directory, judge(DIR_MOVED, path), "%d");
		}
	plan_fixture_free(&fixture);
	PASS();
}

/* A path that cannot be judged is refused. */
TEST paths_that_are_too_long_are_refused(void)
{
	static char path[2 * GUARD_PATH_BYTES];
	make(NULL);
	memset(path, 'a', sizeof path - 1);
	memcpy(path, APP "/", sizeof APP);
	path[GUARD_PATH_BYTES - 1] = '\0';
	ASSERT_EQ(0, judge(FILE_MADE, path));
	path[GUARD_PATH_BYTES - 1] = 'a';
	path[GUARD_PATH_BYTES] = '\0';
	ASSERT_EQ(EACCES, judge(FILE_MADE, path));
	plan_fixture_free(&fixture);
	PASS();
}

/* Trees in which files are not checked: none that is looked into, none with a place or a write
 * grant below, and none at all below a directory where an entry of the user's own may match. */
TEST trees_have_no_place_in_them(void)
{
	static const char *const trees[] = {
		APP "/src",	     APP "/node_modules", APP "/packages/b", APP "/packages/a/src",   APP "/.github/workflows",
		APP "/.git/objects", APP "/.git/refs",	  APP "/.git/logs",  APP "/bare.git/objects", APP "/wt/src",
		APP "/vscode"
	};
	static const char *const others[] = {
		APP,
		APP "/packages",
		APP "/packages/a",
		APP "/gone",
		APP "/gone/trusted",
		APP "/wt",
		APP "/.git",
		APP "/.git/info",
		APP "/.git/hooks",
		APP "/.git/hooks/d",
		APP "/.git/modules",
		APP "/.git/modules/m",
		APP "/.git/worktrees",
		APP "/.git/worktrees/w",
		APP "/bare.git",
		APP "/.github",
		APP "/.hg",
		APP "/.jj/repo",
		APP "/.jj/repo/store",
		APP "/.config",
		APP "/.config/mise",
		APP "/.config/fish",
		APP "/.run",
		APP "/.direnv",
		APP "/.vscode",
		APP "/.vscode/below",
		APP "/.claude",
		APP "/packages/a/.git",
		APP "/packages/a/.idea/x",
		"/home/ann",
		"/home",
		"/usr/lib",
		"/tmp/x",
	};
	make(NULL);
	for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++)
		ASSERTm(trees[i], guard_may_be_tree(&rules, trees[i]));
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		ASSERT_FALSEm(others[i], guard_may_be_tree(&rules, others[i]));
	plan_fixture_free(&fixture);
	PASS();
}

TEST own_entries_leave_no_tree_where_they_match(void)
{
	make("files: {protect: [own.cfg]}");
	ASSERT_FALSE(guard_may_be_tree(&rules, APP "/src"));
	ASSERT_FALSE(guard_may_be_tree(&rules, APP "/.git/objects"));
	plan_fixture_free(&fixture);
	make("files: {protect: [\"**/ci/steps\"]}");
	ASSERT_FALSE(guard_may_be_tree(&rules, APP "/src"));
	plan_fixture_free(&fixture);
	make("files: {protect: [ci/steps, \"src/*/kept/*\"]}");
	ASSERT_FALSE(guard_may_be_tree(&rules, APP "/ci"));
	ASSERT_FALSE(guard_may_be_tree(&rules, APP "/src"));
	ASSERT(guard_may_be_tree(&rules, APP "/docs"));
	plan_fixture_free(&fixture);
	PASS();
}

/* The reason for the above: whatever is made below a tree, where it is or where it may be moved to,
 * would have been allowed. */
TEST nothing_below_a_tree_is_refused(void)
{
	static const char *const trees[] = { APP "/src", APP "/.git/objects", APP "/packages/b", APP "/.github/workflows" };
	static const char *const targets[] = { APP "/moved",
					       APP "/packages/b/moved",
					       APP "/.github",
					       APP "/.github/hooks",
					       APP "/.hg",
					       APP "/.config/mise",
					       APP "/.git/info",
					       APP "/.git/worktrees/w",
					       APP "/packages/a",
					       APP "/.vscode",
					       APP "/packages/a/.claude/x",
					       APP "/.git/objects/moved" };
	static const char *const names[] = { ".vscode",	    ".mcp.json",  "hooks",	  "hgrc",	 "config",
					     "config.toml", "commondir",  ".git",	  ".git/config", "berm.yml",
					     "deep/.envrc", "attributes", "settings.json" };
	char path[256];
	make(NULL);
	for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++)
		ASSERTm(trees[i], guard_may_be_tree(&rules, trees[i]));
	for (size_t i = 0; i < sizeof trees / sizeof trees[0] + sizeof targets / sizeof targets[0]; i++) {
		const size_t count = sizeof trees / sizeof trees[0];
		const char *directory = i < count ? trees[i] : targets[i - count];
		if (judge(DIR_MOVED, directory) != 0)
			continue; /* the tree cannot be moved there */
		for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
			snprintf(path, sizeof path, "%s/%s", directory, names[k]);
			ASSERT_EQ_FMTm(path, 0, judge(FILE_MADE, path), "%d");
		}
	}
	plan_fixture_free(&fixture);
	PASS();
}

/* Thousands of components with a name that patterns end with: each is looked at, not all for
 * each. */
TEST deep_paths_are_judged_in_linear_time(void)
{
	static const char *const components[] = { "/hooks", "/.vscode", "/ci/steps/x", "/config" };
	static char path[GUARD_PATH_BYTES];
	clock_t start = clock();
	make(NULL);
	for (size_t i = 0; i < sizeof components / sizeof components[0]; i++) {
		size_t length = strlen(components[i]), at = sizeof APP "/src" - 1;
		memcpy(path, APP "/src", sizeof APP "/src");
		for (; at + length < sizeof path - 1; at += length)
			memcpy(path + at, components[i], length + 1);
		for (int k = 0; k < 20; k++) {
			ASSERT_EQ(0, judge(FILE_MADE, path));
			ASSERT_EQ(0, judge(DIR_MOVED, path));
		}
	}
	/* 160 judgements of 64 KB; when each component was compared with all, one took a second. */
	ASSERT((double)(clock() - start) / CLOCKS_PER_SEC < 8.0);
	plan_fixture_free(&fixture);
	PASS();
}

SUITE(guard_rules_suite)
{
	RUN_TEST(protected_names_in_roots_are_refused);
	RUN_TEST(the_same_names_elsewhere_are_free);
	RUN_TEST(git_directories_have_their_own_names);
	RUN_TEST(holders_are_made_by_mkdir_only);
	RUN_TEST(places_and_spines_are_never_renamed);
	RUN_TEST(trees_without_a_write_grant_are_free);
	RUN_TEST(own_entries_hold_everywhere);
	RUN_TEST(own_entries_at_any_depth_have_holders_at_any_depth);
	RUN_TEST(lifted_entries_are_free);
	RUN_TEST(trees_have_no_place_in_them);
	RUN_TEST(own_entries_leave_no_tree_where_they_match);
	RUN_TEST(nothing_below_a_tree_is_refused);
	RUN_TEST(deep_paths_are_judged_in_linear_time);
	RUN_TEST(long_paths_are_judged);
	RUN_TEST(paths_that_are_too_long_are_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(guard_rules_suite);
	GREATEST_MAIN_END();
}

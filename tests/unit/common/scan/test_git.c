/* SPDX-License-Identifier: Apache-2.0 */
/* What the scan locks because git would obey it, on described machines; and the repositories that
 * were made inside, on a real tree. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/scan/scan.h"
#include "common/state/born.h"
#include "unit/support/plan_fixture.h"
#include "unit/support/scratch.h"

#define APP "/home/ann/app"
#define PROTECT                                                                                                                \
	"files: {write: [.], protect: [\"**/.git/hooks\", \"**/.git/config\", \"**/.git/config.worktree\", "                   \
	"\"**/.git/commondir\", \"**/.git/info/attributes\"], prune: [node_modules]}"

static struct plan_fixture fixture;

/* The parts of a git directory; %s is its path. */
static const char parts[] = "  - {path: %s/config, text: '%s'}\n  - {path: %s/HEAD, text: x}\n  - %s/objects/\n  - %s/refs/\n"
			    "  - %s/hooks/x\n  - %s/info/attributes\n";

static void add_repository(struct text *machine, const char *path, const char *config)
{
	text_add(machine, parts, path, config, path, path, path, path, path);
}

static void scan(const struct text *machine, const char *user)
{
	plan_fixture_make(&fixture, machine->data,
			  (const struct plan_layer[]){ { LAYER_BASE, PROTECT }, { LAYER_USER, user }, { 0 } });
	if (fixture.status == 0)
		fixture.status = plan_scan(&fixture.plan, &fixture.error);
}

/* The locked paths without APP/. */
static const char *locked(void)
{
	struct text out = { 0 };
	const struct plan_matches *list = &fixture.plan.scan->locked;
	const char *result;
	for (size_t i = 0; i < list->count; i++)
		text_add(&out, "%s%s", i ? " " : "",
			 text_starts_with(list->items[i].path, APP "/") ? list->items[i].path + strlen(APP "/")
									: list->items[i].path);
	result = arena_copy(&fixture.arena, out.data ? out.data : "");
	text_free(&out);
	return result;
}

static const char *directories(void)
{
	static const char *const kinds[] = { "main", "worktree", "module", "bare" };
	struct text out = { 0 };
	const struct plan_git_directories *list = &fixture.plan.scan->git_directories;
	const char *result;
	for (size_t i = 0; i < list->count; i++)
		text_add(&out, "%s%s %s%s", i ? ", " : "", list->items[i].path + strlen(APP "/"), kinds[list->items[i].kind],
			 list->items[i].is_born ? " born" : "");
	result = arena_copy(&fixture.arena, out.data ? out.data : "");
	text_free(&out);
	return result;
}

static bool is_pinned(const char *path)
{
	for (size_t i = 0; i < fixture.plan.scan->pinned.count; i++)
		if (strcmp(fixture.plan.scan->pinned.items[i].path, path) == 0)
			return true;
	return false;
}

/* A repository at `path` with this configuration, and more files. */
static void scan_with(const char *path, const char *config, const char *more)
{
	struct text machine = { 0 };
	text_add(&machine, "files:\n");
	add_repository(&machine, path, config);
	text_add(&machine, "%s", more);
	scan(&machine, "");
	text_free(&machine);
}

#define STORE_LOCKED ".store/config .store/hooks .store/info/attributes"

TEST git_directories_of_other_names(void)
{
	scan_with(APP "/.store", "", "  - {path: " APP "/.git, text: 'gitdir: ./.store\\n'}\n");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ(".git " STORE_LOCKED, locked());
	ASSERT_STR_EQ(".store main", directories());
	plan_fixture_free(&fixture);

	scan_with(APP "/.store", "", "  - " APP "/.git -> .store\n");
	ASSERT_STR_EQ(STORE_LOCKED, locked());
	ASSERT(is_pinned(APP "/.git"));
	ASSERT_STR_EQ(".store main", directories());
	plan_fixture_free(&fixture);

	scan_with(APP "/sub/.store", "", "  - " APP "/sub/.git -> way\n  - " APP "/sub/way -> .store\n");
	ASSERT(is_pinned(APP "/sub/.git") && is_pinned(APP "/sub/way"));
	plan_fixture_free(&fixture);

	/* In a directory that is not searched. */
	scan_with(APP "/node_modules/g", "", "  - {path: " APP "/.git, text: 'gitdir: node_modules/g\\n'}\n");
	ASSERT_STR_EQ(".git node_modules/g/config node_modules/g/hooks node_modules/g/info/attributes", locked());
	plan_fixture_free(&fixture);

	scan_with(APP "/remote.git", "[core]\\n bare = true\\n", "");
	ASSERT_STR_EQ("remote.git/config remote.git/hooks remote.git/info/attributes", locked());
	ASSERT_STR_EQ("remote.git bare", directories());
	plan_fixture_free(&fixture);

	/* No git directory, although it has a HEAD. */
	scan_with(APP "/x.git", "", "");
	plan_fixture_free(&fixture);
	PASS();
}

TEST modules_and_commondir(void)
{
	struct text machine = { 0 };
	text_add(&machine, "files:\n");
	add_repository(&machine, APP "/.git", "");
	add_repository(&machine, APP "/.git/modules/a/b", "[core]\\n worktree = ../../../../b\\n hooksPath = tools\\n");
	text_add(&machine,
		 "  - {path: " APP "/.git/modules/m/commondir, text: '../real\\n'}\n  - {path: " APP
		 "/.git/modules/m/HEAD, text: x}\n  - {path: " APP "/b/.git, text: 'gitdir: ../.git/modules/a/b\\n'}\n"
		 "  - " APP "/b/tools/x\n");
	add_repository(&machine, APP "/.git/modules/real", "");
	scan(&machine, "");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ(
		".git/config .git/hooks .git/info/attributes .git/modules/a/b/config .git/modules/a/b/hooks"
		" .git/modules/a/b/info/attributes .git/modules/m/commondir .git/modules/real/config .git/modules/real/hooks"
		" .git/modules/real/info/attributes b/.git b/tools",
		locked());
	ASSERT_STR_EQ(".git main, .git/modules/a/b module, .git/modules/m module, .git/modules/real module", directories());
	plan_fixture_free(&fixture);
	text_free(&machine);
	PASS();
}

TEST worktrees_of_the_project_stay_removable(void)
{
	scan_with(APP "/.git", "[extensions]\\n worktreeConfig\\n",
		  "  - {path: " APP "/.git/worktrees/w/commondir, text: '../..\\n'}\n"
		  "  - {path: " APP "/.git/worktrees/w/gitdir, text: '" APP "/w/.git\\n'}\n"
		  "  - {path: " APP "/.git/worktrees/w/HEAD, text: x}\n"
		  "  - {path: " APP "/w/.git, text: 'gitdir: " APP "/.git/worktrees/w\\n'}\n");
	ASSERT_STR_EQ(".git/config .git/hooks .git/info/attributes", locked());
	ASSERT_STR_EQ(".git main, .git/worktrees/w worktree", directories());
	ASSERT_FALSE(is_pinned(APP "/w"));
	plan_fixture_free(&fixture);

	/* The worktree is outside: its pointers are not judged at the end of a run. */
	scan_with(APP "/.git", "",
		  "  - {path: " APP "/.git/worktrees/w/commondir, text: '../..\\n'}\n"
		  "  - {path: " APP "/.git/worktrees/w/gitdir, text: '/home/ann/w/.git\\n'}\n"
		  "  - {path: " APP "/.git/worktrees/w/HEAD, text: x}\n");
	ASSERT_STR_EQ(".git/config .git/hooks .git/info/attributes .git/worktrees/w/commondir .git/worktrees/w/gitdir",
		      locked());
	plan_fixture_free(&fixture);
	PASS();
}

TEST files_that_settings_name(void)
{
	static const struct {
		const char *config, *file, *locked;
	} rows[] = {
		{ "[core]\\n hooksPath = tools/hooks\\n", "tools/hooks/x", "tools/hooks" },
		{ "[core]\\n hooksPath = " APP "/h\\n", "h/x", "h" },
		{ "[core]\\n hooksPath = ~/app/h\\n", "h/x", "h" },
		{ "[core]\\n hooksPath = node_modules/h\\n", "node_modules/h/x", "node_modules/h" },
		{ "[include]\\n path = ../extra\\n", "extra", "extra" },
		{ "[includeIf \"gitdir:/x\"]\\n path = ../extra\\n", "extra", "extra" },
		{ "[core]\\n attributesFile = attr\\n", "attr", "attr" },
		{ "[core]\\n excludesFile = ignore\\n", "ignore", "ignore" },
		{ "[core]\\n fsmonitor = tools/watch\\n", "tools/watch", "tools/watch" },
		{ "[core]\\n editor = ./tools/e --wait\\n", "tools/e", "tools/e" },
		{ "[diff \"d\"]\\n textconv = python3 tools/t.py\\n", "tools/t.py", "tools/t.py" },
		{ "[merge \"d\"]\\n driver = tools/m %O %A\\n", "tools/m", "tools/m" },
		{ "[filter \"d\"]\\n clean = sh clean.sh\\n", "clean.sh", "clean.sh" },
		{ "[gpg]\\n program = tools/g\\n", "tools/g", "tools/g" },
		/* Nothing that git obeys unasked. */
		{ "[alias]\\n x = !tools/x\\n", "tools/x", "" },
		{ "[core]\\n editor = vi src\\n", "src/x", "" },
		{ "[filter \"d\"]\\n clean = tools\\n", "tools/x", "" },
		{ "[core]\\n hooksPath = /usr/share/h\\n", "h", "" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char more[256], expected[256];
		snprintf(more, sizeof more, "  - {path: " APP "/%s, text: ''}\n", rows[i].file);
		scan_with(APP "/.git", rows[i].config, more);
		snprintf(expected, sizeof expected, ".git/config .git/hooks .git/info/attributes%s%s",
			 rows[i].locked[0] ? " " : "", rows[i].locked);
		ASSERT_STR_EQm(rows[i].config, expected, locked());
		ASSERT_EQ(NULL, fixture.plan.scan->unheld_setting);
		plan_fixture_free(&fixture);
	}
	PASS();
}

TEST an_included_file_names_more(void)
{
	scan_with(APP "/.git", "[include]\\n path = ../one\\n",
		  "  - {path: " APP "/one, text: '[include]\\n path = two\\n[core]\\n fsmonitor = ./f\\n'}\n"
		  "  - {path: " APP "/two, text: '[core]\\n hooksPath = h\\n'}\n  - " APP "/h/x\n  - " APP "/f\n");
	ASSERT_STR_EQ(".git/config .git/hooks .git/info/attributes f h one two", locked());
	plan_fixture_free(&fixture);
	PASS();
}

TEST the_root_is_never_locked(void)
{
	static const char *const values[] = { ".", "..", "/", APP, "/home/ann", "sub/.." };
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		char config[256];
		snprintf(config, sizeof config, "[core]\\n bare = false\\n hooksPath = %s\\n", values[i]);
		scan_with(APP "/.git", config, "  - " APP "/sub/\n");
		ASSERT_STR_EQm(values[i], ".git/config .git/hooks .git/info/attributes", locked());
		ASSERTm(values[i], fixture.plan.scan->unheld_setting);
		ASSERTm(fixture.plan.scan->unheld_setting,
			strstr(fixture.plan.scan->unheld_setting, "core.hooksPath in " APP "/.git/config:3 "));
		plan_fixture_free(&fixture);
	}
	PASS();
}

TEST the_policy_decides_what_is_protected(void)
{
	struct text machine = { 0 };
	text_add(&machine, "files:\n");
	add_repository(&machine, APP "/r.git", "[core]\\n hooksPath = h\\n");
	text_add(&machine, "  - " APP "/r.git/h/x\n");
	scan(&machine, "files: {write: [r.git/config]}");
	ASSERT_STR_EQ("r.git/h r.git/hooks r.git/info/attributes", locked());
	plan_fixture_free(&fixture);
	scan(&machine, "files: {unprotect: [\"**/.git/hooks\"]}");
	ASSERT_STR_EQ("r.git/config r.git/info/attributes", locked());
	plan_fixture_free(&fixture);
	plan_fixture_make(&fixture, machine.data, (const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.]}" }, { 0 } });
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_STR_EQ("", locked());
	plan_fixture_free(&fixture);
	text_free(&machine);
	PASS();
}

TEST the_users_configuration_holds_everywhere(void)
{
	scan_with(APP "/.git", "",
		  "  - /home/ann/.gitconfig -> app/dot/gitconfig\n"
		  "  - {path: " APP "/dot/gitconfig, text: '[core]\\n hooksPath = hk\\n excludesFile = ~/app/ign\\n'}\n"
		  "  - " APP "/hk/x\n  - " APP "/deep/hk/x\n  - " APP "/ign\n");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ(".git/config .git/hooks .git/info/attributes deep/hk dot/gitconfig hk ign", locked());
	plan_fixture_free(&fixture);
	PASS();
}

/* On a real tree: the fixture's machine has no times of birth. */
TEST a_repository_that_was_made_inside_is_its_own(void)
{
	static const char policy[] = "version: 1\n" PROTECT "\n";
	const struct filesystem *fs = filesystem_host();
	const char *top = scratch_directory(), *list;
	struct file_birth birth;
	char context[1024], command[4096];

	snprintf(command, sizeof command,
		 "set -e; cd '%s'; mkdir p; for r in p/n/.git p/bare p/m; do mkdir -p $r/objects $r/refs $r/hooks"
		 " $r/modules/s $r/inner/.git; echo >$r/HEAD; printf '[core]\\n hooksPath = t\\n' >$r/config; echo "
		 ">$r/modules/s/config;"
		 " echo >$r/inner/.git/config; done; mkdir p/n/t p/s; echo 'gitdir: ../m' >p/s/.git",
		 top);
	if (system(command) != 0)
		FAILm("cannot make the tree");
	snprintf(context, sizeof context, "user: ann\nhome: %s/home\nuid: %u\nproject: %s/p\n", top, getuid(), top);
	for (int is_recorded = 0; is_recorded < 2; is_recorded++) {
		static const char *const made[] = { "n/.git", "bare", "m" };
		struct policy *parsed;
		plan_fixture_make_for(&fixture, context, (const struct plan_layer[]){ { 0 } });
		fixture.context.fs = fs;
		fixture.context.state_directory = arena_printf(&fixture.arena, "%s/state", top);
		parsed = arena_alloc(&fixture.arena, sizeof *parsed);
		ASSERT_EQ(0, policy_parse(&fixture.arena, "p.yml", LAYER_BASE, policy, strlen(policy), parsed,
					  &fixture.diagnostics));
		ASSERT_EQ(0, plan_resolve(&fixture.arena, parsed, &fixture.context, &fixture.plan, &fixture.diagnostics));
		for (size_t i = 0; is_recorded && i < sizeof made / sizeof made[0]; i++) {
			if (!fs->find_birth(fs, arena_printf(&fixture.arena, "%s/p/%s", top, made[i]), &birth))
				SKIPm("this file system has no times of birth");
			ASSERT_EQ(0, born_add(&fixture.arena, fixture.context.state_directory, fixture.plan.state.project_key,
					      &birth, 1, &fixture.error));
		}
		ASSERT_EQm(fixture.error.message, 0, plan_scan(&fixture.plan, &fixture.error));
		list = plan_fixture_paths(&fixture, &fixture.plan.scan->locked);
		ASSERT_EQm(list, !is_recorded, strstr(list, "/p/n/.git/config") != NULL);
		ASSERT_EQm(list, !is_recorded, strstr(list, "/p/n/t") != NULL);
		ASSERT_EQm(list, !is_recorded, strstr(list, "/p/bare/config") != NULL);
		ASSERT_EQm(list, !is_recorded, strstr(list, "/p/m/config") != NULL);
		ASSERT_EQm(list, !is_recorded, strstr(list, "/p/s/.git") != NULL);
		/* Others that are inside one are not. */
		ASSERTm(list, strstr(list, "/p/n/.git/inner/.git/config") && strstr(list, "/p/bare/inner/.git/config"));
		for (size_t i = 0; i < fixture.plan.scan->git_directories.count; i++) {
			const struct plan_git_directory *directory = &fixture.plan.scan->git_directories.items[i];
			ASSERT_EQm(directory->path, is_recorded && !strstr(directory->path, "/inner/"), directory->is_born);
		}
		plan_fixture_free(&fixture);
	}
	PASS();
}

/* What the sweep need not inspect. */
TEST names_that_a_git_directory_lacks(void)
{
	const struct plan_git_seen *seen;
	static const char more[] = "  - " APP "/.git/branches/\n"
				   "  - " APP "/fold/.git/HEAD\n  - " APP "/fold/.git/CommonDir\n"
				   "  - " APP "/odd/.git/HEAD\n  - {path: \"" APP "/odd/.git/c\xe2\x84\xaa\", text: x}\n"
				   "  - " APP "/far/.git/HEAD\n  - " APP "/far/.git/info -> ../x\n"
				   "  - " APP "/node_modules/p/.git/HEAD\n";
	scan_with(APP "/.git", "", more);
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	seen = &fixture.plan.scan->git_seen;
	ASSERT(scan_git_is_searched(seen, APP "/.git"));
	ASSERT(scan_git_lacks(seen, APP "/.git", "commondir") &&
	       scan_git_lacks(seen, APP "/.git", "rebase-merge/git-rebase-todo"));
	ASSERT(!scan_git_lacks(seen, APP "/.git", "config") && !scan_git_lacks(seen, APP "/.git", "info/attributes"));
	ASSERT(scan_git_has(seen, APP "/.git", "config") && !scan_git_has(seen, APP "/.git", "commondir"));
	ASSERT(scan_git_is_empty(seen, APP "/.git/branches") && !scan_git_is_empty(seen, APP "/.git/remotes"));

	/* Not known: another spelling, a name that may stand for any, a link, and what is not
	 * searched. */
	ASSERT(!scan_git_lacks(seen, APP "/fold/.git", "commondir") && !scan_git_has(seen, APP "/fold/.git", "commondir"));
	ASSERT(scan_git_lacks(seen, APP "/fold/.git", "config"));
	ASSERT(!scan_git_lacks(seen, APP "/odd/.git", "commondir") && !scan_git_lacks(seen, APP "/odd/.git", "config"));
	ASSERT(!scan_git_lacks(seen, APP "/far/.git", "info/attributes"));
	ASSERT(scan_git_lacks(seen, APP "/far/.git", "commondir"));
	ASSERT(!scan_git_is_searched(seen, APP "/node_modules/p/.git"));
	ASSERT(!scan_git_lacks(seen, APP "/node_modules/p/.git", "commondir"));
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(git_directories_of_other_names);
	RUN_TEST(modules_and_commondir);
	RUN_TEST(worktrees_of_the_project_stay_removable);
	RUN_TEST(files_that_settings_name);
	RUN_TEST(an_included_file_names_more);
	RUN_TEST(the_root_is_never_locked);
	RUN_TEST(the_policy_decides_what_is_protected);
	RUN_TEST(the_users_configuration_holds_everywhere);
	RUN_TEST(a_repository_that_was_made_inside_is_its_own);
	RUN_TEST(names_that_a_git_directory_lacks);
	GREATEST_MAIN_END();
}

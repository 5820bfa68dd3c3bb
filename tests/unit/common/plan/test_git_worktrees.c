/* SPDX-License-Identifier: Apache-2.0 */
/* Git directories outside the checkout: trusted only if they point back to the checkout. Every
 * refusal has its control, the same machine with the one detail put right. */
#include <greatest.h>

#include <string.h>

#include "unit/support/plan_fixture.h"

static struct plan_fixture fixture;
static char machine[4096];

/* The details of a linked worktree of /home/ann/main at /home/ann/app. */
struct worktree {
	const char *pointer, *common, *back, *owner, *extra;
};

static const struct worktree good = { "gitdir: /home/ann/main/.git/worktrees/app", "../..", "/home/ann/app/.git", "1000", "" };

static void make_worktree(struct worktree worktree)
{
	snprintf(machine, sizeof machine,
		 "files:\n"
		 "  - {path: /home/ann/app/.git, text: '%s\\n'}\n"
		 "  - {path: /home/ann/main/.git/worktrees/app/commondir, text: '%s\\n'}\n"
		 "  - {path: /home/ann/main/.git/worktrees/app/gitdir, text: '%s\\n'}\n"
		 "  - {path: /home/ann/main/.git/worktrees/app, type: directory, uid: %s}\n"
		 "  - {path: /home/ann/main/.git/worktrees/other/gitdir, text: /x}\n"
		 "  - /home/ann/main/.git/HEAD\n"
		 "  - /home/ann/main/.git/config\n"
		 "  - /home/ann/main/.git/hooks/pre-commit\n"
		 "  - /home/ann/main/.git/objects/\n"
		 "  - /home/ann/main/.git/refs/\n"
		 "  - /home/ann/elsewhere/.git/refs/\n"
		 "%s",
		 worktree.pointer, worktree.common, worktree.back, worktree.owner, worktree.extra);
	plan_fixture_make(&fixture, machine, (const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.]}" }, { 0 } });
}

TEST a_linked_worktree_gets_its_repository(void)
{
	make_worktree(good);
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("write", plan_fixture_grant(&fixture, "/home/ann/main/.git"));
	ASSERT_STR_EQ("/home/ann/app/.git", plan_grant_for(&fixture.plan, "/home/ann/main/.git/HEAD")->rule->origin.source);
	ASSERT(plan_fixture_noted(&fixture, NOTE_GIT, "/home/ann/main/.git"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/main/.git/objects/x"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/main/.git/refs/heads/config"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/main/.git/worktrees/app/index"));
	static const char *const locked[] = { "/home/ann/app/.git",
					      "/home/ann/main/.git/config",
					      "/home/ann/main/.git/config.worktree",
					      "/home/ann/main/.git/commondir",
					      "/home/ann/main/.git/hooks/pre-commit",
					      "/home/ann/main/.git/info/attributes",
					      "/home/ann/main/.git/modules/sub/config",
					      "/home/ann/main/.git/modules/sub/hooks/x",
					      "/home/ann/main/.git/modules/dir/sub/config",
					      "/home/ann/main/.git/modules/sub/modules/inner/hooks/x",
					      "/home/ann/main/.git/worktrees/app/gitdir",
					      "/home/ann/main/.git/worktrees/other/commondir",
					      "/home/ann/main/.git/worktrees/other/config.worktree" };
	for (size_t i = 0; i < sizeof locked / sizeof locked[0]; i++)
		ASSERTm(locked[i], plan_protected_by(&fixture.plan, locked[i], false));
	/* the main checkout itself is not granted */
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/main/README"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST relative_pointers_work_too(void)
{
	struct worktree worktree = good;
	worktree.pointer = "gitdir: ../main/.git/worktrees/app";
	worktree.back = "../../../../app/.git";
	make_worktree(worktree);
	ASSERT_STR_EQ("write", plan_fixture_grant(&fixture, "/home/ann/main/.git"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST pointers_that_do_not_verify_are_refused(void)
{
	struct {
		const char *what;
		struct worktree worktree;
	} rows[] = {
		{ "another checkout's git directory", good },
		{ "a back pointer to elsewhere", good },
		{ "a common directory elsewhere", good },
		{ "of another user", good },
		{ "not a pointer", good },
		{ "two lines", good },
		{ "the repository itself", good },
		{ "missing", good },
		{ "a common directory through a link", good },
		{ "empty", good },
		{ "a back pointer to another checkout", good },
	};
	rows[0].worktree.pointer = "gitdir: /home/ann/main/.git/worktrees/other";
	rows[1].worktree.back = "/home/ann/elsewhere/.git";
	rows[2].worktree.common = "/home/ann/elsewhere/.git";
	rows[3].worktree.owner = "0";
	rows[4].worktree.pointer = "/home/ann/main/.git/worktrees/app";
	rows[5].worktree.pointer = "gitdir: /home/ann/main/.git/worktrees/app\\nx";
	rows[6].worktree.pointer = "gitdir: /home/ann/main/.git";
	rows[7].worktree.pointer = "gitdir: /home/ann/gone";
	rows[8].worktree.common = "/home/ann/linked/.git";
	rows[8].worktree.extra = "  - \"/home/ann/linked -> main\"\n";
	rows[9].worktree.pointer = "";
	/* It exists: only the comparison of the two paths refuses it. */
	rows[10].worktree.back = "/home/ann/other/.git";
	rows[10].worktree.extra = "  - /home/ann/other/.git\n";
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		make_worktree(rows[i].worktree);
		ASSERT_EQm(rows[i].what, 0, fixture.status);
		ASSERT_EQm(rows[i].what, 1, fixture.plan.grants.count);
		ASSERTm(rows[i].what, plan_fixture_noted(&fixture, NOTE_GIT, "is not followed"));
		plan_fixture_free(&fixture);
	}
	PASS();
}

TEST a_pointer_through_a_symlink_is_refused(void)
{
	struct worktree worktree = good;
	worktree.pointer = "gitdir: /home/ann/linked/.git/worktrees/app";
	worktree.extra = "  - \"/home/ann/linked -> main\"\n";
	make_worktree(worktree);
	ASSERT_EQ(1, fixture.plan.grants.count);
	ASSERT(plan_fixture_noted(&fixture, NOTE_GIT, "symlink"));
	plan_fixture_free(&fixture);
	PASS();
}

static void make_submodule(const char *config)
{
	snprintf(machine, sizeof machine,
		 "files:\n"
		 "  - {path: /home/ann/app/.git, text: 'gitdir: ../super/.git/modules/app\\n'}\n"
		 "  - {path: /home/ann/super/.git/modules/app/config, text: '%s'}\n"
		 "  - /home/ann/super/.git/modules/app/HEAD\n"
		 "  - /home/ann/super/.git/modules/app/objects/\n"
		 "  - /home/ann/super/.git/modules/app/refs/\n"
		 "  - /home/ann/elsewhere/\n",
		 config);
	plan_fixture_make(&fixture, machine, (const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.]}" }, { 0 } });
}

TEST a_submodule_gets_its_own_directory_only(void)
{
	make_submodule("[core]\\n  bare = false\\n  worktree = ../../../../app\\n[remote \"origin\"]\\n");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("write", plan_fixture_grant(&fixture, "/home/ann/super/.git/modules/app"));
	ASSERT_STR_EQ("none", plan_fixture_grant(&fixture, "/home/ann/super/.git"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/super/.git/modules/app/config"));
	ASSERT(plan_protected_by(&fixture.plan, "/home/ann/super/.git/modules/app/hooks/x", false));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/super/.git/modules/app/objects/x"));
	plan_fixture_free(&fixture);
	make_submodule("[core]\\n  worktree = ../../../../elsewhere\\n");
	ASSERT_EQ(1, fixture.plan.grants.count);
	plan_fixture_free(&fixture);
	make_submodule("[other]\\n  worktree = ../../../../app\\n");
	ASSERT_EQ(1, fixture.plan.grants.count);
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_usual_repository_needs_nothing(void)
{
	plan_fixture_make(&fixture, "files: [/home/ann/app/.git/HEAD]",
			  (const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.]}" }, { 0 } });
	ASSERT_EQ(0, fixture.status);
	ASSERT_EQ(1, fixture.plan.grants.count);
	ASSERT_EQ(0, fixture.plan.notes.count);
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_linked_git_directory_is_refused(void)
{
	plan_fixture_make(&fixture, "files: [\"/home/ann/app/.git -> /home/ann/main/.git\", /home/ann/main/.git/HEAD]",
			  (const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.]}" }, { 0 } });
	ASSERT_EQ(0, fixture.status);
	ASSERT_EQ(1, fixture.plan.grants.count);
	ASSERT(plan_fixture_noted(&fixture, NOTE_GIT, "symlink"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST an_enclosing_repository_is_mentioned(void)
{
	static const char context[] =
		"user: ann\nhome: /home/ann\nproject: /home/ann/mono/app\nfiles: [/home/ann/mono/.git/HEAD]\n";
	plan_fixture_make_for(&fixture, context, (const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.]}" }, { 0 } });
	ASSERT_EQ(0, fixture.status);
	ASSERT_EQ(1, fixture.plan.grants.count);
	ASSERT(plan_fixture_noted(&fixture, NOTE_GIT, "/home/ann/mono"));
	plan_fixture_free(&fixture);
	/* the home's own repository is not mentioned */
	plan_fixture_make(&fixture, "files: [/home/ann/.git/HEAD]",
			  (const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.]}" }, { 0 } });
	ASSERT_EQ(0, fixture.plan.notes.count);
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_linked_worktree_gets_its_repository);
	RUN_TEST(relative_pointers_work_too);
	RUN_TEST(pointers_that_do_not_verify_are_refused);
	RUN_TEST(a_pointer_through_a_symlink_is_refused);
	RUN_TEST(a_submodule_gets_its_own_directory_only);
	RUN_TEST(a_usual_repository_needs_nothing);
	RUN_TEST(a_linked_git_directory_is_refused);
	RUN_TEST(an_enclosing_repository_is_mentioned);
	GREATEST_MAIN_END();
}

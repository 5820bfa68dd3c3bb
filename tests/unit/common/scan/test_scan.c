/* SPDX-License-Identifier: Apache-2.0 */
/* Matches of the patterns on described machines and on a real tree; scan and evaluator never
 * disagree. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/scan/name_filter.h"
#include "common/scan/scan.h"
#include "unit/support/plan_fixture.h"
#include "unit/support/scratch.h"

static struct plan_fixture fixture;

static void scan(const char *machine, const char *policy)
{
	plan_fixture_make(&fixture, machine, (const struct plan_layer[]){ { LAYER_BASE, policy }, { 0 } });
	if (fixture.status == 0)
		fixture.status = plan_scan(&fixture.plan, &fixture.error);
}

#define MASKED() plan_fixture_paths(&fixture, &fixture.plan.scan->masked)
#define LOCKED() plan_fixture_paths(&fixture, &fixture.plan.scan->locked)
#define OPENED() plan_fixture_paths(&fixture, &fixture.plan.scan->opened)
#define PINNED() plan_fixture_paths(&fixture, &fixture.plan.scan->pinned)

TEST finds_denied_and_protected_names(void)
{
	scan("files: [/home/ann/app/.env, /home/ann/app/a/b/.env, /home/ann/app/a/x.pem, /home/ann/app/a/b/c/, "
	     "/home/ann/app/.git/hooks/x,"
	     " /home/ann/app/.git/config, /home/ann/app/sub/.git/config, /home/ann/app/envy]",
	     "files: {write: [.], deny: [.env, \"*.pem\"], protect: [\"**/.git/hooks\", \"**/.git/config\"]}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("/home/ann/app/.env /home/ann/app/a/b/.env /home/ann/app/a/x.pem", MASKED());
	ASSERT_STR_EQ("/home/ann/app/.git/config /home/ann/app/.git/hooks /home/ann/app/sub/.git/config", LOCKED());
	ASSERT_STR_EQ("/home/ann/app/.git /home/ann/app/a /home/ann/app/a/b /home/ann/app/sub /home/ann/app/sub/.git",
		      PINNED());
	ASSERT_STR_EQ(".env", fixture.plan.scan->masked.items[0].rule->text);
	plan_fixture_free(&fixture);
	PASS();
}

TEST nothing_below_what_is_found_is_listed_again(void)
{
	scan("files: [/home/ann/app/secret/.env, /home/ann/app/secret/secret/x, /home/ann/app/.vscode/.vscode/x, "
	     "/home/ann/app/.vscode/.env]",
	     "files: {write: [.], deny: [secret, .env], protect: [.vscode]}");
	ASSERT_EQ(0, fixture.status);
	/* a denied file inside a protected directory is hidden too */
	ASSERT_STR_EQ("/home/ann/app/.vscode/.env /home/ann/app/secret", MASKED());
	ASSERT_STR_EQ("/home/ann/app/.vscode", LOCKED());
	plan_fixture_free(&fixture);
	PASS();
}

TEST an_opening_in_a_protected_directory(void)
{
	scan("files: [/home/ann/app/.claude/settings.json, /home/ann/app/.claude/worktrees/x/a.c,"
	     " /home/ann/app/.claude/worktrees/x/.vscode/tasks.json, /home/ann/app/.claude/worktrees/x/.env,"
	     " /home/ann/app/.claude/worktrees/x/.claude/worktrees/y/b.c, /home/ann/app/sub/.claude/hooks/h,"
	     " /home/ann/app/other/worktrees/z, /home/ann/app/link -> sub]",
	     "files: {write: [.], deny: [.env], protect: [.claude, .vscode, link], unprotect: [\"**/.claude/worktrees\"]}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("/home/ann/app/.claude /home/ann/app/.claude/worktrees/x/.claude"
		      " /home/ann/app/.claude/worktrees/x/.vscode /home/ann/app/sub",
		      LOCKED());
	ASSERT_STR_EQ("/home/ann/app/.claude/worktrees /home/ann/app/.claude/worktrees/x/.claude/worktrees", OPENED());
	ASSERT_STR_EQ("/home/ann/app/.claude/worktrees/x/.env", MASKED());
	/* the evaluator agrees; what is absent cannot be created in a locked directory */
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.claude/settings.json"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.claude/settings.local.json"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.claude/worktrees/x/a.c"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.claude/worktrees/new"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.claude/worktrees/x/.vscode/new"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.claude/worktrees/x/.claude/worktrees/y/b.c"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.claude/worktrees/x/.claude/new"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/sub/.claude/worktrees/new"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/new/.claude/worktrees/new"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST openings_and_their_layers(void)
{
	static const char machine[] = "files: [/home/ann/app/.claude/worktrees/x, /home/ann/app/.vscode/a]";
	static const char open[] = "files: {write: [.], unprotect: [\"**/.claude/worktrees\", .vscode]}";
	static const char protect[] = "files: {protect: [.claude, .vscode]}";

	/* an earlier layer opens nothing of a later one, and nothing of the floor */
	plan_fixture_make(&fixture, machine,
			  (const struct plan_layer[]){ { LAYER_BASE, open }, { LAYER_USER, protect }, { 0 } });
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_STR_EQ("/home/ann/app/.claude /home/ann/app/.vscode", LOCKED());
	ASSERT_STR_EQ("", OPENED());
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.claude/worktrees/x"));
	plan_fixture_free(&fixture);
	plan_fixture_make(&fixture, machine,
			  (const struct plan_layer[]){ { LAYER_FLOOR, protect }, { LAYER_USER, open }, { 0 } });
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_STR_EQ("/home/ann/app/.claude /home/ann/app/.vscode", LOCKED());
	ASSERT_STR_EQ("", OPENED());
	plan_fixture_free(&fixture);
	/* a later one opens; a pattern for the protected directory itself lifts all of it */
	plan_fixture_make(&fixture, machine,
			  (const struct plan_layer[]){ { LAYER_BASE, protect }, { LAYER_USER, open }, { 0 } });
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_STR_EQ("/home/ann/app/.claude", LOCKED());
	ASSERT_STR_EQ("/home/ann/app/.claude/worktrees", OPENED());
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.vscode/new"));
	plan_fixture_free(&fixture);
	PASS();
}

/* A worktree in a protected directory as the project. */
TEST a_project_in_an_opening(void)
{
	plan_fixture_make_for(
		&fixture,
		"user: ann\nhome: /home/ann\nproject: /home/ann/app/.claude/worktrees/x\n"
		"files: [/home/ann/app/.claude/worktrees/x/.vscode/a, /home/ann/app/.claude/worktrees/x/b]\n",
		(const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.], protect: [.claude, .vscode], unprotect: "
							   "[\"**/.claude/worktrees\"]}" },
					     { 0 } });
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_STR_EQ("write", plan_fixture_grant(&fixture, "/home/ann/app/.claude/worktrees/x"));
	ASSERT_STR_EQ("/home/ann/app/.claude/worktrees/x/.vscode", LOCKED());
	ASSERT_STR_EQ("", OPENED());
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.claude/worktrees/x/b"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST too_many_openings_stay_locked(void)
{
	static char machine[64 * 1024];
	size_t used = (size_t)snprintf(machine, sizeof machine, "files: [/home/ann/app/p/x");
	for (int i = 0; i < 300; i++)
		used += (size_t)snprintf(machine + used, sizeof machine - used, ", /home/ann/app/p/o%03d/x", i);
	snprintf(machine + used, sizeof machine - used, "]");
	scan(machine, "files: {write: [.], protect: [p], unprotect: [\"p/o*\"]}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_EQ(256, fixture.plan.scan->opened.count);
	ASSERT_EQ(1, fixture.plan.scan->notes.count);
	plan_fixture_free(&fixture);
	PASS();
}

/* A file system whose listings omit `.snapshot`, as those of file servers do. */
static const struct filesystem *listed;

struct omitting {
	enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type);
	void *self;
};

static enum walk_step visit_listed(void *self, const char *directory, const char *name, enum file_type type)
{
	const struct omitting *omitting = self;
	return strcmp(name, ".snapshot") == 0 ? WALK_SKIP : omitting->visit(omitting->self, directory, name, type);
}

static int walk_without_snapshots(const struct filesystem *fs, const char *root,
				  enum walk_step (*visit)(void *self, const char *directory, const char *name,
							  enum file_type type),
				  void *self, struct error *err)
{
	struct omitting omitting = { visit, self };
	(void)fs;
	return listed->walk(listed, root, visit_listed, &omitting, err);
}

static bool lists_every_name(const struct filesystem *fs, const char *directory)
{
	(void)fs;
	(void)directory;
	return false;
}

TEST older_versions_are_found_by_name(void)
{
	static const char machine[] = "files: [/home/ann/app/a/b/.env, /home/ann/app/a/b/.snapshot/daily/.env,"
				      " /home/ann/app/a/.snapshot/daily/b/.env, /home/ann/app/.snapshot/daily/a/b/.env,"
				      " /home/ann/app/c/.snapshot/daily/x, /home/ann/notes/.snapshot/daily/x]";
	static const char policy[] = "files: {write: [.], read: [~/notes], deny: [.env, .snapshot]}";
	struct filesystem fs;

	plan_fixture_make(&fixture, machine, (const struct plan_layer[]){ { LAYER_BASE, policy }, { 0 } });
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	listed = fixture.plan.context.fs;
	fs = *listed;
	fs.walk = walk_without_snapshots;
	fixture.plan.context.fs = &fs;
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	/* c contains no hidden file */
	ASSERT_STR_EQ("/home/ann/app/.snapshot /home/ann/app/a/.snapshot /home/ann/app/a/b/.env"
		      " /home/ann/app/a/b/.snapshot /home/ann/notes/.snapshot",
		      MASKED());
	ASSERT_STR_EQ("/home/ann/app/a /home/ann/app/a/b", PINNED());
	fs.may_omit_names = lists_every_name;
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_STR_EQ("/home/ann/app/a/b/.env", MASKED());
	plan_fixture_free(&fixture);
	/* a policy that does not deny the name */
	scan(machine, "files: {write: [.], deny: [.env]}");
	ASSERT_STR_EQ("/home/ann/app/.snapshot/daily/a/b/.env /home/ann/app/a/.snapshot/daily/b/.env /home/ann/app/a/b/.env"
		      " /home/ann/app/a/b/.snapshot/daily/.env",
		      MASKED());
	plan_fixture_free(&fixture);
	PASS();
}

TEST except_and_its_layers(void)
{
	static const char machine[] = "files: [/home/ann/app/.env.example, /home/ann/app/.env.local, "
				      "/home/ann/app/testdata/k.pem, /home/ann/app/k.pem]";
	scan(machine, "files: {write: [.], deny: [\".env.*\", \"*.pem\"], except: [.env.example, \"**/testdata/**\"]}");
	ASSERT_STR_EQ("/home/ann/app/.env.local /home/ann/app/k.pem", MASKED());
	plan_fixture_free(&fixture);
	/* an earlier layer makes no exception from a later one; only the floor makes one from the
	 * floor */
	plan_fixture_make(
		&fixture, machine,
		(const struct plan_layer[]){ { LAYER_FLOOR, "files: {deny: [\"*.pem\"]}" },
					     { LAYER_BASE, "files: {write: [.], except: [.env.example, \"**/testdata/**\"]}" },
					     { LAYER_USER, "files: {deny: [\".env.*\"]}" },
					     { 0 } });
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_STR_EQ("/home/ann/app/.env.example /home/ann/app/.env.local /home/ann/app/k.pem /home/ann/app/testdata/k.pem",
		      MASKED());
	plan_fixture_free(&fixture);
	PASS();
}

TEST prune_is_not_searched_but_spelled_out_paths_hold(void)
{
	scan("files: [/home/ann/app/node_modules/x/.env, /home/ann/app/node_modules/y/k, /home/ann/app/target/.env, "
	     "/home/ann/app/node_modules/z/a.key,"
	     " /home/ann/app/node_modules/w/hook]",
	     "files: {write: [.], deny: [.env, node_modules/y/k, \"node_modules/*/*.key\", target], prune: [node_modules, "
	     "target],"
	     " protect: [node_modules/w/hook]}");
	ASSERT_EQ(0, fixture.status);
	ASSERT_STR_EQ("/home/ann/app/node_modules/y/k /home/ann/app/node_modules/z/a.key /home/ann/app/target", MASKED());
	ASSERT_STR_EQ("/home/ann/app/node_modules/w/hook", LOCKED());
	/* the evaluator has the same verdicts */
	ASSERT(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/node_modules/x/.env"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/node_modules/y/k"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/target/.env"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_project_inside_a_directory_that_is_called_like_a_pruned_one(void)
{
	plan_fixture_make_for(
		&fixture, "user: ann\nhome: /home/ann\nproject: /home/ann/target/app\nfiles: [/home/ann/target/app/.env]\n",
		(const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.], deny: [.env], prune: [target]}" }, { 0 } });
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_STR_EQ("/home/ann/target/app/.env", MASKED());
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/target/app/.env"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST patterns_in_system_trees(void)
{
	scan("files: [/opt/a/.env, /opt/b/.env/x, /opt/b/c/.env, /opt/.env, /opt/link -> a, /opt/d/etc -> ../e/etc, "
	     "/opt/e/etc/rc,"
	     " /opt/f/etc/rc, /opt/f/one/k1, /opt/g/two/x/k2, /opt/g/two/y/k2, /opt/h/three/a/b/k3]",
	     "files: {system: [/opt], deny: [/opt/*/.env, /opt/*/etc/rc, \"/opt/?/one/k*\", /opt/*/two/*/k2, "
	     "\"/opt/*/three/**/k3\", /opt/*/absent/x]}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("/opt/a/.env /opt/b/.env /opt/e/etc/rc /opt/f/etc/rc /opt/f/one/k1 /opt/g/two/x/k2 /opt/g/two/y/k2"
		      " /opt/h/three/a/b/k3",
		      MASKED());
	plan_fixture_free(&fixture);
	/* a tree below the directory at which the pattern begins */
	scan("files: [/opt/a/.env, /opt/a/b/.env, /opt/c/.env]", "files: {system: [/opt/a], deny: [/opt/*/.env]}");
	ASSERT_STR_EQ("/opt/a/.env", MASKED());
	plan_fixture_free(&fixture);
	PASS();
}

TEST system_trees_are_searched_for_spelled_out_paths_only(void)
{
	scan("files: [/etc/shadow, /etc/ssh/ssh_host_rsa_key, /etc/ssh/ssh_host_rsa_key.pub, /etc/ssl/cert.pem, "
	     "/etc/ssl/private/x,"
	     " /etc/x/deep/er/secret]",
	     "files: {system: [/etc], deny: [\"*.pem\", /etc/shadow, /etc/gshadow, \"/etc/ssh/ssh_host_*_key\", "
	     "/etc/ssl/private,"
	     " \"/etc/x/**/secret\"]}");
	ASSERT_EQ(0, fixture.status);
	ASSERT_STR_EQ("/etc/shadow /etc/ssh/ssh_host_rsa_key /etc/ssl/private /etc/x/deep/er/secret", MASKED());
	ASSERT_EQ(0, fixture.plan.scan->pinned.count);
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_spelled_out_path_holds_where_it_really_is(void)
{
	scan("files: [\"/etc -> private/etc\", /private/etc/shadow, \"/private/etc/keys -> /private/keys\", /private/keys/a]",
	     "files: {system: [/private], deny: [/etc/shadow, \"/etc/keys/*\"]}");
	ASSERT_EQ(0, fixture.status);
	ASSERT_STR_EQ("/private/etc/shadow /private/keys/a", MASKED());
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/private/etc/shadow"));
	plan_fixture_free(&fixture);
	PASS();
}

#define APP "/home/ann/app"

/* Each row: the files, a policy, and what is hidden. A directory was moved where nothing finds its
 * files, and the link in its place must find them. */
TEST a_link_hides_what_its_place_would_hide(void)
{
	static const struct {
		const char *files, *rules, *masked, *pinned;
	} rows[] = {
		/* the attack, and its control without the link */
		{ APP "/node_modules/.c/.env, \"" APP "/config -> node_modules/.c\"", "deny: [.env], prune: [node_modules]",
		  APP "/node_modules/.c/.env", APP "/config " APP "/node_modules " APP "/node_modules/.c" },
		{ APP "/node_modules/.c/.env", "deny: [.env], prune: [node_modules]", "", "" },
		/* a link whose own name is pruned stays pruned; names below a link are pruned by
		 * their own */
		{ APP "/lib/m/x/.env, \"" APP "/node_modules -> lib/m\"", "deny: [.env], prune: [node_modules, lib]", "", "" },
		{ APP "/lib/m/node_modules/.env, \"" APP "/web -> lib/m\"", "deny: [.env], prune: [node_modules, lib]", "",
		  "" },
		/* exceptions mean the name under the link */
		{ APP "/testdata/c/.env, \"" APP "/config -> testdata/c\"", "deny: [.env], except: [\"**/testdata/**\"]",
		  APP "/testdata/c/.env", APP "/config " APP "/testdata " APP "/testdata/c" },
		{ APP "/web/testdata/.env, \"" APP "/w -> web\"", "deny: [.env], except: [\"**/testdata/**\"]", "", "" },
		{ APP "/web/.env.example, \"" APP "/w -> web\"", "deny: [\".env*\"], except: [.env.example]", "", "" },
		/* patterns with directories */
		{ APP "/c/prod/k, \"" APP "/config -> c\"", "deny: [\"**/config/*/k\"]", APP "/c/prod/k",
		  APP "/c " APP "/c/prod " APP "/config" },
		{ APP "/c/prod/k, \"" APP "/config -> c\"", "deny: [\"config/*/k\"]", APP "/c/prod/k",
		  APP "/c " APP "/c/prod" },
		/* what its own name hides needs no link: that stays free */
		{ APP "/c/.env, \"" APP "/config -> c\"", "deny: [.env]", APP "/c/.env", APP "/c" },
		/* through two links, and links to links */
		{ APP "/nm/a/.env, " APP "/nm/b/, \"" APP "/config -> nm/b\", \"" APP "/nm/b/prod -> ../a\"",
		  "deny: [.env], prune: [nm]", APP "/nm/a/.env",
		  APP "/config " APP "/nm " APP "/nm/a " APP "/nm/b " APP "/nm/b/prod" },
		{ APP "/testdata/y/.env, \"" APP "/testdata/x/prod -> ../y\", \"" APP "/config -> testdata/x\"",
		  "deny: [.env], except: [\"**/testdata/**\"]", APP "/testdata/y/.env",
		  APP "/config " APP "/testdata " APP "/testdata/x " APP "/testdata/x/prod " APP "/testdata/y" },
		{ APP "/nm/a/.env, \"" APP "/config -> nm/l\", \"" APP "/nm/l -> a\"", "deny: [.env], prune: [nm]",
		  APP "/nm/a/.env", APP "/config " APP "/nm " APP "/nm/a " APP "/nm/l" },
		/* a directory-only pattern names the link */
		{ APP "/nm/a/k, \"" APP "/secrets -> nm/a\"", "deny: [secrets/], prune: [nm]", APP "/nm/a",
		  APP "/nm " APP "/secrets" },
		/* loops end */
		{ APP "/d/.env, \"" APP "/d/self -> .\", \"" APP "/d/up -> ..\", \"" APP "/d/a -> b\", \"" APP "/d/b -> a\"",
		  "deny: [.env]", APP "/d/.env", APP "/d" },
		{ "\"" APP "/nm/x/l -> ../y\", \"" APP "/nm/y/l -> ../x\", " APP "/nm/y/.env, \"" APP "/c -> nm/x\"",
		  "deny: [.env], prune: [nm]", APP "/nm/y/.env", APP "/c " APP "/nm " APP "/nm/x " APP "/nm/x/l " APP "/nm/y" },
		/* elsewhere: not writable, not granted */
		{ "/data/nm/.env, \"" APP "/config -> /data/nm\"", "read: [/data], deny: [.env], prune: [nm]", "", "" },
		{ "/other/.env, \"" APP "/config -> /other\"", "deny: [.env]", "", "" },
		{ APP "/nm/.env, \"/data/l -> " APP "/nm\"", "read: [/data], deny: [.env], prune: [nm]", "", "" },
		/* another writable tree */
		{ "/home/ann/o/nm/.env, \"" APP "/config -> ../o/nm\"", "write: [~/o], deny: [.env], prune: [nm]",
		  "/home/ann/o/nm/.env", APP "/config /home/ann/o/nm" },
		/* sockets and protected names in a target */
		{ "{path: " APP "/nm/s, type: fifo}, " APP "/nm/.vscode/x, \"" APP "/l -> nm\"",
		  "protect: [.vscode], prune: [nm]", "", APP "/l " APP "/nm" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char files[1024], policy[512];
		snprintf(files, sizeof files, "files: [%s]", rows[i].files);
		snprintf(policy, sizeof policy, "files: {%s%s}", strstr(rows[i].rules, "write:") ? "" : "write: [.], ",
			 rows[i].rules);
		if (strstr(rows[i].rules, "write:"))
			snprintf(policy, sizeof policy, "files: {write: [., ~/o], %s}", strstr(rows[i].rules, "deny:"));
		scan(files, policy);
		ASSERT_EQm(rows[i].files, 0, fixture.status);
		ASSERT_STR_EQm(rows[i].files, rows[i].masked, MASKED());
		ASSERT_STR_EQm(rows[i].files, rows[i].pinned, PINNED());
		plan_fixture_free(&fixture);
	}
	PASS();
}

/* The private home is in berm's state: the host would write there what commands can read. */
TEST a_link_into_the_state_is_an_error(void)
{
	static const struct {
		const char *files;
		bool is_error;
	} rows[] = {
		{ "\"" APP "/.env -> /home/ann/.local/state/berm/projects/k/home/x\"", true },
		{ "\"" APP "/config -> /home/ann/.local/state/berm/h\", /home/ann/.local/state/berm/h/", true },
		{ "\"" APP "/config -> nm/l\", \"" APP "/nm/l -> ../../.local/state/berm/h\", /home/ann/.local/state/berm/h/",
		  true },
		{ "\"" APP "/config -> nm\", \"" APP "/nm/.env -> /home/ann/.local/state/berm/x\"", true },
		{ "\"" APP "/notes -> /home/ann/.local/state/berm/x\", /home/ann/.local/state/berm/x", false },
		{ "\"" APP "/.env -> /home/ann/.local/state/other/x\"", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char files[512];
		snprintf(files, sizeof files, "files: [%s]", rows[i].files);
		scan(files, "files: {write: [.], deny: [.env], prune: [nm]}");
		ASSERT_EQm(rows[i].files, rows[i].is_error ? -1 : 0, fixture.status);
		ASSERT(!rows[i].is_error || strstr(fixture.error.hint, "rm " APP));
		plan_fixture_free(&fixture);
	}
	PASS();
}

/* A directory with many links, each of which leads to the next one with as many: 3^20 names. */
TEST many_names_of_a_link_end_in_a_strict_search(void)
{
	struct text files = { 0 };
	text_add(&files, "files: [" APP "/testdata/d20/.env, " APP "/testdata/d20/.env.example");
	for (int i = 0; i < 20; i++)
		for (int k = 0; k < 3; k++)
			text_add(&files, ", \"" APP "/testdata/d%d/l%d -> ../d%d\"", i, k, i + 1);
	text_add(&files, ", \"" APP "/config -> testdata/d0\"]");
	scan(files.data, "files: {write: [.], deny: [\".env*\"], except: [\"**/testdata/**\", .env.example]}");
	ASSERT_EQm(fixture.error.message, 0, fixture.status);
	ASSERT_STR_EQ(APP "/testdata/d20/.env", MASKED());
	plan_fixture_free(&fixture);
	text_free(&files);
	PASS();
}

/* Scans a real project in the scratch directory. */
static int scan_real(const char *project, const char *text)
{
	char context[512];
	struct policy *policy;
	snprintf(context, sizeof context, "user: ann\nhome: /nowhere/ann\nproject: %s\n", scratch_path("%s", project));
	plan_fixture_make_for(&fixture, context, (const struct plan_layer[]){ { 0 } });
	fixture.context.fs = filesystem_host(); /* only user and home come from the described machine */
	policy = arena_alloc(&fixture.arena, sizeof *policy);
	if (policy_parse(&fixture.arena, "p.yml", LAYER_BASE, text, strlen(text), policy, &fixture.diagnostics) < 0 ||
	    plan_resolve(&fixture.arena, policy, &fixture.context, &fixture.plan, &fixture.diagnostics) < 0)
		abort();
	return plan_scan(&fixture.plan, &fixture.error);
}

TEST too_many_links_are_an_error_that_names_the_way_out(void)
{
	mkdir(scratch_path("many"), 0755);
	mkdir(scratch_path("many/d"), 0755);
	mkdir(scratch_path("many/links"), 0755);
	for (int i = 0; i <= 4096; i++)
		if (symlink("../d", scratch_path("many/links/l%d", i)) < 0)
			abort();
	ASSERT_EQ(-1, scan_real("many", "version: 1\nfiles: {write: [.], deny: [.env]}"));
	ASSERT(strstr(fixture.error.message, "4096 symlinks") && strstr(fixture.error.hint, "files.prune"));
	plan_fixture_free(&fixture);
	ASSERT_EQ(0, scan_real("many", "version: 1\nfiles: {write: [.], deny: [.env], prune: [links]}"));
	plan_fixture_free(&fixture);
	unlink(scratch_path("many/links/l0"));
	ASSERT_EQm(fixture.error.message, 0, scan_real("many", "version: 1\nfiles: {write: [.], deny: [.env]}"));
	plan_fixture_free(&fixture);
	PASS();
}

/* A closed directory on the way: the command could open it, so it is hidden. */
TEST a_link_into_a_closed_directory_hides_that_directory(void)
{
	if (geteuid() == 0)
		SKIPm("needs a user for whom permissions count");
	mkdir(scratch_path("closed"), 0755);
	mkdir(scratch_path("closed/node_modules"), 0755);
	mkdir(scratch_path("closed/node_modules/c"), 0755);
	if (symlink("node_modules/c", scratch_path("closed/config")) < 0 || chmod(scratch_path("closed/node_modules"), 0) < 0)
		abort();
	ASSERT_EQ(0, scan_real("closed", "version: 1\nfiles: {write: [.], deny: [.env], prune: [node_modules]}"));
	ASSERT_STR_EQ(scratch_path("closed/node_modules"), MASKED());
	chmod(scratch_path("closed/node_modules"), 0755);
	plan_fixture_free(&fixture);
	PASS();
}

TEST sockets_of_the_host_are_hidden_where_nothing_is_searched(void)
{
	static const char files[] =
		"files: [{path: /nix/var/d/socket, type: socket}, {path: /opt/x/s, type: socket}, {path: /run/s, type: socket},"
		" {path: /home/ann/app/node_modules/s, type: socket}, {path: /home/ann/app/s, type: socket},"
		" {path: /home/ann/app/named, type: socket}, {path: /opt/x/named, type: socket}, /opt/x/file]";
	static const char policy[] = "files: {write: [.], system: [/nix, /opt], prune: [node_modules]}\n"
				     "sockets: [/opt/x/named, ./named]";
	scan(files, policy);
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("/home/ann/app/node_modules/s /home/ann/app/s /nix/var/d/socket /opt/x/s", MASKED());
	ASSERT_EQ(&rule_host_socket, fixture.plan.scan->masked.items[3].rule);
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/opt/x/s"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_READ, "/opt/x/named"));
	ASSERT_STR_EQ("/home/ann/app/node_modules", PINNED());
	plan_fixture_free(&fixture);
	PASS();
}

static const char *const *bound;

static int list_bound(const struct filesystem *fs, void (*visit)(void *self, const char *path), void *self, struct error *err)
{
	(void)fs;
	if (!bound)
		return error_set(err, "no list");
	for (size_t i = 0; bound[i]; i++)
		visit(self, bound[i]);
	return 0;
}

/* Scans the described machine with a list of sockets as their owners spelled them. */
static const char *scan_bound(const char *machine, const char *policy, const char *const *paths)
{
	static struct filesystem fs;
	plan_fixture_make(&fixture, machine, (const struct plan_layer[]){ { LAYER_BASE, policy }, { 0 } });
	fs = *fixture.plan.context.fs;
	fs.list_sockets = list_bound;
	fixture.plan.context.fs = &fs;
	bound = paths;
	fixture.status = plan_scan(&fixture.plan, &fixture.error);
	return MASKED();
}

TEST the_paths_of_sockets_are_only_hints(void)
{
	static const char files[] = "files: [{path: /opt/s, type: socket}, \"/var/opt -> /opt\", /opt/file, /opt/d/, "
				    "{path: /opt/deep/t, type: socket}, {path: /home/ann/app/node_modules/r, type: socket}]";
	static const char policy[] = "files: {write: [.], system: [/opt], prune: [node_modules]}";
	static const struct {
		const char *path, *expected;
	} hints[] = {
		{ "/opt/s", "/opt/s" },
		{ "/var/opt/s", "/opt/s" },
		{ "/var/opt/../opt/s", "/opt/s" },
		{ "//opt/./s", "/opt/s" },
		{ "/opt/deep/../s", "/opt/s" },
		{ "s", "/opt/s" },
		{ "deep/t", "/opt/deep/t" },
		{ "t", "" },
		{ "node_modules/r", "/home/ann/app/node_modules/r" },
		{ "./node_modules/r", "/home/ann/app/node_modules/r" },
		{ "../../opt/s", "/opt/s" },
		{ "/opt/file", "" },
		{ "/opt/d", "" },
		{ "/opt/gone", "" },
		{ "/opt/file/s", "" },
		{ "/opt", "" },
		{ "/", "" },
		{ "/opt/s/", "" },
		{ "..", "" },
		{ "/opt/..", "" },
	};
	for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
		const char *const list[] = { hints[i].path, hints[i].path, "/opt/none", hints[i].path, NULL };
		ASSERT_STR_EQm(hints[i].path, hints[i].expected, scan_bound(files, policy, list));
		ASSERT_EQ(NULL, fixture.plan.scan->unlisted_sockets);
		plan_fixture_free(&fixture);
	}
	ASSERT_STR_EQ("", scan_bound(files, policy, NULL));
	ASSERT_STR_EQ("no list", fixture.plan.scan->unlisted_sockets);
	plan_fixture_free(&fixture);
	PASS();
}

TEST fifos_are_hidden_where_a_mount_would_not_protect_them(void)
{
	scan("files: [{path: /home/ann/app/.vscode/deep/f, type: fifo}, {path: /home/ann/app/f, type: fifo}, {path: "
	     "/home/ann/app/Makefile, type: fifo},"
	     " {path: /data/f, type: fifo}, {path: /home/ann/app/sub/f, type: fifo}, \"/home/ann/app/.idea -> lib\", "
	     "{path: /home/ann/app/lib/f, type: fifo}, {path: /home/ann/app/.env, type: fifo}]",
	     "files: {write: [.], read: [/data, sub], deny: [.env], protect: [.vscode, .idea, Makefile]}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("/data/f /home/ann/app/.env /home/ann/app/.vscode/deep/f /home/ann/app/Makefile /home/ann/app/lib/f "
		      "/home/ann/app/sub/f",
		      MASKED());
	ASSERT_STR_EQ("/home/ann/app/.vscode /home/ann/app/lib", LOCKED());
	plan_fixture_free(&fixture);
	PASS();
}

TEST root_only_files_are_hidden_from_root(void)
{
	static const char files[] = "files: [{path: /etc/a, mode: \"0640\"}, {path: /etc/b, mode: \"0644\"}, {path: /etc/d, "
				    "type: directory, mode: \"0750\"},"
				    " {path: /etc/d/x, mode: \"0600\"}, {path: /etc/e, type: directory, mode: \"0755\"}, "
				    "{path: /etc/e/k, mode: \"0600\"},"
				    " {path: /usr/k, mode: \"0600\"}]\n";
	char context[1024];
	snprintf(context, sizeof context, "user: root\nuid: 0\nhome: /root\nproject: /srv/app\n%s", files);
	plan_fixture_make_for(&fixture, context,
			      (const struct plan_layer[]){ { LAYER_BASE, "files: {system: [/etc, /usr]}" }, { 0 } });
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_STR_EQ("/etc/a /etc/d /etc/e/k", MASKED());
	plan_fixture_free(&fixture);
	/* the control: for other users the kernel already refuses */
	scan(files, "files: {system: [/etc, /usr]}");
	ASSERT_EQ(0, fixture.plan.scan->masked.count);
	plan_fixture_free(&fixture);
	PASS();
}

TEST links_with_denied_names_hide_what_they_lead_to(void)
{
	scan("files: [\"/home/ann/app/.env -> conf/settings\", /home/ann/app/conf/settings, \"/home/ann/app/a/.env -> "
	     "/usr/share/x\", /usr/share/x,"
	     " \"/home/ann/app/b/.env -> ..\", \"/home/ann/app/c/.env -> /home/ann/elsewhere\", /home/ann/elsewhere,"
	     " \"/home/ann/app/.vscode -> conf/editor\", /home/ann/app/conf/editor/x]",
	     "files: {system: [/usr], write: [.], deny: [.env], protect: [.vscode]}");
	ASSERT_EQ(0, fixture.status);
	ASSERT_STR_EQ("/home/ann/app/conf/settings", MASKED());
	ASSERT_STR_EQ("/home/ann/app/conf/editor", LOCKED());
	ASSERT(plan_fixture_noted(&fixture, NOTE_OTHER, "/home/ann/app/conf/settings"));
	ASSERT(plan_fixture_noted(&fixture, NOTE_OTHER, "granted as a whole"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/conf/settings"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/conf/editor/x"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_READ, "/usr/share/x"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST other_names_of_denied_files_are_hidden(void)
{
	scan("files: [{path: /home/ann/app/.env, links: 3, inode: 7}, {path: /home/ann/app/src/innocent, links: 3, inode: 7},"
	     " {path: /home/ann/app/node_modules/deep/copy, links: 3, inode: 7}, {path: /home/ann/app/pair, links: 2, inode: "
	     "8},"
	     " {path: /data/other, links: 3, inode: 7}]",
	     "files: {write: [.], deny: [.env], prune: [node_modules]}");
	ASSERT_EQ(0, fixture.status);
	ASSERT_STR_EQ("/home/ann/app/.env /home/ann/app/node_modules/deep/copy /home/ann/app/src/innocent", MASKED());
	ASSERT(plan_fixture_noted(&fixture, NOTE_HARD_LINK, "3 names"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/src/innocent"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/pair"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST read_grants_are_searched_but_not_locked_or_pinned(void)
{
	scan("files: [/data/a/.env, /data/.vscode/x]", "files: {read: [/data], deny: [.env], protect: [.vscode]}");
	ASSERT_STR_EQ("/data/a/.env", MASKED());
	ASSERT_EQ(0, fixture.plan.scan->locked.count);
	ASSERT_EQ(0, fixture.plan.scan->pinned.count);
	plan_fixture_free(&fixture);
	PASS();
}

TEST nested_grants_are_searched_by_their_own_kind(void)
{
	scan("files: [/home/ann/app/vendor/.env, /home/ann/app/tool/.env, /home/ann/app/tool/w/.env, "
	     "/home/ann/app/tool/w/d/.git/config]",
	     "files: {write: [., tool/w], read: [vendor], system: [tool], deny: [.env], protect: [\"**/.git/config\"]}");
	ASSERT_EQ(0, fixture.status);
	ASSERT_STR_EQ("/home/ann/app/tool/w/.env /home/ann/app/vendor/.env", MASKED());
	ASSERT_STR_EQ("/home/ann/app/tool/w/d/.git/config", LOCKED());
	ASSERT_STR_EQ("/home/ann/app/tool/w/d /home/ann/app/tool/w/d/.git", PINNED());
	plan_fixture_free(&fixture);
	PASS();
}

TEST lifted_paths_are_not_locked(void)
{
	plan_fixture_make(
		&fixture,
		"files: [/home/ann/app/.vscode/x, /home/ann/app/.vscode/sub/.vscode/x, /home/ann/app/.github/w/.vscode/x]",
		(const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.], protect: [.vscode, .github]}" },
					     { LAYER_USER, "files: {write: [./.vscode]}" },
					     { 0 } });
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	ASSERT_STR_EQ("/home/ann/app/.github /home/ann/app/.vscode/sub/.vscode", LOCKED());
	plan_fixture_free(&fixture);
	PASS();
}

TEST lists_are_in_the_order_of_bytes(void)
{
	scan("files: [/home/ann/app/a/.env, /home/ann/app/a-b/.env, /home/ann/app/a/.git/config, "
	     "/home/ann/app/a-b/.git/config, /home/ann/app/a.d/.env]",
	     "files: {write: [.], deny: [.env], protect: [\"**/.git/config\"]}");
	const struct plan_matches *lists[] = { &fixture.plan.scan->masked, &fixture.plan.scan->locked,
					       &fixture.plan.scan->pinned };
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 1; k < lists[i]->count; k++)
			ASSERT(strcmp(lists[i]->items[k - 1].path, lists[i]->items[k].path) < 0);
	ASSERT_EQ(3, fixture.plan.scan->masked.count);
	ASSERT_EQ(2, fixture.plan.scan->locked.count);
	ASSERT_EQ(5, fixture.plan.scan->pinned.count);
	plan_fixture_free(&fixture);
	PASS();
}

TEST case_is_folded_where_the_file_system_does(void)
{
	scan("os: macos\nfiles: [/home/ann/app/.ENV, /home/ann/app/Key.PEM, \"/home/ann/app/\\u212AEY\", /Private/Etc/Shadow]",
	     "files: {write: [.], system: [/Private], deny: [.env, \"*.pem\", key, /private/etc/shadow]}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("/Private/Etc/Shadow /home/ann/app/.ENV /home/ann/app/Key.PEM /home/ann/app/\u212AEY", MASKED());
	plan_fixture_free(&fixture);
	scan("files: [/home/ann/app/.ENV, /home/ann/app/.env]", "files: {write: [.], deny: [.env]}");
	ASSERT_STR_EQ("/home/ann/app/.env", MASKED());
	plan_fixture_free(&fixture);
	PASS();
}

/* The filter may return too many candidates, never too few. */
TEST the_index_offers_every_pattern_that_matches(void)
{
	static const char *const patterns[] = { ".env",	   ".env.*",	    "*.pem",	  "[ab]x", "x[ab]",
						"\\*lit",  "lit\\*",	    "?",	  "*",	   "a",
						"**/d/e*", "/r/*/f",	    "/r/literal", "dir/",  "[!x]*",
						"a[]]",	   "\u00e9t\u00e9", "*.st.*",	  "*\\**", "a*b*c",
						"a\\b",	   "??x??",	    "*?",	  "k" };
	static const char *const names[] = { ".env",  ".env.local", "a.pem",
					     "ax",    "xa",	    "*lit",
					     "lit*",  "q",	    "a",
					     "e1",    "f",	    "literal",
					     "dir",   "a]",	    "\u00e9t\u00e9",
					     "K",     "\u212a",	    "\u00c9T\u00c9",
					     "x",     "x.st.y",	    ".st.",
					     "q*q",   "abc",	    "ab",
					     "aXbYc", "12x34" };
	static const char *const directories[] = { "/r", "/r/d", "/r/q", "/z" };
	struct arena arena = { 0 };
	struct error err = { 0 };
	enum { COUNT = sizeof patterns / sizeof patterns[0] };
	for (int fold = 0; fold < 2; fold++) {
		struct pattern compiled[COUNT];
		struct name_filter index;
		size_t matches = 0;
		name_filter_prepare(&index, &arena, COUNT);
		for (size_t i = 0; i < COUNT; i++) {
			ASSERT_EQm(err.message, 0, pattern_compile(&arena, patterns[i], "/r", &compiled[i], &err));
			name_filter_add(&index, i, &compiled[i], fold);
		}
		for (size_t d = 0; d < sizeof directories / sizeof directories[0]; d++)
			for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
				for (size_t i = 0; i < COUNT; i++) {
					const char *path = path_join(&arena, directories[d], names[n]);
					const char *name = names[n];
					uint64_t bits = name_filter_candidates(&index, 0, (unsigned char)name[0],
									       (unsigned char)name[strlen(name) - 1]);
					if (!pattern_matches(&compiled[i], path, true, fold))
						continue;
					matches++;
					ASSERTm(path, bits >> i & 1);
					ASSERTm(path, name_filter_agrees(&index, i, name, strlen(name)));
				}
		ASSERT(matches > 40);
	}
	arena_free(&arena);
	PASS();
}

static void make_real_tree(void)
{
	static const char *const directories[] = {
		"app", "app/a", "app/a/b", "app/.git", "app/.git/hooks", "app/node_modules", "app/node_modules/m"
	};
	static const char *const files[] = { "app/.env",	 "app/a/b/.env", "app/.git/config",
					     "app/.git/hooks/x", "app/a/f",	 "app/node_modules/m/.env" };
	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
		mkdir(scratch_path("%s", directories[i]), 0755);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		scratch_write(scratch_path("%s", files[i]), "x", 1, 0644);
	for (int i = 0; i < 40; i++) {
		mkdir(scratch_path("app/a/d%d", i), 0755);
		scratch_write(scratch_path("app/a/d%d/.env", i), "x", 1, 0644);
	}
	if (link(scratch_path("app/.env"), scratch_path("app/a/twin")) < 0 || symlink("../.git", scratch_path("app/a/git")) < 0)
		abort();
}

TEST a_real_tree_gives_the_same_lists_every_time(void)
{
	char context[512], first[8192];
	make_real_tree();
	snprintf(context, sizeof context, "user: ann\nhome: /nowhere/ann\nproject: %s\n", scratch_path("app"));
	for (int i = 0; i < 20; i++) {
		plan_fixture_make_for(&fixture, context, (const struct plan_layer[]){ { 0 } });
		/* only user and home come from the described machine */
		fixture.context.fs = filesystem_host();
		struct policy policy = { 0 };
		static const char text[] = "version: 1\nfiles: {write: [.], deny: [.env], protect: [\"**/.git/config\", "
					   "\"**/.git/hooks\"], prune: [node_modules]}";
		ASSERT_EQ(0,
			  policy_parse(&fixture.arena, "p.yml", LAYER_BASE, text, strlen(text), &policy, &fixture.diagnostics));
		ASSERT_EQ(0, plan_resolve(&fixture.arena, &policy, &fixture.context, &fixture.plan, &fixture.diagnostics));
		ASSERT_EQm(fixture.error.message, 0, plan_scan(&fixture.plan, &fixture.error));
		ASSERT_EQ(43, fixture.plan.scan->masked.count);
		ASSERT_EQ(2, fixture.plan.scan->locked.count);
		ASSERT_STR_EQ(scratch_path("app/a/twin"), fixture.plan.scan->masked.items[42].path);
		ASSERT(fixture.plan.scan->directories > 40);
		if (i == 0)
			snprintf(first, sizeof first, "%s", MASKED());
		ASSERT_STR_EQ(first, MASKED());
		plan_fixture_free(&fixture);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(finds_denied_and_protected_names);
	RUN_TEST(nothing_below_what_is_found_is_listed_again);
	RUN_TEST(an_opening_in_a_protected_directory);
	RUN_TEST(openings_and_their_layers);
	RUN_TEST(a_project_in_an_opening);
	RUN_TEST(too_many_openings_stay_locked);
	RUN_TEST(older_versions_are_found_by_name);
	RUN_TEST(except_and_its_layers);
	RUN_TEST(prune_is_not_searched_but_spelled_out_paths_hold);
	RUN_TEST(a_project_inside_a_directory_that_is_called_like_a_pruned_one);
	RUN_TEST(patterns_in_system_trees);
	RUN_TEST(system_trees_are_searched_for_spelled_out_paths_only);
	RUN_TEST(a_spelled_out_path_holds_where_it_really_is);
	RUN_TEST(a_link_hides_what_its_place_would_hide);
	RUN_TEST(a_link_into_the_state_is_an_error);
	RUN_TEST(many_names_of_a_link_end_in_a_strict_search);
	RUN_TEST(too_many_links_are_an_error_that_names_the_way_out);
	RUN_TEST(a_link_into_a_closed_directory_hides_that_directory);
	RUN_TEST(sockets_of_the_host_are_hidden_where_nothing_is_searched);
	RUN_TEST(the_paths_of_sockets_are_only_hints);
	RUN_TEST(fifos_are_hidden_where_a_mount_would_not_protect_them);
	RUN_TEST(root_only_files_are_hidden_from_root);
	RUN_TEST(links_with_denied_names_hide_what_they_lead_to);
	RUN_TEST(other_names_of_denied_files_are_hidden);
	RUN_TEST(read_grants_are_searched_but_not_locked_or_pinned);
	RUN_TEST(nested_grants_are_searched_by_their_own_kind);
	RUN_TEST(lifted_paths_are_not_locked);
	RUN_TEST(lists_are_in_the_order_of_bytes);
	RUN_TEST(case_is_folded_where_the_file_system_does);
	RUN_TEST(the_index_offers_every_pattern_that_matches);
	RUN_TEST(a_real_tree_gives_the_same_lists_every_time);
	GREATEST_MAIN_END();
}

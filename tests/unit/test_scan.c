/* SPDX-License-Identifier: Apache-2.0 */
/* What the patterns match now, on described machines and on a real tree; and that scan and evaluator never disagree. */
#include <greatest.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/scan/name_filter.h"
#include "unit/plan_fixture.h"
#include "unit/scratch.h"

static struct plan_fixture fixture;

static void scan(const char *machine, const char *policy)
{
	plan_fixture_make(&fixture, machine, (const struct plan_layer[]){ { LAYER_BASE, policy }, { 0 } });
	if (fixture.status == 0)
		fixture.status = plan_scan(&fixture.plan, &fixture.error);
}

#define MASKED() plan_fixture_paths(&fixture, &fixture.plan.masked)
#define LOCKED() plan_fixture_paths(&fixture, &fixture.plan.locked)
#define PINNED() plan_fixture_paths(&fixture, &fixture.plan.pinned)

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
	ASSERT_STR_EQ(".env", fixture.plan.masked.items[0].rule->text);
	plan_fixture_free(&fixture);
	PASS();
}

TEST nothing_below_what_is_found_is_listed_again(void)
{
	scan("files: [/home/ann/app/secret/.env, /home/ann/app/secret/secret/x, /home/ann/app/.vscode/.vscode/x, "
	     "/home/ann/app/.vscode/.env]",
	     "files: {write: [.], deny: [secret, .env], protect: [.vscode]}");
	ASSERT_EQ(0, fixture.status);
	/* a denied file inside a protected directory is hidden all the same */
	ASSERT_STR_EQ("/home/ann/app/.vscode/.env /home/ann/app/secret", MASKED());
	ASSERT_STR_EQ("/home/ann/app/.vscode", LOCKED());
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
	/* what a later layer denies, an earlier one does not except; the floor is excepted by itself alone */
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
	/* the evaluator claims no more than that */
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

TEST system_trees_are_only_asked_about_spelled_out_paths(void)
{
	scan("files: [/etc/shadow, /etc/ssh/ssh_host_rsa_key, /etc/ssh/ssh_host_rsa_key.pub, /etc/ssl/cert.pem, "
	     "/etc/ssl/private/x,"
	     " /etc/x/deep/er/secret]",
	     "files: {system: [/etc], deny: [\"*.pem\", /etc/shadow, /etc/gshadow, \"/etc/ssh/ssh_host_*_key\", "
	     "/etc/ssl/private,"
	     " \"/etc/x/**/secret\"]}");
	ASSERT_EQ(0, fixture.status);
	ASSERT_STR_EQ("/etc/shadow /etc/ssh/ssh_host_rsa_key /etc/ssl/private /etc/x/deep/er/secret", MASKED());
	ASSERT_EQ(0, fixture.plan.pinned.count);
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
	/* the control: the kernel already says no to everybody else */
	scan(files, "files: {system: [/etc, /usr]}");
	ASSERT_EQ(0, fixture.plan.masked.count);
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
	ASSERT_EQ(0, fixture.plan.locked.count);
	ASSERT_EQ(0, fixture.plan.pinned.count);
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

TEST lifted_places_are_not_locked(void)
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
	const struct plan_matches *lists[] = { &fixture.plan.masked, &fixture.plan.locked, &fixture.plan.pinned };
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 1; k < lists[i]->count; k++)
			ASSERT(strcmp(lists[i]->items[k - 1].path, lists[i]->items[k].path) < 0);
	ASSERT_EQ(3, fixture.plan.masked.count);
	ASSERT_EQ(2, fixture.plan.locked.count);
	ASSERT_EQ(5, fixture.plan.pinned.count);
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

/* The index may offer too much, never too little. */
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
		struct scan_index index;
		size_t matches = 0;
		scan_index_prepare(&index, &arena, COUNT);
		for (size_t i = 0; i < COUNT; i++) {
			ASSERT_EQm(err.message, 0, pattern_compile(&arena, patterns[i], "/r", &compiled[i], &err));
			scan_index_add(&index, i, &compiled[i], fold);
		}
		for (size_t d = 0; d < sizeof directories / sizeof directories[0]; d++)
			for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
				for (size_t i = 0; i < COUNT; i++) {
					const char *path = path_join(&arena, directories[d], names[n]);
					const char *name = names[n];
					uint64_t bits = scan_index_candidates(&index, 0, (unsigned char)name[0],
									      (unsigned char)name[strlen(name) - 1]);
					if (!pattern_matches(&compiled[i], path, true, fold))
						continue;
					matches++;
					ASSERTm(path, bits >> i & 1);
					ASSERTm(path, scan_index_agrees(&index, i, name, strlen(name)));
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
		/* the described machine lends its user and home only */
		fixture.context.fs = filesystem_host();
		struct policy policy = { 0 };
		static const char text[] = "version: 1\nfiles: {write: [.], deny: [.env], protect: [\"**/.git/config\", "
					   "\"**/.git/hooks\"], prune: [node_modules]}";
		ASSERT_EQ(0,
			  policy_parse(&fixture.arena, "p.yml", LAYER_BASE, text, strlen(text), &policy, &fixture.diagnostics));
		ASSERT_EQ(0, plan_resolve(&fixture.arena, &policy, &fixture.context, &fixture.plan, &fixture.diagnostics));
		ASSERT_EQm(fixture.error.message, 0, plan_scan(&fixture.plan, &fixture.error));
		ASSERT_EQ(43, fixture.plan.masked.count);
		ASSERT_EQ(2, fixture.plan.locked.count);
		ASSERT_STR_EQ(scratch_path("app/a/twin"), fixture.plan.masked.items[42].path);
		ASSERT(fixture.plan.scanned_directories > 40);
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
	RUN_TEST(except_and_its_layers);
	RUN_TEST(prune_is_not_searched_but_spelled_out_paths_hold);
	RUN_TEST(a_project_inside_a_directory_that_is_called_like_a_pruned_one);
	RUN_TEST(system_trees_are_only_asked_about_spelled_out_paths);
	RUN_TEST(a_spelled_out_path_holds_where_it_really_is);
	RUN_TEST(root_only_files_are_hidden_from_root);
	RUN_TEST(links_with_denied_names_hide_what_they_lead_to);
	RUN_TEST(other_names_of_denied_files_are_hidden);
	RUN_TEST(read_grants_are_searched_but_not_locked_or_pinned);
	RUN_TEST(nested_grants_are_searched_by_their_own_kind);
	RUN_TEST(lifted_places_are_not_locked);
	RUN_TEST(lists_are_in_the_order_of_bytes);
	RUN_TEST(case_is_folded_where_the_file_system_does);
	RUN_TEST(the_index_offers_every_pattern_that_matches);
	RUN_TEST(a_real_tree_gives_the_same_lists_every_time);
	GREATEST_MAIN_END();
}

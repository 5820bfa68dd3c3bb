/* SPDX-License-Identifier: Apache-2.0 */
/* The two meanings of "writable", and the one list of basic devices. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "unit/support/plan_fixture.h"

static struct plan_fixture fixture;

static const struct plan_layer layers[] = {
	{ LAYER_BASE, "files: {system: [/usr], write: [., vendor/out], read: [vendor, /data/ro]}" },
	{ 0 },
};

TEST writable_and_below_writable_differ_in_inner_grants(void)
{
	static const struct {
		const char *path;
		bool is_writable, is_below_writable;
	} rows[] = {
		{ "/home/ann/app", true, true },
		{ "/home/ann/app/src/x.c", true, true },
		{ "/home/ann/app/not/there", true, true },
		/* read-only again, but the directory above can be renamed */
		{ "/home/ann/app/vendor", false, true },
		{ "/home/ann/app/vendor/lib/y.c", false, true },
		{ "/home/ann/app/vendor/out", true, true },
		{ "/home/ann/app/vendor/out/z", true, true },
		{ "/home/ann/app/vendored", true, true },
		{ "/data/ro/f", false, false },
		{ "/usr/bin/sh", false, false },
		{ "/home/ann", false, false },
		{ "/home/ann/app2", false, false },
		{ "/home/ann/APP/src", false, false },
		{ "/", false, false },
	};
	plan_fixture_make(&fixture,
			  "files: [/usr/bin/sh, /data/ro/f, /home/ann/app/src/x.c, /home/ann/app/vendor/lib/y.c,"
			  " /home/ann/app/vendor/out/z]",
			  layers);
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ASSERT_EQm(rows[i].path, rows[i].is_writable, plan_is_writable(&fixture.plan, rows[i].path));
		ASSERT_EQm(rows[i].path, rows[i].is_below_writable, plan_is_below_writable(&fixture.plan, rows[i].path));
	}
	plan_fixture_free(&fixture);
	PASS();
}

/* A marker in a subdirectory neither moves a relative deny or protect nor lets a relative exception
 * or write entry open it. */
TEST relative_rules_hold_for_enclosing_projects(void)
{
	static const struct plan_layer user[] = {
		{ LAYER_BASE, "files: {write: [.], deny: [\"*.key\"]}" },
		{ LAYER_USER,
		  "files: {deny: [conf/secret], protect: [conf/lock, conf/held, conf/out], except: [open.key, sub/x.key],"
		  " write: [lock, /home/ann/app/conf/held]}" },
		{ LAYER_PROJECT, "files: {write: [out], except: [secret]}" },
		{ 0 },
	};
	static const char machine[] = "user: ann\nuid: 1000\nhome: /home/ann\nproject: %s\n"
				      "files: [/home/ann/app/.git/, /home/ann/app/conf/.git/, /home/ann/app/conf/lock,"
				      " /home/ann/app/conf/held, /home/ann/app/conf/out, /home/ann/app/conf/sub/x.key]";
	char text[1024];

	/* The control: without an enclosing project these rules mean other paths, and the trusted
	 * project's file opens them. */
	snprintf(text, sizeof text, machine, "/home/ann/other");
	plan_fixture_make_for(&fixture, text, user);
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_EQ(NULL, plan_denied_by(&fixture.plan, "/home/ann/app/conf/secret", false));
	ASSERT_EQ(NULL, plan_denied_by(&fixture.plan, "/home/ann/other/conf/secret", false));
	ASSERT_EQ(NULL, plan_denied_by(&fixture.plan, "/home/ann/other/sub/x.key", false));
	plan_fixture_free(&fixture);

	snprintf(text, sizeof text, machine, "/home/ann/app/conf");
	plan_fixture_make_for(&fixture, text, user);
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT(plan_denied_by(&fixture.plan, "/home/ann/app/conf/secret", false));
	ASSERT_EQ(NULL, plan_denied_by(&fixture.plan, "/home/ann/app/conf/conf/secret", false));
	ASSERT(plan_protected_by(&fixture.plan, "/home/ann/app/conf/lock", false));
	ASSERT(plan_protected_by(&fixture.plan, "/home/ann/app/conf/out", false));
	ASSERT_EQ(NULL, plan_protected_by(&fixture.plan, "/home/ann/app/conf/held", false));
	ASSERT(plan_denied_by(&fixture.plan, "/home/ann/app/conf/sub/x.key", false));
	ASSERT_EQ(NULL, plan_denied_by(&fixture.plan, "/home/ann/app/conf/open.key", false));
	ASSERT(plan_fixture_noted(&fixture, NOTE_OTHER, "sub/x.key"));
	plan_fixture_free(&fixture);
	PASS();
}

/* A later layer that repeats a pattern gives it its authority, in whatever spelling. */
TEST equal_patterns_have_the_latest_authority(void)
{
	static const struct plan_layer repeated[] = {
		{ LAYER_BASE, "files: {write: [.], deny: [\"**/a\"]}" },
		{ LAYER_USER, "files: {except: [a]}" },
		{ LAYER_PROJECT, "files: {deny: [a]}" },
		{ 0 },
	};
	plan_fixture_make(&fixture, "", repeated);
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT(plan_denied_by(&fixture.plan, "/home/ann/app/a", false));
	plan_fixture_free(&fixture);
	PASS();
}

TEST both_fold_case_on_macos(void)
{
	plan_fixture_make_for(&fixture,
			      "os: macos\nuser: ann\nuid: 501\nhome: /Users/ann\nproject: /Users/ann/app\n"
			      "files: [/Users/ann/app/src/x.c, /Users/ann/app/vendor/lib/y.c, /Users/ann/app/vendor/out/z]",
			      (const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.], read: [vendor]}" }, { 0 } });
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT(plan_is_writable(&fixture.plan, "/users/ANN/app/src/x.c"));
	ASSERT(plan_is_below_writable(&fixture.plan, "/users/ANN/app/src/x.c"));
	ASSERT_FALSE(plan_is_writable(&fixture.plan, "/users/ann/app/VENDOR/lib"));
	ASSERT(plan_is_below_writable(&fixture.plan, "/users/ann/app/VENDOR/lib"));
	plan_fixture_free(&fixture);
	PASS();
}

/* The nodes come first, and every one of them is a basic device. */
TEST device_nodes_are_basic_devices(void)
{
	const char *node;
	size_t count = 0;
	for (; (node = device_node_at(count)); count++) {
		ASSERT_STR_EQ(node, device_basic_at(OS_LINUX, count));
		ASSERTm(node, device_is_basic(OS_LINUX, node));
	}
	ASSERT_EQ(6, count);
	for (; (node = device_basic_at(OS_LINUX, count)); count++)
		ASSERTm(node, device_is_basic(OS_LINUX, node));
	ASSERT(device_is_basic(OS_LINUX, "/dev/pts/7"));
	ASSERT_FALSE(device_is_basic(OS_LINUX, "/dev/NULL"));
	ASSERT(device_is_basic(OS_MACOS, "/dev/NULL"));
	ASSERT_FALSE(device_is_basic(OS_MACOS, "/dev/full"));
	ASSERT_FALSE(device_is_basic(OS_LINUX, "/dev/sda"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(writable_and_below_writable_differ_in_inner_grants);
	RUN_TEST(relative_rules_hold_for_enclosing_projects);
	RUN_TEST(equal_patterns_have_the_latest_authority);
	RUN_TEST(both_fold_case_on_macos);
	RUN_TEST(device_nodes_are_basic_devices);
	GREATEST_MAIN_END();
}

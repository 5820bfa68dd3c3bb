/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for macOS: refused plans, parameters, values of a run. tests/macos checks their
 * meaning. */
#include <greatest.h>

#include <string.h>

#include "common/base/text.h"
#include "macos/profile/profile.h"
#include "macos/profile/regex.h"
#include "unit/support/plan_fixture.h"
#include "common/scan/scan.h"

static struct plan_fixture fixture;

static const char mac[] = "os: macos\nuser: ann\nuid: 501\nhome: /Users/ann\nproject: /Users/ann/app\n"
			  "files: [/usr/bin/sh, '/Users/ann/app/a\"b)(allow default)/x\\y', /Users/ann/app/caf\xc3\xa9/]\n";

static void make(const char *policy)
{
	struct error err;
	plan_fixture_make_for(&fixture, mac, (const struct plan_layer[]){ { LAYER_USER, policy }, { 0 } });
	if (fixture.status == 0 && plan_scan(&fixture.plan, &err) < 0)
		fixture.status = -3;
}

static int write_with(const struct profile_run *run, struct profile *profile, struct error *err)
{
	*err = (struct error){ 0 };
	return profile_write(&fixture.arena, &fixture.plan, run, profile, err);
}

static const char *parameter(const struct profile *profile, const char *value)
{
	for (size_t i = 0; i < profile->parameters.count; i++)
		if (strcmp(profile->parameters.items[i].value, value) == 0)
			return profile->parameters.items[i].name;
	return NULL;
}

TEST odd_paths_are_parameters(void)
{
	static const char hostile[] = "/Users/ann/app/a\"b)(allow default)/x\\y";
	struct profile profile;
	struct error err;

	make("files: {write: [.], read: ['a\"b)(allow default)', caf\xc3\xa9], deny: ['a\"b)(allow default)/x\\\\y']}");
	ASSERT_EQ(0, fixture.status);
	ASSERT_EQ(0, write_with(&(struct profile_run){ 0 }, &profile, &err));
	ASSERT(parameter(&profile, hostile));
	ASSERT(parameter(&profile, "/Users/ann/app/a\"b)(allow default)"));
	ASSERT(parameter(&profile, "/Users/ann/app/caf\xc3\xa9"));
	/* comments quote the policy; strings do not */
	ASSERT_FALSE(strstr(profile.text, " \"/Users/ann/app/a\""));
	ASSERT_FALSE(strstr(profile.text, "\xc3"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST what_a_run_adds(void)
{
	const char *const terminals[] = { "/dev/ttys003" };
	struct profile_run run = { .tag = "berm:4711",
				   .proxy_port = 5555,
				   .home = "/private/var/folders/x/home",
				   .tmp = "/private/var/folders/x/tmp",
				   .terminals = terminals,
				   .terminal_count = 1,
				   .helper = "/bin/sh" };
	struct profile profile;
	struct error err;

	make("files: {write: [.]}\nnetwork: {allow: ['a.example.org:443']}");
	ASSERT(profile_needs_proxy(&fixture.plan));
	ASSERT_EQ(0, write_with(&run, &profile, &err));
	ASSERT(strstr(profile.text, "(with message \"berm:4711\")"));
	ASSERT(strstr(profile.text, "(allow network-outbound (remote tcp \"localhost:5555\"))"));
	ASSERT(strstr(profile.text, "(literal \"/dev/ttys003\")"));
	ASSERT(strstr(profile.text, "(allow file-read* process-exec* (literal \"/bin/sh\"))"));
	ASSERT(strstr(profile.text, "(subpath \"/private/var/folders/x/home\")"));
	/* not known yet */
	run.proxy_port = 0;
	ASSERT_EQ(0, write_with(&run, &profile, &err));
	ASSERT(strstr(profile.text, "(remote tcp (param \"PROXY\"))"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST what_is_refused(void)
{
	struct profile profile;
	struct error err;

	make("files: {write: [.]}");
	ASSERT_EQ(0, write_with(&(struct profile_run){ 0 }, &profile, &err));
	ASSERT_EQ(-1, write_with(&(struct profile_run){ .tag = "a\")(allow default" }, &profile, &err));
	ASSERT_EQ(-1, write_with(&(struct profile_run){ .tag = "" }, &profile, &err));
	ASSERT_EQ(-1, write_with(&(struct profile_run){ .helper = "sh" }, &profile, &err));
	ASSERT_EQ(-1, write_with(&(struct profile_run){ .home = "/x/../y" }, &profile, &err));
	/* exempt from every denial, so they must not contain real directories */
	ASSERT_EQ(-1, write_with(&(struct profile_run){ .home = "/Users" }, &profile, &err));
	ASSERT_EQ(-1, write_with(&(struct profile_run){ .tmp = "/Users/ann/app" }, &profile, &err));
	ASSERT_EQ(-1, write_with(&(struct profile_run){ .tmp = "/" }, &profile, &err));
	fixture.plan.context.os = OS_LINUX;
	ASSERT_EQ(-1, write_with(&(struct profile_run){ 0 }, &profile, &err));
	plan_fixture_free(&fixture);
	PASS();
}

TEST the_proxy_is_needed_where_destinations_are_judged(void)
{
	make("files: {write: [.]}\nnetwork: all");
	ASSERT_FALSE(profile_needs_proxy(&fixture.plan));
	plan_fixture_free(&fixture);
	make("files: {write: [.]}\nnetwork: {deny: [a.example.org]}");
	ASSERT_FALSE(profile_needs_proxy(&fixture.plan));
	plan_fixture_free(&fixture);
	make("files: {write: [.]}\nnetwork: none");
	ASSERT_FALSE(profile_needs_proxy(&fixture.plan));
	plan_fixture_free(&fixture);
	PASS();
}

static const char *regex(struct arena *arena, const char *text, enum regex_width width)
{
	struct pattern pattern;
	struct regex_shape shape;
	struct text out = { 0 };
	struct error err;
	const char *result = "(none)";
	if (pattern_compile(arena, text, "/p", &pattern, &err) < 0)
		return "(bad)";
	shape = regex_shape(arena, &pattern);
	if (regex_add_parts(&out, &shape, 0, shape.count, width))
		result = arena_copy(arena, out.data);
	text_free(&out);
	return result;
}

TEST patterns_as_expressions(void)
{
	static const struct {
		const char *pattern, *wide, *narrow;
	} rows[] = {
		{ ".env", "/[.][eE][nN][vV]", "/[.][eE][nN][vV]" },
		{ "*.pem", "/[^/]*[.][pP][eE][mM]", "/[^/]*[.][pP][eE][mM]" },
		{ "a/**/b", "/[pP]/[aA]/([^/]+/)*[bB]", "/[pP]/[aA]/([^/]+/)*[bB]" },
		{ "**/a/**", "/[aA]/[^/]+", "/[aA]/[^/]+" },
		{ "*", "/[^/]+", "/[^/]+" }, /* not the root, which has no name */
		{ "[a-c]", "/[A-Ca-c]", "/[A-Ca-c]" },
		{ "a\\[1\\]*", "/[aA][^/]1[^/][^/]*", "(none)" },
		{ "a\"b*", "/[aA][^/][bB][^/]*", "(none)" },
		{ "caf\xc3\xa9*", "/[cC][aA][fF][^/]+[^/]*", "(none)" },
		{ "cafe\xcc\x81*", "/[cC][aA][fF][^/]+[^/]*", "(none)" },
		{ "a+(b)|$*", "/[aA][+][(][bB][)][|][$][^/]*", "/[aA][+][(][bB][)][|][$][^/]*" },
	};
	struct arena arena = { 0 };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ASSERT_STR_EQ(rows[i].wide, regex(&arena, rows[i].pattern, REGEX_WIDE));
		ASSERT_STR_EQ(rows[i].narrow, regex(&arena, rows[i].pattern, REGEX_NARROW));
	}
	/* other characters equal these letters on a case-insensitive volume */
	ASSERT(strstr(regex(&arena, "hook", REGEX_WIDE), "([kK]|"));
	ASSERT(strstr(regex(&arena, "config", REGEX_WIDE), "([fF][iI]|"));
	ASSERT_STR_EQ("/[hH][oO][oO][kK]", regex(&arena, "hook", REGEX_NARROW));
	arena_free(&arena);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(odd_paths_are_parameters);
	RUN_TEST(what_a_run_adds);
	RUN_TEST(what_is_refused);
	RUN_TEST(the_proxy_is_needed_where_destinations_are_judged);
	RUN_TEST(patterns_as_expressions);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about programs that cannot work in a Seatbelt sandbox, and variables that lead others
 * to the private directories. */
#include <greatest.h>

#include <string.h>

#include "macos/profile/advice.h"
#include "unit/support/plan_fixture.h"

static struct plan_fixture fixture;

static void make(const char *machine, const char *policy)
{
	plan_fixture_make_for(&fixture, machine, (const struct plan_layer[]){ { LAYER_USER, policy }, { 0 } });
}

#define MACHINE(user)                                                                                                          \
	"user: " user "\nuid: 501\nhome: /Users/" user "\nproject: /Users/" user "/app\nfiles: [/Users/" user "/app/]\n"
static const char mac[] = "os: macos\n" MACHINE("ann");

static const char *advice(const char *program, const char *argument)
{
	char first[64], second[64], *argv[] = { first, argument ? second : NULL, NULL };
	snprintf(first, sizeof first, "%s", program);
	snprintf(second, sizeof second, "%s", argument ? argument : "");
	return advice_for(&fixture.arena, &fixture.plan, argv);
}

TEST programs_that_cannot_work_are_named(void)
{
	make(mac, "files: {write: [.]}");
	ASSERT_EQ(0, fixture.status);
	ASSERT(strstr(advice("/bin/ps", "aux"), "ps is a setuid"));
	ASSERT(strstr(advice("sudo", NULL), "setuid"));
	ASSERT(strstr(advice("swift", "build"), "--disable-sandbox"));
	ASSERT_EQ(NULL, advice("swift", "--version"));
	ASSERT(strstr(advice("brew", "install"), "outside"));
	ASSERT_EQ(NULL, advice("brew", "--prefix"));
	ASSERT_EQ(NULL, advice("node", "x.js"));
	ASSERT_EQ(NULL, advice("p", NULL));
	ASSERT_EQ(NULL, advice("ps quota", NULL));
	plan_fixture_free(&fixture);
	PASS();
}

TEST trustd_is_named_where_a_list_is_in_force(void)
{
	make(mac, "files: {write: [.]}\nnetwork: {allow: ['a.example.org:443']}");
	ASSERT(strstr(advice("gh", "pr"), "macos: {trustd: true}"));
	plan_fixture_free(&fixture);
	make(mac, "files: {write: [.]}\nnetwork: {allow: ['a.example.org:443']}\nmacos: {trustd: true}");
	ASSERT_EQ(NULL, advice("gh", "pr"));
	plan_fixture_free(&fixture);
	make(mac, "files: {write: [.]}\nnetwork: all");
	ASSERT_EQ(NULL, advice("gh", "pr"));
	plan_fixture_free(&fixture);
	make("os: linux\n" MACHINE("ann"), "files: {write: [.]}");
	ASSERT_EQ(NULL, advice("ps", NULL));
	plan_fixture_free(&fixture);
	PASS();
}

static const char *variable(const char *name)
{
	for (size_t i = 0; i < fixture.plan.environment.count; i++)
		if (strcmp(fixture.plan.environment.items[i].name, name) == 0)
			return fixture.plan.environment.items[i].value;
	return "";
}

TEST variables_lead_to_the_private_directories(void)
{
	static const struct {
		const char *name;
		bool is_home;
	} rows[] = {
		{ "xcrun_db", false },	       { "TMPPREFIX", false },
		{ "TMUX_TMPDIR", false },      { "CLANG_MODULE_CACHE_PATH", true },
		{ "CFFIXED_USER_HOME", true }, { "SWIFTPM_MODULECACHE_OVERRIDE", true },
	};
	make(mac, "files: {write: [.]}\nnetwork: {allow: ['a.example.org:443']}");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *directory = rows[i].is_home ? fixture.plan.state.home : fixture.plan.state.tmp;
		ASSERT_EQm(rows[i].name, 0, strncmp(variable(rows[i].name), directory, strlen(directory)));
	}
	ASSERT_STR_EQ(fixture.plan.state.tmp, variable("TMPDIR"));
	ASSERT(strstr(variable("MAVEN_OPTS"), "-Djava.net.preferIPv4Stack=true"));
	ASSERT(strstr(variable("GRADLE_OPTS"), fixture.plan.state.tmp));
	ASSERT(strstr(variable("GRADLE_OPTS"), "-Dhttps.proxyPassword={proxy-secret}"));
	ASSERT(strstr(variable("grpc_proxy"), "@[::1]:"));
	plan_fixture_free(&fixture);
	make("os: linux\n" MACHINE("ann"), "files: {write: [.]}");
	ASSERT_STR_EQ("", variable("xcrun_db"));
	plan_fixture_free(&fixture);
	PASS();
}

/* Python's multiprocessing adds 32 bytes; a socket's path has 103 and a NUL. */
TEST a_socket_fits_into_the_temporary_directory(void)
{
	size_t notes;
	make("os: macos\n" MACHINE("twentyletterslongnam"), "files: {write: [.]}\nnetwork: {allow: ['a.example.org:443']}");
	ASSERT_EQ(0, fixture.status);
	ASSERT(strlen(fixture.plan.state.tmp) <= 60);
	notes = fixture.plan.notes.count;
	plan_fixture_free(&fixture);
	make("os: macos\n" MACHINE("ausernamethatismuchlongerthanthosethatareusual"), "files: {write: [.]}\nnetwork: {allow: "
										      "['a.example.org:443']}");
	ASSERT(strlen(fixture.plan.state.tmp) > 60);
	ASSERT_EQ(notes + 1, fixture.plan.notes.count);
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(programs_that_cannot_work_are_named);
	RUN_TEST(trustd_is_named_where_a_list_is_in_force);
	RUN_TEST(variables_lead_to_the_private_directories);
	RUN_TEST(a_socket_fits_into_the_temporary_directory);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The command's environment: variables that are passed, variables that a wildcard never passes, and
 * the entries of PATH. */
#include <greatest.h>

#include <string.h>

#include "unit/support/plan_fixture.h"

static struct plan_fixture fixture;

static void make(const char *machine, const char *policy)
{
	plan_fixture_make(&fixture, machine, (const struct plan_layer[]){ { LAYER_USER, policy }, { 0 } });
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define VALUE(name) plan_fixture_variable(&fixture, name)

TEST only_what_is_named_is_passed(void)
{
	make("environment: {LANG: C, LC_ALL: D, LC_TIME: E, OTHER: x, LANGUAGE: y}", "environment: {pass: [LANG, \"LC_*\"]}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("C", VALUE("LANG"));
	ASSERT_STR_EQ("D", VALUE("LC_ALL"));
	ASSERT_STR_EQ("E", VALUE("LC_TIME"));
	ASSERT_STR_EQ("(unset)", VALUE("OTHER"));
	ASSERT_STR_EQ("(unset)", VALUE("LANGUAGE"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST wildcards_do_not_pass_what_loads_code_or_holds_secrets(void)
{
	static const char *const loading[] = {
		"LD_PRELOAD",	 "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV",	    "NODE_OPTIONS",
		"PYTHONSTARTUP", "GIT_DIR",	    "GIT_SSH_COMMAND",	     "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS",
		"GLIBC_TUNABLES"
	};
	static const char *const secrets[] = { "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "DB_PASSWORD",
					       "SSH_AUTH_SOCK",		"DATABASE_URL", "API_KEY" };
	char machine[2048] = "environment: {PLAIN: yes";
	for (size_t i = 0; i < sizeof loading / sizeof loading[0]; i++)
		snprintf(machine + strlen(machine), sizeof machine - strlen(machine), ", %s: /x", loading[i]);
	for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
		snprintf(machine + strlen(machine), sizeof machine - strlen(machine), ", %s: /x", secrets[i]);
	strcat(machine, "}");

	make(machine, "environment: {pass: [\"*\", \"LD_*\", \"GIT_*\", \"AWS_*\"]}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("yes", VALUE("PLAIN"));
	for (size_t i = 0; i < sizeof loading / sizeof loading[0]; i++)
		ASSERT_STR_EQm(loading[i], "(unset)", VALUE(loading[i]));
	/* a rule with more than `*` passes the secrets that it matches */
	ASSERT_STR_EQ("/x", VALUE("AWS_SECRET_ACCESS_KEY"));
	for (size_t i = 1; i < sizeof secrets / sizeof secrets[0]; i++)
		ASSERT_STR_EQm(secrets[i], "(unset)", VALUE(secrets[i]));
	plan_fixture_free(&fixture);

	/* the control: a rule with the full name passes each of them */
	for (size_t i = 0; i < sizeof loading / sizeof loading[0]; i++) {
		char policy[100];
		snprintf(policy, sizeof policy, "environment: {pass: [%s]}", loading[i]);
		make(machine, policy);
		ASSERT_STR_EQm(loading[i], "/x", VALUE(loading[i]));
		plan_fixture_free(&fixture);
	}
	PASS();
}

TEST invalid_names_are_dropped(void)
{
	struct context context;
	char *const environment[] = { (char[]){ "BASH_FUNC_f%%=() { :; }" },
				      (char[]){ "A B=1" },
				      (char[]){ "=x" },
				      (char[]){ "novalue" },
				      (char[]){ "1A=x" },
				      (char[]){ "GOOD=1" },
				      (char[]){ "GOOD=2" },
				      NULL };
	make("", "environment: {pass: [\"*\"]}");
	context = fixture.context;
	context.environment = environment;
	ASSERT_EQ(0, plan_resolve(&fixture.arena, &fixture.policy, &context, &fixture.plan, &fixture.diagnostics));
	ASSERT_STR_EQ("1", VALUE("GOOD"));
	for (size_t i = 0; i < fixture.plan.environment.count; i++)
		ASSERT(strspn(fixture.plan.environment.items[i].name, LETTERS "_0123456789") ==
		       strlen(fixture.plan.environment.items[i].name));
	plan_fixture_free(&fixture);
	PASS();
}

TEST berm_sets_its_own_and_set_wins(void)
{
	make("environment: {HOME: /evil, TMPDIR: /evil, USER: mallory, XDG_CONFIG_HOME: /evil, XDG_RUNTIME_DIR: "
	     "/run/user/1000, BERM: no}",
	     "environment: {pass: [HOME, TMPDIR, USER, XDG_CONFIG_HOME, BERM], set: {CI: \"true\", EDITOR: vi}}");
	ASSERT_EQ(0, fixture.status);
	ASSERT_STR_EQ("/home/ann", VALUE("HOME"));
	ASSERT_STR_EQ("/tmp", VALUE("TMPDIR"));
	ASSERT_STR_EQ("ann", VALUE("USER"));
	ASSERT_STR_EQ("ann", VALUE("LOGNAME"));
	ASSERT_STR_EQ("/home/ann/.config", VALUE("XDG_CONFIG_HOME"));
	ASSERT_STR_EQ("/home/ann/.cache", VALUE("XDG_CACHE_HOME"));
	ASSERT_STR_EQ("(unset)", VALUE("XDG_RUNTIME_DIR"));
	ASSERT_STR_EQ("1", VALUE("BERM"));
	ASSERT_STR_EQ("true", VALUE("CI"));
	ASSERT_STR_EQ("vi", VALUE("EDITOR"));
	plan_fixture_free(&fixture);
	make("", "environment: {set: {TMPDIR: /home/ann/app/tmp}}");
	ASSERT_STR_EQ("/home/ann/app/tmp", VALUE("TMPDIR"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST without_a_network_installers_do_not_retry(void)
{
	make("environment: {PIP_RETRIES: 9}", "environment: {pass: [PIP_RETRIES], set: {CARGO_NET_RETRY: \"2\"}}");
	ASSERT_STR_EQ("0", VALUE("npm_config_fetch_retries"));
	ASSERT_STR_EQ("0", VALUE("PIP_RETRIES"));
	ASSERT_STR_EQ("2", VALUE("CARGO_NET_RETRY"));
	plan_fixture_free(&fixture);
	make("environment: {PIP_RETRIES: 9}", "environment: {pass: [PIP_RETRIES]}\nnetwork: all");
	ASSERT_STR_EQ("(unset)", VALUE("npm_config_fetch_retries"));
	ASSERT_STR_EQ("9", VALUE("PIP_RETRIES"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST names_are_sorted_and_unique(void)
{
	make("environment: {Z: 1, A: 2, M: 3, PATH: /usr/bin}", "environment: {pass: [\"*\"], set: {A: \"3\"}}");
	for (size_t i = 1; i < fixture.plan.environment.count; i++)
		ASSERT(strcmp(fixture.plan.environment.items[i - 1].name, fixture.plan.environment.items[i].name) < 0);
	ASSERT_STR_EQ("3", VALUE("A"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST path_has_only_granted_directories(void)
{
	make("environment: {PATH: "
	     "\"/home/ann/app/bin:bin::/opt/tool/bin:./x:/home/ann/bin:/usr/bin:/opt/tool/bin/:/opt/../home/ann/app:"
	     "/opt/linked:/opt/absent:/home/ann/app/out\"}\n"
	     "files: [/home/ann/app/bin/git, /opt/tool/bin/x, /home/ann/bin/git, /usr/bin/sh, \"/opt/linked -> "
	     "/home/ann/app/bin\","
	     " \"/home/ann/app/out -> /usr/bin\"]",
	     "files: {system: [/usr, /opt], write: [.]}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_STR_EQ("/home/ann/app/bin:/opt/tool/bin:/usr/bin:/opt/linked:/home/ann/app/out:/usr/local/bin:/bin",
		      VALUE("PATH"));
	plan_fixture_free(&fixture);
	/* without one, and set by the policy */
	make("", "files: {write: [.]}");
	ASSERT_STR_EQ("/usr/local/bin:/usr/bin:/bin", VALUE("PATH"));
	plan_fixture_free(&fixture);
	make("environment: {PATH: /usr/bin}", "environment: {set: {PATH: \"/home/ann/app/bin:/bin\"}}");
	ASSERT_STR_EQ("/home/ann/app/bin:/bin", VALUE("PATH"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST the_shell_is_visible_inside(void)
{
	static const char machine[] = "environment: {SHELL: /usr/bin/zsh}\nfiles: [/usr/bin/zsh]";
	make(machine, "files: {system: [/usr]}\nenvironment: {pass: [SHELL]}");
	ASSERT_STR_EQ("/usr/bin/zsh", VALUE("SHELL"));
	plan_fixture_free(&fixture);
	make(machine, "environment: {pass: [SHELL]}");
	ASSERT_STR_EQ("/bin/sh", VALUE("SHELL"));
	plan_fixture_free(&fixture);
	make(machine, "files: {system: [/usr]}");
	ASSERT_STR_EQ("/bin/sh", VALUE("SHELL"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST pwd_is_where_the_command_starts(void)
{
	make("cwd: /home/ann/app/src\nfiles: [/home/ann/app/src/]", "files: {write: [.]}");
	ASSERT_STR_EQ("/home/ann/app/src", VALUE("PWD"));
	plan_fixture_free(&fixture);
	make("cwd: /srv\nfiles: [/srv/]", "files: {write: [.]}");
	ASSERT_STR_EQ("/home/ann/app", VALUE("PWD"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST macos_points_to_the_private_directories(void)
{
	make("os: macos", "files: {write: [.]}");
	/* The git identity is in a directory that the profile makes readable. */
	ASSERT(path_is_within(VALUE("GIT_CONFIG_SYSTEM"), fixture.plan.state.documents));
	ASSERT(path_is_within(fixture.plan.state.documents, fixture.plan.state.directory));
	ASSERT_STR_EQ(fixture.plan.state.home, VALUE("HOME"));
	ASSERT_STR_EQ(fixture.plan.state.tmp, VALUE("TMPDIR"));
	plan_fixture_free(&fixture);
	make("os: macos", "files: {write: [.]}\nhome: host");
	ASSERT_STR_EQ("/home/ann", VALUE("HOME"));
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(only_what_is_named_is_passed);
	RUN_TEST(wildcards_do_not_pass_what_loads_code_or_holds_secrets);
	RUN_TEST(invalid_names_are_dropped);
	RUN_TEST(berm_sets_its_own_and_set_wins);
	RUN_TEST(without_a_network_installers_do_not_retry);
	RUN_TEST(names_are_sorted_and_unique);
	RUN_TEST(path_has_only_granted_directories);
	RUN_TEST(the_shell_is_visible_inside);
	RUN_TEST(pwd_is_where_the_command_starts);
	RUN_TEST(macos_points_to_the_private_directories);
	GREATEST_MAIN_END();
}

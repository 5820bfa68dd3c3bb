/* SPDX-License-Identifier: Apache-2.0 */
/* From options to a plan on the real file system: which policy files count, and which places are
 * refused. Each case is a child with a project, a configuration and a state directory of its
 * own. */
#include <greatest.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli/commands.h"
#include "common/cli/session.h"
#include "unit/support/scratch.h"

static struct session session;
static struct error err;

/* A new project as the working directory, and XDG directories beside it. */
static int enter_world(const char *name)
{
	char path[512];
	snprintf(path, sizeof path, "%s", scratch_path("%s", name));
	EXPECT(mkdir(path, 0700) == 0);
	EXPECT(mkdir(scratch_path("%s/project", name), 0700) == 0 && mkdir(scratch_path("%s/config", name), 0700) == 0);
	EXPECT(mkdir(scratch_path("%s/config/berm", name), 0700) == 0);
	setenv("XDG_CONFIG_HOME", scratch_path("%s/config", name), 1);
	setenv("XDG_STATE_HOME", scratch_path("%s/state", name), 1);
	EXPECT(chdir(scratch_path("%s/project", name)) == 0);
	return 0;
}

static void write_policy(const char *path, const char *text)
{
	scratch_write(path, text, strlen(text), 0600);
}

/* Opens with one option, or none. */
static int open_with(const char *option)
{
	static char word[512], name[] = "run";
	char *argv[] = { name, word, NULL };
	int rest;
	memset(&session, 0, sizeof session);
	memset(&err, 0, sizeof err);
	snprintf(word, sizeof word, "%s", option ? option : "");
	if (options_parse(&session.arena, COMMAND_RUN, option ? 2 : 1, argv, &session.options, &rest, &err) < 0)
		return -1;
	return session_open(&session, &err);
}

static bool is_denied(const char *name)
{
	const char *path = arena_printf(&session.arena, "%s/%s", session.context.project, name);
	return !plan_check_path(&session.plan, ACCESS_READ, path, false).is_allowed;
}

static int default_policy(void *data)
{
	(void)data;
	EXPECT(enter_world("default") == 0);
	EXPECT(open_with(NULL) == 0);
	EXPECT(strcmp(session.context.project, scratch_path("default/project")) == 0);
	EXPECT(is_denied(".env") && !is_denied("main.c"));
	EXPECT(session.policy.source_count == 2); /* floor and default */
	session_close(&session);
	/* What is missing is not made by looking. */
	EXPECT(access(scratch_path("default/state"), F_OK) < 0);
	return 0;
}

static int layers(void *data)
{
	(void)data;
	EXPECT(enter_world("layers") == 0);
	write_policy(scratch_path("layers/config/berm/berm.yml"), "version: 1\nfiles: {deny: [users]}\n");
	write_policy("berm.yml", "version: 1\nfiles: {deny: [projects], write: [../beside]}\n");
	EXPECT(mkdir("../beside", 0700) == 0);
	EXPECT(open_with("--deny=options") == 0);
	EXPECT(is_denied("users") && is_denied("projects") && is_denied("options") && !is_denied("others"));
	/* The project's file may narrow and not widen. */
	EXPECT(!plan_check_path(&session.plan, ACCESS_WRITE, scratch_path("layers/beside/x"), false).is_allowed);
	EXPECT(session.policy.ignored.count == 1);
	/* And is itself protected. */
	EXPECT(!plan_check_path(&session.plan, ACCESS_WRITE, scratch_path("layers/project/berm.yml"), false).is_allowed);
	session_close(&session);
	/* --policy stands in for the project's file, and is the user's own word. */
	write_policy("other.yml", "version: 1\nfiles: {write: [../beside]}\n");
	EXPECT(open_with("--policy=other.yml") == 0);
	EXPECT(is_denied("users") && !is_denied("projects"));
	EXPECT(plan_check_path(&session.plan, ACCESS_WRITE, scratch_path("layers/beside/x"), false).is_allowed);
	EXPECT(!plan_check_path(&session.plan, ACCESS_WRITE, scratch_path("layers/project/other.yml"), false).is_allowed);
	session_close(&session);
	return 0;
}

static int complaints(void *data)
{
	(void)data;
	EXPECT(enter_world("complaints") == 0);
	EXPECT(open_with("--policy=absent.yml") < 0);
	EXPECT(session.diagnostics.count + error_is_set(&err) > 0);
	session_close(&session);
	write_policy("berm.yml", "version: 1\nfiles: {denny: [x], reed: [y]}\n");
	EXPECT(open_with(NULL) < 0);
	EXPECT(session.diagnostics.count == 2);
	EXPECT(session.diagnostics.items[0].origin.line == 2);
	session_close(&session);
	/* A planted symlink is not the absence of a policy. */
	EXPECT(unlink("berm.yml") == 0 && symlink("nowhere", "berm.yml") == 0);
	EXPECT(open_with(NULL) < 0);
	session_close(&session);
	EXPECT(unlink("berm.yml") == 0);
	EXPECT(open_with(NULL) == 0);
	session_close(&session);
	EXPECT(open_with("--project=absent") < 0);
	session_close(&session);
	return 0;
}

/* An agent that sets XDG_CONFIG_HOME or XDG_STATE_HOME into the project does not get its own policy
 * or state. */
static int places(void *data)
{
	char option[512];
	(void)data;
	EXPECT(enter_world("places") == 0);
	EXPECT(mkdir("config", 0700) == 0 && mkdir("config/berm", 0700) == 0);
	write_policy("config/berm/berm.yml", "version: 1\nfiles: {deny: [users]}\n");
	setenv("XDG_CONFIG_HOME", scratch_path("places/project/config"), 1);
	EXPECT(open_with(NULL) < 0);
	EXPECT(session.diagnostics.count == 0 && error_is_set(&err)); /* the policy itself has no mistake */
	session_close(&session);
	setenv("XDG_CONFIG_HOME", scratch_path("places/config"), 1);
	EXPECT(open_with(NULL) == 0);
	session_close(&session);
	/* The same bytes outside the project are a user's policy, unless an option makes them
	 * writable. */
	write_policy(scratch_path("places/config/berm/berm.yml"), "version: 1\nfiles: {deny: [users]}\n");
	EXPECT(open_with(NULL) == 0 && is_denied("users"));
	session_close(&session);
	snprintf(option, sizeof option, "--allow-read=%s", scratch_path("places/config"));
	EXPECT(open_with(option) == 0 && is_denied("users"));
	session_close(&session);
	snprintf(option, sizeof option, "--allow-write=%s", scratch_path("places/config"));
	EXPECT(open_with(option) < 0);
	session_close(&session);
	setenv("XDG_STATE_HOME", scratch_path("places/project/state"), 1);
	EXPECT(open_with(NULL) < 0);
	session_close(&session);
	return 0;
}

TEST opens_with_the_built_in_policy(void)
{
	ASSERT_EQ(0, scratch_child(default_policy, NULL));
	PASS();
}

TEST unites_the_layers(void)
{
	ASSERT_EQ(0, scratch_child(layers, NULL));
	PASS();
}

TEST complains_instead_of_running_without(void)
{
	ASSERT_EQ(0, scratch_child(complaints, NULL));
	PASS();
}

TEST refuses_policies_and_state_inside_the_project(void)
{
	ASSERT_EQ(0, scratch_child(places, NULL));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	scratch_directory(); /* made here, so that it is removed here and not by a child */
	RUN_TEST(opens_with_the_built_in_policy);
	RUN_TEST(unites_the_layers);
	RUN_TEST(complains_instead_of_running_without);
	RUN_TEST(refuses_policies_and_state_inside_the_project);
	GREATEST_MAIN_END();
}

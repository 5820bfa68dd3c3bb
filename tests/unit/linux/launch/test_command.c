/* SPDX-License-Identifier: Apache-2.0 */
/* The paths at which a command is searched, and the errno of a failed start. */
#include <greatest.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux/launch/command.h"
#include "unit/support/scratch.h"

static struct arena arena;
static struct plan plan;
static struct plan_variable variables[2];

static void with_path(const char *path)
{
	plan = (struct plan){ .arena = &arena };
	variables[0] = (struct plan_variable){ .name = "EMPTY", .value = "" };
	variables[1] = (struct plan_variable){ .name = "PATH", .value = path };
	plan.environment.items = variables;
	plan.environment.count = path ? 2 : 1;
}

TEST searches_the_directories_of_path(void)
{
	static const struct {
		const char *path, *name, *paths[5];
	} rows[] = {
		{ "/a:/b", "x", { "/a/x", "/b/x" } },
		{ "/a", "x", { "/a/x" } },
		{ NULL, "x", { "/usr/bin/x", "/bin/x" } },
		/* An empty entry means the working directory, where a project could plant an
		 * `ls`. */
		{ ":/a::/b:", "x", { "/a/x", "/b/x" } },
		{ "", "x", { NULL } },
		{ "/a:/b", "./x", { "./x" } },
		{ "/a:/b", "/c/x", { "/c/x" } },
		{ "/a:/b", "c/x", { "c/x" } },
		{ "/a:/b", "", { "" } },
		{ "/a", "..", { "/a/.." } },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct command command;
		char *name = arena_copy(&arena, rows[i].name);
		char *const argv[] = { name, NULL };
		size_t at = 0;
		with_path(rows[i].path);
		command_prepare(&plan, argv, &command);
		for (; rows[i].paths[at]; at++)
			ASSERT_STR_EQ(rows[i].paths[at], command.paths[at]);
		ASSERT_EQ(NULL, command.paths[at]);
	}
	PASS();
}

TEST passes_arguments_and_environment_unchanged(void)
{
	char name[] = "x", empty[] = "", odd[] = "a\nb \xff\"'";
	char *const argv[] = { name, empty, odd, NULL };
	struct command command;
	with_path("/a b");
	command_prepare(&plan, argv, &command);
	ASSERT_EQ(argv, command.argv);
	ASSERT_STR_EQ("EMPTY=", command.environment[0]);
	ASSERT_STR_EQ("PATH=/a b", command.environment[1]);
	ASSERT_EQ(NULL, command.environment[2]);
	ASSERT_STR_EQ("/bin/sh", command.script[0]);
	ASSERT_EQ(empty, command.script[2]);
	ASSERT_EQ(odd, command.script[3]);
	ASSERT_EQ(NULL, command.script[4]);
	PASS();
}

struct attempt {
	const char *path, *name, *argument;
};

/* Executes the command, or returns the errno. */
static int execute(void *data)
{
	const struct attempt *attempt = data;
	struct command command;
	char *const argv[] = { arena_copy(&arena, attempt->name), arena_copy(&arena, attempt->argument), NULL };
	with_path(attempt->path);
	command_prepare(&plan, argv, &command);
	return command_execute(&command);
}

static int try(const char *path, const char *name, const char *argument)
{
	struct attempt attempt = { path, name, argument };
	return scratch_child(execute, &attempt);
}

static void make_programs(void)
{
	static const char script[] = "exit \"$1\"\n", broken[] = "#!/nowhere/at/all\n", shebang[] = "#!/bin/sh\nexit \"$1\"\n";
	mkdir(scratch_path("one"), 0700);
	mkdir(scratch_path("two"), 0700);
	scratch_write(scratch_path("one/plain"), script, sizeof script - 1, 0644);
	scratch_write(scratch_path("two/plain"), shebang, sizeof shebang - 1, 0755);
	scratch_write(scratch_path("one/script"), script, sizeof script - 1, 0755);
	scratch_write(scratch_path("one/broken"), broken, sizeof broken - 1, 0755);
	mkdir(scratch_path("one/directory"), 0700);
}

TEST returns_the_errno_of_a_failed_start(void)
{
	const char *one = arena_copy(&arena, scratch_path("one"));
	const char *both = arena_printf(&arena, "%s:%s", one, scratch_path("two"));
	const char *missing_first = arena_printf(&arena, "/nowhere:%s", scratch_path("two"));
	make_programs();
	ASSERT_EQ(ENOENT, try(one, "absent", "0"));
	ASSERT_EQ(ENOENT, try("", "absent", "0"));
	ASSERT_EQ(ENOENT, try(one, "", "0"));
	ASSERT_EQ(EACCES, try(one, "plain", "0"));
	ASSERT_EQ(EACCES, try(one, "directory", "0"));
	ASSERT_EQ(EACCES, try(one, one, "0"));
	ASSERT_EQ(ENOENT, try(one, scratch_path("one/broken"), "0"));
	/* EACCES is reported only if no later path gives a better error. */
	ASSERT_EQ(7, try(both, "plain", "7"));
	ASSERT_EQ(7, try(missing_first, "plain", "7"));
	PASS();
}

TEST runs_a_script_without_interpreter_line_in_the_shell(void)
{
	ASSERT_EQ(9, try(scratch_path("one"), "script", "9"));
	ASSERT_EQ(9, try("", scratch_path("one/script"), "9"));
	PASS();
}

TEST finds_the_command_on_the_host(void)
{
	char *caller[] = { arena_copy(&arena, "X=1"), arena_printf(&arena, "PATH=/nowhere:%s", scratch_path("two")), NULL };
	with_path("/usr/bin");
	plan.context.environment = caller;
	ASSERT_STR_EQ(scratch_path("two/plain"), command_on_host(&plan, "plain"));
	ASSERT_EQ(NULL, command_on_host(&plan, "absent"));
	ASSERT_EQ(NULL, command_on_host(&plan, "script"));
	ASSERT_STR_EQ(scratch_path("one/script"), command_on_host(&plan, scratch_path("one/script")));
	plan.context.environment = NULL;
	ASSERT_EQ(NULL, command_on_host(&plan, "plain"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(searches_the_directories_of_path);
	RUN_TEST(passes_arguments_and_environment_unchanged);
	RUN_TEST(returns_the_errno_of_a_failed_start);
	RUN_TEST(runs_a_script_without_interpreter_line_in_the_shell);
	RUN_TEST(finds_the_command_on_the_host);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

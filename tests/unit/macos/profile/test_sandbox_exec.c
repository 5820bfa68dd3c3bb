/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a command on macOS: its arguments are passed unchanged, and the script that writes
 * the proof works, here with a shell instead of sandbox-exec. */
#include <greatest.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "macos/profile/sandbox_exec.h"
#include "unit/support/plan_fixture.h"

TEST the_proof_takes_a_free_number(void)
{
	const int some[] = { 3, 4, 6 }, all[] = { 3, 4, 5, 6, 7, 8, 9 };
	ASSERT_EQ(3, sandbox_exec_proof_fd(NULL, 0));
	ASSERT_EQ(5, sandbox_exec_proof_fd(some, 3));
	ASSERT_EQ(-1, sandbox_exec_proof_fd(all, 7));
	PASS();
}

TEST paths_and_arguments_are_words_of_their_own(void)
{
	struct arena arena = { 0 };
	struct profile_parameter parameter = { "P1", "/Users/a\"b)(allow default)/x\\y" };
	struct profile profile = { .parameters = { &parameter, 1 } };
	char command[] = "printf", first[] = "%s|", second[] = "$(id)\n';", *argv[] = { command, first, second, NULL };
	char **words = sandbox_exec_arguments(&arena, &profile, "/state/berm-1.sb", 3, argv);
	static const char *const expected[] = {
		"/usr/bin/sandbox-exec",
		"-f",
		"/state/berm-1.sb",
		"-DP1=/Users/a\"b)(allow default)/x\\y",
		"--",
		"/bin/sh",
		"-c",
	};
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
		ASSERT_STR_EQ(expected[i], words[i]);
	ASSERT_STR_EQ("sh", words[8]);
	ASSERT_STR_EQ("printf", words[9]);
	ASSERT_STR_EQ("$(id)\n';", words[11]);
	ASSERT_EQ(NULL, words[12]);
	arena_free(&arena);
	PASS();
}

/* Runs the arguments from the shell on. Returns its output in `output` and the proof in `proof`. */
static int run_from_shell(char **words, int output, int proof)
{
	int status = -1;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(output, 1);
		dup2(proof, 3);
		execv(words[0], words);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST the_shell_proves_itself_and_becomes_the_command(void)
{
	struct arena arena = { 0 };
	struct profile profile = { 0 };
	char shell[] = "/bin/sh", option[] = "-c", script[] = "printf '<%s>' \"$@\"; (: >&3) 2>/dev/null && exit 9; exit 7",
	     name[] = "x", empty[] = "", odd[] = "a b\n$c", *argv[] = { shell, option, script, name, empty, odd, NULL };
	char **words = sandbox_exec_arguments(&arena, &profile, "/p", 3, argv);
	int output[2], proof[2];
	char text[64] = "", byte[4] = "";
	ASSERT_EQ(0, pipe(output));
	ASSERT_EQ(0, pipe(proof));
	/* 7, not 9: the command does not inherit the fd of the proof. */
	ASSERT_EQ(7, run_from_shell(words + 4, output[1], proof[1]));
	ASSERT_EQ(10, read(output[0], text, sizeof text - 1));
	ASSERT_STR_EQ("<><a b\n$c>", text);
	close(proof[1]);
	ASSERT_EQ(1, read(proof[0], byte, sizeof byte));
	ASSERT_EQ('.', byte[0]);
	close(proof[0]);
	close(output[0]);
	close(output[1]);
	arena_free(&arena);
	PASS();
}

TEST a_missing_command_is_127_after_the_proof(void)
{
	struct arena arena = { 0 };
	struct profile profile = { 0 };
	char missing[] = "/nonexistent/program", *argv[] = { missing, NULL };
	char **words = sandbox_exec_arguments(&arena, &profile, "/p", 3, argv);
	int null = open("/dev/null", O_WRONLY), proof[2];
	char byte[4];
	ASSERT_EQ(0, pipe(proof));
	fflush(NULL);
	dup2(null, 2);
	ASSERT_EQ(127, run_from_shell(words + 4, null, proof[1]));
	ASSERT_EQ(1, read(proof[0], byte, 1));
	close(null);
	arena_free(&arena);
	PASS();
}

TEST the_environment_leads_to_the_private_home(void)
{
	struct plan_fixture fixture;
	static const struct plan_layer layers[] = {
		{ LAYER_USER, "files: {write: [.]}\nenvironment: {set: {DYLD_INSERT_LIBRARIES: /x, KEPT: \"1\"}}\n" },
		{ LAYER_USER, NULL },
	};
	const struct sandbox_exec_run places = { .home = "/state/runs/1/home" };
	char **environment;
	bool has_home = false, has_kept = false;
	plan_fixture_make_for(&fixture,
			      "os: macos\nuser: ann\nuid: 501\nhome: /Users/ann\nproject: /Users/ann/app\nfiles:\n"
			      "  - /Users/ann/app/\n",
			      layers);
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	environment = sandbox_exec_environment(&fixture.arena, &fixture.plan, &places);
	for (; *environment; environment++) {
		ASSERT(strncmp(*environment, "DYLD_", 5) != 0);
		has_home = has_home || strcmp(*environment, "HOME=/state/runs/1/home") == 0;
		has_kept = has_kept || strcmp(*environment, "KEPT=1") == 0;
		ASSERT_EQm(*environment, NULL, strstr(*environment, fixture.plan.state.home));
	}
	ASSERT(has_home && has_kept);
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_proof_takes_a_free_number);
	RUN_TEST(paths_and_arguments_are_words_of_their_own);
	RUN_TEST(the_shell_proves_itself_and_becomes_the_command);
	RUN_TEST(the_environment_leads_to_the_private_home);
	RUN_TEST(a_missing_command_is_127_after_the_proof); /* last: it redirects stderr */
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Recognition and rewriting of Claude Code's shell strings. */
#include <string.h>

#include "greatest.h"

#include "common/shell/claude_prefix.h"
#include "unit/support/plan_fixture.h"

#define SNAPSHOT "/home/ann/.claude/shell-snapshots/snapshot-bash-1755042239230-87cw6n.sh"

struct row {
	const char *string;
	const char *file; /* NULL: another kind of string */
	const char *snapshot;
};

#define NAMED "/var/tmp/ann"

static const struct row rows[] = {
	{ "source " SNAPSHOT " && eval date \\< /dev/null && pwd -P >| /tmp/claude-13a4-cwd", "/tmp/claude-13a4-cwd",
	  SNAPSHOT },
	{ "eval date && pwd -P >| /tmp/claude-13a4-cwd", "/tmp/claude-13a4-cwd", NULL },
	{ "eval date && pwd -P >| '/tmp/claude-1-cwd'", "/tmp/claude-1-cwd", NULL },
	{ "eval date && pwd -P >| " NAMED "/claude-1-cwd", NAMED "/claude-1-cwd", NULL },
	/* Newer versions tolerate a missing snapshot, and add parts of their own before the
	 * command. */
	{ "source " SNAPSHOT " 2>/dev/null || true && eval date && pwd -P >| /tmp/claude-1-cwd", "/tmp/claude-1-cwd",
	  SNAPSHOT },
	{ "source '/home/ann b/.claude/shell-snapshots/snapshot-1.sh' && eval x && pwd -P >| /tmp/claude-1-cwd",
	  "/tmp/claude-1-cwd", "/home/ann b/.claude/shell-snapshots/snapshot-1.sh" },
	{ "source " SNAPSHOT
	  " && shopt -u extglob 2>/dev/null || true && eval 'a; b' \\< /dev/null && pwd -P >| /tmp/claude-1-cwd",
	  "/tmp/claude-1-cwd", SNAPSHOT },
	{ "source " SNAPSHOT " && eval \"echo \\\"it's\\\"\" \\< /dev/null '|' 'cat' && pwd -P >| /tmp/claude-1-cwd",
	  "/tmp/claude-1-cwd", SNAPSHOT },
	{ "eval a\\ \\&\\&\\ b $'c\\'d' && pwd -P >| /tmp/claude-1-cwd", "/tmp/claude-1-cwd", NULL },
	/* Given to its shell, without a snapshot. */
	{ "\\builtin shopt -u extglob 2>/dev/null || true && { \\builtin unalias -- 'w'; } >/dev/null 2>&1 || true && eval 'a; "
	  "b' < "
	  "/dev/null && pwd -P >| /tmp/claude-1-cwd",
	  "/tmp/claude-1-cwd", NULL },
	{ "eval date < /dev/null && pwd -P >| /tmp/claude-1-cwd", "/tmp/claude-1-cwd", NULL },
	{ "eval date < /dev/zero && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "eval date < /dev/null; id && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	/* The last question is the host's. */
	{ "eval 'x && pwd -P >| /tmp/claude-1-cwd' && pwd -P >| /tmp/claude-2-cwd", "/tmp/claude-2-cwd", NULL },
	/* Another first part, another command than eval, or words that the shell would expand. */
	{ "source /etc/passwd && eval x && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "source " SNAPSHOT "; eval x && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "source " SNAPSHOT "x y && eval x && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "source " SNAPSHOT " || true && eval x && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "id && eval x && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "make && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "eval x; id && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "eval $(id) && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "eval `id` && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "eval x\nid && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "eval 'x && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "eval 'x && pwd -P >| /tmp/claude-1-cwd'", NULL, NULL },
	{ "eval \"x && pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude-1-cwd && id", NULL, NULL },
	{ "eval x \\", NULL, NULL },
	{ "source " SNAPSHOT " && eval date", NULL, NULL },
	{ "pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P > /tmp/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude-1-cwd ", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude-1-cwd; id", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude-1-cwd\nid", NULL, NULL },
	{ "eval x && pwd -P >| '/tmp/claude-1-cwd' id", NULL, NULL },
	{ "eval x && pwd -P >| '/tmp/claude-1-cwd", NULL, NULL },
	/* Other directories, and paths with other characters. */
	{ "eval x && pwd -P >| /home/ann/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/sub/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| " NAMED "/sub/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /var/tmp/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| '/tmp/a b/claude-1-cwd'", NULL, NULL },
	{ "eval x && pwd -P >| '/tmp/$(id)/claude-1-cwd'", NULL, NULL },
	{ "eval x && pwd -P >| $HOME/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| tmp/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/../home/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /tmp//claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude--cwd", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude-1.2-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude-1-cwd.sh", NULL, NULL },
	{ "eval x && pwd -P >| /home/ann/.profile", NULL, NULL },
	{ "eval x && pwd -P >| ", NULL, NULL },
	{ "", NULL, NULL },
};

TEST strings_are_told_apart(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct arena arena = { 0 };
		struct claude_prefix prefix;
		claude_prefix_parse(&arena, rows[i].string, NAMED "/", &prefix);
		ASSERTm(rows[i].string, (prefix.file != NULL) == (rows[i].file != NULL));
		ASSERTm(rows[i].string, (prefix.snapshot != NULL) == (rows[i].snapshot != NULL));
		if (rows[i].file)
			ASSERT_STR_EQ(rows[i].file, prefix.file);
		if (rows[i].snapshot)
			ASSERT_STR_EQ(rows[i].snapshot, prefix.snapshot);
		arena_free(&arena);
	}
	PASS();
}

/* This plan grants nothing, so the snapshot is invisible. */
TEST only_the_two_words_change(void)
{
	struct arena arena = { 0 };
	struct plan plan = { .scan = &plan_not_scanned,
			     .arena = &arena,
			     .context.fs = filesystem_host(),
			     .context.home = "/home/ann",
			     .context.project = "/p" };
	struct claude_prefix prefix;
	claude_prefix_parse(&arena, rows[0].string, NULL, &prefix);
	ASSERT_STR_EQ(": && eval date \\< /dev/null && pwd -P >| /dev/fd/90",
		      claude_prefix_rewrite(&plan, rows[0].string, &prefix, 90));
	claude_prefix_parse(&arena, rows[1].string, NULL, &prefix);
	ASSERT_STR_EQ("eval date && pwd -P >| /dev/fd/91", claude_prefix_rewrite(&plan, rows[1].string, &prefix, 91));
	claude_prefix_parse(&arena, rows[4].string, NULL, &prefix);
	ASSERT_STR_EQ(": && eval date && pwd -P >| /dev/fd/92", claude_prefix_rewrite(&plan, rows[4].string, &prefix, 92));
	arena_free(&arena);
	PASS();
}

/* The command wrote these bytes. The host changes to the directory, so it must exist, in the
 * project, under this very name. */
TEST only_a_real_directory_of_the_project_is_reported(void)
{
	static const struct {
		const char *bytes;
		bool is_accepted;
	} reports[] = {
		{ "/home/ann/app\n", true },
		{ "/home/ann/app/src/deep\n", true },
		/* Symlinks: the last component, one in the middle, out of the project, to another
		 * directory in it. */
		{ "/home/ann/app/out\n", false },
		{ "/home/ann/app/in\n", false },
		{ "/home/ann/app/in/deep\n", false },
		{ "/home/ann/app/out/.ssh\n", false },
		{ "/home/ann/app/broken\n", false },
		{ "/home/ann/app/file\n", false },
		{ "/home/ann/app/absent\n", false },
		{ "/home/ann\n", false },
		{ "/home/ann/application\n", false },
		{ "/home/ann/app/../app\n", false },
		{ "/home/ann/app/\n", false },
		{ "/home/ann/app", false },
		{ "/home/ann/app\n/home/ann/app\n", false },
		{ "/home/ann/app\t\n", false },
		{ "src\n", false },
		{ "\n", false },
		{ "", false },
	};
	struct plan_fixture fixture;
	plan_fixture_make(&fixture,
			  "files:\n"
			  "  - /home/ann/app/src/deep/\n"
			  "  - /home/ann/app/file\n"
			  "  - /home/ann/application/\n"
			  "  - /home/ann/.ssh/\n"
			  "  - \"/home/ann/app/out -> /home/ann\"\n"
			  "  - \"/home/ann/app/in -> src\"\n"
			  "  - \"/home/ann/app/broken -> absent\"\n",
			  (const struct plan_layer[]){ { LAYER_BASE, "files: {write: [.]}" }, { 0 } });
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
		const char *bytes = reports[i].bytes;
		const char *directory = claude_prefix_judge(&fixture.plan, bytes, strlen(bytes));
		ASSERT_EQm(bytes, reports[i].is_accepted, directory != NULL);
		if (directory)
			ASSERT(strncmp(directory, bytes, strlen(bytes) - 1) == 0 && strlen(directory) == strlen(bytes) - 1);
	}
	ASSERT_FALSE(claude_prefix_judge(&fixture.plan, "/home/ann/app\0\n", sizeof "/home/ann/app\0\n" - 1));
	plan_fixture_free(&fixture);
	PASS();
}

/* Without a named directory, or with one that is not a clean path, only /tmp is left. */
TEST only_the_named_directory_counts(void)
{
	static const struct {
		const char *named, *file;
		bool is_taken;
	} names[] = {
		{ NULL, "/tmp/claude-1-cwd", true },
		{ NULL, NAMED "/claude-1-cwd", false },
		{ "", NAMED "/claude-1-cwd", false },
		{ "/", "/claude-1-cwd", false },
		{ NAMED, NAMED "/claude-1-cwd", true },
		{ NAMED "//", NAMED "/claude-1-cwd", true },
		{ NAMED, "/tmp/claude-1-cwd", true },
		{ "/var/../home", "/var/../home/claude-1-cwd", false },
		{ "relative", "relative/claude-1-cwd", false },
		{ "/a b", "'/a b/claude-1-cwd'", false },
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct arena arena = { 0 };
		struct claude_prefix prefix;
		claude_prefix_parse(&arena, arena_printf(&arena, "eval x && pwd -P >| %s", names[i].file), names[i].named,
				    &prefix);
		ASSERT_EQm(names[i].file, names[i].is_taken, prefix.file != NULL);
		arena_free(&arena);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(strings_are_told_apart);
	RUN_TEST(only_the_two_words_change);
	RUN_TEST(only_a_real_directory_of_the_project_is_reported);
	RUN_TEST(only_the_named_directory_counts);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which shell strings are taken for Claude Code's, and what becomes of them. */
#include <string.h>

#include "greatest.h"

#include "common/shell/claude_prefix.h"

#define SNAPSHOT "/home/ann/.claude/shell-snapshots/snapshot-bash-1755042239230-87cw6n.sh"

struct row {
	const char *string;
	const char *file; /* NULL: another kind of string */
	const char *snapshot;
};

static const struct row rows[] = {
	{ "source " SNAPSHOT " && eval date \\< /dev/null && pwd -P >| /tmp/claude-13a4-cwd", "/tmp/claude-13a4-cwd",
	  SNAPSHOT },
	{ "eval date && pwd -P >| /tmp/claude-13a4-cwd", "/tmp/claude-13a4-cwd", NULL },
	{ "eval date && pwd -P >| '/tmp/a b/claude-1-cwd'", "/tmp/a b/claude-1-cwd", NULL },
	/* The host's question is the last one. */
	{ "eval 'x && pwd -P >| /tmp/claude-1-cwd' && pwd -P >| /tmp/claude-2-cwd", "/tmp/claude-2-cwd", NULL },
	{ "source /etc/passwd && eval x && pwd -P >| /tmp/claude-1-cwd", "/tmp/claude-1-cwd", NULL },
	{ "source " SNAPSHOT "; eval x && pwd -P >| /tmp/claude-1-cwd", "/tmp/claude-1-cwd", NULL },
	{ "source " SNAPSHOT " && eval date", NULL, NULL },
	{ "pwd -P >| /tmp/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P > /tmp/claude-1-cwd", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude-1-cwd ", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude-1-cwd; id", NULL, NULL },
	{ "eval x && pwd -P >| /tmp/claude-1-cwd\nid", NULL, NULL },
	{ "eval x && pwd -P >| '/tmp/claude-1-cwd' id", NULL, NULL },
	{ "eval x && pwd -P >| '/tmp/claude-1-cwd", NULL, NULL },
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
		struct prefix prefix;
		prefix_parse(&arena, rows[i].string, &prefix);
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

/* Nothing is granted in this plan, so that the snapshot cannot be seen. */
TEST only_the_two_words_change(void)
{
	struct arena arena = { 0 };
	struct plan plan = {
		.arena = &arena, .context.fs = filesystem_host(), .context.home = "/home/ann", .context.project = "/p"
	};
	struct prefix prefix;
	prefix_parse(&arena, rows[0].string, &prefix);
	ASSERT_STR_EQ(": && eval date \\< /dev/null && pwd -P >| /dev/fd/90",
		      prefix_rewrite(&plan, rows[0].string, &prefix, 90));
	prefix_parse(&arena, rows[1].string, &prefix);
	ASSERT_STR_EQ("eval date && pwd -P >| /dev/fd/91", prefix_rewrite(&plan, rows[1].string, &prefix, 91));
	arena_free(&arena);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(strings_are_told_apart);
	RUN_TEST(only_the_two_words_change);
	GREATEST_MAIN_END();
}

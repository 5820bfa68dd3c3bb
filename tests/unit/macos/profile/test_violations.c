/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of `log`: parsed if they have the run's tag, bounded, and escaped for display. The
 * lines follow the documented format; none was recorded on a Mac. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "macos/profile/violations.h"

struct sample {
	struct arena arena;
	struct violations violations;
};

static void feed(struct sample *sample, const char *text)
{
	sample->violations.arena = &sample->arena;
	sample->violations.tag = "berm-0a1b";
	violations_feed(&sample->violations, text, strlen(text));
}

#define LINE(message) "{\"timestamp\":\"2026-01-01\",\"eventMessage\":\"" message "\",\"processID\":0}\n"

TEST a_report_is_taken_apart(void)
{
	struct sample sample = { 0 };
	feed(&sample, LINE("Sandbox: node(4711) deny(1) file-read-data \\/Users\\/ann\\/my app\\/.env berm-0a1b"));
	ASSERT_EQ(1u, sample.violations.count);
	ASSERT_STR_EQ("file-read-data", sample.violations.items[0].operation);
	ASSERT_STR_EQ("/Users/ann/my app/.env", sample.violations.items[0].target);
	ASSERT_STR_EQ("node", sample.violations.items[0].process);
	arena_free(&sample.arena);
	PASS();
}

/* As public projects quote it from `log`: the tag on a line of its own, sometimes with more
 * lines. */
TEST the_tag_is_on_a_line_of_its_own(void)
{
	struct sample sample = { 0 };
	feed(&sample, LINE("Sandbox: node(4711) deny(1) file-write-create /Users/ann/x y\\nberm-0a1b"));
	feed(&sample, LINE("Sandbox: cat(7) deny(1) file-read-data /a\\nberm-0a1b\\nPath: /a\\nResponsible: Terminal"));
	feed(&sample, LINE("Sandbox: cat(7) deny(1) sysctl-read kern.procargs2\\n\\nberm-0a1b\\n"));
	ASSERT_EQ(3u, sample.violations.count);
	ASSERT_EQ(3u, sample.violations.total);
	ASSERT_STR_EQ("file-write-create", sample.violations.items[0].operation);
	ASSERT_STR_EQ("/Users/ann/x y", sample.violations.items[0].target);
	ASSERT_STR_EQ("/a", sample.violations.items[1].target);
	ASSERT_STR_EQ("kern.procargs2", sample.violations.items[2].target);
	arena_free(&sample.arena);
	PASS();
}

TEST folded_repetitions_are_counted(void)
{
	struct sample sample = { 0 };
	feed(&sample, LINE("Sandbox: cat(7) deny(1) file-read-data /a\\nberm-0a1b"));
	feed(&sample, LINE("3 duplicate reports for Sandbox: cat(7) deny(1) file-read-data /a\\nberm-0a1b"));
	feed(&sample, LINE("Sandbox: 1 duplicate report for cat deny(1) file-read-data /a\\nberm-0a1b"));
	ASSERT_EQ(1u, sample.violations.count);
	ASSERT_EQ(5u, sample.violations.total);
	ASSERT_EQ(5u, sample.violations.items[0].count);
	ASSERT_STR_EQ("cat", sample.violations.items[0].process);
	/* A name that looks like a repetition is a name. */
	feed(&sample, LINE("Sandbox: cat(7) deny(1) file-read-data /9 duplicate report for x\\nberm-0a1b"));
	ASSERT_EQ(6u, sample.violations.total);
	ASSERT_STR_EQ("/9 duplicate report for x", sample.violations.items[1].target);
	arena_free(&sample.arena);
	PASS();
}

TEST lines_of_other_runs_are_not_ours(void)
{
	struct sample sample = { 0 };
	feed(&sample, LINE("Sandbox: node(1) deny(1) file-read-data /x berm-ffff"));
	feed(&sample, LINE("Sandbox: node(1) deny(1) file-read-data /x"));
	/* A path that ends like a tag is no tag: the tag is a separate word. */
	feed(&sample, LINE("Sandbox: node(1) deny(1) file-read-data /xberm-0a1b"));
	feed(&sample, "Filtering the log data using \"eventMessage ENDSWITH ...\"\n");
	ASSERT_EQ(0u, sample.violations.total);
	arena_free(&sample.arena);
	PASS();
}

TEST repetitions_are_counted_and_kinds_are_bounded(void)
{
	struct sample sample = { 0 };
	char line[256];
	for (int i = 0; i < 3 * VIOLATION_RECORDS_MAX; i++) {
		snprintf(line, sizeof line, LINE("Sandbox: sh(1) deny(1) file-read-data /f%d berm-0a1b"), i);
		feed(&sample, line);
	}
	feed(&sample, LINE("Sandbox: sh(1) deny(1) file-read-data /f0 berm-0a1b"));
	ASSERT_EQ((size_t)VIOLATION_RECORDS_MAX, sample.violations.count);
	ASSERT_EQ((size_t)3 * VIOLATION_RECORDS_MAX + 1, sample.violations.total);
	ASSERT_EQ(2u, sample.violations.items[0].count);
	arena_free(&sample.arena);
	PASS();
}

/* Any number of violations uses a bounded amount of memory. */
TEST memory_is_taken_for_what_is_kept_alone(void)
{
	struct sample sample = { 0 };
	const struct arena_block *block;
	feed(&sample, LINE("Sandbox: sh(1) deny(1) file-read-data /\\u0066\\t0 berm-0a1b"));
	ASSERT_STR_EQ("/f\t0", sample.violations.items[0].target);
	block = sample.arena.blocks;
	for (int i = 0; i < 20000; i++)
		feed(&sample, LINE("Sandbox: sh(1) deny(1) file-read-data /\\u0066\\t0 berm-0a1b"));
	ASSERT_EQ(20001u, sample.violations.items[0].count);
	ASSERT_EQ(block, sample.arena.blocks);
	arena_free(&sample.arena);
	PASS();
}

TEST pieces_make_a_line_and_long_lines_are_passed_over(void)
{
	struct sample sample = { 0 };
	char filler[1000];
	memset(filler, 'a', sizeof filler - 1);
	filler[sizeof filler - 1] = '\0';
	for (int i = 0; i < 20; i++)
		feed(&sample, filler);
	feed(&sample, "\n{\"eventMessage\" : \"Sandbox: sh(2) deny(1) ");
	feed(&sample, "network-outbound berm-0a1b\"}");
	ASSERT_EQ(0u, sample.violations.total);
	feed(&sample, "\n");
	ASSERT_EQ(1u, sample.violations.total);
	ASSERT_STR_EQ("network-outbound", sample.violations.items[0].operation);
	ASSERT_STR_EQ("", sample.violations.items[0].target);
	arena_free(&sample.arena);
	PASS();
}

TEST what_is_shown_cannot_act_on_a_terminal(void)
{
	struct sample sample = { 0 };
	struct text summary = { 0 }, details = { 0 }, json = { 0 };
	feed(&sample, LINE("Sandbox: e\\u001b[2Jvil(9) deny(1) file-write-data /tmp/\\u001b]0;x\\u0007\\n berm-0a1b"));
	ASSERT_EQ(1u, sample.violations.total);
	violations_summary(&sample.violations, &summary);
	violations_details(&sample.violations, &details);
	violations_json(&sample.violations, &json);
	ASSERT_EQ(NULL, strchr(summary.data, '\033'));
	ASSERT_EQ(NULL, strchr(summary.data, '\n'));
	ASSERT_EQ(NULL, strchr(details.data, '\033'));
	ASSERT_EQ(NULL, strchr(json.data, '\033'));
	ASSERT(strstr(summary.data, "refused 1 operation: file-write-data"));
	text_free(&summary);
	text_free(&details);
	text_free(&json);
	arena_free(&sample.arena);
	PASS();
}

TEST broken_lines_do_nothing(void)
{
	static const char *const lines[] = {
		"{\"eventMessage\":\"Sandbox: sh(1) deny(1) x \\u12 berm-0a1b\"}\n",
		"{\"eventMessage\":\"Sandbox: sh(1) deny(1) x berm-0a1b\n",
		"{\"eventMessage\"\n",
		"{\"eventMessage\":\"deny(1) Sandbox: ) berm-0a1b\"}\n",
		"{\"eventMessage\":\" berm-0a1b\"}\n",
		"{\"eventMessage\":\"berm-0a1b\"}\n",
		"{\"eventMessage\":\"Sandbox: sh(1) deny( berm-0a1b\"}\n",
		"\n",
	};
	struct sample sample = { 0 };
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		feed(&sample, lines[i]);
	ASSERT_EQ(0u, sample.violations.total);
	arena_free(&sample.arena);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_tag_is_on_a_line_of_its_own);
	RUN_TEST(folded_repetitions_are_counted);
	RUN_TEST(a_report_is_taken_apart);
	RUN_TEST(lines_of_other_runs_are_not_ours);
	RUN_TEST(repetitions_are_counted_and_kinds_are_bounded);
	RUN_TEST(memory_is_taken_for_what_is_kept_alone);
	RUN_TEST(pieces_make_a_line_and_long_lines_are_passed_over);
	RUN_TEST(what_is_shown_cannot_act_on_a_terminal);
	RUN_TEST(broken_lines_do_nothing);
	GREATEST_MAIN_END();
}

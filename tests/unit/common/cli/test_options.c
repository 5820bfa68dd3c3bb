/* SPDX-License-Identifier: Apache-2.0 */
/* The command line as tables: accepted options, where the command begins, and refusals
 * with their messages. */
#include <greatest.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cli/commands.h"
#include "common/base/text.h"

enum { WORDS = 12 };

static struct arena arena;
static struct options options;
static struct error err;
static int rest;

/* Parses the words after a made-up program name; they end with NULL. */
static int parse(uint64_t command, const char *const *words)
{
	static char copies[WORDS][256];
	char *argv[WORDS + 1] = { copies[0] };
	int argc = 1;
	strcpy(copies[0], "run");
	while (argc < WORDS && words[argc - 1]) {
		snprintf(copies[argc], sizeof copies[0], "%s", words[argc - 1]);
		argv[argc] = copies[argc];
		argc++;
	}
	memset(&options, 0, sizeof options);
	memset(&err, 0, sizeof err);
	rest = -1;
	return options_parse(&arena, command, argc, argv, &options, &rest, &err);
}

#define PARSE(command, ...) parse(command, (const char *const[]){ __VA_ARGS__, NULL })

/* The index of the command, counted in words after `run`; the total if there is none. */
TEST finds_where_the_command_begins(void)
{
	static const struct {
		const char *words[WORDS];
		int at;
	} rows[] = {
		{ { "ls" }, 1 },
		{ { "ls", "--json", "-v" }, 1 },
		{ { "--", "ls" }, 2 },
		{ { "--", "--json" }, 2 },
		{ { "--", "--", "x" }, 2 },
		{ { "-v", "ls", "-v" }, 2 },
		{ { "--verbose", "--", "-c" }, 3 },
		{ { "-" }, 1 },
		{ { "", "x" }, 1 },
		{ { "--project=/x", "ls" }, 2 },
		{ { "--project", "/x", "ls" }, 3 },
		{ { "--project", "-x", "ls" }, 3 }, /* a value may be any word but -- */
		{ { "--env", "A", "--env=B=--", "ls", "--env" }, 4 },
		{ { "--allow-net", "ls" }, 2 }, /* an optional value needs = */
		{ { "--strict", "--dry-run" }, 3 },
		{ { NULL }, 1 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (parse(COMMAND_RUN, rows[i].words) < 0)
			fprintf(stderr, "row %zu: %s\n", i, err.message);
		ASSERT_EQ_FMT(rows[i].at, rest, "%d");
	}
	PASS();
}

TEST refuses_with_the_nearest_name(void)
{
	static const struct {
		uint64_t command;
		const char *words[WORDS];
		const char *message, *hint;
	} rows[] = {
		{ COMMAND_RUN, { "--projet=/x" }, "--projet", "`--project`" },
		{ COMMAND_RUN, { "--allow_read=x" }, "--allow_read", "`--allow-read`" },
		{ COMMAND_RUN, { "--proj=/x" }, "unknown option", "" }, /* prefixes do not match */
		{ COMMAND_RUN, { "--zzzzzzzz" }, "--zzzzzzzz", "--help" },
		{ COMMAND_RUN, { "-x", "ls" }, "-x", "put -- before" },
		{ COMMAND_RUN, { "-vv" }, "-vv", "" },
		{ COMMAND_RUN, { "--json" }, "--json", "" }, /* plan and check only */
		{ COMMAND_PLAN, { "--pass-fd=3" }, "--pass-fd", "" },
		{ COMMAND_PLAN, { "--dry-run" }, "--dry-run", "" },
		{ COMMAND_POLICIES, { "--project=x" }, "--project", "" },
		{ COMMAND_RUN, { "--dry-run=yes" }, "--dry-run takes no value", "" },
		{ COMMAND_RUN, { "-v=1" }, "takes no value", "" },
		{ COMMAND_RUN, { "--project" }, "--project=DIR", "" },
		{ COMMAND_RUN, { "--project", "--", "ls" }, "--project=DIR", "" },
		{ COMMAND_RUN, { "--project=" }, "empty", "" },
		{ COMMAND_RUN, { "--project", "" }, "empty", "" },
		{ COMMAND_RUN, { "--allow-net=" }, "empty", "" },
		{ COMMAND_RUN, { "--allow-read=a,,b" }, "empty entry", "" },
		{ COMMAND_RUN, { "--allow-read=,a" }, "empty entry", "" },
		{ COMMAND_RUN, { "--deny=a," }, "empty entry", "" },
		{ COMMAND_RUN, { "--env=1A" }, "not a variable name", "" },
		{ COMMAND_RUN, { "--env==x" }, "not a variable name", "" },
		{ COMMAND_RUN, { "--env=A B=x" }, "not a variable name", "" },
		{ COMMAND_RUN, { "--env=A*=x" }, "not a variable name", "" }, /* a pattern cannot be set */
		{ COMMAND_RUN, { "--env=A-B" }, "not a variable name", "" },
		{ COMMAND_RUN, { "--accept-weaker=secret" }, "no such guarantee", "`secrets`" },
		{ COMMAND_RUN, { "--accept-weaker=all" }, "no such guarantee", "writes, secrets" },
		{ COMMAND_RUN, { "--pass-fd=1" }, "always passed", "" },
		{ COMMAND_RUN, { "--pass-fd=-1" }, "not a file descriptor", "" },
		{ COMMAND_RUN, { "--pass-fd=3x" }, "not a file descriptor", "" },
		{ COMMAND_RUN, { "--pass-fd=99999999999999999999" }, "not a file descriptor", "" },
		{ COMMAND_RUN, { "--pass-fd=999" }, "not open", "" },
		{ COMMAND_CHECK, { "--os=windows" }, "linux or macos", "" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int status = parse(rows[i].command, rows[i].words);
		if (status != -1 || !strstr(err.message, rows[i].message) || !strstr(err.hint, rows[i].hint))
			fprintf(stderr, "row %zu: %d, \"%s\", \"%s\"\n", i, status, err.message, err.hint);
		ASSERT_EQ(-1, status);
		ASSERT(strstr(err.message, rows[i].message));
		ASSERT(strstr(err.hint, rows[i].hint));
	}
	PASS();
}

TEST survives_any_length(void)
{
	static char word[5000];
	char name[] = "run";
	char *argv[] = { name, word, NULL };
	for (size_t length = 1; length < sizeof word; length += length < 80 ? 1 : 37) {
		memset(word, 'x', length);
		word[0] = '-';
		if (length > 3)
			word[1] = '-';
		word[length] = '\0';
		memset(&options, 0, sizeof options);
		options_parse(&arena, COMMAND_RUN, 2, argv, &options, &rest, &err);
	}
	PASS();
}

TEST splits_lists_into_rules(void)
{
	ASSERT_EQ(0,
		  PARSE(COMMAND_RUN, "--allow-read=/a,~/b c", "--allow-read=/d", "--allow-write=w", "--deny=*.pem,x=y", "ls"));
	const struct policy *policy = &options.command_line;
	ASSERT_EQ(3, policy->files.read.count);
	ASSERT_STR_EQ("/a", policy->files.read.items[0].text);
	ASSERT_STR_EQ("~/b c", policy->files.read.items[1].text);
	ASSERT_STR_EQ("/d", policy->files.read.items[2].text);
	ASSERT_STR_EQ("files.read", policy->files.read.items[0].key);
	ASSERT_STR_EQ("command line", policy->files.read.items[0].origin.source);
	ASSERT_EQ(LAYER_COMMAND_LINE, policy->files.read.items[0].layer);
	ASSERT_EQ(1, policy->files.write.count);
	ASSERT_EQ(2, policy->files.deny.count);
	ASSERT_STR_EQ("x=y", policy->files.deny.items[1].text);
	PASS();
}

TEST keeps_values_of_variables_byte_by_byte(void)
{
	ASSERT_EQ(0, PARSE(COMMAND_RUN, "--env=LANG", "--env=LC_*", "--env=A=", "--env=B=x=y, z\n\xff", "ls"));
	const struct policy *policy = &options.command_line;
	ASSERT_EQ(2, policy->environment.pass.count);
	ASSERT_STR_EQ("LC_*", policy->environment.pass.items[1].text);
	ASSERT_EQ(2, policy->environment.set.count);
	ASSERT_STR_EQ("A", policy->environment.set.items[0].rule.text);
	ASSERT_STR_EQ("", policy->environment.set.items[0].value);
	ASSERT_STR_EQ("B", policy->environment.set.items[1].rule.text);
	ASSERT_STR_EQ("x=y, z\n\xff", policy->environment.set.items[1].value);
	PASS();
}

TEST understands_the_network(void)
{
	ASSERT_EQ(0, PARSE(COMMAND_RUN, "ls"));
	ASSERT_FALSE(options.command_line.network.mode.is_set);
	ASSERT_EQ(0, PARSE(COMMAND_RUN, "--allow-net"));
	ASSERT_EQ(NETWORK_ALL, options.command_line.network.mode.value);
	ASSERT_EQ(0, PARSE(COMMAND_RUN, "--allow-net=example.org:443,*.example.com:80"));
	ASSERT_EQ(NETWORK_ALLOW, options.command_line.network.mode.value);
	ASSERT_EQ(2, options.command_line.network.allow.count);
	/* A list does not revoke a bare --allow-net, in either order. */
	ASSERT_EQ(0, PARSE(COMMAND_RUN, "--allow-net", "--allow-net=example.org:443"));
	ASSERT_EQ(NETWORK_ALL, options.command_line.network.mode.value);
	ASSERT_EQ(0, PARSE(COMMAND_RUN, "--allow-net=example.org:443", "--allow-net"));
	ASSERT_EQ(NETWORK_ALL, options.command_line.network.mode.value);
	PASS();
}

TEST sets_switches_and_names(void)
{
	ASSERT_EQ(0,
		  PARSE(COMMAND_RUN, "--strict", "--dry-run", "-v", "--accept-weaker=limits", "--policy=p.yml", "--project=q"));
	ASSERT(options.is_dry_run && options.is_verbose && !options.wants_help);
	ASSERT_EQ(LEVEL_STRICT, options.command_line.files.guard.value);
	ASSERT_EQ(1, options.command_line.accept_weaker.count);
	ASSERT_STR_EQ("p.yml", options.policy_file);
	ASSERT_STR_EQ("q", options.project);
	ASSERT_EQ(0, PARSE(COMMAND_CHECK, "--json", "--os=macos", "--context=c.yml", "read"));
	ASSERT(options.wants_json);
	ASSERT_STR_EQ("macos", options.os);
	ASSERT_STR_EQ("c.yml", options.context_file);
	ASSERT_EQ(0, PARSE(COMMAND_POLICIES, "--show=default", "--schema", "--keys", "-h"));
	ASSERT(options.schema && options.wants_keys && options.wants_help);
	PASS();
}

TEST sorts_passed_descriptors(void)
{
	int low = fcntl(0, F_DUPFD_CLOEXEC, 20), high = fcntl(0, F_DUPFD_CLOEXEC, 200);
	ASSERT_EQ(20, low);
	ASSERT_EQ(200, high);
	ASSERT_EQ(0, PARSE(COMMAND_RUN, "--pass-fd=200", "--pass-fd=20", "--pass-fd=200", "--pass-fd", "20"));
	ASSERT_EQ(2, options.pass_fd_count);
	ASSERT_EQ(20, options.pass_fds[0]);
	ASSERT_EQ(200, options.pass_fds[1]);
	close(low);
	close(high);
	PASS();
}

TEST bounds_passed_descriptors(void)
{
	char words[OPTIONS_PASS_FD_MAX + 1][24];
	char name[] = "run";
	char *argv[OPTIONS_PASS_FD_MAX + 3] = { name };
	for (int i = 0; i <= OPTIONS_PASS_FD_MAX; i++) {
		ASSERT_EQ(300 + i, fcntl(0, F_DUPFD_CLOEXEC, 300 + i));
		/* Descending, so that each is moved to the front. */
		snprintf(words[i], sizeof words[0], "--pass-fd=%d", 300 + OPTIONS_PASS_FD_MAX - i);
		argv[i + 1] = words[i];
	}
	memset(&options, 0, sizeof options);
	ASSERT_EQ(0, options_parse(&arena, COMMAND_RUN, OPTIONS_PASS_FD_MAX + 1, argv, &options, &rest, &err));
	ASSERT_EQ(OPTIONS_PASS_FD_MAX, options.pass_fd_count);
	for (size_t i = 1; i < options.pass_fd_count; i++)
		ASSERT(options.pass_fds[i - 1] < options.pass_fds[i]);
	memset(&options, 0, sizeof options);
	ASSERT_EQ(-1, options_parse(&arena, COMMAND_RUN, OPTIONS_PASS_FD_MAX + 2, argv, &options, &rest, &err));
	for (int i = 0; i <= OPTIONS_PASS_FD_MAX; i++)
		close(300 + i);
	PASS();
}

TEST helps_within_a_line(void)
{
	const uint64_t commands[] = { COMMAND_RUN, COMMAND_PLAN, COMMAND_CHECK, COMMAND_POLICIES };
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		struct text out = { 0 };
		options_help(commands[i], &out);
		ASSERT(strstr(out.data, "--help"));
		for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n"))
			ASSERT(strlen(line) <= 80);
		text_free(&out);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(finds_where_the_command_begins);
	RUN_TEST(refuses_with_the_nearest_name);
	RUN_TEST(survives_any_length);
	RUN_TEST(splits_lists_into_rules);
	RUN_TEST(keeps_values_of_variables_byte_by_byte);
	RUN_TEST(understands_the_network);
	RUN_TEST(sets_switches_and_names);
	RUN_TEST(sorts_passed_descriptors);
	RUN_TEST(bounds_passed_descriptors);
	RUN_TEST(helps_within_a_line);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

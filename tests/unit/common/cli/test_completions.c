/* SPDX-License-Identifier: Apache-2.0 */
/* The completion scripts as text: every name of every table is in them, quoted for its shell.
 * tests/cli/cli/completions.sh runs them in the shells. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/policy/builtin.h"
#include "common/cli/completions.h"
#include "common/policy/guarantee.h"
#include "common/cli/commands.h"
#include "common/base/text.h"
#include "common/setup/setup.h"

static const struct subcommand_word words[] = {
	{ "first", COMMAND_CHECK, OPERAND_FILE },
	{ "second", COMMAND_STATE, OPERAND_VARIABLE },
	{ 0 },
};

static const char *name_at(size_t index)
{
	static const char *const names[] = { "alpha", "beta", NULL };
	return names[index];
}

static const struct subcommand table[] = {
	{ "go", NULL, "go", "it's 1: a [word]", .options = COMMAND_RUN, .operand = OPERAND_COMMAND },
	{ "ask", NULL, "ask", "a question", .options = COMMAND_CHECK, .words = words },
	{ "look", NULL, "look", "what there is", .options = COMMAND_POLICIES, .operand = OPERAND_DIRECTORY },
	{ "pick", NULL, "pick", "one of a table", .options = COMMAND_SETUP, .names = name_at },
	{ "hook", NULL, "hook", NULL, .options = COMMAND_HOOK },
	{ "secret", NULL, "secret", NULL, .options = 0 },
};

static const char *generate(struct text *out, const char *shell)
{
	completions_write(shell, table, sizeof table / sizeof table[0], out);
	return out->data ? out->data : "";
}

/* True if a line of the script contains all parts. */
static bool has_line(const char *script, const char *const *parts)
{
	while (*script) {
		size_t length = strcspn(script, "\n"), found = 0;
		for (; parts[found]; found++) {
			const char *at = strstr(script, parts[found]);
			if (!at || at >= script + length)
				break;
		}
		if (!parts[found])
			return true;
		script += length + (script[length] == '\n');
	}
	return false;
}

#define HAS_LINE(script, ...) has_line(script, (const char *const[]){ __VA_ARGS__, NULL })

TEST every_name_is_there(void)
{
	for (size_t shell = 0; completions_shells[shell]; shell++) {
		struct text out = { 0 };
		const char *script = generate(&out, completions_shells[shell]);
		struct option_info option;
		struct builtin builtin;

		for (size_t i = 0; options_at(i, &option); i++)
			if (option.bit & (COMMAND_RUN | COMMAND_CHECK | COMMAND_POLICIES | COMMAND_STATE))
				ASSERTm(option.name, strstr(script, option.name));
		for (size_t i = 0; i < GUARANTEE_COUNT; i++)
			ASSERTm(guarantee_table[i].name, HAS_LINE(script, "accept-weaker", guarantee_table[i].name));
		for (size_t i = 0; builtin_at(i, &builtin); i++)
			ASSERTm(builtin.name, HAS_LINE(script, "show", builtin.name));
		ASSERT(strstr(script, "linux macos"));
		ASSERT(HAS_LINE(script, "first second"));
		ASSERT(HAS_LINE(script, "pick", "alpha beta") || HAS_LINE(script, "1:word:(alpha beta)"));
		for (size_t i = 0; i < setup_host_count; i++)
			if (setup_host_table[i].hook)
				ASSERTm(setup_host_table[i].name, HAS_LINE(script, "host", setup_host_table[i].name));
		text_free(&out);
	}
	PASS();
}

TEST each_shell_gets_its_quotes(void)
{
	struct text bash = { 0 }, zsh = { 0 }, fish = { 0 };
	const char *script;

	script = generate(&bash, "bash");
	ASSERT(HAS_LINE(script, "'')", "values='go ask look pick'"));
	ASSERT(HAS_LINE(script, "'go')", "--project=", "--allow-net ", "operand=command"));
	ASSERT(HAS_LINE(script, "'ask first')", "--json", "operand=file"));
	ASSERT_FALSE(HAS_LINE(script, "'ask first')", "--pass-fd"));
	ASSERT(HAS_LINE(script, "'look')", "--show=", "operand=directory"));
	ASSERT(HAS_LINE(script, "'pick beta')", "--write", "operand=none"));
	script = generate(&zsh, "zsh");
	ASSERT_EQ(0, strncmp(script, "#compdef berm\n", 14));
	ASSERT(HAS_LINE(script, "'go:it'\\''s 1\\: a \\[word\\]'"));
	ASSERT(HAS_LINE(script, "'*--project=[", ":DIR:_files -/'"));
	ASSERT(HAS_LINE(script, "'*--allow-net=-[", "]::"));
	ASSERT(HAS_LINE(script, "'(-v --verbose)-v["));
	script = generate(&fish, "fish");
	ASSERT(HAS_LINE(script, "-a 'go'", "-d 'it\\'s 1: a [word]'"));
	ASSERT(HAS_LINE(script, "-l json", "'ask'", "'ask first'", "'ask second'"));
	ASSERT_FALSE(HAS_LINE(script, "-l json", "'go'"));
	ASSERT(HAS_LINE(script, "-l verbose -s v"));
	text_free(&bash);
	text_free(&zsh);
	text_free(&fish);
	PASS();
}

TEST what_is_hidden_is_not_offered(void)
{
	struct text bash = { 0 }, zsh = { 0 }, fish = { 0 };
	ASSERT_FALSE(HAS_LINE(generate(&bash, "bash"), "values=", "secret "));
	ASSERT_EQ(NULL, strstr(generate(&zsh, "zsh"), "'secret:"));
	ASSERT_EQ(NULL, strstr(generate(&fish, "fish"), "-a 'secret'"));
	text_free(&bash);
	text_free(&zsh);
	text_free(&fish);
	PASS();
}

TEST other_shells_have_none(void)
{
	struct text out = { 0 };
	ASSERT_FALSE(completions_write("tcsh", table, 1, &out));
	ASSERT_FALSE(completions_write("", table, 1, &out));
	ASSERT_FALSE(completions_write("bas", table, 1, &out));
	ASSERT_EQ(NULL, out.data);
	PASS();
}

TEST the_iterator_ends(void)
{
	struct option_info option;
	size_t count = 0;
	while (options_at(count, &option)) {
		ASSERT(option.name && option.help && option.bit);
		count++;
	}
	ASSERT(count > 20);
	ASSERT_FALSE(options_at(count + 1, &option));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(every_name_is_there);
	RUN_TEST(each_shell_gets_its_quotes);
	RUN_TEST(what_is_hidden_is_not_offered);
	RUN_TEST(other_shells_have_none);
	RUN_TEST(the_iterator_ends);
	GREATEST_MAIN_END();
}

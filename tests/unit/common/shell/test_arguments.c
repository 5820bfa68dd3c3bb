/* SPDX-License-Identifier: Apache-2.0 */
/* 100,000 random argument vectors through a launch: the option parser, the shim's command, and the
 * arguments of execve. Every byte but NUL occurs; the result is compared with an earlier copy. */
#include <stdlib.h>
#include <string.h>

#include "greatest.h"

#include "common/context/programs.h"
#include "linux/launch/command.h"
#include "unit/support/argument_words.h"

enum { VECTORS = 100000, WORDS_MAX = 12, LENGTH_MAX = 40, HEAD = 3 };

static uint64_t state = 0x9e3779b97f4a7c15u;

static unsigned next(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % below;
}

static void fill(char *word)
{
	static const char special[] = "'\"\\!$`*?[]{}()<>|&;#~=%^ \t\n\r\033\177-";
	static const char *const options[] = { "--", "-c", "--allow-read=/", "--help", "-", "=", "--policy=x", "-l" };
	size_t length = next(LENGTH_MAX);
	unsigned kind = next(6);
	if (kind == 0)
		length = 0;
	if (kind == 1) {
		strcpy(word, options[next(sizeof options / sizeof options[0])]);
		return;
	}
	for (size_t i = 0; i < length; i++)
		word[i] = kind <= 3 ? special[next(sizeof special - 1)] : (char)(1 + next(255));
	word[length] = '\0';
}

struct vector {
	char words[WORDS_MAX][LENGTH_MAX + 16], copies[WORDS_MAX][LENGTH_MAX + 16];
	char *argv[HEAD + WORDS_MAX + 1];
	int count;
};

static void draw(struct vector *vector)
{
	static char run[] = "run", option[] = "--verbose", end[] = "--";
	memset(vector, 0, sizeof *vector);
	vector->count = 1 + (int)next(WORDS_MAX);
	vector->argv[0] = run;
	vector->argv[1] = option;
	vector->argv[2] = end;
	for (int i = 0; i < vector->count; i++) {
		fill(vector->words[i]);
		vector->argv[HEAD + i] = vector->words[i];
	}
	memcpy(vector->copies, vector->words, sizeof vector->words);
}

static bool arrives(const struct vector *vector, char *const *argv)
{
	for (int i = 0; i < vector->count; i++)
		if (!argv[i] || strcmp(argv[i], vector->copies[i]) != 0)
			return false;
	return argv[vector->count] == NULL && memcmp(vector->copies, vector->words, sizeof vector->words) == 0;
}

TEST vectors_arrive(void)
{
	struct vector vector;
	for (int i = 0; i < VECTORS; i++) {
		struct arena arena = { 0 };
		struct plan plan = { .arena = &arena };
		struct command command;
		char **shell;
		int rest;

		draw(&vector);
		rest = argument_words_rest(&arena, HEAD + vector.count, vector.argv, 1);
		ASSERT_EQ_FMT((int)HEAD, rest, "%d");
		command_prepare(&plan, vector.argv + rest, &command);
		ASSERT(arrives(&vector, command.argv));
		/* {"/bin/sh", place, argv[1]...}: the place is filled in later. */
		for (int j = 1; j < vector.count; j++)
			ASSERT_STR_EQ(vector.copies[j], command.script[j + 1]);

		shell = program_command(&arena, "/bin/bash", i % 2, vector.count, vector.argv + HEAD);
		command_prepare(&plan, shell, &command);
		ASSERT_STR_EQ("/bin/bash", command.argv[0]);
		ASSERT_STR_EQ("/bin/bash", command.paths[0]);
		ASSERT(arrives(&vector, command.argv + 1 + i % 2));
		arena_free(&arena);
	}
	PASS();
}

/* A changed vector is detected. */
TEST control(void)
{
	struct vector vector;
	do
		draw(&vector);
	while (!vector.words[0][0]);
	ASSERT(arrives(&vector, vector.argv + HEAD));
	vector.words[0][0] ^= 1;
	ASSERT(!arrives(&vector, vector.argv + HEAD));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(vectors_arrive);
	RUN_TEST(control);
	GREATEST_MAIN_END();
}

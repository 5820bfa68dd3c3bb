/* SPDX-License-Identifier: Apache-2.0 */
/* A guess is what was written last for the same directory and words, and for others most likely nothing. */
#include <greatest.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/arena.h"
#include "common/cache/prefork_hint.h"
#include "unit/scratch.h"

static struct arena arena;
static char *const none[] = { NULL }, *const some[] = { "--deny=a", NULL }, *const other[] = { "--deny=b", NULL };

static const char *new_home(const char *name)
{
	const char *home = arena_copy(&arena, scratch_path("%s", name));
	mkdir(home, 0700);
	return home;
}

static int open_plans(const char *home)
{
	const char *plans = arena_printf(&arena, "%s/.local/state/berm/plans", home);
	mkdir(arena_printf(&arena, "%s/.local", home), 0700);
	mkdir(arena_printf(&arena, "%s/.local/state", home), 0700);
	mkdir(arena_printf(&arena, "%s/.local/state/berm", home), 0700);
	mkdir(plans, 0700);
	setenv("HOME", home, 1);
	return open(plans, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool guess(char *const *words, struct plan_guess *result)
{
	plan_guess_read(words, result);
	return result->can_begin;
}

/* There are 256 names: two guesses may share one, and then say the same. */
static bool is_other(const struct plan_guess *a, const struct plan_guess *b)
{
	return strcmp(a->name, b->name) != 0;
}

TEST is_what_was_written(void)
{
	const char *home = new_home("is_what_was_written");
	int plans = open_plans(home);
	struct plan_guess first, second, third;

	ASSERT(plans >= 0);
	ASSERT(!guess(none, &first) && !guess(some, &second) && !guess(other, &third));
	ASSERT(first.name[0]);
	plan_guess_write(&second, plans, true);
	ASSERT(guess(some, &second));
	ASSERT_EQ(!is_other(&first, &second), guess(none, &first));
	ASSERT_EQ(!is_other(&third, &second), guess(other, &third));
	plan_guess_write(&second, plans, true); /* again is nothing new */
	ASSERT(guess(some, &second));
	plan_guess_write(&second, plans, false);
	plan_guess_write(&second, plans, false);
	ASSERT(!guess(some, &second));
	close(plans);
	PASS();
}

/* Names that one letter makes differ are spread over all there are: by chance one pair in 256 is the same. */
TEST names_are_spread(void)
{
	char word[] = "--deny=?";
	char *const words[] = { word, NULL };
	struct plan_guess guesses['z' - 'a' + 1];
	int same = 0;
	for (char letter = 'a'; letter <= 'z'; letter++) {
		word[sizeof word - 2] = letter;
		guess(words, &guesses[letter - 'a']);
		for (char before = 'a'; before < letter; before++)
			same += !is_other(&guesses[before - 'a'], &guesses[letter - 'a']);
	}
	ASSERT(same < 20); /* of 325 pairs */
	PASS();
}

TEST is_for_one_directory(void)
{
	const char *home = new_home("is_for_one_directory");
	int plans = open_plans(home), here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct plan_guess first, second;

	ASSERT(plans >= 0 && here >= 0);
	guess(some, &first);
	plan_guess_write(&first, plans, true);
	ASSERT_EQ(0, chdir(home));
	guess(some, &second);
	ASSERT_EQ(!is_other(&first, &second), second.can_begin);
	ASSERT_EQ(0, fchdir(here));
	ASSERT(guess(some, &first));
	close(plans);
	close(here);
	PASS();
}

TEST is_no_without_a_home(void)
{
	struct plan_guess result = { .can_begin = true };
	const char *home = new_home("is_no_without_a_home");
	ASSERT_EQ(0, unsetenv("HOME"));
	ASSERT(!guess(some, &result));
	ASSERT_EQ(0, setenv("HOME", home, 1));
	ASSERT(!guess(some, &result)); /* nothing was ever stored there */
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(is_what_was_written);
	RUN_TEST(names_are_spread);
	RUN_TEST(is_for_one_directory);
	RUN_TEST(is_no_without_a_home);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

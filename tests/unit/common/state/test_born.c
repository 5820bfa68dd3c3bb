/* SPDX-License-Identifier: Apache-2.0 */
/* Records of git directories that were made inside, on a real file system. Each refusal starts with
 * a valid record. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/state/born.h"
#include "unit/support/scratch.h"

static struct arena arena;
static struct error err;
static const char *state;
static const char key[] = "app-0123";
static const struct file_birth first = { 7, 1700000000, 5 }, second = { 8, 1700000000, 5 };

static struct born load(void)
{
	struct born born;
	born_load(filesystem_host(), &arena, state, key, getuid(), &born);
	return born;
}

static const char *file(void)
{
	return arena_printf(&arena, "%s/born/%s", state, key);
}

static void renew(const char *name)
{
	memset(&err, 0, sizeof err);
	state = arena_copy(&arena, scratch_path("%s/berm", name));
	if (born_add(&arena, state, key, &first, 1, &err) < 0)
		fprintf(stderr, "%s\n", err.message);
}

TEST a_record_is_of_one_file(void)
{
	struct file_birth later = first, reused = first;
	struct born born;
	later.nanoseconds++;
	reused.seconds++;
	renew("one");
	born = load();
	ASSERT(born_contains(&born, &first));
	ASSERT_FALSE(born_contains(&born, &second));
	ASSERT_FALSE(born_contains(&born, &later));
	ASSERT_FALSE(born_contains(&born, &reused));
	PASS();
}

TEST records_are_added_once(void)
{
	struct born born;
	const struct file_birth both[] = { first, second };
	renew("added");
	ASSERT_EQ(0, born_add(&arena, state, key, both, 2, &err));
	ASSERT_EQ(0, born_add(&arena, state, key, both, 2, &err));
	born = load();
	ASSERT_EQ(2, born.count);
	ASSERT(born_contains(&born, &first) && born_contains(&born, &second));
	PASS();
}

TEST the_oldest_are_dropped(void)
{
	struct file_birth *many = arena_alloc(&arena, BORN_MAX * sizeof *many);
	struct born born;
	for (size_t i = 0; i < BORN_MAX; i++)
		many[i] = (struct file_birth){ 100 + i, 1, 1 };
	renew("many");
	ASSERT_EQ(0, born_add(&arena, state, key, many, BORN_MAX, &err));
	born = load();
	ASSERT_EQ(BORN_MAX, born.count);
	ASSERT_FALSE(born_contains(&born, &first));
	ASSERT(born_contains(&born, &many[0]));
	PASS();
}

TEST a_project_has_its_own(void)
{
	struct born born;
	renew("project");
	born_load(filesystem_host(), &arena, state, "other", getuid(), &born);
	ASSERT_EQ(0, born.count);
	PASS();
}

TEST a_file_that_others_may_write_has_none(void)
{
	struct born born;
	renew("mode");
	ASSERT_EQ(1, load().count);
	ASSERT_EQ(0, chmod(file(), 0620));
	ASSERT_EQ(0, load().count);
	ASSERT_EQ(0, chmod(file(), 0600));
	ASSERT_EQ(1, load().count);
	born_load(filesystem_host(), &arena, state, key, getuid() + 1, &born);
	ASSERT_EQ(0, born.count);
	PASS();
}

TEST damaged_records_are_none(void)
{
	static const char *const texts[] = {
		"",
		"berm born 2\n7 1700000000 5\n",
		"berm born 1\n7 1700000000 5",
		"berm born 1\n7 1700000000 5\n8 9\n",
		"berm born 1\n7 1700000000 5\n-8 9 1\n",
		"berm born 1\n7 1700000000 1000000000\n",
	};
	renew("damaged");
	ASSERT_EQ(1, load().count);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		scratch_write(file(), texts[i], strlen(texts[i]), 0600);
		ASSERT_EQm(texts[i], 0, load().count);
	}
	/* The next record begins anew. */
	ASSERT_EQ(0, born_add(&arena, state, key, &second, 1, &err));
	ASSERT_EQ(1, load().count);
	PASS();
}

TEST the_host_knows_births(void)
{
	const struct filesystem *fs = filesystem_host();
	struct file_birth birth, again;
	ASSERT(fs->find_birth);
	scratch_write(scratch_path("made"), "x", 1, 0600);
	if (!fs->find_birth(fs, scratch_path("made"), &birth))
		SKIPm("this file system has no times of birth");
	ASSERT_EQ(0, chmod(scratch_path("made"), 0644));
	ASSERT(fs->find_birth(fs, scratch_path("made"), &again));
	ASSERT_MEM_EQ(&birth, &again, sizeof birth);
	ASSERT_FALSE(fs->find_birth(fs, scratch_path("absent"), &birth));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_record_is_of_one_file);
	RUN_TEST(records_are_added_once);
	RUN_TEST(the_oldest_are_dropped);
	RUN_TEST(a_project_has_its_own);
	RUN_TEST(a_file_that_others_may_write_has_none);
	RUN_TEST(damaged_records_are_none);
	RUN_TEST(the_host_knows_births);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan was made from, on a real file system: every change that could make the plan another one breaks a fact, and what
 * cannot does not. */
#include <greatest.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/cache/dependencies.h"
#include "unit/scratch.h"

static struct arena arena;
static struct facts facts;
static const struct filesystem *recorder;
static char root[256];

/* Longer than the clock of any file system that tests run on takes to show a change. */
static void wait_for_clock(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
}

static const char *at(const char *name)
{
	return arena_printf(&arena, "%s/%s", root, name);
}

/* root/{directory/, file, link -> file}, and a recorder that has seen nothing. */
static void renew(void)
{
	static unsigned number;
	snprintf(root, sizeof root, "%s", scratch_path("facts%u", number++));
	if (mkdir(root, 0700) < 0 || mkdir(at("directory"), 0700) < 0 || symlink("file", at("link")) < 0)
		perror(root);
	scratch_write(at("file"), "text", 4, 0600);
	wait_for_clock();
	recorder = facts_record(&facts, &arena, filesystem_host());
}

static const char *broken(void)
{
	return facts_broken(facts.items, facts.count);
}

static void inspect(const char *name)
{
	struct file_info info;
	recorder->inspect(recorder, at(name), &info);
}

static void read_small(const char *name)
{
	char *text;
	size_t length;
	recorder->read_small(recorder, &arena, at(name), 4096, &text, &length);
}

TEST answers_as_the_host_does(void)
{
	struct file_info recorded, plain;
	char *text, *target;
	size_t length;
	renew();
	ASSERT_EQ(0, recorder->inspect(recorder, at("directory"), &recorded));
	ASSERT_EQ(0, filesystem_host()->inspect(filesystem_host(), at("directory"), &plain));
	ASSERT_EQ(plain.inode, recorded.inode);
	ASSERT_EQ(FILE_DIRECTORY, recorded.type);
	ASSERT_EQ(0, recorder->inspect(recorder, at("none"), &recorded));
	ASSERT_EQ(FILE_ABSENT, recorded.type);
	ASSERT_EQ(0, recorder->read_small(recorder, &arena, at("file"), 10, &text, &length));
	ASSERT_STR_EQ("text", text);
	ASSERT_EQ(0, recorder->read_link(recorder, &arena, at("link"), &target));
	ASSERT_STR_EQ("file", target);
	ASSERT_EQ(-1, recorder->read_small(recorder, &arena, at("none"), 10, &text, &length));
	ASSERT_EQ(ENOENT, errno);
	ASSERT_EQ(NULL, broken());
	PASS();
}

TEST holds_while_nothing_changes(void)
{
	renew();
	inspect("directory");
	inspect("none");
	read_small("file");
	facts_settle(&facts);
	ASSERT_FALSE(facts.is_unstable);
	ASSERT_EQ(3u, facts.count);
	/* Files come and go in a directory that was only asked what it is. */
	scratch_write(at("directory/new"), "x", 1, 0600);
	scratch_write(at("other"), "x", 1, 0600);
	ASSERT_EQ(NULL, broken());
	PASS();
}

/* Each change is made to a fact that held until then. */
#define BREAKS(name, change)                                                                                                   \
	do {                                                                                                                   \
		ASSERT_EQ(NULL, broken());                                                                                     \
		change;                                                                                                        \
		ASSERT(broken() != NULL);                                                                                      \
		ASSERT_STR_EQ(at(name), broken());                                                                             \
	} while (0)

TEST an_absent_name_that_appears(void)
{
	renew();
	inspect("none");
	BREAKS("none", scratch_write(at("none"), "", 0, 0600));
	renew();
	inspect("none");
	BREAKS("none", ASSERT_EQ(0, symlink("nowhere", at("none"))));
	renew();
	inspect("directory/none");
	BREAKS("directory/none", ASSERT_EQ(0, mkdir(at("directory/none"), 0700)));
	PASS();
}

TEST a_name_that_goes(void)
{
	renew();
	inspect("directory");
	BREAKS("directory", ASSERT_EQ(0, rmdir(at("directory"))));
	renew();
	inspect("file");
	BREAKS("file", ASSERT_EQ(0, unlink(at("file"))));
	PASS();
}

TEST another_one_of_that_name(void)
{
	renew();
	inspect("directory");
	ASSERT_EQ(0, mkdir(at("second"), 0700));
	BREAKS("directory", ASSERT_EQ(0, rename(at("second"), at("directory"))));
	renew();
	inspect("directory");
	ASSERT_EQ(0, mkdir(at("second"), 0700));
	ASSERT_EQ(0, rename(at("directory"), at("away")));
	ASSERT_EQ(0, symlink("second", at("directory")));
	ASSERT_STR_EQ(at("directory"), broken());
	PASS();
}

TEST permissions_and_types(void)
{
	renew();
	inspect("directory");
	BREAKS("directory", ASSERT_EQ(0, chmod(at("directory"), 0755)));
	/* And back again: what was true is true. */
	ASSERT_EQ(0, chmod(at("directory"), 0700));
	ASSERT_EQ(NULL, broken());
	renew();
	read_small("file");
	BREAKS("file", ASSERT_EQ(0, chmod(at("file"), 0644)));
	PASS();
}

TEST owners(void)
{
	if (getuid() != 0)
		SKIPm("only root can give files away");
	renew();
	inspect("directory");
	BREAKS("directory", ASSERT_EQ(0, chown(at("directory"), 12345, 0)));
	PASS();
}

TEST a_link_that_leads_elsewhere(void)
{
	char *target;
	renew();
	recorder->read_link(recorder, &arena, at("link"), &target);
	ASSERT_EQ(0, symlink("liar", at("new")));
	BREAKS("link", ASSERT_EQ(0, rename(at("new"), at("link"))));
	PASS();
}

TEST bytes_with_their_size_and_time_restored(void)
{
	struct stat before;
	struct timespec times[2];
	renew();
	read_small("file");
	ASSERT_EQ(0, stat(at("file"), &before));
	times[0] = before.st_atim;
	times[1] = before.st_mtim;
	ASSERT_EQ(NULL, broken());
	scratch_write(at("file"), "TEXT", 4, 0600);
	ASSERT_EQ(0, utimensat(AT_FDCWD, at("file"), times, 0));
	ASSERT_STR_EQ(at("file"), broken());
	PASS();
}

TEST entries_of_a_directory_whose_content_counts(void)
{
	renew();
	facts_note_content(&facts, at("directory"));
	BREAKS("directory", scratch_write(at("directory/record"), "x", 1, 0600));
	renew();
	scratch_write(at("directory/record"), "x", 1, 0600);
	wait_for_clock();
	facts_note_content(&facts, at("directory"));
	BREAKS("directory", ASSERT_EQ(0, unlink(at("directory/record"))));
	PASS();
}

/* Asked what it is first and read later: the bytes count from then on. */
TEST the_stronger_question_counts(void)
{
	renew();
	inspect("directory");
	facts_note_content(&facts, at("directory"));
	ASSERT_EQ(1u, facts.count);
	ASSERT(facts.items[0].is_content);
	BREAKS("directory", scratch_write(at("directory/record"), "x", 1, 0600));
	/* And stays: a weaker question does not take it back. */
	renew();
	facts_note_content(&facts, at("directory"));
	inspect("directory");
	BREAKS("directory", scratch_write(at("directory/record"), "x", 1, 0600));
	PASS();
}

TEST a_change_between_two_questions_makes_it_unstable(void)
{
	renew();
	inspect("none");
	scratch_write(at("none"), "x", 1, 0600);
	inspect("none");
	ASSERT(facts.is_unstable);
	renew();
	inspect("file");
	ASSERT_EQ(0, unlink(at("file")));
	scratch_write(at("file"), "text", 4, 0600);
	read_small("file");
	ASSERT(facts.is_unstable);
	renew();
	inspect("directory");
	ASSERT_EQ(0, rename(at("directory"), at("away")));
	ASSERT_EQ(0, mkdir(at("directory"), 0700));
	facts_note_content(&facts, at("directory"));
	ASSERT(facts.is_unstable);
	PASS();
}

TEST a_change_before_it_settles_makes_it_unstable(void)
{
	renew();
	inspect("none");
	scratch_write(at("none"), "x", 1, 0600);
	facts_settle(&facts);
	ASSERT(facts.is_unstable);
	PASS();
}

TEST bytes_that_are_too_new_are_not_believed(void)
{
	renew();
	scratch_write(at("file"), "new", 3, 0600);
	read_small("file");
	facts_settle(&facts);
	ASSERT(facts.is_unstable);
	/* Control: the same when it is older. */
	renew();
	read_small("file");
	ASSERT_EQ(1u, facts.count);
	facts_settle(&facts);
	ASSERT_FALSE(facts.is_unstable);
	PASS();
}

static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type)
{
	(void)self;
	(void)directory;
	(void)name;
	(void)type;
	return WALK_SKIP;
}

TEST a_walk_is_no_fact(void)
{
	struct error err = { 0 };
	renew();
	ASSERT_EQ(0, recorder->walk(recorder, root, visit, NULL, &err));
	ASSERT(facts.is_unstable);
	PASS();
}

/* Every component that a resolution went through is noted, the missing one too. */
TEST a_resolution_notes_its_way(void)
{
	struct error err = { 0 };
	const char *canonical;
	renew();
	ASSERT_EQ(0, mkdir(at("directory/real"), 0700));
	ASSERT_EQ(0, symlink("directory", at("way")));
	wait_for_clock();
	ASSERT_EQ(0, path_resolve(recorder, &arena, at("way/real/missing/deep"), &canonical, NULL, NULL, &err));
	ASSERT_STR_EQ(at("directory/real/missing/deep"), canonical);
	ASSERT_EQ(NULL, broken());
	ASSERT_EQ(0, mkdir(at("directory/real/missing"), 0700));
	ASSERT_STR_EQ(at("directory/real/missing"), broken());
	ASSERT_EQ(0, rmdir(at("directory/real/missing")));
	ASSERT_EQ(NULL, broken());
	ASSERT_EQ(0, unlink(at("way")));
	ASSERT_EQ(0, symlink("elsewhere", at("way")));
	ASSERT_STR_EQ(at("way"), broken());
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(answers_as_the_host_does);
	RUN_TEST(holds_while_nothing_changes);
	RUN_TEST(an_absent_name_that_appears);
	RUN_TEST(a_name_that_goes);
	RUN_TEST(another_one_of_that_name);
	RUN_TEST(permissions_and_types);
	RUN_TEST(owners);
	RUN_TEST(a_link_that_leads_elsewhere);
	RUN_TEST(bytes_with_their_size_and_time_restored);
	RUN_TEST(entries_of_a_directory_whose_content_counts);
	RUN_TEST(the_stronger_question_counts);
	RUN_TEST(a_change_between_two_questions_makes_it_unstable);
	RUN_TEST(a_change_before_it_settles_makes_it_unstable);
	RUN_TEST(bytes_that_are_too_new_are_not_believed);
	RUN_TEST(a_walk_is_no_fact);
	RUN_TEST(a_resolution_notes_its_way);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

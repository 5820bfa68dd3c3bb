/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies on a real file system: every change that could change the plan breaks a dependency,
 * and other changes do not. */
#include <greatest.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/cache/dependencies.h"
#include "unit/support/scratch.h"

enum { NS_PER_S = 1000000000 };

static struct arena arena;
static struct dependencies dependencies;
static const struct filesystem *recorder;
static char root[256];

/* Longer than the clock of any file system that tests run on takes to show a change. */
static void wait_for_clock(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
}

/* Settles so long after the last change of root/file. */
static void settle_after(int64_t nanoseconds)
{
	struct stat info = { 0 };
	int64_t sum;
	if (lstat(arena_printf(&arena, "%s/file", root), &info) < 0)
		perror(root);
	sum = info.st_ctim.tv_nsec + nanoseconds;
	dependencies_settle(&dependencies,
			    &(struct timespec){ .tv_sec = info.st_ctim.tv_sec + sum / NS_PER_S, .tv_nsec = sum % NS_PER_S });
}

static const char *at(const char *name)
{
	return arena_printf(&arena, "%s/%s", root, name);
}

/* Makes root/{directory/, file, link -> file} and an empty recorder. */
static void renew(void)
{
	static unsigned number;
	snprintf(root, sizeof root, "%s", scratch_path("dependencies%u", number++));
	if (mkdir(root, 0700) < 0 || mkdir(at("directory"), 0700) < 0 || symlink("file", at("link")) < 0)
		perror(root);
	scratch_write(at("file"), "text", 4, 0600);
	wait_for_clock();
	recorder = dependencies_record(&dependencies, &arena, filesystem_host());
}

static const char *broken(void)
{
	return dependencies_broken(dependencies.items, dependencies.count);
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
	settle_after(NS_PER_S);
	ASSERT_FALSE(dependencies.is_unstable);
	ASSERT_EQ(3u, dependencies.count);
	/* New files in a directory that was only inspected do not count. */
	scratch_write(at("directory/new"), "x", 1, 0600);
	scratch_write(at("other"), "x", 1, 0600);
	ASSERT_EQ(NULL, broken());
	PASS();
}

/* Control: the dependency holds until the change is made. */
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

/* The directory proves the absence while its ctime is the same; without that each name is looked
 * up. */
TEST an_absent_name_in_a_directory_that_proves_it(void)
{
	renew();
	inspect("directory");
	inspect("directory/none");
	inspect("directory/none/below");
	settle_after(NS_PER_S);
	if (dependencies.items[0].listed_s == 0)
		SKIPm("the ctimes of this file system prove nothing");
	ASSERT_EQ(1u, dependencies.items[1].prover);
	ASSERT_EQ(2u, dependencies.items[2].prover);
	ASSERT_EQ(NULL, broken());
	ASSERT(dependencies.items[0].is_vouching);
	BREAKS("directory/none", ASSERT_EQ(0, mkdir(at("directory/none"), 0700)));
	ASSERT_FALSE(dependencies.items[0].is_vouching);
	ASSERT_EQ(0, rmdir(at("directory/none")));
	ASSERT_EQ(NULL, broken());
	ASSERT_FALSE(dependencies.items[0].is_vouching);
	BREAKS("directory/none", scratch_write(at("directory/none"), "", 0, 0600));
	PASS();
}

/* Another name could appear with the same ctime. */
TEST a_directory_that_changed_just_now_proves_nothing(void)
{
	struct stat info;
	renew();
	inspect("directory");
	inspect("directory/none");
	scratch_write(at("directory/other"), "", 0, 0600);
	ASSERT_EQ(0, stat(at("directory"), &info));
	dependencies_settle(&dependencies, &info.st_ctim);
	ASSERT_EQ(0, dependencies.items[0].listed_s);
	ASSERT_EQ(0u, dependencies.items[1].prover);
	BREAKS("directory/none", scratch_write(at("directory/none"), "", 0, 0600));
	PASS();
}

/* A number that a damaged file could have. */
TEST a_later_dependency_proves_nothing(void)
{
	renew();
	inspect("none");
	inspect("directory");
	dependencies.items[0].prover = 2;
	dependencies.items[1].is_vouching = true;
	BREAKS("none", scratch_write(at("none"), "", 0, 0600));
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
	/* Undoing the change restores the dependency. */
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
	dependencies_note_content(&dependencies, at("directory"));
	BREAKS("directory", scratch_write(at("directory/record"), "x", 1, 0600));
	renew();
	scratch_write(at("directory/record"), "x", 1, 0600);
	wait_for_clock();
	dependencies_note_content(&dependencies, at("directory"));
	BREAKS("directory", ASSERT_EQ(0, unlink(at("directory/record"))));
	PASS();
}

/* Inspected first and read later: the content counts from then on. */
TEST the_stronger_query_counts(void)
{
	renew();
	inspect("directory");
	dependencies_note_content(&dependencies, at("directory"));
	ASSERT_EQ(1u, dependencies.count);
	ASSERT(dependencies.items[0].is_content);
	BREAKS("directory", scratch_write(at("directory/record"), "x", 1, 0600));
	/* A later inspection does not weaken it. */
	renew();
	dependencies_note_content(&dependencies, at("directory"));
	inspect("directory");
	BREAKS("directory", scratch_write(at("directory/record"), "x", 1, 0600));
	PASS();
}

TEST a_change_between_two_queries_makes_it_unstable(void)
{
	renew();
	inspect("none");
	scratch_write(at("none"), "x", 1, 0600);
	inspect("none");
	ASSERT(dependencies.is_unstable);
	renew();
	inspect("file");
	ASSERT_EQ(0, unlink(at("file")));
	scratch_write(at("file"), "text", 4, 0600);
	read_small("file");
	ASSERT(dependencies.is_unstable);
	renew();
	inspect("directory");
	ASSERT_EQ(0, rename(at("directory"), at("away")));
	ASSERT_EQ(0, mkdir(at("directory"), 0700));
	dependencies_note_content(&dependencies, at("directory"));
	ASSERT(dependencies.is_unstable);
	PASS();
}

TEST a_change_before_it_settles_makes_it_unstable(void)
{
	renew();
	inspect("none");
	scratch_write(at("none"), "x", 1, 0600);
	settle_after(NS_PER_S);
	ASSERT(dependencies.is_unstable);
	PASS();
}

/* The ctime of a file that has just changed cannot show another change. */
TEST content_that_is_too_new_is_not_trusted(void)
{
	static const int64_t tick = 20000000;
	static const struct {
		int64_t age;
		bool is_unstable;
	} rows[] = {
		{ -NS_PER_S, true }, { -1, true }, { 0, true }, { tick - 1, true }, { tick, false }, { NS_PER_S, false },
	};
	struct stat info;
	renew();
	ASSERT_EQ(0, lstat(at("file"), &info));
	ASSERTm("a file system with whole seconds needs other rows", info.st_ctim.tv_nsec != 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		recorder = dependencies_record(&dependencies, &arena, filesystem_host());
		read_small("file");
		ASSERT_EQ(1u, dependencies.count);
		settle_after(rows[i].age);
		ASSERT_EQ(rows[i].is_unstable, dependencies.is_unstable);
	}
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

TEST a_walk_is_not_recorded(void)
{
	struct error err = { 0 };
	renew();
	ASSERT_EQ(0, recorder->walk(recorder, root, visit, NULL, &err));
	ASSERT(dependencies.is_unstable);
	PASS();
}

/* Every component of a resolved path is recorded, the missing one too. */
TEST a_resolution_records_every_component(void)
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
	RUN_TEST(an_absent_name_in_a_directory_that_proves_it);
	RUN_TEST(a_directory_that_changed_just_now_proves_nothing);
	RUN_TEST(a_later_dependency_proves_nothing);
	RUN_TEST(a_name_that_goes);
	RUN_TEST(another_one_of_that_name);
	RUN_TEST(permissions_and_types);
	RUN_TEST(owners);
	RUN_TEST(a_link_that_leads_elsewhere);
	RUN_TEST(bytes_with_their_size_and_time_restored);
	RUN_TEST(entries_of_a_directory_whose_content_counts);
	RUN_TEST(the_stronger_query_counts);
	RUN_TEST(a_change_between_two_queries_makes_it_unstable);
	RUN_TEST(a_change_before_it_settles_makes_it_unstable);
	RUN_TEST(content_that_is_too_new_is_not_trusted);
	RUN_TEST(a_walk_is_not_recorded);
	RUN_TEST(a_resolution_records_every_component);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Files in quarantine and the way back, on real file systems: one, and two where /dev/shm is
 * another. */
#include <greatest.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/state/quarantine.h"
#include "unit/support/scratch.h"

static struct arena arena;
static struct error err;
static char id[QUARANTINE_ID + 1];
static const char *state, *project;

static const char *in_project(const char *name)
{
	return arena_printf(&arena, "%s/%s", project, name);
}

static int move(const char *name)
{
	autoclose int directory = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	memset(&err, 0, sizeof err);
	return quarantine_move(&arena, state, "p-1", directory, name, in_project(name), "a reason", id, &err);
}

static bool has(const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0;
}

static void renew(const char *name)
{
	char *real = realpath(scratch_directory(), NULL);
	state = arena_printf(&arena, "%s/%s-state", real, name);
	project = arena_printf(&arena, "%s/%s", real, name);
	mkdir(project, 0755);
	free(real);
}

static void make(const char *name, mode_t mode)
{
	scratch_write(in_project(name), "text\n", 5, mode);
}

static int back(void)
{
	struct quarantine_entry entry;
	memset(&err, 0, sizeof err);
	return quarantine_find(&arena, state, id, &entry, &err) < 0 ? -1 : quarantine_restore(&arena, state, &entry, &err);
}

/* A file, a tree, a link: gone, listed, and as it was afterwards. */
static enum greatest_test_res round_trip(void)
{
	struct quarantine_entries entries;
	struct stat info;
	make("f\n\x1b", 0755);
	ASSERT_EQ(0, move("f\n\x1b"));
	ASSERT_FALSE(has(in_project("f\n\x1b")));
	ASSERT_EQ(0, quarantine_list(&arena, state, &entries, &err));
	ASSERT_EQ(1, entries.count);
	ASSERT_STR_EQ(in_project("f\n\x1b"), entries.items[0].path);
	ASSERT_EQ(0, lstat(arena_printf(&arena, "%s/quarantine/%s/content", state, id), &info));
	ASSERT_EQ_FMT(0600u, info.st_mode & 07777, "%o");
	ASSERT_EQ(0, back());
	ASSERT_EQ(0, lstat(in_project("f\n\x1b"), &info));
	ASSERT_EQ_FMT(0755u, info.st_mode & 07777, "%o");
	mkdir(in_project(".vscode"), 0750);
	make(".vscode/tasks.json", 0640);
	ASSERT_EQ(0, symlink("/etc", in_project(".vscode/link")));
	ASSERT_EQ(0, chmod(in_project(".vscode"), 0));
	ASSERT_EQ(0, move(".vscode"));
	ASSERT_FALSE(has(in_project(".vscode")));
	ASSERT_EQ(0, back());
	ASSERT_EQ(0, chmod(in_project(".vscode"), 0755));
	ASSERT(has(in_project(".vscode/tasks.json")) && has(in_project(".vscode/link")));
	ASSERT_EQ(0, quarantine_list(&arena, state, &entries, &err));
	ASSERT_EQ(0, entries.count);
	PASS();
}

TEST on_one_file_system(void)
{
	renew("one");
	return round_trip();
}

TEST between_two(void)
{
	char template[] = "/dev/shm/berm-quarantine.XXXXXX";
	struct stat here, there;
	enum greatest_test_res result;
	renew("two");
	if (!mkdtemp(template) || stat(template, &there) < 0 || stat(project, &here) < 0 || here.st_dev == there.st_dev)
		SKIPm("/dev/shm is no other file system");
	state = arena_printf(&arena, "%s/state", template);
	result = round_trip();
	(void)!system(arena_printf(&arena, "rm -rf %s", template));
	return result;
}

TEST nothing_is_overwritten(void)
{
	renew("over");
	make("f", 0644);
	ASSERT_EQ(0, move("f"));
	make("f", 0600);
	ASSERT_EQ(-1, back());
	ASSERT(has(in_project("f")));
	ASSERT_EQ(0, unlink(in_project("f")));
	ASSERT_EQ(0, back());
	ASSERT_EQ(-1, back());
	PASS();
}

TEST what_is_absent_is_no_entry(void)
{
	struct quarantine_entries entries;
	renew("absent");
	ASSERT_EQ(-1, move("nothing"));
	ASSERT_EQ(ENOENT, err.number);
	ASSERT_EQ(0, quarantine_list(&arena, state, &entries, &err));
	ASSERT_EQ(0, entries.count);
	PASS();
}

/* Without a usable state directory the file keeps its bytes under a neutral name. */
TEST without_a_state_directory(void)
{
	renew("full");
	scratch_write(state, "", 0, 0600);
	make("f", 0644);
	ASSERT_EQ(0, move("f"));
	ASSERT_STR_EQ("", id);
	ASSERT_FALSE(has(in_project("f")));
	ASSERT(strstr(err.message, "berm-quarantine-"));
	PASS();
}

TEST an_edited_file_is_replaced_only_as_it_is(void)
{
	struct quarantine_original original = { .bytes = "old", .length = 3, .mode = 0644 };
	struct sha256 sum;
	renew("edit");
	original.path = in_project("f");
	sha256_start(&sum);
	sha256_add(&sum, "text\n", 5);
	sha256_finish_hex(&sum, original.edited);
	make("f", 0644);
	ASSERT_EQ(0, quarantine_keep(&arena, state, "p-1", &original, "a reason", id, &err));
	scratch_write(in_project("f"), "other", 5, 0644);
	ASSERT_EQ(-1, back());
	scratch_write(in_project("f"), "text\n", 5, 0644);
	ASSERT_EQ(0, back());
	PASS();
}

TEST a_link_above_is_not_followed(void)
{
	renew("link");
	mkdir(in_project("d"), 0755);
	ASSERT_EQ(0, symlink("d", in_project("l")));
	autoclose int good = quarantine_open_parent(in_project("d/f"));
	autoclose int bad = quarantine_open_parent(in_project("l/f"));
	ASSERT(good >= 0);
	ASSERT_EQ(-1, bad);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(on_one_file_system);
	RUN_TEST(between_two);
	RUN_TEST(nothing_is_overwritten);
	RUN_TEST(what_is_absent_is_no_entry);
	RUN_TEST(without_a_state_directory);
	RUN_TEST(an_edited_file_is_replaced_only_as_it_is);
	RUN_TEST(a_link_above_is_not_followed);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

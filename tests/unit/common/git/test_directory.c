/* SPDX-License-Identifier: Apache-2.0 */
/* Git directories as git itself makes them, and what is not one. */
#include <greatest.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/git/directory.h"
#include "unit/support/scratch.h"

static struct arena arena;
static const char *top;

static void make(const char *path)
{
	if (mkdir(scratch_path("%s", path), 0700) < 0)
		abort();
}

static void write_file(const char *path, const char *text)
{
	scratch_write(scratch_path("%s", path), text, strlen(text), 0600);
}

/* The parts by which git recognises a git directory. */
static void make_repository(const char *path)
{
	make(path);
	make(arena_printf(&arena, "%s/objects", path));
	make(arena_printf(&arena, "%s/refs", path));
	write_file(arena_printf(&arena, "%s/HEAD", path), "ref: refs/heads/main\n");
}

static bool follow(const char *path, enum file_type type, struct git_directory *found)
{
	return git_directory_follow(filesystem_host(), &arena, arena_printf(&arena, "%s/%s", top, path), type, found);
}

static bool examine(const char *path, struct git_directory *found)
{
	return git_directory_examine(filesystem_host(), &arena, arena_printf(&arena, "%s/%s", top, path), found);
}

static const char *below(const char *path)
{
	return text_starts_with(path, top) ? path + strlen(top) + 1 : path;
}

TEST a_pointer_is_followed(void)
{
	struct git_directory found;
	make("a");
	make_repository("a/.bare");
	write_file("a/.git", "gitdir: ./.bare\n");
	ASSERT(follow("a/.git", FILE_REGULAR, &found));
	ASSERT_STR_EQ("a/.bare", below(found.path));
	ASSERT_STR_EQ("a/.bare", below(found.common));
	ASSERT_EQ(GIT_MAIN, found.kind);
	ASSERT_EQ(0, found.links.count);
	PASS();
}

TEST a_symlink_is_followed(void)
{
	struct git_directory found;
	make("b");
	make_repository("b/store");
	ASSERT_EQ(0, symlink("store", scratch_path("b/.git")));
	ASSERT(follow("b/.git", FILE_SYMLINK, &found));
	ASSERT_STR_EQ("b/store", below(found.path));
	ASSERT_EQ(GIT_MAIN, found.kind);
	ASSERT_EQ(1, found.links.count);
	ASSERT_STR_EQ("b/.git", below(found.links.items[0].path));
	PASS();
}

TEST a_symlink_to_a_pointer_is_followed(void)
{
	struct git_directory found;
	make("c");
	make_repository("c/store");
	ASSERT_EQ(0, symlink("store", scratch_path("c/way")));
	write_file("c/pointer", "gitdir: way\n");
	ASSERT_EQ(0, symlink("pointer", scratch_path("c/.git")));
	ASSERT(follow("c/.git", FILE_SYMLINK, &found));
	ASSERT_STR_EQ("c/store", below(found.path));
	ASSERT_EQ(2, found.links.count);
	ASSERT_STR_EQ("c/.git", below(found.links.items[0].path));
	ASSERT_STR_EQ("c/way", below(found.links.items[1].path));
	PASS();
}

TEST a_worktree_has_the_common_directory(void)
{
	struct git_directory found;
	make("d");
	make_repository("d/.git");
	make("d/.git/worktrees");
	make("d/.git/worktrees/w");
	write_file("d/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
	write_file("d/.git/worktrees/w/commondir", "../..\n");
	make("d/w");
	write_file("d/w/.git", arena_printf(&arena, "gitdir: %s/d/.git/worktrees/w\n", top));
	ASSERT(follow("d/w/.git", FILE_REGULAR, &found));
	ASSERT_STR_EQ("d/.git/worktrees/w", below(found.path));
	ASSERT_STR_EQ("d/.git", below(found.common));
	ASSERT_EQ(GIT_WORKTREE, found.kind);
	ASSERT(examine("d/.git/worktrees/w", &found));
	ASSERT_EQ(GIT_WORKTREE, found.kind);
	PASS();
}

TEST a_module_and_a_bare_repository(void)
{
	struct git_directory found;
	make("e");
	make_repository("e/.git");
	make("e/.git/modules");
	make("e/.git/modules/deep");
	make_repository("e/.git/modules/deep/m");
	make_repository("e/remote.git");
	make("e/modules");
	make_repository("e/modules/r");
	ASSERT(examine("e/.git/modules/deep/m", &found));
	ASSERT_EQ(GIT_MODULE, found.kind);
	ASSERT(examine("e/remote.git", &found));
	ASSERT_EQ(GIT_BARE, found.kind);
	ASSERT(examine("e/modules/r", &found));
	ASSERT_EQ(GIT_BARE, found.kind);
	PASS();
}

TEST a_commondir_holds_in_every_directory(void)
{
	struct git_directory found;
	make("f");
	make_repository("f/.git");
	make_repository("f/other");
	write_file("f/.git/commondir", "../other\n");
	ASSERT(follow("f/.git", FILE_DIRECTORY, &found));
	ASSERT_STR_EQ("f/.git", below(found.path));
	ASSERT_STR_EQ("f/other", below(found.common));
	PASS();
}

TEST no_git_directory(void)
{
	struct git_directory found;
	make("g");
	make("g/plain");
	write_file("g/plain/HEAD", "x\n");
	write_file("g/.git", "gitdir: plain\n");
	ASSERT_FALSE(examine("g/plain", &found));
	ASSERT_FALSE(follow("g/.git", FILE_REGULAR, &found));
	write_file("g/plain/commondir", "../absent\n");
	ASSERT_FALSE(examine("g/plain", &found));
	write_file("g/.git", "gitdir: absent\n");
	ASSERT_FALSE(follow("g/.git", FILE_REGULAR, &found));
	write_file("g/.git", "plain\n");
	ASSERT_FALSE(follow("g/.git", FILE_REGULAR, &found));
	write_file("g/.git", "");
	ASSERT_FALSE(follow("g/.git", FILE_REGULAR, &found));
	ASSERT_EQ(0, unlink(scratch_path("g/.git")));
	ASSERT_EQ(0, symlink(".git", scratch_path("g/.git")));
	ASSERT_FALSE(follow("g/.git", FILE_SYMLINK, &found));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	char resolved[4096];
	top = realpath(scratch_directory(), resolved);
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_pointer_is_followed);
	RUN_TEST(a_symlink_is_followed);
	RUN_TEST(a_symlink_to_a_pointer_is_followed);
	RUN_TEST(a_worktree_has_the_common_directory);
	RUN_TEST(a_module_and_a_bare_repository);
	RUN_TEST(a_commondir_holds_in_every_directory);
	RUN_TEST(no_git_directory);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

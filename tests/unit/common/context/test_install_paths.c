/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of the installation: under any prefix, in a build directory, behind a symlink. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/context/install_paths.h"
#include "install_dirs.h"
#include "unit/support/scratch.h"

static struct arena arena;

static const char *below(const char *prefix, const char *name)
{
	return path_join(&arena, arena_copy(&arena, scratch_path("%s", prefix)), name);
}

static void make_all(const char *path)
{
	for (const char *at = path + 1; (at = strchr(at, '/')); at++)
		mkdir(arena_copy_n(&arena, path, (size_t)(at - path)), 0755);
	mkdir(path, 0755);
}

/* Creates PREFIX/bin and, with has_shims, the directory of the shims. */
static const char *make_prefix(const char *prefix, bool has_shims)
{
	const char *bin = below(prefix, "bin"), *shims;
	struct error err = { 0 };
	make_all(bin);
	if (has_shims && path_resolve(filesystem_host(), &arena, path_absolute(&arena, bin, BERM_SHIMS_FROM_BINDIR), &shims,
				      NULL, NULL, &err) == 0)
		make_all(shims);
	return path_join(&arena, bin, "berm");
}

TEST a_prefix_chosen_at_installation(void)
{
	const char *program = make_prefix("prefix", true);
	struct install_paths paths;
	install_paths_find(&arena, filesystem_host(), program, &paths);
	ASSERT_STR_EQ(program, paths.program);
	ASSERT_STR_EQ(below("prefix", "bin/berm-sh"), paths.shell);
	ASSERT(paths.is_installed);
	ASSERT(path_is_absolute_clean(paths.shims));
	ASSERT(path_is_within(paths.shims, below("prefix", "")) || path_is_within(paths.shims, scratch_path("prefix")));
	ASSERT_STR_EQ("shims", path_base_name(paths.shims));
	PASS();
}

TEST a_build_directory(void)
{
	const char *program = make_prefix("build", false);
	struct install_paths paths;
	install_paths_find(&arena, filesystem_host(), program, &paths);
	ASSERT_STR_EQ(below("build", "bin/shims"), paths.shims);
	ASSERT_STR_EQ(below("build", "bin/berm-sh"), paths.shell);
	ASSERT_FALSE(paths.is_installed);
	PASS();
}

TEST without_a_path_of_its_own_the_build_says(void)
{
	struct install_paths paths;
	install_paths_find(&arena, filesystem_host(), NULL, &paths);
	ASSERT_STR_EQ(BERM_BINDIR "/berm", paths.program);
	ASSERT_STR_EQ(BERM_BINDIR "/berm-sh", paths.shell);
	ASSERT_STR_EQ(BERM_SHIMS_DIR, paths.shims);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_prefix_chosen_at_installation);
	RUN_TEST(a_build_directory);
	RUN_TEST(without_a_path_of_its_own_the_build_says);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

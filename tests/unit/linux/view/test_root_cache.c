/* SPDX-License-Identifier: Apache-2.0 */
/* The cached layout of the new root: complete or absent, one per layout, and never more than
 * sixteen. */
#include <greatest.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/view/view.h"
#include "unit/support/scratch.h"

static struct arena arena;
static struct plan_grant grants[2] = { { .path = "/usr", .kind = GRANT_READ, .type = FILE_DIRECTORY },
				       { .path = "/work/app", .kind = GRANT_WRITE, .type = FILE_DIRECTORY } };
static struct path_link links[1] = { { .path = "/bin", .target = "usr/bin" } };

/* Makes a plan with a new class directory, which is returned open. */
static int renew(const char *name, struct plan *plan)
{
	const char *directory = arena_copy(&arena, scratch_path("%s", name));
	*plan = (struct plan){ .arena = &arena, .home = HOME_PRIVATE, .tmp = TMP_PRIVATE };
	plan->context.home = "/home/ann";
	plan->grants.items = grants;
	plan->grants.count = 2;
	plan->links.items = links;
	plan->links.count = 1;
	plan->state.directory = directory;
	mkdir(directory, 0700);
	return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int find(const struct plan *plan, bool has_terminal, int directory, struct state_place *place)
{
	char name[VIEW_SHAPE_HEX];
	struct error err;
	root_layout_name(plan, name);
	return root_cache_find(plan, name, has_terminal, directory, place, &err);
}

static mode_t type_of(const struct state_place *place, const char *path)
{
	struct stat info;
	return lstat(arena_printf(&arena, "%s%s", place->path, path), &info) < 0 ? 0 : info.st_mode & S_IFMT;
}

static size_t entries_of(int directory)
{
	DIR *stream = fdopendir(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	size_t count = 0;
	while (readdir(stream))
		count++;
	closedir(stream);
	return count - 2;
}

TEST has_all_that_is_mounted_on(void)
{
	struct plan plan;
	struct state_place place, again;
	struct stat info;
	mode_t before = umask(077);
	int directory = renew("all", &plan);
	find(&plan, false, directory, &place);
	umask(before);
	ASSERT(place.path);
	ASSERT_EQ(0, stat(place.path, &info));
	ASSERT_EQ(0755, (int)(info.st_mode & 07777));
	ASSERT(info.st_ino == place.inode && info.st_dev == place.device);
	static const char *const directories[] = { "/usr",  "/work/app", "/home/ann", "/tmp",
						   "/proc", "/run/berm", "/dev/pts",  "/dev/shm" };
	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
		ASSERT_EQm(directories[i], S_IFDIR, type_of(&place, directories[i]));
	ASSERT_EQ(S_IFREG, type_of(&place, "/dev/null"));
	ASSERT_EQ(S_IFLNK, type_of(&place, "/bin"));
	ASSERT_EQ(S_IFLNK, type_of(&place, "/var/tmp"));
	ASSERT_EQ(S_IFLNK, type_of(&place, "/dev/fd"));
	ASSERT_EQ(0, type_of(&place, "/dev/console"));
	ASSERT_EQ(0, stat(arena_printf(&arena, "%s/work", place.path), &info));
	ASSERT_EQ(0755, (int)(info.st_mode & 07777));
	find(&plan, false, directory, &again);
	ASSERT_STR_EQ(place.path, again.path);
	ASSERT_EQ(place.inode, again.inode);
	ASSERT_EQ(1, entries_of(directory));
	close(directory);
	PASS();
}

TEST is_another_for_another_shape(void)
{
	struct plan plan;
	struct state_place first, second, third, fourth;
	struct path_link other = { .path = "/bin", .target = "usr/sbin" };
	int directory = renew("another", &plan);
	find(&plan, false, directory, &first);
	find(&plan, true, directory, &second);
	ASSERT_EQ(S_IFREG, type_of(&second, "/dev/console"));
	plan.links.items = &other;
	find(&plan, false, directory, &third);
	plan.grants.count = 1;
	find(&plan, false, directory, &fourth);
	ASSERT(first.inode != second.inode && second.inode != third.inode && third.inode != fourth.inode &&
	       third.inode != first.inode);
	ASSERT_EQ(0, type_of(&fourth, "/work"));
	ASSERT_EQ(4, entries_of(directory));
	close(directory);
	PASS();
}

TEST is_refused_where_it_cannot_be_trusted(void)
{
	struct plan plan;
	struct state_place place;
	struct error err;
	int directory = renew("untrusted", &plan);
	const char *path;
	ASSERT_EQ(0, find(&plan, false, directory, &place));
	path = place.path;
	ASSERT(path);
	ASSERT_EQ(0, chmod(path, 0777));
	ASSERT_EQ(-1, find(&plan, false, directory, &place));
	ASSERT_EQ(NULL, place.path);
	ASSERT_EQ(0, chmod(path, 0755));
	ASSERT_EQ(0, rename(path, arena_printf(&arena, "%s/moved", plan.state.directory)));
	ASSERT_EQ(0, symlink("moved", path));
	ASSERT_EQ(-1, find(&plan, false, directory, &place));
	ASSERT_EQ(NULL, place.path);
	ASSERT_EQ(0, root_cache_find(&plan, "00000000000000000000000000000000", false, -1, &place, &err));
	ASSERT_EQ(NULL, place.path);
	close(directory);
	PASS();
}

TEST is_bounded_and_cleans_up_after_the_killed(void)
{
	struct plan plan;
	struct state_place place;
	int directory = renew("bounded", &plan);
	pid_t dead = fork();
	if (dead == 0)
		_exit(0);
	waitpid(dead, NULL, 0);
	mkdir(arena_printf(&arena, "%s/.root-%d", plan.state.directory, (int)dead), 0700);
	mkdir(arena_printf(&arena, "%s/.root-%d/left", plan.state.directory, (int)dead), 0700);
	mkdir(arena_printf(&arena, "%s/.root-%d", plan.state.directory, (int)getppid()), 0700);
	for (int i = 0; i < 40; i++) {
		grants[1].path = arena_printf(&arena, "/work/app%d", i);
		find(&plan, false, directory, &place);
	}
	grants[1].path = "/work/app";
	ASSERT_EQ(NULL, place.path);
	ASSERT_EQ(17, entries_of(directory)); /* sixteen, and that of a running process */
	close(directory);
	PASS();
}

TEST is_one_when_many_make_it_at_once(void)
{
	struct plan plan;
	struct state_place place;
	int directory = renew("at-once", &plan);
	pid_t children[8];
	for (size_t i = 0; i < 8; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			find(&plan, false, directory, &place);
			_exit(place.path && type_of(&place, "/dev/ptmx") == S_IFLNK ? 0 : 1);
		}
	}
	for (size_t i = 0; i < 8; i++) {
		int status;
		ASSERT_EQ(children[i], waitpid(children[i], &status, 0));
		ASSERT_EQ(0, status);
	}
	ASSERT_EQ(1, entries_of(directory));
	close(directory);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(has_all_that_is_mounted_on);
	RUN_TEST(is_another_for_another_shape);
	RUN_TEST(is_refused_where_it_cannot_be_trusted);
	RUN_TEST(is_bounded_and_cleans_up_after_the_killed);
	RUN_TEST(is_one_when_many_make_it_at_once);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

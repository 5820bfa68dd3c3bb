/* SPDX-License-Identifier: Apache-2.0 */
/* Listing and removing private state with arbitrary content of a command. */
#include <greatest.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fs/filesystem.h"
#include "common/state/state.h"
#include "common/state/list.h"
#include "unit/support/scratch.h"

enum { DEEP = 3000 };

static struct arena arena;
static struct error err;
static const char *top;
static struct state_entries entries;
static struct state_reset result;

static void renew(const char *name)
{
	memset(&err, 0, sizeof err);
	top = arena_copy(&arena, scratch_path("%s/berm", name));
}

/* Prepares the state like a run; the lock is in state->lock. */
static int prepare(const char *project, const char *grant_class, struct state *state)
{
	struct plan plan = { .arena = &arena, .home = HOME_PRIVATE, .tmp = TMP_PRIVATE };
	plan.context.state_directory = top;
	plan.context.project = project;
	plan.state.project_key = plan_project_key(&arena, project);
	plan.state.grant_class = grant_class;
	plan.state.directory = arena_printf(&arena, "%s/projects/%s/%s", top, plan.state.project_key, grant_class);
	plan.state.home = path_join(&arena, plan.state.directory, "home");
	plan.state.tmp = path_join(&arena, plan.state.directory, "tmp");
	return state_prepare(&plan, &(struct plan_documents){ 0 }, state, &err);
}

/* A run that has ended. */
static const char *home_of(const char *project, const char *grant_class)
{
	struct state state;
	if (prepare(project, grant_class, &state) < 0)
		return NULL;
	close(state.lock);
	return state.home.path;
}

static bool exists(const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0;
}

TEST lists_nothing_where_nothing_is(void)
{
	renew("nothing");
	ASSERT_EQ(0, state_list(&arena, top, NULL, true, &entries, &err));
	ASSERT_EQ(0, entries.count);
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	ASSERT_EQ(0, result.removed);
	ASSERT_FALSE(exists(top));
	PASS();
}

TEST lists_projects_classes_sizes_and_last_use(void)
{
	struct timespec long_ago[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	char *bytes = arena_alloc(&arena, 100000);
	renew("list");
	const char *home = home_of("/p/one", "offline");
	memset(bytes, 'x', 100000);
	scratch_write(arena_printf(&arena, "%s/large", home), bytes, 100000, 0600);
	home_of("/p/one", "grants-1");
	home_of("/p/two\nlines", "offline");
	ASSERT_EQ(0, utimensat(AT_FDCWD, path_parent(&arena, home), long_ago, 0));
	ASSERT_EQ(0, state_list(&arena, top, NULL, true, &entries, &err));
	ASSERT_EQ(3, entries.count);
	ASSERT_STR_EQ("/p/one", entries.items[0].project);
	ASSERT_STR_EQ("grants-1", entries.items[0].grant_class);
	ASSERT_EQ(0, entries.items[0].home.entries);
	ASSERT(entries.items[0].last_use > 1600000000);
	ASSERT_STR_EQ("offline", entries.items[1].grant_class);
	ASSERT_EQ(1, entries.items[1].home.entries);
	ASSERT(entries.items[1].home.bytes >= 100000);
	ASSERT_EQ(1000000000, entries.items[1].last_use);
	ASSERT_STR_EQ("/p/two\nlines", entries.items[2].project);
	/* A run updates the time. */
	home_of("/p/one", "offline");
	ASSERT_EQ(0, state_list(&arena, top, plan_project_key(&arena, "/p/one"), false, &entries, &err));
	ASSERT_EQ(2, entries.count);
	ASSERT(entries.items[1].last_use > 1600000000);
	ASSERT_EQ(0, entries.items[1].home.bytes);
	PASS();
}

TEST the_path_is_believed_only_if_the_name_is_made_from_it(void)
{
	renew("path");
	const char *project = path_parent(&arena, path_parent(&arena, home_of("/p/one", "offline")));
	scratch_write(path_join(&arena, project, "path"), "/p/two", 6, 0600);
	ASSERT_EQ(0, state_list(&arena, top, NULL, false, &entries, &err));
	ASSERT_EQ(1, entries.count);
	ASSERT_EQ(NULL, entries.items[0].project);
	PASS();
}

TEST removes_one_project_and_leaves_the_others(void)
{
	renew("one");
	const char *first = home_of("/p/one", "offline"), *second = home_of("/p/two", "offline");
	home_of("/p/one", "grants-1");
	ASSERT_EQ(0, state_reset(&arena, top, plan_project_key(&arena, "/p/one"), &result, &err));
	ASSERT_EQ(2, result.removed);
	ASSERT_FALSE(exists(path_parent(&arena, path_parent(&arena, first))));
	ASSERT(exists(second));
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	ASSERT_EQ(1, result.removed);
	ASSERT_FALSE(exists(second));
	/* A run creates it again. */
	ASSERT(home_of("/p/one", "offline"));
	PASS();
}

TEST orphans_are_named_and_removed_one_by_one(void)
{
	renew("orphans");
	const char *here = arena_copy(&arena, scratch_path("orphans-project"));
	ASSERT_EQ(0, mkdir(here, 0700));
	const char *kept = home_of(here, "offline"), *old = home_of(here, "grants-0123456789abcdef");
	const char *gone = home_of("/p/gone", "offline");
	ASSERT_EQ(0, state_list(&arena, top, NULL, true, &entries, &err));
	ASSERT_EQ(3, entries.count);
	for (size_t i = 0; i < entries.count; i++) {
		const struct state_entry *entry = &entries.items[i];
		bool is_kept = strcmp(entry->project, here) == 0 && strcmp(entry->grant_class, "offline") == 0;
		ASSERT_EQ(is_kept, entry->orphan == NULL);
		if (is_kept)
			continue;
		result = (struct state_reset){ 0 };
		ASSERT_EQ(0, state_remove_entry(&arena, top, entry, &result, &err));
		ASSERT_EQ(1, result.removed);
	}
	ASSERT(exists(kept));
	ASSERT_FALSE(exists(old));
	ASSERT_FALSE(exists(path_parent(&arena, path_parent(&arena, gone))));
	PASS();
}

/* The symlinks point to real files outside, which must not change. */
TEST symlinks_are_removed_and_never_followed(void)
{
	const char *precious = arena_copy(&arena, scratch_path("precious"));
	renew("links");
	const char *home = home_of("/p/one", "offline");
	ASSERT_EQ(0, mkdir(precious, 0700));
	scratch_write(path_join(&arena, precious, "file"), "x", 1, 0600);
	ASSERT_EQ(0, symlink(precious, path_join(&arena, home, "directory")));
	ASSERT_EQ(0, symlink(path_join(&arena, precious, "file"), path_join(&arena, home, "file")));
	ASSERT_EQ(0, symlink("../../../../../precious", path_join(&arena, home, "up")));
	ASSERT_EQ(0, symlink("/", path_join(&arena, home, "root")));
	ASSERT_EQ(0, link(path_join(&arena, precious, "file"), path_join(&arena, home, "hard")));
	ASSERT_EQ(0, mkfifo(path_join(&arena, home, "fifo"), 0600));
	ASSERT_EQ(0, state_list(&arena, top, NULL, true, &entries, &err));
	ASSERT_EQ(6, entries.items[0].home.entries);
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	ASSERT_EQ(1, result.removed);
	ASSERT_FALSE(exists(home));
	ASSERT(exists(path_join(&arena, precious, "file")));
	PASS();
}

TEST closed_directories_are_opened_and_removed(void)
{
	renew("closed");
	const char *home = home_of("/p/one", "offline");
	const char *inner = path_join(&arena, home, "a/b/c");
	ASSERT_EQ(0, mkdir(path_join(&arena, home, "a"), 0700));
	ASSERT_EQ(0, mkdir(path_join(&arena, home, "a/b"), 0700));
	ASSERT_EQ(0, mkdir(inner, 0700));
	scratch_write(path_join(&arena, inner, "file"), "x", 1, 0);
	ASSERT_EQ(0, chmod(inner, 0555));
	ASSERT_EQ(0, chmod(path_join(&arena, home, "a/b"), 0));
	ASSERT_EQ(0, chmod(path_join(&arena, home, "a"), 0100));
	ASSERT_EQ(0, chmod(home, 0));
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	if (error_is_set(&result.failure))
		FAILm(result.failure.message);
	ASSERT_EQ(1, result.removed);
	ASSERT_FALSE(exists(path_parent(&arena, home)));
	PASS();
}

/* Deeper than any path and than the number of fds, with the names that the removal itself uses. */
TEST a_very_deep_tree_is_removed(void)
{
	renew("deep");
	const char *home = home_of("/p/one", "offline");
	int current = open(home, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < DEEP; i++) {
		const char *name = i % 2 ? ".berm-deep-0" : "directory-with-a-long-name";
		ASSERT_EQ(0, mkdirat(current, name, 0700));
		int next = openat(current, name, O_RDONLY | O_DIRECTORY);
		if (i % 100 == 7)
			ASSERT_EQ(0, fchmod(next, i % 200 == 7 ? 0700 : 0500) + fchmod(next, 0700));
		close(current);
		current = next;
	}
	close(current);
	ASSERT_EQ(0, state_list(&arena, top, NULL, true, &entries, &err));
	ASSERT(entries.items[0].home.is_partial);
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	if (error_is_set(&result.failure))
		FAILm(result.failure.message);
	ASSERT_EQ(1, result.removed);
	ASSERT_FALSE(exists(home));
	PASS();
}

TEST what_a_run_uses_is_left_alone(void)
{
	struct state first, second;
	renew("use");
	ASSERT_EQ(0, prepare("/p/one", "offline", &first));
	ASSERT_EQ(0, prepare("/p/one", "offline", &second)); /* two runs at once */
	const char *unused = home_of("/p/one", "grants-1");
	ASSERT_EQ(0, state_list(&arena, top, NULL, true, &entries, &err));
	ASSERT_FALSE(entries.items[0].is_in_use);
	ASSERT(entries.items[1].is_in_use);
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	ASSERT_EQ(1, result.removed);
	ASSERT_EQ(1, result.in_use);
	ASSERT(exists(first.home.path));
	ASSERT_FALSE(exists(unused));
	close(first.lock);
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	ASSERT_EQ(1, result.in_use);
	close(second.lock);
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	ASSERT_EQ(1, result.removed);
	ASSERT_FALSE(exists(first.home.path));
	PASS();
}

/* Runs during resets by another process: none fails, and none loses its home while it has the
 * lock. */
TEST runs_and_resets_at_once(void)
{
	renew("race");
	pid_t pid = fork();
	if (pid == 0) {
		for (;;)
			if (state_reset(&arena, top, NULL, &result, &err) < 0 || error_is_set(&result.failure))
				_exit(1);
	}
	ASSERT(pid > 0);
	for (int i = 0; i < 150; i++) {
		struct state state;
		struct stat info;
		if (prepare("/p/one", "offline", &state) < 0)
			FAILm(err.message);
		ASSERT_EQ(0, stat(state.home.path, &info));
		ASSERT_EQ(state.home.inode, info.st_ino);
		close(state.lock);
	}
	int status;
	ASSERT_EQ(0, waitpid(pid, &status, WNOHANG)); /* it did not fail either */
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	PASS();
}

TEST an_interrupted_reset_is_finished_by_the_next(void)
{
	renew("leftover");
	const char *home = home_of("/p/one", "offline");
	const char *class = path_parent(&arena, home);
	const char *leftover = path_join(&arena, path_parent(&arena, class), ".removed-1-0");
	ASSERT_EQ(0, rename(class, leftover));
	ASSERT_EQ(0, state_list(&arena, top, NULL, true, &entries, &err));
	ASSERT_EQ(1, entries.count);
	ASSERT(entries.items[0].is_leftover);
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	ASSERT_EQ(1, result.removed);
	ASSERT_FALSE(exists(leftover));
	PASS();
}

/* A project or class directory that fails the checks is reported, and neither entered nor
 * removed. */
TEST planted_links_and_open_directories_are_refused(void)
{
	const char *victim = arena_copy(&arena, scratch_path("victim"));
	renew("planted");
	const char *class = path_parent(&arena, home_of("/p/one", "offline"));
	const char *project = path_parent(&arena, class);
	ASSERT_EQ(0, mkdir(victim, 0700));
	scratch_write(path_join(&arena, victim, "file"), "x", 1, 0600);
	ASSERT_EQ(0, symlink(victim, path_join(&arena, project, "grants-planted")));
	ASSERT_EQ(0, symlink(victim, path_join(&arena, path_parent(&arena, project), "planted-0123456789abcdef")));
	ASSERT_EQ(0, mkdir(path_join(&arena, project, "grants-open"), 0700));
	ASSERT_EQ(0, chmod(path_join(&arena, project, "grants-open"), 0777));
	ASSERT_EQ(0, state_list(&arena, top, NULL, true, &entries, &err));
	ASSERT_EQ(4, entries.count);
	ASSERT(entries.items[0].problem); /* grants-open */
	ASSERT(entries.items[1].problem); /* grants-planted */
	ASSERT_EQ(NULL, entries.items[2].problem);
	ASSERT(entries.items[3].problem);
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	ASSERT(error_is_set(&result.failure));
	ASSERT_EQ(1, result.removed); /* the good one */
	ASSERT(exists(path_join(&arena, victim, "file")));
	ASSERT(exists(path_join(&arena, project, "grants-planted")));
	PASS();
}

TEST a_state_directory_that_is_a_link_is_refused(void)
{
	renew("top");
	home_of("/p/one", "offline");
	const char *away = arena_copy(&arena, scratch_path("top/away"));
	ASSERT_EQ(0, rename(top, away));
	ASSERT_EQ(0, symlink(away, top));
	ASSERT_EQ(-1, state_list(&arena, top, NULL, true, &entries, &err));
	ASSERT_EQ(-1, state_reset(&arena, top, NULL, &result, &err));
	ASSERT(exists(path_join(&arena, away, "projects")));
	ASSERT_EQ(NULL, home_of("/p/one", "offline"));
	PASS();
}

/* A user who controls the parent could replace the state directory by another one of ours. */
TEST a_parent_that_others_control_is_refused(void)
{
	renew("parent");
	const char *parent = path_parent(&arena, top);
	ASSERT(home_of("/p/one", "offline"));
	ASSERT_EQ(0, chmod(parent, 0777));
	ASSERT_EQ(-1, state_list(&arena, top, NULL, false, &entries, &err));
	ASSERT_EQ(NULL, home_of("/p/one", "offline"));
	ASSERT_EQ(0, chmod(parent, 01777)); /* like /tmp */
	ASSERT(home_of("/p/one", "offline"));
	if (geteuid() == 0) {
		ASSERT_EQ(0, chown(parent, 12345, 12345));
		ASSERT_EQ(-1, state_reset(&arena, top, NULL, &result, &err));
		ASSERT_EQ(0, chown(parent, 0, 0));
	}
	ASSERT_EQ(0, state_reset(&arena, top, NULL, &result, &err));
	ASSERT_EQ(1, result.removed);
	PASS();
}

/* As a user with a directory of root in the home: it stays and is reported, the rest is removed. */
static int reset_as_other(void *data)
{
	(void)data;
	EXPECT(setgid(12345) == 0 && setuid(12345) == 0);
	EXPECT(state_reset(&arena, top, NULL, &result, &err) == 0);
	EXPECT(error_is_set(&result.failure) && strstr(result.failure.message, "foreign"));
	EXPECT(result.removed == 1);
	return 0;
}

TEST what_cannot_be_removed_is_told(void)
{
	if (geteuid() != 0)
		SKIPm("needs root to make another user's directory");
	renew("told");
	ASSERT_EQ(0, chmod(scratch_directory(), 0711));
	const char *home = home_of("/p/one", "offline");
	home_of("/p/one", "grants-1");
	ASSERT_EQ(0, mkdir(path_join(&arena, home, "foreign"), 0700));
	scratch_write(path_join(&arena, home, "foreign/file"), "x", 1, 0600);
	scratch_write(path_join(&arena, home, "own"), "x", 1, 0600);
	for (const char *path = home; strlen(path) > strlen(scratch_directory()); path = path_parent(&arena, path))
		ASSERT_EQ(0, chown(path, 12345, 12345));
	ASSERT_EQ(0, chown(path_join(&arena, path_parent(&arena, path_parent(&arena, home)), "grants-1"), 12345, 12345));
	ASSERT_EQ(0, chown(path_join(&arena, path_parent(&arena, path_parent(&arena, home)), "grants-1/home"), 12345, 12345));
	ASSERT_EQ(0, chown(path_join(&arena, path_parent(&arena, path_parent(&arena, home)), "grants-1/tmp"), 12345, 12345));
	int status = scratch_child(reset_as_other, NULL);
	if (status != 0)
		FAILm(scratch_errors());
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(lists_nothing_where_nothing_is);
	RUN_TEST(lists_projects_classes_sizes_and_last_use);
	RUN_TEST(the_path_is_believed_only_if_the_name_is_made_from_it);
	RUN_TEST(removes_one_project_and_leaves_the_others);
	RUN_TEST(orphans_are_named_and_removed_one_by_one);
	RUN_TEST(symlinks_are_removed_and_never_followed);
	RUN_TEST(closed_directories_are_opened_and_removed);
	RUN_TEST(a_very_deep_tree_is_removed);
	RUN_TEST(what_a_run_uses_is_left_alone);
	RUN_TEST(runs_and_resets_at_once);
	RUN_TEST(an_interrupted_reset_is_finished_by_the_next);
	RUN_TEST(planted_links_and_open_directories_are_refused);
	RUN_TEST(a_state_directory_that_is_a_link_is_refused);
	RUN_TEST(a_parent_that_others_control_is_refused);
	RUN_TEST(what_cannot_be_removed_is_told);
	GREATEST_MAIN_END();
}

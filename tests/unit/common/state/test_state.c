/* SPDX-License-Identifier: Apache-2.0 */
/* Private state on a real file system: created directories, their modes, and refusals. */
#include <greatest.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/state/state.h"
#include "unit/support/scratch.h"

static struct arena arena;
static struct plan plan;
static struct error err;

/* A plan whose state directory is a new one below the scratch directory. */
static void renew(const char *name)
{
	const char *top = arena_copy(&arena, scratch_path("%s/berm", name));
	memset(&err, 0, sizeof err);
	plan = (struct plan){ .arena = &arena, .home = HOME_PRIVATE, .tmp = TMP_PRIVATE };
	plan.context.state_directory = top;
	plan.context.project = "/somewhere/app";
	plan.state.project_key = "app-0123";
	plan.state.grant_class = "offline";
	plan.state.directory = arena_printf(&arena, "%s/projects/app-0123/offline", top);
	plan.state.home = arena_printf(&arena, "%s/home", plan.state.directory);
	plan.state.tmp = arena_printf(&arena, "%s/tmp", plan.state.directory);
}

static int prepare(struct state *state)
{
	int status = state_prepare(&plan, &(struct plan_documents){ 0 }, state, &err);
	if (status == 0 && state->lock >= 0)
		close(state->lock);
	return status;
}

static int mode_of(const char *path)
{
	struct stat info;
	return lstat(path, &info) < 0 ? -1 : (int)(info.st_mode & 07777);
}

TEST makes_private_directories_whatever_the_umask(void)
{
	static const mode_t masks[] = { 022, 077, 0, 027, 0777 };
	for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
		struct state state;
		char name[32];
		mode_t before = umask(masks[i]);
		snprintf(name, sizeof name, "new%zu/deep", i);
		renew(name);
		int status = prepare(&state);
		umask(before);
		if (status < 0)
			FAILm(err.message);
		ASSERT_EQ(0700, mode_of(plan.context.state_directory));
		ASSERT_EQ(0700, mode_of(plan.state.directory));
		ASSERT_EQ(0700, mode_of(plan.state.home));
		ASSERT_EQ(01777, mode_of(plan.state.tmp));
	}
	PASS();
}

TEST names_the_directories_by_identity_and_keeps_them(void)
{
	struct state first, second;
	struct stat info;
	renew("kept");
	ASSERT_EQ(0, prepare(&first));
	ASSERT_EQ(0, stat(plan.state.home, &info));
	ASSERT_EQ(info.st_ino, first.home.inode);
	ASSERT_EQ(info.st_dev, first.home.device);
	scratch_write(arena_printf(&arena, "%s/kept", plan.state.home), "x", 1, 0600);
	ASSERT_EQ(0, prepare(&second));
	ASSERT_EQ(first.home.inode, second.home.inode);
	ASSERT_EQ(first.tmp.inode, second.tmp.inode);
	ASSERT_EQ(0, access(arena_printf(&arena, "%s/kept", plan.state.home), F_OK));
	PASS();
}

TEST makes_nothing_that_the_plan_does_not_keep(void)
{
	struct state state;
	renew("none");
	plan.home = HOME_EMPTY;
	plan.tmp = TMP_EMPTY;
	ASSERT_EQ(0, prepare(&state));
	ASSERT_EQ(NULL, state.home.path);
	ASSERT_EQ(-1, mode_of(plan.context.state_directory));
	plan.tmp = TMP_PRIVATE;
	ASSERT_EQ(0, prepare(&state));
	ASSERT_EQ(-1, mode_of(plan.state.home));
	ASSERT_EQ(01777, mode_of(plan.state.tmp));
	PASS();
}

/* The command may change the mode of its home, which must not break later runs. */
TEST sets_the_modes_of_home_and_tmp_right(void)
{
	static const mode_t modes[] = { 0, 0777, 0500, 02755 };
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		struct state state;
		renew("modes");
		ASSERT_EQ(0, prepare(&state));
		chmod(plan.state.home, modes[i]);
		chmod(plan.state.tmp, modes[i]);
		if (prepare(&state) < 0)
			FAILm(err.message);
		ASSERT_EQ(0700, mode_of(plan.state.home));
		ASSERT_EQ(01777, mode_of(plan.state.tmp));
	}
	PASS();
}

static const char *component(int level)
{
	const char *const parts[] = { "",
				      "/projects",
				      "/projects/app-0123",
				      "/projects/app-0123/offline",
				      "/projects/app-0123/offline/home",
				      "/projects/app-0123/offline/tmp" };
	return arena_printf(&arena, "%s%s", plan.context.state_directory, parts[level]);
}

/* Each level is moved away and replaced by a symlink to itself, then by a file. */
TEST follows_no_symlink_and_takes_no_file(void)
{
	for (int level = 0; level < 6; level++) {
		for (int is_link = 0; is_link < 2; is_link++) {
			struct state state;
			char name[32];
			snprintf(name, sizeof name, "replaced%d%d", level, is_link);
			renew(name);
			ASSERT_EQ(0, prepare(&state));
			const char *path = component(level), *away = arena_printf(&arena, "%s.away", path);
			ASSERT_EQ(0, rename(path, away));
			if (is_link)
				ASSERT_EQ(0, symlink(away, path));
			else
				scratch_write(path, "", 0, 0600);
			ASSERT_EQ(-1, prepare(&state));
			ASSERT(err.message[0]);
			/* Control: moved back, it works again. */
			ASSERT_EQ(0, unlink(path));
			ASSERT_EQ(0, rename(away, path));
			ASSERT_EQ(0, prepare(&state));
		}
	}
	PASS();
}

TEST refuses_directories_that_others_can_write(void)
{
	for (int level = 0; level < 4; level++) {
		static const mode_t modes[] = { 0777, 0770, 0702 };
		for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
			struct state state;
			renew("writable");
			ASSERT_EQ(0, prepare(&state));
			chmod(component(level), modes[i]);
			ASSERT_EQ(-1, prepare(&state));
			ASSERT(strstr(err.message, "other users can write"));
			/* Refused, never repaired. */
			ASSERT_EQ((int)modes[i], mode_of(component(level)));
			chmod(component(level), 0700);
			ASSERT_EQ(0, prepare(&state));
		}
	}
	PASS();
}

TEST refuses_directories_of_other_users(void)
{
	if (geteuid() != 0)
		SKIPm("only root can give a directory away");
	for (int level = 0; level < 6; level++) {
		struct state state;
		renew("foreign");
		ASSERT_EQ(0, prepare(&state));
		ASSERT_EQ(0, chown(component(level), 65533, (gid_t)-1));
		ASSERT_EQ(-1, prepare(&state));
		ASSERT(strstr(err.message, "another user"));
		ASSERT_EQ(0, chown(component(level), 0, (gid_t)-1));
		ASSERT_EQ(0, prepare(&state));
	}
	PASS();
}

/* Eight runs at once in an empty directory get the same directories. */
TEST is_safe_when_many_run_at_once(void)
{
	for (int round = 0; round < 10; round++) {
		pid_t children[8];
		struct state state;
		char name[32];
		snprintf(name, sizeof name, "crowd%d", round);
		renew(name);
		for (size_t i = 0; i < 8; i++) {
			children[i] = fork();
			if (children[i] == 0)
				_exit(state_prepare(&plan, &(struct plan_documents){ 0 }, &state, &err) < 0);
		}
		for (size_t i = 0; i < 8; i++) {
			int status;
			ASSERT_EQ(children[i], waitpid(children[i], &status, 0));
			ASSERT_EQ(0, status);
		}
		ASSERT_EQ(0, prepare(&state));
	}
	PASS();
}

TEST locks_the_class_while_it_is_used(void)
{
	struct state state;
	renew("locked");
	ASSERT_EQ(0, state_prepare(&plan, &(struct plan_documents){ 0 }, &state, &err));
	ASSERT(state.lock >= 0);
	ASSERT(fcntl(state.lock, F_GETFD) & FD_CLOEXEC);
	int other = open(plan.state.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_EQ(1, state_lock(other, false)); /* a reset must wait */
	ASSERT_EQ(0, state_lock(other, true)); /* a second run does not */
	close(other);
	close(state.lock);
	other = open(plan.state.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_EQ(0, state_lock(other, false));
	close(other);
	PASS();
}

/* Sets the class directory's time back by some seconds, uses it, and returns how far back it is
 * then. */
static long long age_after_use(long long seconds)
{
	const struct timespec times[] = { { time(NULL) - seconds, 0 }, { time(NULL) - seconds, 0 } };
	struct state state;
	struct stat info;
	if (utimensat(AT_FDCWD, plan.state.directory, times, 0) < 0 || prepare(&state) < 0 ||
	    stat(plan.state.directory, &info) < 0)
		return -1;
	return (long long)time(NULL) - info.st_mtime;
}

/* A launch that writes to the disk may wait for it. */
TEST notes_when_it_was_used_once_a_minute(void)
{
	struct state state;
	renew("used");
	ASSERT_EQ(0, prepare(&state));
	ASSERT(age_after_use(20) >= 20);
	ASSERT(age_after_use(120) < 20);
	/* A clock that was set back. */
	ASSERT(age_after_use(-3600) < 20 && age_after_use(-3600) >= 0);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(makes_private_directories_whatever_the_umask);
	RUN_TEST(names_the_directories_by_identity_and_keeps_them);
	RUN_TEST(makes_nothing_that_the_plan_does_not_keep);
	RUN_TEST(sets_the_modes_of_home_and_tmp_right);
	RUN_TEST(follows_no_symlink_and_takes_no_file);
	RUN_TEST(refuses_directories_that_others_can_write);
	RUN_TEST(refuses_directories_of_other_users);
	RUN_TEST(is_safe_when_many_run_at_once);
	RUN_TEST(locks_the_class_while_it_is_used);
	RUN_TEST(notes_when_it_was_used_once_a_minute);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The cached trial: it is loaded for the same machine only, and not from a file that is damaged or
 * not private. */
#include <greatest.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux/probe/trial_cache.h"
#include "unit/support/scratch.h"

static struct arena arena;
static char directory[4096], file[4200];
static struct probe_host host;
static char key[65];

static struct trial example(void)
{
	struct trial trial = { .landlock_abi = 7 };
	trial.number[STAGE_PROC] = 1;
	trial.number[STAGE_FUSE] = TRIAL_UNTRIED;
	return trial;
}

static void set_up(void *data)
{
	(void)data;
	static const char *base;
	if (!base)
		base = scratch_directory();
	snprintf(directory, sizeof directory, "%s/state", base);
	snprintf(file, sizeof file, "%s/probe", directory);
	mkdir(directory, 0700);
	unlink(file);
	probe_host_read(&host);
	host.is_filtered = host.has_no_new_privs = false;
	trial_cache_key(&host, false, key);
}

static bool loads(void)
{
	struct trial trial;
	return trial_cache_load(&arena, directory, key, &trial);
}

TEST what_was_saved_comes_back(void)
{
	struct trial saved = example(), loaded = { 0 };
	struct stat info;
	ASSERT_FALSE(loads());
	trial_cache_save(&arena, directory, key, &saved);
	ASSERT(trial_cache_load(&arena, directory, key, &loaded));
	ASSERT_MEM_EQ(&saved, &loaded, sizeof saved);
	ASSERT_EQ(0, stat(file, &info));
	ASSERT_EQ(0600, (int)(info.st_mode & 07777));
	/* No other file is left in the directory. */
	ASSERT_EQ(0, unlink(file));
	ASSERT_EQ(0, rmdir(directory));
	/* The directory is not created. */
	trial_cache_save(&arena, directory, key, &saved);
	ASSERT(access(directory, F_OK) < 0);
	PASS();
}

TEST each_difference_of_the_machine_counts(void)
{
	char other[65];
	struct probe_host changed = host;
	struct trial saved = example();
	trial_cache_save(&arena, directory, key, &saved);
	ASSERT(loads());

#define DIFFERS(change)                                                                                                        \
	changed = host;                                                                                                        \
	change;                                                                                                                \
	ASSERT(trial_cache_key(&changed, false, other));                                                                       \
	ASSERTm(#change, strcmp(key, other) != 0 && !trial_cache_load(&arena, directory, other, &saved))
	DIFFERS(changed.max_user_namespaces ^= 1);
	DIFFERS(changed.userns_clone ^= 1);
	DIFFERS(changed.apparmor_userns ^= 1);
	DIFFERS(changed.yama ^= 1);
	DIFFERS(strcpy(changed.profile, "another"));
	DIFFERS(strcpy(changed.container, "another"));
	DIFFERS(strcpy(changed.release, "another"));
	DIFFERS(changed.is_selinux_enforcing ^= true);
	ASSERT(trial_cache_key(&host, true, other));
	ASSERT(strcmp(key, other) != 0);
	ASSERT(trial_cache_key(&host, false, other));
	ASSERT_STR_EQ(key, other);
	PASS();
}

/* Two filters cannot be distinguished from inside. */
TEST nothing_is_kept_under_a_filter(void)
{
	char other[65];
	struct probe_host changed = host;
	changed.is_filtered = true;
	ASSERT_FALSE(trial_cache_key(&changed, false, other));
	changed = host;
	changed.has_no_new_privs = true;
	ASSERT_FALSE(trial_cache_key(&changed, false, other));
	PASS();
}

TEST every_damaged_byte_is_noticed(void)
{
	struct trial saved = example();
	struct stat info;
	int fd;
	trial_cache_save(&arena, directory, key, &saved);
	ASSERT_EQ(0, stat(file, &info));
	fd = open(file, O_RDWR | O_CLOEXEC);
	for (off_t at = 0; at < info.st_size; at++) {
		unsigned char byte, wrong;
		ASSERT_EQ(1, (int)pread(fd, &byte, 1, at));
		wrong = byte ^ 1;
		ASSERT_EQ(1, (int)pwrite(fd, &wrong, 1, at));
		ASSERT_FALSE(loads());
		ASSERT_EQ(1, (int)pwrite(fd, &byte, 1, at));
	}
	ASSERT(loads());
	ASSERT_EQ(0, ftruncate(fd, info.st_size - 1));
	ASSERT_FALSE(loads());
	ASSERT_EQ(0, ftruncate(fd, 0));
	ASSERT_FALSE(loads());
	close(fd);
	PASS();
}

TEST only_a_private_file_counts(void)
{
	char elsewhere[4300];
	struct trial saved = example();
	snprintf(elsewhere, sizeof elsewhere, "%s.elsewhere", file);
	trial_cache_save(&arena, directory, key, &saved);
	ASSERT_EQ(0, chmod(file, 0644));
	ASSERT_FALSE(loads());
	ASSERT_EQ(0, chmod(file, 0600));
	ASSERT(loads());
	ASSERT_EQ(0, link(file, elsewhere));
	ASSERT_FALSE(loads());
	ASSERT_EQ(0, unlink(file));
	ASSERT_EQ(0, symlink(elsewhere, file));
	ASSERT_FALSE(loads());
	ASSERT_EQ(0, unlink(file));
	ASSERT_EQ(0, rename(elsewhere, file));
	ASSERT(loads());
	ASSERT_EQ(0, chmod(directory, 0777));
	ASSERT_FALSE(loads());
	ASSERT_EQ(0, chmod(directory, 0700));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	GREATEST_SET_SETUP_CB(set_up, NULL);
	RUN_TEST(what_was_saved_comes_back);
	RUN_TEST(each_difference_of_the_machine_counts);
	RUN_TEST(nothing_is_kept_under_a_filter);
	RUN_TEST(every_damaged_byte_is_noticed);
	RUN_TEST(only_a_private_file_counts);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

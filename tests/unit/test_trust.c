/* SPDX-License-Identifier: Apache-2.0 */
/* Records of trust on a real file system: what counts, and everything that must not. Each refusal starts from a record that is
 * good, so that the test cannot pass because nothing was there. */
#include <greatest.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs/filesystem.h"
#include "common/state/trust.h"
#include "unit/scratch.h"

static struct arena arena;
static struct error err;
static const char *state;
static char good[SHA256_HEX + 1], other[SHA256_HEX + 1];
static const char policy[] = "/somewhere/app/berm.yml";

/* A new state directory with one record in it. */
static void renew(const char *name)
{
	memset(&err, 0, sizeof err);
	state = arena_copy(&arena, scratch_path("%s/berm", name));
	trust_hash("version: 1\n", 11, good);
	trust_hash("version: 1\nnetwork: all\n", 24, other);
	if (trust_record(&arena, state, policy, good, &err) < 0)
		fprintf(stderr, "%s\n", err.message);
}

static bool is_trusted(void)
{
	return trust_is_recorded(&arena, state, policy, good);
}

static const char *record_path(const char *path)
{
	char name[SHA256_HEX + 1];
	trust_hash(path, strlen(path), name);
	return arena_printf(&arena, "%s/trust/%s", state, name);
}

static size_t read_record(const char *path, char *text, size_t size)
{
	FILE *file = fopen(record_path(path), "r");
	size_t length = file ? fread(text, 1, size, file) : 0;
	if (file)
		fclose(file);
	return length;
}

TEST counts_for_these_bytes_at_this_path_only(void)
{
	renew("bytes");
	ASSERT(is_trusted());
	ASSERT_FALSE(trust_is_recorded(&arena, state, policy, other));
	ASSERT_FALSE(trust_is_recorded(&arena, state, "/somewhere/else/berm.yml", good));
	ASSERT_FALSE(trust_is_recorded(&arena, state, policy, ""));
	ASSERT_EQ(0, trust_record(&arena, state, policy, other, &err));
	ASSERT(trust_is_recorded(&arena, state, policy, other));
	ASSERT_FALSE(is_trusted());
	PASS();
}

TEST nothing_is_trusted_where_nothing_is(void)
{
	struct trust_entries entries;
	renew("nothing");
	ASSERT(is_trusted());
	state = arena_copy(&arena, scratch_path("absent/berm"));
	ASSERT_FALSE(is_trusted());
	ASSERT_EQ(0, trust_list(&arena, state, &entries, &err));
	ASSERT_EQ(0, entries.count);
	ASSERT_EQ(1, trust_revoke(&arena, state, policy, &err));
	/* Asking makes no directory. */
	ASSERT_EQ(-1, access(scratch_path("absent"), F_OK));
	PASS();
}

TEST files_and_directories_are_private_whatever_the_umask(void)
{
	struct stat info;
	mode_t before = umask(0);
	renew("modes");
	umask(before);
	ASSERT_EQ(0, lstat(record_path(policy), &info));
	ASSERT_EQ(0600, info.st_mode & 07777);
	ASSERT_EQ(0, lstat(path_join(&arena, state, "trust"), &info));
	ASSERT_EQ(0700, info.st_mode & 07777);
	ASSERT_EQ(0, lstat(state, &info));
	ASSERT_EQ(0700, info.st_mode & 07777);
	PASS();
}

TEST revoking_takes_one_record_away(void)
{
	renew("revoke");
	ASSERT_EQ(0, trust_record(&arena, state, "/a/berm.yml", good, &err));
	ASSERT_EQ(0, trust_revoke(&arena, state, policy, &err));
	ASSERT_FALSE(is_trusted());
	ASSERT(trust_is_recorded(&arena, state, "/a/berm.yml", good));
	ASSERT_EQ(1, trust_revoke(&arena, state, policy, &err));
	PASS();
}

TEST lists_by_path_and_counts_what_is_damaged(void)
{
	struct trust_entries entries;
	static const char odd[] = "/a\nsha256 x\npath /b/berm.yml";
	renew("list");
	ASSERT_EQ(0, trust_record(&arena, state, odd, other, &err));
	scratch_write(arena_printf(&arena, "%s/trust/junk", state), "x", 1, 0600);
	scratch_write(arena_printf(&arena, "%s/trust/.new-1-0", state), "x", 1, 0600);
	ASSERT_EQ(0, trust_list(&arena, state, &entries, &err));
	ASSERT_EQ(2, entries.count);
	ASSERT_EQ(1, entries.damaged);
	ASSERT_STR_EQ(odd, entries.items[0].path);
	ASSERT_STR_EQ(other, entries.items[0].content);
	ASSERT_STR_EQ(policy, entries.items[1].path);
	ASSERT(entries.items[1].time > 1600000000);
	ASSERT(trust_is_recorded(&arena, state, odd, other));
	PASS();
}

/* Every truncation, and every record with one byte changed: never more than before, and mostly nothing. */
TEST a_damaged_record_grants_nothing(void)
{
	char text[1024], changed[1024];
	renew("damaged");
	size_t length = read_record(policy, text, sizeof text);
	ASSERT(length > 100);
	for (size_t cut = 0; cut < length; cut++) {
		scratch_write(record_path(policy), text, cut, 0600);
		ASSERT_FALSE(is_trusted());
	}
	for (size_t at = 0; at < length; at++) {
		bool is_time =
			at > (size_t)(strstr(text, "time ") - text) + 4 && at < (size_t)(strstr(text, "path ") - text) - 1;
		memcpy(changed, text, length);
		changed[at] ^= 1;
		scratch_write(record_path(policy), changed, length, 0600);
		ASSERT_FALSE(trust_is_recorded(&arena, state, policy, other));
		if (!is_time)
			ASSERT_FALSE(is_trusted());
	}
	memcpy(changed, text, length);
	changed[length] = '\n';
	scratch_write(record_path(policy), changed, length + 1, 0600);
	ASSERT_FALSE(is_trusted());
	scratch_write(record_path(policy), text, length, 0600);
	ASSERT(is_trusted());
	PASS();
}

TEST a_record_under_the_name_of_another_path_grants_nothing(void)
{
	char text[1024];
	renew("moved");
	size_t length = read_record(policy, text, sizeof text);
	scratch_write(record_path("/b/berm.yml"), text, length, 0600);
	ASSERT_FALSE(trust_is_recorded(&arena, state, "/b/berm.yml", good));
	ASSERT(is_trusted());
	PASS();
}

TEST a_record_that_others_could_have_made_grants_nothing(void)
{
	char text[1024];
	const char *aside = arena_copy(&arena, scratch_path("aside"));
	renew("others");
	size_t length = read_record(policy, text, sizeof text);
	static const mode_t modes[] = { 0620, 0602, 0640, 0604, 0666 };
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		ASSERT_EQ(0, chmod(record_path(policy), modes[i]));
		ASSERT_FALSE(is_trusted());
	}
	ASSERT_EQ(0, chmod(record_path(policy), 0600));
	ASSERT(is_trusted());
	/* A second name: it may have been written through the other one. */
	ASSERT_EQ(0, link(record_path(policy), aside));
	ASSERT_FALSE(is_trusted());
	ASSERT_EQ(0, unlink(record_path(policy)));
	ASSERT_EQ(0, symlink(aside, record_path(policy)));
	ASSERT_FALSE(is_trusted());
	ASSERT_EQ(0, unlink(record_path(policy)));
	ASSERT_EQ(0, mkfifo(record_path(policy), 0600));
	ASSERT_FALSE(is_trusted());
	ASSERT_EQ(0, unlink(record_path(policy)));
	scratch_write(record_path(policy), text, length, 0600);
	if (geteuid() == 0) {
		ASSERT_EQ(0, chown(record_path(policy), 12345, (gid_t)-1));
		ASSERT_FALSE(is_trusted());
		ASSERT_EQ(0, chown(record_path(policy), 0, (gid_t)-1));
	}
	ASSERT(is_trusted());
	PASS();
}

TEST directories_that_others_could_change_are_refused(void)
{
	const char *trust, *away = arena_copy(&arena, scratch_path("away"));
	renew("directories");
	trust = path_join(&arena, state, "trust");
	const char *const both[] = { state, trust };
	for (size_t i = 0; i < 2; i++) {
		ASSERT_EQ(0, chmod(both[i], 0770));
		ASSERT_FALSE(is_trusted());
		ASSERT_EQ(-1, trust_record(&arena, state, policy, good, &err));
		ASSERT_EQ(0, chmod(both[i], 0700));
		ASSERT(is_trusted());
		ASSERT_EQ(0, rename(both[i], away));
		ASSERT_EQ(0, symlink(away, both[i]));
		ASSERT_FALSE(is_trusted());
		ASSERT_EQ(-1, trust_record(&arena, state, policy, other, &err));
		ASSERT_EQ(-1, trust_revoke(&arena, state, policy, &err));
		ASSERT_EQ(0, unlink(both[i]));
		ASSERT_EQ(0, rename(away, both[i]));
		ASSERT(is_trusted());
	}
	PASS();
}

TEST a_state_directory_that_a_command_could_have_made_is_refused(void)
{
	static const struct {
		const char *state;
		bool is_fine;
	} rows[] = {
		{ "/home/ann/.local/state/berm", true },
		{ "/srv/state/berm", true },
		{ "/p/app-other/berm", true },
		{ "/p/app/berm", false },
		{ "/p/app/.state/berm", false },
		{ "/p/app", false },
		{ "/home/ann/.local/state/berm/projects/k/offline/home/.local/state/berm", false },
		{ "/srv/x/berm/projects/k/grants-1/tmp/x/berm", false },
		{ "/srv/berm/projects/berm/projects/k/offline/home/berm", false },
		{ "/srv/berm/projects/mine/berm", true },
		{ "/srv/berm/projects/a/b/other/berm", true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if ((trust_judge_place(rows[i].state, "/p/app", &err) == 0) != rows[i].is_fine)
			FAILm(rows[i].state);
	ASSERT_EQ(0, trust_judge_place("/p/app/berm", NULL, &err));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(counts_for_these_bytes_at_this_path_only);
	RUN_TEST(nothing_is_trusted_where_nothing_is);
	RUN_TEST(files_and_directories_are_private_whatever_the_umask);
	RUN_TEST(revoking_takes_one_record_away);
	RUN_TEST(lists_by_path_and_counts_what_is_damaged);
	RUN_TEST(a_damaged_record_grants_nothing);
	RUN_TEST(a_record_under_the_name_of_another_path_grants_nothing);
	RUN_TEST(a_record_that_others_could_have_made_grants_nothing);
	RUN_TEST(directories_that_others_could_change_are_refused);
	RUN_TEST(a_state_directory_that_a_command_could_have_made_is_refused);
	GREATEST_MAIN_END();
}

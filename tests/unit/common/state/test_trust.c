/* SPDX-License-Identifier: Apache-2.0 */
/* Records of trust on a real file system: valid records and refusals. Each refusal starts with a
 * valid record, so that the test cannot pass because there was none. */
#include <greatest.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs/filesystem.h"
#include "common/state/trust.h"
#include "unit/support/scratch.h"

static struct arena arena;
static struct error err;
static const char *state;
static char good[SHA256_HEX + 1], other[SHA256_HEX + 1];
static const struct trust_text good_text = { "version: 1\n", 11 }, other_text = { "version: 1\nnetwork: all\n", 24 };
static const char policy[] = "/somewhere/app/berm.yml";

/* A new state directory with one record in it. */
static void renew(const char *name)
{
	memset(&err, 0, sizeof err);
	state = arena_copy(&arena, scratch_path("%s/berm", name));
	trust_hash(good_text.bytes, good_text.length, good);
	trust_hash(other_text.bytes, other_text.length, other);
	if (trust_record(&arena, state, policy, good_text, &err) < 0)
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
	return arena_printf(&arena, "%s/trust/%s-%s", state, name, good);
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
	ASSERT_EQ(0, trust_record(&arena, state, policy, other_text, &err));
	ASSERT(trust_is_recorded(&arena, state, policy, other));
	/* Several contents count at once. */
	ASSERT(is_trusted());
	PASS();
}

TEST keeps_the_newest_contents(void)
{
	struct trust_entries entries;
	const struct trust_entry *last;
	char content[SHA256_HEX + 1], first[SHA256_HEX + 1];
	size_t count = 0;
	renew("many");
	ASSERT_EQ(0, trust_drop(&arena, state, "/none/berm.yml", NULL, &err));
	for (int i = 0; i < TRUST_CONTENTS_MAX + 4; i++) {
		const char *text = arena_printf(&arena, "version: 1 #%d", i);
		ASSERT_EQ(0, trust_record(&arena, state, policy, (struct trust_text){ text, strlen(text) }, &err));
	}
	ASSERT_EQ(0, trust_record(&arena, state, "/a/berm.yml", other_text, &err));
	ASSERT_EQ(0, trust_list(&arena, state, &entries, &err));
	ASSERT_EQ(TRUST_CONTENTS_MAX + 1, entries.count);
	for (size_t i = 0; i < entries.count; i++)
		count += strcmp(entries.items[i].path, policy) == 0;
	ASSERT_EQ(TRUST_CONTENTS_MAX, count);
	last = trust_newest(&entries, "/a/berm.yml");
	ASSERT(last);
	ASSERT_EQ(other_text.length, last->length);
	ASSERT_EQ(0, memcmp(other_text.bytes, last->text, last->length));
	ASSERT_EQ(NULL, trust_newest(&entries, "/b/berm.yml"));
	/* One of them, by the beginning of its hash. */
	memcpy(content, entries.items[3].content, sizeof content);
	memcpy(first, content, sizeof first);
	first[10] = '\0';
	ASSERT_EQ(0, trust_drop(&arena, state, policy, "0123456789", &err));
	ASSERT_EQ(1, trust_drop(&arena, state, entries.items[3].path, first, &err));
	ASSERT_FALSE(trust_is_recorded(&arena, state, entries.items[3].path, content));
	ASSERT_EQ(TRUST_CONTENTS_MAX - 1, trust_drop(&arena, state, policy, NULL, &err));
	ASSERT(trust_is_recorded(&arena, state, "/a/berm.yml", other));
	PASS();
}

/* A content that is too large is trusted all the same; its text is not kept. */
TEST bounds_the_text(void)
{
	static char large[(1 << 16) + 1];
	char content[SHA256_HEX + 1];
	struct trust_entries entries;
	renew("large");
	memset(large, '#', sizeof large);
	trust_hash(large, sizeof large, content);
	ASSERT_EQ(0, trust_record(&arena, state, "/l/berm.yml", (struct trust_text){ large, sizeof large }, &err));
	ASSERT(trust_is_recorded(&arena, state, "/l/berm.yml", content));
	ASSERT_EQ(0, trust_list(&arena, state, &entries, &err));
	ASSERT_EQ(NULL, trust_newest(&entries, "/l/berm.yml")->text);
	ASSERT_EQ(0, trust_record(&arena, state, "/l/berm.yml", (struct trust_text){ large, sizeof large - 1 }, &err));
	ASSERT_EQ(0, trust_list(&arena, state, &entries, &err));
	ASSERT_EQ(3, entries.count);
	ASSERT_EQ(0, entries.damaged);
	PASS();
}

TEST remembers_the_content_that_was_shown(void)
{
	renew("shown");
	ASSERT_FALSE(trust_was_shown(&arena, state, policy, good));
	trust_note_shown(&arena, state, policy, good);
	ASSERT(trust_was_shown(&arena, state, policy, good));
	ASSERT_FALSE(trust_was_shown(&arena, state, policy, other));
	ASSERT_FALSE(trust_was_shown(&arena, state, "/a/berm.yml", good));
	trust_note_shown(&arena, state, policy, other);
	ASSERT(trust_was_shown(&arena, state, policy, other));
	ASSERT_FALSE(trust_was_shown(&arena, state, policy, good));
	/* It says nothing about trust. */
	ASSERT_FALSE(trust_is_recorded(&arena, state, policy, other));
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
	ASSERT_EQ(0, trust_drop(&arena, state, policy, NULL, &err));
	/* A query creates no directory. */
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

TEST dropping_removes_the_records_of_one_path(void)
{
	renew("revoke");
	ASSERT_EQ(0, trust_record(&arena, state, "/a/berm.yml", good_text, &err));
	ASSERT_EQ(1, trust_drop(&arena, state, policy, NULL, &err));
	ASSERT_FALSE(is_trusted());
	ASSERT(trust_is_recorded(&arena, state, "/a/berm.yml", good));
	ASSERT_EQ(0, trust_drop(&arena, state, policy, NULL, &err));
	PASS();
}

TEST lists_by_path_and_counts_what_is_damaged(void)
{
	struct trust_entries entries;
	static const char odd[] = "/a\nsha256 x\npath /b/berm.yml";
	renew("list");
	ASSERT_EQ(0, trust_record(&arena, state, odd, other_text, &err));
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

/* Every truncation and every change of one byte: never grants more, and mostly nothing. */
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
	/* A second hard link: the file could have been written through it. */
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
		ASSERT_EQ(-1, trust_record(&arena, state, policy, good_text, &err));
		ASSERT_EQ(0, chmod(both[i], 0700));
		ASSERT(is_trusted());
		ASSERT_EQ(0, rename(both[i], away));
		ASSERT_EQ(0, symlink(away, both[i]));
		ASSERT_FALSE(is_trusted());
		ASSERT_EQ(-1, trust_record(&arena, state, policy, other_text, &err));
		ASSERT_EQ(-1, trust_drop(&arena, state, policy, NULL, &err));
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
	RUN_TEST(keeps_the_newest_contents);
	RUN_TEST(bounds_the_text);
	RUN_TEST(remembers_the_content_that_was_shown);
	RUN_TEST(nothing_is_trusted_where_nothing_is);
	RUN_TEST(files_and_directories_are_private_whatever_the_umask);
	RUN_TEST(dropping_removes_the_records_of_one_path);
	RUN_TEST(lists_by_path_and_counts_what_is_damaged);
	RUN_TEST(a_damaged_record_grants_nothing);
	RUN_TEST(a_record_under_the_name_of_another_path_grants_nothing);
	RUN_TEST(a_record_that_others_could_have_made_grants_nothing);
	RUN_TEST(directories_that_others_could_change_are_refused);
	RUN_TEST(a_state_directory_that_a_command_could_have_made_is_refused);
	GREATEST_MAIN_END();
}

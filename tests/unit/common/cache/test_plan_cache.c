/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the cached plan. Each case runs in a child with a mount namespace in which the
 * password database names a scratch directory as the home, because only the home decides where
 * plans are. tests/cli/cache/plan-cache.sh tests the same with whole runs. */
#define _GNU_SOURCE
#include <greatest.h>

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/cache/plan_cache.h"
#include "unit/support/scratch.h"
#include "common/scan/scan.h"

enum { NOT_POSSIBLE = 99 };

static struct arena arena;
static const char *home;
static char *no_words[] = { NULL };

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return is_written;
}

/* Enters a mount namespace with the same ids. */
static bool enter_namespaces(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	if (uid == 0)
		return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/uid_map", arena_printf(&arena, "%u %u 1", uid, uid)) &&
	       write_text("/proc/self/gid_map", arena_printf(&arena, "%u %u 1", gid, gid)) &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Makes a new home and a working directory beside it. */
static int settle_in(const char *name)
{
	const char *passwd = arena_copy(&arena, scratch_path("%s.passwd", name));
	const char *text;
	home = arena_copy(&arena, scratch_path("%s", name));
	text = arena_printf(&arena, "nobody:x:65534:65534::/nowhere:/bin/sh\nann:x:%u:%u::%s:/bin/sh\n", getuid(), getgid(),
			    home);
	scratch_write(passwd, text, strlen(text), 0644);
	if (!enter_namespaces() || mount(passwd, "/etc/passwd", NULL, MS_BIND, NULL) < 0)
		return NOT_POSSIBLE;
	unsetenv("XDG_STATE_HOME");
	EXPECT(mkdir(home, 0700) == 0 && mkdir(arena_printf(&arena, "%s.project", home), 0700) == 0);
	EXPECT(chdir(arena_printf(&arena, "%s.project", home)) == 0);
	return 0;
}

static struct plan *small_plan(void)
{
	static const struct rule rule = { "files.write", ".", { "p.yml", 1, 1 }, LAYER_USER, NULL };
	struct plan *plan = arena_alloc(&arena, sizeof *plan);
	struct policy *policy = arena_alloc(&arena, sizeof *policy);
	*plan = (struct plan){ .arena = &arena, .policy = policy, .home = HOME_EMPTY, .tmp = TMP_EMPTY };
	plan->context.uid = getuid();
	plan->context.gid = getgid();
	plan->context.user = "ann";
	plan->context.home = home;
	plan->context.project = arena_printf(&arena, "%s.project", home);
	plan->context.config_directory = arena_printf(&arena, "%s/.config/berm", home);
	plan->context.state_directory = arena_printf(&arena, "%s/.local/state/berm", home);
	plan->state = (struct plan_state){ "directory", "home", "tmp", "documents", "key", "offline" };
	*(struct plan_grant *)arena_push(&arena, &plan->grants) =
		(struct plan_grant){ plan->context.project, GRANT_WRITE, FILE_DIRECTORY, &rule };
	return plan;
}

static const char filter[] = "filter program";
static const struct plan_prepared prepared = { filter, sizeof filter };

static void save(const struct plan_key *key, const struct plan *plan, const struct dependencies *dependencies)
{
	struct tree_index_file index = { 0 };
	plan_cache_save(&arena, key, plan, dependencies, &prepared, &index);
	tree_index_file_close(&index);
}

static bool load_into(const struct plan_key *key, struct plan *plan, struct plan_loaded *loaded)
{
	return plan_cache_load(&arena, key, plan, loaded);
}

static bool load(const struct plan_key *key)
{
	struct plan plan;
	struct plan_loaded loaded;
	bool is_loaded = load_into(key, &plan, &loaded) && plan_cache_verify(&arena, &loaded);
	tree_index_file_close(&loaded.index);
	if (is_loaded == (loaded.reason != NULL))
		abort();
	return is_loaded;
}

static const char *file_of(const struct plan_key *key)
{
	return arena_printf(&arena, "%s/.local/state/berm/plans/%s", home, key->slots[0]);
}

static int begin(const char *name, struct plan_key *key, struct dependencies *dependencies)
{
	int status = settle_in(name);
	if (status)
		return status;
	plan_cache_key(&arena, no_words, TIER_FULL, key);
	EXPECT(key->home && strlen(key->hash) == SHA256_HEX && strlen(key->slots[0]) == 2);
	dependencies_record(dependencies, &arena, filesystem_host());
	return 0;
}

static int keeps_a_plan(void *data)
{
	struct plan_key key;
	struct dependencies dependencies;
	struct plan plan;
	struct plan_loaded loaded;
	struct stat info;
	int status = begin(data, &key, &dependencies);
	if (status)
		return status;
	EXPECT(!load(&key));
	umask(0);
	save(&key, small_plan(), &dependencies);
	EXPECT(load_into(&key, &plan, &loaded));
	tree_index_file_close(&loaded.index);
	EXPECT(plan.grants.count == 1 && plan.grants.items[0].kind == GRANT_WRITE);
	EXPECT(loaded.blob_size == sizeof filter && memcmp(loaded.blob, filter, sizeof filter) == 0);
	EXPECT(plan.context.fs == filesystem_host() && plan.context.environment);
	EXPECT(stat(file_of(&key), &info) == 0 && (info.st_mode & 07777) == 0600);
	EXPECT(stat(arena_printf(&arena, "%s/.local/state/berm/plans", home), &info) == 0 && (info.st_mode & 07777) == 0700);
	return 0;
}

/* Everything that a plan depends on and that is not a file changes the key. */
static int keys_differ(void *data)
{
	static const char *const names[] = { "PATH",
					     "SHELL",
					     "XDG_CONFIG_HOME",
					     "XDG_CACHE_HOME",
					     "XDG_DATA_HOME",
					     "XDG_RUNTIME_DIR",
					     "SSH_AUTH_SOCK",
					     "TMPDIR",
					     "GIT_CONFIG_COUNT",
					     "BERM" };
	char option[] = "--strict", first[] = "--deny=a", second[] = "--deny=b", joined[] = "--deny=a--deny=b";
	char *const lists[][3] = { { option }, { first }, { first, second }, { second, first }, { joined } };
	char seen[32][SHA256_HEX + 1];
	size_t count = 0;
	struct plan_key key;
	struct dependencies dependencies;
	int status = begin(data, &key, &dependencies);
	if (status)
		return status;
	strcpy(seen[count++], key.hash);
	plan_cache_key(&arena, no_words, TIER_FULL, &key);
	EXPECT(strcmp(seen[0], key.hash) == 0);
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		plan_cache_key(&arena, lists[i], TIER_FULL, &key);
		strcpy(seen[count++], key.hash);
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *value = getenv(names[i]);
		const char *before = value ? arena_copy(&arena, value) : NULL;
		EXPECT(setenv(names[i], "/somewhere", 1) == 0);
		plan_cache_key(&arena, no_words, TIER_FULL, &key);
		strcpy(seen[count++], key.hash);
		EXPECT((before ? setenv(names[i], before, 1) : unsetenv(names[i])) == 0);
	}
	EXPECT(mkdir("below", 0700) == 0 && chdir("below") == 0);
	plan_cache_key(&arena, no_words, TIER_FULL, &key);
	strcpy(seen[count++], key.hash);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			EXPECT(strcmp(seen[i], seen[k]) != 0);
	return 0;
}

static int another_state_directory_has_none(void *data)
{
	struct plan_key key;
	struct dependencies dependencies;
	int status = begin(data, &key, &dependencies);
	if (status)
		return status;
	EXPECT(setenv("XDG_STATE_HOME", "/somewhere", 1) == 0);
	plan_cache_key(&arena, no_words, TIER_FULL, &key);
	EXPECT(!key.home);
	save(&key, small_plan(), &dependencies);
	EXPECT(!load(&key));
	EXPECT(setenv("XDG_STATE_HOME", arena_printf(&arena, "%s/.local/state", home), 1) == 0);
	plan_cache_key(&arena, no_words, TIER_FULL, &key);
	EXPECT(key.home);
	return 0;
}

static int an_unstable_plan_is_not_saved(void *data)
{
	struct plan_key key;
	struct dependencies dependencies;
	struct plan *plan;
	int status = begin(data, &key, &dependencies);
	if (status)
		return status;
	plan = small_plan();
	dependencies.is_unstable = true;
	save(&key, plan, &dependencies);
	EXPECT(!load(&key));
	dependencies.is_unstable = false;
	plan->context.state_directory = "/somewhere/berm";
	save(&key, plan, &dependencies);
	EXPECT(!load(&key));
	save(&key, small_plan(), &dependencies);
	EXPECT(load(&key));
	return 0;
}

static int a_broken_dependency_is_named(void *data)
{
	struct plan_key key;
	struct dependencies dependencies;
	struct plan plan;
	struct plan_loaded loaded;
	const char *path;
	int status = begin(data, &key, &dependencies);
	if (status)
		return status;
	path = arena_printf(&arena, "%s.project/berm.yml", home);
	dependencies_note_content(&dependencies, path);
	save(&key, small_plan(), &dependencies);
	EXPECT(load(&key));
	scratch_write(path, "version: 1\n", 11, 0600);
	EXPECT(load_into(&key, &plan, &loaded));
	tree_index_file_close(&loaded.index);
	EXPECT(!plan_cache_verify(&arena, &loaded));
	EXPECT(strstr(loaded.reason, path));
	EXPECT(unlink(path) == 0 && load(&key));
	return 0;
}

/* A valid plan, then one change that an attacker could make to its file, then valid again. */
static int a_file_of_another_kind_is_not_read(void *data)
{
	struct plan_key key;
	struct dependencies dependencies;
	const char *file, *kept, *plans, *moved;
	int status = begin(data, &key, &dependencies);
	if (status)
		return status;
	save(&key, small_plan(), &dependencies);
	file = file_of(&key);
	kept = arena_printf(&arena, "%s.project/kept", home);
	EXPECT(load(&key));
	EXPECT(chmod(file, 0640) == 0 && !load(&key) && chmod(file, 0604) == 0 && !load(&key));
	EXPECT(chmod(file, 0600) == 0 && load(&key));
	EXPECT(link(file, kept) == 0 && !load(&key));
	EXPECT(unlink(file) == 0 && symlink(kept, file) == 0 && !load(&key));
	EXPECT(unlink(file) == 0 && mkfifo(file, 0600) == 0 && !load(&key));
	EXPECT(unlink(file) == 0 && mkdir(file, 0700) == 0 && !load(&key));
	EXPECT(rmdir(file) == 0 && rename(kept, file) == 0 && load(&key));
	plans = arena_printf(&arena, "%s/.local/state/berm/plans", home);
	EXPECT(chmod(plans, 0770) == 0 && !load(&key) && chmod(plans, 0700) == 0 && load(&key));
	moved = arena_printf(&arena, "%s.project/moved", home);
	EXPECT(rename(plans, moved) == 0 && symlink(moved, plans) == 0 && !load(&key));
	EXPECT(unlink(plans) == 0 && rename(moved, plans) == 0 && load(&key));
	plans = arena_printf(&arena, "%s/.local", home);
	EXPECT(rename(plans, moved) == 0 && symlink(moved, plans) == 0 && !load(&key));
	EXPECT(unlink(plans) == 0 && rename(moved, plans) == 0 && load(&key));
	return 0;
}

static int the_plan_of_another_key_is_not_read(void *data)
{
	char word[] = "--deny=x";
	char *words[] = { word, NULL };
	struct plan_key key, other;
	struct dependencies dependencies;
	int status = begin(data, &key, &dependencies);
	if (status)
		return status;
	save(&key, small_plan(), &dependencies);
	plan_cache_key(&arena, words, TIER_FULL, &other);
	EXPECT(!load(&other));
	EXPECT(strcmp(key.slots[0], other.slots[0]) == 0 || rename(file_of(&key), file_of(&other)) == 0);
	EXPECT(!load(&other));
	return 0;
}

/* Returns a key that shares a slot with `key`. */
static struct plan_key key_beside(const struct plan_key *key, char mark)
{
	struct plan_key beside = *key;
	beside.hash[SHA256_HEX - 1] = mark;
	beside.slots[1] = "second";
	return beside;
}

static int plans_that_share_a_slot_stay(void *data)
{
	struct plan_key key, other, third;
	struct dependencies dependencies;
	int status = begin(data, &key, &dependencies);
	if (status)
		return status;
	other = key_beside(&key, 'x');
	third = key_beside(&key, 'y');
	save(&key, small_plan(), &dependencies);
	save(&other, small_plan(), &dependencies);
	EXPECT(load(&key) && load(&other));
	/* saved again, each keeps its slot */
	save(&other, small_plan(), &dependencies);
	save(&key, small_plan(), &dependencies);
	EXPECT(load(&key) && load(&other));
	/* both slots of a third plan are taken: the plan that was written first makes room */
	EXPECT(utimensat(AT_FDCWD, arena_printf(&arena, "%s/.local/state/berm/plans/%s", home, other.slots[1]),
			 (struct timespec[]){ { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1 } }, 0) == 0);
	save(&third, small_plan(), &dependencies);
	EXPECT(load(&third) && load(&key) && !load(&other));
	return 0;
}

/* Truncations and single changed bytes of the whole file, header included: the checksum accepts
 * only the original. */
static int damage_is_not_read(void *data)
{
	enum { BYTES_MAX = 1 << 16 };
	static char bytes[BYTES_MAX];
	struct plan_key key;
	struct dependencies dependencies;
	const char *file;
	ssize_t length;
	int fd, status = begin(data, &key, &dependencies);
	if (status)
		return status;
	save(&key, small_plan(), &dependencies);
	file = file_of(&key);
	fd = open(file, O_RDWR | O_CLOEXEC);
	length = read(fd, bytes, sizeof bytes);
	EXPECT(length > 100 && length < BYTES_MAX && load(&key));
	for (ssize_t i = 0; i < length; i++) {
		char changed = (char)(bytes[i] ^ 0x10);
		EXPECT(pwrite(fd, &changed, 1, i) == 1);
		EXPECT(!load(&key));
		EXPECT(pwrite(fd, &bytes[i], 1, i) == 1);
	}
	EXPECT(load(&key));
	for (ssize_t i = length - 1; i >= 0; i--) {
		EXPECT(ftruncate(fd, i) == 0);
		EXPECT(!load(&key));
	}
	EXPECT(pwrite(fd, bytes, (size_t)length, 0) == length && load(&key));
	EXPECT(pwrite(fd, "", 1, length) == 1 && !load(&key));
	close(fd);
	return 0;
}

/* Scans the small plan with its index. Returns how many directories were in the index, or -1 if
 * there was none. */
static int scan_with(struct plan *plan, struct tree_index_file *index)
{
	int known = index->is_open ? (int)index->index.record_count : -1;
	struct scan_results results;
	struct error err = { 0 };
	plan->context.fs = filesystem_host();
	if (known < 0 || scan_project(plan, tree_index_file_index(index), &results, &err) < 0)
		return -1;
	tree_index_file_commit(index, true);
	return known;
}

static int indexed_now(const struct plan_key *key)
{
	struct plan plan;
	struct plan_loaded loaded;
	int known = load_into(key, &plan, &loaded) ? (int)loaded.index.index.record_count : -1;
	tree_index_file_close(&loaded.index);
	return known;
}

/* The index belongs to the file of one plan. */
static int an_index_belongs_to_one_plan(void *data)
{
	enum { DIRECTORIES = 5 };
	struct plan_key key;
	struct dependencies dependencies;
	struct tree_index_file index = { 0 };
	struct plan *plan;
	struct stat info;
	struct rlimit limit = { 100, RLIM_INFINITY };
	const char *file;
	int status = begin(data, &key, &dependencies);
	if (status)
		return status;
	plan = small_plan();
	for (int i = 1; i < DIRECTORIES; i++)
		EXPECT(mkdir(arena_printf(&arena, "%s/d%d", plan->context.project, i), 0700) == 0);
	nanosleep(&(struct timespec){ .tv_nsec = 130000000 }, NULL);
	plan_cache_save(&arena, &key, plan, &dependencies, &prepared, &index);
	file = arena_printf(&arena, "%s/.local/state/berm/plans/.walk-%s", home, key.slots[0]);
	EXPECT(scan_with(plan, &index) == 0 && index.bytes && lstat(file, &info) < 0);
	/* with a file size limit there is no SIGXFSZ */
	EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	tree_index_file_write(&index, &arena, plan->context.state_directory);
	EXPECT(!index.bytes && lstat(file, &info) < 0);
	limit.rlim_cur = RLIM_INFINITY;
	EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);

	plan_cache_save(&arena, &key, plan, &dependencies, &prepared, &index);
	EXPECT(scan_with(plan, &index) == 0 && index.bytes);
	umask(0);
	tree_index_file_write(&index, &arena, plan->context.state_directory);
	EXPECT(lstat(file, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 07777) == 0600 && info.st_nlink == 1);
	EXPECT(indexed_now(&key) == DIRECTORIES && indexed_now(&key) == DIRECTORIES);
	/* the same plan saved again is another plan, without an index */
	save(&key, plan, &dependencies);
	EXPECT(indexed_now(&key) == 0);
	EXPECT(chmod(file, 0644) == 0 && indexed_now(&key) == 0);
	return 0;
}

static enum greatest_test_res in_child(int (*body)(void *data), const char *name)
{
	char copy[64];
	int status;
	snprintf(copy, sizeof copy, "%s", name);
	scratch_directory();
	status = scratch_child(body, copy);
	if (status == NOT_POSSIBLE)
		SKIPm("no mount namespace can be made here");
	ASSERT_EQ_FMT(0, status, "%d");
	PASS();
}

#define CASES(CASE)                                                                                                            \
	CASE(keeps_a_plan)                                                                                                     \
	CASE(keys_differ)                                                                                                      \
	CASE(another_state_directory_has_none)                                                                                 \
	CASE(an_unstable_plan_is_not_saved)                                                                                    \
	CASE(a_broken_dependency_is_named)                                                                                     \
	CASE(a_file_of_another_kind_is_not_read)                                                                               \
	CASE(the_plan_of_another_key_is_not_read)                                                                              \
	CASE(plans_that_share_a_slot_stay)                                                                                     \
	CASE(damage_is_not_read)                                                                                               \
	CASE(an_index_belongs_to_one_plan)

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
#define RUN_CASE(name) RUN_TESTp(in_child, name, #name);
	CASES(RUN_CASE)
	GREATEST_MAIN_END();
}

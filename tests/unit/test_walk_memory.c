/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of walks: a scan with it finds what a scan without it finds, whatever happened to the tree in between; and its bytes
 * are believed only if they are whole. The changes are random, by a seed (BERM_SEED), and meet directories of every age. */
#define _GNU_SOURCE
#include <greatest.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/cache/tree_index.h"
#include "unit/plan_fixture.h"
#include "unit/scratch.h"

enum { PATH_BYTES = 600, STEPS = 1500, STEPS_LONG = 30000 };

static const struct walk_owner owner = { 1, 2, 3, 4, 5 };
static const struct filesystem *host;
static char top[256]; /* the project */
static uint64_t state;

static unsigned pick(unsigned limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 11) % limit);
}

/* The plan of one policy for the real tree. */
static struct plan *make_plan(struct plan_fixture *fixture, const char *text)
{
	char context[512];
	struct policy *policy;
	snprintf(context, sizeof context, "user: ann\nhome: /nowhere/ann\nuid: %u\nproject: %s\n", getuid(), top);
	plan_fixture_make_for(fixture, context, (const struct plan_layer[]){ { 0 } });
	fixture->context.fs = host;
	policy = arena_alloc(&fixture->arena, sizeof *policy);
	if (policy_parse(&fixture->arena, "p.yml", LAYER_BASE, text, strlen(text), policy, &fixture->diagnostics) < 0 ||
	    plan_resolve(&fixture->arena, policy, &fixture->context, &fixture->plan, &fixture->diagnostics) < 0)
		return NULL;
	return &fixture->plan;
}

static void add_matches(struct text *out, const char *label, const struct plan_matches *matches)
{
	for (size_t i = 0; i < matches->count; i++)
		text_add(out, "%s %d %s %s\n", label, matches->items[i].type, matches->items[i].path,
			 matches->items[i].rule->text ? matches->items[i].rule->text : "");
}

/* All that a scan says, as text. */
static char *scan(const struct plan *base, struct walk_memory *memory)
{
	struct arena arena = { 0 };
	struct plan plan = *base;
	struct text out = { 0 };
	struct error err = { 0 };

	plan.arena = &arena;
	plan.notes = (struct plan_notes){ 0 };
	if (plan_scan_again(&plan, memory, &err) < 0) {
		text_add(&out, "error %s\n", err.message);
	} else {
		text_add(&out, "%llu directories, %llu files\n", (unsigned long long)plan.scanned_directories,
			 (unsigned long long)plan.scanned_files);
		add_matches(&out, "masked", &plan.masked);
		add_matches(&out, "locked", &plan.locked);
		add_matches(&out, "pinned", &plan.pinned);
	}
	arena_free(&arena);
	return out.data;
}

/* Scans with what the last scan left and leaves what it found, in *bytes and *size. */
static char *scan_again(const struct plan *plan, void **bytes, size_t *size, struct walk_memory *counted)
{
	struct walk_memory memory;
	char *found;
	walk_memory_start(&memory, &owner);
	if (*bytes && !walk_memory_read(&memory, *bytes, *size))
		abort();
	found = scan(plan, &memory);
	*bytes = walk_memory_write(&memory, size);
	if (counted)
		*counted = memory;
	walk_memory_end(&memory);
	return found;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)where;
	(void)info;
	return type == FTW_DP || type == FTW_DNR ? rmdir(path) : unlink(path);
}

static int open_up(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info;
	(void)where;
	return type == FTW_D || type == FTW_DNR ? chmod(path, 0755) : 0;
}

static void remove_tree(const char *path)
{
	chmod(path, 0755);
	nftw(path, open_up, 20, FTW_PHYS);
	nftw(path, open_up, 20, FTW_PHYS);
	nftw(path, remove_entry, 20, FTW_PHYS | FTW_DEPTH);
}

static void settle(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 130000000 }, NULL);
}

static const char *some_directory(char *path)
{
	static const char *const names[] = { "d0", "d1", "d2", "d3", ".git", "node_modules", "worktrees" };
	unsigned depth = pick(5);
	size_t length = (size_t)snprintf(path, PATH_BYTES, "%s", top);
	for (unsigned i = 0; i < depth; i++)
		length += (size_t)snprintf(path + length, PATH_BYTES - length, "/%s", names[pick(i == 0 ? 4 : 7)]);
	return path;
}

static const char *some_file(char *path)
{
	static const char *const names[] = { ".env", ".env.local", ".env.example", "key.pem", "notes", "x",  "y",
					     ".git", "gitdir",	   "commondir",	   "config",  "hooks", "d1", "inner" };
	some_directory(path);
	strcat(path, "/");
	strcat(path, names[pick(sizeof names / sizeof names[0])]);
	return path;
}

static void write_pointer(char *path)
{
	static const char *const texts[] = { "gitdir: ../worktrees/x\n", "gitdir: /elsewhere/.git\n", "", "no pointer\n" };
	const char *text = texts[pick(4)];
	int fd;
	strcat(path, pick(3) ? "/.git" : "/gitdir");
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_TRUNC | (pick(4) ? 0 : O_CREAT), 0644);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

/* A directory goes elsewhere, and a link to it stands in its place. */
static void move_and_link(const char *from, const char *to)
{
	if (rename(from, to) == 0 && symlink(to, from) < 0)
		abort();
}

static void change_something(void)
{
	char one[PATH_BYTES], two[PATH_BYTES];
	switch (pick(20)) {
	case 0:
	case 1:
	case 2:
		close(open(some_file(one), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
		return;
	case 3:
	case 4:
	case 5:
		mkdir(some_directory(one), 0755);
		return;
	case 6:
		unlink(some_file(one));
		return;
	case 7:
		rename(some_file(one), some_file(two));
		return;
	case 8:
		rename(some_directory(one), some_directory(two));
		return;
	case 9:
		syscall(SYS_renameat2, AT_FDCWD, some_directory(one), AT_FDCWD, some_directory(two), 2 /* exchange */);
		return;
	case 10:
		if (strcmp(some_directory(one), top) != 0)
			remove_tree(one);
		return;
	case 11: /* the same names anew */
		if (strcmp(some_directory(one), top) != 0 && access(one, F_OK) == 0) {
			remove_tree(one);
			mkdir(one, 0755);
			strcat(one, pick(2) ? "/.env" : "/x");
			close(open(one, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
		}
		return;
	case 12:
		chmod(some_directory(one), pick(3) ? 0755 : 0);
		chmod(top, 0755);
		return;
	case 13:
		mknod(some_file(one), S_IFSOCK | 0600, 0);
		return;
	case 14:
		(void)!symlink(pick(2) ? "notes" : "..", some_file(one));
		return;
	case 15:
	case 18:
	case 19:
		some_directory(one);
		write_pointer(one);
		return;
	case 16:
		(void)!link(some_file(one), some_file(two));
		return;
	default:
		if (strcmp(some_directory(one), top) != 0)
			move_and_link(one, some_file(two));
	}
}

static void fill(void)
{
	remove_tree(top);
	mkdir(top, 0755);
	for (int i = 0; i < 400; i++)
		change_something();
}

static const char plain_policy[] = "version: 1\nfiles: {write: [.], deny: [\".env*\", \"*.pem\"], except: [.env.example], "
				   "protect: [\"**/.git/config\", \"**/.git/hooks\"], prune: [node_modules]}";
static const char nested_policy[] = "version: 1\nfiles: {write: [., d1/d2], read: [d1], deny: [\".env*\", \"d0/**/x\"], "
				    "protect: [d2/notes], prune: [\"d3/*\"]}";

TEST a_memory_changes_nothing_that_is_found(const char *policy, const char *where)
{
	const char *seed = getenv("BERM_SEED");
	int steps = getenv("BERM_LONG") ? STEPS_LONG : STEPS;
	struct plan_fixture fixture = { 0 };
	struct plan *plan;
	void *bytes = NULL;
	size_t size = 0;
	uint64_t kept = 0, listed = 0;

	snprintf(top, sizeof top, "%s/app", where);
	state = seed ? strtoull(seed, NULL, 0) : 0x5eed;
	fill();
	mkdir(scratch_path("app/d1"), 0755);
	plan = make_plan(&fixture, policy);
	ASSERT(plan);
	settle();
	for (int step = 0; step < steps; step++) {
		struct walk_memory counted;
		char *again, *anew;
		for (unsigned changes = pick(4); changes > 0; changes--)
			change_something();
		if (step % 200 == 199)
			settle();
		again = scan_again(plan, &bytes, &size, &counted);
		anew = scan(plan, NULL);
		kept += counted.kept;
		listed += counted.listed;
		if (strcmp(again, anew) != 0) {
			fprintf(stderr, "step %d: without a memory\n%sand with it\n%s", step, anew, again);
			FAIL();
		}
		free(again);
		free(anew);
	}
	free(bytes);
	/* Both ways were taken, or this has shown nothing. */
	ASSERT(kept > 500 && listed > 200);
	remove_tree(top);
	plan_fixture_free(&fixture);
	PASS();
}

static void make_tree(int directories)
{
	snprintf(top, sizeof top, "%s", scratch_path("tree"));
	remove_tree(top);
	mkdir(top, 0755);
	for (int i = 0; i < directories; i++) {
		mkdir(scratch_path("tree/d%d", i), 0755);
		mkdir(scratch_path("tree/d%d/e", i), 0755);
		scratch_write(scratch_path("tree/d%d/e/notes", i), "x", 1, 0644);
	}
	scratch_write(scratch_path("tree/d3/e/.env"), "x", 1, 0644);
}

TEST only_what_changed_is_listed(void)
{
	enum { COUNT = 300, ALL = 1 + 2 * COUNT };
	struct plan_fixture fixture = { 0 };
	struct walk_memory counted;
	struct plan *plan;
	char *first, *found;
	void *bytes = NULL;
	size_t size;

	make_tree(COUNT);
	plan = make_plan(&fixture, plain_policy);
	ASSERT(plan);
	first = scan_again(plan, &bytes, &size, &counted);
	ASSERT_EQ(ALL, counted.listed);
	ASSERT_EQ(0, counted.kept);
	settle();
	free(scan_again(plan, &bytes, &size, &counted));
	ASSERT_EQ(ALL, counted.listed + counted.kept);
	found = scan_again(plan, &bytes, &size, &counted);
	ASSERT_EQ(0, counted.listed);
	ASSERT_EQ(ALL, counted.kept);
	ASSERT_FALSE(walk_memory_is_worth_writing(&counted));
	ASSERT_STR_EQ(first, found);
	ASSERT(strstr(found, "tree/d3/e/.env"));
	free(found);

	/* a new name, three directories down: one listing */
	scratch_write(scratch_path("tree/d7/e/.env"), "x", 1, 0644);
	found = scan_again(plan, &bytes, &size, &counted);
	ASSERT_EQ(1, counted.listed);
	ASSERT(strstr(found, "tree/d7/e/.env") && strstr(found, "tree/d3/e/.env"));
	free(found);
	/* which is listed as long as it is young, and kept then */
	settle();
	free(scan_again(plan, &bytes, &size, NULL));
	free(scan_again(plan, &bytes, &size, &counted));
	ASSERT_EQ(0, counted.listed);

	/* content that nobody looks at changes nothing; a whole tree from elsewhere is listed with its new path */
	scratch_write(scratch_path("tree/d7/e/notes"), "other", 5, 0644);
	ASSERT_EQ(0, rename(scratch_path("tree/d3"), scratch_path("tree/d4/moved")));
	found = scan_again(plan, &bytes, &size, &counted);
	ASSERT_EQ(4, counted.listed);
	ASSERT(strstr(found, "tree/d4/moved/e/.env") && !strstr(found, "tree/d3/e/.env"));
	free(found);
	free(first);
	free(bytes);
	remove_tree(top);
	plan_fixture_free(&fixture);
	PASS();
}

/* Their content decides, and it changes without the directory. */
/* A chain of directories "d", with a secret in each hundredth: deeper than what one descent keeps in mind. */
static bool make_chain(int depth)
{
	int at = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 1; i <= depth && at >= 0; i++) {
		int next = mkdirat(at, "d", 0755) < 0 ? -1 : openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
		if (i % 100 == 0)
			close(openat(at, ".env", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	}
	return at >= 0 && close(at) == 0;
}

/* Enough to do for every thread that there may be: which of them looks at what changes nothing. */
TEST threads_change_nothing_that_is_found(void)
{
	enum { COUNT = 2000, DEPTH = 300, ROUNDS = 40, ALL = 1 + 2 * COUNT + DEPTH };
	struct plan_fixture fixture = { 0 };
	struct walk_memory counted;
	struct plan *plan;
	void *bytes = NULL;
	size_t size;

	state = 0x5eed;
	make_tree(COUNT);
	ASSERT(make_chain(DEPTH));
	plan = make_plan(&fixture, plain_policy);
	ASSERT(plan);
	settle();
	free(scan_again(plan, &bytes, &size, &counted));
	ASSERT_EQ(ALL, counted.listed);
	for (int round = 0; round < ROUNDS; round++) {
		char *again = scan_again(plan, &bytes, &size, &counted), *anew = scan(plan, NULL);
		ASSERT_STR_EQ(anew, again);
		ASSERT_EQ(ALL, counted.kept + counted.listed);
		ASSERT(round > 0 || counted.kept == ALL);
		free(again);
		free(anew);
		/* next time: many or few that changed, with secrets or without */
		for (unsigned changes = 1u << pick(10); changes > 0; changes--) {
			const char *path = scratch_path("tree/d%u/e/%s", pick(COUNT), pick(2) ? ".env" : "x");
			if (unlink(path) < 0)
				scratch_write(path, "x", 1, 0644);
		}
	}
	free(bytes);
	remove_tree(top);
	plan_fixture_free(&fixture);
	PASS();
}

TEST pointers_of_git_are_read_every_time(void)
{
	static const char inside[] = "gitdir: ../worktrees/x\n", outside[] = "gitdir: /elsewhere/.git\n";
	struct plan_fixture fixture = { 0 };
	struct walk_memory counted;
	struct plan *plan;
	void *bytes = NULL;
	size_t size;
	char *found;

	make_tree(5);
	scratch_write(scratch_path("tree/d2/.git"), inside, strlen(inside), 0644);
	plan = make_plan(&fixture, plain_policy);
	ASSERT(plan);
	settle();
	found = scan_again(plan, &bytes, &size, &counted);
	ASSERT_EQ(counted.listed, counted.learnt);
	ASSERT_EQ(NULL, strstr(found, "locked"));
	free(found);
	scratch_write(scratch_path("tree/d2/.git"), outside, strlen(outside), 0644);
	found = scan_again(plan, &bytes, &size, &counted);
	ASSERT_EQ(0, counted.listed);
	ASSERT(strstr(found, "locked") && strstr(found, "tree/d2/.git"));
	free(found);
	scratch_write(scratch_path("tree/d2/.git"), inside, strlen(inside), 0644);
	found = scan_again(plan, &bytes, &size, &counted);
	ASSERT_EQ(0, counted.listed);
	ASSERT_EQ(NULL, strstr(found, "locked"));
	free(found);
	free(bytes);
	remove_tree(top);
	plan_fixture_free(&fixture);
	PASS();
}

TEST young_directories_are_not_trusted(void)
{
	static const struct {
		int64_t started_s;
		uint32_t started_ns;
		int64_t changed_s;
		uint32_t changed_ns;
		bool is_settled;
	} rows[] = {
		{ 100, 0, 99, 899999999, true },
		{ 100, 0, 99, 900000001, false },
		{ 100, 0, 100, 0, false },
		{ 100, 0, 100, 1, false },
		{ 100, 0, 101, 0, false },
		{ 100, 0, 500, 5, false },
		{ 100, 0, 90, 5, true },
		{ 100, 0, -5, 5, true },
		{ 100, 999999999, 100, 5, true },
		{ 100, 50000000, 100, 5, false },
		/* whole seconds */
		{ 100, 0, 99, 0, false },
		{ 100, 0, 98, 0, false },
		{ 100, 99999999, 98, 0, false },
		{ 100, 100000000, 98, 0, true },
		{ 100, 0, 97, 0, true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_EQ(rows[i].is_settled,
			  walk_memory_is_settled(rows[i].started_s, rows[i].started_ns, rows[i].changed_s, rows[i].changed_ns));
	PASS();
}

/* Inode and ctime say the same, and yet it is another directory that is meant: on another device. */
static int mounts_are_seen(void *data)
{
	struct plan_fixture fixture = { 0 };
	struct walk_memory counted;
	struct plan *plan;
	void *bytes = NULL;
	size_t size;
	char *found;

	(void)data;
	make_tree(5);
	plan = make_plan(&fixture, plain_policy);
	EXPECT(plan);
	settle();
	free(scan_again(plan, &bytes, &size, NULL));
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 99;
	EXPECT(mount("none", scratch_path("tree/d1/e"), "tmpfs", 0, NULL) == 0);
	scratch_write(scratch_path("tree/d1/e/.env"), "x", 1, 0644);
	found = scan_again(plan, &bytes, &size, &counted);
	EXPECT(strstr(found, "tree/d1/e/.env") && counted.listed == 1 && counted.learnt == 0);
	free(found);
	settle();
	/* the other device is never trusted: its inode numbers are its own */
	free(scan_again(plan, &bytes, &size, &counted));
	EXPECT(counted.listed == 1 && counted.learnt == 0);
	EXPECT(umount(scratch_path("tree/d1/e")) == 0);
	found = scan_again(plan, &bytes, &size, &counted);
	EXPECT(!strstr(found, "tree/d1/e/.env") && strstr(found, "tree/d3/e/.env"));
	free(found);
	/* a root on a file system that is not known to keep ctimes well */
	EXPECT(mount("none", top, "ramfs", 0, NULL) == 0);
	EXPECT(mkdir(scratch_path("tree/new"), 0755) == 0);
	settle();
	free(scan_again(plan, &bytes, &size, &counted));
	EXPECT(bytes == NULL && counted.roots.count == 0);
	scratch_write(scratch_path("tree/new/.env"), "x", 1, 0644);
	found = scan_again(plan, &bytes, &size, NULL);
	EXPECT(strstr(found, "tree/new/.env"));
	return 0;
}

TEST mounts(void)
{
	int status = scratch_child(mounts_are_seen, NULL);
	if (status == 99)
		SKIPm("needs root: mounts");
	ASSERT_EQm(scratch_errors(), 0, status);
	PASS();
}

static bool reads(const void *bytes, size_t size, const struct walk_owner *for_whom)
{
	struct walk_memory memory;
	void *copy = malloc(size ? size : 1);
	bool is_read;
	memcpy(copy, bytes, size);
	walk_memory_start(&memory, for_whom);
	is_read = walk_memory_read(&memory, copy, size);
	if (is_read != (memory.record_count > 0))
		abort();
	walk_memory_end(&memory);
	return is_read;
}

TEST bytes_are_believed_only_if_they_are_whole(void)
{
	struct plan_fixture fixture = { 0 };
	struct walk_owner other = owner;
	struct plan *plan;
	void *bytes = NULL;
	char *damaged;
	size_t size;

	make_tree(5);
	plan = make_plan(&fixture, plain_policy);
	ASSERT(plan);
	free(scan_again(plan, &bytes, &size, NULL));
	ASSERT(bytes && reads(bytes, size, &owner));
	for (size_t length = 0; length < size; length++)
		ASSERT_FALSE(reads(bytes, length, &owner));
	damaged = bytes;
	for (size_t i = 0; i < size; i++) {
		damaged[i] ^= 1;
		ASSERT_FALSE(reads(damaged, size, &owner));
		damaged[i] ^= 1;
	}
	other.changed_ns++;
	ASSERT_FALSE(reads(bytes, size, &other));
	other = owner;
	other.credentials++;
	ASSERT_FALSE(reads(bytes, size, &other));
	free(bytes);
	remove_tree(top);
	plan_fixture_free(&fixture);
	PASS();
}

/* A failed scan leaves nothing that a second attempt would stumble over. */
TEST forgetting_keeps_what_was_read(void)
{
	struct plan_fixture fixture = { 0 };
	struct walk_memory memory;
	struct plan *plan;
	void *bytes = NULL;
	size_t size;
	char *one, *two;

	make_tree(5);
	plan = make_plan(&fixture, plain_policy);
	ASSERT(plan);
	settle();
	one = scan_again(plan, &bytes, &size, NULL);
	walk_memory_start(&memory, &owner);
	ASSERT(walk_memory_read(&memory, bytes, size));
	free(scan(plan, &memory));
	walk_memory_forget(&memory);
	two = scan(plan, &memory);
	ASSERT_STR_EQ(one, two);
	ASSERT_EQ(11, memory.kept);
	walk_memory_end(&memory);
	free(one);
	free(two);
	remove_tree(top);
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	host = filesystem_host();
	RUN_TESTp(a_memory_changes_nothing_that_is_found, plain_policy, scratch_directory());
	RUN_TESTp(a_memory_changes_nothing_that_is_found, nested_policy, scratch_directory());
	RUN_TEST(only_what_changed_is_listed);
	RUN_TEST(threads_change_nothing_that_is_found);
	RUN_TEST(pointers_of_git_are_read_every_time);
	RUN_TEST(young_directories_are_not_trusted);
	RUN_TEST(mounts);
	RUN_TEST(bytes_are_believed_only_if_they_are_whole);
	RUN_TEST(forgetting_keeps_what_was_read);
	GREATEST_MAIN_END();
}

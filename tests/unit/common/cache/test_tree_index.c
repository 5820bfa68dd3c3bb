/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of walks: a scan with it finds what a scan without it finds, whatever happened to the
 * tree in between; and its bytes are believed only if they are whole. The changes are random, by a
 * seed (BERM_SEED), and meet directories of every age. */
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
#include "unit/support/plan_fixture.h"
#include "unit/support/scratch.h"
#include "common/scan/scan.h"

enum { PATH_BYTES = 600, STEPS = 1500, STEPS_LONG = 30000, NS_PER_S = 1000000000 };

static const struct tree_index_owner owner = { 1, 2, 3, 4, 5 };
static const struct filesystem *host;
static char top[256]; /* the project */
static uint64_t state;

/* By how much the next scan's clock is ahead of the real one. */
static long ahead_ns;
/* The time of the next scan, instead. */
static const struct timespec *fixed_time;

static int scan_clock(struct timespec *now)
{
	if (fixed_time) {
		*now = *fixed_time;
		return 0;
	}
	if (clock_gettime(CLOCK_REALTIME, now) < 0)
		return -1;
	now->tv_nsec += ahead_ns;
	now->tv_sec += now->tv_nsec / NS_PER_S;
	now->tv_nsec %= NS_PER_S;
	return 0;
}

/* All that was changed before is old enough for the next scan, and for that one only: the clock of
 * later scans is the real one. What changes afterwards still gets another ctime, because a tick of
 * the file system's clock has passed. */
static void settle(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	ahead_ns = 110000000;
}

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

static uint64_t repositories; /* found by all scans */

static void add_matches(struct text *out, const char *label, const struct plan_matches *matches)
{
	for (size_t i = 0; i < matches->count; i++)
		text_add(out, "%s %d %s %s\n", label, matches->items[i].type, matches->items[i].path,
			 matches->items[i].rule->text ? matches->items[i].rule->text : "");
}

/* All that a scan says, as text. */
static char *scan(const struct plan *base, struct tree_index *memory)
{
	struct arena arena = { 0 };
	struct plan plan = *base;
	struct scan_results results;
	struct text out = { 0 };
	struct error err = { 0 };

	plan.arena = &arena;
	plan.scan = &results;
	if (scan_project(&plan, memory, &results, &err) < 0) {
		text_add(&out, "error %s\n", err.message);
	} else {
		text_add(&out, "%llu directories, %llu files\n", (unsigned long long)plan.scan->directories,
			 (unsigned long long)plan.scan->files);
		add_matches(&out, "masked", &plan.scan->masked);
		add_matches(&out, "locked", &plan.scan->locked);
		add_matches(&out, "pinned", &plan.scan->pinned);
		for (size_t i = 0; i < plan.scan->git_directories.count; i++)
			text_add(&out, "git %d %s %s\n", plan.scan->git_directories.items[i].kind,
				 plan.scan->git_directories.items[i].path, plan.scan->git_directories.items[i].common);
		text_add(&out, "unheld %s\n", plan.scan->unheld_setting ? plan.scan->unheld_setting : "");
		repositories += plan.scan->git_directories.count;
	}
	arena_free(&arena);
	return out.data;
}

/* Scans with what the last scan left and leaves what it found, in *bytes and *size. */
static char *scan_again(const struct plan *plan, void **bytes, size_t *size, struct tree_index *counted)
{
	struct tree_index memory;
	char *found;
	tree_index_start(&memory, &owner);
	memory.clock = scan_clock;
	if (*bytes && !tree_index_read(&memory, *bytes, *size))
		abort();
	found = scan(plan, &memory);
	ahead_ns = 0;
	fixed_time = NULL;
	*bytes = tree_index_write(&memory, size);
	if (counted)
		*counted = memory;
	tree_index_end(&memory);
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
	static const char *const names[] = { ".env",   ".env.local", ".env.example", "key.pem", "notes", "x",	  "y",	 ".git",
					     "gitdir", "commondir",  "config",	     "hooks",	"d1",	 "inner", "HEAD" };
	some_directory(path);
	strcat(path, "/");
	strcat(path, names[pick(sizeof names / sizeof names[0])]);
	return path;
}

static void write_pointer(char *path)
{
	static const char *const texts[] = {
		"gitdir: ../worktrees/x\n", "gitdir: /elsewhere/.git\n", "", "no pointer\n", "gitdir: d1\n", "../d1\n"
	};
	const char *text = texts[pick(6)];
	int fd;
	strcat(path, pick(3) ? "/.git" : pick(2) ? "/gitdir" : "/commondir");
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_TRUNC | (pick(4) ? 0 : O_CREAT), 0644);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

static void write_text(const char *directory, const char *name, const char *text)
{
	char path[PATH_BYTES];
	int fd;
	if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
		return;
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_TRUNC | O_CREAT, 0644);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

/* A directory becomes a git directory, or gets another configuration. */
static void write_repository(const char *directory)
{
	static const char *const texts[] = { "[core]\nhooksPath = ../d1\n", "[core]\nhooksPath = d2\n",
					     "[include]\npath = ../x\n", "[core]\nworktree = ../d3\nhooksPath = d0\n", "" };
	static const char *const parts[] = { "objects", "refs" };
	char path[PATH_BYTES];
	for (size_t i = 0; i < 2; i++)
		if (snprintf(path, sizeof path, "%s/%s", directory, parts[i]) < (int)sizeof path)
			mkdir(path, 0755);
	write_text(directory, "HEAD", "ref: refs/heads/main\n");
	write_text(directory, "config", texts[pick(5)]);
}

/* A directory goes elsewhere, and a link to it stands in its place. */
static void move_and_link(const char *from, const char *to)
{
	/* The directory of `from` may have been reached through what was moved. */
	if (rename(from, to) == 0)
		(void)!symlink(to, from);
}

static void change_something(void)
{
	char one[PATH_BYTES], two[PATH_BYTES];
	switch (pick(22)) {
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
		(void)!symlink(some_directory(two), some_file(one));
		return;
	case 15:
	case 18:
	case 19:
		some_directory(one);
		write_pointer(one);
		return;
	case 20:
	case 21:
		write_repository(some_directory(one));
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

/* The same directory has other verdicts by its own name and through links. */
static const char linked_policy[] =
	"version: 1\nfiles: {write: [.], deny: [\".env*\", \"**/inner/x\", \"config/*/y\"], "
	"except: [\"d1/**\", \"**/config/**\"], protect: [\"**/hooks/notes\"], prune: [node_modules, "
	"d2, \"**/config/d0\"]}";

TEST a_memory_changes_nothing_that_is_found(const char *policy, const char *where)
{
	const char *seed = getenv("BERM_SEED");
	int steps = getenv("BERM_LONG") ? STEPS_LONG : STEPS;
	struct plan_fixture fixture = { 0 };
	struct plan *plan;
	void *bytes = NULL;
	size_t size = 0;
	uint64_t kept = 0, listed = 0;
	char path[PATH_BYTES];

	snprintf(top, sizeof top, "%s/app", where);
	state = seed ? strtoull(seed, NULL, 0) : 0x5eed;
	fill();
	snprintf(path, sizeof path, "%s/d1", top);
	mkdir(path, 0755);
	plan = make_plan(&fixture, policy);
	ASSERT(plan);
	settle();
	for (int step = 0; step < steps; step++) {
		struct tree_index counted;
		char *again, *anew;
		for (unsigned changes = pick(4); changes > 0; changes--)
			change_something();
		if (step % 100 == 99)
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
	ASSERT(kept > 500 && listed > 200 && repositories > 100);
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
	struct tree_index counted;
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
	ASSERT_FALSE(tree_index_is_worth_writing(&counted));
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

	/* content that nobody looks at changes nothing; a whole tree from elsewhere is listed with
	 * its new path */
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

/* A chain of directories "d", with a secret in each hundredth: deeper than what one descent keeps
 * in mind. */
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
	/* 2101 directories: a walk of known ones starts a thread for each 512. */
	enum { COUNT = 900, DEPTH = 300, ROUNDS = 12, ROUNDS_LONG = 40, ALL = 1 + 2 * COUNT + DEPTH };
	int rounds = getenv("BERM_LONG") ? ROUNDS_LONG : ROUNDS;
	struct plan_fixture fixture = { 0 };
	struct tree_index counted;
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
	for (int round = 0; round < rounds; round++) {
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

/* Their content decides, and it changes without the directory. */
TEST pointers_of_git_are_read_every_time(void)
{
	static const char inside[] = "gitdir: ../worktrees/x\n", outside[] = "gitdir: /elsewhere/.git\n";
	struct plan_fixture fixture = { 0 };
	struct tree_index counted;
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
			  tree_index_is_settled(rows[i].started_s, rows[i].started_ns, rows[i].changed_s, rows[i].changed_ns));
	PASS();
}

static bool is_before(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec < other->tv_sec || (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

/* Of the directories of make_tree(4). */
static void find_ctimes(struct timespec *oldest, struct timespec *newest)
{
	for (int i = -1; i < 8; i++) {
		struct stat info;
		if (stat(i < 0 ? top : scratch_path(i % 2 ? "tree/d%d/e" : "tree/d%d", i / 2), &info) < 0)
			abort();
		if (i < 0 || is_before(&info.st_ctim, oldest))
			*oldest = info.st_ctim;
		if (i < 0 || is_before(newest, &info.st_ctim))
			*newest = info.st_ctim;
	}
}

/* A tenth of a second after the last change, by the clock of the walk. */
TEST a_walk_learns_directories_that_are_old_enough(void)
{
	enum { ALL = 9, TENTH_NS = NS_PER_S / 10 };
	static const struct {
		long after_ns;
		uint64_t learnt;
	} rows[] = { { -NS_PER_S, 0 }, { 0, 0 }, { TENTH_NS - 1, 0 }, { TENTH_NS, ALL }, { NS_PER_S, ALL } };
	struct plan_fixture fixture = { 0 };
	struct plan *plan;

	make_tree(4);
	plan = make_plan(&fixture, plain_policy);
	ASSERT(plan);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct timespec oldest = { 0 }, newest = { 0 }, time;
		struct tree_index counted;
		void *bytes = NULL;
		size_t size;
		find_ctimes(&oldest, &newest);
		time = rows[i].learnt ? newest : oldest;
		time.tv_nsec += rows[i].after_ns;
		for (; time.tv_nsec < 0; time.tv_nsec += NS_PER_S)
			time.tv_sec--;
		for (; time.tv_nsec >= NS_PER_S; time.tv_nsec -= NS_PER_S)
			time.tv_sec++;
		fixed_time = &time;
		free(scan_again(plan, &bytes, &size, &counted));
		free(bytes);
		ASSERT_EQ(ALL, counted.listed);
		ASSERT_EQ(rows[i].learnt, counted.learnt);
	}
	remove_tree(top);
	plan_fixture_free(&fixture);
	PASS();
}

/* Inode and ctime say the same, and yet it is another directory that is meant: on another
 * device. */
static int mounts_are_seen(void *data)
{
	struct plan_fixture fixture = { 0 };
	struct tree_index counted;
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

static bool reads(const void *bytes, size_t size, const struct tree_index_owner *for_whom)
{
	struct tree_index memory;
	void *copy = malloc(size ? size : 1);
	bool is_read;
	memcpy(copy, bytes, size);
	tree_index_start(&memory, for_whom);
	is_read = tree_index_read(&memory, copy, size);
	if (is_read != (memory.record_count > 0))
		abort();
	tree_index_end(&memory);
	return is_read;
}

TEST bytes_are_believed_only_if_they_are_whole(void)
{
	struct plan_fixture fixture = { 0 };
	struct tree_index_owner other = owner;
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
	struct tree_index memory;
	struct plan *plan;
	void *bytes = NULL;
	size_t size;
	char *one, *two;

	make_tree(5);
	plan = make_plan(&fixture, plain_policy);
	ASSERT(plan);
	settle();
	one = scan_again(plan, &bytes, &size, NULL);
	tree_index_start(&memory, &owner);
	ASSERT(tree_index_read(&memory, bytes, size));
	free(scan(plan, &memory));
	tree_index_forget(&memory);
	two = scan(plan, &memory);
	ASSERT_STR_EQ(one, two);
	ASSERT_EQ(11, memory.kept);
	tree_index_end(&memory);
	free(one);
	free(two);
	remove_tree(top);
	plan_fixture_free(&fixture);
	PASS();
}

static void write_map(const char *path, unsigned number)
{
	char map[64];
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int length = snprintf(map, sizeof map, "%u %u 1", number, number);
	if (fd < 0 || write(fd, map, (size_t)length) != length)
		abort();
	close(fd);
}

/* Mounts of this program's own: as root, or in a user namespace with the same user. */
static bool own_mounts(void)
{
	unsigned uid = getuid(), gid = getgid();
	int fd;
	if (unshare(CLONE_NEWNS) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return false;
	fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "deny", 4) != 4)
		abort();
	close(fd);
	write_map("/proc/self/uid_map", uid);
	write_map("/proc/self/gid_map", gid);
	return true;
}

static void leave_memory(void)
{
	umount(scratch_directory());
}

/* Thousands of directories take a busy disk minutes: from here on they are made in memory, where
 * the host allows such a mount. Not where the caller has chosen a file system. */
static void enter_memory(void)
{
	const char *directory = scratch_directory();
	if (!getenv("BERM_UNIT_PLACE") && own_mounts() && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("none", directory, "tmpfs", 0, "mode=700") == 0)
		atexit(leave_memory);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	host = filesystem_host();
	RUN_TESTp(a_memory_changes_nothing_that_is_found, plain_policy, scratch_directory());
	RUN_TESTp(a_memory_changes_nothing_that_is_found, nested_policy, scratch_directory());
	RUN_TESTp(a_memory_changes_nothing_that_is_found, linked_policy, scratch_directory());
	enter_memory();
	RUN_TEST(only_what_changed_is_listed);
	RUN_TEST(threads_change_nothing_that_is_found);
	RUN_TEST(pointers_of_git_are_read_every_time);
	RUN_TEST(young_directories_are_not_trusted);
	RUN_TEST(a_walk_learns_directories_that_are_old_enough);
	RUN_TEST(mounts);
	RUN_TEST(bytes_are_believed_only_if_they_are_whole);
	RUN_TEST(forgetting_keeps_what_was_read);
	GREATEST_MAIN_END();
}

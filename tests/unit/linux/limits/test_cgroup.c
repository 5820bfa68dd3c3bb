/* SPDX-License-Identifier: Apache-2.0 */
/* The control group of a run, in a directory tree that imitates the kernel's: how a base is found,
 * which files are written in which order, and which groups are removed. tests/vm tests the kernel's
 * own. */
#include <greatest.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux/limits/cgroup.h"
#include "unit/support/scratch.h"

static const char *const group_files[] = { "cgroup.kill", "cgroup.procs",     "cgroup.subtree_control",
					   "memory.max",  "memory.swap.max",  "pids.max",
					   "cpu.max",	  "memory.oom.group", "memory.events",
					   "pids.events", "memory.peak" };
static const char *missing_file; /* imitates a kernel without it */
static int failing_removals; /* this many fail with EBUSY */

/* Like the kernel, creates a group with its files. */
static int make_group(int parent, const char *name)
{
	int directory;
	if (mkdirat(parent, name, 0755) < 0)
		return -1;
	directory = openat(parent, name, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < sizeof group_files / sizeof group_files[0]; i++)
		if (!missing_file || strcmp(missing_file, group_files[i]) != 0)
			close(openat(directory, group_files[i], O_WRONLY | O_CREAT, 0644));
	close(directory);
	return 0;
}

static int remove_group(int parent, const char *name)
{
	int directory;
	if (failing_removals > 0) {
		failing_removals--;
		errno = EBUSY;
		return -1;
	}
	directory = openat(parent, name, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < sizeof group_files / sizeof group_files[0]; i++)
		unlinkat(directory, group_files[i], 0);
	close(directory);
	return unlinkat(parent, name, AT_REMOVEDIR);
}

static const struct cgroup_calls fake = { make_group, remove_group };

static void write_file(const char *path, const char *text)
{
	scratch_write(path, text, strlen(text), 0644);
}

static const char *tree(const char *name)
{
	const char *root = scratch_path("%s", name);
	mkdir(root, 0755);
	write_file(scratch_path("%s/cgroup.subtree_control", name), "cpu memory pids\n");
	write_file(scratch_path("%s/cgroup.procs", name), "");
	return root;
}

static void child(const char *name, const char *controllers)
{
	mkdir(scratch_path("%s", name), 0755);
	write_file(scratch_path("%s/cgroup.subtree_control", name), controllers);
	write_file(scratch_path("%s/cgroup.procs", name), "");
}

static bool finds(const char *name, const char *own, unsigned wanted, const char *expected)
{
	struct cgroup_base base;
	struct stat found, right;
	bool is_right;
	if (!cgroup_find_in(scratch_path("%s", name), own, wanted, &base))
		return expected == NULL;
	is_right = expected && fstat(base.fd, &found) == 0 && stat(scratch_path("%s%s", name, expected), &right) == 0 &&
		   found.st_ino == right.st_ino;
	close(base.fd);
	return is_right;
}

/* The base is the nearest ancestor that enables the controllers. */
TEST finds_the_nearest_base(void)
{
	tree("find");
	child("find/user", "cpu memory pids\n");
	child("find/user/app", "memory pids\n");
	child("find/user/app/shell", "\n");
	ASSERT(finds("find", "/user/app/shell", CGROUP_MEMORY | CGROUP_PIDS, "/user/app"));
	ASSERT(finds("find", "/user/app/shell", CGROUP_MEMORY | CGROUP_CPU, "/user"));
	ASSERT(finds("find", "/user", CGROUP_MEMORY, "/user"));
	ASSERT(finds("find", "/", CGROUP_CPU, "/"));
	ASSERT(finds("find", "/gone", CGROUP_CPU, "/"));
	ASSERT(finds("find", "/../other", CGROUP_CPU, NULL));
	ASSERT(finds("find", "relative", CGROUP_CPU, NULL));
	PASS();
}

TEST a_base_without_the_controllers_is_none(void)
{
	mkdir(scratch_path("bare"), 0755);
	write_file(scratch_path("bare/cgroup.subtree_control"), "hugetlb memoryless\n");
	write_file(scratch_path("bare/cgroup.procs"), "");
	ASSERT(finds("bare", "/", CGROUP_MEMORY, NULL));
	ASSERT(finds("nowhere", "/", CGROUP_MEMORY, NULL));
	PASS();
}

TEST a_base_that_may_not_be_written_is_none(void)
{
	if (getuid() == 0)
		SKIPm("root may write everything");
	tree("closed");
	chmod(scratch_path("closed/cgroup.procs"), 0444);
	ASSERT(finds("closed", "/", CGROUP_MEMORY, NULL));
	chmod(scratch_path("closed/cgroup.procs"), 0644);
	chmod(scratch_path("closed"), 0555);
	ASSERT(finds("closed", "/", CGROUP_MEMORY, NULL));
	chmod(scratch_path("closed"), 0755);
	ASSERT(finds("closed", "/", CGROUP_MEMORY, "/"));
	PASS();
}

static char *content(const char *directory, const char *group, const char *file)
{
	static char text[128];
	int fd = open(scratch_path("%s/%s/%s", directory, group, file), O_RDONLY);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	text[length > 0 ? length : 0] = '\0';
	close(fd);
	return text;
}

static size_t count_groups(const char *name)
{
	DIR *list = opendir(scratch_path("%s", name));
	const struct dirent *entry;
	size_t count = 0;
	while (list && (entry = readdir(list)))
		count += strncmp(entry->d_name, "berm-", 5) == 0;
	closedir(list);
	return count;
}

static int make_in(const char *name, const struct cgroup_limits *limits, struct cgroup *group, struct error *err)
{
	struct cgroup_base base;
	tree(name);
	cgroup_find_in(scratch_path("%s", name), "/", CGROUP_MEMORY, &base);
	return cgroup_make(&base, limits, &fake, group, err);
}

TEST writes_the_limits(void)
{
	const struct cgroup_limits limits = { .memory = 64 << 20, .processes = 40, .cpus = 2 };
	struct cgroup group;
	struct cgroup_events events;
	struct error err = { 0 };
	struct stat inner;

	ASSERT_EQm(err.message, 0, make_in("limits", &limits, &group, &err));
	ASSERT_STR_EQ("67108864", content("limits", group.name, "memory.max"));
	ASSERT_STR_EQ("0", content("limits", group.name, "memory.swap.max"));
	ASSERT_STR_EQ("1", content("limits", group.name, "memory.oom.group"));
	ASSERT_STR_EQ("41", content("limits", group.name, "pids.max"));
	ASSERT_STR_EQ("200000 100000", content("limits", group.name, "cpu.max"));
	/* No controller is enabled in the inner group, so it has no limit that could be raised. */
	ASSERT_STR_EQ("", content("limits", group.name, "cgroup.subtree_control"));
	ASSERT_EQ(0, stat(scratch_path("limits/%s/run", group.name), &inner));
	ASSERT_EQ(0, fstat(group.inner, &inner));
	write_file(scratch_path("limits/%s/memory.events", group.name),
		   "low 0\nhigh 0\nmax 9\noom 1\noom_kill 3\noom_group_kill 1\n");
	write_file(scratch_path("limits/%s/pids.events", group.name), "max 7\n");
	write_file(scratch_path("limits/%s/memory.peak", group.name), "67000000\n");
	cgroup_end(&group, &events);
	ASSERT_EQ(3, events.killed_for_memory);
	ASSERT_EQ(7, events.refused_processes);
	ASSERT_EQ(67000000, events.memory_peak);
	ASSERT_EQ(0, count_groups("limits"));
	/* A second call is harmless. */
	cgroup_end(&group, &events);
	ASSERT_EQ(0, events.killed_for_memory);
	PASS();
}

TEST only_what_is_asked_for(void)
{
	const struct cgroup_limits limits = { .processes = 5 };
	struct cgroup group;
	struct cgroup_events events;
	struct error err = { 0 };

	ASSERT_EQ(0, make_in("few", &limits, &group, &err));
	ASSERT_STR_EQ("", content("few", group.name, "memory.max"));
	ASSERT_STR_EQ("", content("few", group.name, "memory.oom.group"));
	ASSERT_STR_EQ("", content("few", group.name, "cpu.max"));
	ASSERT_STR_EQ("6", content("few", group.name, "pids.max"));
	cgroup_end(&group, &events);
	PASS();
}

/* A kernel without swap has no memory.swap.max. Without memory.max there is no limit, so the group
 * fails. */
TEST what_a_kernel_may_lack(void)
{
	const struct cgroup_limits limits = { .memory = 1 << 20 };
	struct cgroup group;
	struct cgroup_events events;
	struct error err = { 0 };

	missing_file = "memory.swap.max";
	ASSERT_EQ(0, make_in("swapless", &limits, &group, &err));
	cgroup_end(&group, &events);
	missing_file = "memory.max";
	ASSERT_EQ(-1, make_in("maxless", &limits, &group, &err));
	ASSERT(error_is_set(&err));
	ASSERT_EQ(-1, group.outer);
	ASSERT_EQ(0, count_groups("maxless"));
	missing_file = NULL;
	PASS();
}

TEST a_busy_group_is_asked_again(void)
{
	const struct cgroup_limits limits = { .memory = 1 << 20 };
	struct cgroup group;
	struct cgroup_events events;
	struct error err = { 0 };

	ASSERT_EQ(0, make_in("busy", &limits, &group, &err));
	failing_removals = 3;
	cgroup_end(&group, &events);
	ASSERT_EQ(0, failing_removals);
	ASSERT_EQ(0, count_groups("busy"));
	PASS();
}

/* Removes groups of launchers of this pid namespace that no longer run, and nothing else. */
TEST sweeps_what_was_left(void)
{
	struct stat space;
	int base;
	const char *kept[] = { "berm-x", "berm-1-2-3", "other", "berm-1-2-3-4" };

	tree("sweep");
	ASSERT_EQ(0, stat("/proc/self/ns/pid", &space));
	base = open(scratch_path("sweep"), O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
		make_group(base, kept[i]);
	make_group(base, strrchr(scratch_path("berm-%d-1-%llu-0", (int)getpid(), (unsigned long long)space.st_ino), '/') + 1);
	make_group(base, strrchr(scratch_path("berm-4194303-77-%llu-3", (unsigned long long)space.st_ino), '/') + 1);
	ASSERT_EQ(5, count_groups("sweep"));
	cgroup_remove_abandoned(base, &fake);
	ASSERT_EQ(3, count_groups("sweep"));
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
		ASSERT_EQ(0, faccessat(base, kept[i], F_OK, 0));
	close(base);
	PASS();
}

/* A new group although one of an earlier run exists: a child that starts in a killed group is
 * killed. */
TEST never_uses_a_group_twice(void)
{
	const struct cgroup_limits limits = { .memory = 1 << 20 };
	struct cgroup group, again;
	struct cgroup_events events;
	struct error err = { 0 };

	ASSERT_EQ(0, make_in("twice", &limits, &group, &err));
	ASSERT_EQ(0, make_in("twice", &limits, &again, &err));
	ASSERT(strcmp(group.name, again.name) != 0);
	ASSERT_EQ(2, count_groups("twice"));
	cgroup_end(&again, &events);
	ASSERT_EQ(0, faccessat(group.outer, "memory.max", F_OK, 0));
	cgroup_end(&group, &events);
	ASSERT_EQ(0, count_groups("twice"));
	PASS();
}

/* Makes a scope as systemd does, with the pid of this process in it. */
static const char *scope(const char *name, const char *processes, const char *memory, const char *swap, const char *pids)
{
	int root;
	mkdir(scratch_path("%s", name), 0755);
	root = open(scratch_path("%s", name), O_RDONLY | O_DIRECTORY);
	make_group(root, "berm-7-8.scope");
	close(root);
	write_file(scratch_path("%s/berm-7-8.scope/cgroup.procs", name), processes);
	write_file(scratch_path("%s/berm-7-8.scope/memory.max", name), memory);
	write_file(scratch_path("%s/berm-7-8.scope/memory.swap.max", name), swap);
	write_file(scratch_path("%s/berm-7-8.scope/pids.max", name), pids);
	return scratch_path("%s", name);
}

/* No process has this pid, which is killed at the end. */
enum { KEEPER = 2147483000 };
#define BOTH "812\n2147483000\n"

static const struct cgroup_limits scope_limits = { .memory = (64 << 20) + 1, .processes = 40 };

static int adopt(const char *root, const char *path, struct cgroup *group, struct error *err)
{
	return cgroup_adopt_in(root, path, 812, KEEPER, "berm-7-8.scope", &scope_limits, &fake, group, err);
}

TEST a_scope_that_is_right_is_taken(void)
{
	struct cgroup group;
	struct cgroup_events events;
	struct error err = { 0 };
	/* The kernel counts in pages. */
	const char *root = scope("scope", BOTH, "83886080\n", "0\n", "42\n");

	ASSERT_EQm(err.message, 0, adopt(root, "/berm-7-8.scope", &group, &err));
	ASSERT_STR_EQ("67108865", content("scope", "berm-7-8.scope/limit", "memory.max"));
	ASSERT_STR_EQ("41", content("scope", "berm-7-8.scope/limit", "pids.max"));
	ASSERT_STR_EQ("1", content("scope", "berm-7-8.scope/limit", "memory.oom.group"));
	/* Otherwise the keeper would be killed with the others. */
	ASSERT_STR_EQ("", content("scope", "berm-7-8.scope", "memory.oom.group"));
	ASSERT_STR_EQ("2147483000", content("scope", "berm-7-8.scope/keep", "cgroup.procs"));
	ASSERT_STR_EQ("812", content("scope", "berm-7-8.scope/limit/run", "cgroup.procs"));
	ASSERT_STR_EQ("", content("scope", "berm-7-8.scope/limit", "cgroup.subtree_control"));
	write_file(scratch_path("scope/berm-7-8.scope/limit/memory.events"), "oom 1\noom_kill 2\n");
	write_file(scratch_path("scope/berm-7-8.scope/limit/memory.peak"), "67000000\n");
	failing_removals = 2;
	cgroup_end(&group, &events);
	ASSERT_EQ(2, events.killed_for_memory);
	ASSERT_EQ(67000000, events.memory_peak);
	ASSERT(!events.is_lost);
	/* systemd removes the scope itself. */
	ASSERT_EQ(1, count_groups("scope"));
	ASSERT(access(scratch_path("scope/berm-7-8.scope/limit"), F_OK) < 0);
	PASS();
}

TEST a_scope_that_systemd_removed_first_is_lost(void)
{
	struct cgroup group;
	struct cgroup_events events;
	struct error err = { 0 };
	const char *root = scope("lost", BOTH, "83886080\n", "0\n", "42\n");
	int base = open(root, O_RDONLY | O_DIRECTORY);

	ASSERT_EQ(0, adopt(root, "/berm-7-8.scope", &group, &err));
	remove_group(group.outer, "run");
	remove_group(group.base, "limit");
	remove_group(group.base, "keep");
	remove_group(base, "berm-7-8.scope");
	close(base);
	cgroup_end(&group, &events);
	ASSERT(events.is_lost);
	ASSERT_EQ(0, events.killed_for_memory);
	PASS();
}

/* systemd's reply does not matter. */
TEST a_scope_that_is_not_what_was_asked_for_is_not_taken(void)
{
	static const struct {
		const char *path, *processes, *memory, *swap, *pids, *words;
	} rows[] = {
		{ "/", BOTH, "83886080\n", "0\n", "42\n", "did not put" },
		{ "/user.slice/session-2.scope", BOTH, "83886080\n", "0\n", "42\n", "did not put" },
		{ "/../berm-7-8.scope", BOTH, "83886080\n", "0\n", "42\n", "did not put" },
		{ "/gone/berm-7-8.scope", BOTH, "83886080\n", "0\n", "42\n", "cannot open" },
		{ "/berm-7-8.scope", "812\n", "83886080\n", "0\n", "42\n", "alone" },
		{ "/berm-7-8.scope", "", "83886080\n", "0\n", "42\n", "alone" },
		{ "/berm-7-8.scope", "811\n" BOTH, "83886080\n", "0\n", "42\n", "alone" },
		{ "/berm-7-8.scope", BOTH, "max\n", "0\n", "42\n", "memory" },
		{ "/berm-7-8.scope", BOTH, "67108864\n", "0\n", "42\n", "memory" },
		{ "/berm-7-8.scope", BOTH, "", "0\n", "42\n", "memory" },
		{ "/berm-7-8.scope", BOTH, "83886080\n", "max\n", "42\n", "swap" },
		{ "/berm-7-8.scope", BOTH, "83886080\n", "0\n", "max\n", "processes" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cgroup group;
		struct error err = { 0 };
		char name[16];
		snprintf(name, sizeof name, "wrong-%zu", i);
		const char *root = scope(name, rows[i].processes, rows[i].memory, rows[i].swap, rows[i].pids);
		ASSERT_EQm(rows[i].words, -1, adopt(root, rows[i].path, &group, &err));
		ASSERTm(err.message, strstr(err.message, rows[i].words));
		ASSERT(group.outer < 0 && group.inner < 0);
	}
	PASS();
}

/* The limits of a scope that is not delegated could be removed from inside, and berm could not
 * remove it. */
TEST a_scope_that_is_not_delegated_is_not_taken(void)
{
	struct cgroup group;
	struct error err = { 0 };
	const char *root;

	if (getuid() == 0)
		SKIPm("root may write everything");
	root = scope("foreign", BOTH, "83886080\n", "0\n", "42\n");
	chmod(scratch_path("foreign/berm-7-8.scope"), 0555);
	ASSERT_EQ(-1, adopt(root, "/berm-7-8.scope", &group, &err));
	chmod(scratch_path("foreign/berm-7-8.scope"), 0755);
	ASSERT_EQm(err.message, 0, adopt(root, "/berm-7-8.scope", &group, &err));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(finds_the_nearest_base);
	RUN_TEST(a_base_without_the_controllers_is_none);
	RUN_TEST(a_base_that_may_not_be_written_is_none);
	RUN_TEST(writes_the_limits);
	RUN_TEST(only_what_is_asked_for);
	RUN_TEST(what_a_kernel_may_lack);
	RUN_TEST(a_busy_group_is_asked_again);
	RUN_TEST(sweeps_what_was_left);
	RUN_TEST(never_uses_a_group_twice);
	RUN_TEST(a_scope_that_is_right_is_taken);
	RUN_TEST(a_scope_that_systemd_removed_first_is_lost);
	RUN_TEST(a_scope_that_is_not_what_was_asked_for_is_not_taken);
	RUN_TEST(a_scope_that_is_not_delegated_is_not_taken);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks that make a name that is not there, in every way the kernel has. Also what a program may
 * expect of creating calls, line by line. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATHS = 4096, NR_OPENAT2 = 437, EXCHANGE = 2 };
static const char source[] = "guard-source", other[] = "guard-other";

static long close_result(int fd)
{
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static long by_open(const char *path)
{
	return close_result(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

static long by_exclusive(const char *path)
{
	return close_result(open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
}

static long by_creat(const char *path)
{
	return close_result(creat(path, 0644));
}

static long by_openat2(const char *path)
{
	struct open_how how = { .flags = O_CREAT | O_WRONLY | O_CLOEXEC, .mode = 0644 };
	return close_result((int)syscall(NR_OPENAT2, AT_FDCWD, path, &how, sizeof how));
}

static long by_openat2_beneath(const char *path)
{
	struct open_how how = { .flags = O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, .mode = 0600, .resolve = RESOLVE_BENEATH };
	return close_result((int)syscall(NR_OPENAT2, AT_FDCWD, path, &how, sizeof how));
}

static long by_mkdir(const char *path)
{
	return result_of(mkdir(path, 0755));
}

static long by_mknod(const char *path)
{
	return result_of(mknod(path, S_IFREG | 0644, 0));
}

static long by_fifo(const char *path)
{
	return result_of(mkfifo(path, 0644));
}

static long by_symlink(const char *path)
{
	return result_of(symlink("src", path));
}

static long by_link(const char *path)
{
	by_open(source);
	return result_of(link(source, path));
}

static long by_rename(const char *path)
{
	by_open(source);
	return result_of(rename(source, path));
}

static long by_rename_directory(const char *path)
{
	mkdir(source, 0755);
	return result_of(rename(source, path));
}

/* RENAME_EXCHANGE makes no name where both exist, so the name is in a directory that is exchanged
 * with its parent's. */
static long by_unnamed(const char *path)
{
	char name[64];
	int fd = open("src", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	long result;
	if (fd < 0)
		return -errno;
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	result = result_of(linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW));
	close(fd);
	return result;
}

static long by_dangling_link(const char *path)
{
	char target[PATHS];
	snprintf(target, sizeof target, "../%s", path);
	if (symlink(target, "src/guard-link"))
		return -errno;
	return by_open("src/guard-link");
}

static long through_directory_link(const char *path)
{
	char through[PATHS];
	if (symlink("..", "src/guard-link"))
		return -errno;
	snprintf(through, sizeof through, "src/guard-link/%s", path);
	return by_open(through);
}

static long by_dots(const char *path)
{
	char dots[PATHS];
	snprintf(dots, sizeof dots, "src/../%s", path);
	return by_open(dots);
}

static long by_proc(const char *path)
{
	char proc[PATHS];
	snprintf(proc, sizeof proc, "/proc/self/cwd/%s", path);
	return by_open(proc);
}

static long by_directory_fd(const char *path)
{
	int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	long result = close_result(openat(fd, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	close(fd);
	return result;
}

static const struct {
	const char *name;
	long (*make)(const char *path);
} ways[] = {
	{ "open", by_open },
	{ "exclusive", by_exclusive },
	{ "creat", by_creat },
	{ "openat2", by_openat2 },
	{ "openat2-beneath", by_openat2_beneath },
	{ "mkdir", by_mkdir },
	{ "mknod", by_mknod },
	{ "fifo", by_fifo },
	{ "symlink", by_symlink },
	{ "link", by_link },
	{ "rename", by_rename },
	{ "rename-directory", by_rename_directory },
	{ "link-unnamed", by_unnamed },
	{ "dangling", by_dangling_link },
	{ "directory-link", through_directory_link },
	{ "dots", by_dots },
	{ "proc", by_proc },
	{ "directory-fd", by_directory_fd },
};

static bool exists(const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0;
}

static void clear(const char *path)
{
	const char *const names[] = { path, source, other, "src/guard-link" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (unlink(names[i]))
			rmdir(names[i]);
}

/* Each name in each way. Reached only if the name is there afterwards. NAME... */
static void run_make(char **names)
{
	for (; *names; names++)
		for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
			long result;
			clear(*names);
			result = ways[i].make(*names);
			if (exists(*names))
				result = 0;
			else if (result >= 0)
				result = -ENOENT;
			report(labelled(ways[i].name, *names), result);
			clear(*names);
		}
}

/* A directory that holds a protected name is put where a host looks for it: by rename, as a
 * symlink, and by exchange in both orders. HOLDER NAME */
static void run_holder(char **arguments)
{
	char inner[PATHS], seen[PATHS];
	const char *holder = arguments[0];
	snprintf(inner, sizeof inner, "%s/%s", source, arguments[1]);
	snprintf(seen, sizeof seen, "%s/%s", holder, arguments[1]);
	for (int way = 0; way < 4; way++) {
		static const char *const names[] = { "rename", "symlink", "exchange", "exchange-reversed" };
		long result = -EPERM;
		struct stat info;
		unlink(seen), unlink(inner), unlink(holder), rmdir(holder), rmdir(source);
		mkdir(source, 0755);
		by_open(inner);
		if (way == 0)
			result = result_of(rename(source, holder));
		else if (way == 1)
			result = result_of(symlink(source, holder));
		else if (mkdir(holder, 0755) == 0 || errno == EEXIST)
			result = result_of(syscall(SYS_renameat2, AT_FDCWD, way == 2 ? source : holder, AT_FDCWD,
						   way == 2 ? holder : source, EXCHANGE));
		if (stat(seen, &info) == 0)
			result = 0;
		else if (result >= 0)
			result = -ENOENT;
		report(labelled(names[way], seen), result);
	}
	unlink(seen), unlink(inner), unlink(holder), rmdir(holder), rmdir(source);
}

/* A program that forbids itself to make anything must not be served past that, nor its children. */
static void run_self_restricted(char **names)
{
	struct {
		uint64_t files;
	} handled = { 0x1ff0 | 0x2000 }; /* REMOVE_*, MAKE_*, REFER */
	int rules = (int)syscall(444, &handled, sizeof handled, 0);
	pid_t child;
	if (rules < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(446, rules, 0)) {
		report("restrict", -errno);
		return;
	}
	for (int generation = 0; generation < 2; generation++) {
		child = generation ? fork() : 0;
		if (child) {
			waitpid(child, NULL, 0);
			return;
		}
		for (char **name = names; *name; name++)
			for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
				long result = ways[i].make(*name);
				report(labelled(ways[i].name, *name), exists(*name) ? 0 : result >= 0 ? -ENOENT : result);
			}
		fflush(stdout);
		if (generation)
			_exit(0);
	}
}

/* A program that allows itself to make names in one directory only. */
struct narrowing {
	const char *inside, *outside; /* names */
	int rules;
};

static int make_rules(const char *directory)
{
	struct {
		uint64_t files;
	} handled = { 0x1fc0 | 0x2000 }; /* MAKE_*, REFER */
	struct {
		uint64_t allowed;
		int32_t parent;
	} __attribute__((packed)) beneath = { handled.files, open(directory, O_PATH | O_CLOEXEC) };
	int rules = (int)syscall(444, &handled, sizeof handled, 0);
	if (rules < 0 || beneath.parent < 0 || syscall(445, rules, 1, &beneath, 0))
		rules = -1;
	close(beneath.parent);
	return rules;
}

static void try_narrowed(const struct narrowing *narrowing, const char *who)
{
	char label[64];
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		long result;
		unlink(narrowing->outside), rmdir(narrowing->outside);
		result = ways[i].make(narrowing->outside);
		snprintf(label, sizeof label, "%s-%s", who, ways[i].name);
		report(labelled(label, narrowing->outside), exists(narrowing->outside) ? 0 : result >= 0 ? -ENOENT : result);
	}
	/* Not a result of the attack: whether it can still work. */
	printf("%s %s inside\n", who,
	       by_exclusive(narrowing->inside) == 0 && by_open(narrowing->inside) == 0 ? "works" : "fails");
	unlink(narrowing->inside);
	fflush(stdout);
}

static void wait_for(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Its parent has ended, and init or a subreaper has adopted it. */
static void as_orphan(const struct narrowing *narrowing)
{
	int ends[2];
	char byte;
	pid_t child;
	if (pipe(ends))
		return;
	child = fork();
	if (child == 0) {
		pid_t parent = getpid();
		if (fork() > 0)
			_exit(0);
		while (getppid() == parent)
			usleep(1000);
		try_narrowed(narrowing, "orphan");
		_exit(0);
	}
	wait_for(child);
	close(ends[1]);
	(void)!read(ends[0], &byte, 1); /* until the orphan has ended */
	close(ends[0]);
}

static void as_sibling(const struct narrowing *narrowing)
{
	int ends[2];
	char byte;
	long child;
	fflush(stdout);
	if (pipe(ends))
		return;
	child = syscall(SYS_clone, 0x8000 /* CLONE_PARENT */, 0, 0, 0, 0);
	if (child == 0) {
		try_narrowed(narrowing, "sibling");
		_exit(0);
	}
	close(ends[1]);
	(void)!read(ends[0], &byte, 1); /* until it has ended */
	close(ends[0]);
}

/* Limits that it sets must not make another process of it. */
static void with_limits(const struct narrowing *narrowing)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	setrlimit(RLIMIT_LOCKS, &limit);
	for (rlim_t value = 1; value < 4; value++) {
		struct rlimit lower = { (UINT64_C(1) << 62) - value, (UINT64_C(1) << 62) - value };
		setrlimit(RLIMIT_LOCKS, &lower);
		prlimit(getpid(), RLIMIT_LOCKS, &lower, NULL);
	}
	try_narrowed(narrowing, "limits");
}

static void *in_thread(void *narrowing)
{
	try_narrowed(narrowing, "thread");
	return NULL;
}

/* Rules that are added to the ruleset afterwards do not count. */
static void widened(const struct narrowing *narrowing)
{
	struct {
		uint64_t allowed;
		int32_t parent;
	} __attribute__((packed)) all = { 0x1fc0 | 0x2000, open(".", O_PATH | O_CLOEXEC) };
	int again = make_rules(".");
	syscall(445, narrowing->rules, 1, &all, 0);
	if (again >= 0)
		syscall(446, again, 0);
	try_narrowed(narrowing, "widened");
}

/* DIRECTORY [free]: without the rules. */
static void run_narrowed(char **arguments)
{
	char inside[PATHS];
	struct narrowing narrowing = { inside, "outside-name", make_rules(arguments[0]) };
	bool is_free = arguments[1];
	pthread_t thread;
	pid_t child;
	snprintf(inside, sizeof inside, "%s/inside-name", arguments[0]);
	if (narrowing.rules < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || (!is_free && syscall(446, narrowing.rules, 0))) {
		report("restrict", -errno);
		return;
	}
	try_narrowed(&narrowing, "self");
	if (pthread_create(&thread, NULL, in_thread, &narrowing) == 0)
		pthread_join(thread, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	as_orphan(&narrowing);
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	as_orphan(&narrowing);
	as_sibling(&narrowing);
	fflush(stdout);
	child = vfork();
	if (child == 0) {
		execl("/proc/self/exe", "attack", "make", narrowing.outside, (char *)NULL);
		_exit(1);
	}
	wait_for(child);
	with_limits(&narrowing);
	if (!is_free)
		widened(&narrowing);
}

/* One line for each creating call: its result, and what it made. Compared with a run that has no
 * guard. */
static void say(const char *what, long result, const char *path)
{
	struct stat info = { 0 };
	bool is_made = path && lstat(path, &info) == 0;
	printf("%s: %s", what, result < 0 ? strerror((int)-result) : "ok");
	if (is_made)
		printf(" mode %o size %ld links %lu", info.st_mode, S_ISDIR(info.st_mode) ? 0L : (long)info.st_size,
		       S_ISDIR(info.st_mode) ? 0UL : (unsigned long)info.st_nlink);
	putchar('\n');
}

static void say_open(const char *what, const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags, mode);
	long result = fd < 0 ? -errno : fd;
	say(what, result, path);
	if (fd < 0)
		return;
	printf("  fd %d flags %o cloexec %d\n", fd, fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
	close(fd);
}

static void say_how(const char *what, const char *path, struct open_how how, size_t size)
{
	int fd = (int)syscall(NR_OPENAT2, AT_FDCWD, path, &how, size);
	say(what, fd < 0 ? -errno : 0, path);
	if (fd < 0)
		return;
	printf("  flags %o\n", fcntl(fd, F_GETFL));
	close(fd);
}

static void *change_mask(void *unused)
{
	umask(027);
	return unused;
}

static void say_opens(void)
{
	static const struct {
		const char *what, *path;
		int flags;
		mode_t mode;
	} rows[] = {
		{ "new", "a", O_CREAT | O_WRONLY, 0666 },
		{ "again", "a", O_CREAT | O_RDWR | O_CLOEXEC, 0600 },
		{ "exclusive, there", "a", O_CREAT | O_EXCL | O_WRONLY, 0666 },
		{ "exclusive", "b", O_CREAT | O_EXCL | O_RDWR | O_APPEND, 0444 },
		{ "no rights for its owner", "c", O_CREAT | O_WRONLY, 0 },
		{ "no rights, again", "c", O_CREAT | O_WRONLY, 0 },
		{ "sticky and set-gid", "d", O_CREAT | O_WRONLY, 03755 },
		{ "nofollow", "e", O_CREAT | O_NOFOLLOW | O_WRONLY | O_NONBLOCK, 0644 },
		{ "directory flag", "f", O_CREAT | O_DIRECTORY | O_RDONLY, 0755 },
		{ "slash", "g/", O_CREAT | O_WRONLY, 0644 },
		{ "a directory", "src", O_CREAT | O_WRONLY, 0644 },
		{ "dot", ".", O_CREAT | O_WRONLY, 0644 },
		{ "empty", "", O_CREAT | O_WRONLY, 0644 },
		{ "no parent", "no/such", O_CREAT | O_WRONLY, 0644 },
		{ "a file as parent", "a/x", O_CREAT | O_WRONLY, 0644 },
		{ "dots", "src/../h", O_CREAT | O_WRONLY | O_TRUNC, 0644 },
		{ "through proc", "/proc/self/cwd/i", O_CREAT | O_WRONLY, 0644 },
		{ "elsewhere", "/usr/guard", O_CREAT | O_WRONLY, 0644 },
		{ "temporary", "/tmp/guard-test", O_CREAT | O_WRONLY, 0644 },
		{ "null device", "/dev/null", O_CREAT | O_WRONLY | O_TRUNC, 0644 },
		{ "unnamed", "src", O_TMPFILE | O_RDWR, 0600 },
		{ "path only", "j", O_CREAT | O_PATH, 0644 },
		{ "dangling", "dangling", O_CREAT | O_WRONLY, 0640 },
		{ "dangling, exclusive", "dangling2", O_CREAT | O_EXCL | O_WRONLY, 0640 },
		{ "dangling, nofollow", "dangling2", O_CREAT | O_NOFOLLOW | O_WRONLY, 0640 },
		{ "dangling through proc", "dangling3", O_CREAT | O_WRONLY, 0640 },
		{ "a loop", "loop", O_CREAT | O_WRONLY, 0640 },
		{ "through a directory link", "to-src/k", O_CREAT | O_WRONLY, 0640 },
		{ "invalid flags", "l", O_CREAT | O_WRONLY | O_RDWR, 0640 },
	};
	(void)!symlink("src/made-by-link", "dangling");
	(void)!symlink("nothing", "dangling2");
	(void)!symlink("/proc/self/cwd/made-by-proc", "dangling3");
	(void)!symlink("loop", "loop");
	(void)!symlink("src", "to-src");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		say_open(rows[i].what, rows[i].path, rows[i].flags, rows[i].mode);
	say("made by link", 0, "src/made-by-link");
	say("made through proc", 0, "made-by-proc");
	say("bad address", result_of(syscall(SYS_openat, AT_FDCWD, 8, O_CREAT | O_WRONLY, 0644)), NULL);
	say("bad fd", result_of(openat(77, "m", O_CREAT | O_WRONLY, 0644)), NULL);
	unlink("/tmp/guard-test");
}

static void say_hows(void)
{
	static const struct {
		const char *what, *path;
		struct open_how how;
		size_t size;
	} rows[] = {
		{ "how", "o1", { O_CREAT | O_RDWR, 0640, 0 }, sizeof(struct open_how) },
		{ "how beneath", "src/o2", { O_CREAT | O_EXCL | O_RDWR, 0640, RESOLVE_BENEATH }, sizeof(struct open_how) },
		{ "how beneath, out", "src/../../o3", { O_CREAT | O_RDWR, 0640, RESOLVE_BENEATH }, sizeof(struct open_how) },
		{ "how in root", "/src/o4", { O_CREAT | O_RDWR, 0640, RESOLVE_IN_ROOT }, sizeof(struct open_how) },
		{ "how no links", "to-src/o5", { O_CREAT | O_RDWR, 0640, RESOLVE_NO_SYMLINKS }, sizeof(struct open_how) },
		{ "how bad mode", "o6", { O_CREAT | O_RDWR, 070000, 0 }, sizeof(struct open_how) },
		{ "how bad resolve", "o7", { O_CREAT | O_RDWR, 0640, 1 << 20 }, sizeof(struct open_how) },
		{ "how short", "o8", { O_CREAT | O_RDWR, 0640, 0 }, 8 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		say_how(rows[i].what, rows[i].path, rows[i].how, rows[i].size);
}

static void say_others(void)
{
	say("mkdir", result_of(mkdir("dir", 0777)), "dir");
	say("mkdir again", result_of(mkdir("dir", 0777)), NULL);
	say("mkdir slash", result_of(mkdir("dir2/", 01777)), "dir2");
	say("mkdir no parent", result_of(mkdir("no/dir", 0777)), NULL);
	say("fifo", result_of(mkfifo("fifo", 0666)), "fifo");
	say("socket node", result_of(mknod("node", S_IFSOCK | 0600, 0)), "node");
	say("device", result_of(mknod("device", S_IFCHR | 0600, 259)), "device");
	say("symlink", result_of(symlink("target", "sym")), "sym");
	say("symlink empty", result_of(symlink("", "sym2")), "sym2");
	say("symlink there", result_of(symlink("x", "sym")), NULL);
	say("link", result_of(link("a", "hard")), "hard");
	say("link of a link", result_of(link("sym", "hardsym")), "hardsym");
	say("link of a directory", result_of(link("src", "harddir")), "harddir");
	say("link there", result_of(link("a", "b")), NULL);
	say("link absent", result_of(link("absent", "hard2")), NULL);
	say("link followed", result_of(linkat(AT_FDCWD, "dangling", AT_FDCWD, "hard3", AT_SYMLINK_FOLLOW)), "hard3");
	say("rename", result_of(rename("hard", "renamed")), "renamed");
	say("rename onto itself", result_of(rename("renamed", "renamed")), "renamed");
	say("rename onto a directory", result_of(rename("renamed", "dir")), NULL);
	say("rename a directory", result_of(rename("dir", "src/dir")), "src/dir");
	say("rename slash", result_of(rename("dir2/", "dir3/")), "dir3");
	say("rename a file, slash", result_of(rename("renamed", "x/")), NULL);
	say("rename into itself", result_of(rename("src", "src/dir/x")), NULL);
	say("rename dot", result_of(rename(".", "x")), NULL);
	say("rename absent", result_of(rename("absent", "x")), NULL);
	say("rename no replace", result_of(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 1)), NULL);
	say("exchange", result_of(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", EXCHANGE)), "a");
	say("exchange absent", result_of(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "absent", EXCHANGE)), NULL);
	say("rename bad flags", result_of(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "x", 64)), NULL);
}

static void say_processes(void)
{
	struct rlimit limit = { 3, 3 }, before;
	pthread_t thread;
	pid_t child;
	umask(077);
	say_open("umask", "u1", O_CREAT | O_WRONLY, 0666);
	if (pthread_create(&thread, NULL, change_mask, NULL) == 0)
		pthread_join(thread, NULL);
	say_open("umask of a thread", "u2", O_CREAT | O_EXCL | O_WRONLY, 0666);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		umask(0);
		say_open("umask of a child", "u3", O_CREAT | O_WRONLY, 0666);
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		say_open("not dumpable", "u4", O_CREAT | O_EXCL | O_WRONLY, 0666);
		say("not dumpable mkdir", result_of(mkdir("u5", 0777)), "u5");
		getrlimit(RLIMIT_NOFILE, &before);
		limit.rlim_max = before.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		say_open("no fd left", "u6", O_CREAT | O_EXCL | O_WRONLY, 0666);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	say("no fd left", 0, "u6");
	say_open("umask afterwards", "u7", O_CREAT | O_WRONLY, 0666);
}

static void run_faithful(char **unused)
{
	(void)unused;
	say_opens();
	say_hows();
	say_others();
	say_processes();
}

const struct attack attacks_guard[] = {
	{ "make", run_make, "NAME...: in every way" },
	{ "holder", run_holder, "HOLDER NAME: a directory with the name is put there" },
	{ "self-restricted", run_self_restricted, "NAME...: after Landlock on itself" },
	{ "narrowed", run_narrowed, "DIRECTORY [free]: after Landlock on itself that allows names in it" },
	{ "faithful", run_faithful, "prints what each creating call does" },
	{ NULL, NULL, NULL },
};

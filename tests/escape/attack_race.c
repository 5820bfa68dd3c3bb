/* SPDX-License-Identifier: Apache-2.0 */
/* Races for a name that a host obeys: one process makes names while another changes the path, the
 * flags, a directory or a link between the look at a name and its making. A kind is a row:
 * preparation, changes in a loop, attempts, and the name that must not appear.
 *
 * The world is a project with src, packages/a (which hosts look into) and .git. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATHS = 256, NR_OPENAT2 = 437, EXCHANGE_FLAG = 2, OTHER_FD = 50, STEPS = 8, STACK = 65536 };
/* Rounds of changes that a kind takes at least: on a busy machine the other process may not run yet
 * when all attempts are made. */
enum { ROUNDS_MIN = 50, SECONDS_MAX = 60 };
enum { NAME_BYTES = 32 }; /* of a path that is flipped: always copied whole */

enum verb {
	NOTHING,
	MAKE, /* open with O_CREAT */
	EXCLUSIVE,
	CREAT,
	OPENAT2,
	BENEATH,
	HOW, /* openat2 with flags that are flipped */
	IN_FD, /* openat from an fd that is flipped */
	DIR_IN_FD,
	DIRECTORY,
	NODE,
	SYMLINK, /* to `other` */
	LINK, /* of `other` */
	RENAME, /* `other` to the path */
	EXCHANGE,
	UNLINK,
	REMOVE_DIRECTORY,
	FLIP_PATH, /* between `path` and `other` */
	FLIP_CWD, /* between src and the root */
	FLIP_FD,
	FLIP_HOW,
};

/* The path is from the root; `flipped` in an attempt is the shared path. */
struct step {
	enum verb verb;
	const char *path, *other;
};
static const char flipped[] = "";

enum runner { BY_THREAD, BY_CLONE_VM, BY_FORK, BY_VM_WRITE };

struct kind {
	const char *name, *wanted;
	struct step change[STEPS], attempt[STEPS], prepare[STEPS];
	enum runner runner;
};

/* Shared with the process that changes. */
static struct shared {
	char path[PATHS];
	volatile struct open_how how;
	volatile unsigned rounds; /* of changes */
	volatile bool is_over;
} * shared;
static char *path; /* that is flipped: shared->path, or private memory */
static int root, sub;
static const struct kind *current;

static void pause_briefly(void)
{
	for (volatile int i = 0; i < 300; i++)
		;
}

static void set_path(const char *text)
{
	char copy[NAME_BYTES] = "";
	struct iovec here = { copy, sizeof copy }, there = { path, sizeof copy };
	strncpy(copy, text, sizeof copy - 1);
	if (current->runner == BY_VM_WRITE && shared->path[0])
		(void)!process_vm_writev(getppid(), &here, 1, &there, 1, 0);
	else
		memcpy(path, copy, sizeof copy);
	pause_briefly();
}

static long closed(long fd)
{
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

static long open_how(int base, const char *name, struct open_how *how)
{
	return closed(syscall(NR_OPENAT2, base, name, how, sizeof *how));
}

static long open_by(int base, const char *name, int flags)
{
	return closed(openat(base, name, flags | O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

static void flip(const struct step *step)
{
	if (step->verb == FLIP_PATH) {
		set_path(step->other);
		set_path(step->path);
	} else if (step->verb == FLIP_CWD) {
		(void)!fchdir(sub);
		pause_briefly();
		(void)!fchdir(root);
		pause_briefly();
	} else if (step->verb == FLIP_FD) {
		dup2(sub, OTHER_FD);
		pause_briefly();
		dup2(root, OTHER_FD);
		pause_briefly();
	} else {
		shared->how.flags = O_RDWR | O_CREAT;
		pause_briefly();
		shared->how.flags = O_RDWR;
	}
}

static long make_file(int base, const struct step *step, const char *name)
{
	struct open_how how = { .flags = O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, .mode = 0644 };
	switch ((int)step->verb) {
	case MAKE:
		return open_by(base, name, 0);
	case EXCLUSIVE:
		return open_by(base, name, O_EXCL);
	case CREAT:
		return closed(creat(name, 0644));
	case BENEATH:
		how.resolve = RESOLVE_BENEATH;
		return open_how(base, name, &how);
	case OPENAT2:
		return open_how(base, name, &how);
	case HOW:
		return closed(syscall(NR_OPENAT2, base, name, &shared->how, sizeof shared->how));
	case IN_FD:
		return open_by(OTHER_FD, name, 0);
	default:
		return -ENOSYS;
	}
}

static long perform(int base, const struct step *step)
{
	const char *name = step->path == flipped ? path : step->path;
	switch ((int)step->verb) {
	case DIR_IN_FD:
		return result_of(mkdirat(OTHER_FD, name, 0755));
	case DIRECTORY:
		return result_of(mkdirat(base, name, 0755));
	case NODE:
		return result_of(mknodat(base, name, S_IFREG | 0644, 0));
	case SYMLINK:
		return result_of(symlinkat(step->other, base, name));
	case LINK:
		return result_of(linkat(base, step->other, base, name, 0));
	case RENAME:
		return result_of(renameat(base, step->other, base, name));
	case EXCHANGE:
		return result_of(syscall(SYS_renameat2, base, step->other, base, name, EXCHANGE_FLAG));
	case UNLINK:
		return result_of(unlinkat(base, name, 0));
	case REMOVE_DIRECTORY:
		return result_of(unlinkat(base, name, AT_REMOVEDIR));
	case FLIP_PATH:
	case FLIP_CWD:
	case FLIP_FD:
	case FLIP_HOW:
		flip(step);
		return 0;
	default:
		return make_file(base, step, name);
	}
}

static void perform_all(int base, const struct step *steps)
{
	for (int i = 0; i < STEPS && steps[i].verb != NOTHING; i++)
		perform(base, &steps[i]);
}

#define FLIPS(verb_, wanted_)                                                                                                  \
	.wanted = wanted_, .change = { { FLIP_PATH, "src/ok", wanted_ } }, .attempt = { { verb_, flipped, NULL } }
#define FLIPS_WITH(verb_, other_, wanted_)                                                                                     \
	.wanted = wanted_, .change = { { FLIP_PATH, "src/ok", wanted_ } },                                                     \
	.attempt = { { MAKE, "src/f", NULL }, { verb_, flipped, other_ } }
static const struct kind kinds[] = {
	/* The text of the path. */
	{ "path-open", FLIPS(MAKE, ".mcp.json") },
	{ "path-exclusive", FLIPS(EXCLUSIVE, ".mcp.json") },
	{ "path-creat", FLIPS(CREAT, ".mcp.json") },
	{ "path-openat2", FLIPS(OPENAT2, ".mcp.json") },
	{ "path-beneath", FLIPS(BENEATH, ".mcp.json") },
	{ "path-mkdir", FLIPS(DIRECTORY, ".vscode") },
	{ "path-mknod", FLIPS(NODE, ".mcp.json") },
	{ "path-symlink", FLIPS_WITH(SYMLINK, "t", ".mcp.json") },
	{ "path-holder-link", FLIPS_WITH(SYMLINK, "src/deep", ".hg") },
	{ "path-link", FLIPS_WITH(LINK, "src/f", ".mcp.json") },
	{ "path-rename", FLIPS_WITH(RENAME, "src/f", ".mcp.json") },
	{ "path-nested", FLIPS(EXCLUSIVE, "packages/a/.mcp.json") },
	{ "path-git", .wanted = ".git/commondir", .change = { { FLIP_PATH, ".git/objects/ok", ".git/commondir" } },
	  .attempt = { { EXCLUSIVE, flipped, NULL } } },
	{ "path-dots", .wanted = ".mcp.json", .change = { { FLIP_PATH, "src/ok", "src/../.mcp.json" } },
	  .attempt = { { EXCLUSIVE, flipped, NULL } } },
	{ "path-existing", .wanted = ".mcp.json", .change = { { FLIP_PATH, "src/f", ".mcp.json" } },
	  .attempt = { { MAKE, flipped, NULL } } },
	{ "path-clone-vm", FLIPS(EXCLUSIVE, ".mcp.json"), .runner = BY_CLONE_VM },
	{ "path-shared", FLIPS(EXCLUSIVE, ".mcp.json"), .runner = BY_FORK },
	{ "path-vm-write", FLIPS(EXCLUSIVE, ".mcp.json"), .runner = BY_VM_WRITE },
	{ "how-flags", .wanted = ".mcp.json", .change = { { FLIP_HOW, NULL, NULL } },
	  .attempt = { { HOW, ".mcp.json", NULL } } },
	/* Links. */
	{ "link-directory", .wanted = ".mcp.json",
	  .attempt = { { MAKE, "src/s/.mcp.json", NULL }, { EXCLUSIVE, "src/s/.mcp.json", NULL } },
	  .change = { { UNLINK, "src/s", NULL },
		      { SYMLINK, "src/s", "deep" },
		      { UNLINK, "src/s", NULL },
		      { SYMLINK, "src/s", ".." } } },
	{ "link-directory-renamed", .wanted = ".mcp.json", .attempt = { { MAKE, "src/s/.mcp.json", NULL } },
	  .change = { { SYMLINK, "src/t1", ".." },
		      { SYMLINK, "src/t2", "deep" },
		      { RENAME, "src/s", "src/t1" },
		      { RENAME, "src/s", "src/t2" } } },
	{ "link-directory-link", .wanted = ".mcp.json", .attempt = { { LINK, "src/s/.mcp.json", "src/f" } },
	  .change = { { UNLINK, "src/s", NULL },
		      { SYMLINK, "src/s", ".." },
		      { UNLINK, "src/s", NULL },
		      { SYMLINK, "src/s", "deep" } } },
	{ "link-file", .wanted = ".mcp.json", .attempt = { { MAKE, "src/l", NULL } },
	  .change = { { UNLINK, "src/l", NULL },
		      { MAKE, "src/l", NULL },
		      { UNLINK, "src/l", NULL },
		      { SYMLINK, "src/l", "../.mcp.json" } } },
	/* The working directory, an fd. */
	{ "cwd", .wanted = ".mcp.json", .change = { { FLIP_CWD, NULL, NULL } }, .attempt = { { MAKE, ".mcp.json", NULL } } },
	{ "cwd-exclusive", .wanted = ".mcp.json", .change = { { FLIP_CWD, NULL, NULL } },
	  .attempt = { { EXCLUSIVE, ".mcp.json", NULL } } },
	{ "cwd-mkdir", .wanted = ".vscode", .change = { { FLIP_CWD, NULL, NULL } },
	  .attempt = { { DIRECTORY, ".vscode", NULL } } },
	{ "cwd-rename", .wanted = ".mcp.json", .change = { { FLIP_CWD, NULL, NULL } },
	  .attempt = { { MAKE, "q", NULL }, { RENAME, ".mcp.json", "q" } } },
	{ "fd", .wanted = ".mcp.json", .change = { { FLIP_FD, NULL, NULL } }, .attempt = { { IN_FD, ".mcp.json", NULL } } },
	{ "fd-mkdir", .wanted = ".vscode", .change = { { FLIP_FD, NULL, NULL } },
	  .attempt = { { DIR_IN_FD, ".vscode", NULL } } },
	/* A directory that is looked into, made of another one. */
	{ "holder-below", .wanted = ".hg/hgrc", .attempt = { { MAKE, "src/h/hgrc", NULL } },
	  .change = { { DIRECTORY, "src/h", NULL }, { RENAME, ".hg", "src/h" }, { RENAME, "src/h", ".hg" } } },
	{ "holder-existing", .wanted = ".hg/hgrc", .attempt = { { MAKE, "src/hgrc", NULL } },
	  .change = { { RENAME, ".hg", "src" }, { RENAME, "src", ".hg" } } },
	{ "holder-born", .wanted = ".hg/hgrc", .attempt = { { MAKE, "h/hgrc", NULL } },
	  .change = { { DIRECTORY, "h", NULL }, { RENAME, ".hg", "h" }, { RENAME, "h", ".hg" } } },
	{ "holder-out-in", .wanted = ".hg/hgrc", .attempt = { { MAKE, "src/c/hgrc", NULL } },
	  .change = { { DIRECTORY, ".hg", NULL }, { RENAME, "src/c", ".hg" }, { RENAME, ".hg", "src/c" } } },
	{ "holder-link", .wanted = ".hg/hgrc", .prepare = { { DIRECTORY, "src/h", NULL }, { MAKE, "src/h/hgrc", NULL } },
	  .attempt = { { MAKE, "src/h/hgrc", NULL } },
	  .change = { { SYMLINK, ".hg", "src/h" },
		      { UNLINK, ".hg", NULL },
		      { SYMLINK, "zz", "src/h" },
		      { RENAME, ".hg", "zz" } } },
	{ "holder-made-again", .wanted = ".hg/hgrc", .attempt = { { MAKE, "src/h/hgrc", NULL } },
	  .change = { { UNLINK, "src/h/hgrc", NULL },
		      { UNLINK, ".hg/hgrc", NULL },
		      { REMOVE_DIRECTORY, ".hg", NULL },
		      { DIRECTORY, ".hg", NULL },
		      { DIRECTORY, "src/h", NULL },
		      { RENAME, ".hg", "src/h" } } },
	{ "holder-mkdir", .wanted = ".hg/hgrc",
	  .attempt = { { DIRECTORY, "src/h", NULL }, { MAKE, "src/h/hgrc", NULL }, { RENAME, ".hg", "src/h" } },
	  .change = { { UNLINK, "src/h/hgrc", NULL }, { DIRECTORY, ".hg", NULL }, { REMOVE_DIRECTORY, ".hg", NULL } } },
	{ "exchange-to", .wanted = ".hg/hgrc", .attempt = { { MAKE, "src/h/hgrc", NULL } },
	  .change = { { DIRECTORY, "src/h", NULL }, { DIRECTORY, ".hg", NULL }, { EXCHANGE, ".hg", "src/h" } } },
	{ "exchange-from", .wanted = ".hg/hgrc", .attempt = { { MAKE, "src/h/hgrc", NULL } },
	  .change = { { DIRECTORY, "src/h", NULL }, { DIRECTORY, ".hg", NULL }, { EXCHANGE, "src/h", ".hg" } } },
	/* Places and the directories above them, moved away, replaced, linked. */
	{ "spine-in", .wanted = "packages/a/.mcp.json", .attempt = { { MAKE, "src/p/a/.mcp.json", NULL } },
	  .change = { { RENAME, "src/p", "packages" }, { RENAME, "packages", "src/p" } } },
	{ "spine-exchange", .wanted = "packages/a/.mcp.json", .attempt = { { MAKE, "src/p/a/.mcp.json", NULL } },
	  .change = { { DIRECTORY, "src/p", NULL }, { EXCHANGE, "src/p", "packages" }, { EXCHANGE, "packages", "src/p" } } },
	{ "spine-replaced", .wanted = "packages/a/.mcp.json",
	  .prepare = { { DIRECTORY, "src/sp", NULL }, { DIRECTORY, "src/sp/a", NULL }, { MAKE, "src/sp/a/.mcp.json", NULL } },
	  .change = { { RENAME, "old", "packages" },
		      { RENAME, "packages", "src/sp" },
		      { RENAME, "src/sp", "packages" },
		      { RENAME, "packages", "old" } } },
	{ "spine-filled", .wanted = "packages/a/.mcp.json",
	  .prepare = { { DIRECTORY, "src/sub", NULL }, { MAKE, "src/sub/.mcp.json", NULL } },
	  .change = { { RENAME, "old", "packages" },
		      { RENAME, "old/z", "old/a" },
		      { RENAME, "old/a", "src/sub" },
		      { RENAME, "packages", "old" },
		      { RENAME, "src/sub", "packages/a" },
		      { RENAME, "packages/a", "packages/z" } } },
	{ "spine-link", .wanted = "packages/a/.mcp.json",
	  .prepare = { { DIRECTORY, "src/sp", NULL }, { DIRECTORY, "src/sp/a", NULL }, { MAKE, "src/sp/a/.mcp.json", NULL } },
	  .change = { { RENAME, "old", "packages" },
		      { SYMLINK, "packages", "src/sp" },
		      { UNLINK, "packages", NULL },
		      { RENAME, "packages", "old" } } },
	{ "nested-in", .wanted = "packages/a/.mcp.json", .attempt = { { MAKE, "src/a/.mcp.json", NULL } },
	  .change = { { RENAME, "src/a", "packages/a" }, { RENAME, "packages/a", "src/a" } } },
	{ "nested-replaced", .wanted = "packages/a/.mcp.json",
	  .prepare = { { DIRECTORY, "src/sub", NULL }, { MAKE, "src/sub/.mcp.json", NULL } },
	  .change = { { RENAME, "packages/old", "packages/a" },
		      { RENAME, "packages/a", "src/sub" },
		      { RENAME, "src/sub", "packages/a" },
		      { RENAME, "packages/a", "packages/old" } } },
	{ "nested-away", .wanted = "packages/a/.mcp.json",
	  .attempt = { { MAKE, "packages/a/.mcp.json", NULL },
		       { MAKE, "k/.mcp.json", NULL },
		       { MAKE, "packages/a/x", NULL },
		       { UNLINK, "packages/a/x", NULL } },
	  .change = { { RENAME, "k", "packages/a" },
		      { DIRECTORY, "packages/a", NULL },
		      { RENAME, "packages/a/.mcp.json", "packages/a/x" },
		      { REMOVE_DIRECTORY, "packages/a", NULL },
		      { RENAME, "packages/a", "k" } } },
	{ "git-out-in", .wanted = ".git/commondir", .attempt = { { MAKE, "src/g/commondir", NULL } },
	  .change = { { RENAME, "src/g", ".git" }, { RENAME, ".git", "src/g" } } },
	{ "git-exchange", .wanted = ".git/commondir",
	  .prepare = { { DIRECTORY, "src/g", NULL }, { MAKE, "src/g/commondir", NULL } },
	  .change = { { EXCHANGE, "src/g", ".git" }, { EXCHANGE, ".git", "src/g" } } },
};

static bool exists(const char *name)
{
	struct stat info;
	return fstatat(root, name, &info, 0) == 0 || fstatat(root, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static void remove_all(const char *const *names)
{
	for (; *names; names++)
		if (unlinkat(root, *names, 0))
			unlinkat(root, *names, AT_REMOVEDIR);
}

/* Removes litter of attempts beside the name. */
static void sweep(void)
{
	static const char *const litter[] = { "src/ok",	     ".git/objects/ok",	   "src/.mcp.json",
					      "src/.vscode", "src/deep/.mcp.json", "src/h/hgrc",
					      "h/hgrc",	     "src/hgrc",	   "src/c/hgrc",
					      "src/q",	     "k/.mcp.json",	   NULL };
	remove_all(litter);
}

/* Brings the directories back to where they were before a kind moved them. */
static void restore(void)
{
	static const struct {
		const char *mark, *from, *to;
	} moved[] = {
		{ "src/deep", ".hg", "src" },
		{ "packages/a", "src/p", "packages" },
		{ "packages/a", "old", "packages" },
		{ "packages/z", "packages/z", "packages/a" },
		{ "packages/a/.vscode", "src/a", "packages/a" },
		{ "packages/a/.vscode", "k", "packages/a" },
		{ "packages/a/.vscode", "packages/old", "packages/a" },
		{ ".git/HEAD", "src/g", ".git" },
	};
	static const char *const made[] = { "src/s",
					    "src/t1",
					    "src/t2",
					    "src/l",
					    "src/h/hgrc",
					    "src/h",
					    "src/c/hgrc",
					    "src/c",
					    "h/hgrc",
					    "h",
					    ".hg/hgrc",
					    ".hg",
					    "zz",
					    "src/p",
					    "src/sub/.mcp.json",
					    "src/sub",
					    "src/sp/a/.mcp.json",
					    "src/sp/a",
					    "src/sp",
					    "q",
					    "src/g/commondir",
					    "src/g",
					    "src/q",
					    NULL };
	for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i++)
		if (!exists(moved[i].mark) && exists(moved[i].from) && renameat(root, moved[i].from, root, moved[i].to) &&
		    (errno == ENOTEMPTY || errno == EEXIST))
			syscall(SYS_renameat2, root, moved[i].from, root, moved[i].to, EXCHANGE_FLAG);
	remove_all(made);
	open_by(root, "src/f", 0);
}

static void *change(void *unused)
{
	while (!shared->is_over) {
		perform_all(root, current->change);
		shared->rounds++;
	}
	return unused;
}

static int change_as_process(void *unused)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	change(unused);
	return 0;
}

struct changer {
	pthread_t thread;
	pid_t process;
};

static bool start(struct changer *changer)
{
	static char stack[STACK] __attribute__((aligned(16)));
	shared->is_over = false;
	shared->rounds = 0;
	if (current->runner == BY_THREAD)
		return pthread_create(&changer->thread, NULL, change, NULL) == 0;
	if (current->runner == BY_CLONE_VM)
		return (changer->process = clone(change_as_process, stack + STACK, CLONE_VM | SIGCHLD, NULL)) > 0;
	changer->process = fork();
	if (changer->process == 0)
		_exit(change_as_process(NULL));
	return changer->process > 0;
}

static void stop(const struct changer *changer)
{
	shared->is_over = true;
	if (current->runner == BY_THREAD) {
		pthread_join(changer->thread, NULL);
		return;
	}
	kill(changer->process, SIGKILL);
	waitpid(changer->process, NULL, 0);
}

static bool goes_on(int made, int tries, int won, bool counts, time_t end)
{
	if (counts)
		return made < tries;
	return !won && (made < tries || shared->rounds < ROUNDS_MIN) && time(NULL) < end;
}

static int attempt(int tries, bool counts)
{
	const char *const wanted[] = { current->wanted, NULL };
	time_t end = time(NULL) + SECONDS_MAX;
	int won = 0;
	for (int i = 0; goes_on(i, tries, won, counts, end); i++) {
		perform_all(AT_FDCWD, current->attempt);
		if (exists(current->wanted)) {
			won++;
			remove_all(wanted);
			perform_all(root, current->prepare);
		}
		sweep();
	}
	return won;
}

static void run_kind(int tries, bool counts)
{
	static char private_path[PATHS];
	struct changer changer = { 0 };
	int won;
	path = current->runner == BY_VM_WRITE ? private_path : shared->path;
	restore();
	perform_all(root, current->prepare);
	shared->path[0] = '\0';
	if (current->change[0].verb == FLIP_PATH)
		set_path(current->change[0].path);
	shared->path[0] = current->runner == BY_VM_WRITE ? 'x' : shared->path[0];
	shared->how.flags = O_RDWR;
	shared->how.mode = 0644;
	dup2(sub, OTHER_FD);
	if (!start(&changer)) {
		report(labelled("race", current->name), -errno);
		return;
	}
	won = attempt(tries, counts);
	stop(&changer);
	(void)!fchdir(root);
	remove_all((const char *const[]){ current->wanted, NULL });
	restore();
	if (counts)
		printf("%s: %d of %d\n", current->name, won, tries);
	report(labelled("race", current->name), won ? won : -EACCES);
}

/* Stops at the first win, unless it counts. TRIES [count [KIND]] */
static void run_race(char **arguments)
{
	int tries = atoi(arguments[0]);
	const char *only = arguments[1] ? arguments[2] : NULL;
	mkdir("src/deep", 0755);
	root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sub = open("src", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (root < 0 || sub < 0 || shared == MAP_FAILED)
		return;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		current = &kinds[i];
		if (!only || strcmp(only, current->name) == 0)
			run_kind(tries, arguments[1] != NULL);
	}
}

const struct attack attacks_race[] = {
	{ "race", run_race, "TRIES [count [KIND]]: between the look at a name and its making" },
	{ NULL, NULL, NULL },
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Opens that may create. A file is opened here, under the checked name, and passed: if the call
 * were continued and another process removed the file meanwhile, the kernel would have to make it,
 * and Landlock would refuse that. A directory, pipe or device is left to the kernel, because its
 * open may block. A symlink that leads to nothing is followed name by name, each of which is
 * checked. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/guard/deputy.h"
#include "linux/syscalls.h"

enum { HOPS_MAX = 40, TRIES_MAX = 16, MODE_MASK = 07777 };

struct opening {
	struct dispatch_call *call;
	int base; /* fd of the caller */
	uint64_t flags;
	mode_t mode;
	uint64_t resolve;
	struct caller_name name;
	char path[PATH_MAX];
};

static struct deputy *deputy_of(const struct opening *opening)
{
	return opening->call->self;
}

/* Removes what was made for a caller that cannot take it. */
static void take_back(const struct caller_name *name, int file)
{
	struct stat made, there;
	if (fstat(file, &made) == 0 && fstatat(name->directory, name->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    made.st_dev == there.st_dev && made.st_ino == there.st_ino)
		unlinkat(name->directory, name->name, 0);
}

/* open(2) ignores flags that it does not know, openat2(2) refuses them. */
static const uint64_t known_flags = O_ACCMODE | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | O_DSYNC | O_ASYNC |
				    O_DIRECT | O_NOFOLLOW | O_NOATIME | O_LARGEFILE |
				    0100000 /* O_LARGEFILE of x86, 0 in 64-bit headers */;

static int perform_open(struct opening *opening, uint64_t flags)
{
	struct act act = { .kind = ACT_OPEN,
			   .directory = opening->name.directory,
			   .name = opening->name.name,
			   .flags = (unsigned)(flags | O_CLOEXEC | O_NOCTTY),
			   .mode = flags & O_CREAT ? opening->mode : 0 };
	return deputy_perform(deputy_of(opening), &act);
}

/* Passes the file, which it closes. */
static void pass(struct opening *opening, int file, bool is_new)
{
	int failed = dispatch_inject(opening->call, file, opening->flags & O_CLOEXEC);
	if (failed && is_new)
		take_back(&opening->name, file);
	if (failed)
		dispatch_answer(opening->call, failed);
	close(file);
}

/* Returns 0 if the call was answered, or an errno: EEXIST if the name is there. */
static int pass_new(struct opening *opening)
{
	int file;
	deputy_take_umask(deputy_of(opening), opening->call);
	file = perform_open(opening, (opening->flags & known_flags & ~(uint64_t)O_TRUNC) | O_CREAT | O_EXCL);
	if (file < 0)
		return -file;
	pass(opening, file, true);
	return 0;
}

/* The same for a file that is there: ENOENT if it is not any more. O_NONBLOCK keeps a pipe that has
 * taken its place, and a lease, from blocking. */
static int pass_existing(struct opening *opening)
{
	struct stat info;
	int file = perform_open(opening, (opening->flags & known_flags) | O_NONBLOCK);
	if (file < 0)
		return file == -ELOOP || file == -EAGAIN ? EEXIST : -file;
	if (fstat(file, &info) < 0 || !S_ISREG(info.st_mode)) {
		close(file);
		return EEXIST;
	}
	if (!(opening->flags & O_NONBLOCK))
		fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
	pass(opening, file, false);
	return 0;
}

/* Makes or opens the file. Returns 0 if the call was answered, or an errno; EEXIST: there is
 * something that the kernel must open. Most names that programs make are new, so making one is
 * tried before looking at it. */
static int make(struct opening *opening)
{
	struct stat info;
	int failed = pass_new(opening);
	/* It may come and go. */
	for (int i = 0; failed == EEXIST && !(opening->flags & O_EXCL) && i < TRIES_MAX; i++) {
		failed = fstatat(opening->name.directory, opening->name.name, &info, AT_SYMLINK_NOFOLLOW) < 0 ? errno : 0;
		if (!failed && !S_ISREG(info.st_mode))
			return EEXIST;
		if (!failed)
			failed = pass_existing(opening);
		if (failed == ENOENT)
			failed = pass_new(opening);
	}
	return failed;
}

/* Reads the name as a symlink that leads to nothing and moves on to its target. False if the name
 * is anything else: then the kernel can answer. */
static bool follow_dangling(struct opening *opening)
{
	struct stat info;
	ssize_t length;
	if ((opening->flags & O_NOFOLLOW) || opening->resolve ||
	    fstatat(opening->name.directory, opening->name.name, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISLNK(info.st_mode))
		return false;
	if (fstatat(opening->name.directory, opening->name.name, &info, 0) == 0 || errno != ENOENT)
		return false;
	length = readlinkat(opening->name.directory, opening->name.name, opening->path, sizeof opening->path - 1);
	if (length <= 0 || length >= (ssize_t)sizeof opening->path - 1)
		return false;
	opening->path[length] = '\0';
	return caller_follow(deputy_caller(opening->call), opening->path, &opening->name) == 0 && !opening->name.has_slash;
}

/* Makes the name if it is new and allowed. Returns true if the call was answered; false: the name
 * exists. */
static bool make_new(struct opening *opening)
{
	struct deputy *deputy = deputy_of(opening);
	struct guard_verdict verdict = guard_judge(&deputy->guard->rules, opening->name.path, GUARD_FILE, false);
	struct stat info;
	int failed;
	if (verdict.error) {
		if (fstatat(opening->name.directory, opening->name.name, &info, AT_SYMLINK_NOFOLLOW) == 0)
			return false;
		dispatch_answer(opening->call, deputy_refuse(deputy, &opening->name, &verdict));
		return true;
	}
	failed = make(opening);
	if (failed == EEXIST && !(opening->flags & O_EXCL))
		return false;
	if (failed)
		dispatch_answer(opening->call, failed);
	return true;
}

static void open_found(struct opening *opening)
{
	for (int hops = 0; hops < HOPS_MAX; hops++) {
		/* Elsewhere the kernel may create by itself, but not through a link into the
		 * project. */
		if (!guard_is_free(&deputy_of(opening)->guard->rules, opening->name.path) && make_new(opening))
			return;
		if ((opening->flags & O_EXCL) || !follow_dangling(opening))
			break;
	}
	dispatch_continue(opening->call);
}

/* The kernel answers O_PATH, O_TMPFILE and O_DIRECTORY, none of which makes a name here. */
static bool is_creation(const struct opening *opening)
{
	return (opening->flags & O_CREAT) && !(opening->flags & (O_PATH | O_DIRECTORY | (O_TMPFILE & ~O_DIRECTORY)));
}

/* True if the kernel can make the file in a tree. */
static bool is_native(struct opening *opening)
{
	struct deputy *deputy = deputy_of(opening);
	return !opening->resolve && trees_lead_there(&deputy->guard->trees, &deputy->seen, deputy_caller(opening->call),
						     opening->base, opening->path, !(opening->flags & (O_EXCL | O_NOFOLLOW)));
}

static void handle(struct opening *opening, int argument)
{
	struct dispatch_call *call = opening->call;
	pid_t caller = deputy_caller(call);
	int failed = EXDEV;
	if (is_creation(opening) && deputy_serves(deputy_of(opening), call) &&
	    caller_read_string(caller, dispatch_argument(call, argument), opening->path, sizeof opening->path) == 0 &&
	    !caller_is_device(opening->path) && !is_native(opening))
		failed = caller_find(caller, opening->base, opening->path, opening->resolve, &opening->name);
	if (failed)
		deputy_leave(call, failed);
	else if (opening->name.has_slash)
		dispatch_continue(call); /* EISDIR */
	else
		open_found(opening);
	caller_forget(&opening->name);
}

static void begin(struct opening *opening, struct dispatch_call *call, int base, uint64_t flags, uint64_t mode)
{
	opening->call = call;
	opening->base = base;
	opening->flags = flags;
	opening->mode = (mode_t)mode & MODE_MASK;
	opening->resolve = 0;
	caller_name_begin(&opening->name);
}

void deputy_open(struct dispatch_call *call)
{
	uninitialised struct opening opening;
	begin(&opening, call, AT_FDCWD, (uint32_t)dispatch_argument(call, 1), dispatch_argument(call, 2));
	handle(&opening, 0);
}

void deputy_openat(struct dispatch_call *call)
{
	uninitialised struct opening opening;
	begin(&opening, call, (int)dispatch_argument(call, 0), (uint32_t)dispatch_argument(call, 2),
	      dispatch_argument(call, 3));
	handle(&opening, 1);
}

void deputy_creat(struct dispatch_call *call)
{
	uninitialised struct opening opening;
	begin(&opening, call, AT_FDCWD, O_CREAT | O_WRONLY | O_TRUNC, dispatch_argument(call, 1));
	handle(&opening, 0);
}

/* A struct of another size, unknown flags and a wrong mode are left to the kernel, which refuses
 * them or, raced, creates nothing. */
void deputy_openat2(struct dispatch_call *call)
{
	const uint64_t known =
		RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_IN_ROOT;
	uninitialised struct opening opening;
	struct open_how how = { 0 };
	if (dispatch_argument(call, 3) != sizeof how ||
	    caller_read(deputy_caller(call), dispatch_argument(call, 2), &how, sizeof how) ||
	    (how.mode & ~(uint64_t)MODE_MASK) || how.flags > UINT32_MAX || (how.resolve & ~known)) {
		dispatch_continue(call);
		return;
	}
	begin(&opening, call, (int)dispatch_argument(call, 0), how.flags, how.mode);
	opening.resolve = how.resolve;
	handle(&opening, 1);
}

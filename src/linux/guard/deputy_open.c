/* SPDX-License-Identifier: Apache-2.0 */
/* Opens that may create. A new file is made here, under the checked name, and then opened by the
 * caller's own call, which is continued; with O_EXCL, or if its mode would not let its owner open
 * it, the file is opened here and passed. A symlink that leads to nothing is followed name by name,
 * each of which is checked. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux/guard/deputy.h"
#include "linux/syscalls.h"

enum { HOPS_MAX = 40, OWNER_READS_AND_WRITES = 0600, MODE_MASK = 07777 };

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

/* Opens a new file and passes it. Returns 0 or an errno. */
static int pass(struct opening *opening)
{
	int flags = (int)(opening->flags & ~(uint64_t)O_TRUNC) | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY;
	struct act act = { .kind = ACT_OPEN,
			   .directory = opening->name.directory,
			   .name = opening->name.name,
			   .flags = (unsigned)flags,
			   .mode = opening->mode };
	int file = deputy_perform(deputy_of(opening), &act);
	int failed;
	if (file < 0)
		return -file;
	failed = dispatch_inject(opening->call, file, opening->flags & O_CLOEXEC);
	if (failed) {
		take_back(&opening->name, file);
		dispatch_answer(opening->call, failed);
	}
	close(file);
	return 0;
}

static bool is_passed(const struct opening *opening)
{
	mode_t mode = opening->mode & ~deputy_of(opening)->umasks.current;
	return (opening->flags & O_EXCL) || (mode & OWNER_READS_AND_WRITES) != OWNER_READS_AND_WRITES;
}

/* Makes the file. Returns 0 if the call was answered, or an errno. */
static int make(struct opening *opening)
{
	/* Not open(): a watcher would see an empty file closed. */
	struct act act = { .kind = ACT_NODE,
			   .directory = opening->name.directory,
			   .name = opening->name.name,
			   .mode = S_IFREG | (opening->mode & MODE_MASK) };
	int failed;
	caller_umask_take(&deputy_of(opening)->umasks, deputy_caller(opening->call));
	if (is_passed(opening))
		return pass(opening);
	failed = -deputy_perform(deputy_of(opening), &act);
	if (!failed)
		dispatch_continue(opening->call);
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
	if (failed && failed != EEXIST)
		dispatch_answer(opening->call, failed);
	return failed != EEXIST;
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
static void handle(struct opening *opening, int argument)
{
	struct dispatch_call *call = opening->call;
	pid_t caller = deputy_caller(call);
	if (!(opening->flags & O_CREAT) || (opening->flags & (O_PATH | O_DIRECTORY | (O_TMPFILE & ~O_DIRECTORY))) ||
	    !deputy_serves(deputy_of(opening), call) ||
	    caller_read_string(caller, dispatch_argument(call, argument), opening->path, sizeof opening->path) ||
	    caller_is_device(opening->path) ||
	    caller_find(caller, opening->base, opening->path, opening->resolve, &opening->name)) {
		dispatch_continue(call);
		return;
	}
	if (opening->name.has_slash)
		dispatch_continue(call); /* EISDIR */
	else
		open_found(opening);
	caller_forget(&opening->name);
}

void deputy_open(struct dispatch_call *call)
{
	struct opening opening = { .call = call,
				   .base = AT_FDCWD,
				   .flags = (uint32_t)dispatch_argument(call, 1),
				   .mode = (mode_t)dispatch_argument(call, 2) & MODE_MASK };
	handle(&opening, 0);
}

void deputy_openat(struct dispatch_call *call)
{
	struct opening opening = { .call = call,
				   .base = (int)dispatch_argument(call, 0),
				   .flags = (uint32_t)dispatch_argument(call, 2),
				   .mode = (mode_t)dispatch_argument(call, 3) & MODE_MASK };
	handle(&opening, 1);
}

void deputy_creat(struct dispatch_call *call)
{
	struct opening opening = { .call = call,
				   .base = AT_FDCWD,
				   .flags = O_CREAT | O_WRONLY | O_TRUNC,
				   .mode = (mode_t)dispatch_argument(call, 1) & MODE_MASK };
	handle(&opening, 0);
}

/* A struct of another size, unknown flags and a wrong mode are left to the kernel, which refuses
 * them or, raced, creates nothing. */
void deputy_openat2(struct dispatch_call *call)
{
	const uint64_t known =
		RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_IN_ROOT;
	struct opening opening = { .call = call, .base = (int)dispatch_argument(call, 0) };
	struct open_how how = { 0 };
	if (dispatch_argument(call, 3) != sizeof how ||
	    caller_read(deputy_caller(call), dispatch_argument(call, 2), &how, sizeof how) ||
	    (how.mode & ~(uint64_t)MODE_MASK) || how.flags > UINT32_MAX || (how.resolve & ~known)) {
		dispatch_continue(call);
		return;
	}
	opening.flags = how.flags;
	opening.mode = (mode_t)how.mode;
	opening.resolve = how.resolve;
	handle(&opening, 1);
}

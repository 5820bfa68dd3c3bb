/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of modes, owners, times and extended attributes in the tier landlock. Landlock does not
 * cover the system calls that make them. The filter sends these calls to init, which performs them
 * on files that the plan lets the command write, and refuses all others.
 *
 * The order makes races harmless. The file is opened first: O_PATH, with the command's rights, from
 * the caller's directory. Then the path of the opened file is checked, and the change is made
 * through that fd. Renaming or rewriting the path meanwhile has no effect. The caller's memory is
 * read once.
 *
 * A call is never continued (SECCOMP_USER_NOTIF_FLAG_CONTINUE), because its arguments could have
 * changed after the check. A call that cannot be checked is refused. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "common/base/cleanup.h"
#include "linux/guard/caller.h"
#include "linux/guard/dispatch.h"
#include "linux/guard/guard.h"
#include "linux/syscalls.h"

enum { NR_FCHMODAT2 = 452, NAME_BYTES = 256, VALUE_BYTES = 65536, LINK_BYTES = 64, NONE = -1 };

enum change { CHANGE_MODE, CHANGE_OWNER, CHANGE_TIMES, CHANGE_ATTRIBUTE, REMOVE_ATTRIBUTE };
/* The format of the times in the caller's memory. */
enum clock { CLOCK_NONE, CLOCK_NANO, CLOCK_MICRO, CLOCK_SECOND };

/* The arguments of one system call, by their index; NONE if it has no such argument. */
struct form {
	long number;
	enum change change;
	int directory; /* fd of a directory, or of the file itself if there is no path */
	int path;
	int flags; /* AT_ flags */
	int value; /* the first argument of the new value */
	bool is_link; /* a symlink is not followed */
	enum clock clock;
};

static const struct form forms[] = {
#ifdef SYS_chmod
	{ SYS_chmod, CHANGE_MODE, NONE, 0, NONE, 1, false, CLOCK_NONE },
	{ SYS_chown, CHANGE_OWNER, NONE, 0, NONE, 1, false, CLOCK_NONE },
	{ SYS_lchown, CHANGE_OWNER, NONE, 0, NONE, 1, true, CLOCK_NONE },
	{ SYS_utime, CHANGE_TIMES, NONE, 0, NONE, 1, false, CLOCK_SECOND },
	{ SYS_utimes, CHANGE_TIMES, NONE, 0, NONE, 1, false, CLOCK_MICRO },
	{ SYS_futimesat, CHANGE_TIMES, 0, 1, NONE, 2, false, CLOCK_MICRO },
#endif
	{ SYS_fchmod, CHANGE_MODE, 0, NONE, NONE, 1, false, CLOCK_NONE },
	{ SYS_fchmodat, CHANGE_MODE, 0, 1, NONE, 2, false, CLOCK_NONE },
	{ NR_FCHMODAT2, CHANGE_MODE, 0, 1, 3, 2, false, CLOCK_NONE },
	{ SYS_fchown, CHANGE_OWNER, 0, NONE, NONE, 1, false, CLOCK_NONE },
	{ SYS_fchownat, CHANGE_OWNER, 0, 1, 4, 2, false, CLOCK_NONE },
	{ SYS_utimensat, CHANGE_TIMES, 0, 1, 3, 2, false, CLOCK_NANO },
	{ SYS_setxattr, CHANGE_ATTRIBUTE, NONE, 0, NONE, 1, false, CLOCK_NONE },
	{ SYS_lsetxattr, CHANGE_ATTRIBUTE, NONE, 0, NONE, 1, true, CLOCK_NONE },
	{ SYS_fsetxattr, CHANGE_ATTRIBUTE, 0, NONE, NONE, 1, false, CLOCK_NONE },
	{ SYS_removexattr, REMOVE_ATTRIBUTE, NONE, 0, NONE, 1, false, CLOCK_NONE },
	{ SYS_lremovexattr, REMOVE_ATTRIBUTE, NONE, 0, NONE, 1, true, CLOCK_NONE },
	{ SYS_fremovexattr, REMOVE_ATTRIBUTE, 0, NONE, NONE, 1, false, CLOCK_NONE },
};

/* A system call that waits for an answer. Functions return 0 or an errno. */
struct request {
	const struct plan *plan;
	const struct form *form;
	struct dispatch_call *call;
	char link[LINK_BYTES]; /* the opened file, as /proc/self/fd/N */
	int file;
};

static uint64_t argument(const struct request *request, int number)
{
	return dispatch_argument(request->call, number);
}

static pid_t caller_of(const struct request *request)
{
	return (pid_t)request->call->notification.pid;
}

/* In init, /proc/self is init's own directory. The spelling that C libraries use for an fd is
 * translated; no other magic link is followed. */
static bool names_descriptor(const char *path, int *descriptor)
{
	static const char *const prefixes[] = { "/proc/self/fd/", "/dev/fd/" };
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		size_t length = strlen(prefixes[i]), digits;
		if (strncmp(path, prefixes[i], length) != 0)
			continue;
		digits = strspn(path + length, "0123456789");
		if (digits == 0 || digits > 7 || path[length + digits] != '\0')
			return false;
		*descriptor = (int)strtol(path + length, NULL, 10);
		return true;
	}
	return false;
}

/* The file that a call names, decoded from its arguments. */
struct target {
	/* Fd of the caller, or AT_FDCWD: where a relative path starts, or the file itself if the
	 * path is empty. */
	int base;
	char path[PATH_MAX];
	uint64_t flags; /* for openat2 */
};

/* Reads the path from the caller's memory once; everything after uses this copy. */
static int decode_target(const struct request *request, int flags, struct target *target)
{
	const struct form *form = request->form;
	int failed;

	target->base = form->directory == NONE ? AT_FDCWD : (int)argument(request, form->directory);
	target->path[0] = '\0';
	target->flags = O_PATH | (form->is_link || (flags & AT_SYMLINK_NOFOLLOW) ? O_NOFOLLOW : 0);
	if (form->path == NONE)
		return 0;
	/* utimensat(fd, NULL, ...) is futimens. */
	if (argument(request, form->path) == 0 && form->change == CHANGE_TIMES && target->base != AT_FDCWD)
		return 0;
	failed = caller_read_string(caller_of(request), argument(request, form->path), target->path, sizeof target->path);
	if (failed)
		return failed;
	if (target->path[0] == '\0')
		return flags & AT_EMPTY_PATH ? 0 : ENOENT;
	if (names_descriptor(target->path, &target->base))
		target->path[0] = '\0';
	return 0;
}

static int open_target(const struct request *request, const struct target *target, int *file)
{
	bool is_absolute = target->path[0] == '/';
	autoclose int base = -1;

	if (target->path[0] == '\0') {
		*file = caller_open(caller_of(request), target->base);
		return *file < 0 ? EBADF : 0;
	}
	if (!is_absolute) {
		base = caller_open(caller_of(request), target->base);
		if (base < 0)
			return target->base == AT_FDCWD ? EPERM : EBADF;
	}
	*file = sys_openat2(is_absolute ? AT_FDCWD : base, target->path, target->flags, RESOLVE_NO_MAGICLINKS);
	return *file < 0 ? errno : 0;
}

bool guard_metadata_is_writable(const struct plan *plan, const char *path)
{
	if (path[0] != '/')
		return false; /* a pipe or a socket */
	if (plan->home == HOME_PRIVATE && path_is_within(path, plan->state.home))
		return true;
	if (plan->tmp == TMP_PRIVATE && path_is_within(path, plan->state.tmp))
		return true;
	return plan_is_writable(plan, path);
}

/* Checks the path of the open file. Renaming the file afterwards does not matter: it was in a
 * writable directory at this moment. */
static int check_path(struct request *request)
{
	char path[PATH_MAX];
	ssize_t length;
	snprintf(request->link, sizeof request->link, "/proc/self/fd/%d", request->file);
	length = readlink(request->link, path, sizeof path - 1);
	if (length <= 0 || length == (ssize_t)sizeof path - 1)
		return EPERM;
	path[length] = '\0';
	return guard_metadata_is_writable(request->plan, path) ? 0 : EPERM;
}

static int change_mode(const struct request *request)
{
	mode_t mode = (mode_t)argument(request, request->form->value) & 07777;
	if (mode & S_ISUID)
		return EPERM; /* as in every tier: confine/filter_checks.c */
	return chmod(request->link, mode) < 0 ? errno : 0;
}

static int change_owner(const struct request *request)
{
	uid_t uid = (uid_t)argument(request, request->form->value);
	gid_t gid = (gid_t)argument(request, request->form->value + 1);
	return fchownat(request->file, "", uid, gid, AT_EMPTY_PATH) < 0 ? errno : 0;
}

static int read_times(const struct request *request, uint64_t address, struct timespec times[2])
{
	struct timeval micro[2];
	struct utimbuf seconds;
	int failed = 0;
	switch (request->form->clock) {
	case CLOCK_NANO:
		return caller_read(caller_of(request), address, times, 2 * sizeof times[0]);
	case CLOCK_MICRO:
		failed = caller_read(caller_of(request), address, micro, sizeof micro);
		for (int i = 0; i < 2 && !failed; i++) {
			if (micro[i].tv_usec < 0 || micro[i].tv_usec >= 1000000)
				return EINVAL;
			times[i] = (struct timespec){ micro[i].tv_sec, micro[i].tv_usec * 1000 };
		}
		return failed;
	case CLOCK_SECOND:
		failed = caller_read(caller_of(request), address, &seconds, sizeof seconds);
		times[0] = (struct timespec){ .tv_sec = seconds.actime };
		times[1] = (struct timespec){ .tv_sec = seconds.modtime };
		return failed;
	case CLOCK_NONE:
		break;
	}
	return EPERM;
}

static int change_times(const struct request *request)
{
	uint64_t address = argument(request, request->form->value);
	struct timespec times[2] = { 0 };
	int failed = address ? read_times(request, address, times) : 0;
	if (failed)
		return failed;
	return utimensat(request->file, "", address ? times : NULL, AT_EMPTY_PATH) < 0 ? errno : 0;
}

static int change_attribute(const struct request *request)
{
	static char value[VALUE_BYTES];
	uint64_t size = argument(request, request->form->value + 2);
	int flags = (int)argument(request, request->form->value + 3);
	char name[NAME_BYTES];
	int failed = caller_read_string(caller_of(request), argument(request, request->form->value), name, sizeof name);
	if (failed)
		return failed == ENAMETOOLONG ? ERANGE : failed;
	if (size > sizeof value)
		return E2BIG;
	failed = size ? caller_read(caller_of(request), argument(request, request->form->value + 1), value, (size_t)size) : 0;
	if (failed)
		return failed;
	return setxattr(request->link, name, value, (size_t)size, flags) < 0 ? errno : 0;
}

static int remove_attribute(const struct request *request)
{
	char name[NAME_BYTES];
	int failed = caller_read_string(caller_of(request), argument(request, request->form->value), name, sizeof name);
	if (failed)
		return failed == ENAMETOOLONG ? ERANGE : failed;
	return removexattr(request->link, name) < 0 ? errno : 0;
}

static int change(const struct request *request)
{
	switch (request->form->change) {
	case CHANGE_MODE:
		return change_mode(request);
	case CHANGE_OWNER:
		return change_owner(request);
	case CHANGE_TIMES:
		return change_times(request);
	case CHANGE_ATTRIBUTE:
		return change_attribute(request);
	case REMOVE_ATTRIBUTE:
		return remove_attribute(request);
	}
	return EPERM;
}

static int handle(struct request *request)
{
	const struct form *form = request->form;
	int flags = form->flags == NONE ? 0 : (int)argument(request, form->flags);
	struct target target;
	int failed;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return EINVAL;
	failed = decode_target(request, flags, &target);
	if (!failed)
		failed = open_target(request, &target, &request->file);
	/* If the caller's thread is gone, its pid may have been reused when its memory and fds were
	 * opened. */
	if (!failed && !dispatch_is_waiting(request->call))
		failed = EPERM;
	if (!failed)
		failed = check_path(request);
	if (!failed)
		failed = change(request);
	if (request->file >= 0)
		close(request->file);
	return failed;
}

static const struct form *form_of(int number)
{
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		if (forms[i].number == number)
			return &forms[i];
	return NULL;
}

static void serve(struct dispatch_call *call)
{
	struct request request = { .plan = call->self, .call = call, .form = form_of(call->notification.data.nr), .file = -1 };
	dispatch_answer(call, request.form ? handle(&request) : EPERM);
}

bool guard_serve_metadata(const struct plan *plan, int listener)
{
	struct dispatch_row rows[sizeof forms / sizeof forms[0]];
	union {
		const struct plan *read;
		void *self;
	} table_self = { .read = plan };
	const struct dispatch_table table = { rows, sizeof rows / sizeof rows[0], table_self.self, NULL };
	for (size_t i = 0; i < table.count; i++)
		rows[i] = (struct dispatch_row){ forms[i].number, serve };
	return dispatch_serve(&table, listener);
}

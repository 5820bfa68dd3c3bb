/* SPDX-License-Identifier: Apache-2.0 */
/* The file is opened first (O_PATH, with the command's own rights, from its directory), judged by where it then lies, and changed through
 * that descriptor: what the command renames or rewrites meanwhile changes nothing. Its memory is read once. A call is never let through
 * (SECCOMP_USER_NOTIF_FLAG_CONTINUE), because its arguments could be others by then. What cannot be judged is refused. */
#include "linux/launch/metadata_broker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "common/base/cleanup.h"
#include "linux/syscalls.h"

enum { NR_FCHMODAT2 = 452, NAME_BYTES = 256, VALUE_BYTES = 65536, LINK_BYTES = 64, NONE = -1 };

enum change { CHANGE_MODE, CHANGE_OWNER, CHANGE_TIMES, CHANGE_ATTRIBUTE, REMOVE_ATTRIBUTE };
/* How the times are written in memory. */
enum clock { CLOCK_NONE, CLOCK_NANO, CLOCK_MICRO, CLOCK_SECOND };

/* Where a call has what. Numbers of arguments, NONE if it has none. */
struct form {
	long number;
	enum change change;
	int directory; /* descriptor of a directory, or of the file itself if there is no path */
	int path;
	int flags; /* AT_ flags */
	int value; /* the first argument of what is to be set */
	bool is_link; /* a symlink is meant itself */
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

/* One call that waits for an answer. Functions return 0 or an errno. */
struct request {
	const struct plan *plan;
	const struct form *form;
	const struct seccomp_notif *call;
	int listener;
	char link[LINK_BYTES]; /* the opened file, as /proc/self/fd/N */
	int file;
};

static uint64_t argument(const struct request *request, int number)
{
	return request->call->data.args[number];
}

static bool is_waiting(const struct request *request)
{
	uint64_t id = request->call->id;
	return ioctl(request->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* Filters around berm may know process_vm_readv and not this file. */
static bool read_through_file(const struct request *request, uint64_t address, void *buffer, size_t size)
{
	char path[LINK_BYTES];
	autoclose int memory = -1;
	snprintf(path, sizeof path, "/proc/%u/mem", request->call->pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	return memory >= 0 && pread(memory, buffer, size, (off_t)address) == (ssize_t)size;
}

static int read_memory(const struct request *request, uint64_t address, void *buffer, size_t size)
{
	struct iovec here = { buffer, size }, there = { NULL, size };
	memcpy(&there.iov_base, &address, sizeof there.iov_base);
	if (process_vm_readv((pid_t)request->call->pid, &here, 1, &there, 1, 0) == (ssize_t)size)
		return 0;
	if ((errno == EPERM || errno == ENOSYS) && read_through_file(request, address, buffer, size))
		return 0;
	return errno == EPERM || errno == EACCES ? EPERM : EFAULT;
}

/* Up to the NUL, page by page: the one after it may not be there. */
static int read_string(const struct request *request, uint64_t address, char *buffer, size_t size)
{
	const size_t page = 4096;
	size_t used = 0;
	while (used < size) {
		size_t count = page - (address + used) % page;
		int failed;
		if (count > size - used)
			count = size - used;
		failed = read_memory(request, address + used, buffer + used, count);
		if (failed)
			return failed;
		if (memchr(buffer + used, '\0', count))
			return 0;
		used += count;
	}
	return ENAMETOOLONG;
}

/* A descriptor or the working directory of the caller, of which the number is the kernel's word. */
static int open_theirs(const struct request *request, int descriptor)
{
	char path[LINK_BYTES];
	if (descriptor == AT_FDCWD)
		snprintf(path, sizeof path, "/proc/%u/cwd", request->call->pid);
	else
		snprintf(path, sizeof path, "/proc/%u/fd/%d", request->call->pid, descriptor);
	return open(path, O_PATH | O_CLOEXEC);
}

/* /proc/self means init here: the one spelling of it that C libraries use is understood, others are not followed. */
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

static int open_by_path(const struct request *request, int flags, int *file)
{
	const struct form *form = request->form;
	int directory = form->directory == NONE ? AT_FDCWD : (int)argument(request, form->directory), descriptor;
	uint64_t how = O_PATH | (form->is_link || (flags & AT_SYMLINK_NOFOLLOW) ? O_NOFOLLOW : 0);
	autoclose int base = -1;
	char path[PATH_MAX];
	int failed;

	if (argument(request, form->path) == 0 && form->change == CHANGE_TIMES && directory != AT_FDCWD) {
		*file = open_theirs(request, directory); /* utimensat(fd, NULL, ...) is futimens */
		return *file < 0 ? EBADF : 0;
	}
	failed = read_string(request, argument(request, form->path), path, sizeof path);
	if (failed)
		return failed;
	if (path[0] == '\0' && !(flags & AT_EMPTY_PATH))
		return ENOENT;
	if (path[0] == '\0' || names_descriptor(path, &descriptor)) {
		*file = open_theirs(request, path[0] == '\0' ? directory : descriptor);
		return *file < 0 ? EBADF : 0;
	}
	base = path[0] == '/' ? -1 : open_theirs(request, directory);
	if (path[0] != '/' && base < 0)
		return directory == AT_FDCWD ? EPERM : EBADF;
	*file = sys_openat2(path[0] == '/' ? AT_FDCWD : base, path, how, RESOLVE_NO_MAGICLINKS);
	return *file < 0 ? errno : 0;
}

bool metadata_is_writable(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant;
	if (path[0] != '/')
		return false; /* a pipe, a socket */
	if (plan->home == HOME_PRIVATE && path_is_within(path, plan->state.home))
		return true;
	if (plan->tmp == TMP_PRIVATE && path_is_within(path, plan->state.tmp))
		return true;
	grant = plan_grant_for(plan, path);
	return grant && grant->kind == GRANT_WRITE;
}

/* Where the file lies now. It lay in a writable place then, whatever happens to its name afterwards. */
static int judge(struct request *request)
{
	char path[PATH_MAX];
	ssize_t length;
	snprintf(request->link, sizeof request->link, "/proc/self/fd/%d", request->file);
	length = readlink(request->link, path, sizeof path - 1);
	if (length <= 0 || length == (ssize_t)sizeof path - 1)
		return EPERM;
	path[length] = '\0';
	return metadata_is_writable(request->plan, path) ? 0 : EPERM;
}

static int change_mode(const struct request *request)
{
	mode_t mode = (mode_t)argument(request, request->form->value) & 07777;
	if (mode & S_ISUID)
		return EPERM; /* as in every tier: filter_checks.c */
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
		return read_memory(request, address, times, 2 * sizeof times[0]);
	case CLOCK_MICRO:
		failed = read_memory(request, address, micro, sizeof micro);
		for (int i = 0; i < 2 && !failed; i++) {
			if (micro[i].tv_usec < 0 || micro[i].tv_usec >= 1000000)
				return EINVAL;
			times[i] = (struct timespec){ micro[i].tv_sec, micro[i].tv_usec * 1000 };
		}
		return failed;
	case CLOCK_SECOND:
		failed = read_memory(request, address, &seconds, sizeof seconds);
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
	int failed = read_string(request, argument(request, request->form->value), name, sizeof name);
	if (failed)
		return failed == ENAMETOOLONG ? ERANGE : failed;
	if (size > sizeof value)
		return E2BIG;
	failed = size ? read_memory(request, argument(request, request->form->value + 1), value, (size_t)size) : 0;
	if (failed)
		return failed;
	return setxattr(request->link, name, value, (size_t)size, flags) < 0 ? errno : 0;
}

static int remove_attribute(const struct request *request)
{
	char name[NAME_BYTES];
	int failed = read_string(request, argument(request, request->form->value), name, sizeof name);
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
	int failed = 0;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return EINVAL;
	if (form->path == NONE) {
		request->file = open_theirs(request, (int)argument(request, form->directory));
		failed = request->file < 0 ? EBADF : 0;
	} else {
		failed = open_by_path(request, flags, &request->file);
	}
	/* The number of a thread that is gone may be another's by now. */
	if (!failed && !is_waiting(request))
		failed = EPERM;
	if (!failed)
		failed = judge(request);
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

bool metadata_serve(const struct launch *launch, int listener)
{
	struct seccomp_notif call = { 0 };
	struct seccomp_notif_resp answer = { 0 };
	struct request request = { .plan = launch->plan, .call = &call, .listener = listener, .file = -1 };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
		return errno == EINTR || errno == ENOENT || errno == EAGAIN; /* ENOENT: the caller was killed meanwhile */
	request.form = form_of(call.data.nr);
	answer.id = call.id;
	answer.error = -(request.form ? handle(&request) : EPERM);
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	return true;
}

bool metadata_can_listen(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct filter_program program = { &allow, 1 };
	struct error ignored;
	int status = -1;
	pid_t pid = fork();
	if (pid == 0) {
		bool works = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && filter_load(&program, true, &ignored) >= 0;
		_exit(works ? 0 : 1);
	}
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

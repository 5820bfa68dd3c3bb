/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and opens the private state directories. Never removes anything, never follows a symlink below the state directory. */
#include "common/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/fs/filesystem.h"

enum {
	PRIVATE_MODE = 0700,
	TMP_MODE = 01777,
	RACES_MAX = 1000, /* a reset may take a directory away between two steps of ours, but not for ever */
	RACE_WAIT_NS = 1000000,
	USE_S = 60, /* how exactly `berm state list` knows when something was used */
};

const char state_projects[] = "projects";
const char state_path_file[] = "path";

static int refuse(const char *path, const char *what, struct error *err)
{
	error_set(err, "state directory %s: %s", path, what);
	return error_hint(err, "berm keeps private homes there and trusts only a directory of your own that no other user can "
			       "write; remove it, or have its owner repaired");
}

static int judge(int fd, const char *path, struct stat *info, struct error *err)
{
	if (fstat(fd, info) < 0)
		return error_errno(err, errno, "cannot look at %s", path);
	if (info->st_uid != geteuid())
		return refuse(path, "belongs to another user", err);
	return 0;
}

/* A command may have taken its own home's read permission away; only root could open that. Nobody but the user reaches the
 * directory it lies in, so that nothing can be swapped here. */
static int open_leaf(int parent, const char *name, mode_t mode)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct stat info;
	int fd = openat(parent, name, flags);
	if (fd >= 0 || errno != EACCES)
		return fd;
	if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(info.st_mode) ||
	    fchmodat(parent, name, mode, 0) < 0) {
		errno = EACCES;
		return -1;
	}
	return openat(parent, name, flags);
}

/* What has no place of its own to keep is not run; who put berm into a sandbox can give it one. */
static int refuse_creating(const char *shown, struct error *err)
{
	int number = errno;
	error_errno(err, number, "cannot create %s", shown);
	if (number == EROFS || number == EACCES || number == EPERM)
		error_hint(
			err,
			"berm keeps the command's private home there: inside another sandbox let that one allow writing to it, "
			"else see whose directory it is");
	return -1;
}

/* Whatever the caller's umask: a directory that its owner may not enter would be in the way for ever. */
static int make_directory(int parent, const char *name, mode_t mode)
{
	mode_t mask = umask(077);
	int result = mkdirat(parent, name, mode);
	umask(mask);
	return result;
}

static int open_component(int parent, const char *name, mode_t mode, bool is_leaf)
{
	return is_leaf ? open_leaf(parent, name, mode) : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* One component: made if it is not there (and mode is not 0), opened and judged. The leaves (home, tmp) are the command's to chmod and are set
 * right again; they lie in directories that are closed to others. */
static int enter(int parent, const char *name, const char *shown, mode_t mode, bool is_leaf, struct stat *info,
		 struct error *err)
{
	autoclose int fd = open_component(parent, name, mode, is_leaf);
	bool is_new = false;
	if (fd < 0 && errno == ENOENT && mode) {
		is_new = make_directory(parent, name, mode & 0777) == 0;
		if (!is_new && errno != EEXIST)
			return refuse_creating(shown, err);
		fd = open_component(parent, name, mode, is_leaf);
	}
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return refuse(shown, "is a symbolic link or not a directory", err);
	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", shown);
	if (judge(fd, shown, info, err) < 0)
		return -1;
	if (!is_new && !is_leaf && (info->st_mode & 022))
		return refuse(shown, "other users can write it", err);
	if ((is_new || is_leaf) && (info->st_mode & 07777) != mode && fchmod(fd, mode) < 0)
		return error_errno(err, errno, "cannot set the mode of %s", shown);
	return steal_fd(&fd);
}

int state_enter(int parent, const char *name, const char *shown, bool is_creating, struct error *err)
{
	struct stat info;
	return enter(parent, name, shown, is_creating ? PRIVATE_MODE : 0, false, &info, err);
}

static int create_ancestors(char *path, const char *last_slash, struct error *err)
{
	for (char *end = strchr(path + 1, '/'); end && end <= last_slash; end = strchr(end + 1, '/')) {
		*end = '\0';
		if (make_directory(AT_FDCWD, path, PRIVATE_MODE) < 0 && errno != EEXIST)
			return refuse_creating(path, err);
		*end = '/';
	}
	return 0;
}

/* Who can rename entries of the parent could put another directory of ours in its place. */
static int judge_parent(int fd, const char *path, struct error *err)
{
	struct stat info;
	if (fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot look at %s", path);
	if (info.st_uid != geteuid() && info.st_uid != 0)
		return refuse(path, "lies in a directory of another user", err);
	if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX))
		return refuse(path, "lies in a directory that other users can write", err);
	return 0;
}

/* `slash` is the last one of `path`. */
static int open_parent(char *path, char *slash, bool is_creating, struct error *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int fd;
	*slash = '\0';
	fd = openat(AT_FDCWD, path, flags);
	if (fd < 0 && errno == ENOENT && is_creating) {
		*slash = '/';
		if (create_ancestors(path, slash, err) < 0)
			return -1;
		*slash = '\0';
		fd = openat(AT_FDCWD, path, flags);
	}
	return fd < 0 ? error_errno(err, errno, "cannot open %s", path) : fd;
}

/* The state directory itself: its ancestors are the user's business and may be symlinks, it may not. */
int state_open(struct arena *arena, const char *path, bool is_creating, struct error *err)
{
	char *copy = arena_copy(arena, path);
	char *slash = strrchr(copy, '/');
	autoclose int parent = -1;

	if (!slash || slash == copy)
		return error_set(err, "state directory %s: not usable", path);
	parent = open_parent(copy, slash, is_creating, err);
	if (parent < 0 || judge_parent(parent, path, err) < 0)
		return -1;
	return state_enter(parent, slash + 1, path, is_creating, err);
}

int state_lock(int directory, bool is_shared)
{
	while (flock(directory, (is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return 1;
		if (errno != EINTR)
			return -1;
	}
	return 0;
}

bool state_is_in_use(int directory)
{
	int locked = state_lock(directory, false);
	if (locked == 0)
		flock(directory, LOCK_UN);
	return locked == 1;
}

/* For the reader of `berm state list`; the directory's own name holds only a hash. A run does not depend on it. */
static void remember_project(int directory, const char *project)
{
	size_t length = strlen(project);
	autoclose int fd = openat(directory, state_path_file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, project, length) != (ssize_t)length)
		unlinkat(directory, state_path_file, 0);
}

/* Is it still the one of that name? A reset renames what it is about to remove. */
static bool is_in_place(int parent, const char *name, int directory)
{
	struct stat named, open;
	return fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(directory, &open) == 0 &&
	       named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/* When it was last used, for `berm state list`; nothing depends on it. Not at each launch: a write may have to wait for the disk. */
static void note_use(int class)
{
	struct timespec now;
	struct stat info;
	if (clock_gettime(CLOCK_REALTIME, &now) < 0 || fstat(class, &info) < 0)
		return;
	if (now.tv_sec - info.st_mtime >= USE_S || now.tv_sec < info.st_mtime)
		(void)futimens(class, NULL);
}

/* The class directory, locked. ENOENT or EAGAIN in err->number if a reset came between. */
static int try_class(const struct plan *plan, struct error *err)
{
	const struct plan_state *names = &plan->state;
	autoclose int top = state_open(plan->arena, plan->context.state_directory, true, err);
	autoclose int projects = top < 0 ? -1 : state_enter(top, state_projects, names->directory, true, err);
	autoclose int project = projects < 0 ? -1 : state_enter(projects, names->project_key, names->directory, true, err);
	autoclose int class = project < 0 ? -1 : state_enter(project, names->grant_class, names->directory, true, err);

	if (class < 0)
		return -1;
	/* Some network file systems have no locks on directories: then a reset refuses, and the run goes on without. */
	if (state_lock(class, true) == 1)
		return error_errno(err, EAGAIN, "cannot use %s, which is being reset", names->directory);
	if (!is_in_place(project, names->grant_class, class))
		return error_errno(err, ENOENT, "cannot open %s", names->directory);
	remember_project(project, plan->context.project);
	note_use(class);
	return steal_fd(&class);
}

static int open_class(const struct plan *plan, struct error *err)
{
	const struct timespec moment = { .tv_nsec = RACE_WAIT_NS };
	for (int tries = 0;; tries++) {
		int class = try_class(plan, err);
		if (class >= 0 || (err->number != ENOENT && err->number != EAGAIN) || tries == RACES_MAX)
			return class;
		nanosleep(&moment, NULL);
	}
}

static int place(int class, const char *path, mode_t mode, struct state_place *result, struct error *err)
{
	struct stat info = { 0 };
	autoclose int fd = enter(class, path_base_name(path), path, mode, true, &info, err);
	if (fd < 0)
		return -1;
	*result = (struct state_place){ .path = path, .device = info.st_dev, .inode = info.st_ino };
	return 0;
}

/* Whole or not at all: another run of the project may be reading it. */
static int write_document(int directory, const struct plan_document *document, struct error *err)
{
	char temporary[32];
	size_t length = strlen(document->text);
	autoclose int fd = -1;

	snprintf(temporary, sizeof temporary, ".new-%ld", (long)getpid());
	unlinkat(directory, temporary, 0);
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, document->text, length) == (ssize_t)length &&
	    renameat(directory, temporary, directory, path_base_name(document->path)) == 0)
		return 0;
	error_errno(err, errno, "cannot write %s", document->path);
	unlinkat(directory, temporary, 0);
	return error_hint(err, "berm keeps its state there; a sandbox around berm has to let it write that directory");
}

/* Where nothing can be mounted, the plan's documents lie in the state. */
static int write_documents(int class, const struct plan *plan, struct error *err)
{
	autoclose int directory = state_enter(class, path_base_name(plan->state.documents), plan->state.documents, true, err);
	if (directory < 0)
		return -1;
	for (size_t i = 0; i < plan->documents.count; i++)
		if (write_document(directory, &plan->documents.items[i], err) < 0)
			return -1;
	return 0;
}

int state_prepare(const struct plan *plan, struct state *state, struct error *err)
{
	autoclose int class = -1;
	*state = (struct state){ .lock = -1 };
	if (plan->home != HOME_PRIVATE && plan->tmp != TMP_PRIVATE && plan_has_mounts(plan))
		return 0;
	class = open_class(plan, err);
	if (class < 0)
		return -1;
	if (plan->home == HOME_PRIVATE && place(class, plan->state.home, PRIVATE_MODE, &state->home, err) < 0)
		return -1;
	if (plan->tmp == TMP_PRIVATE && place(class, plan->state.tmp, TMP_MODE, &state->tmp, err) < 0)
		return -1;
	if (!plan_has_mounts(plan) && write_documents(class, plan, err) < 0)
		return -1;
	state->lock = steal_fd(&class);
	return 0;
}

bool state_may_write(size_t size)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and opens the private state directories. Never removes anything, never follows a symlink
 * below the state directory. */
#include "common/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/fs/path.h"

enum {
	PRIVATE_MODE = 0700,
	TMP_MODE = 01777,
	/* Retries when a concurrent reset removes a directory that was just opened. */
	RACES_MAX = 1000,
	RACE_WAIT_NS = 1000000,
	USE_S = 60, /* precision of the last use in `berm state list` */
};

static const int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

const char state_projects[] = "projects";
const char state_path_file[] = "path";
const char state_copies[] = "copies";
const char state_undo[] = "undo";

static int refuse(const char *path, const char *problem, struct error *err)
{
	error_set(err, "state directory %s: %s", path, problem);
	return error_hint(err, "berm keeps private homes there and accepts only a directory that you own and no other user can "
			       "write; remove it, or correct its owner and mode");
}

/* Inside another sandbox the state directory is often read-only. The command does not run without
 * it. */
static int refuse_creating(const char *shown, struct error *err)
{
	int number = errno;
	error_errno(err, number, "cannot create %s", shown);
	if (number == EROFS || number == EACCES || number == EPERM)
		error_hint(err,
			   "berm keeps the command's private home there: check the owner of the directory above it; inside "
			   "another sandbox, configure that one to allow writing to it");
	return -1;
}

static int refuse_opening(const char *shown, struct error *err)
{
	if (errno == ELOOP || errno == ENOTDIR)
		return refuse(shown, "is a symbolic link or not a directory", err);
	return error_errno(err, errno, "cannot open %s", shown);
}

static int check_owner(int fd, const char *path, struct stat *info, struct error *err)
{
	if (fstat(fd, info) < 0)
		return error_errno(err, errno, "cannot inspect %s", path);
	if (info->st_uid != geteuid())
		return refuse(path, "belongs to another user", err);
	return 0;
}

static int set_mode(int fd, const char *shown, const struct stat *info, mode_t mode, struct error *err)
{
	if ((info->st_mode & 07777) != mode && fchmod(fd, mode) < 0)
		return error_errno(err, errno, "cannot set the mode of %s", shown);
	return 0;
}

/* Ignores the caller's umask: with some masks the owner could never enter the directory. */
static int make_directory(int parent, const char *name, mode_t mode)
{
	mode_t mask = umask(077);
	int result = mkdirat(parent, name, mode);
	umask(mask);
	return result;
}

/* Opens a directory that the command never sees, or creates it with is_creating. Refuses one that
 * others can write. */
static int open_private(int parent, const char *name, const char *shown, bool is_creating, struct error *err)
{
	autoclose int fd = openat(parent, name, directory_flags);
	bool is_new = false;
	struct stat info;

	if (fd < 0 && errno == ENOENT && is_creating) {
		is_new = make_directory(parent, name, PRIVATE_MODE) == 0;
		if (!is_new && errno != EEXIST)
			return refuse_creating(shown, err);
		fd = openat(parent, name, directory_flags);
	}
	if (fd < 0)
		return refuse_opening(shown, err);
	if (check_owner(fd, shown, &info, err) < 0)
		return -1;
	if (!is_new && (info.st_mode & 022))
		return refuse(shown, "other users can write it", err);
	if (is_new && set_mode(fd, shown, &info, PRIVATE_MODE, err) < 0)
		return -1;
	return steal_fd(&fd);
}

/* A command may have removed the read permission of its home, which only root could open then. No
 * other user can reach the directory above it, so that nothing can be swapped between the calls. */
static int open_unreadable(int parent, const char *name, mode_t mode)
{
	struct stat info;
	int fd = openat(parent, name, directory_flags);
	if (fd >= 0 || errno != EACCES)
		return fd;
	if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(info.st_mode) ||
	    fchmodat(parent, name, mode, 0) < 0) {
		errno = EACCES;
		return -1;
	}
	return openat(parent, name, directory_flags);
}

/* Opens or creates a directory that the command gets (home, tmp). The command may change its mode,
 * so the mode is set again. */
static int open_leaf(int parent, const char *name, const char *shown, mode_t mode, struct stat *info, struct error *err)
{
	autoclose int fd = open_unreadable(parent, name, mode);

	if (fd < 0 && errno == ENOENT) {
		if (make_directory(parent, name, mode & 0777) < 0 && errno != EEXIST)
			return refuse_creating(shown, err);
		fd = open_unreadable(parent, name, mode);
	}
	if (fd < 0)
		return refuse_opening(shown, err);
	if (check_owner(fd, shown, info, err) < 0 || set_mode(fd, shown, info, mode, err) < 0)
		return -1;
	return steal_fd(&fd);
}

int state_enter(int parent, const char *name, const char *shown, bool is_creating, struct error *err)
{
	return open_private(parent, name, shown, is_creating, err);
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

/* A user that can rename entries of the parent could replace the state directory by another one of
 * ours. */
static int check_parent(int fd, const char *path, struct error *err)
{
	struct stat info;
	if (fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot inspect %s", path);
	if (info.st_uid != geteuid() && info.st_uid != 0)
		return refuse(path, "is in a directory of another user", err);
	if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX))
		return refuse(path, "is in a directory that other users can write", err);
	return 0;
}

/* `slash` is the last slash of `path`. */
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

/* The ancestors of the state directory may be symlinks of the user's. The state directory itself
 * may not. */
int state_open(struct arena *arena, const char *path, bool is_creating, struct error *err)
{
	char *copy = arena_copy(arena, path);
	char *slash = strrchr(copy, '/');
	autoclose int parent = -1;

	if (!slash || slash == copy)
		return error_set(err, "state directory %s: not usable", path);
	parent = open_parent(copy, slash, is_creating, err);
	if (parent < 0 || check_parent(parent, path, err) < 0)
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

void state_remember_project(int directory, const char *project)
{
	size_t length = strlen(project);
	autoclose int fd = openat(directory, state_path_file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, project, length) != (ssize_t)length)
		unlinkat(directory, state_path_file, 0);
}

/* True if the open directory still has this name. A reset renames a class before it removes it. */
static bool is_in_place(int parent, const char *name, int directory)
{
	struct stat named, open;
	return fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(directory, &open) == 0 &&
	       named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/* Updates the time of last use for `berm state list`. Not on every launch: a write may have to wait
 * for the disk. */
static void note_use(int class)
{
	struct timespec now;
	struct stat info;
	if (clock_gettime(CLOCK_REALTIME, &now) < 0 || fstat(class, &info) < 0)
		return;
	if (now.tv_sec - info.st_mtime >= USE_S || now.tv_sec < info.st_mtime)
		(void)futimens(class, NULL);
}

/* Returns the locked class directory. Sets err->number to ENOENT or EAGAIN if a concurrent reset
 * interfered. */
static int try_class(const struct plan *plan, struct error *err)
{
	const struct plan_state *names = &plan->state;
	autoclose int top = state_open(plan->arena, plan->context.state_directory, true, err);
	autoclose int projects = top < 0 ? -1 : state_enter(top, state_projects, names->directory, true, err);
	autoclose int project = projects < 0 ? -1 : state_enter(projects, names->project_key, names->directory, true, err);
	autoclose int class = project < 0 ? -1 : state_enter(project, names->grant_class, names->directory, true, err);

	if (class < 0)
		return -1;
	/* Some network file systems cannot lock directories: a reset refuses there, and a run
	 * continues without a lock. */
	if (state_lock(class, true) == 1)
		return error_errno(err, EAGAIN, "cannot use %s, which is being reset", names->directory);
	if (!is_in_place(project, names->grant_class, class))
		return error_errno(err, ENOENT, "cannot open %s", names->directory);
	state_remember_project(project, plan->context.project);
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
	autoclose int fd = open_leaf(class, path_base_name(path), path, mode, &info, err);
	if (fd < 0)
		return -1;
	*result = (struct state_place){ .path = path, .device = info.st_dev, .inode = info.st_ino };
	return 0;
}

/* The temporary directory is in the class directory, or under a short name beside all projects. */
static int place_tmp(int class, const struct plan *plan, struct state_place *result, struct error *err)
{
	const char *parent = path_parent(plan->arena, plan->state.tmp);
	autoclose int top = -1, directory = -1;
	if (strcmp(parent, plan->state.directory) == 0)
		return place(class, plan->state.tmp, TMP_MODE, result, err);
	top = state_open(plan->arena, plan->context.state_directory, true, err);
	directory = top < 0 ? -1 : state_enter(top, path_base_name(parent), parent, true, err);
	return directory < 0 ? -1 : place(directory, plan->state.tmp, TMP_MODE, result, err);
}

static int write_document(int directory, const struct plan_document *document, struct error *err)
{
	const struct private_file_options options = { .mode = 0600 };

	if (private_file_write(directory, path_base_name(document->path), document->text, strlen(document->text), &options) ==
	    0)
		return 0;
	error_errno(err, errno, "cannot write %s", document->path);
	return error_hint(err, "berm keeps its state there; a sandbox around berm must allow it to write that directory");
}

/* Without mounts the plan's documents are files in the state directory. Another run of the project
 * may be reading them. */
static int write_documents(int class, const struct plan *plan, const struct plan_documents *documents, struct error *err)
{
	autoclose int directory = state_enter(class, path_base_name(plan->state.documents), plan->state.documents, true, err);
	if (directory < 0)
		return -1;
	for (size_t i = 0; i < documents->count; i++)
		if (write_document(directory, &documents->items[i], err) < 0)
			return -1;
	return 0;
}

int state_prepare(const struct plan *plan, const struct plan_documents *documents, struct state *state, struct error *err)
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
	if (plan->tmp == TMP_PRIVATE && place_tmp(class, plan, &state->tmp, err) < 0)
		return -1;
	if (!plan_has_mounts(plan) && write_documents(class, plan, documents, err) < 0)
		return -1;
	state->lock = steal_fd(&class);
	return 0;
}

bool state_may_write(size_t size)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
}

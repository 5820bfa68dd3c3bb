/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the new root from the plan and enters it; view.h has the theory of operation. */
#include "linux/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/view/git_events.h"
#include "linux/stage.h"
#include "linux/limits/limits.h"
#include "linux/syscalls.h"
#include "linux/view/mount.h"
#include "linux/view/internal.h"

struct view {
	const struct plan *plan;
	const struct view_request *request;
	struct view_entries entries;
	int root;
	int run_files; /* the directory of the run's files: in the root, or a tmpfs mounted there */
};

/* The launcher has checked this path. In this namespace it must still be the same directory. */
static int check_place(int fd, const struct state_place *place, struct error *err)
{
	struct stat info;
	if (fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot inspect %s", place->path);
	if (info.st_dev != place->device || info.st_ino != place->inode)
		return error_set(err, "%s changed while the sandbox was being set up", place->path);
	return 0;
}

/* A tmpfs uses memory, so the limits of memory and of disk space bound its size. */
void view_tmpfs_options(const struct plan *plan, const char *mode, bool is_disk, char options[VIEW_OPTIONS_MAX])
{
	uint64_t size = limits_of_tmpfs(plan, is_disk);
	if (size == 0)
		snprintf(options, VIEW_OPTIONS_MAX, "mode=%s,size=50%%", mode);
	else
		snprintf(options, VIEW_OPTIONS_MAX, "mode=%s,size=%llu", mode, (unsigned long long)size);
}

/* True for the project, if the command gets a copy of it. */
static bool is_copied(const struct view *view, const struct view_entry *entry)
{
	return view->request->copy && entry->kind == VIEW_GRANT && strcmp(entry->path, view->plan->context.project) == 0;
}

/* Never the project itself where a copy was asked for: it must be a separate mount. */
static int check_copy(const struct view *view, struct error *err)
{
	if (!view->request->copy)
		return 0;
	for (size_t i = 0; i < view->entries.count; i++)
		if (is_copied(view, &view->entries.items[i]) && view->entries.items[i].is_writable)
			return 0;
	error_set(err, "the project cannot be copied: the policy does not make it writable as a directory of its own");
	return error_hint(err, "`berm plan` shows the writable paths");
}

static int take_empty(const struct plan *plan, struct view_entry *entry, struct error *err)
{
	char options[VIEW_OPTIONS_MAX];
	view_tmpfs_options(plan, entry->mode, true, options);
	entry->tree = mount_new("tmpfs", options, ATTR_NOSUID | ATTR_NODEV);
	return entry->tree < 0 ? error_errno(err, errno, "cannot mount an empty %s", entry->path) : 0;
}

static int take_tree(const struct view *view, struct view_entry *entry, struct error *err)
{
	const char *source = entry->place ? entry->place->path : entry->path;
	autoclose int fd = -1;

	if (entry->kind == VIEW_PRIVATE && !entry->place)
		return take_empty(view->plan, entry, err);
	fd = mount_open(AT_FDCWD, source);
	if (fd < 0 && errno == ELOOP)
		return error_set(err, "%s changed while the sandbox was being set up: a symbolic link is in the way", source);
	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", source);
	if (entry->place && check_place(fd, entry->place, err) < 0)
		return -1;
	if (is_copied(view, entry)) {
		entry->tree = view->request->copy->is_full ? view_full_copy(view->request->copy, err)
							   : view_overlay(entry->path, fd, view->request->copy, err);
		return entry->tree < 0 ? -1 : 0;
	}
	entry->tree = mount_clone(fd, true);
	if (entry->tree >= 0 && (!entry->is_writable || mount_set(entry->tree, ATTR_NOSUID | ATTR_NODEV, true) == 0))
		return 0;
	error_errno(err, errno, "cannot mount %s", source);
	err->stage = STAGE_BIND;
	return -1;
}

/* True for a directory in `/` or in sysfs: only root can replace it, be it by a symlink. */
static bool is_fixed(const char *path)
{
	return !strchr(path + 1, '/') || strncmp(path, "/sys/", 5) == 0;
}

static bool can_bind(const struct view_entries *entries, size_t index)
{
	const struct view_entry *entry = &entries->items[index];
	return entry->kind == VIEW_GRANT && !entry->is_writable && is_fixed(entry->path) &&
	       !view_around(entries, entry->path, index);
}

static int take_trees(struct view *view, bool is_writable, struct error *err)
{
	for (size_t i = 0; i < view->entries.count; i++) {
		struct view_entry *entry = &view->entries.items[i];
		if (entry->is_writable != is_writable || entry->kind == VIEW_WAY)
			continue;
		if (can_bind(&view->entries, i))
			entry->tree = -1;
		else if (take_tree(view, entry, err) < 0)
			return -1;
	}
	return 0;
}

static int lock_host(struct error *err)
{
	struct mount_attributes change = { .set = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV, .propagation = MS_PRIVATE };
	if (sys_mount_setattr(AT_FDCWD, "/", TREE_RECURSIVE, &change) == 0)
		return 0;
	error_errno(err, errno, "cannot make the host's files read-only");
	err->stage = STAGE_LOCK;
	return -1;
}

/* Mounts the new root over the old one. The process's root stays below it for now. */
static int cover_root(int root, struct error *err)
{
	autoclose int slash = openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (slash >= 0 && root >= 0 && mount_attach(root, slash) == 0)
		return 0;
	error_errno(err, errno, "cannot mount a new root");
	err->stage = STAGE_ROOT;
	return -1;
}

static const char run_files_options[] = "mode=755,size=4m";

static int new_tmpfs(void)
{
	return mount_new("tmpfs", run_files_options, ATTR_NOSUID | ATTR_NODEV);
}

/* Copies the cached layout from the host's tree, which is read-only by now. The run's files get a
 * tmpfs. */
static int open_cached_root(struct view *view, struct error *err)
{
	const struct state_place *place = view->request->root;
	autoclose int fd = mount_open(AT_FDCWD, place->path);
	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", place->path);
	if (check_place(fd, place, err) < 0)
		return -1;
	view->root = mount_clone(fd, false);
	if (cover_root(view->root, err) < 0)
		return -1;
	if (mount_new_at(view->root, PLAN_DOCUMENTS, "tmpfs", run_files_options, MS_NOSUID | MS_NODEV) < 0)
		return error_errno(err, errno, "cannot mount %s", PLAN_DOCUMENTS);
	return 0;
}

static int open_new_root(struct view *view, struct error *err)
{
	view->root = new_tmpfs();
	if (cover_root(view->root, err) < 0)
		return -1;
	return root_layout_make(view->root, view->plan, view->request->has_terminal, err);
}

static int open_root(struct view *view, struct error *err)
{
	const struct view_request *request = view->request;
	autoclose int writer = -1;
	if ((request->root->path ? open_cached_root(view, err) : open_new_root(view, err)) < 0)
		return -1;
	view->run_files = mount_open(view->root, PLAN_DOCUMENTS);
	if (view->run_files < 0)
		return error_errno(err, errno, "cannot open %s", PLAN_DOCUMENTS);
	/* A separate mount, which the launcher can write until the last mask exists. */
	writer = mount_clone(view->run_files, false);
	if (writer < 0)
		return error_errno(err, errno, "cannot copy %s", PLAN_DOCUMENTS);
	return request->offer(request->self, writer, err);
}

/* Opens a mount point, but not another type of file at its path. */
static int open_mount_point(int root, const char *path, bool is_directory)
{
	autoclose int fd = mount_open(root, path);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) < 0)
		return -1;
	if (S_ISDIR(info.st_mode) != is_directory) {
		errno = ENOTDIR;
		return -1;
	}
	return steal_fd(&fd);
}

/* Clears a name in a private directory for a mount point. A command of an earlier run has put
 * something else there; no later run would start. A link has no content, everything else is
 * renamed, to a name that the command cannot have taken. */
static int clear_name(int directory, const char *name)
{
	char aside[NAME_MAX + 1];
	struct timespec now;
	struct stat info;
	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	if (S_ISLNK(info.st_mode))
		return unlinkat(directory, name, 0);
	if (clock_gettime(CLOCK_REALTIME, &now) < 0)
		return -1;
	if (snprintf(aside, sizeof aside, "%s.berm-aside-%llx%08lx", name, (unsigned long long)now.tv_sec, now.tv_nsec) >=
	    (int)sizeof aside) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return renameat(directory, name, directory, aside);
}

/* Creates a path below a directory that commands can write, without following a symlink at any
 * step. Returns an O_PATH descriptor. */
static int make_below_private(int root, const char *path, bool is_directory)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t length = (size_t)(slash - path);
	autoclose int directory = -1;
	int fd = open_mount_point(root, path, is_directory);

	if (fd >= 0 || (errno != ENOENT && errno != ELOOP && errno != ENOTDIR))
		return fd;
	if (length >= sizeof parent) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(parent, path, length);
	parent[length] = '\0';
	directory = make_below_private(root, parent, true);
	if (directory < 0 || clear_name(directory, slash + 1) < 0 || view_make_in(directory, slash + 1, is_directory) < 0)
		return -1;
	return open_mount_point(directory, slash + 1, is_directory);
}

/* Mounts a directory of the private home over itself. It becomes read-only once the mount points in
 * it exist. */
static int attach_way(const struct view *view, struct view_entry *entry)
{
	autoclose int target = make_below_private(view->root, entry->path, true);
	entry->tree = target < 0 ? -1 : mount_clone(target, false);
	return entry->tree < 0 ? -1 : mount_attach(entry->tree, target);
}

static int lock_ways(const struct view *view, struct error *err)
{
	for (size_t i = 0; i < view->entries.count; i++) {
		const struct view_entry *entry = &view->entries.items[i];
		if (entry->kind != VIEW_WAY)
			continue;
		if (mount_set(entry->tree, ATTR_RDONLY, false) < 0)
			return error_errno(err, errno, "cannot make %s read-only", entry->path);
		close(entry->tree);
	}
	return 0;
}

/* A mount point is created only in the root layout and in private directories, never in a grant. */
static int attach_tree(const struct view *view, size_t index)
{
	struct view_entry *entry = &view->entries.items[index];
	const struct view_entry *around = view_around(&view->entries, entry->path, index);
	autoclose int target = -1;
	if (entry->kind == VIEW_WAY)
		return attach_way(view, entry);
	if (entry->tree < 0)
		return mount_bind_at(view->root, entry->path, entry->path, true);
	if (!around)
		return mount_attach_at(entry->tree, view->root, entry->path);
	if (around->kind == VIEW_PRIVATE || around->kind == VIEW_WAY)
		target = make_below_private(view->root, entry->path, entry->is_directory);
	else
		target = mount_open(view->root, entry->path);
	return target < 0 ? -1 : mount_attach(entry->tree, target);
}

static int attach_entry(const struct view *view, size_t index, struct error *err)
{
	const struct view_entry *entry = &view->entries.items[index];
	if (attach_tree(view, index) < 0) {
		error_errno(err, errno, "cannot mount %s in the sandbox", entry->path);
		/* The host refuses the mount, as opposed to a missing path. */
		if (entry->tree < 0 && (err->number == EPERM || err->number == EACCES || err->number == ENOSYS))
			err->stage = STAGE_BIND;
		if (err->number == ENOTDIR || err->number == ELOOP)
			error_hint(err,
				   "a file of an earlier run is in the way, in the private home or tmp: `berm state reset`");
		else if (err->number == ENOENT && view->request->root->path)
			error_hint(err, "%s is damaged: `berm state reset` removes it", view->request->root->path);
		return -1;
	}
	if (entry->tree >= 0 && entry->kind != VIEW_WAY)
		close(entry->tree);
	return 0;
}

static int attach_entries(const struct view *view, struct error *err)
{
	for (size_t i = 0; i < view->entries.count; i++)
		if (attach_entry(view, i, err) < 0)
			return -1;
	return 0;
}

/* A link of an earlier run in the private home stays. */
static int make_private_link(const struct view *view, const char *path, const char *target, struct error *err)
{
	const struct view_entry *around = view_around(&view->entries, path, view->entries.count);
	const char *slash = strrchr(path, '/');
	autoclose int directory = -1;
	if (!around || (around->kind != VIEW_PRIVATE && around->kind != VIEW_WAY))
		return 0; /* it is in the root layout or in a grant */
	if (slash != path)
		directory = make_below_private(view->root, arena_copy_n(view->plan->arena, path, (size_t)(slash - path)), true);
	if (directory < 0 || (symlinkat(target, directory, slash + 1) < 0 && errno != EEXIST))
		return error_errno(err, errno, "cannot create the link %s", path);
	return 0;
}

static int make_private_links(const struct view *view, struct error *err)
{
	const struct path_links *links = &view->plan->links;
	for (size_t i = 0; i < links->count; i++)
		if (make_private_link(view, links->items[i].path, links->items[i].target, err) < 0)
			return -1;
	return view_needs_var_tmp(view->plan) ? make_private_link(view, "/var/tmp", "../tmp", err) : 0;
}

/* Must run before the root becomes read-only. */
static int open_git_events(const struct view *view, struct view_result *result, struct error *err)
{
	result->git_events = -1;
	if (!plan_locks_git_config(view->plan))
		return 0;
	result->git_events = git_events_open(view->root);
	/* A sandbox around berm may refuse all sockets. Then git cannot report, but the lock
	 * holds. */
	if (result->git_events < 0 && (errno == EPERM || errno == EACCES || errno == EAFNOSUPPORT))
		return 0;
	return result->git_events < 0 ? error_errno(err, errno, "cannot create %s", PLAN_GIT_EVENTS) : 0;
}

static bool is_root(int directory)
{
	struct stat root, expected;
	return stat("/", &root) == 0 && fstat(directory, &expected) == 0 && root.st_dev == expected.st_dev &&
	       root.st_ino == expected.st_ino;
}

/* Joins the mount namespace that the process is in: the kernel then sets root and working directory
 * to the topmost mount of `/`. This process shares neither with another one, or the kernel would
 * refuse. */
static int join_own_namespace(void)
{
	autoclose int self = (int)syscall(NR_PIDFD_OPEN, getpid(), 0);
	return self < 0 ? -1 : setns(self, CLONE_NEWNS);
}

/* The profile of containers-common (podman, CRI-O) allows chroot(2) only with a capability that the
 * container itself must have, although the new user namespace has it. The directory that was
 * entered is compared, because nothing else proves that the host's tree is out of reach. */
static int enter_root(int root, struct error *err)
{
	if (fchdir(root) == 0 && ((chroot(".") == 0 && chdir("/") == 0) || join_own_namespace() == 0)) {
		if (is_root(root))
			return 0;
		return error_set(err, "cannot enter the new root: another directory was entered");
	}
	error_errno(err, errno, "cannot enter the new root");
	err->stage = STAGE_ENTER;
	return -1;
}

/* The inherited working directory is still below the new mounts: it must be entered again, by path,
 * from inside. */
static int move_in(const struct view *view, struct error *err)
{
	const struct context *context = &view->plan->context;
	const char *directory = context->working_directory ? context->working_directory : context->project;
	if (enter_root(view->root, err) < 0)
		return -1;
	if (chdir(directory) < 0)
		return error_errno(err, errno, "cannot enter %s inside the sandbox", directory);
	return 0;
}

/* Mounts everything that does not depend on the scan of the project. */
static int build(struct view *view, struct view_result *result, struct error *err)
{
	int proc;

	/* For other users the permissions of those files suffice. */
	if (view->plan->context.uid == 0 && view_refuse_mounts(view->plan, err) < 0)
		return -1;
	view_list(view->plan, view->request->state, &view->entries);
	if (check_copy(view, err) < 0)
		return -1;
	if (take_trees(view, true, err) < 0 || lock_host(err) < 0 || take_trees(view, false, err) < 0 ||
	    open_root(view, err) < 0)
		return -1;
	if (attach_entries(view, err) < 0 || make_private_links(view, err) < 0 || lock_ways(view, err) < 0)
		return -1;
	if (view_devices_attach(view->plan, view->root, view->request->has_terminal, err) < 0)
		return -1;
	proc = view_proc_attach(view->root, view->run_files, err);
	if (proc < 0)
		return -1;
	result->has_proc = proc > 0;
	return 0;
}

static int finish(struct view *view, struct view_result *result, struct error *err)
{
	const struct view_request *request = view->request;
	struct masks_place place = { .root = view->root, .run_files = view->run_files, .request = request };
	if (open_git_events(view, result, err) < 0 || masks_pin(view->root, view->plan, err) < 0)
		return -1;
	place.mount = request->root->path ? view->run_files : view->root;
	if (masks_apply(&place, view->plan, err) < 0)
		return -1;
	return move_in(view, err);
}

int view_probe(struct view_result *result, struct error *err)
{
	autoclose int root = -1;
	int proc;
	if (lock_host(err) < 0)
		return -1;
	root = new_tmpfs();
	if (cover_root(root, err) < 0)
		return -1;
	if (view_make(root, "/proc", true) < 0)
		return error_errno(err, errno, "cannot create /proc");
	proc = view_proc_attach(root, root, err);
	result->has_proc = proc > 0;
	return proc < 0 ? -1 : 0;
}

int view_probe_entry(struct error *err)
{
	autoclose int root = new_tmpfs();
	return cover_root(root, err) < 0 ? -1 : enter_root(root, err);
}

int view_enter(const struct plan *plan, const struct view_request *request, struct view_result *result, struct error *err)
{
	struct view view = { .plan = plan, .request = request, .root = -1, .run_files = -1 };
	mode_t mask = umask(022);
	int status = build(&view, result, err);
	if (status == 0)
		status = request->await(request->self, err);
	if (status == 0)
		status = finish(&view, result, err);
	umask(mask);
	/* Through an fd of a layer the command would reach files that are masked in the overlay. */
	if (request->copy) {
		close(request->copy->upper);
		if (!request->copy->is_full)
			close(request->copy->work);
	}
	if (view.run_files >= 0)
		close(view.run_files);
	if (view.root >= 0)
		close(view.root);
	return status;
}

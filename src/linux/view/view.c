/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the new root out of the plan and moves into it. view.h has the theory. Never creates anything outside berm's own tmpfs
 * and the private home and tmp; never follows a symlink that others than root could have made. */
#include "linux/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/view/git_events.h"
#include "linux/probe/causes.h"
#include "linux/limits/limits.h"
#include "linux/syscalls.h"
#include "linux/view/mount.h"
#include "linux/view/internal.h"

struct view {
	const struct plan *plan;
	const struct view_request *request;
	struct view_entries entries;
	int root;
	int own; /* the directory of berm's own files: in the root, or the tmpfs that lies on it */
};

/* The path was judged by the launcher; in this namespace it must still be the same directory. */
static int check_place(int fd, const struct state_place *place, struct error *err)
{
	struct stat info;
	if (fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot look at %s", place->path);
	if (info.st_dev != place->device || info.st_ino != place->inode)
		return error_set(err, "%s changed while the sandbox was being set up", place->path);
	return 0;
}

/* A tmpfs is memory, and what the policy allows of that or of the disk is all it can hold. */
void view_tmpfs_options(const struct plan *plan, const char *mode, bool is_disk, char options[VIEW_OPTIONS_MAX])
{
	uint64_t size = limits_of_tmpfs(plan, is_disk);
	if (size == 0)
		snprintf(options, VIEW_OPTIONS_MAX, "mode=%s,size=50%%", mode);
	else
		snprintf(options, VIEW_OPTIONS_MAX, "mode=%s,size=%llu", mode, (unsigned long long)size);
}

static int take_tree(const struct plan *plan, struct view_entry *entry, struct error *err)
{
	const char *source = entry->place ? entry->place->path : entry->path;
	autoclose int fd = -1;

	if (entry->kind == VIEW_PRIVATE && !entry->place) {
		char options[VIEW_OPTIONS_MAX];
		view_tmpfs_options(plan, entry->mode, true, options);
		entry->tree = tree_new("tmpfs", options, ATTR_NOSUID | ATTR_NODEV);
		return entry->tree < 0 ? error_errno(err, errno, "cannot mount an empty %s", entry->path) : 0;
	}
	fd = tree_open(AT_FDCWD, source);
	if (fd < 0 && errno == ELOOP)
		return error_set(err, "%s changed while the sandbox was being set up: a symbolic link is in the way", source);
	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", source);
	if (entry->place && check_place(fd, entry->place, err) < 0)
		return -1;
	entry->tree = tree_clone(fd, true);
	if (entry->tree >= 0 && (!entry->is_writable || tree_set(entry->tree, ATTR_NOSUID | ATTR_NODEV, true) == 0))
		return 0;
	error_errno(err, errno, "cannot mount %s", source);
	err->stage = STAGE_BIND;
	return -1;
}

/* A directory of the host's root, or of the kernel's own: only root could put something else there, a symlink even. */
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
		if (entry->is_writable != is_writable)
			continue;
		if (can_bind(&view->entries, i))
			entry->tree = -1;
		else if (take_tree(view->plan, entry, err) < 0)
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

/* Mounts the new root over the old one: the process's own root stays below it for now. */
static int cover_root(int root, struct error *err)
{
	autoclose int slash = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (slash >= 0 && root >= 0 && tree_attach(root, slash) == 0)
		return 0;
	error_errno(err, errno, "cannot mount a new root");
	err->stage = STAGE_ROOT;
	return -1;
}

static const char own_options[] = "mode=755,size=4m";

static int new_tmpfs(void)
{
	return tree_new("tmpfs", own_options, ATTR_NOSUID | ATTR_NODEV);
}

/* A copy of the host's tree, which is read-only by now. What a run writes itself gets a tmpfs of its own. */
static int open_kept_root(struct view *view, struct error *err)
{
	const struct state_place *place = view->request->root;
	autoclose int fd = tree_open(AT_FDCWD, place->path);
	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", place->path);
	if (check_place(fd, place, err) < 0)
		return -1;
	view->root = tree_clone(fd, false);
	if (cover_root(view->root, err) < 0)
		return -1;
	if (tree_mount_at(view->root, PLAN_DOCUMENTS, "tmpfs", own_options, MS_NOSUID | MS_NODEV) < 0)
		return error_errno(err, errno, "cannot mount %s", PLAN_DOCUMENTS);
	return 0;
}

static int open_new_root(struct view *view, struct error *err)
{
	view->root = new_tmpfs();
	if (cover_root(view->root, err) < 0)
		return -1;
	return view_shape_make(view->root, view->plan, view->request->has_terminal, err);
}

static int open_root(struct view *view, struct error *err)
{
	const struct view_request *request = view->request;
	if ((request->root->path ? open_kept_root(view, err) : open_new_root(view, err)) < 0)
		return -1;
	view->own = tree_open(view->root, PLAN_DOCUMENTS);
	if (view->own < 0)
		return error_errno(err, errno, "cannot open %s", PLAN_DOCUMENTS);
	return request->offer(request->self, view->own, err);
}

/* The same below a directory that commands have written, so that no step follows a symlink. Returns O_PATH. */
static int make_below_private(int root, const char *path, bool is_directory)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t length = (size_t)(slash - path);
	autoclose int directory = -1;
	int fd = tree_open(root, path);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	if (length >= sizeof parent) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(parent, path, length);
	parent[length] = '\0';
	directory = make_below_private(root, parent, true);
	if (directory < 0 || view_make_in(directory, slash + 1, is_directory) < 0)
		return -1;
	return tree_open(directory, slash + 1);
}

/* A mount point is created only in the root's shape and in private directories, never in a grant. */
static int attach_tree(const struct view *view, size_t index)
{
	const struct view_entry *entry = &view->entries.items[index], *around = view_around(&view->entries, entry->path, index);
	autoclose int target = -1;
	if (entry->tree < 0)
		return tree_bind_at(view->root, entry->path, entry->path, true);
	if (!around)
		return tree_attach_at(entry->tree, view->root, entry->path);
	if (around->kind == VIEW_PRIVATE)
		target = make_below_private(view->root, entry->path, entry->is_directory);
	else
		target = tree_open(view->root, entry->path);
	return target < 0 ? -1 : tree_attach(entry->tree, target);
}

static int attach_entry(const struct view *view, size_t index, struct error *err)
{
	const struct view_entry *entry = &view->entries.items[index];
	if (attach_tree(view, index) < 0) {
		error_errno(err, errno, "cannot show %s", entry->path);
		/* What the host forbids, as opposed to what is missing. */
		if (entry->tree < 0 && (err->number == EPERM || err->number == EACCES || err->number == ENOSYS))
			err->stage = STAGE_BIND;
		if (err->number == ENOTDIR || err->number == ELOOP)
			error_hint(err, "a file or symbolic link of an earlier run is in the way in the private home or tmp");
		else if (err->number == ENOENT && view->request->root->path)
			error_hint(err, "%s is damaged: `berm state reset` removes it", view->request->root->path);
		return -1;
	}
	if (entry->tree >= 0)
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

/* One that an earlier run left in the private home stays. */
static int make_private_link(const struct view *view, const char *path, const char *target, struct error *err)
{
	const char *slash = strrchr(path, '/');
	autoclose int directory = -1;
	if (!view_around(&view->entries, path, view->entries.count))
		return 0; /* it is in the shape */
	if (slash != path)
		directory = make_below_private(view->root, arena_copy_n(view->plan->arena, path, (size_t)(slash - path)), true);
	if (directory < 0 || (symlinkat(target, directory, slash + 1) < 0 && errno != EEXIST))
		return error_errno(err, errno, "cannot make the link %s", path);
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

/* Before the root becomes read-only. */
static int open_git_events(const struct view *view, struct view_result *result, struct error *err)
{
	result->git_events = -1;
	if (!plan_locks_git_config(view->plan))
		return 0;
	result->git_events = git_events_open(view->root);
	/* A sandbox around berm may allow no sockets at all. git cannot tell what it does then, and is locked out all the same. */
	if (result->git_events < 0 && (errno == EPERM || errno == EACCES || errno == EAFNOSUPPORT))
		return 0;
	return result->git_events < 0 ? error_errno(err, errno, "cannot make %s", PLAN_GIT_EVENTS) : 0;
}

/* An inherited working directory still points below the new mounts: it must be entered again, by name, from inside. */
static int move_in(const struct view *view, struct error *err)
{
	const struct context *context = &view->plan->context;
	const char *directory = context->working_directory ? context->working_directory : context->project;
	if (fchdir(view->root) < 0 || chroot(".") < 0 || chdir("/") < 0)
		return error_errno(err, errno, "cannot enter the new root");
	if (chdir(directory) < 0)
		return error_errno(err, errno, "cannot enter %s inside the sandbox", directory);
	return 0;
}

/* Everything that does not depend on what is in the project. */
static int build(struct view *view, struct view_result *result, struct error *err)
{
	int proc;

	/* For others the permissions of those files hold by themselves. */
	if (view->plan->context.uid == 0 && view_refuse_mounts(view->plan, err) < 0)
		return -1;
	view_list(view->plan, view->request->state, &view->entries);
	if (take_trees(view, true, err) < 0 || lock_host(err) < 0 || take_trees(view, false, err) < 0 ||
	    open_root(view, err) < 0)
		return -1;
	if (attach_entries(view, err) < 0 || make_private_links(view, err) < 0)
		return -1;
	if (view_devices_attach(view->plan, view->root, view->request->has_terminal, err) < 0)
		return -1;
	proc = view_proc_attach(view->root, view->own, err);
	if (proc < 0)
		return -1;
	result->has_proc = proc > 0;
	return 0;
}

static int finish(struct view *view, struct view_result *result, struct error *err)
{
	const struct view_request *request = view->request;
	struct masks_place place = { .root = view->root, .own = view->own };
	if (open_git_events(view, result, err) < 0 || masks_pin(view->root, view->plan, err) < 0)
		return -1;
	place.mount = request->root->path ? view->own : view->root;
	if (request->await_own(request->self, err) < 0 || masks_apply(&place, view->plan, err) < 0)
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
		return error_errno(err, errno, "cannot make /proc");
	proc = view_proc_attach(root, root, err);
	result->has_proc = proc > 0;
	return proc < 0 ? -1 : 0;
}

int view_enter(const struct plan *plan, const struct view_request *request, struct view_result *result, struct error *err)
{
	struct view view = { .plan = plan, .request = request, .root = -1, .own = -1 };
	mode_t mask = umask(022);
	int status = build(&view, result, err);
	if (status == 0)
		status = request->await(request->self, err);
	if (status == 0)
		status = finish(&view, result, err);
	umask(mask);
	if (view.own >= 0)
		close(view.own);
	if (view.root >= 0)
		close(view.root);
	return status;
}

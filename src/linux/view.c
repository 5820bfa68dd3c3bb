/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the new root out of the plan and moves into it. view.h has the theory. Never creates anything outside berm's own tmpfs
 * and the private home and tmp; never follows a symlink. */
#include "linux/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "linux/git_events.h"
#include "linux/probe_causes.h"
#include "linux/limits.h"
#include "linux/syscalls.h"
#include "linux/tree.h"
#include "linux/view_parts.h"

enum entry_kind {
	ENTRY_PRIVATE, /* the private home or tmp, or a fresh tmpfs in its place: mount points may be made below it */
	ENTRY_GRANT,
	ENTRY_SOCKET,
};

/* One thing to attach: a detached tree and where it goes. */
struct entry {
	const char *path;
	enum entry_kind kind;
	bool is_directory;
	bool is_writable;
	int tree;
	const struct state_place *place; /* NULL: a new tmpfs */
};

struct view {
	const struct plan *plan;
	int root;
	struct entry *entries;
	size_t count;
};

static const char tmp_path[] = "/tmp";

static int compare_entries(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	int order = strcmp(left->path, right->path);
	return order ? order : (int)left->kind - (int)right->kind;
}

static bool has_grant_at(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	return grant && strcmp(grant->path, path) == 0;
}

/* A grant whose nearest containing grant already shows it with the same rights needs no mount of its own. */
static bool is_shown_by_parent(const struct plan *plan, size_t index)
{
	const struct plan_grant *grant = &plan->grants.items[index];
	for (size_t i = index; i-- > 0;) {
		const struct plan_grant *parent = &plan->grants.items[i];
		if (!path_is_within(grant->path, parent->path))
			continue;
		if (plan->home != HOME_HOST && path_is_within(plan->context.home, parent->path))
			return false;
		return (parent->kind == GRANT_WRITE) == (grant->kind == GRANT_WRITE);
	}
	return false;
}

static void list_entries(struct view *view, const struct state *state)
{
	const struct plan *plan = view->plan;
	size_t capacity = plan->grants.count + plan->sockets.count + 2;
	view->entries = arena_alloc(plan->arena, capacity * sizeof *view->entries);
	if (plan->home != HOME_HOST && !has_grant_at(plan, plan->context.home))
		view->entries[view->count++] = (struct entry){
			.path = plan->context.home,
			.kind = ENTRY_PRIVATE,
			.is_directory = true,
			.is_writable = true,
			.place = state->home.path ? &state->home : NULL,
		};
	if (!has_grant_at(plan, tmp_path))
		view->entries[view->count++] = (struct entry){
			.path = tmp_path,
			.kind = ENTRY_PRIVATE,
			.is_directory = true,
			.is_writable = true,
			.place = state->tmp.path ? &state->tmp : NULL,
		};
	for (size_t i = 0; i < plan->grants.count; i++)
		if (!is_shown_by_parent(plan, i))
			view->entries[view->count++] = (struct entry){
				.path = plan->grants.items[i].path,
				.kind = ENTRY_GRANT,
				.is_directory = plan->grants.items[i].type == FILE_DIRECTORY,
				.is_writable = plan->grants.items[i].kind == GRANT_WRITE,
			};
	for (size_t i = 0; i < plan->sockets.count; i++)
		view->entries[view->count++] = (struct entry){ .path = plan->sockets.items[i].path, .kind = ENTRY_SOCKET };
	qsort(view->entries, view->count, sizeof *view->entries, compare_entries);
}

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

static int take_tree(const struct plan *plan, struct entry *entry, struct error *err)
{
	const char *source = entry->place ? entry->place->path : entry->path;
	autoclose int fd = -1;

	if (entry->kind == ENTRY_PRIVATE && !entry->place) {
		char options[VIEW_OPTIONS_MAX];
		view_tmpfs_options(plan, strcmp(entry->path, tmp_path) == 0 ? "1777" : "700", true, options);
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

static int take_trees(struct view *view, bool is_writable, struct error *err)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->entries[i].is_writable == is_writable && take_tree(view->plan, &view->entries[i], err) < 0)
			return -1;
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

/* Mounts the new root over the old one and returns its descriptor: the process's own root stays below it for now. */
static int open_root(struct error *err)
{
	autoclose int slash = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int root = tree_new("tmpfs", "mode=755,size=4m", ATTR_NOSUID | ATTR_NODEV);
	if (slash >= 0 && root >= 0 && tree_attach(root, slash) == 0)
		return steal_fd(&root);
	error_errno(err, errno, "cannot mount a new root");
	err->stage = STAGE_ROOT;
	return -1;
}

static int make_in(int parent, const char *name, bool is_directory)
{
	int result = is_directory ? mkdirat(parent, name, 0755) : mknodat(parent, name, S_IFREG | 0644, 0);
	return result < 0 && errno != EEXIST ? -1 : 0;
}

int view_make(int root, const char *path, bool is_directory)
{
	char copy[PATH_MAX];
	size_t length = strlen(path);

	/* The parents are nearly always there. */
	if (make_in(root, path + 1, is_directory) == 0)
		return 0;
	if (errno != ENOENT || length >= sizeof copy) {
		errno = errno == ENOENT ? ENAMETOOLONG : errno;
		return -1;
	}
	memcpy(copy, path, length + 1);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (make_in(root, copy + 1, true) < 0)
			return -1;
		*slash = '/';
	}
	return make_in(root, path + 1, is_directory);
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
	if (directory < 0 || make_in(directory, slash + 1, is_directory) < 0)
		return -1;
	return tree_open(directory, slash + 1);
}

/* The entry that shows what lies around `path`, among the first `count`; NULL: nothing does, it is in our own tmpfs. */
static const struct entry *entry_around(const struct view *view, const char *path, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (path_is_within(path, view->entries[i].path))
			return &view->entries[i];
	return NULL;
}

/* A mount point is created only in our own tmpfs and in private directories, never in a grant. */
static int attach_tree(const struct view *view, size_t index)
{
	const struct entry *entry = &view->entries[index], *around = entry_around(view, entry->path, index);
	autoclose int target = -1;
	if (!around)
		return view_make(view->root, entry->path, entry->is_directory) < 0
			       ? -1
			       : tree_attach_at(entry->tree, view->root, entry->path);
	if (around->kind == ENTRY_PRIVATE)
		target = make_below_private(view->root, entry->path, entry->is_directory);
	else
		target = tree_open(view->root, entry->path);
	return target < 0 ? -1 : tree_attach(entry->tree, target);
}

static int attach_entry(const struct view *view, size_t index, struct error *err)
{
	const struct entry *entry = &view->entries[index];
	if (attach_tree(view, index) < 0) {
		error_errno(err, errno, "cannot show %s", entry->path);
		if (err->number == ENOTDIR || err->number == ELOOP)
			error_hint(err, "a file or symbolic link of an earlier run is in the way in the private home or tmp");
		return -1;
	}
	close(entry->tree);
	return 0;
}

static int attach_entries(const struct view *view, struct error *err)
{
	for (size_t i = 0; i < view->count; i++)
		if (attach_entry(view, i, err) < 0)
			return -1;
	return 0;
}

/* Symlinks such as /bin -> usr/bin, where nothing else shows them. One that an earlier run left in the private home stays. */
static int make_link(const struct view *view, const char *path, const char *target, struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *parent = slash == path ? NULL : arena_copy_n(view->plan->arena, path, (size_t)(slash - path));
	autoclose int directory = -1;
	int result;

	if (entry_around(view, path, view->count)) {
		directory = parent ? make_below_private(view->root, parent, true) : -1;
		result = directory < 0 ? -1 : symlinkat(target, directory, slash + 1);
	} else {
		if (parent && view_make(view->root, parent, true) < 0)
			return error_errno(err, errno, "cannot make %s", parent);
		result = symlinkat(target, view->root, path + 1);
	}
	if (result < 0 && errno != EEXIST)
		return error_errno(err, errno, "cannot make the link %s", path);
	return 0;
}

static int make_links(const struct view *view, struct error *err)
{
	const struct path_links *links = &view->plan->links;
	for (size_t i = 0; i < links->count; i++)
		if (make_link(view, links->items[i].path, links->items[i].target, err) < 0)
			return -1;
	if (has_grant_at(view->plan, "/var/tmp") || has_grant_at(view->plan, "/var"))
		return 0;
	return make_link(view, "/var/tmp", "../tmp", err);
}

static int write_document(int root, const struct plan_document *document, struct error *err)
{
	size_t length = strlen(document->text);
	autoclose int fd = openat(root, document->path + 1, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	if (fd < 0 || write(fd, document->text, length) != (ssize_t)length)
		return error_errno(err, errno, "cannot write %s", document->path);
	return 0;
}

static int write_documents(const struct view *view, struct error *err)
{
	if (view->plan->documents.count > 0 && view_make(view->root, PLAN_DOCUMENTS, true) < 0)
		return error_errno(err, errno, "cannot make %s", PLAN_DOCUMENTS);
	for (size_t i = 0; i < view->plan->documents.count; i++)
		if (write_document(view->root, &view->plan->documents.items[i], err) < 0)
			return -1;
	return 0;
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
static int build(struct view *view, const struct state *state, struct view_result *result, struct error *err)
{
	struct view_devices devices;
	int proc;

	/* For others the permissions of those files hold by themselves. */
	if (view->plan->context.uid == 0 && view_refuse_mounts(view->plan, err) < 0)
		return -1;
	list_entries(view, state);
	if (take_trees(view, true, err) < 0 || view_devices_take(view->plan, &devices, err) < 0)
		return -1;
	if (lock_host(err) < 0 || take_trees(view, false, err) < 0)
		return -1;
	view->root = open_root(err);
	if (view->root < 0)
		return -1;
	if (attach_entries(view, err) < 0 || make_links(view, err) < 0)
		return -1;
	if (view_devices_attach(view->plan, view->root, &devices, err) < 0)
		return -1;
	proc = view_proc_attach(view->root, err);
	if (proc < 0)
		return -1;
	result->has_proc = proc > 0;
	return 0;
}

static int finish(struct view *view, struct view_result *result, struct error *err)
{
	if (write_documents(view, err) < 0 || open_git_events(view, result, err) < 0)
		return -1;
	if (masks_apply(view->root, view->plan, err) < 0)
		return -1;
	return move_in(view, err);
}

int view_probe(struct view_result *result, struct error *err)
{
	autoclose int root = -1;
	int proc;
	if (lock_host(err) < 0)
		return -1;
	root = open_root(err);
	if (root < 0)
		return -1;
	proc = view_proc_attach(root, err);
	result->has_proc = proc > 0;
	return proc < 0 ? -1 : 0;
}

int view_enter(const struct plan *plan, const struct state *state, int (*await)(void *self, struct error *err), void *self,
	       struct view_result *result, struct error *err)
{
	struct view view = { .plan = plan, .root = -1 };
	mode_t mask = umask(022);
	int status = build(&view, state, result, err);
	if (status == 0)
		status = await(self, err);
	if (status == 0)
		status = finish(&view, result, err);
	umask(mask);
	if (view.root >= 0)
		close(view.root);
	return status;
}

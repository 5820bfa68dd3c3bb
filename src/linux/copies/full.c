/* SPDX-License-Identifier: Apache-2.0 */
/* A copy where no overlay can be had: every file of the project, in `tree`. Names that the policy
 * hides are empty there, so that a hidden file cannot show later, when the project has lost it and
 * nothing is mounted over it. Devices and sockets are left out. Bounded: a larger project is
 * refused, not copied in part. */
#include "linux/copies/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"

enum { DEPTH_MAX = 200 };

struct copying {
	struct arena *arena;
	const struct copy *copy;
	const struct copy_full *options;
	struct tree_base base;
	uint64_t files, bytes;
	struct error *err;
};

static int copy_entries(struct copying *copying, int from, int to, const char *path, unsigned depth);

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static int fail(const struct copying *copying, const char *path)
{
	return error_errno(copying->err, errno, "cannot copy %s", text_visible(copying->arena, path));
}

/* Counts one entry. Returns -1 if the project is too large. */
static int count(struct copying *copying, const struct stat *info)
{
	copying->files++;
	copying->bytes += S_ISREG(info->st_mode) && info->st_size > 0 ? (uint64_t)info->st_size : 0;
	if (copying->files <= COPY_FULL_FILES && copying->bytes <= COPY_FULL_BYTES)
		return 0;
	error_set(copying->err, "the project is too large to be copied as a whole: more than %s",
		  copying->files > COPY_FULL_FILES ? "5,000 files" : "200 MB");
	copying->err->number = EFBIG;
	return -1;
}

static int make_empty(int to, const char *name)
{
	int fd = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -1 : close(fd);
}

static int copy_directory(struct copying *copying, int from, int to, const char *name, const char *path,
			  const struct stat *info, unsigned depth)
{
	const struct timespec times[2] = { info->st_atim, info->st_mtim };
	bool is_hidden = copying->options->hides && copying->options->hides(copying->options->self, path, true);
	autoclose int source = -1, target = -1;

	if (depth > DEPTH_MAX)
		return error_set(copying->err, "%s is nested too deeply", text_visible(copying->arena, path));
	if (mkdirat(to, name, 0700) < 0 || (target = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		return fail(copying, path);
	if (!is_hidden) {
		source = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (source < 0)
			return fail(copying, path);
		if (copy_entries(copying, source, target, path, depth) < 0)
			return -1;
	}
	if (fchmod(target, info->st_mode & 01777) < 0 || futimens(target, times) < 0)
		return fail(copying, path);
	return 0;
}

static int copy_other(const struct copying *copying, int from, int to, const char *name, const char *path,
		      const struct stat *info)
{
	int status;
	if (copying->options->hides && copying->options->hides(copying->options->self, path, false))
		status = make_empty(to, name);
	else
		status = transfer_copy_one(from, name, to, name, info);
	return status < 0 ? fail(copying, path) : 0;
}

static int copy_one(struct copying *copying, int from, int to, const char *name, const char *path, unsigned depth)
{
	struct stat info;
	int status;

	if (fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(copying, path);
	if (S_ISSOCK(info.st_mode) || S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))
		return 0;
	if (count(copying, &info) < 0)
		return -1;
	status = S_ISDIR(info.st_mode) ? copy_directory(copying, from, to, name, path, &info, depth)
				       : copy_other(copying, from, to, name, path, &info);
	if (status < 0)
		return -1;
	if (fstatat(to, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(copying, path);
	tree_base_add(copying->arena, &copying->base, path, &info);
	return 0;
}

static int copy_entries(struct copying *copying, int from, int to, const char *path, unsigned depth)
{
	autoclosedir DIR *stream = NULL;
	const struct dirent *entry;
	int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && !(stream = fdopendir(fd)))
		close(fd);
	if (!stream)
		return fail(copying, *path ? path : copying->copy->project);
	while ((entry = readdir(stream))) {
		const char *inner = *path ? arena_printf(copying->arena, "%s/%s", path, entry->d_name)
					  : arena_copy(copying->arena, entry->d_name);
		if (!is_dots(entry->d_name) && copy_one(copying, from, to, entry->d_name, inner, depth + 1) < 0)
			return -1;
	}
	return 0;
}

static int make_tree(struct arena *arena, const struct copy *copy, struct copy_full *options, struct error *err)
{
	struct copying copying = { .arena = arena, .copy = copy, .options = options, .err = err };
	autoclose int project = open(copy->project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclose int tree = -1;
	struct stat info;

	if (project < 0 || fstat(project, &info) < 0)
		return error_errno(err, errno, "cannot open %s", copy->project);
	if (mkdirat(copy->fd, COPY_TREE, 0700) < 0 ||
	    (tree = openat(copy->fd, COPY_TREE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		return error_errno(err, errno, "cannot create %s/%s", copy->directory, COPY_TREE);
	if (copy_entries(&copying, project, tree, "", 0) < 0)
		return -1;
	if (fchmod(tree, info.st_mode & 07777) < 0)
		return error_errno(err, errno, "cannot set the mode of %s/%s", copy->directory, COPY_TREE);
	options->files = copying.files;
	options->bytes = copying.bytes;
	return tree_base_append(copy, &copying.base, err);
}

/* Removes everything that belongs to a state of the project: the next run begins with a new one. */
static int clear(const struct copy *copy, struct error *err)
{
	static const char *const names[] = { COPY_MADE, COPY_TREE, COPY_TREE_BASE, COPY_KNOWN, COPY_BASE };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (copies_remove(copy->fd, names[i], copy->directory, err) < 0)
			return -1;
	return 0;
}

/* An overlay's changes would be lost. */
static int refuse_layers(struct arena *arena, const struct copy *copy, struct error *err)
{
	struct copy_changes changes;
	if (copy_list_changes(arena, copy, NULL, &changes, err) < 0)
		return -1;
	if (changes.count == 0)
		return copies_remove(copy->fd, COPY_UPPER, copy->directory, err) < 0 ||
				       copies_remove(copy->fd, COPY_WORK, copy->directory, err) < 0
			       ? -1
			       : 0;
	error_set(err, "copy '%s' has changes that cannot be mounted here any more", copy->name);
	return error_hint(err, "apply or discard them, or choose another name: berm run --copy=NAME");
}

static int make(struct arena *arena, struct copy *copy, struct copy_full *options, struct error *err)
{
	if (refuse_layers(arena, copy, err) < 0 || clear(copy, err) < 0 || copies_make_base(copy, err) < 0)
		return -1;
	if (make_tree(arena, copy, options, err) < 0) {
		struct error ignored = { 0 };
		(void)clear(copy, &ignored);
		return -1;
	}
	/* A change by the command has a later ctime than each file of the tree. */
	if (copies_make_mark(copy, COPY_MADE, true, err) < 0)
		return -1;
	copy->is_full = true;
	options->is_new = true;
	return 0;
}

int copy_prepare_full(struct arena *arena, struct copy *copy, struct copy_full *options, int *tree, struct error *err)
{
	struct copy_changes changes = { 0 };

	*tree = -1;
	options->is_new = false;
	if (copies_refuse_pending(copy, err) < 0)
		return -1;
	*err = (struct error){ 0 };
	if (copies_write_boot_id(copy, err) < 0)
		return -1;
	/* Without changes it is of no use as it is: it begins anew, with the project of today. */
	if (copy->is_full && copy_list_changes(arena, copy, NULL, &changes, err) < 0)
		return -1;
	if (changes.count == 0) {
		copy->is_full = false;
		if (make(arena, copy, options, err) < 0)
			return -1;
	}
	(void)futimens(copy->fd, NULL); /* the last use, for `berm copies` */
	*tree = copies_open_below(copy->fd, COPY_TREE, O_PATH | O_DIRECTORY);
	return *tree < 0 ? error_errno(err, errno, "cannot open %s/%s", copy->directory, COPY_TREE) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a copy at the project's own path to a function that only looks. It runs in a child process
 * with user and mount namespaces of its own, on a read-only overlay of both layers: neither the
 * project nor the copy can change. Fails closed: a child that does not finish has no result. */
#include "common/copies/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/base/text.h"
#include "linux/syscalls.h"
#include "linux/view/mount.h"
#include "linux/view/namespaces.h"

enum { OUTPUT_MAX = 16 << 20 };

/* The kernel takes layers of this mount namespace only: the path is opened again and must lead to
 * the same directory. */
static int open_upper(const struct copy *copy)
{
	autoclose int directory = mount_open(AT_FDCWD, copy->directory);
	struct stat here, there;
	if (directory < 0 || fstat(directory, &here) < 0 || fstat(copy->fd, &there) < 0)
		return -1;
	if (here.st_dev != there.st_dev || here.st_ino != there.st_ino) {
		errno = EAGAIN;
		return -1;
	}
	return openat(directory, copy_layer(copy), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns a detached, read-only mount of both layers. */
static int new_overlay(int upper, int project)
{
	autoclose int fs = -1;
	char layers[64];

	snprintf(layers, sizeof layers, "/proc/self/fd/%d:/proc/self/fd/%d", upper, project);
	fs = sys_fsopen("overlay");
	if (fs < 0 || sys_fsconfig(fs, FS_SET_STRING, "lowerdir", layers) < 0 ||
	    sys_fsconfig(fs, FS_SET_FLAG, "userxattr", NULL) < 0 || sys_fsconfig(fs, FS_CREATE, NULL, NULL) < 0)
		return -1;
	return sys_fsmount(fs, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
}

/* The same of a full copy. */
static int new_bind(int tree)
{
	autoclose int mount = mount_clone(tree, false);
	if (mount < 0 || mount_set(mount, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV, false) < 0)
		return -1;
	return steal_fd(&mount);
}

static int mount_copy(const struct copy *copy, struct error *err)
{
	autoclose int upper = open_upper(copy);
	autoclose int project = mount_open(AT_FDCWD, copy->project);
	autoclose int tree = -1;

	if (upper < 0 || project < 0)
		return error_errno(err, errno, "cannot open the copy or its project");
	tree = copy->is_full ? new_bind(upper) : new_overlay(upper, project);
	if (tree < 0 || mount_attach(tree, project) < 0)
		return error_errno(err, errno, "cannot mount the copy");
	return 0;
}

/* The ids of the caller have no name in the new namespace before they are mapped. */
struct look_request {
	const struct copy *copy;
	copy_look_function look;
	void *self;
	uid_t uid;
	gid_t gid;
};

_Noreturn static void look_inside(const struct look_request *request, int output)
{
	const struct namespaces_options options = { .has_host_network = true };
	struct error err = { 0 };
	if (namespaces_settle(&options, request->uid, request->gid, &err) < 0 || mount_copy(request->copy, &err) < 0) {
		dprintf(output, "%s", err.message);
		_exit(2);
	}
	_exit(request->look(request->self, output) < 0 ? 1 : 0);
}

/* Reads until every writer has closed the pipe. */
static int read_all(int fd, struct text *out)
{
	char buffer[4096];
	ssize_t got;
	while ((got = read(fd, buffer, sizeof buffer)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || out->length + (size_t)got > OUTPUT_MAX)
			return -1;
		text_add_n(out, buffer, (size_t)got);
	}
	return 0;
}

int copy_look(struct arena *arena, const struct copy *copy, copy_look_function look, void *self, char **bytes, size_t *length,
	      struct error *err)
{
	const struct namespaces_options options = { .has_host_network = true };
	const struct look_request request = { copy, look, self, geteuid(), getegid() };
	autoclose int pidfd = -1;
	struct text out = { 0 };
	int ends[2], status = 0, got;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, errno, "cannot make a pipe");
	fflush(NULL); /* the child must not write what is buffered */
	pid = namespaces_fork(&options, &pidfd, err);
	if (pid == 0)
		look_inside(&request, ends[1]);
	close(ends[1]);
	got = pid < 0 ? -1 : read_all(ends[0], &out);
	close(ends[0]);
	if (pid < 0)
		return -1;
	if (got < 0)
		child_end(pid);
	else if (child_wait(pid, &status) < 0)
		got = -1;
	*length = out.length;
	*bytes = out.length > 0 ? arena_copy_n(arena, out.data, out.length) : arena_copy(arena, "");
	text_free(&out);
	if (got == 0 && status == 0)
		return 0;
	return error_set(err, "cannot look at the copy '%s' as a whole: %s", copy->name,
			 WIFEXITED(status) && WEXITSTATUS(status) == 2 ? *bytes : "the look was interrupted");
}

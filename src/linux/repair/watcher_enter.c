/* SPDX-License-Identifier: Apache-2.0 */
/* The watcher's way into the view.
 *
 * Order: fds, session, parent-death signal, environment → the view's user namespace, then its mount
 * namespace, which sets root and working directory to the view's root → not dumpable, no_new_privs,
 * capabilities → parent-death signal again, which a change of credentials clears. */
#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/descriptors.h"
#include "linux/confine/credentials.h"
#include "linux/repair/watcher.h"

#define GET_USER_NAMESPACE _IO(0xb7, 0x1) /* NS_GET_USERNS */

/* Not in the caller's process group: before Landlock ABI 6 the command can signal that. The
 * caller's stdin, stdout and stderr must not stay open after berm has exited. */
static int detach(const struct watcher_request *request, int inotify, struct error *err)
{
	int keep[4] = { request->socket, request->view };
	size_t count = 2;
	if (inotify >= 0)
		keep[count++] = inotify;
	if (request->lower >= 0)
		keep[count++] = request->lower;
	if (descriptors_keep_only(keep, count, err) < 0)
		return -1;
	setsid(); /* fails only for the leader of a group, which a new process is not */
	credentials_wipe_environment();
	return credentials_follow_parent(err);
}

static int join(int view, struct error *err)
{
	autoclose int user = ioctl(view, GET_USER_NAMESPACE);
	if (user < 0 || setns(user, CLONE_NEWUSER) < 0 || setns(view, CLONE_NEWNS) < 0)
		return error_errno(err, errno, "cannot enter the sandbox's namespaces");
	close(view);
	return 0;
}

int watcher_enter(const struct watcher_request *request, struct watcher *watcher, struct error *err)
{
	if (detach(request, watcher->watches.inotify, err) < 0 || join(request->view, err) < 0)
		return -1;
	umask(022);
	if (credentials_hide(err) < 0 || credentials_freeze(err) < 0 || credentials_keep_mounting(err) < 0 ||
	    credentials_follow_parent(err) < 0)
		return -1;
	if (getppid() != request->parent)
		_exit(0);
	return late_masks_open(&watcher->masks, err);
}

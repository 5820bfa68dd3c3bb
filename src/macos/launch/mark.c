/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel which processes have this run's profile. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int make_file(int directory, const char *path, struct error *err)
{
	int fd = openat(directory, path_base_name(path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, errno, "cannot create %s", path);
	close(fd);
	return 0;
}

int mac_mark_make(const struct plan *plan, const char *tag, struct mac_mark *mark, struct error *err)
{
	const char *documents = plan->state.documents;
	*mark = (struct mac_mark){ .directory = open(documents, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) };
	if (mark->directory < 0)
		return error_errno(err, errno, "cannot open %s", documents);
	mark->readable = arena_printf(plan->arena, "%s/%s.in", documents, tag);
	mark->unreadable = arena_printf(plan->arena, "%s/%s.out", documents, tag);
	if (make_file(mark->directory, mark->readable, err) < 0 || make_file(mark->directory, mark->unreadable, err) < 0) {
		mac_mark_remove(mark);
		return -1;
	}
	return 0;
}

static bool may_read(pid_t pid, const char *path)
{
	return sandbox_check(pid, "file-read-data", SANDBOX_FILTER_PATH | SANDBOX_CHECK_NO_REPORT, path) == 0;
}

/* A process without a sandbox may read both. Another run of the project may, too. */
bool mac_mark_has(const struct mac_mark *mark, pid_t pid)
{
	return mark->directory >= 0 && may_read(pid, mark->readable) &&
	       sandbox_check(pid, "file-read-data", SANDBOX_FILTER_PATH | SANDBOX_CHECK_NO_REPORT, mark->unreadable) == 1;
}

void mac_mark_remove(struct mac_mark *mark)
{
	if (mark->directory < 0)
		return;
	unlinkat(mark->directory, path_base_name(mark->readable), 0);
	unlinkat(mark->directory, path_base_name(mark->unreadable), 0);
	close(mark->directory);
	mark->directory = -1;
}

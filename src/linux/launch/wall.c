/* SPDX-License-Identifier: Apache-2.0 */
/* The second wall around a shell command of an agent, one more Landlock layer. The document with
 * its grants is believed only on a mount that no command can have made. A process that is
 * behind the wall already is recognised by a file of that mount that the wall does not grant: modes
 * on a read-only mount cannot be changed, and variables prove nothing. */
#include "common/backend.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/descriptors.h"
#include "common/context/inside.h"
#include "common/plan/wall.h"
#include "linux/confine/landlock.h"
#include "linux/probe/outer.h"
#include "linux/syscalls.h"

struct granted {
	struct landlock_extra *items;
	size_t count;
};

int backend_wall_judge(struct error *err)
{
	if (landlock_abi() >= LANDLOCK_ABI_SCOPES)
		return 0;
	error_set(err, "--commands needs Landlock with scopes (ABI 6), which this kernel does not have");
	return error_hint(err, "Linux 6.12 or newer; without --commands the agent and its commands share one wall");
}

/* The documents one by one, without the file that marks the outside. */
static int add_documents(struct arena *arena, int directory, struct granted *granted, struct error *err)
{
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclosedir DIR *list = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	if (!list)
		return error_errno(err, errno, "cannot list %s", INSIDE_DIRECTORY);
	while ((entry = readdir(list)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, path_base_name(INSIDE_AGENT)) != 0)
			*arena_push(arena, granted) =
				(struct landlock_extra){ .path = path_join(arena, INSIDE_DIRECTORY, entry->d_name) };
	return 0;
}

static int restrict_self(struct arena *arena, int directory, const struct wall *wall, struct error *err)
{
	struct granted granted = { 0 };
	*arena_push(arena, &granted) = (struct landlock_extra){ .path = "/", .is_list_only = true };
	*arena_push(arena, &granted) = (struct landlock_extra){ .path = "/dev", .is_writable = true, .is_device = true };
	*arena_push(arena, &granted) = (struct landlock_extra){ .path = "/proc", .is_writable = true };
	*arena_push(arena, &granted) = (struct landlock_extra){ .path = "/tmp", .is_writable = true };
	for (size_t i = 0; i < wall->paths.count; i++) {
		const struct wall_path *path = &wall->paths.items[i];
		*arena_push(arena, &granted) = (struct landlock_extra){ .path = path->path,
									.is_writable = path->right == WALL_WRITE,
									.is_socket = path->right == WALL_SOCKET,
									.is_exact = true };
	}
	if (add_documents(arena, directory, &granted, err) < 0)
		return -1;
	return landlock_apply_paths(granted.items, granted.count, landlock_abi(), err);
}

/* Returns 1 behind the wall, 0 outside of it, -1 with err. */
static int is_behind(int directory, struct error *err)
{
	autoclose int fd = sys_openat2(directory, path_base_name(INSIDE_AGENT), O_RDONLY | O_NONBLOCK,
				       RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	if (fd >= 0)
		return 0;
	return errno == EACCES ? 1 : error_errno(err, errno, "cannot open %s", INSIDE_AGENT);
}

int backend_wall_read(struct arena *arena, struct wall *wall, struct error *err)
{
	autoclose int directory = -1;
	const char *text;
	int found = outer_document(arena, path_base_name(INSIDE_WALL), &directory, &text), behind;
	if (found < 0)
		return error_errno(err, errno, "cannot read %s", INSIDE_WALL);
	if (found == 0)
		return 0;
	behind = is_behind(directory, err);
	if (behind < 0 || wall_parse(arena, text, wall, err) < 0)
		return -1;
	return behind ? 0 : 1;
}

int backend_wall_enter(struct arena *arena, const struct wall *wall, struct error *err)
{
	autoclose int directory = sys_openat2(AT_FDCWD, INSIDE_DIRECTORY, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	if (directory < 0)
		return error_errno(err, errno, "cannot open %s", INSIDE_DIRECTORY);
	if (restrict_self(arena, directory, wall, err) < 0)
		return -1;
	close(steal_fd(&directory));
	/* A file that the agent has open is not the command's. */
	return descriptors_close_others(NULL, 0, err);
}

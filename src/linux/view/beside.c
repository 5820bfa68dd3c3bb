/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a run has made in the private home, where its user may look for them in vain. Only
 * directories that stay writable are listed: the home, and those of programs that lead to the
 * project. Reads names that the command chose, follows no symlink, and changes nothing. */
#include "linux/view/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef STATX_TYPE
#include <linux/stat.h> /* musl 1.2.3 has no statx */
#endif

#include "common/base/cleanup.h"
#include "linux/view/internal.h"

/* A command can make any number of names: the end of its run must not wait for them. */
enum { NAMES_READ_MAX = 4096 };

/* Made by the go command beside the sources. */
static const char *const go_names[] = { "pkg", "bin" };

struct search {
	const struct plan *plan;
	struct timespec since;
	struct run_beside *found;
	size_t left; /* names that may still be read */
};

static bool is_before(const struct timespec *time, const struct timespec *other)
{
	return time->tv_sec < other->tv_sec || (time->tv_sec == other->tv_sec && time->tv_nsec < other->tv_nsec);
}

/* The time of birth, or where the file system keeps none that of the last change. Then a name that
 * was only changed is listed, too. */
static bool is_new(const struct search *search, int directory, const char *name, bool *is_directory)
{
	struct statx info;
	struct timespec time;
	if (syscall(SYS_statx, directory, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_CTIME | STATX_BTIME, &info) < 0)
		return false;
	*is_directory = S_ISDIR(info.stx_mode);
	time = info.stx_mask & STATX_BTIME
		       ? (struct timespec){ .tv_sec = info.stx_btime.tv_sec, .tv_nsec = info.stx_btime.tv_nsec }
		       : (struct timespec){ .tv_sec = info.stx_ctime.tv_sec, .tv_nsec = info.stx_ctime.tv_nsec };
	return !is_before(&time, &search->since);
}

/* True if berm makes this name for the plan: it is a grant, a socket or a link, or leads to one. */
static bool is_berms(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (path_is_within(plan->grants.items[i].path, path))
			return true;
	for (size_t i = 0; i < plan->sockets.count; i++)
		if (path_is_within(plan->sockets.items[i].value, path))
			return true;
	for (size_t i = 0; i < plan->links.count; i++)
		if (path_is_within(plan->links.items[i].path, path))
			return true;
	return false;
}

static bool is_programs(const struct search *search, const char *inside, const char *name)
{
	const char *home = search->plan->context.home;
	if (name[0] == '.')
		return true;
	if (strcmp(inside, home) == 0)
		return view_is_program_state(name, strlen(name));
	if (strcmp(path_parent(search->plan->arena, inside), home) != 0 || strcmp(path_base_name(inside), "go") != 0)
		return false;
	for (size_t i = 0; i < sizeof go_names / sizeof go_names[0]; i++)
		if (strcmp(go_names[i], name) == 0)
			return true;
	return false;
}

/* Without following a symlink: `name` must be a directory itself. */
static bool has_git(int directory, const char *name)
{
	autoclose int fd = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	return fd >= 0 && fstatat(fd, ".git", &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static void look_at(struct search *search, int directory, const char *inside, const char *name)
{
	struct run_beside *found = search->found;
	bool is_directory;
	const char *path;
	if (is_programs(search, inside, name))
		return;
	path = path_join(search->plan->arena, inside, name);
	if (is_berms(search->plan, path) || !is_new(search, directory, name, &is_directory))
		return;
	if (found->count < RUN_BESIDE_MAX)
		found->items[found->count++] = (struct run_beside_item){ .path = path,
									 .is_directory = is_directory,
									 .is_repository = has_git(directory, name) };
	found->total++;
}

/* Lists one directory, of which `inside` is the path in the view. */
static void list(struct search *search, int directory, const char *inside)
{
	autoclosedir DIR *stream = NULL;
	const struct dirent *entry;
	struct stat info;
	int copy;

	if (fstat(directory, &info) < 0 || is_before(&info.st_mtim, &search->since))
		return; /* no name was added or removed */
	copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy >= 0 && !(stream = fdopendir(copy)))
		close(copy);
	while (stream && search->left > 0 && (entry = readdir(stream))) {
		look_at(search, directory, inside, entry->d_name);
		search->left--;
	}
}

/* Opens the next directory on the way from `inside` to the project, if it is writable. Returns its
 * path, or NULL. */
static const char *step(const struct search *search, int *directory, const char *inside)
{
	const struct plan *plan = search->plan;
	const char *project = plan->context.project, *name, *end;
	int next;

	if (!path_is_within(project, inside) || strcmp(project, inside) == 0)
		return NULL;
	name = project + strlen(inside) + 1;
	end = strchr(name, '/');
	if (!end || (strcmp(inside, plan->context.home) == 0 && !view_is_program_state(name, (size_t)(end - name))))
		return NULL;
	next = openat(*directory, arena_copy_n(plan->arena, name, (size_t)(end - name)),
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0)
		return NULL;
	close(*directory);
	*directory = next;
	return arena_copy_n(plan->arena, project, (size_t)(end - project));
}

void view_list_beside(const struct plan *plan, const struct state_place *home, const struct timespec *since,
		      struct run_beside *found)
{
	struct search search = { .plan = plan, .since = *since, .found = found, .left = NAMES_READ_MAX };
	const char *inside = plan->context.home;
	autoclose int directory = -1;
	struct stat info;

	/* From elsewhere only a path that names the home leads there. */
	if (!home->path || !path_is_within(plan->context.project, inside))
		return;
	directory = open(home->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0 || fstat(directory, &info) < 0 || info.st_dev != home->device || info.st_ino != home->inode)
		return;
	while (inside) {
		list(&search, directory, inside);
		inside = step(&search, &directory, inside);
	}
}

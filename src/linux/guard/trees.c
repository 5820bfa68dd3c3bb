/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/guard/trees.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/fs/path.h"
#include "linux/guard/caller.h"
#include "linux/syscalls.h"

/* VISITS and ENTRIES bound the cost of a launch. In a directory that is not found the deputy
 * performs. */
enum { VISITS = 64, ENTRIES = 2000, VALID_MS = 50 };

struct search {
	struct guard_trees *trees;
	const struct guard_rules *rules;
	const char *queue[VISITS];
	size_t begin, end;
	size_t entries;
};

static void add_tree(struct guard_trees *trees, int parent, const char *name, const char *path)
{
	struct guard_tree *tree = &trees->items[trees->count];
	struct stat info;
	int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &info) < 0) {
		close(fd);
		return;
	}
	*tree = (struct guard_tree){ path, strlen(path), fd, info.st_dev, info.st_ino };
	trees->count++;
}

static void look_at(struct search *search, int parent, const char *directory, const char *name)
{
	struct arena *arena = search->rules->plan->arena;
	const char *path = path_join(arena, directory, name);
	if (search->trees->count < GUARD_TREES_MAX && guard_may_be_tree(search->rules, path))
		add_tree(search->trees, parent, name, path);
	else if (search->end < VISITS && guard_is_fixed(search->rules, path))
		search->queue[search->end++] = path;
}

/* In a git directory only what git fills with files; the rest is not worth a rule. */
static void look_into_git(struct search *search, int directory, const char *path)
{
	static const char *const names[] = { "objects", "refs", "logs", "lfs", "rr-cache", "modules", "worktrees" };
	struct stat info;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (fstatat(directory, names[i], &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode))
			look_at(search, directory, path, names[i]);
}

static void look_into(struct search *search, const char *path)
{
	autoclosedir DIR *entries = NULL;
	const struct dirent *entry;
	int directory = sys_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	if (directory < 0)
		return;
	if (guard_is_git(search->rules, path)) {
		look_into_git(search, directory, path);
		close(directory);
		return;
	}
	if (!(entries = fdopendir(directory))) {
		close(directory);
		return;
	}
	while (search->entries < ENTRIES && (entry = readdir(entries))) {
		search->entries++;
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			look_at(search, directory, path, entry->d_name);
	}
}

void guard_trees_find(struct guard_trees *trees, const struct guard_rules *rules)
{
	const struct plan_grants *grants = &rules->plan->grants;
	struct search search = { .trees = trees, .rules = rules };
	trees->count = 0;
	for (size_t i = 0; i < grants->count && search.end < VISITS; i++)
		if (grants->items[i].kind == GRANT_WRITE && !guard_is_free(rules, grants->items[i].path))
			search.queue[search.end++] = grants->items[i].path;
	while (search.begin < search.end)
		look_into(&search, search.queue[search.begin++]);
}

void guard_trees_close(struct guard_trees *trees)
{
	for (size_t i = 0; i < trees->count; i++)
		if (trees->items[i].fd >= 0) {
			close(trees->items[i].fd);
			trees->items[i].fd = -1;
		}
}

/* Appends the components of a path, without "." and further slashes. False if there is "..", or
 * no room. */
static bool append(char text[TREES_TEXT], size_t *length, const char *path)
{
	while (*path) {
		size_t bytes = strcspn(path, "/");
		if (bytes == 2 && path[0] == '.' && path[1] == '.')
			return false;
		if (bytes > 0 && !(bytes == 1 && path[0] == '.')) {
			if (*length + bytes + 2 > TREES_TEXT)
				return false;
			text[(*length)++] = '/';
			memcpy(text + *length, path, bytes);
			*length += bytes;
		}
		path += bytes;
		path += *path == '/';
	}
	text[*length] = '\0';
	return true;
}

/* Writes the path as a whole. Returns the length of its directory, or 0 if the text does not say
 * where it leads. */
static size_t write_whole(pid_t caller, int base, const char *path, char text[TREES_TEXT])
{
	uninitialised char start[TREES_TEXT];
	size_t length = 0, end = strlen(path);
	const char *slash;
	if (end == 0 || path[end - 1] == '/' || strcmp(path, ".") == 0 || (end > 1 && strcmp(path + end - 2, "/.") == 0))
		return 0;
	if (path[0] != '/') {
		ssize_t bytes = caller_path(caller, base, start, sizeof start - 1);
		if (bytes <= 0 || bytes == (ssize_t)sizeof start - 1 || start[0] != '/')
			return 0;
		start[bytes] = '\0';
		if (!append(text, &length, start))
			return 0;
	}
	if (!append(text, &length, path))
		return 0;
	slash = strrchr(text, '/');
	return slash ? (size_t)(slash - text) : 0;
}

static const struct guard_tree *tree_of(const struct guard_trees *trees, const char *text, size_t length)
{
	for (size_t i = 0; i < trees->count; i++) {
		const struct guard_tree *tree = &trees->items[i];
		if (tree->length <= length && memcmp(tree->path, text, tree->length) == 0 &&
		    (tree->length == length || text[tree->length] == '/'))
			return tree;
	}
	return NULL;
}

/* True if the tree is still there, and no symlink on the way to the directory. */
static bool is_in_tree(const struct guard_tree *tree, const char *directory)
{
	struct stat info;
	autoclose int fd = -1;
	if (fstatat(AT_FDCWD, tree->path, &info, AT_SYMLINK_NOFOLLOW) < 0 || info.st_dev != tree->device ||
	    info.st_ino != tree->inode)
		return false;
	fd = sys_openat2(AT_FDCWD, directory, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	return fd >= 0;
}

static size_t slot_of(const char *text, size_t length)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u; /* FNV-1a */
	return hash % TREES_SEEN;
}

static bool is_known(const struct guard_trees *trees, struct trees_seen *seen, const char *text, size_t length)
{
	unsigned changes = trees->changes;
	size_t slot = slot_of(text, length);
	int64_t now = clock_ms();
	const struct guard_tree *tree;
	if (seen->items[slot].changes == changes && now - seen->items[slot].at < VALID_MS && seen->items[slot].at > 0 &&
	    strncmp(seen->items[slot].directory, text, length) == 0 && seen->items[slot].directory[length] == '\0')
		return true;
	tree = tree_of(trees, text, length);
	if (!tree)
		return false;
	memcpy(seen->items[slot].directory, text, length);
	seen->items[slot].directory[length] = '\0';
	seen->items[slot].changes = changes;
	seen->items[slot].at = is_in_tree(tree, seen->items[slot].directory) ? now : 0;
	return seen->items[slot].at > 0;
}

bool trees_lead_there(const struct guard_trees *trees, struct trees_seen *seen, pid_t caller, int base, const char *path,
		      bool may_follow)
{
	char text[TREES_TEXT] = "";
	struct stat info;
	size_t length = trees->count > 0 ? write_whole(caller, base, path, text) : 0;
	if (length == 0 || !is_known(trees, seen, text, length))
		return false;
	return !may_follow || fstatat(AT_FDCWD, text, &info, AT_SYMLINK_NOFOLLOW) < 0 || S_ISREG(info.st_mode);
}

void trees_note_directory(struct guard_trees *trees, const char *path)
{
	size_t length = strlen(path);
	for (size_t i = 0; i < trees->count; i++)
		if (strncmp(trees->items[i].path, path, length) == 0 &&
		    (trees->items[i].path[length] == '/' || trees->items[i].path[length] == '\0')) {
			trees->changes++;
			return;
		}
}

void trees_note_change(struct guard_trees *trees)
{
	trees->changes++;
}

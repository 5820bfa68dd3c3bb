/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the changes of a copy: a walk of upper, with the project beside it. The content of upper is
 * the command's, and others may change the project meanwhile. Each entry is therefore reached by
 * one name in an open directory, and no symlink and no mount point is crossed.
 *
 * A character device 0:0 is a deletion. An opaque directory replaces that of the project, and so do
 * all directories below it: names that it lacks are deleted. Every other directory is merged.
 *
 * A full copy has no such marks. What it began with decides: a file that is still the same is no
 * change, whatever the project did, and a name that it lacks is deleted if it was there. */
#include "linux/copies/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"
#include "common/fs/posix.h"

enum {
	DEPTH_MAX = 200, /* two fds for each level */
	CHANGES_MAX = 4000000,
	MODE_MASK = 0777,
	DIRECTORY_MODE_MASK = 01777,
};

static const char too_deep[] = "nested too deeply";
static const char changed_since[] = "changed in the project since the copy began";
static const char appeared[] = "created in the project since the copy began";

struct walk {
	struct arena *arena;
	const struct copy *copy;
	const struct copy_judge *judge;
	struct copy_changes *changes;
	struct timespec base;
	struct known_files known;
	struct tree_base full; /* of a full copy */
	struct error *err;
};

/* One directory of both sides; an fd is -1 where it does not exist. */
struct place {
	int upper, lower;
	const char *path; /* "" for the root */
	bool is_opaque;
	size_t within;
	const char *unit;
	uint64_t parent; /* inode of lower; 0: none */
	bool may_have_vanished; /* names of lower were removed or added since the baseline */
	unsigned depth;
};

/* One name of a directory. */
struct found {
	const char *name, *path;
	struct stat upper, lower;
	bool is_upper, is_lower;
};

struct names {
	const char **items;
	size_t count;
};

static int walk_place(struct walk *walk, const struct place *place);

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int add_names(const struct walk *walk, int directory, const char *path, struct names *names)
{
	autoclosedir DIR *stream = NULL;
	const struct dirent *entry;
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && !(stream = fdopendir(fd)))
		close(fd);
	if (!stream)
		return error_errno(walk->err, errno, "cannot read %s", *path ? text_visible(walk->arena, path) : "the copy");
	while ((entry = readdir(stream)))
		if (!is_dots(entry->d_name))
			*arena_push(walk->arena, names) = arena_copy(walk->arena, entry->d_name);
	return 0;
}

/* Lists the names of upper, and those of lower if upper replaces it, sorted and once each. */
static int list_names(struct walk *walk, const struct place *place, struct names *names)
{
	size_t kept = 0;
	if (place->upper >= 0 && add_names(walk, place->upper, place->path, names) < 0)
		return -1;
	if (place->lower >= 0 && (place->is_opaque || place->upper < 0 || walk->copy->is_full) &&
	    add_names(walk, place->lower, place->path, names) < 0)
		return -1;
	if (names->count > 0)
		qsort(names->items, names->count, sizeof *names->items, compare_names);
	for (size_t i = 0; i < names->count; i++)
		if (kept == 0 || strcmp(names->items[kept - 1], names->items[i]) != 0)
			names->items[kept++] = names->items[i];
	names->count = kept;
	return 0;
}

/* The clock had moved past the baseline before the command started. What has the same time was
 * written before. */
static bool is_since(const struct walk *walk, const struct stat *info)
{
	const struct timespec *time = &info->st_ctim;
	return time->tv_sec > walk->base.tv_sec || (time->tv_sec == walk->base.tv_sec && time->tv_nsec > walk->base.tv_nsec);
}

/* Returns how the project's file changed since the baseline, or NULL. No process can set a ctime.
 * That of a directory tells nothing about its entries, which are looked at one by one. */
static const char *find_conflict(const struct walk *walk, const struct found *found)
{
	struct copy_identity identity;
	if (!found->is_lower || S_ISDIR(found->lower.st_mode) || !is_since(walk, &found->lower))
		return NULL;
	identity = compare_identity(&found->lower);
	return own_files_have(&walk->known, found->path, &identity) ? NULL : changed_since;
}

static mode_t mode_of(const struct stat *info)
{
	return info->st_mode & (S_ISDIR(info->st_mode) ? DIRECTORY_MODE_MASK : MODE_MASK);
}

static struct copy_side side_of(struct walk *walk, int directory, const char *name, const struct stat *info)
{
	struct copy_side side = {
		.type = filesystem_type_of_mode(info->st_mode),
		.mode = mode_of(info),
		.size = S_ISREG(info->st_mode) ? (uint64_t)info->st_size : 0,
		.identity = compare_identity(info),
	};
	if (S_ISLNK(info->st_mode))
		side.target = compare_target(walk->arena, directory, name);
	return side;
}

static const char *judge(const struct walk *walk, const struct copy_change *change)
{
	enum file_type type = change->kind == COPY_DELETED ? change->before.type : change->after.type;
	if (type == FILE_DEVICE || type == FILE_SOCKET || type == FILE_UNKNOWN)
		if (change->kind != COPY_DELETED)
			return type == FILE_SOCKET ? "sockets are not applied" : "devices are not applied";
	if (!walk->judge)
		return NULL;
	return walk->judge->refuses(walk->judge->self, change->path, type, change->kind == COPY_DELETED);
}

static int add_change(struct walk *walk, const struct place *place, const struct found *found, enum copy_kind kind,
		      size_t *index)
{
	struct copy_changes *changes = walk->changes;
	struct copy_change *change;
	const bool is_deleted = kind == COPY_DELETED;

	if (changes->count >= CHANGES_MAX)
		return error_set(walk->err, "the copy has more than %d changes", CHANGES_MAX);
	*index = changes->count;
	change = arena_push(walk->arena, changes);
	*change = (struct copy_change){
		.path = found->path,
		.kind = kind,
		.within = place->within,
		.unit = place->unit,
		.parent = place->parent,
		.is_implied = is_deleted && !found->is_upper,
	};
	if (found->is_lower)
		change->before = side_of(walk, place->lower, found->name, &found->lower);
	if (found->is_upper && !is_deleted) {
		change->after = side_of(walk, place->upper, found->name, &found->upper);
		change->drops_set_id = !S_ISDIR(found->upper.st_mode) && (found->upper.st_mode & (S_ISUID | S_ISGID));
	}
	change->leads_out = change->after.target && compare_leads_out(walk->copy->project, found->path, change->after.target);
	change->conflict = find_conflict(walk, found);
	change->refused = judge(walk, change);
	return 0;
}

/* True if a directory looks like one of git to git itself. */
static bool is_git_directory(int fd)
{
	struct stat info;
	return fd >= 0 && fstatat(fd, "HEAD", &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(fd, "objects", &info, AT_SYMLINK_NOFOLLOW) == 0 && fstatat(fd, "refs", &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static const char *unit_of(const struct place *parent, const struct found *found, int upper, int lower)
{
	if (parent->unit)
		return parent->unit;
	if (strcmp(found->name, ".git") == 0 || is_git_directory(lower) || is_git_directory(upper))
		return found->path;
	return NULL;
}

/* Opens a directory of one side that the walk enters. Returns -1 if it cannot be entered, with the
 * reason. */
static int open_side(int parent, const struct found *found, const struct stat *info, const char **problem)
{
	struct stat opened;
	int fd = copies_open_below(parent, found->name, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		*problem = errno == EXDEV ? "a file system is mounted there" : "its directory cannot be read";
	else if (fstat(fd, &opened) < 0 || opened.st_ino != info->st_ino || opened.st_dev != info->st_dev)
		*problem = "its directory is being changed";
	if (fd >= 0 && *problem) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Gives a problem with the content of a directory to a change of the directory, which is added if
 * there is none. */
static int refuse_inside(struct walk *walk, const struct place *place, const struct found *found, size_t index,
			 enum copy_kind kind, const char *problem)
{
	if (index == COPY_NO_CHANGE && add_change(walk, place, found, kind, &index) < 0)
		return -1;
	if (!walk->changes->items[index].refused)
		walk->changes->items[index].refused = problem;
	return 0;
}

static void note_opaque(struct walk *walk, const char *path)
{
	struct names opaque = { walk->changes->opaque, walk->changes->opaque_count };
	*arena_push(walk->arena, &opaque) = path;
	walk->changes->opaque = opaque.items;
	walk->changes->opaque_count = opaque.count;
}

/* The sides of a directory that the walk enters. */
enum sides { SIDE_UPPER, SIDE_LOWER, SIDES_BOTH };

/* Opens the sides of a directory. Returns the problem, or NULL. */
static const char *open_sides(const struct place *place, const struct found *found, enum sides sides, struct place *inner)
{
	const char *problem = place->depth >= DEPTH_MAX ? too_deep : NULL;
	if (!problem && sides != SIDE_LOWER)
		inner->upper = open_side(place->upper, found, &found->upper, &problem);
	if (!problem && sides != SIDE_UPPER)
		inner->lower = open_side(place->lower, found, &found->lower, &problem);
	return problem;
}

/* Counts the entries of a tree that are as they were when the full copy was made. Returns false at
 * the first one that is not. */
static bool count_unchanged(const struct walk *walk, int directory, const char *path, size_t *count, unsigned depth)
{
	struct names names = { 0 };
	if (depth > DEPTH_MAX || add_names(walk, directory, path, &names) < 0)
		return false;
	for (size_t i = 0; i < names.count; i++) {
		const char *inner = arena_printf(walk->arena, "%s/%s", path, names.items[i]);
		const struct tree_entry *began = tree_base_find(&walk->full, inner);
		struct copy_identity now;
		struct stat info;
		if (!began || fstatat(directory, names.items[i], &info, AT_SYMLINK_NOFOLLOW) < 0 || info.st_mode != began->mode)
			return false;
		now = compare_identity(&info);
		(*count)++;
		if (S_ISDIR(info.st_mode)) {
			autoclose int fd = copies_open_below(directory, names.items[i], O_RDONLY | O_DIRECTORY);
			if (fd < 0 || !count_unchanged(walk, fd, inner, count, depth + 1))
				return false;
		} else if (!compare_is_same(&now, &began->identity)) {
			return false;
		}
	}
	return true;
}

/* True if the command has changed nothing in a directory of a full copy, which the project has on
 * another mount. */
static bool is_unchanged_inside(const struct walk *walk, int upper, const char *path)
{
	size_t count = 0;
	return walk->copy->is_full && upper >= 0 && count_unchanged(walk, upper, path, &count, 0) &&
	       count == tree_base_count(&walk->full, path);
}

/* Enters a directory whose own change, if any, is `index`. */
static int enter(struct walk *walk, const struct place *place, const struct found *found, enum sides sides, size_t index)
{
	struct place inner = {
		.upper = -1, .lower = -1, .path = found->path, .within = place->within, .depth = place->depth + 1
	};
	const char *problem = open_sides(place, found, sides, &inner);
	int status;

	inner.is_opaque =
		!problem && sides == SIDES_BOTH && !walk->copy->is_full && (place->is_opaque || compare_is_opaque(inner.upper));
	inner.unit = unit_of(place, found, inner.upper, inner.lower);
	if (sides != SIDE_UPPER) {
		inner.parent = found->lower.st_ino;
		inner.may_have_vanished = is_since(walk, &found->lower);
	}
	if (index != COPY_NO_CHANGE) {
		walk->changes->items[index].unit = inner.unit;
		if (inner.within == COPY_NO_CHANGE && sides != SIDES_BOTH)
			inner.within = index;
	}
	if (inner.is_opaque)
		note_opaque(walk, found->path);
	if (problem && index == COPY_NO_CHANGE && is_unchanged_inside(walk, inner.upper, found->path))
		status = 0;
	else if (problem)
		status = refuse_inside(walk, place, found, index, sides == SIDE_LOWER ? COPY_DELETED : COPY_MODE, problem);
	else
		status = walk_place(walk, &inner);
	cleanup_close(&inner.upper);
	cleanup_close(&inner.lower);
	return status;
}

static int take_deletion(struct walk *walk, const struct place *place, const struct found *found)
{
	size_t index = COPY_NO_CHANGE;
	if (!found->is_lower)
		return 0;
	if (add_change(walk, place, found, COPY_DELETED, &index) < 0)
		return -1;
	return S_ISDIR(found->lower.st_mode) ? enter(walk, place, found, SIDE_LOWER, index) : 0;
}

/* True if the command has changed the mode of a directory. */
static bool has_new_mode(const struct walk *walk, const struct found *found)
{
	const struct tree_entry *began = walk->copy->is_full ? tree_base_find(&walk->full, found->path) : NULL;
	if (began && began->identity.inode != 0 && (began->mode & DIRECTORY_MODE_MASK) == mode_of(&found->upper))
		return false;
	return mode_of(&found->upper) != mode_of(&found->lower);
}

static int take_merged(struct walk *walk, const struct place *place, const struct found *found)
{
	size_t index = COPY_NO_CHANGE;
	if (has_new_mode(walk, found) && add_change(walk, place, found, COPY_MODE, &index) < 0)
		return -1;
	return enter(walk, place, found, SIDES_BOTH, index);
}

/* True if the copy's version goes back to one of the project that is gone. The overlay marks what
 * it took from there. A file that the command renamed looks the same: then only a directory in
 * which the project changed something is in doubt. Directories of the project cannot be renamed. */
static bool has_vanished(const struct walk *walk, const struct place *place, const struct found *found)
{
	if (walk->copy->is_full) {
		const struct tree_entry *began = tree_base_find(&walk->full, found->path);
		if (!began)
			return false;
		return !found->is_lower ||
		       (began->identity.inode != 0 && (began->mode & S_IFMT) != (found->lower.st_mode & S_IFMT));
	}
	if (found->is_lower ? S_ISDIR(found->lower.st_mode) || !find_conflict(walk, found) : !place->may_have_vanished)
		return false;
	if (found->is_lower && !S_ISDIR(found->upper.st_mode))
		return false;
	return compare_has_origin(place->upper, found->name);
}

/* Takes a file or directory that has another type in the project, or no counterpart. */
static int take_new(struct walk *walk, const struct place *place, const struct found *found)
{
	const bool is_directory = S_ISDIR(found->upper.st_mode);
	const bool was_directory = found->is_lower && S_ISDIR(found->lower.st_mode);
	struct copy_change *change;
	size_t index = 0;

	if (add_change(walk, place, found, found->is_lower ? COPY_RETYPED : COPY_ADDED, &index) < 0)
		return -1;
	change = &walk->changes->items[index];
	if (has_vanished(walk, place, found)) {
		change->conflict = found->is_lower ? "replaced in the project since the copy began"
						   : "removed in the project since the copy began";
		/* A merged directory has only what changed: it cannot replace the other. */
		change->keeps_ours = is_directory;
	}
	if (is_directory && enter(walk, place, found, SIDE_UPPER, index) < 0)
		return -1;
	/* The project has removed a directory in which the command changed nothing. */
	if (is_directory && !found->is_lower && walk->copy->is_full && tree_base_find(&walk->full, found->path) &&
	    walk->changes->count == index + 1) {
		walk->changes->count--;
		return 0;
	}
	return was_directory ? enter(walk, place, found, SIDE_LOWER, index) : 0;
}

/* Takes two files of the same type. */
static int take_pair(struct walk *walk, const struct place *place, const struct found *found)
{
	const bool has_mode = !S_ISLNK(found->upper.st_mode) && mode_of(&found->upper) != mode_of(&found->lower);
	bool is_same = true;
	size_t index;

	if (S_ISREG(found->upper.st_mode)) {
		is_same = found->upper.st_size == found->lower.st_size &&
			  compare_same_content(place->upper, place->lower, found->name, (uint64_t)found->upper.st_size);
	} else if (S_ISLNK(found->upper.st_mode)) {
		const char *one = compare_target(walk->arena, place->upper, found->name);
		const char *two = compare_target(walk->arena, place->lower, found->name);
		is_same = one && two && strcmp(one, two) == 0;
	}
	if (is_same && !has_mode)
		return 0;
	return add_change(walk, place, found, is_same ? COPY_MODE : COPY_MODIFIED, &index);
}

/* True if the command has not changed this name of a full copy. A directory is entered. */
static bool is_as_it_began(const struct walk *walk, const struct place *place, const struct found *found)
{
	const struct tree_entry *began = tree_base_find(&walk->full, found->path);
	struct copy_identity now;

	/* The project's own, unless the directory is deleted as a whole. */
	if (!found->is_upper)
		return place->upper >= 0 && !began;
	if (!began || S_ISDIR(found->upper.st_mode))
		return false;
	now = compare_identity(&found->upper);
	return compare_is_same(&now, &began->identity);
}

static int take(struct walk *walk, const struct place *place, const struct found *found)
{
	const mode_t upper = found->upper.st_mode, lower = found->lower.st_mode;
	const bool is_full = walk->copy->is_full;

	if (is_full && is_as_it_began(walk, place, found))
		return 0;
	if (!found->is_upper || (!is_full && copies_is_whiteout(&found->upper)))
		return take_deletion(walk, place, found);
	if (!found->is_lower || (upper & S_IFMT) != (lower & S_IFMT))
		return take_new(walk, place, found);
	return S_ISDIR(upper) ? take_merged(walk, place, found) : take_pair(walk, place, found);
}

static bool look(int directory, const char *name, struct stat *info)
{
	return directory >= 0 && fstatat(directory, name, info, AT_SYMLINK_NOFOLLOW) == 0;
}

static int walk_place(struct walk *walk, const struct place *place)
{
	struct names names = { 0 };
	if (list_names(walk, place, &names) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct found found = { .name = names.items[i] };
		found.path = *place->path ? arena_printf(walk->arena, "%s/%s", place->path, found.name) : found.name;
		found.is_upper = look(place->upper, found.name, &found.upper);
		found.is_lower = look(place->lower, found.name, &found.lower);
		if ((found.is_upper || found.is_lower) && take(walk, place, &found) < 0)
			return -1;
	}
	return 0;
}

/* A directory that is deleted or replaced goes as a whole: what holds for an entry holds for
 * it. */
static void join_deleted(struct arena *arena, struct copy_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		struct copy_change *change = &changes->items[i], *top;
		if (change->within == COPY_NO_CHANGE)
			continue;
		top = &changes->items[change->within];
		if (top->kind == COPY_ADDED)
			continue;
		if (change->conflict && !top->conflict)
			top->conflict =
				change->kind == COPY_DELETED && change->conflict == changed_since ? changed_since : appeared;
		if (change->refused && !top->refused)
			top->refused =
				arena_printf(arena, "contains %s: %s", text_visible(arena, change->path), change->refused);
	}
}

/* Refuses the rest of a git directory of which something is refused. */
static void join_units(struct arena *arena, struct copy_changes *changes)
{
	const char *unit = NULL, *reason = NULL;
	size_t start = 0;

	for (size_t i = 0; i <= changes->count; i++) {
		struct copy_change *change = i < changes->count ? &changes->items[i] : NULL;
		/* All changes of a unit follow each other, and share its string. */
		if (!change || change->unit != unit) {
			for (size_t k = start; unit && reason && k < i; k++)
				if (!changes->items[k].refused)
					changes->items[k].refused = reason;
			unit = change ? change->unit : NULL;
			reason = NULL;
			start = i;
		}
		if (change && change->refused && !reason && unit)
			reason = arena_printf(arena, "%s is applied as a whole, and %s is not: %s", text_visible(arena, unit),
					      text_visible(arena, change->path), change->refused);
	}
}

static void count_marks(struct copy_changes *changes)
{
	changes->conflicts = changes->refused = 0;
	for (size_t i = 0; i < changes->count; i++) {
		changes->refused += changes->items[i].refused != NULL;
		changes->conflicts += changes->items[i].conflict != NULL;
	}
}

int copy_list_changes(struct arena *arena, const struct copy *copy, const struct copy_judge *judge_or_null,
		      struct copy_changes *changes, struct error *err)
{
	struct walk walk = { .arena = arena, .copy = copy, .judge = judge_or_null, .changes = changes, .err = err };
	autoclose int upper = copies_open_below(copy->fd, copy_layer(copy), O_RDONLY | O_DIRECTORY);
	autoclose int lower = open(copy->project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct place root = { .upper = upper, .lower = lower, .path = "", .within = COPY_NO_CHANGE };
	struct stat info;

	*changes = (struct copy_changes){ 0 };
	if (lower < 0 || fstat(lower, &info) < 0)
		return error_errno(err, errno, "cannot open %s", copy->project);
	if (upper < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "cannot open %s/%s", copy->directory, copy_layer(copy));
	if (copies_read_base(copy, &walk.base) < 0)
		return error_set(err, "%s has no baseline to detect changes of the project", copy->directory);
	own_files_read(arena, copy, &walk.known);
	if (copy->is_full && tree_base_read(arena, copy, &walk.full, err) < 0)
		return -1;
	root.is_opaque = !copy->is_full && compare_is_opaque(upper);
	root.parent = info.st_ino;
	root.may_have_vanished = is_since(&walk, &info);
	if (walk_place(&walk, &root) < 0)
		return -1;
	join_deleted(arena, changes);
	join_units(arena, changes);
	count_marks(changes);
	changes->is_doubtful = copies_is_doubtful(copy);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Searches the targets of symlinks to directories. A command can move a directory to where nothing
 * is searched and leave a symlink in its place: what the host later writes through the link must be
 * hidden as if the directory were still there. So names in the target are matched under the name of
 * the link: files.deny, files.except and files.prune all mean that name, not where the directory
 * is. A link whose own name is pruned is not followed.
 *
 * Only links and targets in writable trees count, because nothing inside can change the others.
 * Each link is searched under its own path and, in the target of another link, under the name that
 * leads through it. A target that contains the link, or a link on the way to it, ends the search
 * there. */
#include "common/scan/internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"

enum {
	LINKS_MAX = 4096, /* searches */
	NAMES_MAX = 4, /* of one link; the next search is the last one, and strict */
	ENTRIES_MAX = 1 << 20, /* in all targets */
	KNOWN_SLOTS = 64, /* directories on the way to targets; few are common to many */
};

/* One search. */
struct linked {
	struct scan *scan;
	const struct scan_link *link;
	size_t target_length;
	bool has_inner_grants;
	atomic_bool has_found; /* something that its own name does not hide or lock */
	atomic_uint_least64_t entries;
};

void scan_record_link(struct scan *scan, const char *path, const char *name, const struct scan_link *outer)
{
	struct scan_link *link;
	struct arena *arena = scan->plan->arena;
	pthread_mutex_lock(&scan->lock);
	link = arena_alloc(arena, sizeof *link);
	link->path = arena_copy(arena, path);
	link->name = strcmp(name, path) == 0 ? link->path : arena_copy(arena, name);
	link->outer = outer;
	*arena_push(arena, &scan->links) = link;
	pthread_mutex_unlock(&scan->lock);
}

/* Makes the name of an entry under the link. False if it is too long. */
static bool name_under_link(const struct linked *linked, const char *path, char *out, size_t size)
{
	const char *rest = path + linked->target_length;
	return path_join_into(out, size, linked->link->name, rest[0] == '/' ? rest + 1 : rest);
}

static bool is_read_only_grant(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind != GRANT_WRITE && strcmp(plan->grants.items[i].path, path) == 0)
			return true;
	return false;
}

/* Notes whether the link is the reason: then it must stay, or the next run would not find the
 * file. */
static void note_found(struct linked *linked, const struct scan_finding *finding, const char *path, bool is_directory)
{
	const struct plan *plan = linked->scan->plan;
	const struct rule *denied_by = finding->denied_by ? finding->denied_by : finding->unless_public;
	if ((denied_by && !plan_denied_by(plan, path, is_directory)) ||
	    (finding->protected_by && !plan_protected_by(plan, path, is_directory)))
		linked->has_found = true;
}

/* Visits a symlink, or an entry that a pattern may match. */
static enum walk_step record_found(struct linked *linked, struct scan_finding *finding, const char *path,
				   const char *under_link, enum file_type type)
{
	note_found(linked, finding, path, type == FILE_DIRECTORY);
	if (type == FILE_SYMLINK && !finding->denied_by && !finding->unless_public)
		scan_record_link(linked->scan, path, under_link, linked->link);
	if (finding->is_pruned && !finding->denied_by)
		return WALK_SKIP;
	finding->opened_by = NULL; /* only a directory's own name opens it */
	return scan_record_finding(linked->scan, finding, path, type);
}

static enum walk_step visit_closely(struct linked *linked, const char *directory, const char *name, enum file_type type,
				    bool *is_kept)
{
	struct scan *scan = linked->scan;
	bool is_directory = type == FILE_DIRECTORY;
	uninitialised char path[SCAN_PATH_BYTES], under_link[SCAN_PATH_BYTES];
	struct scan_finding finding;

	*is_kept = true;
	if (!path_join_into(path, sizeof path, directory, name) ||
	    !name_under_link(linked, path, under_link, sizeof under_link)) {
		scan->has_too_long = true;
		return WALK_SKIP;
	}
	if (is_directory && linked->has_inner_grants && is_read_only_grant(scan->plan, path))
		return WALK_SKIP;
	finding = scan_judge(scan, under_link, name, is_directory);
	if (!finding.protected_by && scan_is_locked_pointer(scan, directory, name, type))
		finding.protected_by = &rule_git_pointer;
	*is_kept = finding.denied_by || finding.unless_public || finding.protected_by || finding.is_pruned ||
		   type == FILE_SYMLINK || scan_may_be_git_pointer(name, type) ||
		   scan_is_git_entry(scan, directory, name, type);
	return record_found(linked, &finding, path, under_link, type);
}

static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type, bool *is_kept)
{
	struct linked *linked = self;
	struct scan *scan = linked->scan;
	bool is_directory = type == FILE_DIRECTORY;

	atomic_fetch_add_explicit(&linked->entries, 1, memory_order_relaxed);
	if (scan_is_special(type)) {
		*is_kept = true;
		scan_visit_special(scan, directory, name, type);
		if (type != FILE_FIFO)
			return WALK_SKIP;
	}
	if (scan_is_git_entry(scan, directory, name, type)) {
		*is_kept = true;
		scan_record_git(scan, directory, name, type);
	}
	if (type == FILE_SYMLINK || (is_directory && linked->has_inner_grants) || scan_may_be_git_pointer(name, type) ||
	    scan_has_candidate(scan, name) ||
	    strlen(directory) + strlen(name) + 2 > SCAN_PATH_BYTES - strlen(linked->link->name))
		return visit_closely(linked, directory, name, type, is_kept);
	return is_directory ? WALK_DESCEND : WALK_SKIP;
}

static enum walk_step visit_plainly(void *self, const char *directory, const char *name, enum file_type type)
{
	bool ignored = false;
	return visit(self, directory, name, type, &ignored);
}

static void count(void *self, uint64_t directories, uint64_t files)
{
	struct linked *linked = self;
	atomic_fetch_add_explicit(&linked->entries, directories + files, memory_order_relaxed);
}

/* In the index the search of a target is apart from that of the same directory by its own name or
 * through another link: other entries of it matter. The result is no clean path. */
static const char *key_of(const struct scan *scan, const struct scan_link *link)
{
	return arena_printf(scan->plan->arena, "%s%s%s", link->name, scan->is_strict ? "//." : "/.", link->target);
}

static int walk(struct linked *linked, struct error *err)
{
	struct scan *scan = linked->scan;
	const struct filesystem *fs = scan->plan->context.fs;
	const char *target = linked->link->target;
	struct walk_visitor visitor = { .visit = visit, .count = count, .self = linked };
	if (!scan->memory || !fs->walk_indexed)
		return fs->walk(fs, target, visit_plainly, linked, err);
	visitor.key = key_of(scan, linked->link);
	return fs->walk_indexed(fs, target, &visitor, scan->memory, err);
}

/* A directory on the way to several targets is inspected once, and those above a link not at all:
 * the walk has just come through them. Init mounts by paths in which no component may be a symlink,
 * so that one which is swapped meanwhile fails the launch. */
struct known_directories {
	struct filesystem fs; /* with inspect and read_link of this file */
	const struct filesystem *host;
	struct arena *arena;
	const char *link; /* that is being resolved */
	struct known_directory {
		const char *path; /* NULL: free */
		struct file_info info;
	} slots[KNOWN_SLOTS];
};

static struct known_directory *slot_of(struct known_directories *known, const char *path)
{
	size_t hash = 5381;
	for (const char *at = path; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	return &known->slots[hash % KNOWN_SLOTS];
}

static int inspect_once(const struct filesystem *fs, const char *path, struct file_info *info)
{
	struct known_directories *known = fs->self;
	struct known_directory *slot;
	int status;
	if (path_is_within(known->link, path)) {
		*info = (struct file_info){ .type = strcmp(known->link, path) == 0 ? FILE_SYMLINK : FILE_DIRECTORY };
		return 0;
	}
	slot = slot_of(known, path);
	if (slot->path && strcmp(slot->path, path) == 0) {
		*info = slot->info;
		return 0;
	}
	status = known->host->inspect(known->host, path, info);
	if (status == 0 && info->type == FILE_DIRECTORY)
		*slot = (struct known_directory){ arena_copy(known->arena, path), *info };
	return status;
}

static int read_link(const struct filesystem *fs, struct arena *arena, const char *path, char **target)
{
	const struct known_directories *known = fs->self;
	return known->host->read_link(known->host, arena, path, target);
}

static struct known_directories *no_known_directories(const struct plan *plan)
{
	struct known_directories *known = arena_alloc(plan->arena, sizeof *known);
	known->host = plan->context.fs;
	known->arena = plan->arena;
	known->fs = (struct filesystem){ .inspect = inspect_once, .read_link = read_link, .self = known };
	return known;
}

static void pin_chain(struct scan *scan, const struct scan_link *link)
{
	for (; link; link = link->outer) {
		scan_record(scan, &scan->followed, link->path, FILE_SYMLINK, &rule_linked);
		for (size_t i = 0; i < link->passed.count; i++)
			scan_record(scan, &scan->followed, link->passed.items[i].path, FILE_SYMLINK, &rule_linked);
	}
}

static bool is_loop(const struct scan_link *link)
{
	for (const struct scan_link *at = link; at; at = at->outer)
		if (path_is_within(at->path, link->target))
			return true;
	return false;
}

/* The target is behind a directory that its owner has closed, and that the command could open: the
 * closed directory is hidden. */
static void hide_closed(struct scan *scan, const char *target)
{
	const struct plan *plan = scan->plan;
	const struct filesystem *fs = plan->context.fs;
	struct file_info info = { 0 };
	while (strcmp(target, "/") != 0 && (fs->inspect(fs, target, &info) < 0 || info.type == FILE_ABSENT))
		target = path_parent(plan->arena, target);
	if (info.type == FILE_DIRECTORY && plan_is_writable(plan, target) && !scan_holds_grant(plan, target))
		scan_record(scan, &scan->masked, target, FILE_DIRECTORY, &rule_unsearchable);
}

/* A link that was replaced meanwhile, perhaps by a directory, is resolved by the disk alone. */
static bool find_target(struct scan *scan, struct known_directories *known, struct scan_link *link, struct file_info *info)
{
	const struct plan *plan = scan->plan;
	uninitialised struct error ignored;
	known->link = link->path;
	if (path_resolve(&known->fs, plan->arena, link->path, &link->target, &link->passed, info, &ignored) == 0)
		return true;
	link->passed = (struct path_links){ 0 };
	return path_resolve(plan->context.fs, plan->arena, link->path, &link->target, &link->passed, info, &ignored) == 0;
}

/* Resolves the link. False if its target is not to be searched. */
static bool resolve(struct scan *scan, struct known_directories *known, struct scan_link *link)
{
	const struct plan *plan = scan->plan;
	struct file_info info;
	if (!find_target(scan, known, link, &info))
		return false;
	if (info.type == FILE_DIRECTORY || info.type == FILE_UNKNOWN)
		scan_check_state(scan, link->path, link->target);
	if (info.type == FILE_UNKNOWN)
		hide_closed(scan, link->target);
	return info.type == FILE_DIRECTORY && plan_is_writable(plan, link->target) && !is_loop(link);
}

/* True if the name of the link settles its target: hidden whole, or pruned. */
static bool is_settled_by_name(struct scan *scan, const struct scan_link *link)
{
	struct scan_finding finding = scan_judge(scan, link->name, path_base_name(link->name), true);
	if (finding.denied_by)
		scan_record(scan, &scan->denied_links, link->path, FILE_SYMLINK, finding.denied_by);
	else if (finding.protected_by)
		scan_record(scan, &scan->protected_links, link->path, FILE_SYMLINK, finding.protected_by);
	if (finding.denied_by && link->outer)
		pin_chain(scan, link->outer);
	return finding.denied_by || finding.is_pruned;
}

static int search_target(struct scan *scan, struct scan_link *link, uint64_t *entries, struct error *err)
{
	struct linked linked = { .scan = scan, .link = link, .target_length = strlen(link->target) };

	scan->root = plan_grant_for(scan->plan, link->target);
	if (is_settled_by_name(scan, link))
		return 0;
	linked.has_inner_grants = scan_has_inner_grants(scan->plan, link->target);
	if (walk(&linked, err) < 0)
		return -1;
	if (linked.has_found) {
		pin_chain(scan, link);
		scan_note(scan, &rule_linked,
			  arena_printf(scan->plan->arena,
				       "%s leads to %s: names there are hidden as if they were below the link", link->path,
				       link->target));
	}
	*entries += linked.entries;
	return 0;
}

/* Returns the number of earlier searches of the same link. */
static unsigned count_names(const struct scan_links *done, const char *path)
{
	unsigned names = 0;
	for (size_t i = done->count; i-- > 0 && names <= NAMES_MAX;)
		names += strcmp(done->items[i]->path, path) == 0;
	return names;
}

static int compare_links(const void *left, const void *right)
{
	const struct scan_link *a = *(struct scan_link *const *)left, *b = *(struct scan_link *const *)right;
	int order = strcmp(a->path, b->path);
	return order ? order : strcmp(a->name, b->name);
}

static int refuse(const char *what, int limit, const struct scan_link *link, struct error *err)
{
	error_set(err, "more than %d %s would have to be searched for names to hide, the last of them through %s", limit, what,
		  link->path);
	return error_hint(err, "remove symlinks to directories in the project, or name them in files.prune");
}

/* Links that are found in a target are searched in the next round. */
int scan_search_links(struct scan *scan, struct error *err)
{
	struct scan_links done = { 0 };
	struct known_directories *known;
	uint64_t entries = 0;

	if (scan->plan->context.os != OS_LINUX || scan->links.count == 0)
		return 0;
	known = no_known_directories(scan->plan);
	for (size_t first = 0; first < scan->links.count;) {
		size_t end = scan->links.count;
		qsort(scan->links.items + first, end - first, sizeof *scan->links.items, compare_links);
		for (; first < end; first++) {
			struct scan_link *link = scan->links.items[first];
			unsigned names;
			if (!resolve(scan, known, link))
				continue;
			names = link->outer ? count_names(&done, link->path) : 0;
			if (names > NAMES_MAX)
				continue;
			if (done.count == LINKS_MAX)
				return refuse("symlinks to directories", LINKS_MAX, link, err);
			*arena_push(scan->plan->arena, &done) = link;
			scan->is_strict = names == NAMES_MAX;
			if (search_target(scan, link, &entries, err) < 0)
				return -1;
			if (entries > ENTRIES_MAX)
				return refuse("files", ENTRIES_MAX, link, err);
		}
	}
	return 0;
}

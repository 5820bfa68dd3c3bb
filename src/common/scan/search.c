/* SPDX-License-Identifier: Apache-2.0 */
/* Compares every entry below a directory that a rule makes readable or writable with the patterns,
 * in several threads. Directories of files.prune are skipped and recorded for lookup.c. With an
 * index of an earlier scan, unchanged directories are not listed again. */
#include "common/scan/internal.h"

#include <string.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"

enum { DEEP_LEVELS = 64 }; /* of directories below a grant */

static void record_unsearched(struct scan *scan, const char *path, bool is_writable)
{
	pthread_mutex_lock(&scan->lock);
	struct scan_tree *tree = arena_push(scan->plan->arena, &scan->unsearched);
	tree->path = arena_copy(scan->plan->arena, path);
	tree->is_writable = is_writable;
	pthread_mutex_unlock(&scan->lock);
}

bool scan_is_grant(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (strcmp(plan->grants.items[i].path, path) == 0)
			return true;
	return false;
}

static bool matches(const struct scan *scan, const struct plan_pattern *item, const char *path, bool is_directory)
{
	return pattern_matches(&item->pattern, path, is_directory, scan->case_fold);
}

static void judge_deny(const struct scan *scan, const struct plan_pattern *item, const char *path, bool is_directory,
		       struct scan_finding *finding)
{
	bool (*applies)(const struct plan *, const struct plan_pattern *, const char *, bool) =
		scan->is_strict ? plan_deny_applies_strictly : plan_deny_applies;
	if (finding->denied_by || (scan->ignores_deny && !is_directory) || !matches(scan, item, path, is_directory) ||
	    !applies(scan->plan, item, path, is_directory))
		return;
	if (!is_directory && plan_deny_is_conditional(scan->plan, item->rule, path))
		finding->unless_public = item->rule;
	else
		finding->denied_by = item->rule;
}

static void judge_protect(const struct scan *scan, const struct plan_pattern *item, const char *path, bool is_directory,
			  struct scan_finding *finding)
{
	if (!finding->protected_by && scan->root->kind == GRANT_WRITE && matches(scan, item, path, is_directory) &&
	    plan_protect_applies(scan->plan, item, path, is_directory))
		finding->protected_by = item->rule;
}

static void judge_unprotect(const struct scan *scan, const struct plan_pattern *item, const char *path, bool is_directory,
			    struct scan_finding *finding)
{
	if (!finding->opened_by && scan->root->kind == GRANT_WRITE && matches(scan, item, path, is_directory) &&
	    !plan_protected_by(scan->plan, path, is_directory))
		finding->opened_by = item->rule;
}

/* The number is an index into deny, protect, prune and unprotect, one after the other. */
static void judge_candidate(const struct scan *scan, size_t number, const char *path, bool is_directory,
			    struct scan_finding *finding)
{
	const struct plan *plan = scan->plan;
	if (number < plan->deny.count) {
		judge_deny(scan, &plan->deny.items[number], path, is_directory, finding);
		return;
	}
	number -= plan->deny.count;
	if (number < plan->protect.count) {
		judge_protect(scan, &plan->protect.items[number], path, is_directory, finding);
		return;
	}
	number -= plan->protect.count;
	if (number < plan->prune.count)
		finding->is_pruned |= is_directory && matches(scan, &plan->prune.items[number], path, true);
	else
		judge_unprotect(scan, &plan->unprotect.items[number - plan->prune.count], path, is_directory, finding);
}

struct scan_finding scan_judge(const struct scan *scan, const char *path, const char *name, bool is_directory)
{
	size_t length = strlen(name);
	const struct name_filter *index = &scan->index;
	struct scan_finding finding = { 0 };
	for (size_t word = 0; word < index->words; word++) {
		uint64_t bits = name_filter_candidates(index, word, (unsigned char)name[0], (unsigned char)name[length - 1]);
		for (; bits; bits &= bits - 1) {
			size_t number = word * 64 + (size_t)__builtin_ctzll(bits);
			if (name_filter_agrees(index, number, name, length))
				judge_candidate(scan, number, path, is_directory, &finding);
		}
	}
	return finding;
}

bool scan_has_candidate(const struct scan *scan, const char *name)
{
	const struct name_filter *index = &scan->index;
	size_t length = strlen(name);
	for (size_t word = 0; word < index->words; word++) {
		uint64_t bits = name_filter_candidates(index, word, (unsigned char)name[0], (unsigned char)name[length - 1]);
		for (; bits; bits &= bits - 1)
			if (name_filter_agrees(index, word * 64 + (size_t)__builtin_ctzll(bits), name, length))
				return true;
	}
	return false;
}

/* One thread at a time: the contents go into the plan's arena. */
bool scan_is_locked_pointer(struct scan *scan, const char *directory, const char *name, enum file_type type)
{
	bool result;
	if (scan->root->kind != GRANT_WRITE || !scan_may_be_git_pointer(name, type))
		return false;
	pthread_mutex_lock(&scan->lock);
	result = scan_is_git_pointer(scan->plan, directory, name);
	pthread_mutex_unlock(&scan->lock);
	return result;
}

/* Records an entry that is denied, protected, opened or pruned. Returns whether the walk enters
 * it. */
enum walk_step scan_record_finding(struct scan *scan, const struct scan_finding *finding, const char *path, enum file_type type)
{
	bool is_directory = type == FILE_DIRECTORY, is_link = type == FILE_SYMLINK;
	if (finding->denied_by) {
		scan_record(scan, is_link ? &scan->denied_links : &scan->masked, path, type, finding->denied_by);
		return WALK_SKIP;
	}
	if (finding->unless_public)
		scan_record(scan,
			    type == FILE_REGULAR ? &scan->conditional
			    : is_link		 ? &scan->denied_links
						 : &scan->masked,
			    path, type, finding->unless_public);
	if (finding->protected_by)
		scan_record(scan, is_link ? &scan->protected_links : &scan->locked, path, type, finding->protected_by);
	if (finding->opened_by && !is_link)
		scan_record(scan, &scan->opened, path, type, finding->opened_by);
	if (finding->is_pruned)
		record_unsearched(scan, path, scan->root->kind == GRANT_WRITE);
	return is_directory && !finding->is_pruned ? WALK_DESCEND : WALK_SKIP;
}

/* Hides the directory of an entry with too long a path: nothing can be mounted on the entry itself.
 * Each directory above a hidden one costs a mount, so one far down is hidden at an ancestor. */
static enum walk_step hide_deep(struct scan *scan, const char *directory)
{
	uninitialised char path[SCAN_PATH_BYTES];
	size_t length = strlen(scan->root->path);
	unsigned depth = 0;
	if (scan_holds_grant(scan->plan, directory) || !path_is_within(directory, scan->root->path)) {
		scan->has_too_long = true;
		return WALK_SKIP;
	}
	while (directory[length] && (directory[length] != '/' || depth++ < DEEP_LEVELS))
		length++;
	memcpy(path, directory, length);
	path[length] = '\0';
	scan_record(scan, &scan->masked, scan_holds_grant(scan->plan, path) ? directory : path, FILE_DIRECTORY,
		    &rule_unsearchable);
	return WALK_SKIP;
}

/* True for a symlink that a command could have made: its target is searched, too. */
static bool is_followed(const struct scan *scan, enum file_type type)
{
	return type == FILE_SYMLINK && scan->root->kind == GRANT_WRITE;
}

/* True if the name is denied, whatever the content. */
static bool is_denied(const struct scan_finding *finding)
{
	return finding->denied_by || finding->unless_public;
}

static bool has_finding(const struct scan_finding *finding)
{
	return is_denied(finding) || finding->protected_by || finding->opened_by || finding->is_pruned;
}

/* Visits a symlink, or an entry whose name a pattern may match. */
static enum walk_step visit_closely(struct scan *scan, const char *directory, const char *name, enum file_type type,
				    bool *is_remarkable)
{
	bool is_directory = type == FILE_DIRECTORY;
	uninitialised char path[SCAN_PATH_BYTES];
	struct scan_finding finding;

	*is_remarkable = true;
	if (!path_join_into(path, sizeof path, directory, name))
		return hide_deep(scan, directory);
	finding = scan_judge(scan, path, name, is_directory);
	if (!finding.protected_by && scan_is_locked_pointer(scan, directory, name, type))
		finding.protected_by = &rule_git_pointer;
	/* A grant inside this one is searched, or not, by its own kind. */
	if (!finding.denied_by && (is_directory || finding.protected_by) && scan->has_inner_grants &&
	    scan_is_grant(scan->plan, path))
		return WALK_SKIP;
	*is_remarkable = has_finding(&finding) || scan_may_be_git_pointer(name, type);
	if (is_followed(scan, type) && !is_denied(&finding))
		scan_record_link(scan, path, path, NULL);
	return scan_record_finding(scan, &finding, path, type);
}

bool scan_is_named_socket(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->sockets.count; i++)
		if (strcmp(plan->sockets.items[i].value, path) == 0)
			return true;
	return false;
}

/* A FIFO takes writes on a read-only mount too. It is hidden in a readable tree, and in a writable
 * one if something above it is protected, which is known when the search has ended. */
void scan_visit_special(struct scan *scan, const char *directory, const char *name, enum file_type type)
{
	bool is_writable = scan->root->kind == GRANT_WRITE;
	uninitialised char path[SCAN_PATH_BYTES];
	if (!path_join_into(path, sizeof path, directory, name)) {
		hide_deep(scan, directory);
	} else if (type == FILE_SOCKET && !scan_is_named_socket(scan->plan, path)) {
		scan_record(scan, &scan->masked, path, type, &rule_host_socket);
	} else if (type == FILE_FIFO) {
		scan_record(scan, is_writable ? &scan->fifos : &scan->masked, path, FILE_FIFO, &rule_host_fifo);
	} else if (type == FILE_UNKNOWN && is_writable) {
		if (strcmp(path, scan->root->path) == 0)
			scan->has_closed_root = true;
		scan_record(scan, &scan->masked, path, FILE_DIRECTORY, &rule_unsearchable);
	}
}

static bool needs_closer_look(const struct scan *scan, const char *directory, const char *name, enum file_type type)
{
	if (type == FILE_DIRECTORY && (scan->has_inner_grants || strlen(directory) + strlen(name) + 2 > SCAN_PATH_BYTES))
		return true;
	return scan_has_candidate(scan, name) || scan_may_be_git_pointer(name, type) || is_followed(scan, type);
}

/* Called for every entry of every searched tree; nearly all need no closer look. Sets
 * *is_remarkable for an entry that every later walk must visit again. */
static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type, bool *is_remarkable)
{
	struct scan *scan = self;
	bool is_directory = type == FILE_DIRECTORY;
	enum walk_step step = is_directory ? WALK_DESCEND : WALK_SKIP;
	bool is_part;

	if (scan_is_special(type))
		scan_visit_special(scan, directory, name, type);
	is_part = scan_note_git_part(scan, directory, name, type);
	if (type == FILE_SOCKET || type == FILE_UNKNOWN) {
		*is_remarkable = true;
		return WALK_SKIP;
	}
	atomic_fetch_add_explicit(is_directory ? &scan->directories : &scan->files, 1, memory_order_relaxed);
	if (needs_closer_look(scan, directory, name, type))
		step = visit_closely(scan, directory, name, type, is_remarkable);
	*is_remarkable |= is_part || type == FILE_FIFO || is_followed(scan, type);
	if (step == WALK_DESCEND)
		scan_note_git_search(scan, directory, name);
	if (scan_is_git_entry(scan, directory, name, type)) {
		*is_remarkable = true;
		scan_record_git(scan, directory, name, type);
	}
	return step;
}

static enum walk_step visit_plainly(void *self, const char *directory, const char *name, enum file_type type)
{
	bool ignored = false;
	return visit(self, directory, name, type, &ignored);
}

static void count(void *self, uint64_t directories, uint64_t files)
{
	struct scan *scan = self;
	atomic_fetch_add_explicit(&scan->directories, directories, memory_order_relaxed);
	atomic_fetch_add_explicit(&scan->files, files, memory_order_relaxed);
}

/* Uses the index of an earlier launch if there is one. */
static int search(struct scan *scan, const char *root, struct error *err)
{
	const struct filesystem *fs = scan->plan->context.fs;
	const struct walk_visitor visitor = { .visit = visit, .count = count, .self = scan };
	if (scan->memory && fs->walk_indexed)
		return fs->walk_indexed(fs, root, &visitor, scan->memory, err);
	return fs->walk(fs, root, visit_plainly, scan, err);
}

bool scan_has_inner_grants(const struct plan *plan, const char *directory)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (strcmp(plan->grants.items[i].path, directory) != 0 && path_is_within(plan->grants.items[i].path, directory))
			return true;
	return false;
}

void scan_prepare_names(struct scan *scan)
{
	const struct plan *plan = scan->plan;
	const struct plan_patterns *lists[] = { &plan->deny, &plan->protect, &plan->prune, &plan->unprotect };
	size_t number = 0;

	name_filter_prepare(&scan->index, plan->arena,
			    plan->deny.count + plan->protect.count + plan->prune.count + plan->unprotect.count);
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			name_filter_add(&scan->index, number++, &lists[i]->items[k].pattern, scan->case_fold);
}

/* A command may have closed the directory to refuse every later run. */
static int closed_root(const char *path, struct error *err)
{
	struct text word = { 0 };
	text_add_shell_word(&word, path);
	error_set(err, "%s cannot be listed, so the files to hide in it cannot be found", path);
	if (word.length < ERROR_HINT_MAX / 2) /* a command must not be cut */
		error_hint(err, "if it is yours: chmod u+rwx -- %s", word.data);
	text_free(&word);
	return -1;
}

int scan_search(struct scan *scan, struct error *err)
{
	const struct plan *plan = scan->plan;

	scan_prepare_names(scan);
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (grant->type != FILE_DIRECTORY || grant->kind == GRANT_SYSTEM)
			continue;
		scan->root = grant;
		scan->has_inner_grants = scan_has_inner_grants(plan, grant->path);
		if (search(scan, grant->path, err) < 0)
			return -1;
		if (scan->has_closed_root)
			return closed_root(grant->path, err);
	}
	return scan_search_links(scan, err);
}

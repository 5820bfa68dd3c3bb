/* SPDX-License-Identifier: Apache-2.0 */
/* The grant and the rules that apply to a path, from which evaluate.c makes a verdict. The plan
 * applies them to its own grants, the scan and the macOS profile to names. Reads the plan only,
 * never the file system. */
#include "common/plan/build.h"

#include <string.h>

#include "common/base/cleanup.h"

bool plan_folds_case(const struct plan *plan)
{
	return plan->context.os == OS_MACOS || plan->context.fs->is_case_insensitive;
}

bool plan_is_within(const struct plan *plan, const char *path, const char *directory)
{
	struct pattern literal = { .text = directory, .is_literal = true };
	if (plan->context.os != OS_MACOS || path_is_within(path, directory))
		return path_is_within(path, directory);
	literal.literal_prefix = strlen(directory);
	return pattern_covers(&literal, path, true, true) > 0;
}

bool plan_is_same_path(const struct plan *plan, const char *left, const char *right)
{
	return strcmp(left, right) == 0 ||
	       (plan->context.os == OS_MACOS && plan_is_within(plan, left, right) && plan_is_within(plan, right, left));
}

/* Where case is folded, a longer path may be sorted before a shorter one. */
static const struct plan_grant *folded_grant_for(const struct plan *plan, const char *path)
{
	const struct plan_grant *longest = NULL;
	bool is_data = plan_is_on_data_volume(plan, path);
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (is_data && !plan_is_on_data_volume(plan, grant->path))
			continue;
		if (plan_is_within(plan, path, grant->path) && (!longest || strlen(grant->path) >= strlen(longest->path)))
			longest = grant;
	}
	return longest;
}

const struct plan_grant *plan_grant_for(const struct plan *plan, const char *path)
{
	const struct plan_grant *longest = NULL;
	if (plan->context.os == OS_MACOS)
		return folded_grant_for(plan, path);
	/* Sorted: of two grants that contain path the longer comes last. */
	for (size_t i = 0; i < plan->grants.count; i++)
		if (path_is_within(path, plan->grants.items[i].path))
			longest = &plan->grants.items[i];
	return longest;
}

bool plan_is_writable(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	return grant && grant->kind == GRANT_WRITE;
}

bool plan_is_below_writable(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && plan_is_within(plan, path, plan->grants.items[i].path))
			return true;
	return false;
}

/* Returns the end of the component after `at`. */
static size_t next_end(const char *path, size_t at)
{
	if (path[at] == '/')
		at++;
	return at + strcspn(path + at, "/");
}

/* Only directories strictly between the grant's root and the path count: the scan starts at the
 * root and never looks above. On macOS nothing is searched: the kernel checks every name. */
const struct rule *plan_pruned_by(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	uninitialised char prefix[PLAN_PATH_BYTES];
	size_t at;

	if (!grant || plan->prune.count == 0 || plan->context.os == OS_MACOS || strlen(path) >= sizeof prefix)
		return NULL;
	at = strcmp(grant->path, "/") == 0 ? 0 : strlen(grant->path);
	for (at = next_end(path, at); path[at]; at = next_end(path, at)) {
		memcpy(prefix, path, at);
		prefix[at] = '\0';
		for (size_t i = 0; i < plan->prune.count; i++)
			if (pattern_matches(&plan->prune.items[i].pattern, prefix, true, plan_folds_case(plan)))
				return plan->prune.items[i].rule;
	}
	return NULL;
}

/* True if a pattern that matches anywhere does not apply here. Such patterns hold only where files
 * are searched: not in trees of software, not below directories of files.prune. */
static bool is_exempt(const struct plan *plan, const struct pattern *pattern, const char *prefix)
{
	const struct plan_grant *grant;
	if (!pattern->is_anywhere)
		return false;
	grant = plan_grant_for(plan, prefix);
	return (grant && grant->kind == GRANT_SYSTEM) || plan_pruned_by(plan, prefix);
}

/* An entry of files.except applies to denials of the same and of earlier layers. Only the floor
 * makes exceptions from the floor. The exception must match the denied path itself, not a path
 * below it: a hidden directory is hidden whole. With is_strict only exceptions for a base name
 * count. */
static bool is_excepted(const struct plan *plan, const struct rule *denied_by, const char *prefix, bool is_directory,
			bool is_strict)
{
	if (denied_by == &rule_state)
		return false;
	for (size_t i = 0; i < plan->except.count; i++) {
		const struct plan_pattern *item = &plan->except.items[i];
		bool reaches = denied_by->layer == LAYER_FLOOR ? item->rule->layer == LAYER_FLOOR
							       : item->rule->layer >= denied_by->layer;
		if (reaches && (!is_strict || item->pattern.is_base_name) &&
		    pattern_covers(&item->pattern, prefix, is_directory, plan_folds_case(plan)))
			return true;
	}
	return false;
}

/* Never on macOS: a profile decides by name, for the whole run. Never where files are not searched:
 * nothing judges them there. */
bool plan_deny_is_conditional(const struct plan *plan, const struct rule *denied_by, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	if (plan->context.os != OS_LINUX || denied_by->layer == LAYER_FLOOR || !grant || grant->kind == GRANT_SYSTEM ||
	    plan_pruned_by(plan, path))
		return false;
	for (size_t i = 0; i < plan->public.count; i++)
		if (plan->public.items[i].rule->layer >= denied_by->layer &&
		    pattern_matches(&plan->public.items[i].pattern, path, false, plan_folds_case(plan)))
			return true;
	return false;
}

const struct plan_judged_file *plan_judged_file(const struct plan *plan, const char *path)
{
	const struct plan_judged *judged = &plan->scan->judged;
	for (size_t i = 0; i < judged->count; i++)
		if (strcmp(judged->items[i].path, path) == 0)
			return &judged->items[i];
	return NULL;
}

/* A match of a pattern with `prefix`, which is `path` or an ancestor of it. */
struct hit {
	const struct plan_pattern *item;
	const char *path, *prefix;
	bool is_directory; /* the prefix */
	bool is_path_directory; /* the path */
};

static bool deny_applies(const struct plan *plan, const struct hit *hit)
{
	return !is_exempt(plan, &hit->item->pattern, hit->prefix) &&
	       !is_excepted(plan, hit->item->rule, hit->prefix, hit->is_directory, false);
}

/* True if the pattern of files.unprotect matches a part of the path: the protected path itself or
 * one below it. A name that is protected further down is another hit, which this opening does not
 * reach. */
static bool opens(const struct plan *plan, const struct plan_pattern *opening, const struct hit *hit)
{
	const struct rule *protected_by = hit->item->rule;
	uninitialised char prefix[PLAN_PATH_BYTES];
	size_t length = strlen(hit->path);

	if (protected_by->layer == LAYER_FLOOR || opening->rule->layer < protected_by->layer || length >= sizeof prefix)
		return false;
	for (size_t at = strlen(hit->prefix); at <= length; at = at < length ? next_end(hit->path, at) : length + 1) {
		memcpy(prefix, hit->path, at);
		prefix[at] = '\0';
		if (pattern_matches(&opening->pattern, prefix, at < length || hit->is_path_directory, plan_folds_case(plan)))
			return true;
	}
	return false;
}

/* Nothing is opened on macOS: the profile's expressions do not exclude a part of a match. */
static bool is_opened(const struct plan *plan, const struct hit *hit)
{
	for (size_t i = 0; plan->context.os != OS_MACOS && i < plan->unprotect.count; i++)
		if (opens(plan, &plan->unprotect.items[i], hit))
			return true;
	return false;
}

/* A write entry that is relative to the project must not lift a protection of an enclosing one: a
 * marker that a command created may have chosen the project. */
bool plan_may_lift(const struct rule *write, const struct rule *protect)
{
	if (protect->layer == LAYER_FLOOR || write->layer < LAYER_USER)
		return false;
	if (protect->layer != LAYER_ENCLOSING || write->layer == LAYER_COMMAND_LINE)
		return true;
	return write->layer == LAYER_USER && strchr("/~$", write->text[0]);
}

/* An entry of files.write lifts the protection of exactly the matched path. Only files.unprotect
 * lifts it inside a protected directory. */
static bool protect_applies(const struct plan *plan, const struct hit *hit)
{
	if (is_exempt(plan, &hit->item->pattern, hit->prefix) || is_opened(plan, hit))
		return false;
	for (size_t i = 0; i < plan->lifted.count; i++)
		if (plan_may_lift(plan->lifted.items[i].rule, hit->item->rule) &&
		    plan_is_same_path(plan, plan->lifted.items[i].pattern.text, hit->prefix))
			return false;
	return true;
}

bool plan_deny_applies(const struct plan *plan, const struct plan_pattern *item, const char *path, bool is_directory)
{
	struct hit hit = { item, path, path, is_directory, is_directory };
	return deny_applies(plan, &hit);
}

bool plan_deny_applies_strictly(const struct plan *plan, const struct plan_pattern *item, const char *path, bool is_directory)
{
	return !is_exempt(plan, &item->pattern, path) && !is_excepted(plan, item->rule, path, is_directory, true);
}

bool plan_protect_applies(const struct plan *plan, const struct plan_pattern *item, const char *path, bool is_directory)
{
	struct hit hit = { item, path, path, is_directory, is_directory };
	return protect_applies(plan, &hit);
}

/* For a path that no mount can name. What lifts a protection, and directories that are not
 * searched, do not count there. */
static bool covers_long(const struct plan *plan, const struct pattern *pattern, const struct hit *hit, size_t length)
{
	autofree char *prefix = strndup(hit->path, length);
	return !prefix || pattern_matches(pattern, prefix, hit->is_directory, plan_folds_case(plan));
}

bool plan_protect_covers(const struct plan *plan, const struct plan_pattern *item, const char *path, size_t length,
			 bool is_directory)
{
	uninitialised char prefix[PLAN_PATH_BYTES];
	struct hit hit = { item, path, prefix, is_directory || path[length], is_directory };
	if (length >= sizeof prefix)
		return covers_long(plan, &item->pattern, &hit, length);
	memcpy(prefix, path, length);
	prefix[length] = '\0';
	return pattern_matches(&item->pattern, prefix, hit.is_directory, plan_folds_case(plan)) && protect_applies(plan, &hit);
}

/* Returns the first rule of the list that matches path or an ancestor of it and applies there, or
 * NULL. */
static const struct rule *find_rule(const struct plan *plan, const struct plan_patterns *patterns, const char *path,
				    bool is_directory, bool (*applies)(const struct plan *plan, const struct hit *hit))
{
	uninitialised char prefix[PLAN_PATH_BYTES];
	size_t length = strlen(path);

	for (size_t i = 0; i < patterns->count; i++) {
		const struct pattern *pattern = &patterns->items[i].pattern;
		size_t at = pattern_covers(pattern, path, is_directory, plan_folds_case(plan));
		for (; at > 0 && at <= length; at = at < length ? next_end(path, at) : length + 1) {
			struct hit hit = { &patterns->items[i], path, prefix, is_directory || at < length, is_directory };
			memcpy(prefix, path, at);
			prefix[at] = '\0';
			if (pattern_matches(pattern, prefix, hit.is_directory, plan_folds_case(plan)) && applies(plan, &hit))
				return patterns->items[i].rule;
		}
	}
	return NULL;
}

const struct rule *plan_denied_by(const struct plan *plan, const char *path, bool is_directory)
{
	if (strlen(path) >= PLAN_PATH_BYTES)
		return &rule_state;
	return find_rule(plan, &plan->deny, path, is_directory, deny_applies);
}

const struct rule *plan_protected_by(const struct plan *plan, const char *path, bool is_directory)
{
	if (strlen(path) >= PLAN_PATH_BYTES)
		return &rule_config;
	return find_rule(plan, &plan->protect, path, is_directory, protect_applies);
}

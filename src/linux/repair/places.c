/* SPDX-License-Identifier: Apache-2.0 */
/* The places in which the host looks for protected names: the project's root, directories that had
 * such a name at launch, and git directories that existed at launch. Elsewhere templates, clones
 * and packages bring these names. A rule that the user wrote counts wherever it matches. */
#include <string.h>

#include "linux/repair/internal.h"

static bool is_same_directory(const char *path, size_t length, const char *directory)
{
	return strncmp(path, directory, length) == 0 && directory[length] == '\0';
}

/* True if a protected path was in this directory at launch. */
static bool held_protected(const struct plan *plan, const char *directory, size_t length)
{
	const struct plan_matches *locked = &plan->scan->locked;
	for (size_t i = 0; i < locked->count; i++) {
		const char *path = locked->items[i].path, *slash = strrchr(path, '/');
		if ((size_t)(slash - path) == length && memcmp(path, directory, length) == 0)
			return true;
	}
	return false;
}

static bool ends_with(const char *path, size_t length, const char *end)
{
	size_t size = strlen(end);
	return length >= size && memcmp(path + length - size, end, size) == 0;
}

/* True if the directory, or the one above `info`, was a git directory at launch. One that was born
 * inside is the sandbox's own. */
static bool is_git_directory(const struct plan *plan, const char *path, size_t length)
{
	const struct plan_git_directories *directories = &plan->scan->git_directories;
	if (ends_with(path, length, "/info"))
		length -= strlen("/info");
	for (size_t i = 0; i < directories->count; i++)
		if (!directories->items[i].is_born && is_same_directory(path, length, directories->items[i].path))
			return true;
	return false;
}

struct place place_of(const struct plan *plan, const char *path, const struct rule *rule)
{
	size_t length = (size_t)(strrchr(path, '/') - path);
	struct place place = { 0 };
	if (!plan_is_writable(plan, path))
		return place;
	place.is_git = is_git_directory(plan, path, length);
	place.is_place = place.is_git || rule->layer >= LAYER_USER || is_same_directory(path, length, plan->context.project) ||
			 held_protected(plan, path, length);
	return place;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the package manager that the user's shell would run. PATH gives the order only: the program
 * and the directory in which it was found must belong to root, with all directories above, or be in
 * a toolchain directory of the default policy, which commands can read but not write. */
#include "common/detect/detect.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/context/programs.h"
#include "common/policy/builtin.h"
#include "common/policy/policy.h"

/* True if root owns the path and everything above it, and no other user can write there. */
static bool is_roots(struct arena *arena, const char *canonical)
{
	for (const char *at = canonical;; at = path_parent(arena, at)) {
		struct stat info;
		if (lstat(at, &info) < 0 || S_ISLNK(info.st_mode) || !program_is_roots(&info) ||
		    (info.st_mode & (S_IWGRP | S_IWOTH)))
			return false;
		if (strcmp(at, "/") == 0)
			return true;
	}
}

static bool is_toolchain(struct arena *arena, const struct context *context, const char *canonical)
{
	struct diagnostics diagnostics = { .arena = arena };
	struct policy policy = { 0 };
	struct builtin builtin;

	if (!builtin_find("default", &builtin) ||
	    policy_parse(arena, builtin.name, LAYER_BASE, builtin.text, builtin.length, &policy, &diagnostics) < 0)
		return false;
	for (size_t i = 0; i < policy.files.system.count; i++) {
		const char *text = policy.files.system.items[i].text, *directory;
		struct error ignored;
		if (!text_starts_with(text, "~/"))
			continue;
		text = path_join(arena, context->home, text + 2);
		if (path_resolve(context->fs, arena, text, &directory, NULL, NULL, &ignored) == 0 &&
		    path_is_within(canonical, directory))
			return true;
	}
	return false;
}

static bool is_vouched(struct arena *arena, const struct context *context, const char *canonical)
{
	if (path_is_within(canonical, context->project) || context_is_enclosed(context, canonical))
		return false;
	return is_roots(arena, canonical) || is_toolchain(arena, context, canonical);
}

const char *detect_client(struct arena *arena, const struct context *context, const char *name)
{
	const char *at = NULL;

	for (char *const *entry = context->environment; entry && *entry; entry++)
		if (text_starts_with(*entry, "PATH="))
			at = *entry + strlen("PATH=");
	while (at && *at) {
		size_t length = strcspn(at, ":");
		const char *entry = arena_copy_n(arena, at, length), *directory, *path, *canonical;
		struct file_info info;
		struct error ignored;
		at += length + (at[length] == ':');
		if (entry[0] != '/' ||
		    path_resolve(context->fs, arena, path_absolute(arena, "/", entry), &directory, NULL, NULL, &ignored) < 0)
			continue;
		path = path_join(arena, directory, name);
		if (path_resolve(context->fs, arena, path, &canonical, NULL, &info, &ignored) < 0 ||
		    info.type != FILE_REGULAR || access(canonical, X_OK) < 0)
			continue;
		if (is_vouched(arena, context, directory) && is_vouched(arena, context, canonical))
			return path;
	}
	return NULL;
}

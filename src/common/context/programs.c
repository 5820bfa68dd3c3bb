/* SPDX-License-Identifier: Apache-2.0 */
/* Inspects files and never runs one. */
#include "common/context/programs.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/context/inside.h"
#include "common/fs/filesystem.h"
#include "common/base/text.h"

const struct program_place program_places[] = {
	{ "/bin", false },
	{ "/usr/bin", false },
	{ "/usr/local/bin", false },
	{ "/run/current-system/sw/bin", false },
	{ "/nix/var/nix/profiles/default/bin", false },
	{ "/home/linuxbrew/.linuxbrew/bin", true },
	{ "/opt/homebrew/bin", true },
	{ NULL, false },
};

const char *const program_shells[] = { "bash", "zsh", "sh", "dash", "fish", NULL };

const char *program_shell_name(const char *base_name)
{
	base_name += base_name[0] == '-';
	for (size_t i = 0; program_shells[i]; i++)
		if (strcmp(base_name, program_shells[i]) == 0)
			return program_shells[i];
	return NULL;
}

bool program_is_roots(const struct stat *info)
{
	struct stat root;
	return stat("/", &root) == 0 && info->st_uid == root.st_uid;
}

/* True if root owns the file, or the user where that is usual, and no other user can write it.
 * Inside a sandbox the owner does not matter. */
static bool is_sound(const struct stat *info, const struct program_place *place)
{
	bool is_owner_known = program_is_roots(info) || (place->is_users && info->st_uid == getuid()) || inside_sandbox();
	return is_owner_known && !(info->st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_berm(const struct stat *info)
{
	struct stat own;
	return stat("/proc/self/exe", &own) == 0 && own.st_dev == info->st_dev && own.st_ino == info->st_ino;
}

static bool is_usable(struct arena *arena, const struct program_place *place, const char *path)
{
	struct stat directory, file, parent;
	struct error ignored;
	const char *canonical;

	if (stat(place->directory, &directory) < 0 || !is_sound(&directory, place) || stat(path, &file) < 0)
		return false;
	if (!S_ISREG(file.st_mode) || !is_sound(&file, place) || is_berm(&file) || access(path, X_OK) < 0)
		return false;
	return path_resolve(filesystem_host(), arena, path, &canonical, NULL, NULL, &ignored) == 0 &&
	       stat(path_parent(arena, canonical), &parent) == 0 && is_sound(&parent, place);
}

const char *program_find(struct arena *arena, const char *name, struct error *err)
{
	struct text places = { 0 };
	for (const struct program_place *place = program_places; place->directory; place++) {
		const char *path = path_join(arena, place->directory, name);
		if (is_usable(arena, place, path)) {
			text_free(&places);
			return path;
		}
		text_add(&places, "%s%s", places.length > 0 ? ", " : "", place->directory);
	}
	error_set(err, "%s is not installed in a directory that berm searches", name);
	error_hint(err, "searched, if root owns it and no other user can write it: %s", places.data);
	text_free(&places);
	return NULL;
}

char **program_command(struct arena *arena, const char *shell, bool is_login, int count, char **arguments)
{
	char **command = arena_alloc(arena, ((size_t)count + 3) * sizeof *command);
	size_t used = 0;
	command[used++] = arena_copy(arena, shell);
	if (is_login)
		command[used++] = arena_copy(arena, "-l");
	if (count > 0)
		memcpy(command + used, arguments, (size_t)count * sizeof *command);
	return command;
}

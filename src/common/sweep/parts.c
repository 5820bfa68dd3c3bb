/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of one git directory that git obeys. In a directory of the host every part that is new
 * is judged; in one that was made inside, only what executes. */
#include "common/sweep/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/fs/posix.h"

static const char hook_reason[] = "git would run this hook, which was not there at launch";

/* What git obeys. Where it was there at launch, it was read-only or the user lets commands write
 * it. */
static const char *const obeyed[] = { "hooks", "config", "config.worktree", "commondir", "info", "info/attributes" };
static const char *const configurations[] = { "config", "config.worktree" };

static enum file_type type_of(const char *path)
{
	struct stat info;
	return lstat(path, &info) < 0 ? FILE_ABSENT : filesystem_type_of_mode(info.st_mode);
}

/* The type of a part; without a system call if the search has found that there is none. */
static enum file_type type_of_part(struct arena *arena, const struct plan_git_seen *seen, const char *git_directory,
				   const char *part)
{
	return scan_git_lacks(seen, git_directory, part) ? FILE_ABSENT : type_of(path_join(arena, git_directory, part));
}

static bool was_there(struct look *look, const char *path)
{
	return facts_was_present(look->arena, look->baseline, path);
}

/* Judges something that git never makes there. */
static void look_at_part(struct look *look, const char *path, const char *reason)
{
	const struct sweep_question question = { .kind = SWEEP_GIT_PART, .was_there = was_there(look, path) };
	if (sweep_judge(&question) == SWEEP_QUARANTINE)
		act_move(look, path, reason);
}

/* Returns a hash of the file and its mode; "" if it is too large or no regular file. */
static const char *hash_of(struct arena *arena, const char *path)
{
	char hex[SHA256_HEX + 1], *text;
	struct sha256 sum;
	struct stat info;
	size_t length;
	if (lstat(path, &info) < 0 || act_read(arena, path, &text, &length) != 0)
		return "";
	sha256_start(&sum);
	sha256_add(&sum, text, length);
	sha256_finish_hex(&sum, hex);
	return arena_printf(arena, "%s %o", hex, (unsigned)(info.st_mode & 07777));
}

struct hooks {
	const char **items;
	size_t count;
};

/* Lists the hooks that are no samples. */
static struct hooks list_hooks(struct arena *arena, const char *directory)
{
	autoclosedir DIR *stream = NULL;
	struct hooks hooks = { 0 };
	const struct dirent *entry;
	autoclose int parent = quarantine_open_parent(directory);
	int fd = parent < 0 ? -1 : openat(parent, path_base_name(directory), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && !(stream = fdopendir(fd)))
		close(fd);
	while (stream && (entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !text_ends_with(entry->d_name, ".sample"))
			*(const char **)arena_push(arena, &hooks) = path_join(arena, directory, entry->d_name);
	return hooks;
}

static bool is_new_hook(struct look *look, const char *path)
{
	const char *hash = hash_of(look->arena, path);
	return !*hash || !facts_have(look->arena, look->baseline, FACT_HOOK, path, hash);
}

static void look_at_hooks(struct look *look, const char *git_directory)
{
	const char *directory = path_join(look->arena, git_directory, "hooks");
	struct hooks hooks = { 0 };
	/* Of the host: it was read-only. */
	if (!was_there(look, directory))
		hooks = list_hooks(look->arena, directory);
	for (size_t i = 0; i < hooks.count; i++) {
		const struct sweep_question question = { .kind = SWEEP_GIT_HOOK,
							 .was_there = !is_new_hook(look, hooks.items[i]) };
		if (sweep_judge(&question) == SWEEP_QUARANTINE)
			act_move(look, hooks.items[i], hook_reason);
	}
}

/* Files of git's oldest remotes: `git push` and `git fetch` without arguments use one for a remote
 * that the configuration does not have. git never makes one. Nothing is noted at launch: what was
 * there then has not changed since, and neither has its directory. */
static void look_at_remotes(struct look *look, const char *git_directory)
{
	static const char *const places[] = { "remotes", "branches" };
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		const char *directory = path_join(look->arena, git_directory, places[i]);
		struct hooks files = { 0 };
		bool is_changed;
		if (scan_git_lacks(&look->found.git_seen, git_directory, places[i]) ||
		    scan_git_is_empty(&look->found.git_seen, directory))
			continue;
		is_changed = look_is_of_run(look, directory);
		if (type_of(directory) == FILE_DIRECTORY)
			files = list_hooks(look->arena, directory);
		for (size_t k = 0; k < files.count; k++)
			if ((is_changed || look_is_of_run(look, files.items[k])) && !was_there(look, files.items[k]))
				act_move(look, files.items[k], "git would take the address of a remote from it");
	}
}

static bool is_linked_worktree(struct arena *arena, const char *git_directory)
{
	return strcmp(path_base_name(path_parent(arena, git_directory)), "worktrees") == 0;
}

/* True if the directory has a configuration that executes, or a hook. */
static bool is_armed(struct look *look, const char *git_directory)
{
	const char *first;
	bool is_hopeless = false;
	for (size_t i = 0; i < sizeof configurations / sizeof configurations[0]; i++) {
		const char *path = path_join(look->arena, git_directory, configurations[i]);
		char *text;
		size_t length;
		int status = act_read(look->arena, path, &text, &length);
		if (status < 0 ||
		    (status == 0 &&
		     (config_edit(look->arena, path, text, length, look->baseline, &is_hopeless, &first) || is_hopeless)))
			return true;
	}
	return type_of(path_join(look->arena, git_directory, "commondir")) != FILE_ABSENT ||
	       list_hooks(look->arena, path_join(look->arena, git_directory, "hooks")).count > 0;
}

/* A directory of any name is a repository because of its HEAD. The other files in it may be the
 * user's, who never meant a repository: only HEAD is moved. */
static bool look_at_disguise(struct look *look, const struct look_directory *directory)
{
	const char *path = directory->git.path;
	if (!directory->is_new || directory->git.kind != GIT_BARE || strcmp(path_base_name(path), ".git") == 0)
		return false;
	if (is_armed(look, path))
		act_move(look, path_join(look->arena, path, "HEAD"),
			 "with it git takes its directory for a repository, whose configuration or hooks run programs");
	return true;
}

void parts_look(struct look *look, const struct look_directory *directory)
{
	const struct plan_git_seen *seen = &look->found.git_seen;
	const char *path = directory->git.path;

	if (look_at_disguise(look, directory))
		return;
	if (!is_linked_worktree(look->arena, path) && type_of_part(look->arena, seen, path, "commondir") != FILE_ABSENT)
		look_at_part(look, path_join(look->arena, path, "commondir"),
			     "git would read the configuration of another repository through it");
	for (size_t i = 0; i < sizeof configurations / sizeof configurations[0]; i++)
		if (!scan_git_lacks(seen, path, configurations[i]))
			config_look(look, path_join(look->arena, path, configurations[i]), directory->is_born);
	look_at_hooks(look, path);
	if (!directory->is_born && type_of_part(look->arena, seen, path, "info/attributes") != FILE_ABSENT)
		look_at_part(look, path_join(look->arena, path, "info/attributes"),
			     "git would choose filters and diff programs by it");
	if (!directory->is_born)
		look_at_remotes(look, path);
	todo_look(look, path);
	operations_look(look, path);
}

/* Of a directory that was made inside, and stays writable: the content. */
static void note_born(struct arena *arena, struct sweep_facts *facts, const char *path)
{
	const char *commondir = path_join(arena, path, "commondir");
	struct hooks hooks = list_hooks(arena, path_join(arena, path, "hooks"));
	for (size_t i = 0; i < sizeof configurations / sizeof configurations[0]; i++)
		config_note(arena, facts, path_join(arena, path, configurations[i]));
	for (size_t i = 0; i < hooks.count; i++)
		facts_add(arena, facts, FACT_HOOK, hooks.items[i], hash_of(arena, hooks.items[i]));
	if (type_of(commondir) != FILE_ABSENT)
		facts_add(arena, facts, FACT_PRESENT, commondir, NULL);
}

void parts_note(const struct plan *plan, struct sweep_facts *facts, const char *path, bool is_born)
{
	const struct plan_git_seen *seen = &plan->scan->git_seen;
	struct arena *arena = plan->arena;
	if (is_born) {
		note_born(arena, facts, path);
		return;
	}
	for (size_t i = 0; i < sizeof obeyed / sizeof obeyed[0]; i++) {
		/* That of a worktree is writable, and judged by its text. */
		if (strcmp(obeyed[i], "commondir") == 0 && is_linked_worktree(arena, path))
			continue;
		if (scan_git_has(seen, path, obeyed[i]) || type_of_part(arena, seen, path, obeyed[i]) != FILE_ABSENT)
			facts_add(arena, facts, FACT_PRESENT, path_join(arena, path, obeyed[i]), NULL);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Detects the user, the directories and the system. The home comes from the password database,
 * never from $HOME. A directory that would weaken the sandbox if it were writable is refused as a
 * project. */
#include "common/context/context.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include "common/base/cleanup.h"
#include "common/base/text.h"
#include "common/context/name_service.h"
#include "common/policy/file.h"

extern char **environ;

enum { PATH_BYTES = 4096, PASSWORD_BYTES = 16384 };

/* A directory of the system that must not be writable. */
struct system_directory {
	const char *path;
	bool is_whole; /* nor anything below it */
};

const char *const tier_names[] = { [TIER_FULL] = "full", [TIER_LANDLOCK] = "landlock" };

static const struct system_directory system_directories[] = {
	{ "/", false },
	{ "/bin", true },
	{ "/boot", true },
	{ "/dev", true },
	{ "/efi", true },
	{ "/etc", true },
	{ "/gnu", true },
	{ "/home", false },
	{ "/lib", true },
	{ "/lib32", true },
	{ "/lib64", true },
	{ "/libx32", true },
	{ "/lost+found", true },
	{ "/media", false },
	{ "/mnt", false },
	{ "/nix", true },
	{ "/opt", false },
	{ "/proc", true },
	{ "/root", false },
	{ "/run", true },
	{ "/sbin", true },
	{ "/snap", true },
	{ "/srv", false },
	{ "/sys", true },
	{ "/tmp", false },
	{ "/usr", true },
	{ "/var", false },
	{ "/var/cache", false },
	{ "/var/db", false },
	{ "/var/lib", false },
	{ "/var/log", false },
	{ "/var/spool", true },
	{ "/var/tmp", false },
	/* macOS */
	{ "/Applications", true },
	{ "/Library", true },
	{ "/Network", true },
	{ "/System", true },
	{ "/Users", false },
	{ "/Volumes", false },
	{ "/cores", true },
	{ "/private", false },
	{ "/private/etc", true },
	{ "/private/tmp", false },
	{ "/private/var", false },
	{ "/private/var/db", true },
	{ "/private/var/folders", false },
	{ "/private/var/root", false },
	{ "/private/var/run", true },
	{ "/private/var/tmp", false },
};

/* Directories inside those where users keep files: sources, and disks that the desktop mounts. */
static const char *const system_exceptions[] = { "/usr/src", "/usr/local/src", "/run/media" };

const char *context_system_directory(const char *path)
{
	for (size_t i = 0; i < sizeof system_exceptions / sizeof system_exceptions[0]; i++)
		if (path_is_within(path, system_exceptions[i]) && strcmp(path, system_exceptions[i]) != 0)
			return NULL;
	for (size_t i = 0; i < sizeof system_directories / sizeof system_directories[0]; i++) {
		const struct system_directory *directory = &system_directories[i];
		if (strcmp(path, directory->path) == 0 || (directory->is_whole && path_is_within(path, directory->path)))
			return directory->path;
	}
	return NULL;
}

/* A shim takes no options: its host chooses the directory. */
static int unfit(const struct context *context, struct error *err, const char *project, const char *why)
{
	error_set(err, "%s cannot be the project: %s", project, why);
	error_hint(err, "the command can write to everything in the project");
	return error_hint(err, context->is_narrowing ? "start this from the directory you work in"
						     : "change to the directory you work in, or name it: --project=DIR");
}

int context_judge_project(const struct context *context, const char *project, struct error *err)
{
	if (strcmp(project, context->home) == 0)
		return unfit(context, err, project, "it is your home");
	if (path_is_within(context->home, project))
		return unfit(context, err, project, "it contains your home");
	if (context_system_directory(project))
		return unfit(context, err, project, "it is a system directory");
	if (path_is_within(project, context->state_directory) || path_is_within(context->state_directory, project))
		return unfit(context, err, project, "it contains or is inside berm's state directory");
	if (path_is_within(project, context->config_directory) || path_is_within(context->config_directory, project))
		return unfit(context, err, project, "it contains or is inside the directory of your berm policy");
	return 0;
}

#if defined(BERM_STATIC) && defined(__GLIBC__)
/* A static glibc program cannot load name service modules and reads /etc/passwd only. musl never
 * loads any; for users that are not in the file it asks nscd, if that runs. getent knows the
 * rest. */
static int find_user(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **found)
{
	autofclose FILE *file = fopen("/etc/passwd", "re");
	(void)entry;
	(void)buffer;
	(void)size;
	if (!file)
		return errno;
	while ((*found = fgetpwent(file)))
		if ((*found)->pw_uid == uid)
			return 0;
	return 0;
}
#else
static int find_user(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **found)
{
	return getpwuid_r(uid, entry, buffer, size, found);
}
#endif

/* Finds the user's name and home: in the process first, then by getent. */
static int look_up_user(struct arena *arena, uid_t uid, struct name_service_user *user, struct error *err)
{
	struct passwd entry, *found = NULL;
	autofree char *buffer = malloc(PASSWORD_BYTES);
	int number;

	if (!buffer)
		arena_out_of_memory();
	number = find_user(uid, &entry, buffer, PASSWORD_BYTES, &found);
	if (found) {
		user->name = arena_copy(arena, found->pw_name);
		user->home = found->pw_dir ? arena_copy(arena, found->pw_dir) : "";
		return 0;
	}
	if (name_service_find(arena, uid, user))
		return 0;
	if (number)
		error_errno(err, number, "cannot look up user %ld", (long)uid);
	else
		error_set(err, "user %ld has no entry in the password database", (long)uid);
	return error_hint(err, "berm reads your home from there, because any program can set $HOME");
}

static int detect_user(struct arena *arena, struct context *context, struct error *err)
{
	struct name_service_user user = { 0 };

	context->uid = getuid();
	context->gid = getgid();
	if (context->uid != geteuid() || context->gid != getegid())
		return error_set(err, "berm must not be installed setuid or setgid");
	if (look_up_user(arena, context->uid, &user, err) < 0)
		return -1;
	if (user.home[0] != '/')
		return error_set(err, "the home of %s in the password database is not an absolute path", user.name);
	context->user = user.name;
	return path_resolve(context->fs, arena, path_absolute(arena, "/", user.home), &context->home, NULL, NULL, err);
}

/* Uses the variable if it is absolute, else a directory below the home. The specification ignores
 * relative values. */
static int detect_config(struct arena *arena, struct context *context, struct error *err)
{
	const char *value = context->is_narrowing ? NULL : getenv("XDG_CONFIG_HOME");
	const char *base = value && value[0] == '/' ? value : path_join(arena, context->home, ".config");
	return path_resolve(context->fs, arena, path_absolute(arena, "/", path_join(arena, base, "berm")),
			    &context->config_directory, NULL, NULL, err);
}

/* Does not resolve the last component: state.c refuses a symlink there, which the user did not
 * create. Links in its ancestors and in the whole path of the configuration are accepted, because
 * dotfiles are often linked. */
static int detect_state(struct arena *arena, struct context *context, struct error *err)
{
	const char *value = context->is_narrowing ? NULL : getenv("XDG_STATE_HOME");
	const char *base = value && value[0] == '/' ? value : path_join(arena, context->home, ".local/state");
	if (path_resolve(context->fs, arena, path_absolute(arena, "/", base), &base, NULL, NULL, err) < 0)
		return -1;
	context->state_directory = path_join(arena, base, "berm");
	return 0;
}

static int detect_working_directory(struct arena *arena, struct context *context, struct error *err)
{
	char buffer[PATH_BYTES] = "";
	if (!getcwd(buffer, sizeof buffer) || buffer[0] != '/') {
		error_errno(err, buffer[0] == '(' ? ENOENT : errno, "cannot determine the current directory");
		return error_hint(err, "it may have been removed: change to one that exists");
	}
	return path_resolve(context->fs, arena, buffer, &context->working_directory, NULL, NULL, err);
}

/* True, with the owner, if a directory has this entry. */
static bool has_entry(struct arena *arena, const struct context *context, const char *directory, const char *name, uid_t *owner)
{
	struct file_info info;
	if (context->fs->inspect(context->fs, path_join(arena, directory, name), &info) < 0 || info.type == FILE_ABSENT)
		return false;
	*owner = info.uid;
	return true;
}

/* True if a directory has a marker of a project. A marker of another user counts only in the
 * working directory itself: it must not make a shared parent (/tmp, /srv) the project. */
static bool has_marker(struct arena *arena, const struct context *context, const char *directory)
{
	static const char *const markers[] = { POLICY_FILE_NAME, ".git" };
	for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
		uid_t owner;
		if (has_entry(arena, context, directory, markers[i], &owner) &&
		    (owner == context->uid || strcmp(directory, context->working_directory) == 0))
			return true;
	}
	return false;
}

/* Skips ancestors that cannot be a project, such as a home with a dotfile repository; that grants
 * less. */
const char *context_find_project(struct arena *arena, const struct context *context)
{
	struct error ignored;
	const char *directory = context->working_directory;
	while (strcmp(directory, "/") != 0) {
		if (has_marker(arena, context, directory) && context_judge_project(context, directory, &ignored) == 0)
			return directory;
		directory = path_parent(arena, directory);
	}
	return context->working_directory;
}

static void add_enclosing(struct arena *arena, struct context *context, const char *directory, bool has_policy,
			  const char *skipped)
{
	*arena_push(arena, &context->enclosing) =
		(struct enclosing_project){ .path = directory, .has_policy = has_policy, .skipped = skipped };
}

static bool is_listed(const char *const *paths, const char *path)
{
	for (; paths && *paths; paths++)
		if (strcmp(*paths, path) == 0)
			return true;
	return false;
}

/* Adds the directory if it is one of the workspaces or has a marker. A marker of another user is
 * skipped, so that nothing in a shared parent narrows or refuses the runs of this user. */
static void judge_enclosing(struct arena *arena, struct context *context, const char *directory, const char *const *workspaces)
{
	uid_t policy_owner = context->uid, git_owner = context->uid;
	bool has_policy = has_entry(arena, context, directory, POLICY_FILE_NAME, &policy_owner);
	bool has_git = has_entry(arena, context, directory, ".git", &git_owner);
	bool is_foreign = policy_owner != context->uid && policy_owner != 0;

	if (!has_policy && !has_git && !is_listed(workspaces, directory))
		return;
	if (path_is_within(context->home, directory)) {
		add_enclosing(arena, context, directory, false,
			      strcmp(directory, context->home) == 0 ? "it is your home" : "it contains your home");
		return;
	}
	if ((has_policy && policy_owner == context->uid) || (has_git && git_owner == context->uid) ||
	    is_listed(workspaces, directory)) {
		add_enclosing(arena, context, directory, has_policy && !is_foreign, NULL);
		if (is_foreign)
			add_enclosing(arena, context, directory, false, POLICY_FILE_NAME " there belongs to another user");
		return;
	}
	add_enclosing(arena, context, directory, false, "it belongs to another user");
}

/* Skips the innermost ones: a command could have created those, to push the outer ones over the
 * limit. */
static void limit_enclosing(struct context *context, const char *const *workspaces)
{
	size_t count = 0;
	for (size_t i = context->enclosing.count; i-- > 0;) {
		struct enclosing_project *item = &context->enclosing.items[i];
		if (!item->skipped && ++count > ENCLOSING_MAX && !is_listed(workspaces, item->path))
			item->skipped = "more than 16 projects enclose this one";
	}
}

void context_find_enclosing(struct arena *arena, struct context *context, const char *const *workspaces)
{
	const char *directory = context->project;
	context->enclosing = (struct enclosing_projects){ 0 };
	while (!path_is_within(context->home, directory)) {
		directory = path_parent(arena, directory);
		if (strcmp(directory, "/") == 0)
			break;
		judge_enclosing(arena, context, directory, workspaces);
	}
	limit_enclosing(context, workspaces);
}

bool context_is_enclosed(const struct context *context, const char *path)
{
	for (size_t i = 0; i < context->enclosing.count; i++)
		if (!context->enclosing.items[i].skipped && path_is_within(path, context->enclosing.items[i].path))
			return true;
	return false;
}

const char *const context_workspace_variables[] = { "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR", NULL };
enum { WORKSPACES_MAX = sizeof context_workspace_variables / sizeof context_workspace_variables[0] };

/* Limits the project to the workspace of the agent or editor, so that a command cannot get another
 * directory by making its host change there. Takes the deeper of the two: the variable, which other
 * programs may have set, never makes more writable than the working directory does. *workspace is
 * the variable's value, and afterwards its canonical path. */
static int pin_project(struct arena *arena, struct context *context, const char *variable, const char **workspace,
		       struct error *err)
{
	const char *value = *workspace;
	struct file_info info;

	if (path_resolve(context->fs, arena, path_absolute(arena, "/", value), workspace, NULL, &info, err) < 0)
		return -1;
	if (info.type == FILE_DIRECTORY && path_is_within(context->project, *workspace))
		return 0;
	if (info.type == FILE_DIRECTORY && path_is_within(context->working_directory, *workspace)) {
		context->project = *workspace;
		return 0;
	}
	error_set(err, "%s is outside the workspace in %s: %s", context->working_directory, variable, value);
	return error_hint(err, "change to the workspace, or open this directory as one");
}

static int find_pinned_project(struct arena *arena, struct context *context, struct error *err)
{
	const char *workspaces[WORKSPACES_MAX] = { 0 };
	size_t count = 0;

	context->project = context_find_project(arena, context);
	for (size_t i = 0; context->is_narrowing && context_workspace_variables[i]; i++) {
		const char *value = getenv(context_workspace_variables[i]);
		if (!value || !value[0])
			continue;
		workspaces[count] = value;
		if (pin_project(arena, context, context_workspace_variables[i], &workspaces[count++], err) < 0)
			return -1;
	}
	context_find_enclosing(arena, context, workspaces);
	return context_judge_project(context, context->project, err);
}

static int detect_project(struct arena *arena, const struct context_request *request, struct context *context,
			  struct error *err)
{
	struct file_info info;
	const char *asked;

	if (!request->project)
		return find_pinned_project(arena, context, err);
	asked = path_absolute(arena, context->working_directory, request->project);
	if (path_resolve(context->fs, arena, asked, &context->project, NULL, &info, err) < 0)
		return -1;
	if (info.type != FILE_DIRECTORY)
		return error_errno(err, info.type == FILE_ABSENT ? ENOENT : ENOTDIR, "--project=%s", request->project);
	context_find_enclosing(arena, context, NULL);
	return context_judge_project(context, context->project, err);
}

static void detect_executable(struct arena *arena, struct context *context)
{
	char buffer[PATH_BYTES];
#if defined(__linux__)
	ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer - 1);
	if (length > 0 && (size_t)length < sizeof buffer - 1)
		context->executable = arena_copy_n(arena, buffer, (size_t)length);
#elif defined(__APPLE__)
	uint32_t size = sizeof buffer;
	struct error ignored;
	if (_NSGetExecutablePath(buffer, &size) == 0)
		path_resolve(context->fs, arena, path_absolute(arena, context->working_directory, buffer), &context->executable,
			     NULL, NULL, &ignored);
#else
	(void)arena;
	(void)context;
	(void)buffer;
#endif
}

bool context_has_terminal(void)
{
	return isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) || isatty(STDERR_FILENO);
}

const char *context_variable(const struct context *context, const char *name)
{
	size_t length = strlen(name);
	for (char *const *entry = context->environment; *entry; entry++)
		if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
			return *entry + length + 1;
	return NULL;
}

int context_detect(struct arena *arena, const struct context_request *request, struct context *context, struct error *err)
{
	*context = (struct context){ .fs = request->fs ? request->fs : filesystem_host(),
				     .environment = environ,
				     .has_terminal = context_has_terminal(),
				     .is_narrowing = request->is_narrowing,
				     .agent = request->agent };
#ifdef __APPLE__
	context->os = OS_MACOS;
#else
	context->os = OS_LINUX;
#endif
	if (detect_user(arena, context, err) < 0 || detect_working_directory(arena, context, err) < 0)
		return -1;
	if (detect_config(arena, context, err) < 0 || detect_state(arena, context, err) < 0)
		return -1;
	detect_executable(arena, context);
	return request->has_no_project ? 0 : detect_project(arena, request, context, err);
}

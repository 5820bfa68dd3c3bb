/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs, where and on what. The home comes from the password database and never from $HOME; a directory whose being writable
 * would undo the wall is refused as a project. */
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

extern char **environ;

enum { PATH_BYTES = 4096, PASSWORD_BYTES = 16384 };

/* Directories of the system, per what lies below them: nothing below is fit to be written, or only they themselves are not. */
struct system_directory {
	const char *path;
	bool is_whole; /* everything below as well */
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

/* Where people do keep their own trees inside those: sources, and disks that the desktop mounts. */
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

static int unfit(struct error *err, const char *project, const char *why)
{
	error_set(err, "%s cannot be the project: %s", project, why);
	error_hint(err, "everything in the project is writable for the command");
	return error_hint(err, "go into the directory you work on, or name it: --project=DIR");
}

int context_judge_project(const struct context *context, const char *project, struct error *err)
{
	if (strcmp(project, context->home) == 0)
		return unfit(err, project, "it is your home");
	if (path_is_within(context->home, project))
		return unfit(err, project, "your home lies in it");
	if (context_system_directory(project))
		return unfit(err, project, "it is a directory of the system");
	if (path_is_within(project, context->state_directory) || path_is_within(context->state_directory, project))
		return unfit(err, project, "berm keeps its own state there");
	if (path_is_within(project, context->config_directory) || path_is_within(context->config_directory, project))
		return unfit(err, project, "your own policy for berm lies there");
	return 0;
}

#if defined(BERM_STATIC) && defined(__GLIBC__)
/* A static program cannot load the name service's modules: what /etc/passwd says is all there is. (musl never loads any; it asks nscd,
 * where that runs, about whom the file does not know.) */
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

static int detect_user(struct arena *arena, struct context *context, struct error *err)
{
	struct passwd entry, *found = NULL;
	autofree char *buffer = malloc(PASSWORD_BYTES);
	int number;

	context->uid = getuid();
	context->gid = getgid();
	if (context->uid != geteuid() || context->gid != getegid())
		return error_set(err, "berm is not meant to be installed setuid or setgid");
	if (!buffer)
		arena_out_of_memory();
	number = find_user(context->uid, &entry, buffer, PASSWORD_BYTES, &found);
	if (!found) {
		if (number)
			error_errno(err, number, "cannot look up user %ld", (long)context->uid);
		else
			error_set(err, "user %ld has no entry in the password database", (long)context->uid);
#ifdef BERM_STATIC
		error_hint(
			err,
			"this is the static build, which reads /etc/passwd only: users from LDAP or sssd need the dynamic one");
#endif
		return error_hint(err, "berm takes your home from there, because $HOME can be set by anyone");
	}
	if (!found->pw_dir || found->pw_dir[0] != '/')
		return error_set(err, "the home of %s in the password database is not an absolute path", found->pw_name);
	context->user = arena_copy(arena, found->pw_name);
	return path_resolve(context->fs, arena, path_absolute(arena, "/", found->pw_dir), &context->home, NULL, NULL, err);
}

/* The variable if it is absolute (the specification ignores others), else below the home. */
static int detect_config(struct arena *arena, struct context *context, struct error *err)
{
	const char *value = context->is_narrowing ? NULL : getenv("XDG_CONFIG_HOME");
	const char *base = value && value[0] == '/' ? value : path_join(arena, context->home, ".config");
	return path_resolve(context->fs, arena, path_absolute(arena, "/", path_join(arena, base, "berm")),
			    &context->config_directory, NULL, NULL, err);
}

/* The state directory's own name is not resolved: a symlink in its place is somebody's doing and is refused by state.c. Its
 * ancestors are the user's business, and so is the whole path to the configuration (dotfiles are often linked). */
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
		error_errno(err, buffer[0] == '(' ? ENOENT : errno, "cannot tell the current directory");
		return error_hint(err, "it may have been removed: cd into one that exists");
	}
	return path_resolve(context->fs, arena, buffer, &context->working_directory, NULL, NULL, err);
}

/* A berm.yml or .git that somebody else put into a shared parent (/tmp, /srv) does not make that parent the project. */
static bool has_marker(struct arena *arena, const struct context *context, const char *directory)
{
	static const char *const markers[] = { "berm.yml", ".git" };
	for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
		struct file_info info;
		const char *path = path_join(arena, directory, markers[i]);
		if (context->fs->inspect(context->fs, path, &info) < 0 || info.type == FILE_ABSENT)
			continue;
		if (info.uid == context->uid || strcmp(directory, context->working_directory) == 0)
			return true;
	}
	return false;
}

/* Ancestors that could not be a project (the home with a dotfile repository in it) are passed over: less is granted then. */
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

const char *const context_workspace_variables[] = { "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR", NULL };

/* The host's workspace pins the project: a command that made its host change into another directory does not get that one. The
 * deeper of the two is taken, so that the variable, which somebody else may have set, never makes more writable than the working
 * directory does. */
static int pin_project(struct arena *arena, struct context *context, const char *variable, const char *value, struct error *err)
{
	struct file_info info;
	const char *workspace;

	if (path_resolve(context->fs, arena, path_absolute(arena, "/", value), &workspace, NULL, &info, err) < 0)
		return -1;
	if (info.type == FILE_DIRECTORY && path_is_within(context->project, workspace))
		return 0;
	if (info.type == FILE_DIRECTORY && path_is_within(context->working_directory, workspace)) {
		context->project = workspace;
		return 0;
	}
	error_set(err, "%s is outside of the workspace that %s names: %s", context->working_directory, variable, value);
	return error_hint(err, "cd into the workspace, or open this directory as one");
}

static int find_pinned_project(struct arena *arena, struct context *context, struct error *err)
{
	context->project = context_find_project(arena, context);
	for (size_t i = 0; context->is_narrowing && context_workspace_variables[i]; i++) {
		const char *value = getenv(context_workspace_variables[i]);
		if (value && value[0] && pin_project(arena, context, context_workspace_variables[i], value, err) < 0)
			return -1;
	}
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

int context_detect(struct arena *arena, const struct context_request *request, struct context *context, struct error *err)
{
	*context = (struct context){ .fs = request->fs ? request->fs : filesystem_host(),
				     .environment = environ,
				     .is_narrowing = request->is_narrowing };
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

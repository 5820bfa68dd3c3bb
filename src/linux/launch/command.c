/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command in the sandbox's PATH. Never uses the caller's PATH to run anything. */
#include "linux/launch/command.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *variable(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->environment.count; i++)
		if (strcmp(plan->environment.items[i].name, name) == 0)
			return plan->environment.items[i].value;
	return NULL;
}

static size_t count_words(char *const *argv)
{
	size_t count = 0;
	while (argv[count])
		count++;
	return count;
}

/* Returns the paths at which a command of this name may be, for a PATH. */
static char **list_paths(struct arena *arena, const char *name, const char *path)
{
	size_t capacity = 2, count = 0;
	char **paths;
	for (const char *c = path; *c; c++)
		capacity += *c == ':';
	paths = arena_alloc(arena, (capacity + 1) * sizeof *paths);
	if (strchr(name, '/') || name[0] == '\0') {
		paths[count] = arena_copy(arena, name);
		return paths;
	}
	for (;;) {
		size_t length = strcspn(path, ":");
		/* An empty entry means the working directory, which is never searched. */
		if (length > 0)
			paths[count++] = arena_printf(arena, "%.*s/%s", (int)length, path, name);
		if (path[length] == '\0')
			return paths;
		path += length + 1;
	}
}

void command_prepare(const struct plan *plan, char *const *argv, struct command *command)
{
	struct arena *arena = plan->arena;
	const char *path = variable(plan, "PATH");
	size_t words = count_words(argv);

	command->argv = argv;
	command->environment = arena_alloc(arena, (plan->environment.count + 1) * sizeof(char *));
	for (size_t i = 0; i < plan->environment.count; i++)
		command->environment[i] =
			arena_printf(arena, "%s=%s", plan->environment.items[i].name, plan->environment.items[i].value);
	command->paths = list_paths(arena, argv[0], path ? path : "/usr/bin:/bin");
	command->script = arena_alloc(arena, (words + 2) * sizeof(char *));
	command->script[0] = arena_copy(arena, "/bin/sh");
	for (size_t i = 1; i < words; i++)
		command->script[i + 1] = argv[i];
}

/* Not execve(): gcov replaces it by a function that first writes its counters, from inside the
 * sandbox. */
static void execute(const char *path, char *const *argv, char *const *environment)
{
	syscall(SYS_execve, path, argv, environment);
}

int command_execute(const struct command *command)
{
	int found = ENOENT;
	for (char **path = command->paths; *path; path++) {
		execute(*path, command->argv, command->environment);
		if (errno == ENOEXEC) {
			command->script[1] = *path;
			execute("/bin/sh", command->script, command->environment);
		}
		if (errno != ENOENT && errno != ENOTDIR && (errno != EACCES || found == ENOENT))
			found = errno;
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			break;
	}
	return found;
}

const char *command_on_host(const struct plan *plan, const char *name)
{
	const char *path = NULL;
	char **paths;
	if (strchr(name, '/'))
		path = "";
	for (char *const *entry = plan->context.environment; entry && *entry && !path; entry++)
		if (strncmp(*entry, "PATH=", 5) == 0)
			path = *entry + 5;
	paths = list_paths(plan->arena, name, path ? path : "");
	for (; *paths; paths++)
		if (access(*paths, X_OK) == 0)
			return *paths;
	return NULL;
}

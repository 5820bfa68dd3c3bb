/* SPDX-License-Identifier: Apache-2.0 */
/* Only builds lists. The command and paths are separate arguments, never part of the script. */
#include "macos/profile/sandbox_exec.h"

#include <string.h>

#include "common/base/text.h"

static size_t count_words(char *const *words)
{
	size_t count = 0;
	while (words[count])
		count++;
	return count;
}

int sandbox_exec_proof_fd(const int *pass_fds, size_t count)
{
	for (int number = SANDBOX_EXEC_PROOF_MIN; number <= SANDBOX_EXEC_PROOF_MAX; number++) {
		bool is_taken = false;
		for (size_t i = 0; i < count; i++)
			is_taken = is_taken || pass_fds[i] == number;
		if (!is_taken)
			return number;
	}
	return -1;
}

char **sandbox_exec_arguments(struct arena *arena, const struct profile *profile, const char *profile_path, int proof,
			      char *const *command)
{
	size_t fixed = 8, count = 0;
	size_t room = fixed + profile->parameters.count + count_words(command) + 1;
	char **words = arena_alloc(arena, room * sizeof *words);

	words[count++] = arena_copy(arena, SANDBOX_EXEC_PATH);
	words[count++] = arena_copy(arena, "-f");
	words[count++] = arena_copy(arena, profile_path);
	for (size_t i = 0; i < profile->parameters.count; i++) {
		const struct profile_parameter *parameter = &profile->parameters.items[i];
		words[count++] = arena_printf(arena, "-D%s=%s", parameter->name, parameter->value);
	}
	words[count++] = arena_copy(arena, "--");
	words[count++] = arena_copy(arena, SANDBOX_EXEC_SHELL);
	words[count++] = arena_copy(arena, "-c");
	words[count++] = arena_printf(arena, "printf . >&%d && exec %d>&- && exec \"$@\"", proof, proof);
	words[count++] = arena_copy(arena, "sh");
	for (char *const *word = command; *word; word++)
		words[count++] = *word;
	return words;
}

/* True for variables that make dyld load libraries. Programs of the system ignore them, others load
 * the files that they name. */
static bool loads_code(const char *name)
{
	return text_starts_with(name, "DYLD_") || text_starts_with(name, "__XPC_DYLD_");
}

/* Replaces the path wherever it occurs in the value. It contains a hash, so that nothing else is
 * spelled like it. */
static const char *moved(struct arena *arena, const char *value, const char *from, const char *to)
{
	const char *found = to ? strstr(value, from) : NULL;
	if (!found)
		return value;
	return arena_printf(arena, "%.*s%s%s", (int)(found - value), value, to, moved(arena, found + strlen(from), from, to));
}

/* Changes only variables that berm itself has set. */
static const char *placed(struct arena *arena, const struct plan *plan, const struct plan_variable *variable,
			  const struct sandbox_exec_run *run)
{
	const char *value = variable->value;
	if (variable->rule)
		return value;
	value = moved(arena, value, plan->state.home, run->home);
	value = moved(arena, value, plan->state.tmp, run->tmp);
	return run->proxy_secret ? environment_fill_proxy(arena, value, run->proxy_port, run->proxy_secret) : value;
}

char **sandbox_exec_environment(struct arena *arena, const struct plan *plan, const struct sandbox_exec_run *run)
{
	char **environment = arena_alloc(arena, (plan->environment.count + 2) * sizeof *environment);
	size_t count = 0;
	for (size_t i = 0; i < plan->environment.count; i++) {
		const struct plan_variable *variable = &plan->environment.items[i];
		if (!loads_code(variable->name))
			environment[count++] = arena_printf(arena, "%s=%s", variable->name, placed(arena, plan, variable, run));
	}
	if (run->user_suffix)
		environment[count++] = arena_printf(arena, "DIRHELPER_USER_DIR_SUFFIX=%s", run->user_suffix);
	return environment;
}

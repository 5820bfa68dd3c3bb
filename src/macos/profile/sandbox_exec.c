/* SPDX-License-Identifier: Apache-2.0 */
/* Only builds lists. Nothing of the command or of a path becomes part of the script: they are words of their own. */
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

int launch_proof_number(const int *pass_fds, size_t count)
{
	for (int number = LAUNCH_PROOF_MIN; number <= LAUNCH_PROOF_MAX; number++) {
		bool is_taken = false;
		for (size_t i = 0; i < count; i++)
			is_taken = is_taken || pass_fds[i] == number;
		if (!is_taken)
			return number;
	}
	return -1;
}

char **launch_words(struct arena *arena, const struct profile *profile, const char *profile_path, int proof,
		    char *const *command)
{
	size_t fixed = 8, count = 0;
	size_t room = fixed + profile->parameters.count + count_words(command) + 1;
	char **words = arena_alloc(arena, room * sizeof *words);

	words[count++] = arena_copy(arena, LAUNCH_SANDBOX_EXEC);
	words[count++] = arena_copy(arena, "-f");
	words[count++] = arena_copy(arena, profile_path);
	for (size_t i = 0; i < profile->parameters.count; i++) {
		const struct profile_parameter *parameter = &profile->parameters.items[i];
		words[count++] = arena_printf(arena, "-D%s=%s", parameter->name, parameter->value);
	}
	words[count++] = arena_copy(arena, "--");
	words[count++] = arena_copy(arena, LAUNCH_SHELL);
	words[count++] = arena_copy(arena, "-c");
	words[count++] = arena_printf(arena, "printf . >&%d && exec %d>&- && exec \"$@\"", proof, proof);
	words[count++] = arena_copy(arena, "sh");
	for (char *const *word = command; *word; word++)
		words[count++] = *word;
	return words;
}

/* The policy passes them only where it spells them out; programs of the system ignore them, others load what they name. */
static bool loads_code(const char *name)
{
	return text_starts_with(name, "DYLD_") || text_starts_with(name, "__XPC_DYLD_");
}

static const char *moved(struct arena *arena, const char *value, const char *from, const char *to)
{
	if (!to || !path_is_within(value, from))
		return value;
	return arena_printf(arena, "%s%s", to, value + strlen(from));
}

/* Only what berm itself set: a value of the policy or the caller stays as it is. */
static const char *placed(struct arena *arena, const struct plan *plan, const struct plan_variable *variable,
			  const struct launch_places *places)
{
	const char *value = variable->value;
	if (variable->rule)
		return value;
	value = moved(arena, value, plan->state.home, places->home);
	value = moved(arena, value, plan->state.tmp, places->tmp);
	return places->proxy_secret ? environment_fill_proxy(arena, value, places->proxy_port, places->proxy_secret) : value;
}

char **launch_environment(struct arena *arena, const struct plan *plan, const struct launch_places *places)
{
	char **environment = arena_alloc(arena, (plan->environment.count + 1) * sizeof *environment);
	size_t count = 0;
	for (size_t i = 0; i < plan->environment.count; i++) {
		const struct plan_variable *variable = &plan->environment.items[i];
		if (!loads_code(variable->name))
			environment[count++] =
				arena_printf(arena, "%s=%s", variable->name, placed(arena, plan, variable, places));
	}
	return environment;
}

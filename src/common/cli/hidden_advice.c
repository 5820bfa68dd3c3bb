/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/hidden_advice.h"

#include <string.h>

#include "common/cli/run_record.h"

enum { NAMES_SHOWN = 3 };

static bool has_word(char *const *command, const char *name)
{
	for (; *command; command++)
		if (strstr(*command, name))
			return true;
	return false;
}

const char *hidden_advice(const struct plan *plan, char *const *command, bool *is_named)
{
	size_t at = 0, count = 0, project = strlen(plan->context.project);
	const struct plan_match *match;
	const char *names = "";

	*is_named = false;
	for (; (match = run_record_hidden(plan, &at)); at++) {
		*is_named = *is_named || has_word(command, path_base_name(match->path));
		if (count++ < NAMES_SHOWN)
			names = arena_printf(plan->arena, "%s%s%s", names, count > 1 ? ", " : "", match->path + project + 1);
	}
	if (count == 0)
		return NULL;
	if (count > NAMES_SHOWN)
		names = arena_printf(plan->arena, "%s and %zu more", names, count - NAMES_SHOWN);
	return arena_printf(plan->arena, "a file that this command may need is hidden (%s): berm why", names);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes of a copy must not be applied: those that the command could not have made without a
 * copy, by the plan that a run of the project enforces. */
#include "common/cli/copy_command.h"

#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/plan/plan.h"
#include "common/scan/scan.h"

static const char *refuses(void *self, const char *path, enum file_type type, bool is_deletion)
{
	struct session *session = self;
	struct arena *arena = &session->arena;
	const char *absolute = path_join(arena, session->context.project, path);
	struct verdict verdict = plan_check_path(&session->plan, ACCESS_WRITE, absolute, type == FILE_DIRECTORY);

	(void)is_deletion;
	if (verdict.is_allowed)
		return NULL;
	if (!verdict.rule)
		return verdict.reason;
	if (verdict.rule->origin.line == 0)
		return arena_printf(arena, "%s: %s (%s)", verdict.rule->key, text_visible(arena, verdict.rule->text),
				    text_visible(arena, verdict.rule->origin.source));
	return arena_printf(arena, "%s: %s (%s:%u)", verdict.rule->key, text_visible(arena, verdict.rule->text),
			    text_visible(arena, verdict.rule->origin.source), verdict.rule->origin.line);
}

int copies_judge_open(struct session *session, const struct copy *copy, struct copy_judge *judge, struct error *err)
{
	(void)copy;
	/* Files that are denied by their content are only found by a scan. */
	if (plan_scan(&session->plan, err) < 0)
		return -1;
	*judge = (struct copy_judge){ .self = session, .refuses = refuses };
	return 0;
}

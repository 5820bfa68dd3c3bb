/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes of a copy must not be applied: those that the command could not have made without a
 * copy, by the plan that a run of the project enforces. */
#include "common/cli/copy_command.h"

#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/plan/plan.h"
#include "common/scan/scan.h"

static const char *name_rule(struct arena *arena, const struct rule *rule)
{
	const char *text = text_visible(arena, rule->text), *source = text_visible(arena, rule->origin.source);
	if (rule->origin.line == 0)
		return arena_printf(arena, "%s: %s (%s)", rule->key, text, source);
	return arena_printf(arena, "%s: %s (%s:%u)", rule->key, text, source, rule->origin.line);
}

/* A protected name that does not exist yet is writable for the plan, because a run looks for it
 * afterwards. Here it is refused at once. */
static const char *refuses(void *self, const char *path, enum file_type type, bool is_deletion)
{
	struct session *session = self;
	struct arena *arena = &session->arena;
	const char *absolute = path_join(arena, session->context.project, path);
	bool is_directory = type == FILE_DIRECTORY;
	struct verdict verdict = plan_check_path(&session->plan, ACCESS_WRITE, absolute, is_directory);
	const struct rule *rule = verdict.is_allowed ? plan_protected_by(&session->plan, absolute, is_directory) : verdict.rule;

	(void)is_deletion;
	if (rule)
		return name_rule(arena, rule);
	return verdict.is_allowed ? NULL : verdict.reason;
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

/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict about a file tool of an agent: that of `berm check` about the resolved path, and no
 * for what only the sandbox would make harmless. Changes nothing, never answers "allow". */
#include "common/cli/hook_judge.h"

#include <string.h>

#include "common/cli/session.h"
#include "common/base/text.h"
#include "common/scan/scan.h"

enum { EXCLUDED_MAX = 64 };

static const char *access_name(const struct agent_access *access)
{
	return access->is_write ? "write" : access->is_search ? "search" : "read";
}

/* The reason is for a model, too: what was refused, by which rule, and how to go on. */
static int refuse(const struct hook_call *call, const struct agent_access *access, const struct verdict *verdict,
		  struct error *err)
{
	const struct rule *rule = verdict->rule;

	error_set(err, "%s may not %s %s: %s", call->tool->name, access_name(access), access->path, verdict->reason);
	if (rule && rule->origin.line)
		error_hint(err, "rule: %s: %s (%s:%u)", rule->key, rule->text, rule->origin.source, rule->origin.line);
	else if (rule)
		error_hint(err, "rule: %s: %s (%s)", rule->key, rule->text, rule->origin.source);
	return error_hint(err, "this is the user's policy: do not retry and do not work around it; if the task needs this "
			       "file, ask the user, who can allow it in ~/.config/berm/berm.yml");
}

/* The sandbox gives a command its own /proc and tolerates new names at the level `launch`. The tool
 * uses the host's files. */
static void narrow(const struct plan *plan, const struct agent_access *access, const char *path, bool is_directory,
		   struct verdict *verdict)
{
	const struct rule *denied = plan_denied_by(plan, path, is_directory);
	const struct plan_judged_file *judged = plan_judged_file(plan, path);
	const struct rule *locked = access->is_write ? plan_protected_by(plan, path, is_directory) : NULL;

	if (!verdict->is_allowed)
		return;
	if (verdict->rule == &rule_own_proc)
		*verdict = (struct verdict){ false, verdict->rule, "the host's /proc shows other processes" };
	else if (denied && !(judged && judged->is_public))
		*verdict = (struct verdict){ false, denied, "denied" };
	else if (locked)
		*verdict = (struct verdict){ false, locked, "protected: readable, never changed or created" };
}

/* Collects the hidden files below the path. Returns the first of them, or NULL. */
static const struct plan_match *find_hidden(const struct plan *plan, const char *path, const char **names, size_t *count)
{
	const struct plan_match *first = NULL;
	for (size_t i = 0; i < plan->scan->masked.count; i++) {
		const struct plan_match *match = &plan->scan->masked.items[i];
		if (!plan_is_within(plan, match->path, path))
			continue;
		first = first ? first : match;
		if (*count < EXCLUDED_MAX)
			names[*count] = path_base_name(match->path);
		(*count)++;
	}
	return first;
}

static int judge_search(struct session *session, const struct hook_call *call, const struct agent_access *access,
			const char *path, const char **answer, struct error *err)
{
	const char *names[EXCLUDED_MAX];
	size_t count = 0;
	const struct plan_match *hidden = find_hidden(&session->plan, path, names, &count);
	struct agent_access file = *access;
	struct verdict verdict;

	if (!hidden)
		return 0;
	*answer = count <= EXCLUDED_MAX
			  ? agent_hook_exclude(session->plan.arena, call->host, call->tool, call->input, names, count)
			  : NULL;
	if (*answer)
		return 0;
	file.path = hidden->path;
	verdict = (struct verdict){ false, hidden->rule, "denied, and it is in the directory; name a directory without it" };
	return refuse(call, &file, &verdict, err);
}

static int judge_one(struct session *session, const struct hook_call *call, const char *config,
		     const struct agent_access *access, const char **answer, struct error *err)
{
	struct plan *plan = &session->plan;
	struct verdict verdict;
	struct file_info info;
	const char *path;

	if (plan_check_spelling(plan, access->is_write ? ACCESS_WRITE : ACCESS_READ, access->path, false, &path, &verdict,
				err) < 0 ||
	    path_resolve(plan->context.fs, plan->arena, path, &path, NULL, &info, err) < 0)
		return -1;
	narrow(plan, access, path, info.type == FILE_DIRECTORY, &verdict);
	if (!verdict.is_allowed && !plan_denied_by(plan, path, false) &&
	    agent_hook_is_own(plan->arena, call->host, config, call->workspace, access, path))
		return 0;
	if (!verdict.is_allowed)
		return refuse(call, access, &verdict, err);
	return access->is_search && info.type == FILE_DIRECTORY ? judge_search(session, call, access, path, answer, err) : 0;
}

/* Returns the canonical directory of the host's settings. */
static const char *find_config(struct session *session, const struct setup_host *host, struct error *err)
{
	const struct context *context = &session->context;
	const char *file = setup_host_file(&session->arena, host, context), *canonical;
	if (!file ||
	    path_resolve(context->fs, &session->arena, path_parent(&session->arena, file), &canonical, NULL, NULL, err) < 0)
		return NULL;
	return canonical;
}

int hook_judge(struct arena *arena, const struct hook_call *call, const char **answer, struct error *err)
{
	struct session session = { .options = { .project = call->project }, .is_narrowing = call->host->hook->shell_variable };
	const char *config;
	int status = 0;

	*answer = NULL;
	if (session_open_here(&session, err) < 0) {
		if (session.diagnostics.count)
			error_set(err, "the policy has an error; `berm plan` shows it");
		status = -1;
	} else if (plan_scan(&session.plan, err) < 0)
		status = -1;
	config = status == 0 ? find_config(&session, call->host, err) : NULL;
	for (size_t i = 0; config && status == 0 && i < call->accesses.count; i++)
		status = judge_one(&session, call, config, &call->accesses.items[i], answer, err);
	if (*answer)
		*answer = arena_copy(arena, *answer);
	session_close(&session);
	return config ? status : -1;
}

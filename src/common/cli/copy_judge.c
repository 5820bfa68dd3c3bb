/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/copy_judge.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/file_time.h"
#include "common/base/text.h"
#include "common/scan/scan.h"
#include "common/sweep/sweep.h"

/* A path that the sweep would not leave as it is, and why. */
struct refusal {
	const char *path; /* absolute */
	const char *reason;
};

struct judge {
	struct session *session;
	const struct plan *plan;
	struct sweep_facts facts; /* of the project as it is now */
	struct timespec started;
	struct refusals_found {
		struct refusal *items;
		size_t count;
	} refusals;
};

/* In the child that sees the copy. Each item is two strings with their ends. */
static int look(void *self, int output)
{
	struct judge *judge = self;
	struct sweep_report report = { 0 };

	sweep_preview(judge->plan, &judge->facts, judge->started, &report);
	if (error_is_set(&report.problem))
		return -1;
	for (size_t i = 0; i < report.count; i++) {
		const struct sweep_item *item = &report.items[i];
		if (item->verdict == SWEEP_QUARANTINE || item->verdict == SWEEP_EDIT || item->verdict == SWEEP_UNDO)
			if (dprintf(output, "%s%c%s%c", item->path, 0, item->reason, 0) < 0)
				return -1;
	}
	/* An output that was cut off does not end so. */
	return dprintf(output, "%c", 0) < 0 ? -1 : 0;
}

/* Reads the pairs, up to the empty string that ends them. */
static int read_refusals(struct judge *judge, char *bytes, size_t length, struct error *err)
{
	char *at = bytes, *end = bytes + length;
	while (at < end && *at) {
		char *reason = memchr(at, '\0', (size_t)(end - at));
		char *next = reason ? memchr(reason + 1, '\0', (size_t)(end - reason - 1)) : NULL;
		if (!next)
			break;
		*(struct refusal *)arena_push(&judge->session->arena, &judge->refusals) = (struct refusal){ at, reason + 1 };
		at = next + 1;
	}
	return at + 1 == end && !*at ? 0 : error_set(err, "the judgement of the copy was cut off");
}

static const char *with_rule(struct judge *judge, const char *what, const struct rule *rule)
{
	const struct origin *origin = &rule->origin;
	const char *source = text_visible(&judge->session->arena, origin->source);
	if (origin->line == 0)
		return arena_printf(&judge->session->arena, "%s: %s (%s)", what, rule->text, source);
	return arena_printf(&judge->session->arena, "%s: %s (%s:%u)", what, rule->text, source, origin->line);
}

/* True for a new protected name that may be applied: in a tree that is not searched, where packages
 * bring such names, or a part of a new repository, which the sweep judges by its content. */
static bool is_free(const struct judge *judge, const struct rule *rule, const char *path)
{
	if (rule->layer >= LAYER_USER)
		return false;
	return strstr(rule->text, ".git/") || plan_pruned_by(judge->plan, path);
}

static const char *refuses(void *self, const char *path, enum file_type type, bool is_deletion)
{
	struct judge *judge = self;
	const char *absolute = path_join(&judge->session->arena, judge->plan->context.project, path);
	struct verdict verdict = plan_check_path(judge->plan, ACCESS_WRITE, absolute, type == FILE_DIRECTORY);
	const struct rule *rule = plan_denied_by(judge->plan, absolute, type == FILE_DIRECTORY);
	struct stat info;

	/* Inside, a denied name is the command's own until the next launch; it never reaches the
	 * project. */
	if (rule)
		return with_rule(judge, "denied", rule);
	/* The command could not have done this in the project itself. */
	if (!verdict.is_allowed)
		return verdict.rule ? with_rule(judge, verdict.reason, verdict.rule) : verdict.reason;
	rule = plan_protected_by(judge->plan, absolute, type == FILE_DIRECTORY);
	if (rule && (is_deletion || lstat(absolute, &info) == 0 || !is_free(judge, rule, absolute)))
		return with_rule(judge, "protected", rule);
	for (size_t i = 0; i < judge->refusals.count; i++)
		if (path_is_within(absolute, judge->refusals.items[i].path))
			return judge->refusals.items[i].reason;
	return NULL;
}

int copies_judge_open(struct session *session, const struct copy *copy, struct copy_judge *judge, struct error *err)
{
	struct judge *made = arena_alloc(&session->arena, sizeof *made);
	struct stat base = { 0 }, upper;
	char *bytes;
	size_t length;

	*made = (struct judge){ .session = session, .plan = &session->plan };
	*judge = (struct copy_judge){ .self = made, .refuses = refuses };
	/* A copy that was applied as a whole has no baseline until its next run. Without one
	 * everything in it counts as new. */
	if (fstatat(copy->fd, copy_start(copy), &base, AT_SYMLINK_NOFOLLOW) < 0 &&
	    fstatat(copy->fd, copy_layer(copy), &upper, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	made->started = base.st_ctim;
	if (plan_scan(&session->plan, err) < 0)
		return -1;
	sweep_note(&session->plan, session->plan.scan, &made->facts);
	if (copy_look(&session->arena, copy, look, made, &bytes, &length, err) < 0 ||
	    read_refusals(made, bytes, length, err) < 0)
		return -1;
	return 0;
}

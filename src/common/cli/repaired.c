/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/repaired.h"

#include <string.h>

#include "common/base/text.h"

/* One sentence for each kind, with the time in the middle unless `after` is NULL. */
static const struct {
	const char *before, *after;
	bool is_verbose;
} sentences[] = {
	[REPAIR_HIDDEN] = { "was replaced on the host while the command ran and readable inside for at most",
			    "; it was hidden again", false },
	[REPAIR_LOCKED] = { "was replaced on the host while the command ran and writable inside for at most",
			    "; it was protected again: look at it before you use it", false },
	[REPAIR_NEW_HIDDEN] = { "came from the host while the command ran and was readable inside for at most",
				"; then it was hidden", false },
	[REPAIR_NEW_LOCKED] = { "came from the host while the command ran and was writable inside for at most",
				"; then it was protected", false },
	[REPAIR_NOT_PUBLIC] = { "was changed while the command ran, has not only public content any more, and was readable "
				"inside for at most",
				"; then it was hidden", false },
	[REPAIR_OWN] = { "has a denied name and appeared while the command ran: it counts as the command's own, and is hidden "
			 "from the next launch on",
			 NULL, true },
	[REPAIR_MOVED] = { "appeared while the command ran, and programs on the host obey it: moved to quarantine after", "",
			   false },
	[REPAIR_STUCK] = { "appeared while the command ran, and programs on the host obey it; after", " it could not be moved",
			   false },
};

/* Tenths of a millisecond: file times are not more exact. */
static void add_time(struct text *out, int64_t us)
{
	if (us < 10000000)
		text_add(out, "%lld.%lld ms", (long long)(us / 1000), (long long)(us % 1000 / 100));
	else
		text_add(out, "%lld s", (long long)(us / 1000000));
}

static void describe(const struct repair_event *event, const char *shown, struct text *out)
{
	text_add(out, "%s %s", shown, sentences[event->kind].before);
	if (sentences[event->kind].after) {
		text_add(out, " ");
		add_time(out, event->exposed_us);
		text_add(out, "%s", sentences[event->kind].after);
	}
	if (event->kind == REPAIR_MOVED && event->detail && *event->detail)
		text_add(out, " (to undo: berm quarantine restore %s)", event->detail);
	else if (event->kind == REPAIR_STUCK && event->detail)
		text_add(out, ": %s", event->detail);
	if (event->count > 1 && sentences[event->kind].after)
		text_add(out, " (%u times; the longest)", event->count);
	text_add(out, "\n");
}

void repaired_describe(const struct repair_report *report, const char *project, bool is_verbose, struct arena *arena,
		       struct text *out)
{
	size_t length = strlen(project);
	for (size_t i = 0; i < report->count; i++) {
		const struct repair_event *event = &report->items[i];
		bool is_inside = path_is_within(event->path, project) && event->path[length] == '/';
		if (is_verbose || !sentences[event->kind].is_verbose)
			describe(event, text_visible(arena, is_inside ? event->path + length + 1 : event->path), out);
	}
	if (report->omitted > 0)
		text_add(out, "%u more files were restored or moved\n", report->omitted);
	if (report->is_limited)
		text_add(out,
			 "only %lld directories could be watched for replaced and new files: the user's inotify limits are "
			 "reached (fs.inotify.max_user_watches, max_user_instances)\n",
			 (long long)report->watched);
}

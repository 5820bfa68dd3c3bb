/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at one path and does what verdict.c says. A path is covered only if it is a mount point
 * after the mount as well: the command may have replaced a directory above it meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/syscalls.h"
#include "linux/repair/watcher.h"

enum {
	TRIES = 5, /* to cover a path that is being replaced */
	PLANTS_MAX = 256, /* with more, the run ends */
	JUDGEMENTS_MAX = 1024, /* of one file; a command could keep this process busy with them */
	CLOCK_SLACK_NS = 20000000, /* file times come from a clock that ticks every 1 to 10 ms */
};

static int64_t real_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* How long the file was at this path, at most. A rename changes the inode's time of change. */
static int64_t exposed_us(const struct watcher *watcher, const struct late_look *look, bool is_moved)
{
	int64_t since = !is_moved && look->created > watcher->begin ? look->created : look->changed;
	int64_t exposed;
	if (since < watcher->begin)
		since = watcher->begin;
	exposed = (real_now() - since) / 1000;
	return exposed < 1 ? 1 : exposed;
}

_Noreturn static void fail(const struct watcher *watcher, const char *path, bool is_mask, const char *why)
{
	struct error err;
	error_set(&err, "%s was replaced on the host and cannot be %s again: %s", path, is_mask ? "hidden" : "protected", why);
	watcher_fail(watcher, &err);
}

/* Covers the path, and looks again. False if it is gone. */
static bool cover(struct watcher *watcher, const struct plan_match *match, bool is_mask)
{
	struct plan_match target = *match;
	struct error err = { 0 };
	for (int i = 0; i < TRIES; i++) {
		struct late_look look;
		if (late_masks_look(&watcher->masks, match->path, &look) < 0)
			fail(watcher, match->path, is_mask, strerror(errno));
		if (look.state == LATE_COVERED)
			return true;
		if (look.state == LATE_ABSENT)
			return false;
		if (look.state == LATE_LINK) {
			if (late_masks_link_shows(&watcher->masks, match->path))
				fail(watcher, match->path, is_mask, "it is a symlink to a visible file now");
			return false;
		}
		target.type = look.type;
		if (late_masks_cover(&watcher->masks, watcher->plan, &target, is_mask, &err) < 0 && err.number != EAGAIN)
			fail(watcher, match->path, is_mask, err.message);
		if (late_masks_pin_above(&watcher->masks, watcher->plan, match->path) < 0 && errno != ENOENT &&
		    errno != ENOTDIR && errno != ELOOP)
			fail(watcher, match->path, is_mask, strerror(errno));
	}
	fail(watcher, match->path, is_mask, "it is replaced again and again");
}

static void report_event(const struct watcher *watcher, enum repair_kind kind, const char *path, int64_t exposed)
{
	struct report report = { .type = REPORT_EVENT, .kind = kind, .exposed_us = exposed };
	watcher_report(watcher, &report, path);
}

static struct plant *find_plant(const struct watcher *watcher, const char *path)
{
	for (size_t i = 0; i < watcher->plants.count; i++)
		if (strcmp(watcher->plants.items[i].path, path) == 0)
			return &watcher->plants.items[i];
	return NULL;
}

/* True if the plant that was reported is still waiting to be moved. */
static bool is_same_plant(const struct plant *plant, const struct late_look *look)
{
	return plant && !plant->is_gone && plant->device == look->device && plant->inode == look->inode;
}

static void report_plant(struct watcher *watcher, const char *path, const struct late_look *look, bool ends_run, bool is_moved)
{
	struct plant *plant = find_plant(watcher, path);
	struct report report = { .type = ends_run ? REPORT_GIT_PLANT : REPORT_PLANT,
				 .is_back = plant != NULL,
				 .device = look->device,
				 .inode = look->inode,
				 .exposed_us = exposed_us(watcher, look, is_moved) };
	if (!plant && watcher->plants.count == PLANTS_MAX)
		report.type = REPORT_GIT_PLANT;
	if (!plant) {
		plant = arena_push(watcher->plan->arena, &watcher->plants);
		plant->path = arena_copy(watcher->plan->arena, path);
	}
	*plant = (struct plant){ plant->path, look->device, look->inode, false };
	watcher_report(watcher, &report, path);
}

/* Restores the cover of a path that has lost it. */
static void restore(struct watcher *watcher, struct known_path *known, const struct late_look *look, bool is_moved)
{
	if (!cover(watcher, &known->match, known->is_mask))
		return;
	known->is_absent = false;
	report_event(watcher, known->is_mask ? REPAIR_HIDDEN : REPAIR_LOCKED, known->match.path,
		     exposed_us(watcher, look, is_moved));
}

void mend_known(struct watcher *watcher, struct known_path *known, const struct appearance *entry)
{
	const char *path = known->match.path;
	struct sighting sighting = { .was_hidden = known->is_mask,
				     .was_locked = !known->is_mask,
				     .was_absent = known->is_absent,
				     .is_from_host = entry->is_moved_in,
				     .repairs_planting = watcher->repairs_planting };
	struct late_look look;

	if (late_masks_look(&watcher->masks, path, &look) < 0)
		fail(watcher, path, known->is_mask, strerror(errno));
	if (look.state == LATE_ABSENT || look.state == LATE_COVERED) {
		known->is_absent = look.state == LATE_ABSENT;
		return;
	}
	sighting.is_git = place_of(watcher->plan, path, known->match.rule).is_git;
	if (verdict_of(&sighting) == ACTION_END)
		report_plant(watcher, path, &look, true, entry->is_moved);
	else
		restore(watcher, known, &look, entry->is_moved);
}

/* True if the command cannot have made the file at this path. */
static bool is_from_host(const struct watcher *watcher, const char *path, const struct late_look *look,
			 const struct appearance *entry)
{
	const struct plan *plan = watcher->plan;
	if (watcher_is_copied(watcher, path) || entry->is_moved_in || look->owner != plan->context.uid ||
	    !plan_is_writable(plan, path))
		return true;
	for (size_t i = 0; i < plan->scan->locked.count; i++)
		if (path_is_within(path, plan->scan->locked.items[i].path) && plan->scan->opened.count == 0)
			return true;
	return false;
}

static void cover_new(struct watcher *watcher, const char *path, const struct rule *rule, const struct late_look *look,
		      const struct appearance *entry, bool is_mask)
{
	const struct plan_match match = { .path = path, .type = look->type, .rule = rule };
	if (!cover(watcher, &match, is_mask))
		return;
	known_add(&watcher->known, watcher->plan->arena, &match, is_mask);
	report_event(watcher, is_mask ? REPAIR_NEW_HIDDEN : REPAIR_NEW_LOCKED, path,
		     exposed_us(watcher, look, entry->is_moved));
}

/* An overlay that has looked a name up keeps the answer for some time: a denied name of the host
 * that is not there now can appear later, without an event. */
static void await_name(struct watcher *watcher, const char *path, const struct scan_entry *rules)
{
	const struct plan_match match = { .path = path, .type = FILE_REGULAR, .rule = rules->denied_by };
	if (!rules->denied_by || !watcher_is_copied(watcher, path) || known_find(&watcher->known, path))
		return;
	known_add(&watcher->known, watcher->plan->arena, &match, true)->is_absent = true;
	watcher->has_unseen = true;
}

bool mend_new(struct watcher *watcher, const char *path, const struct scan_entry *rules, const struct appearance *entry)
{
	const struct rule *rule = rules->denied_by ? rules->denied_by : rules->protected_by;
	struct place place = place_of(watcher->plan, path, rule);
	struct sighting sighting = { .is_denied = rules->denied_by != NULL,
				     .is_protected = !rules->denied_by,
				     .is_place = place.is_place,
				     .is_git = place.is_git,
				     .repairs_planting = watcher->repairs_planting };
	struct plant *plant = find_plant(watcher, path);
	struct late_look look;
	enum repair_action action;

	if (late_masks_look(&watcher->masks, path, &look) < 0 || look.state == LATE_COVERED)
		return false;
	if (look.state == LATE_ABSENT) {
		await_name(watcher, path, rules);
		return false;
	}
	/* It was there at launch, and the scan found nothing to hide or lock. */
	if (look.changed < watcher->begin - CLOCK_SLACK_NS || is_same_plant(plant, &look))
		return false;
	if (look.state == LATE_LINK && (rules->denied_by || !watcher->repairs_planting))
		return false; /* its target is judged by its own path */
	sighting.is_from_host = look.state != LATE_LINK && is_from_host(watcher, path, &look, entry);
	sighting.is_back = plant != NULL;
	action = verdict_of(&sighting);
	switch (action) {
	case ACTION_NONE:
		return false;
	case ACTION_HIDE:
	case ACTION_LOCK:
		cover_new(watcher, path, rule, &look, entry, action == ACTION_HIDE);
		return action == ACTION_HIDE;
	case ACTION_LEAVE:
		report_event(watcher, REPAIR_OWN, path, exposed_us(watcher, &look, entry->is_moved));
		return true;
	case ACTION_QUARANTINE:
	case ACTION_END:
		report_plant(watcher, path, &look, action == ACTION_END, entry->is_moved);
		return true;
	}
	return false;
}

void mend_prepare_publics(struct watcher *watcher)
{
	const struct plan_judged *judged = &watcher->plan->scan->judged;
	for (size_t i = 0; i < judged->count; i++)
		if (judged->items[i].is_public)
			*(struct public_file *)arena_push(watcher->plan->arena, &watcher->publics) =
				(struct public_file){ .path = judged->items[i].path, .rule = judged->items[i].rule };
}

static int compare_public(const void *path, const void *file)
{
	return strcmp(path, ((const struct public_file *)file)->path);
}

struct public_file *mend_find_public(const struct watcher *watcher, const char *path)
{
	struct public_file *file = watcher->publics.count == 0 ? NULL
							       : bsearch(path, watcher->publics.items, watcher->publics.count,
									 sizeof *watcher->publics.items, compare_public);
	return file && !file->is_done ? file : NULL;
}

/* Watches the file before it is read, so that no later write is missed. */
static bool watch_public(struct watcher *watcher, const char *path)
{
	const char *name = path_base_name(path);
	autoclose int directory = -1;
	char parent[PATH_MAX];
	size_t length = (size_t)(name - path) - 1;

	if (watcher->watches.inotify < 0)
		return true; /* it is polled */
	if (length == 0 || length >= sizeof parent)
		return false;
	memcpy(parent, path, length);
	parent[length] = '\0';
	directory = watcher_open_directory(watcher, parent);
	return directory >= 0 && watches_add_file(&watcher->watches, directory, name, path);
}

static bool is_as_judged(const struct public_file *file, const struct late_look *look)
{
	return file->inode != 0 && file->changed != 0 && file->device == look->device && file->inode == look->inode &&
	       file->changed == look->changed;
}

static void remember(struct public_file *file, const struct late_look *look)
{
	file->device = look->device;
	file->inode = look->inode;
	file->changed = look->changed < real_now() - CLOCK_SLACK_NS ? look->changed : 0;
	file->count++;
}

/* A symlink in its place is left, like every new symlink of a denied name: its target is judged by
 * its own path. */
void mend_public(struct watcher *watcher, struct public_file *file, bool is_polled)
{
	const struct plan_match match = { .path = file->path, .type = FILE_REGULAR, .rule = file->rule };
	struct scan_content content = { .kind = CONTENT_HIDDEN };
	struct late_look look;
	bool is_watched;

	if (late_masks_look(&watcher->masks, file->path, &look) < 0)
		fail(watcher, file->path, true, strerror(errno));
	if (look.state == LATE_ABSENT || look.state == LATE_LINK || (is_polled && is_as_judged(file, &look)))
		return;
	file->is_done = look.state == LATE_COVERED;
	if (file->is_done)
		return;
	is_watched = watch_public(watcher, file->path);
	remember(file, &look);
	if (is_watched && file->count <= JUDGEMENTS_MAX)
		content = scan_judge_content(watcher->plan, file->path);
	if (content.kind != CONTENT_HIDDEN || !cover(watcher, &match, true))
		return;
	file->is_done = true;
	known_add(&watcher->known, watcher->plan->arena, &match, true);
	report_event(watcher, REPAIR_NOT_PUBLIC, file->path, exposed_us(watcher, &look, false));
}

void mend_gone(struct watcher *watcher, const char *path)
{
	const struct appearance gone = { .is_close = true };
	struct known_path *known = known_find(&watcher->known, path);
	if (known)
		mend_known(watcher, known, &gone);
}

void mend_found(struct watcher *watcher, const char *path, bool is_mask)
{
	struct plan_match match = { .path = path, .type = FILE_REGULAR, .rule = &rule_unsearchable };
	struct known_path *known = known_find(&watcher->known, path);
	struct scan_entry rules;
	struct late_look look;

	if (known && known->is_mask < is_mask)
		fail(watcher, path, is_mask, "it is protected already");
	if (known)
		return; /* checked with the others */
	if (late_masks_look(&watcher->masks, path, &look) < 0)
		fail(watcher, path, is_mask, strerror(errno));
	rules = scan_entries_judge(watcher->entries, path, path_base_name(path), look.type == FILE_DIRECTORY);
	if (rules.denied_by || rules.protected_by)
		match.rule = rules.denied_by ? rules.denied_by : rules.protected_by;
	match.type = look.type;
	/* A path that is gone again is known, too: what appears there is covered. */
	known = known_add(&watcher->known, watcher->plan->arena, &match, is_mask);
	known->is_absent = !cover(watcher, &match, is_mask);
}

void mend_moved(struct watcher *watcher, const char *path)
{
	struct plant *plant = find_plant(watcher, path);
	if (plant)
		plant->is_gone = true;
}

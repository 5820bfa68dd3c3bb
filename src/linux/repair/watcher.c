/* SPDX-License-Identifier: Apache-2.0 */
/* The watcher process: events of directories, and what follows from them. repair.h has the theory
 * of operation.
 *
 * An event is only a reason to look: the mounts decide whether a path is covered. So lost, late and
 * forged events change nothing but the time of the repair. */
#include "linux/repair/watcher.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/policy/file.h"
#include "linux/syscalls.h"

enum {
	WIDE_MS = 200, /* after the start: when all searched directories are watched */
	POLL_MS = 100, /* between two checks of all masks, if there is no inotify */
	OVERFLOW_MS = 500, /* at least between two searches after lost events */
	DIRECTORIES_AT_ONCE = 32, /* between two looks at the events */
	EVENT_BYTES = 65536,
};

static void push(struct watcher *watcher, const char *path)
{
	struct pending *pending = malloc(sizeof *pending + strlen(path) + 1);
	if (!pending) {
		watcher->watches.is_full = true;
		return;
	}
	strcpy(pending->path, path);
	pending->next = watcher->pending;
	watcher->pending = pending;
}

/* The parts of a git directory that only contain data and change with every commit. */
static bool is_git_data(const char *directory, const char *name)
{
	static const char *const names[] = { "objects", "refs", "logs", "lfs" };
	size_t length = strlen(directory);
	bool is_git = (length >= 5 && strcmp(directory + length - 5, "/.git") == 0) || strstr(directory, "/.git/modules/");
	for (size_t i = 0; is_git && i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* True if the path is that of a public file, and still is. */
static bool visit_public(struct watcher *watcher, const char *path)
{
	struct public_file *public = mend_find_public(watcher, path);
	if (public)
		mend_public(watcher, public, false);
	return public && !public->is_done;
}

/* Judges one entry. A directory that is searched is entered later. */
static void visit(struct watcher *watcher, const char *directory, const struct appearance *entry)
{
	struct known_path *known = NULL;
	struct scan_entry rules;
	char path[PATH_MAX];

	if (!path_join_into(path, sizeof path, directory, entry->name))
		return;
	if (visit_public(watcher, path))
		return;
	if (entry->is_close)
		known = known_find(&watcher->known, path);
	if (known) {
		mend_known(watcher, known, entry);
		if (known->is_mask)
			return;
	}
	rules = scan_entries_judge(watcher->entries, path, entry->name, entry->is_directory);
	if (!known && (rules.denied_by || rules.protected_by) && mend_new(watcher, path, &rules, entry))
		return;
	if (entry->is_directory && !rules.denied_by && (!rules.is_pruned || known_is_below(&watcher->known, path)) &&
	    !is_git_data(directory, entry->name))
		push(watcher, path);
}

/* Some file systems do not report types in a listing. */
static bool is_directory(int directory, const struct dirent *entry)
{
	struct stat info;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 && S_ISDIR(info.st_mode);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool watcher_is_copied(const struct watcher *watcher, const char *path)
{
	return watcher->lower >= 0 && path_is_within(path, watcher->plan->context.project);
}

int watcher_open_directory(const struct watcher *watcher, const char *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
	const char *below;
	if (!watcher_is_copied(watcher, path))
		return sys_openat2(watcher->masks.root, path + 1, flags, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	below = path + strlen(watcher->plan->context.project);
	return sys_openat2(watcher->lower, *below ? below + 1 : ".", flags,
			   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

/* Watches a directory first and lists it then: what appears in between is seen twice. */
static void enter_directory(struct watcher *watcher, const char *path)
{
	bool is_close = known_is_below(&watcher->known, path);
	autoclosedir DIR *directory = NULL;
	struct dirent *entry;
	int fd = watcher_open_directory(watcher, path);
	if (fd < 0)
		return; /* gone, or closed to this user */
	watches_add(&watcher->watches, fd, path, is_close);
	directory = fdopendir(fd);
	if (!directory) {
		close(fd);
		return;
	}
	while ((entry = readdir(directory))) {
		const struct appearance found = { .name = entry->d_name,
						  .is_directory = is_directory(fd, entry),
						  .is_close = is_close };
		if (!is_dots(entry->d_name))
			visit(watcher, path, &found);
	}
}

static void enter_pending(struct watcher *watcher)
{
	for (int i = 0; i < DIRECTORIES_AT_ONCE && watcher->pending; i++) {
		struct pending *pending = watcher->pending;
		watcher->pending = pending->next;
		enter_directory(watcher, pending->path);
		free(pending);
	}
	if (!watcher->pending && watcher->is_wide && !watcher->watches.is_full)
		watcher->is_complete = true;
	if (watcher->watches.is_full)
		watcher_report_limit(watcher);
}

/* Queues every directory that the scan searched. */
static void widen(struct watcher *watcher)
{
	const struct plan *plan = watcher->plan;
	watcher->is_wide = true;
	watcher->wide_at = 0;
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind != GRANT_SYSTEM && plan->grants.items[i].type == FILE_DIRECTORY)
			push(watcher, plan->grants.items[i].path);
}

/* Watches the directory of a known path and those above it, up to the root of the grant. */
static void watch_above(struct watcher *watcher, const char *path, const char *previous)
{
	const struct plan_grant *grant = plan_grant_for(watcher->plan, path);
	size_t stop = grant && grant->type == FILE_DIRECTORY ? strlen(grant->path) : 1;
	char directory[PATH_MAX];
	char *slash;

	if (strlen(path) >= sizeof directory)
		return;
	strcpy(directory, path);
	while ((slash = strrchr(directory, '/')) && (size_t)(slash - directory) >= stop && slash != directory) {
		autoclose int fd = -1;
		*slash = '\0';
		if (previous && path_is_within(previous, directory) && strlen(previous) > strlen(directory))
			return; /* watched with the path before this one */
		fd = watcher_open_directory(watcher, directory);
		if (fd >= 0)
			watches_add(&watcher->watches, fd, directory, true);
	}
}

static void check_all(struct watcher *watcher, bool is_polled)
{
	const struct appearance unseen = { .is_close = true };
	for (size_t i = 0; i < watcher->known.count; i++)
		mend_known(watcher, &watcher->known.items[i], &unseen);
	for (size_t i = 0; i < watcher->publics.count; i++)
		if (!watcher->publics.items[i].is_done)
			mend_public(watcher, &watcher->publics.items[i], is_polled);
}

/* A directory whose entries were moved there has no matching event of its origin if that is not
 * watched. Both events of one rename are in the queue one after the other. */
static bool is_moved_in(const struct watcher *watcher, const struct inotify_event *event)
{
	return (event->mask & IN_MOVED_TO) && watcher->is_complete && event->cookie != watcher->cookie;
}

static void handle_event(struct watcher *watcher, const struct inotify_event *event)
{
	const char *directory = watches_path(&watcher->watches, event->wd);
	char path[PATH_MAX];
	struct appearance entry = { .name = event->name, .is_directory = event->mask & IN_ISDIR };

	if (event->mask & IN_Q_OVERFLOW)
		watcher->has_lost = true;
	if (event->mask & IN_IGNORED)
		watches_forget(&watcher->watches, event->wd);
	if (directory && (event->mask & IN_MODIFY))
		visit_public(watcher, directory);
	if (!directory || event->len == 0)
		return;
	if (event->mask & IN_MOVED_FROM)
		watcher->cookie = event->cookie;
	entry.is_close = known_is_below(&watcher->known, directory);
	entry.is_moved = event->mask & IN_MOVED_TO;
	entry.is_moved_in = is_moved_in(watcher, event);
	if (event->mask & (IN_CREATE | IN_MOVED_TO))
		visit(watcher, directory, &entry);
	else if (entry.is_close && path_join_into(path, sizeof path, directory, event->name))
		mend_gone(watcher, path);
}

static void handle_events(struct watcher *watcher)
{
	static char buffer[EVENT_BYTES] __attribute__((aligned(8)));
	ssize_t got;
	while ((got = read(watcher->watches.inotify, buffer, sizeof buffer)) > 0)
		for (char *at = buffer; at < buffer + got;) {
			const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
			handle_event(watcher, event);
			at += sizeof *event + event->len;
		}
}

/* Events were lost: everything is looked at again, but not more often than is bearable. */
static void search_again(struct watcher *watcher, int64_t now)
{
	if (!watcher->has_lost || now < watcher->search_at)
		return;
	watcher->has_lost = false;
	watcher->is_complete = false;
	watcher->search_at = now + OVERFLOW_MS;
	check_all(watcher, false);
	widen(watcher);
}

static int timeout_of(const struct watcher *watcher, int64_t now)
{
	int64_t next = watcher->wide_at;
	if (watcher->pending)
		return 0;
	if (watcher->has_lost && (!next || watcher->search_at < next))
		next = watcher->search_at;
	if ((watcher->watches.inotify < 0 || watcher->has_unseen) && (!next || now + POLL_MS < next))
		next = now + POLL_MS;
	if (!next)
		return -1;
	return next <= now ? 0 : (int)(next - now);
}

/* Everything that was sent before is covered, and every cover is checked. */
static void answer_sync(struct watcher *watcher, const char *number)
{
	struct report report = { .type = REPORT_SYNCED, .value = strtoll(number, NULL, 10) };
	check_all(watcher, false);
	watcher_report(watcher, &report, "");
}

/* The supervisor reports which plants it has moved; of a session, what must be covered. */
static void take_answers(struct watcher *watcher)
{
	char text[PATH_MAX + 1];
	ssize_t got;
	while ((got = recv(watcher->socket, text, sizeof text - 1, MSG_DONTWAIT)) > 0) {
		text[got] = '\0';
		if (text[0] == WATCHER_HIDE || text[0] == WATCHER_LOCK)
			mend_found(watcher, text + 1, text[0] == WATCHER_HIDE);
		else if (text[0] == WATCHER_SYNC)
			answer_sync(watcher, text + 1);
		else
			mend_moved(watcher, text);
	}
	if (got == 0)
		_exit(0); /* the supervisor has exited */
}

/* A wake-up for each file that is unpacked would cost as much as a third of unpacking it. After
 * STORM batches without a pause the next one is collected for a millisecond. */
static void rest_in_storm(int64_t now)
{
	enum { STORM = 16, REST_NS = 1000000 };
	static int64_t last;
	static int batches;
	const struct timespec rest = { 0, REST_NS };
	batches = now - last <= 1 ? batches + 1 : 0;
	if (batches > STORM)
		nanosleep(&rest, NULL);
	last = clock_ms();
}

_Noreturn static void serve(struct watcher *watcher)
{
	for (;;) {
		struct pollfd ready[] = {
			{ .fd = watcher->watches.inotify, .events = POLLIN },
			{ .fd = watcher->socket, .events = POLLIN },
		};
		int64_t now = clock_ms();
		if (poll(ready, 2, timeout_of(watcher, now)) < 0 && errno != EINTR)
			_exit(1);
		now = clock_ms();
		if (ready[1].revents)
			take_answers(watcher);
		if (ready[0].revents)
			rest_in_storm(now);
		if (watcher->watches.inotify >= 0)
			handle_events(watcher);
		if (watcher->watches.inotify < 0 || watcher->has_unseen)
			check_all(watcher, true);
		if (watcher->wide_at && now >= watcher->wide_at)
			widen(watcher);
		search_again(watcher, now);
		enter_pending(watcher);
	}
}

_Noreturn void watcher_main(const struct watcher_request *request)
{
	static struct watcher watcher;
	struct error err = { 0 };

	watcher.plan = request->plan;
	watcher.socket = request->socket;
	watcher.lower = request->lower;
	watcher.begin = request->begin;
	watcher.repairs_planting = request->repairs_planting;
	if (watches_open(&watcher.watches) < 0)
		watcher.watches.inotify = -1; /* too many instances of this user: all masks are polled */
	if (watcher_enter(request, &watcher, &err) < 0)
		watcher_fail(&watcher, &err);
	known_fill(&watcher.known, request->plan);
	for (size_t i = 0; i < watcher.known.count; i++)
		watch_above(&watcher, watcher.known.items[i].match.path, i > 0 ? watcher.known.items[i - 1].match.path : NULL);
	mend_prepare_publics(&watcher);
	for (size_t i = 0; i < watcher.publics.count; i++)
		watch_above(&watcher, watcher.publics.items[i].path, i > 0 ? watcher.publics.items[i - 1].path : NULL);
	watch_above(&watcher, path_join(request->plan->arena, request->plan->context.project, POLICY_FILE_NAME), NULL);
	check_all(&watcher, false);
	if (watcher.watches.inotify < 0)
		watcher_report_limit(&watcher);
	watcher.entries = scan_entries_prepare(request->plan);
	watcher.wide_at = watcher.watches.inotify < 0 ? 0 : clock_ms() + WIDE_MS;
	serve(&watcher);
}

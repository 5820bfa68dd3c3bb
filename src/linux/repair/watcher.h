/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the watcher process, for its files only. */
#ifndef BERM_LINUX_REPAIR_WATCHER_H
#define BERM_LINUX_REPAIR_WATCHER_H

#include "linux/repair/internal.h"

/* A directory that is entered later. */
struct pending {
	struct pending *next;
	char path[];
};

/* A file that is readable because its content was public at launch. */
struct public_file {
	const char *path;
	const struct rule *rule; /* that denies its name */
	bool is_done; /* it is hidden now */
	unsigned count; /* of judgements */
	uint64_t device, inode; /* that was judged last; inode 0: none */
	int64_t changed; /* its time of change then; 0: too recent to be compared */
};

/* A plant that was reported. */
struct plant {
	const char *path;
	uint64_t device, inode;
	bool is_gone; /* the supervisor has moved it */
};

struct watcher {
	const struct plan *plan;
	int socket;
	/* Of a copy: the project on the host, whose directories are watched instead of those in the
	 * view, where the host's changes cause no event. -1: no copy. */
	int lower;
	bool has_unseen; /* of a copy: a new name of the host that the view does not show yet */
	int64_t begin;
	bool repairs_planting;
	struct watches watches;
	struct late_masks masks;
	struct known known;
	struct public_files {
		struct public_file *items; /* sorted by path */
		size_t count;
	} publics;
	struct scan *entries;
	struct pending *pending;
	struct plants {
		struct plant *items;
		size_t count;
	} plants;
	int64_t wide_at, search_at; /* monotonic milliseconds; 0: none */
	bool is_wide; /* all searched directories were queued */
	bool is_complete; /* and all are watched: every rename inside is seen at both ends */
	bool has_lost; /* events */
	bool has_reported_limit;
	uint32_t cookie; /* of the last rename away from a watched directory */
};

/* An entry that an event or a search shows. */
struct appearance {
	const char *name; /* NULL: not known */
	bool is_directory;
	bool is_close; /* its directory contains known paths */
	bool is_moved; /* by a rename */
	bool is_moved_in; /* from a directory that is not watched: not by the command */
};

/* watcher_enter.c: confines this process, enters the view's namespaces and opens watcher->masks. */
int watcher_enter(const struct watcher_request *request, struct watcher *watcher, struct error *err);

/* watcher.c: opens a directory that is watched, as O_RDONLY. -1 with errno. */
int watcher_open_directory(const struct watcher *watcher, const char *path);
/* True if the path is of a project of which the command has a copy. */
bool watcher_is_copied(const struct watcher *watcher, const char *path);

/* watcher_report.c */
void watcher_report(const struct watcher *watcher, struct report *report, const char *text);
void watcher_report_limit(struct watcher *watcher);
/* Reports why the run must end, and exits. */
_Noreturn void watcher_fail(const struct watcher *watcher, const struct error *err);

/* mend.c: looks at one path and does what verdict.c says. */
void mend_known(struct watcher *watcher, struct known_path *known, const struct appearance *entry);
/* True if a directory at the path must not be searched. */
bool mend_new(struct watcher *watcher, const char *path, const struct scan_entry *rules, const struct appearance *entry);
/* A name was removed or moved away. */
void mend_gone(struct watcher *watcher, const char *path);
/* Fills watcher->publics. */
void mend_prepare_publics(struct watcher *watcher);
/* Returns the file that was public at launch and may be still, or NULL. */
struct public_file *mend_find_public(const struct watcher *watcher, const char *path);
/* Watches such a file and judges it. One that is not public is hidden until the next launch. With
 * is_polled an unchanged file is not read again. */
void mend_public(struct watcher *watcher, struct public_file *file, bool is_polled);
/* Covers a path that a newer scan has found. Ends the run if it cannot. */
void mend_found(struct watcher *watcher, const char *path, bool is_mask);
/* The supervisor has moved this plant. */
void mend_moved(struct watcher *watcher, const char *path);

#endif

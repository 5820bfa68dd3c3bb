/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of the room repair. */
#ifndef BERM_LINUX_REPAIR_INTERNAL_H
#define BERM_LINUX_REPAIR_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/plan/plan.h"
#include "common/scan/scan.h"
#include "linux/repair/repair.h"
#include "linux/view/late_masks.h"

/* verdict.c: what to do about a file. Pure. */

enum repair_action {
	ACTION_NONE,
	ACTION_HIDE, /* mount a mask */
	ACTION_LOCK, /* mount a read-only copy */
	ACTION_LEAVE, /* the command may have made it: its own content until the next launch */
	ACTION_QUARANTINE,
	ACTION_END, /* move it to quarantine and end the run */
};

/* What is known about a file that is not covered by a mount. */
struct sighting {
	bool was_hidden, was_locked; /* this path was, at launch or later in this run */
	bool was_absent; /* and it was seen absent since */
	bool is_denied, is_protected; /* by a pattern, for a path that is new */
	bool is_from_host; /* the command cannot have made it */
	bool is_place; /* the host looks for protected names here */
	bool is_git; /* in a git directory that existed at launch */
	bool is_back; /* it was moved to quarantine in this run already */
	bool repairs_planting;
};
enum repair_action verdict_of(const struct sighting *sighting);

/* places.c: where the host obeys a protected name. */

struct place {
	bool is_place, is_git;
};
/* Returns whether a new protected name at this path counts. Reads the plan only. */
struct place place_of(const struct plan *plan, const char *path, const struct rule *rule);

/* known.c: the paths that are or were covered, sorted. */

struct known_path {
	struct plan_match match;
	bool is_mask;
	bool is_absent; /* seen absent */
};
struct known {
	struct known_path *items;
	size_t count;
};
void known_fill(struct known *known, const struct plan *plan);
struct known_path *known_find(const struct known *known, const char *path);
/* True if a known path is below the directory. */
bool known_is_below(const struct known *known, const char *directory);
/* Adds a path that was new. The match is copied. */
struct known_path *known_add(struct known *known, struct arena *arena, const struct plan_match *match, bool is_mask);

/* watches.c: directories with an inotify watch. */

struct watches {
	int inotify;
	char **paths; /* by watch descriptor; NULL: none */
	size_t room;
	size_t count, limit;
	bool is_full; /* `limit` or the kernel's limit was reached: some directories are not watched */
};
/* Opens inotify with the caller's credentials: its limits count. -1 with errno. */
int watches_open(struct watches *watches);
/* Watches a directory, which becomes the working directory, for names that appear, and with
 * has_deletions for those that are removed. `fd` is an fd of it. False if it is not watched. */
bool watches_add(struct watches *watches, int fd, const char *path, bool has_deletions);
/* Watches writes to a file. False if it is not watched; errno is ENOENT if it is gone. */
bool watches_add_file(struct watches *watches, int directory, const char *name, const char *path);
const char *watches_path(const struct watches *watches, int wd);
void watches_forget(struct watches *watches, int wd);

/* watcher.c: the watcher process. */

enum report_type {
	REPORT_EVENT, /* kind and path */
	REPORT_PLANT, /* path: to be moved to quarantine */
	REPORT_GIT_PLANT, /* the same, and the run ends */
	REPORT_FAILED, /* text: why the run must end */
	REPORT_SYNCED, /* value: the number of WATCHER_SYNC */
	REPORT_LIMIT, /* value: how many directories are watched; more cannot be */
};
struct report {
	enum report_type type;
	enum repair_kind kind;
	bool is_back; /* of a plant: the second one of its path */
	uint64_t device, inode; /* of a plant */
	int64_t exposed_us;
	int64_t value;
	char text[PATH_MAX]; /* a path or a sentence; only the used part is sent */
};

/* The supervisor sends the path of a plant that it has moved, which begins with a slash, or one of
 * these letters and a path or a number. */
enum { WATCHER_HIDE = 'h', WATCHER_LOCK = 'l', WATCHER_SYNC = 's' };

struct watcher_request {
	const struct plan *plan;
	int view; /* mount namespace */
	int lower; /* of a copy: the project on the host; else -1 */
	int socket;
	int64_t begin;
	pid_t parent;
	bool repairs_planting;
};
_Noreturn void watcher_main(const struct watcher_request *request);

/* Returns the length of a report with its text. */
static inline size_t report_size(size_t text_length)
{
	return offsetof(struct report, text) + text_length;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The room view: a new root that holds only what the plan names, made of namespaces, mounts and
 * masks. It never creates anything outside its own tmpfs, the private state, and the private home
 * and tmp. It never follows a symlink that another user could have made.
 *
 * Theory of operation. The new root is mounted over `/`, but the process's root stays below it.
 * Until the last step absolute paths name the host, and descriptors of the new mount name the new
 * root. At the end chroot(".") moves over. Some containers refuse chroot(2) to a process that began
 * without capabilities: there setns(2) into the namespace that the process is in already sets root
 * and working directory to the topmost mount of `/`, which is the same directory. The host's mounts
 * stay below the new root. No path leads there, because `..` ends at the topmost mount of `/`. They
 * cannot be uncovered without CAP_SYS_ADMIN over this namespace, and in a nested user namespace
 * they are locked. This costs 5 µs; pivot_root and umount cost 100-180.
 *
 * Steps, and why each comes where it is:
 *   refuse    as root: kernel file systems mounted in
 *             writable paths                            - no mount has been made yet
 *   writable  detached copies of what stays writable    - the host's tree is still writable
 *   lock      the host's tree: private, read-only,
 *             nosuid, nodev                             - would lock the copies above too
 *   readable  detached copies of the rest               - they inherit the lock
 *   root      an empty tmpfs, or a cached layout with a
 *             small tmpfs for the run's files, over
 *             `/`; the launcher fills that directory    - a cached layout is a copy of the
 *                                                         locked tree
 *   attach    the copies, private links, /dev, /proc;
 *             the ways to them in the private home
 *             become read-only                          - their mount points must exist
 *   scan      waits for the scan's results              - all before does not depend on them
 *   pin       the socket for git's reports; pins        - the root is still writable; a lock's copy
 *                                                         must contain the pins below it
 *   mask      waits for the run's files; locks, masks   - the root becomes read-only here
 *   enter     chroot or setns; working directory        - masks need the host's /proc/self/fd */
#ifndef BERM_LINUX_VIEW_VIEW_H
#define BERM_LINUX_VIEW_VIEW_H

#include <stdbool.h>
#include <time.h>

#include "common/backend.h"
#include "common/base/error.h"
#include "common/plan/plan.h"
#include "common/state/state.h"

struct view_result {
	int git_events; /* for git_events_take; -1: the plan locks no repository's configuration */
	bool has_proc; /* false: the kernel refused procfs (containers), and /proc is empty */
};

struct view_request {
	const struct state *state;
	const struct state_place *root; /* of root_cache_find; path NULL: a new root is made */
	bool has_terminal; /* view_has_terminal */
	/* The directories of a copy of the project, whose fds view_enter closes; NULL: the project
	 * itself is mounted. */
	const struct run_copy *copy;
	void *self; /* for the callbacks */
	/* Called once the directory of the run's files exists, so that it can be filled
	 * (run_files.h). */
	int (*offer)(void *self, int own, struct error *err);
	/* Called when all is mounted that does not depend on the scan. Adds the scan's results to
	 * the plan. */
	int (*await)(void *self, struct error *err);
	/* Called when the run's files are needed, until all masks exist. As run_files_await. */
	int (*await_run_files)(void *self, size_t *masks, struct error *err);
};
/* Builds the view and enters it: root and working directory are inside afterwards. Needs
 * CAP_SYS_ADMIN in the mount namespace's user namespace, and a new pid namespace for /proc. */
int view_enter(const struct plan *plan, const struct view_request *request, struct view_result *result, struct error *err);
/* Makes the same calls without a plan, in a throwaway namespace: fails if this machine cannot build
 * a view. */
int view_probe(struct view_result *result, struct error *err);
/* Enters an empty root in the same way as view_enter, after view_probe in the same namespace. */
int view_probe_entry(struct error *err);

/* True if something is mounted below the path; stores the first such mount point. False if that is
 * not known. */
bool view_mount_below(const char *path, char *point, size_t size);

/* True if stdin, stdout or stderr is a terminal that has a name in /dev. */
bool view_has_terminal(void);
enum { VIEW_TERMINAL_MAX = 64 };
/* Stores the host's path of the terminal on which berm was started. False if it has none below
 * /dev. */
bool view_terminal_name(char name[VIEW_TERMINAL_MAX]);

/* Creates all mount points of this plan's view in the directory `root`. */
int root_layout_make(int root, const struct plan *plan, bool has_terminal, struct error *err);
/* Computes a name that only plans with the same layout have. It is not terminated. */
enum { VIEW_SHAPE_HEX = 32 };
void root_layout_name(const struct plan *plan, char name[VIEW_SHAPE_HEX]);

/* Finds the cached root layout of this name in the project's private state, or creates it. The
 * cache saves a launch from creating some fifty directories, files and links, and the kernel from
 * removing them. It is in the class directory, which no sandbox can write and whose lock keeps
 * `berm state reset` away during use. It appears complete or not at all.
 *
 * `place` has no path if there is no cache; then the view makes a new root. -1 if something else is
 * in its place, which is refused and never repaired. */
int root_cache_find(const struct plan *plan, const char name[VIEW_SHAPE_HEX], bool has_terminal, int class_directory,
		    struct state_place *place, struct error *err);

/* Adds what the command has made since that time, by the clock of file systems, directly in the
 * private home beside the way to the project. Called when the run has ended. */
void view_list_beside(const struct plan *plan, const struct state_place *home, const struct timespec *since,
		      struct run_beside *found);

/* Reads a bounded number of git's reports from view_result.git_events. Returns the GIT_REFUSED_*
 * bits of the complaints among them. */
unsigned git_events_take(int fd);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The caller of a notified system call: its memory, directories and umask. Memory is read once;
 * whatever is done afterwards uses the copy. Functions return 0 or an errno. */
#ifndef BERM_LINUX_GUARD_CALLER_H
#define BERM_LINUX_GUARD_CALLER_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Called once, before the threads that serve: opens what the functions below use often. */
void caller_begin(void);
int caller_read(pid_t caller, uint64_t address, void *buffer, size_t size);
/* Reads up to the NUL. */
int caller_read_string(pid_t caller, uint64_t address, char *buffer, size_t size);
/* Opens a file by the caller's fd, or its working directory (AT_FDCWD), with O_PATH. Returns an fd
 * that the caller closes, or -1. The pid comes from the kernel. */
int caller_open(pid_t caller, int descriptor);

/* Reads the path of the same as the kernel knows it; returns as readlink(2). */
ssize_t caller_path(pid_t caller, int descriptor, char *path, size_t size);

/* A name that a call would make, in an open directory. */
struct caller_name {
	int directory; /* O_PATH; -1 if there is none */
	char name[NAME_MAX + 1]; /* never "", "." or ".." */
	bool has_slash; /* slashes followed the name */
	const char *path; /* the directory's path as the kernel knows it, "/", name */
	char text[PATH_MAX + NAME_MAX + 2]; /* of path, unless it is longer */
	char *long_path; /* of path then; freed by caller_forget */
};
/* For a struct that has no name yet. */
static inline void caller_name_begin(struct caller_name *name)
{
	name->directory = -1;
	name->long_path = NULL;
}

/* Finds the name of a path that starts at `base`, an fd of the caller or AT_FDCWD. `resolve` as in
 * openat2(2). Follows no magic link: those of /proc would be the deputy's own. On failure nothing
 * is open; ENOENT and ENOTDIR are then what the kernel would answer (caller_is_sure). */
int caller_find(pid_t caller, int base, const char *path, uint64_t resolve, struct caller_name *name);
/* True for an errno of caller_find that is the answer to the call. A call that is continued instead
 * would fail with EACCES if the directory were made meanwhile. */
static inline bool caller_is_sure(int failed)
{
	return failed == ENOENT || failed == ENOTDIR;
}
/* The same for the target of a symlink in an open directory, which this function closes. */
int caller_follow(pid_t caller, const char *target, struct caller_name *name);
void caller_forget(struct caller_name *name);
/* True if the path is spelled as one of a device, which is never made. */
bool caller_is_device(const char *path);

/* Returns the path of this process's fd as the kernel knows it, as readlink(2). */
ssize_t caller_path_of(int fd, char *path, size_t size);

/* long_path.c: the path of a name in an open directory whose path the kernel does not tell, because
 * it is longer than PATH_MAX. *path is freed by the caller. */
int caller_long_path(int directory, const char *name, char **path);

/* umask.c: the umasks of the processes inside. Reading one from /proc costs as much as the call
 * itself, so it is done only once a process has set another than the command began with. */
enum { CALLER_UMASKS = 256 };
struct caller_umasks {
	mode_t initial;
	atomic_bool is_changed; /* a process has set another mask */
	pthread_mutex_t lock; /* of the rest */
	unsigned generation; /* number of umask() calls */
	struct {
		pid_t caller;
		unsigned generation;
		mode_t mask;
		int64_t read_at;
	} known[CALLER_UMASKS];
};
/* initial: the mask that the command begins with. */
void caller_umasks_begin(struct caller_umasks *umasks, mode_t initial);
void caller_umasks_end(struct caller_umasks *umasks);
/* Gives the calling thread, whose umask must be its own, that of the caller. *current: the thread's
 * umask. */
void caller_umask_take(struct caller_umasks *umasks, pid_t caller, mode_t *current);
/* Called for each umask() call, before it is performed. */
void caller_umask_note(struct caller_umasks *umasks, uint64_t mask);

#endif

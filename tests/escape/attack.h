/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by every attack: the form of a result. An attack prints one line per thing it tried and
 * `END` when it is through, so that an attack which crashed or was cut short is never mistaken
 * for one that was stopped:
 *
 *   REACHED what            the attack works here
 *   DENIED what ERRNO       the call failed
 *   ABSENT what ERRNO       the target is not there (ENOENT, ESRCH, ENXIO)
 *   KILLED what SIGNAL      the process that tried was killed
 *   END
 *
 * An attack behaves the same with and without a wall around it: it never asks where it runs. */
#ifndef BERM_TESTS_ESCAPE_ATTACK_H
#define BERM_TESTS_ESCAPE_ATTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct attack {
	const char *name;
	void (*run)(char **arguments); /* ends with NULL */
	const char *help; /* its arguments, one line */
};

/* One table per theme; each ends with a NULL name. */
extern const struct attack attacks_descriptors[];
extern const struct attack attacks_files[];
extern const struct attack attacks_harm[];
extern const struct attack attacks_kernel[];
extern const struct attack attacks_lifetime[];
extern const struct attack attacks_network[];
extern const struct attack attacks_planting[];
extern const struct attack attacks_proc[];
extern const struct attack attacks_race[];
extern const struct attack attacks_sockets[];
extern const struct attack attacks_guard[];
extern const struct attack attacks_long[];
extern const struct attack attacks_terminal[];

/* `result`: 0 or more is success, otherwise a negative errno. */
void report(const char *what, long result);
void report_reached(const char *what);
/* A name for a report line made of a verb and a path: one word, printable. Returns a static
 * buffer. */
const char *labelled(const char *verb, const char *object);

/* Tries `call` in a child process, so that a deadly verdict ends only that child. `through`
 * (ends with 0, may be NULL) are the errno values which prove that the call was let through to the
 * kernel's own checks: EFAULT for a bad pointer, say. */
void probe(const char *what, long (*call)(void *argument), void *argument, const int *through);
#define THROUGH(...) ((const int[]){ __VA_ARGS__, 0 })

/* Turns -1 with errno into a negative errno. */
long result_of(long value);
/* Gains as much power over namespaces as this user can get, in a new mount namespace: mounts that
 * follow stay private. Failure is fine: inside a wall it is expected, and the attack goes on
 * without. */
void gain_namespaces(void);
/* Waits until `path` exists and holds something, at most two seconds; its first line, or NULL.
 * Static buffer. */
const char *wait_for_line(const char *path);

#endif

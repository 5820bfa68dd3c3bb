/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as a Seatbelt profile; portable. Pure: the same plan and run give the same bytes on
 * every system. Never starts a process, and never puts a path that is not plain printable ASCII
 * into the text: such a path is a parameter, so that no name can end a string or a form. */
#ifndef BERM_MACOS_PROFILE_PROFILE_H
#define BERM_MACOS_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/plan/plan.h"

/* Values of one run, which the plan does not have. All paths are canonical (realpath) and clean. */
struct profile_run {
	/* Part of every report of a violation: letters, digits and `.:_-`, at most 64; NULL:
	 * "berm". */
	const char *tag;
	/* The proxy's port on 127.0.0.1 and ::1. 0: not known yet; the profile then has the
	 * parameter PROFILE_PROXY ("localhost:PORT"). Used only if profile_needs_proxy(). */
	uint16_t proxy_port;
	/* The private home and temporary directory, if they are not those of plan->state (`home:
	 * empty`). With `home: host` a private home exists too, but HOME does not point to it. */
	const char *home, *tmp;
	/* The run's directories in the user's temporary and cache directories, whose paths only a
	 * Mac knows: /private/var/folders/../T/NAME. NULL: there are none. */
	const char *user_temporary, *user_cache;
	/* The terminals among the command's standard streams: /dev/ttysNNN. */
	const char *const *terminals;
	size_t terminal_count;
	/* A file in plan->state.documents that only this run must not read: with it the launcher
	 * finds the processes of the run. May be NULL. */
	const char *mark;
	/* A program that must start in the sandbox even if no rule grants it: it writes the proof
	 * that the sandbox is active. May be NULL. */
	const char *helper;
};

#define PROFILE_PROXY "PROXY"

/* `-D name=value` of sandbox-exec. Names are P1, P2, ...; values are any bytes but NUL. */
struct profile_parameter {
	const char *name, *value;
};

struct profile {
	const char *text; /* ends with a newline */
	size_t length;
	struct profile_parameters {
		struct profile_parameter *items;
		size_t count;
	} parameters;
};

/* True if the plan reaches the network only through berm's proxy: it has a list of allowed
 * destinations, or `all` with denied ones. */
bool profile_needs_proxy(const struct plan *plan);

/* Writes the profile of a plan for macOS (context.os). The plan must be scanned (plan_scan),
 * because the scan finds hard links and targets of symlinks. The result is allocated in the arena.
 * Returns -1 with err if a profile cannot express the plan: then nothing may run. */
int profile_write(struct arena *arena, const struct plan *plan, const struct profile_run *run, struct profile *profile,
		  struct error *err);

/* Prints the parameters as comments (`; -D P1=value`, unprintable bytes as %XX), then the text. */
struct text;
void profile_print(const struct profile *profile, struct text *out);

#endif

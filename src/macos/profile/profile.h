/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as a Seatbelt profile. Pure: the same plan and run give the same bytes, on every system. The text is ASCII; a path that
 * is anything but plain printable ASCII never stands in it but is a parameter, so that no name can end a string or a form. */
#ifndef BERM_MACOS_PROFILE_PROFILE_H
#define BERM_MACOS_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/plan/plan.h"

/* What the plan does not know because it is of this run. All paths are canonical (realpath) and clean. */
struct profile_run {
	/* Stands in every report of a violation: letters, digits and `.:_-` only, at most 64; NULL: "berm". */
	const char *tag;
	/* Where the proxy listens on loopback (127.0.0.1 and ::1). 0: not known yet; the profile then asks for the parameter
	 * PROFILE_PROXY ("localhost:PORT"). Read only if profile_needs_proxy. */
	uint16_t proxy_port;
	/* The private home and directory for temporary files, if they are not those of plan->state (`home: empty`). With
	 * `home: host` there is still a private home on disk, but HOME does not lead there. */
	const char *home, *tmp;
	/* Devices of the terminals that the command's standard streams are: /dev/ttysNNN. */
	const char *const *terminals;
	size_t terminal_count;
	/* A program that has to start inside although no rule may grant it: what proves that the sandbox holds. May be NULL. */
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

/* Does this plan reach the network only through berm's proxy: a list of allowed destinations, or `all` with some denied? */
bool profile_needs_proxy(const struct plan *plan);

/* The plan has to be one for macOS (context.os) and scanned (plan_scan), because hard links and what symlinks lead to are known
 * only then. The result lives in the arena. -1 with err if the plan cannot be said in a profile: then nothing may run. */
int profile_write(struct arena *arena, const struct plan *plan, const struct profile_run *run, struct profile *profile,
		  struct error *err);

/* For people and for tests: the parameters as comments (`; -D P1=value`, what is not plain as %XX), then the text. */
struct text;
void profile_print(const struct profile *profile, struct text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The AppArmor profile that lets berm make user namespaces where the host keeps them from programs without one (Ubuntu 23.10 and later). It
 * permits that and confines nothing: what berm runs is confined by berm. */
#ifndef BERM_LINUX_PROBE_APPARMOR_H
#define BERM_LINUX_PROBE_APPARMOR_H

#include "common/base/arena.h"
#include "common/base/error.h"

/* The profile for this program, or NULL if the path holds what AppArmor's patterns take for something else. The usual places share one
 * profile: the text of packaging/apparmor/berm without its comments. */
const char *apparmor_profile(struct arena *arena, const char *program);
/* Is the file, and every directory above it, root's alone to change? Else the profile would be a gift to whoever can change it. */
int apparmor_judge_program(struct arena *arena, const char *program, struct error *err);

#endif

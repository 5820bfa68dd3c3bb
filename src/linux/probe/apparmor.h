/* SPDX-License-Identifier: Apache-2.0 */
/* The AppArmor profile that permits berm to create user namespaces on hosts that require a profile
 * for that (Ubuntu 23.10 and later). The profile confines nothing: berm confines the command. */
#ifndef BERM_LINUX_PROBE_APPARMOR_H
#define BERM_LINUX_PROBE_APPARMOR_H

#include "common/base/arena.h"
#include "common/base/error.h"

/* Returns the text of the profile for this program, or NULL if AppArmor would read its path as a
 * pattern. /usr/bin and /usr/local/bin share one profile: packaging/apparmor/berm without its
 * comments. */
const char *apparmor_profile(struct arena *arena, const char *program);
/* Fails unless only root can change the file and every directory above it. Otherwise any user that
 * can replace the file would inherit the permission. */
int apparmor_check_program(struct arena *arena, const char *program, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Users that are not in /etc/passwd (LDAP, sssd, systemd-homed). A static program cannot load the
 * modules that know them, so the system's own getent is asked. Internal to the context. */
#ifndef BERM_COMMON_CONTEXT_NAME_SERVICE_H
#define BERM_COMMON_CONTEXT_NAME_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/base/arena.h"

struct name_service_user {
	const char *name, *home;
};

/* Runs getent, which only root can have changed, without the caller's environment. False if it has
 * no such user, or cannot be run. */
bool name_service_find(struct arena *arena, uid_t uid, struct name_service_user *user);
/* Reads one line of passwd(5). False if it is not of this user. */
bool name_service_parse(struct arena *arena, const char *line, uid_t uid, struct name_service_user *user);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Parses hosts and ports from URLs in package managers' settings. Never copies any other part of a
 * URL (user, password, token, path). */
#ifndef BERM_COMMON_REGISTRY_URL_H
#define BERM_COMMON_REGISTRY_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/arena.h"

struct url {
	const char *destination; /* "host:443" as in network.allow; NULL if ambiguous */
	uint16_t port;
	bool is_loopback; /* this machine's: network.local, by port */
};

/* Parses the next URL with a network scheme and moves *at past it. Returns false if
 * there is none. */
bool url_next(struct arena *arena, const char **at, struct url *url);

#endif

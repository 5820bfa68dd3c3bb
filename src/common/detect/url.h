/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts and ports from the URLs in package managers' settings. Whatever else a URL holds (user, password, token, path) is never
 * copied anywhere. */
#ifndef BERM_COMMON_DETECT_URL_H
#define BERM_COMMON_DETECT_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/arena.h"

struct url {
	const char *destination; /* as network.allow takes it: "host:443"; NULL if host and port cannot be told for certain */
	uint16_t port;
	bool is_loopback; /* of this machine: network.local, by port */
};

/* The next URL of a network scheme in the text; moves *at past it. False if there is none. */
bool url_next(struct arena *arena, const char **at, struct url *url);

#endif

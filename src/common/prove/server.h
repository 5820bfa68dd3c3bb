/* SPDX-License-Identifier: Apache-2.0 */
/* The model's HTTP server: loopback only, one process per connection. Internal to prove.h. */
#ifndef BERM_COMMON_PROVE_SERVER_H
#define BERM_COMMON_PROVE_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "common/base/error.h"
#include "common/prove/prove.h"

struct prove_server {
	int listener;
	uint16_t port;
	int read_end, write_end; /* a pipe: one byte, an enum prove_outcome, per answer of a tool */
};

int prove_server_open(struct prove_server *server, struct error *err);
/* Serves until the child exits, an answer came, or the time is over. `proof` is what the command
 * prints; "-in" or "-out" follows. *child becomes -1 if it exited and was waited for. */
enum prove_outcome prove_server_run(struct prove_server *server, pid_t *child, const char *command, const char *proof);
void prove_server_close(struct prove_server *server);

#endif

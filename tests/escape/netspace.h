/* SPDX-License-Identifier: Apache-2.0 */
/* A network of the test's own: a namespace whose loopback device carries the addresses that an
 * attack aims at, and servers that count what arrives. No packet leaves the namespace. */
#ifndef BERM_TESTS_ESCAPE_NETSPACE_H
#define BERM_TESTS_ESCAPE_NETSPACE_H

#include <sys/types.h>

/* Moves the calling process (and what it starts) there. */
void netspace_enter(void);
/* Listens on every address of the namespace: TCP and an echoing UDP, on each of the ports (ends
 * with 0). Returns the server. */
pid_t netspace_serve(const int *ports);
/* How many connections and datagrams have arrived: asked of the server, which takes everything that
 * waits before it answers. */
int netspace_arrivals(void);

#endif

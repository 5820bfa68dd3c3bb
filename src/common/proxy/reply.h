/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of the proxy to a client, in HTTP or SOCKS. Internal to the proxy. */
#ifndef BERM_COMMON_PROXY_REPLY_H
#define BERM_COMMON_PROXY_REPLY_H

#include "common/proxy/connection.h"

/* Each closes the connection once the reply is sent. */
void reply_bad(struct connection *connection, int status, const char *sentence, int64_t now);
void reply_login_needed(struct connection *connection, int64_t now);
void reply_refused(struct connection *connection, const char *reason, bool is_allowable, int64_t now);
/* Number is an errno. */
void reply_failed(struct connection *connection, int number, const char *sentence, int64_t now);
/* Reports success to the client; the connection is relayed from then on. */
void reply_connected(struct connection *connection);
/* Queues bytes for the client. There is always room for a message at these stages. */
void reply_bytes(struct connection *connection, const void *bytes, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the proxy says to a client in each of its languages, and where a connection goes: judgement, resolution, connecting. Inside the
 * proxy only. */
#ifndef BERM_COMMON_PROXY_REPLY_H
#define BERM_COMMON_PROXY_REPLY_H

#include "common/proxy/connection.h"

/* proxy_answer.c: each ends the connection once its words are out. */
void answer_bad(struct connection *connection, int status, const char *sentence, int64_t now);
void answer_login_needed(struct connection *connection, int64_t now);
void answer_refused(struct connection *connection, const char *reason, bool is_allowable, int64_t now);
void answer_failed(struct connection *connection, int number, const char *sentence, int64_t now); /* number: an errno */
/* The way is open. */
void answer_connected(struct connection *connection);
/* Bytes for the client as they are; there is always room for a message at these stages. */
void answer_bytes(struct connection *connection, const void *bytes, size_t length);

/* proxy_way.c: with host and port as the client wrote them. */
void way_begin(struct connection *connection, int64_t now);
void way_resolved(struct connection *connection, int64_t now);
void way_relay(struct connection *connection, uint16_t port, int64_t now);
/* The connecting socket became writable, or its time is over. */
void way_connecting(struct connection *connection, bool has_event, int64_t now);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Refused connections, counted by destination and reason. The table has a fixed size and no
 * pointers: the proxy fills it, the launcher receives it as bytes and prints it. The command
 * chooses its content, so that it is limited here and escaped when printed. */
#ifndef BERM_COMMON_PROXY_REFUSALS_H
#define BERM_COMMON_PROXY_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/text.h"

enum { EGRESS_HOST_MAX = 255, EGRESS_REASON_MAX = 191, EGRESS_REPORT_MAX = 48 };

struct refusal {
	char host[EGRESS_HOST_MAX + 1];
	char reason[EGRESS_REASON_MAX + 1]; /* one clause */
	uint16_t port;
	bool is_allowable; /* an allow rule for this destination would allow it */
	uint32_t count;
};

struct refusals {
	uint32_t count;
	uint32_t others; /* refusals after the table was full */
	struct refusal items[EGRESS_REPORT_MAX];
	struct refusal failure; /* the last connection that is allowed and failed; count 0: none */
	uint32_t allowed_count;
	uint32_t allowed_others; /* connections after the table was full */
	struct refusal allowed[EGRESS_REPORT_MAX]; /* that were made; without reasons */
};

void refusals_add(struct refusals *reports, const char *host, uint16_t port, const char *reason, bool is_allowable);
/* Notes a connection that the policy allows and that could not be made. */
void refusals_add_failure(struct refusals *reports, const char *host, uint16_t port, const char *reason);
/* Notes a connection that was made. */
void refusals_add_allowed(struct refusals *reports, const char *host, uint16_t port);
/* Validates a table from another process: limits counts and terminates texts. */
void refusals_secure(struct refusals *reports);
uint64_t refusals_total(const struct refusals *reports);
/* Adds one line without its end: the count, the first destinations with reasons, and how to allow
 * them. Nothing without refusals. */
void refusals_summary(const struct refusals *reports, struct text *out);
/* Adds a line for each destination. */
void refusals_details(const struct refusals *reports, struct text *out);
/* Adds one line about the last failure. Nothing without one. */
void refusals_failure(const struct refusals *reports, struct text *out);
/* Adds HOST:PORT in the syntax of network.allow, escaped. */
void refusals_add_destination(struct text *out, const char *host, uint16_t port);
/* True for a name or address of this machine: programs use no proxy for it, so that `network.local`
 * is the key for it and not `network.allow`. */
bool refusals_is_here(const char *host);

#endif

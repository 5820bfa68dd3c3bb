/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that were refused, counted by destination and reason, in a table of fixed size without pointers: whoever judges
 * connections fills it (the proxy now), the launcher takes it over as bytes and says it. What it holds was chosen by the command, so
 * it is bounded here and escaped where it is printed. */
#ifndef BERM_COMMON_PROXY_REFUSALS_H
#define BERM_COMMON_PROXY_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/text.h"

enum { EGRESS_HOST_MAX = 255, EGRESS_REASON_MAX = 191, EGRESS_REPORT_MAX = 48 };

struct egress_report {
	char host[EGRESS_HOST_MAX + 1];
	char reason[EGRESS_REASON_MAX + 1]; /* one clause */
	uint16_t port;
	bool is_allowable; /* a rule for this destination would change the answer */
	uint32_t count;
};

struct egress_reports {
	uint32_t count;
	uint32_t others; /* refusals that found the table full */
	struct egress_report items[EGRESS_REPORT_MAX];
};

void egress_refused(struct egress_reports *reports, const char *host, uint16_t port, const char *reason, bool is_allowable);
/* Bytes that came from another process, made harmless: counts within bounds, texts that end. */
void egress_reports_secure(struct egress_reports *reports);
uint64_t egress_reports_total(const struct egress_reports *reports);
/* One line without its end, nothing if nothing was refused: how often, the first few destinations, why, and what would allow them. */
void egress_summary(const struct egress_reports *reports, struct text *out);
/* A line for each. */
void egress_details(const struct egress_reports *reports, struct text *out);
/* HOST:PORT as network.allow takes it, with brackets where they belong; escaped. */
void egress_add_destination(struct text *out, const char *host, uint16_t port);

#endif

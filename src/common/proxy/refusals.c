/* SPDX-License-Identifier: Apache-2.0 */
/* The table and its text. */
#include "common/proxy/refusals.h"

#include <string.h>

enum { SHOWN = 3 };

static void copy(char *out, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memcpy(out, text, length);
	out[length] = '\0';
}

static void add(struct refusal items[EGRESS_REPORT_MAX], uint32_t *count, uint32_t *others, const struct refusal *fresh)
{
	for (uint32_t i = 0; i < *count; i++) {
		struct refusal *item = &items[i];
		if (item->port == fresh->port && strcmp(item->host, fresh->host) == 0 &&
		    strcmp(item->reason, fresh->reason) == 0) {
			item->count += item->count < UINT32_MAX;
			return;
		}
	}
	if (*count < EGRESS_REPORT_MAX)
		items[(*count)++] = *fresh;
	else
		*others += *others < UINT32_MAX;
}

void refusals_add(struct refusals *reports, const char *host, uint16_t port, const char *reason, bool is_allowable)
{
	struct refusal fresh = { .port = port, .is_allowable = is_allowable, .count = 1 };

	copy(fresh.host, sizeof fresh.host, host);
	copy(fresh.reason, sizeof fresh.reason, reason);
	add(reports->items, &reports->count, &reports->others, &fresh);
}

void refusals_add_allowed(struct refusals *reports, const char *host, uint16_t port)
{
	struct refusal fresh = { .port = port, .count = 1 };

	copy(fresh.host, sizeof fresh.host, host);
	add(reports->allowed, &reports->allowed_count, &reports->allowed_others, &fresh);
}

void refusals_add_failure(struct refusals *reports, const char *host, uint16_t port, const char *reason)
{
	struct refusal *item = &reports->failure;

	item->count += item->count < UINT32_MAX;
	item->port = port;
	copy(item->host, sizeof item->host, host);
	copy(item->reason, sizeof item->reason, reason);
}

static void secure(struct refusal *item)
{
	unsigned char flag;
	item->host[EGRESS_HOST_MAX] = '\0';
	item->reason[EGRESS_REASON_MAX] = '\0';
	/* A byte other than 0 and 1 in a bool is undefined behaviour. */
	memcpy(&flag, &item->is_allowable, 1);
	item->is_allowable = flag == 1;
}

void refusals_secure(struct refusals *reports)
{
	if (reports->count > EGRESS_REPORT_MAX)
		reports->count = EGRESS_REPORT_MAX;
	for (uint32_t i = 0; i < reports->count; i++)
		secure(&reports->items[i]);
	if (reports->allowed_count > EGRESS_REPORT_MAX)
		reports->allowed_count = EGRESS_REPORT_MAX;
	for (uint32_t i = 0; i < reports->allowed_count; i++)
		secure(&reports->allowed[i]);
	secure(&reports->failure);
}

uint64_t refusals_total(const struct refusals *reports)
{
	uint64_t total = reports->others;

	for (uint32_t i = 0; i < reports->count; i++)
		total += reports->items[i].count;
	return total;
}

void refusals_add_destination(struct text *out, const char *host, uint16_t port)
{
	bool has_brackets = strchr(host, ':') != NULL;

	text_add(out, "%s", has_brackets ? "[" : "");
	text_add_visible(out, host, strlen(host));
	text_add(out, "%s:%u", has_brackets ? "]" : "", port);
}

bool refusals_is_here(const char *host)
{
	return strcmp(host, "localhost") == 0 || text_ends_with(host, ".localhost") || strncmp(host, "127.", 4) == 0 ||
	       strcmp(host, "::1") == 0;
}

static void add_item(struct text *out, const struct refusal *item)
{
	refusals_add_destination(out, item->host, item->port);
	if (item->count > 1)
		text_add(out, " ×%u", item->count);
	text_add(out, " (");
	text_add_visible(out, item->reason, strlen(item->reason));
	if (item->is_allowable && refusals_is_here(item->host)) {
		text_add(out, "; a service of the host: ask the user for network: {local: [%u]}", item->port);
	} else if (item->is_allowable) {
		text_add(out, "; do not retry, ask the user to allow it: --allow-net=");
		refusals_add_destination(out, item->host, item->port);
		text_add(out, " or network.allow");
	}
	text_add(out, ")");
}

void refusals_summary(const struct refusals *reports, struct text *out)
{
	uint64_t total = refusals_total(reports);
	uint32_t shown = reports->count < SHOWN ? reports->count : SHOWN;

	if (total == 0)
		return;
	text_add(out, "refused %llu connection%s: ", (unsigned long long)total, total == 1 ? "" : "s");
	for (uint32_t i = 0; i < shown; i++) {
		text_add(out, "%s", i > 0 ? ", " : "");
		add_item(out, &reports->items[i]);
	}
	if (reports->count > shown)
		text_add(out, ", and %u more destinations (-v names them)", reports->count - shown);
}

void refusals_failure(const struct refusals *reports, struct text *out)
{
	const struct refusal *item = &reports->failure;

	if (item->count == 0)
		return;
	text_add(out, "the policy allows ");
	refusals_add_destination(out, item->host, item->port);
	text_add(out, ", but the connection failed outside the sandbox: ");
	text_add_visible(out, item->reason, strlen(item->reason));
	text_add(out, " (a proxy reports that as 502 or 504); no rule changes it");
}

void refusals_details(const struct refusals *reports, struct text *out)
{
	for (uint32_t i = 0; i < reports->count; i++) {
		text_add(out, "  ");
		add_item(out, &reports->items[i]);
		text_add(out, "\n");
	}
	if (reports->others > 0)
		text_add(out, "  %u more to other destinations\n", reports->others);
}

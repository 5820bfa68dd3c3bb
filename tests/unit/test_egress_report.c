/* SPDX-License-Identifier: Apache-2.0 */
/* The table of refusals: counted, bounded, and harmless whatever it holds. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/proxy/refusals.h"

static struct egress_reports reports;

static const char *summary(void)
{
	static char out[4096];
	struct text text = { 0 };
	egress_summary(&reports, &text);
	snprintf(out, sizeof out, "%s", text.data ? text.data : "");
	text_free(&text);
	return out;
}

TEST counts_by_destination_and_reason(void)
{
	reports = (struct egress_reports){ 0 };
	ASSERT_STR_EQ("", summary());
	egress_refused(&reports, "h.test", 443, "no rule allows this name", true);
	ASSERT_STR_EQ(
		"refused 1 connection: h.test:443 (no rule allows this name; --allow-net=h.test:443 or network.allow would)",
		summary());
	egress_refused(&reports, "h.test", 443, "no rule allows this name", true);
	egress_refused(&reports, "::1", 80, "denied", false);
	ASSERT_EQ(2, reports.count);
	ASSERT(strstr(summary(), "refused 3 connections: h.test:443 ×2 ("));
	ASSERT(strstr(summary(), ", [::1]:80 (denied)"));
	egress_refused(&reports, "c", 1, "denied", false);
	egress_refused(&reports, "d", 1, "denied", false);
	ASSERT(strstr(summary(), ", and 1 more destinations (-v names them)"));
	PASS();
}

TEST is_bounded(void)
{
	char host[1000];

	reports = (struct egress_reports){ 0 };
	for (int i = 0; i < EGRESS_REPORT_MAX + 50; i++) {
		snprintf(host, sizeof host, "h%d.test", i);
		egress_refused(&reports, host, 443, "denied", false);
	}
	ASSERT_EQ(EGRESS_REPORT_MAX, reports.count);
	ASSERT_EQ(50, reports.others);
	ASSERT_EQ(EGRESS_REPORT_MAX + 50, egress_reports_total(&reports));
	reports = (struct egress_reports){ 0 };
	memset(host, 'a', sizeof host - 1);
	host[sizeof host - 1] = '\0';
	egress_refused(&reports, host, 443, host, false);
	ASSERT_EQ(EGRESS_HOST_MAX, strlen(reports.items[0].host));
	ASSERT_EQ(EGRESS_REASON_MAX, strlen(reports.items[0].reason));
	PASS();
}

TEST is_harmless(void)
{
	reports = (struct egress_reports){ 0 };
	egress_refused(&reports, "\033]52;c;eA==\a\n.test", 443, "a\nb", true);
	ASSERT_FALSE(strpbrk(summary(), "\033\a\n"));
	/* Whatever another process may have sent. */
	memset(&reports, 0xff, sizeof reports);
	egress_reports_secure(&reports);
	ASSERT_EQ(EGRESS_REPORT_MAX, reports.count);
	ASSERT_FALSE(strpbrk(summary(), "\033\a\n"));
	ASSERT(strlen(summary()) > 0);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(counts_by_destination_and_reason);
	RUN_TEST(is_bounded);
	RUN_TEST(is_harmless);
	GREATEST_MAIN_END();
}

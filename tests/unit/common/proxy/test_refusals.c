/* SPDX-License-Identifier: Apache-2.0 */
/* The table of refusals: counts, limits, and validation of arbitrary content. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/proxy/refusals.h"

static struct refusals reports;

static const char *summary(void)
{
	static char out[4096];
	struct text text = { 0 };
	refusals_summary(&reports, &text);
	snprintf(out, sizeof out, "%s", text.data ? text.data : "");
	text_free(&text);
	return out;
}

TEST counts_by_destination_and_reason(void)
{
	reports = (struct refusals){ 0 };
	ASSERT_STR_EQ("", summary());
	refusals_add(&reports, "h.test", 443, "no rule allows this name", true);
	ASSERT_STR_EQ("refused 1 connection: h.test:443 (no rule allows this name; do not retry, ask the user to allow it: "
		      "--allow-net=h.test:443 or network.allow)",
		      summary());
	refusals_add(&reports, "h.test", 443, "no rule allows this name", true);
	refusals_add(&reports, "::1", 80, "denied", false);
	ASSERT_EQ(2, reports.count);
	ASSERT(strstr(summary(), "refused 3 connections: h.test:443 ×2 ("));
	ASSERT(strstr(summary(), ", [::1]:80 (denied)"));
	refusals_add(&reports, "c", 1, "denied", false);
	refusals_add(&reports, "d", 1, "denied", false);
	ASSERT(strstr(summary(), ", and 1 more destinations (-v names them)"));
	PASS();
}

TEST names_the_key_for_this_machine(void)
{
	static const char *const hosts[] = { "localhost", "app.localhost", "127.0.0.2", "::1" };
	for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
		reports = (struct refusals){ 0 };
		refusals_add(&reports, hosts[i], 5432, "no rule allows this name", true);
		ASSERT(strstr(summary(), "network: {local: [5432]}"));
		ASSERT(!strstr(summary(), "--allow-net"));
	}
	reports = (struct refusals){ 0 };
	refusals_add(&reports, "localhost.example", 5432, "no rule allows this name", true);
	ASSERT(strstr(summary(), "--allow-net=localhost.example:5432"));
	PASS();
}

TEST is_bounded(void)
{
	char host[1000];

	reports = (struct refusals){ 0 };
	for (int i = 0; i < EGRESS_REPORT_MAX + 50; i++) {
		snprintf(host, sizeof host, "h%d.test", i);
		refusals_add(&reports, host, 443, "denied", false);
	}
	ASSERT_EQ(EGRESS_REPORT_MAX, reports.count);
	ASSERT_EQ(50, reports.others);
	ASSERT_EQ(EGRESS_REPORT_MAX + 50, refusals_total(&reports));
	reports = (struct refusals){ 0 };
	memset(host, 'a', sizeof host - 1);
	host[sizeof host - 1] = '\0';
	refusals_add(&reports, host, 443, host, false);
	ASSERT_EQ(EGRESS_HOST_MAX, strlen(reports.items[0].host));
	ASSERT_EQ(EGRESS_REASON_MAX, strlen(reports.items[0].reason));
	PASS();
}

TEST is_harmless(void)
{
	reports = (struct refusals){ 0 };
	refusals_add(&reports, "\033]52;c;eA==\a\n.test", 443, "a\nb", true);
	ASSERT_FALSE(strpbrk(summary(), "\033\a\n"));
	/* Arbitrary bytes from another process. */
	memset(&reports, 0xff, sizeof reports);
	refusals_secure(&reports);
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
	RUN_TEST(names_the_key_for_this_machine);
	RUN_TEST(is_bounded);
	RUN_TEST(is_harmless);
	GREATEST_MAIN_END();
}

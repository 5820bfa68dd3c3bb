/* SPDX-License-Identifier: Apache-2.0 */
#include "greatest.h"

#include "linux/launch/network_attempts.h"

#define NAMES "Ip: Forwarding DefaultTTL OutDiscards OutNoRoutes ReasmTimeout\n"
#define UDP "Udp: InDatagrams NoPorts InErrors\n"

static const struct {
	const char *text;
	bool has_tried;
} rows[] = {
	{ NAMES "Ip: 2 64 0 0 0\n" UDP "Udp: 0 0 0\n", false },
	{ NAMES "Ip: 2 64 0 1 0\n" UDP "Udp: 0 0 0\n", true },
	{ NAMES "Ip: 2 64 7 0 9\nIcmp: A OutNoRoutes\nIcmp: 1 1\n" UDP "Udp: 5 0 5\n", false },
	{ NAMES "Ip: 2 64 0 0 0\n" UDP "Udp: 0 18446744073709551615 0\n", true },
	{ "UdpLite: InDatagrams NoPorts\nUdpLite: 0 4\n", false },
	{ "Ip: OutNoRoutesAtAll\nIp: 1\n", false },
	{ "Ip: OutNoRoutes", false },
	{ "Ip: OutNoRoutes\n", false },
	{ "Ip: OutNoRoutes\nIp:", false },
	{ "Ip: OutNoRoutes\nIp: x\n", false },
	{ "Ip: A OutNoRoutes\nIp: 1\nIp: 1 1\n", false },
	{ "", false },
	{ "\n\n\n", false },
};

TEST counters_are_found_by_name(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_EQ_FMTm(rows[i].text, rows[i].has_tried, network_attempts_counted(rows[i].text) > 0, "%d");
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(counters_are_found_by_name);
	GREATEST_MAIN_END();
}

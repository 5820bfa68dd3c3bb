/* SPDX-License-Identifier: Apache-2.0 */
/* The ports of network.local and network.publish. */
#include <greatest.h>

#include <string.h>

#include "common/policy/ports.h"

TEST ranges(void)
{
	static const struct {
		const char *text;
		unsigned low, high; /* 0: refused */
	} rows[] = {
		{ "80", 80, 80 },
		{ "1", 1, 1 },
		{ "65535", 65535, 65535 },
		{ "8000-8100", 8000, 8100 },
		{ "80-80", 80, 80 },
		{ "", 0, 0 },
		{ "0", 0, 0 },
		{ "65536", 0, 0 },
		{ "8100-8000", 0, 0 },
		{ "80-", 0, 0 },
		{ "-80", 0, 0 },
		{ "1-2-3", 0, 0 },
		{ "http", 0, 0 },
		{ " 80", 0, 0 },
		{ "0-80", 0, 0 },
		{ "80-65536", 0, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct port_range range = { 0, 0 };
		struct error err;
		int status = port_range_parse(rows[i].text, &range, &err);
		ASSERT_EQm(rows[i].text, rows[i].low == 0 ? -1 : 0, status);
		if (status == 0)
			ASSERT(range.low == rows[i].low && range.high == rows[i].high);
	}
	PASS();
}

TEST published_ports(void)
{
	static const struct {
		const char *text;
		const char *address; /* NULL: refused */
		unsigned host_port, port;
	} rows[] = {
		{ "80", "127.0.0.1", 80, 80 },
		{ "8080:80", "127.0.0.1", 8080, 80 },
		{ "auto:80", "127.0.0.1", 0, 80 },
		{ "auto:", NULL, 0, 0 },
		{ "auto:0", NULL, 0, 0 },
		{ "auto", NULL, 0, 0 },
		{ "auto:80:80", NULL, 0, 0 },
		{ "127.0.0.1:auto:80", NULL, 0, 0 },
		{ "0.0.0.0:8080:80", "0.0.0.0", 8080, 80 },
		{ "[::1]:8080:80", "[::1]", 8080, 80 },
		/* Without brackets, the end of the address is ambiguous. */
		{ "::1:8080:80", NULL, 0, 0 },
		{ "fe80::1:8080:80", NULL, 0, 0 },
		{ ":80", NULL, 0, 0 },
		{ ":8080:80", NULL, 0, 0 },
		{ "80:", NULL, 0, 0 },
		{ "0:80", NULL, 0, 0 },
		{ "8080:0", NULL, 0, 0 },
		{ "localhost:8080:80", NULL, 0, 0 },
		{ "127.0.0.1:8080:80:80", NULL, 0, 0 },
		{ "", NULL, 0, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct published_port published;
		struct address expected;
		struct error err;
		int status = published_port_parse(rows[i].text, &published, &err);
		ASSERT_EQm(rows[i].text, rows[i].address ? 0 : -1, status);
		if (status < 0)
			continue;
		ASSERT(published.host_port == rows[i].host_port && published.port == rows[i].port);
		ASSERT(address_parse(rows[i].address, &expected));
		ASSERT(published.address.is_v6 == expected.is_v6);
		ASSERT_MEM_EQ(expected.bytes, published.address.bytes, sizeof expected.bytes);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(ranges);
	RUN_TEST(published_ports);
	GREATEST_MAIN_END();
}

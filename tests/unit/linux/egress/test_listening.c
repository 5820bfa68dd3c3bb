/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the kernel's tables of sockets. */
#include "greatest.h"

#include <string.h>

#include "linux/egress/listening.h"

#define REST " 00000000:00000000 00:00000000 00000000  1000        0 81234 1 0000000000000000 100 0 0 10 0"

TEST listening_sockets_are_found(void)
{
	static const struct {
		const char *line;
		bool is_v6;
		const char *address; /* NULL: not listening */
		unsigned port;
	} rows[] = {
		{ "   0: 0100007F:1435 00000000:0000 0A" REST, false, "127.0.0.1", 5173 },
		{ " 12: 00000000:0050 00000000:0000 0A" REST, false, "0.0.0.0", 80 },
		{ "   0: 0100007F:1435 0100007F:9999 01" REST, false, NULL, 0 },
		{ "   1: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A" REST, true, "::1",
		  8080 },
		{ "   1: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A" REST, true,
		  "::", 8080 },
		{ "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", false,
		  NULL, 0 },
		{ "   0: 0100007F:1435", false, NULL, 0 },
		{ "   0: 0100007", false, NULL, 0 },
		{ "   0: 0100007F:1435 00000000:0000 0A 00000000", false, NULL, 0 },
		{ "   0: 0100007F:1435 00000000:0000 0A" REST, true, NULL, 0 },
		{ "0:", false, NULL, 0 },
		{ "", false, NULL, 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct listening listening;
		struct address expected;
		bool is_listening = listening_parse(rows[i].line, rows[i].is_v6, &listening);
		ASSERT_EQm(rows[i].line, rows[i].address != NULL, is_listening);
		if (!is_listening)
			continue;
		ASSERT(address_parse(rows[i].address, &expected));
		ASSERT_EQ(expected.is_v6, listening.address.is_v6);
		ASSERT_MEM_EQ(expected.bytes, listening.address.bytes, expected.is_v6 ? 16 : 4);
		ASSERT_EQ(rows[i].port, listening.port);
		ASSERT_EQ(81234, listening.inode);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(listening_sockets_are_found);
	GREATEST_MAIN_END();
}

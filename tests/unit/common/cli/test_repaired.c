/* SPDX-License-Identifier: Apache-2.0 */
/* The lines about repairs: one each, with the time, and bounded. */
#include <string.h>

#include "greatest.h"
#include "common/base/text.h"
#include "common/cli/repaired.h"

TEST each_event_has_a_line(void)
{
	struct repair_event events[] = {
		{ REPAIR_HIDDEN, "/p/.env", 1234, 1, NULL },
		{ REPAIR_LOCKED, "/p/.git/config", 250, 3, NULL },
		{ REPAIR_OWN, "/p/own.pem", 10, 1, NULL },
		{ REPAIR_MOVED, "/p/.zed", 12000000, 1, "abcd1234" },
		{ REPAIR_NEW_HIDDEN, "/elsewhere/x.key", 99, 1, NULL },
	};
	const struct repair_report report = { events, 5, 7, true, 11 };
	struct arena arena = { 0 };
	struct text out = { 0 };
	repaired_describe(&report, "/p", false, &arena, &out);
	ASSERT(strstr(out.data, ".env was replaced on the host"));
	ASSERT(strstr(out.data, "at most 1.2 ms; it was hidden again\n"));
	ASSERT(strstr(out.data, "0.2 ms; it was protected again"));
	ASSERT(strstr(out.data, "(3 times; the longest)"));
	ASSERT(strstr(out.data, "after 12 s (to undo: berm quarantine restore abcd1234)"));
	ASSERT(strstr(out.data, "/elsewhere/x.key came from the host"));
	ASSERT(strstr(out.data, "7 more files"));
	ASSERT(strstr(out.data, "only 11 directories could be watched"));
	ASSERT_EQ(NULL, strstr(out.data, "own.pem"));
	text_free(&out);
	out = (struct text){ 0 };
	repaired_describe(&report, "/p", true, &arena, &out);
	ASSERT(strstr(out.data, "own.pem has a denied name"));
	text_free(&out);
	arena_free(&arena);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(each_event_has_a_line);
	GREATEST_MAIN_END();
}

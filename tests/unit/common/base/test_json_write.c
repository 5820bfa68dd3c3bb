/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: both layouts, empty containers, null, and strings that try to leave their
 * quotes. */
#include <greatest.h>

#include <string.h>

#include "common/base/json_write.h"

static void write_sample(struct json *json)
{
	json_object(json, NULL);
	json_string(json, "name", "a\"b\\\n");
	json_string(json, "none", NULL);
	json_list(json, "list");
	json_number(json, NULL, UINT64_MAX);
	json_boolean(json, NULL, true);
	json_list_end(json);
	json_object(json, "empty");
	json_object_end(json);
	json_object_end(json);
}

TEST writes_one_member_per_line(void)
{
	struct text out = { 0 };
	struct json json = { .out = &out };
	write_sample(&json);
	ASSERT_STR_EQ("{\n"
		      "  \"name\": \"a\\\"b\\\\\\n\",\n"
		      "  \"none\": null,\n"
		      "  \"list\": [\n"
		      "    18446744073709551615,\n"
		      "    true\n"
		      "  ],\n"
		      "  \"empty\": {}\n"
		      "}\n",
		      out.data);
	text_free(&out);
	PASS();
}

TEST writes_one_line_per_document(void)
{
	struct text out = { 0 };
	for (int i = 0; i < 2; i++) {
		struct json json = { .out = &out, .is_compact = true };
		write_sample(&json);
	}
	ASSERT_STR_EQ("{\"name\":\"a\\\"b\\\\\\n\",\"none\":null,\"list\":[18446744073709551615,true],\"empty\":{}}\n"
		      "{\"name\":\"a\\\"b\\\\\\n\",\"none\":null,\"list\":[18446744073709551615,true],\"empty\":{}}\n",
		      out.data);
	text_free(&out);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(writes_one_member_per_line);
	RUN_TEST(writes_one_line_per_document);
	GREATEST_MAIN_END();
}

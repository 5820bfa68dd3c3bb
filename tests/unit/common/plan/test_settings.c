/* SPDX-License-Identifier: Apache-2.0 */
/* Scalar keys from the policy to the plan, its page and its JSON. */
#include <greatest.h>

#include <string.h>

#include "common/base/text.h"
#include "common/policy/keys.h"
#include "unit/support/plan_fixture.h"

static struct plan_fixture fixture;

TEST every_row_names_a_key_and_its_field(void)
{
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct key *key = policy_key_find(plan_setting_table[i].key);
		ASSERTm(plan_setting_table[i].key, key);
		ASSERT_EQ(key->offset, plan_setting_table[i].offset);
	}
	PASS();
}

TEST a_set_value_is_used_printed_and_written(void)
{
	struct text page = { 0 }, json = { 0 };
	plan_fixture_default(&fixture, "", "nesting: true");
	ASSERT_EQ(0, fixture.status);
	ASSERT_EQ(1, plan_setting(&fixture.plan, SETTING_NESTING));
	plan_print(&fixture.plan, NULL, false, &page);
	ASSERT(strstr(page.data, "nesting: true"));
	plan_json(&fixture.plan, NULL, &json);
	ASSERT(strstr(json.data, "\"nesting\": true"));
	text_free(&page);
	text_free(&json);
	plan_fixture_free(&fixture);
	PASS();
}

TEST the_fallback_is_used_and_not_printed(void)
{
	struct text page = { 0 }, json = { 0 };
	plan_fixture_default(&fixture, "", NULL);
	ASSERT_EQ(0, fixture.status);
	ASSERT_EQ(0, plan_setting(&fixture.plan, SETTING_NESTING));
	plan_print(&fixture.plan, NULL, false, &page);
	ASSERT_FALSE(strstr(page.data, "nesting"));
	plan_json(&fixture.plan, NULL, &json);
	ASSERT(strstr(json.data, "\"nesting\": false"));
	text_free(&page);
	text_free(&json);
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(every_row_names_a_key_and_its_field);
	RUN_TEST(a_set_value_is_used_printed_and_written);
	RUN_TEST(the_fallback_is_used_and_not_printed);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The schema is generated from the key table, and the shipped file equals the generated one. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/policy/builtin.h"
#include "common/policy/embedded.h"
#include "common/policy/keys.h"
#include "common/policy/policy.h"
#include "common/base/text.h"

TEST shipped_file_is_the_generated_one(void)
{
	struct text schema = { 0 };
	const struct embedded_file *shipped = NULL;

	for (size_t i = 0; i < embedded_policies_count; i++) {
		if (strcmp(embedded_policies[i].name, "berm.schema.json") == 0)
			shipped = &embedded_policies[i];
	}
	ASSERT(shipped);
	policy_schema(&schema);
	ASSERT_STR_EQm("berm policies --schema > policies/berm.schema.json", schema.data, shipped->text);
	text_free(&schema);
	PASS();
}

TEST the_same_every_time(void)
{
	struct text first = { 0 }, second = { 0 };

	policy_schema(&first);
	policy_schema(&second);
	ASSERT_STR_EQ(first.data, second.data);
	text_free(&first);
	text_free(&second);
	PASS();
}

/* Brackets and quotes balance. tests/package/schema.sh checks the content with real files. */
TEST is_well_formed(void)
{
	struct text schema = { 0 };
	char stack[128];
	size_t depth = 0;
	bool is_quoted = false;

	policy_schema(&schema);
	for (size_t i = 0; i < schema.length; i++) {
		char c = schema.data[i];
		if (is_quoted) {
			if (c == '\\')
				i++;
			else if (c == '"')
				is_quoted = false;
			continue;
		}
		if (c == '"') {
			is_quoted = true;
		} else if (c == '{' || c == '[') {
			ASSERT(depth < sizeof stack);
			stack[depth++] = c;
		} else if (c == '}' || c == ']') {
			ASSERT(depth > 0 && stack[--depth] == (c == '}' ? '{' : '['));
		}
	}
	ASSERT_EQ(0, depth);
	ASSERT_FALSE(is_quoted);
	ASSERT_EQ(NULL, strstr(schema.data, ",\n}"));
	ASSERT_EQ(NULL, strstr(schema.data, "{,"));
	text_free(&schema);
	PASS();
}

static bool has_member(const char *schema, const char *name)
{
	char member[64];
	snprintf(member, sizeof member, "\"%s\": {", name);
	return strstr(schema, member) != NULL;
}

static const char *member_of(const struct key *key)
{
	const char *dot = strrchr(key->path, '.');
	return dot ? dot + 1 : key->path;
}

static bool is_built(const struct key *key)
{
	return key->kind != KEY_RESERVED && !(key->flags & KEY_UNBUILT);
}

/* True if a key that is built has the same name in another mapping: `keep` of audit and of
 * workspace. */
static bool has_built_namesake(const struct key *key)
{
	for (size_t i = 0; i < policy_key_count; i++)
		if (is_built(&policy_keys[i]) && strcmp(member_of(&policy_keys[i]), member_of(key)) == 0)
			return true;
	return false;
}

TEST knows_what_is_built_and_only_that(void)
{
	struct text schema = { 0 };

	policy_schema(&schema);
	for (size_t i = 0; i < policy_key_count; i++) {
		const struct key *key = &policy_keys[i];
		ASSERT_EQm(key->path, has_built_namesake(key), has_member(schema.data, member_of(key)));
		if (is_built(key))
			ASSERTm(key->path, strstr(schema.data, key->help));
		else
			ASSERT_EQm(key->path, NULL, strstr(schema.data, key->help));
	}
	ASSERT_EQ(NULL, strstr(schema.data, "\"guarded\""));
	ASSERT(strstr(schema.data, "\"repair\""));
	ASSERT(strstr(schema.data, "\"registry-npm\""));
	ASSERT(strstr(schema.data, "\"strict\""));
	ASSERT_EQ(NULL, strstr(schema.data, "\"floor\""));
	text_free(&schema);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(shipped_file_is_the_generated_one);
	RUN_TEST(the_same_every_time);
	RUN_TEST(is_well_formed);
	RUN_TEST(knows_what_is_built_and_only_that);
	GREATEST_MAIN_END();
}

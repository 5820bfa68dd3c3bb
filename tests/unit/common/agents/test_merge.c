/* SPDX-License-Identifier: Apache-2.0 */
/* What goes back from a private copy: rows for each kind of field, and random hostile copies, after
 * which the host's file differs in the named fields at most. */
#include <greatest.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/agents/agents.h"

#define NOW INT64_C(1800000000000) /* 2027-01-15 */
enum { ROUNDS = 20000, MUTATIONS_MAX = 6 };

static struct arena arena;
static struct error err;
static struct text out;

static const struct agent_copy *copy_of(const char *agent, const char *path)
{
	const struct agent_copy *copy = agent_find(agent)->copies;
	while (copy->path && strcmp(copy->path, path) != 0)
		copy++;
	return copy->path ? copy : NULL;
}

static int merge(const struct agent_copy *copy, const char *host, const char *inside, size_t length)
{
	text_free(&out);
	memset(&out, 0, sizeof out);
	memset(&err, 0, sizeof err);
	return agent_merge(&arena, copy, NOW, (struct jsonc_text){ host, strlen(host) }, (struct jsonc_text){ inside, length },
			   &out, &err);
}

static const char claude_host[] = "{\n  \"claudeAiOauth\": {\"accessToken\": \"sk-ant-oat01-aaaaaaaa\",\n"
				  "    \"refreshToken\": \"sk-ant-ort01-bbbbbbbb\", \"expiresAt\": 1800000000000,\n"
				  "    \"scopes\": [\"user:inference\"], \"subscriptionType\": \"max\"},\n"
				  "  \"mcpOAuth\": {\"x\": {\"accessToken\": \"other\"}}\n}\n";

#define LOGIN(access, refresh, expires)                                                                                        \
	"{\"claudeAiOauth\": {\"accessToken\": " access ", \"refreshToken\": " refresh ", \"expiresAt\": " expires "}}"
#define NEW_ACCESS "\"sk-ant-oat01-cccccccc\""
#define NEW_REFRESH "\"sk-ant-ort01-dddddddd\""
#define LATER "1800000003600"

TEST a_login_is_taken_whole_or_not(void)
{
	static const struct {
		const char *inside;
		int status;
	} rows[] = {
		{ LOGIN(NEW_ACCESS, NEW_REFRESH, LATER), 1 },
		/* Some servers keep the refresh token. */
		{ LOGIN(NEW_ACCESS, "\"sk-ant-ort01-bbbbbbbb\"", LATER), 1 },
		{ LOGIN("\"\\u0073k-ant-oat01-cccccccc\"", NEW_REFRESH, LATER), 1 },
		/* Not newer: the host may have refreshed it as well. */
		{ LOGIN(NEW_ACCESS, NEW_REFRESH, "1800000000000"), 0 },
		{ LOGIN(NEW_ACCESS, NEW_REFRESH, "1799999999999"), 0 },
		/* Types, shapes, sizes. */
		{ LOGIN("1", NEW_REFRESH, LATER), -1 },
		{ LOGIN("[\"sk-ant-oat01-cccccccc\"]", NEW_REFRESH, LATER), -1 },
		{ LOGIN("null", NEW_REFRESH, LATER), -1 },
		{ LOGIN("\"\"", NEW_REFRESH, LATER), -1 },
		{ LOGIN("\"sk-ant-oat01-c c\\n cccccc\"", NEW_REFRESH, LATER), -1 },
		{ LOGIN("\"sk-ant-oat01-cccc\\u0000cccc\"", NEW_REFRESH, LATER), -1 },
		{ LOGIN("\"sk-ant-oat01-$(touch x)cc\"", NEW_REFRESH, LATER), -1 },
		{ LOGIN("\"sk-ant-oat01-\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\"", NEW_REFRESH, LATER), -1 },
		{ LOGIN("\"sk-ant-api03-cccccccc\"", NEW_REFRESH, LATER), -1 },
		{ LOGIN(NEW_ACCESS, NEW_ACCESS, LATER), -1 },
		{ LOGIN(NEW_ACCESS, NEW_REFRESH, "1.8e12"), -1 },
		{ LOGIN(NEW_ACCESS, NEW_REFRESH, "-1"), -1 },
		{ LOGIN(NEW_ACCESS, NEW_REFRESH, "9999999999999999999"), -1 },
		{ LOGIN(NEW_ACCESS, NEW_REFRESH, "1840000000000"), -1 },
		{ LOGIN(NEW_ACCESS, NEW_REFRESH, "\"1800000003600\""), -1 },
		/* Missing, and not JSON. */
		{ "{\"claudeAiOauth\": {\"accessToken\": " NEW_ACCESS ", \"expiresAt\": " LATER "}}", -1 },
		{ "{\"claudeAiOauth\": null}", -1 },
		{ "{}", -1 },
		{ "[]", -1 },
		{ "", -1 },
		{ "{\"claudeAiOauth\": {}, \"claudeAiOauth\": {}}", -1 },
	};
	const struct agent_copy *copy = copy_of("claude", ".claude/.credentials.json");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ASSERT_EQ_FMTm(rows[i].inside, rows[i].status, merge(copy, claude_host, rows[i].inside, strlen(rows[i].inside)),
			       "%d");
		ASSERT_EQm(rows[i].inside, rows[i].status > 0, out.length > 0);
		ASSERT_EQm(rows[i].inside, rows[i].status < 0, error_is_set(&err));
	}
	PASS();
}

TEST a_token_has_a_limit(void)
{
	char inside[20000];
	const struct agent_copy *copy = copy_of("claude", ".claude/.credentials.json");
	snprintf(inside, sizeof inside, LOGIN("\"sk-ant-oat01-%09000d\"", NEW_REFRESH, LATER), 0);
	ASSERT_EQ(-1, merge(copy, claude_host, inside, strlen(inside)));
	snprintf(inside, sizeof inside, LOGIN("\"sk-ant-oat01-%04000d\"", NEW_REFRESH, LATER), 0);
	ASSERT_EQ(1, merge(copy, claude_host, inside, strlen(inside)));
	PASS();
}

/* A host without a login gets none, nor one of another shape. */
TEST nothing_is_added(void)
{
	const struct agent_copy *copy = copy_of("claude", ".claude/.credentials.json");
	const char *inside = LOGIN(NEW_ACCESS, NEW_REFRESH, LATER);
	ASSERT_EQ(0, merge(copy, "{}", inside, strlen(inside)));
	ASSERT_EQ(0, merge(copy, "{\"mcpOAuth\": {}}", inside, strlen(inside)));
	ASSERT_EQ(-1, merge(copy, "not json", inside, strlen(inside)));
	/* Without an expiry nothing tells which one is newer. */
	ASSERT_EQ(-1, merge(copy, "{\"claudeAiOauth\": {\"accessToken\": \"sk-ant-oat01-aaaaaaaa\"}}", inside, strlen(inside)));
	PASS();
}

TEST counters_go_back_one_by_one(void)
{
	const struct agent_copy *copy = copy_of("claude", ".claude.json");
	const char *host = "{\"numStartups\": 5, \"hasCompletedOnboarding\": false, \"lastOnboardingVersion\": \"1.0\", "
			   "\"mcpServers\": {}, \"oauthAccount\": {\"a\": 1}}";
	const char *inside = "{\"numStartups\": 6, \"hasCompletedOnboarding\": true, \"lastOnboardingVersion\": \"$(x)\", "
			     "\"lastReleaseNotesSeen\": \"2.0\", \"mcpServers\": {\"x\": {\"command\": \"x\"}}, \"hooks\": {}, "
			     "\"oauthAccount\": {\"a\": 2}, \"bypassPermissionsModeAccepted\": true}";
	ASSERT_EQ(1, merge(copy, host, inside, strlen(inside)));
	ASSERT_STR_EQ("{\"numStartups\": 6, \"hasCompletedOnboarding\": true, \"lastOnboardingVersion\": \"1.0\", "
		      "\"mcpServers\": {}, \"oauthAccount\": {\"a\": 1}}",
		      out.data);
	inside = "{\"numStartups\": 1000000}";
	ASSERT_EQ(0, merge(copy, host, inside, strlen(inside)));
	inside = "{\"numStartups\": 4}";
	ASSERT_EQ(0, merge(copy, host, inside, strlen(inside)));
	PASS();
}

TEST providers_are_apart(void)
{
	const struct agent_copy *copy = copy_of("opencode", ".local/share/opencode/auth.json");
	const char *host = "{\"a\": {\"type\": \"oauth\", \"access\": \"aaaaaaaaaaaaaaaa\", \"refresh\": \"bbbbbbbbbbbbbbbb\", "
			   "\"expires\": 1800000000000}, \"k\": {\"type\": \"api\", \"key\": \"kkkk\"}}";
	const char *fine =
		"{\"a\": {\"type\": \"oauth\", \"access\": \"cccccccccccccccc\", \"refresh\": \"dddddddddddddddd\", "
		"\"expires\": 1800000000001}, \"k\": {\"type\": \"api\", \"key\": \"kkkk\"}, \"new\": {\"type\": \"oauth\"}}";
	const char *key = "{\"k\": {\"type\": \"api\", \"key\": \"xxxx\"}}";
	const char *url = "{\"a\": {\"type\": \"oauth\", \"access\": \"cccccccccccccccc\", \"refresh\": \"dddddddddddddddd\", "
			  "\"expires\": 1800000000001, \"enterpriseUrl\": \"evil.example\"}}";
	ASSERT_EQ(1, merge(copy, host, fine, strlen(fine)));
	ASSERT(strstr(out.data, "cccccccccccccccc") && !strstr(out.data, "new") && strstr(out.data, "kkkk"));
	ASSERT_EQ(-1, merge(copy, host, key, strlen(key)));
	ASSERT_EQ(-1, merge(copy, host, url, strlen(url)));
	PASS();
}

/* Every credential of the table has a field that says which one is newer. */
TEST every_login_can_be_compared(void)
{
	for (size_t i = 0; i < agent_count; i++)
		for (const struct agent_copy *copy = agent_table[i].copies; copy->path; copy++) {
			bool has_time = false;
			size_t count = 0;
			for (const struct agent_field *field = copy->fields; field && field->path[0]; field++, count++)
				has_time |= field->kind == AGENT_EXPIRY || field->kind == AGENT_DATE;
			ASSERT_EQm(copy->path, copy->is_login, has_time);
			ASSERTm(copy->path, count <= 8);
		}
	PASS();
}

static uint64_t state = 88172645463325252;
static size_t random_below(size_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return limit ? (size_t)(state % limit) : 0;
}

static const char *const hostile[] = {
	"\"mcpServers\": {\"x\": {\"command\": \"sh\"}},",
	"\"hooks\": {},",
	"\"apiKeyHelper\": \"sh -c x\",",
	"sk-ant-oat01-zzzzzzzz",
	"1800000009999",
	"99999999999999999999",
	"\\u0000",
	"\\ud800",
	"{",
	"}",
	"[",
	"]",
	"\"",
	",",
	":",
	"\\",
	"null",
	"true",
	"-1",
	"1e9",
	"\xff",
	"\"expiresAt\": 1800000009999,",
	"\"claudeAiOauth\": {},",
	"$(touch /tmp/x)",
	"\n",
};

/* Replaces, inserts or removes at a random place. */
static size_t mutate(char *text, size_t length, size_t capacity)
{
	const char *piece = hostile[random_below(sizeof hostile / sizeof hostile[0])];
	size_t at = random_below(length + 1), cut = random_below(4) == 0 ? random_below(40) : 0, added = strlen(piece);
	if (cut > length - at)
		cut = length - at;
	if (random_below(5) == 0)
		added = 0;
	if (length - cut + added >= capacity)
		return length;
	memmove(text + at + added, text + at + cut, length - at - cut);
	memcpy(text + at, piece, added);
	return length - cut + added;
}

/* Sets every named field back: what is left must be the host's text, byte by byte. */
static bool is_host_but_for_fields(const struct agent_copy *copy, const char *host)
{
	struct jsonc_value root;
	struct jsonc_text text = { arena_copy_n(&arena, out.data, out.length), out.length };
	if (jsonc_parse(&arena, JSONC_STRICT, "host", (struct jsonc_text){ host, strlen(host) }, &root, &err) < 0)
		return false;
	for (const struct agent_field *field = copy->fields; field->path[0]; field++) {
		const struct jsonc_value *old = jsonc_find(&root, field->path);
		struct jsonc_edit edit = { 0 };
		struct text back = { 0 };
		if (!old || field->kind == AGENT_SAME)
			continue;
		for (size_t i = 0; field->path[i]; i++)
			edit.path[i] = field->path[i];
		edit.value = arena_copy_n(&arena, old->raw, old->end - old->start);
		if (jsonc_set(&arena, "out", text, &edit, &back, &err) < 0)
			return false;
		text = (struct jsonc_text){ arena_copy_n(&arena, back.data, back.length), back.length };
		text_free(&back);
	}
	return text.length == strlen(host) && memcmp(text.data, host, text.length) == 0;
}

TEST a_hostile_copy_changes_named_fields_alone(void)
{
	static const char seed[] = LOGIN(NEW_ACCESS, NEW_REFRESH, LATER);
	const struct agent_copy *copy = copy_of("claude", ".claude/.credentials.json");
	size_t written = 0, refused = 0;
	for (int round = 0; round < ROUNDS; round++) {
		char inside[1024];
		size_t length = strlen(seed), mutations = random_below(MUTATIONS_MAX);
		int status;
		memcpy(inside, seed, length);
		while (mutations-- > 0)
			length = mutate(inside, length, sizeof inside);
		status = merge(copy, claude_host, inside, length);
		written += status > 0;
		refused += status < 0;
		if (status > 0)
			ASSERT(is_host_but_for_fields(copy, claude_host));
		arena_free(&arena);
	}
	/* Both happened, or the rounds tested nothing. */
	ASSERT(written > ROUNDS / 20);
	ASSERT(refused > ROUNDS / 20);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_login_is_taken_whole_or_not);
	RUN_TEST(a_token_has_a_limit);
	RUN_TEST(nothing_is_added);
	RUN_TEST(counters_go_back_one_by_one);
	RUN_TEST(providers_are_apart);
	RUN_TEST(every_login_can_be_compared);
	RUN_TEST(a_hostile_copy_changes_named_fields_alone);
	text_free(&out);
	arena_free(&arena);
	GREATEST_MAIN_END();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The page fits 80 columns and lets nothing act on a terminal; the JSON is well-formed whatever it
 * holds; SHA-256 matches its vectors. */
#include <greatest.h>

#include <ctype.h>
#include <string.h>

#include "common/base/sha256.h"
#include "common/base/text.h"
#include "unit/support/plan_fixture.h"
#include "common/scan/scan.h"

static struct plan_fixture fixture;
static struct guarantee_state states[GUARANTEE_COUNT];

static void fill_states(void)
{
	static struct limit_state limits[LIMIT_COUNT] = {
		[LIMIT_MEMORY] = { "a look through a very long telescope, now and then", false, "no control group in sight" },
		[LIMIT_TIME] = { "a clock", true, NULL },
	};
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		states[i] = (struct guarantee_state){
			.level = LEVEL_ENFORCED,
			.mechanism = "a mechanism with a long name that has to be wrapped somewhere, surely",
		};
	states[GUARANTEE_LIMITS].limits = limits;
	states[GUARANTEE_NETWORK] =
		(struct guarantee_state){ .level = LEVEL_MISSING, .reason = "this machine cannot", .fix = "buy another" };
}

static size_t widest(const char *text, bool (*counts)(const char *line, size_t length))
{
	size_t most = 0;
	while (*text) {
		size_t length = strcspn(text, "\n"), width = 0;
		for (size_t i = 0; i < length; i++)
			width += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (counts(text, length) && width > most)
			most = width;
		text += length + (text[length] == '\n');
	}
	return most;
}

static bool any(const char *line, size_t length)
{
	(void)line;
	(void)length;
	return true;
}

TEST the_page_fits(void)
{
	struct text out = { 0 };
	plan_fixture_default(
		&fixture,
		"environment: {LANG: C}\nfiles: [/usr/bin/sh, /etc/shadow, /home/ann/app/.env, /home/ann/app/.vscode/x, "
		"/home/ann/app/b/.env]",
		"network: {allow: [\"example.org:443\"]}\nfiles: {read: [/nowhere]}\nlimits: {time: 30m, memory: 4G}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	fill_states();
	plan_print(&fixture.plan, states, false, &out);
	ASSERTm(out.data, widest(out.data, any) <= 80);
	static const char *const parts[] = { "/home/ann/app\n",
					     "enforced",
					     "missing",
					     "(asked for: enforced)",
					     "this machine cannot",
					     "`berm run` refuses",
					     "Writable",
					     "System, read-only",
					     "Hidden",
					     "./.env",
					     "./b/.env",
					     "Protected",
					     "./.vscode/",
					     "node_modules",
					     "allow example.org:443",
					     "LANG",
					     "time 30m",
					     "memory 4G         best effort  a look",
					     "hard         a clock",
					     "p.yml:",
					     "/nowhere",
					     "offline" };
	for (size_t i = 0; i + 1 < sizeof parts / sizeof parts[0]; i++)
		ASSERTm(parts[i], strstr(out.data, parts[i]));
	text_free(&out);
	plan_print(&fixture.plan, states, true, &out);
	ASSERTm(out.data, widest(out.data, any) <= 80);
	ASSERT(strstr(out.data, "built-in default:"));
	ASSERT(strstr(out.data, "fix: buy another"));
	text_free(&out);
	plan_print(&fixture.plan, NULL, false, &out);
	ASSERT(strstr(out.data, "cannot be tested here"));
	text_free(&out);
	plan_fixture_free(&fixture);
	PASS();
}

TEST ignored_rules_name_the_command_that_accepts_them(void)
{
	struct text out = { 0 };
	struct rule ignored = { "files.write", "~/x", { "berm.yml", 4, 3 }, LAYER_PROJECT, NULL };
	plan_fixture_default(&fixture, "", NULL);
	fixture.policy.ignored = (struct rules){ &ignored, 1 };
	ASSERT_EQ(0, plan_resolve(&fixture.arena, &fixture.policy, &fixture.context, &fixture.plan, &fixture.diagnostics));
	fill_states();
	plan_print(&fixture.plan, states, false, &out);
	ASSERT(strstr(out.data, "berm.yml:4:3"));
	ASSERT(strstr(out.data, "berm trust"));
	text_free(&out);
	plan_fixture_free(&fixture);
	PASS();
}

/* A minimal JSON reader: checks that the text is one value. */
static const char *skip_value(const char *at);

static const char *skip_space(const char *at)
{
	while (*at == ' ' || *at == '\n')
		at++;
	return at;
}

static const char *skip_string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	for (; *at != '"'; at++) {
		if ((unsigned char)*at < 0x20)
			return NULL;
		if (*at == '\\' && !*++at)
			return NULL;
	}
	return at + 1;
}

static const char *skip_members(const char *at, char end, bool has_names)
{
	at = skip_space(at + 1);
	if (*at == end)
		return at + 1;
	for (;;) {
		at = skip_space(at);
		if (has_names) {
			at = skip_string(at);
			if (!at)
				return NULL;
			at = skip_space(at);
			if (*at++ != ':')
				return NULL;
		}
		at = skip_value(skip_space(at));
		if (!at)
			return NULL;
		at = skip_space(at);
		if (*at == end)
			return at + 1;
		if (*at++ != ',')
			return NULL;
	}
}

static const char *skip_value(const char *at)
{
	size_t digits = strspn(at, "0123456789");
	if (*at == '{' || *at == '[')
		return skip_members(at, *at == '{' ? '}' : ']', *at == '{');
	if (*at == '"')
		return skip_string(at);
	if (strncmp(at, "true", 4) == 0 || strncmp(at, "null", 4) == 0)
		return at + 4;
	if (strncmp(at, "false", 5) == 0)
		return at + 5;
	return digits ? at + digits : NULL;
}

static bool is_json(const char *text)
{
	const char *end = skip_value(text);
	return end && strcmp(end, "\n") == 0;
}

TEST the_json_is_json(void)
{
	struct text out = { 0 };
	ASSERT_FALSE(is_json("{\"a\": }\n"));
	ASSERT_FALSE(is_json("{\"a\": [1,]}\n"));
	ASSERT(is_json("{\"a\": [1, {\"b\": \"c\\\"\"}], \"d\": null}\n"));
	plan_fixture_default(&fixture, "files: [/home/ann/app/.env]",
			     "network: {allow: [example.org], local: [80], publish: [3000]}\nlimits: {time: 1s}");
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	fill_states();
	plan_json(&fixture.plan, states, &out);
	ASSERTm(out.data, is_json(out.data));
	ASSERT(strstr(out.data, "\"schema\": 1"));
	ASSERT(strstr(out.data, "\"refused\": true"));
	ASSERT(strstr(out.data, "\"path\": \"/home/ann/app/.env\""));
	text_free(&out);
	plan_json(&fixture.plan, NULL, &out);
	ASSERT(is_json(out.data));
	ASSERT(strstr(out.data, "\"probed\": false"));
	text_free(&out);
	plan_fixture_free(&fixture);
	PASS();
}

/* Names from outside with characters that are special to a terminal or to JSON. */
TEST hostile_names_stay_names(void)
{
	static const char nasty[] = "/home/ann/app/\033]52;c;x\007\"\\\n\x9b\xff/.env";
	struct plan_match match;
	struct rule rule = { "files.deny", "\033[31m\"", { "\033]0;x\007.yml", 1, 1 }, LAYER_USER, NULL };
	struct plan_note note = { NOTE_OTHER, "note \033[2J\n", &rule };
	struct text out = { 0 };
	plan_fixture_default(&fixture, "", NULL);
	match = (struct plan_match){ nasty, FILE_REGULAR, &rule };
	struct scan_results results = { .masked = { &match, 1 } };
	fixture.plan.scan = &results;
	fixture.plan.notes.items = &note;
	fixture.plan.notes.count = 1;
	fixture.plan.grants.items[0].path = nasty;
	fixture.plan.context.project = nasty;
	fixture.plan.context.user = "\033x";
	fill_states();
	for (int verbose = 0; verbose < 2; verbose++) {
		plan_print(&fixture.plan, states, verbose, &out);
		ASSERT_FALSE(strpbrk(out.data, "\033\007\x9b\xff\r"));
		text_free(&out);
	}
	plan_json(&fixture.plan, states, &out);
	ASSERT(is_json(out.data));
	for (const char *at = out.data; *at; at++)
		ASSERT(*at == '\n' || (unsigned char)*at >= 0x20);
	text_free(&out);
	plan_fixture_free(&fixture);
	PASS();
}

TEST sha256_vectors(void)
{
	static const struct {
		const char *text, *hex;
	} rows[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	char hex[SHA256_HEX + 1];
	struct sha256 hash;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		sha256_start(&hash);
		sha256_add(&hash, rows[i].text, strlen(rows[i].text));
		sha256_finish_hex(&hash, hex);
		ASSERT_STR_EQ(rows[i].hex, hex);
	}
	/* a million times a, in uneven pieces */
	sha256_start(&hash);
	for (size_t done = 0, piece = 1; done < 1000000; done += piece, piece = piece % 97 + 1) {
		static char as[128];
		memset(as, 'a', sizeof as);
		if (piece > 1000000 - done)
			piece = 1000000 - done;
		sha256_add(&hash, as, piece);
	}
	sha256_finish_hex(&hash, hex);
	ASSERT_STR_EQ("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", hex);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_page_fits);
	RUN_TEST(ignored_rules_name_the_command_that_accepts_them);
	RUN_TEST(the_json_is_json);
	RUN_TEST(hostile_names_stay_names);
	RUN_TEST(sha256_vectors);
	GREATEST_MAIN_END();
}

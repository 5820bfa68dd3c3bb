/* SPDX-License-Identifier: Apache-2.0 */
/* A plan survives its way through bytes; bytes that are not a plan's are refused or harmless. The second half is of use under a
 * sanitizer only: what is looked for there is a read or write outside of the bytes. */
#include <greatest.h>

#include <stdlib.h>
#include <string.h>

#include "common/plan/build.h"
#include "common/cache/plan_codec.h"
#include "common/base/text.h"
#include "unit/plan_fixture.h"

static const char machine[] = "environment: {PATH: /usr/bin, LANG: C, SSH_AUTH_SOCK: /run/agent.sock}\n"
			      "files:\n"
			      "  - /usr/bin/sh\n"
			      "  - \"/bin -> usr/bin\"\n"
			      "  - /etc/hosts\n"
			      "  - /opt/data/x\n"
			      "  - {path: /run/agent.sock, type: socket}\n"
			      "  - {path: /dev/kfd, type: device}\n"
			      "  - /home/ann/app/src/main.c\n"
			      "  - /home/ann/app/.env\n";

static const char rich[] =
	"files:\n"
	"  system: [/usr, /bin]\n"
	"  read: [/opt/data]\n"
	"  write: [.]\n"
	"  deny: [.env, \"**/*.pem\", /opt/data/secret, \"private/\"]\n"
	"  except: [\"**/public.pem\"]\n"
	"  protect: [.vscode, \".git/hooks\"]\n"
	"  prune: [node_modules]\n"
	"home: empty\n"
	"tmp: empty\n"
	"network:\n"
	"  allow: [\"example.org:443\", \"*.example.net:8000-8100\", 10.1.2.3:5432, \"[2001:db8::]/32:443\", \"*:80\"]\n"
	"  deny: [bad.example.net]\n"
	"  local: [5432, 6000-6010]\n"
	"  publish: [3000, \"127.0.0.1:8080:80\", \"[::1]:3082:82\"]\n"
	"sockets: [$SSH_AUTH_SOCK]\n"
	"devices: [gpu]\n"
	"environment: {pass: [LANG, \"LC_*\"], set: {CI: \"true\"}}\n"
	"limits: {memory: 4G, processes: 512, time: 30m, open_files: 4096}\n"
	"require: {limits: partial}\n";

/* `encoded` of a plan with facts, variables and a filter beside it. */
struct sample {
	struct plan_fixture fixture;
	struct plan_stored stored;
	struct text encoded;
};

static const unsigned char program[] = { 0, 1, 2, 3, 4, 5, 6, 7, 0, 255, 254, 253, 0, 0, 0, 0 };

static bool make(struct sample *sample, bool is_default)
{
	static struct fact facts[] = {
		{ .path = "/etc/passwd",
		  .is_content = true,
		  .mode = 0100644,
		  .device = 1,
		  .inode = 2,
		  .size = 3,
		  .changed_s = 4 },
		{ .path = "/home/ann/app/berm.yml" },
	};
	struct plan_layer layers[] = { { LAYER_USER, rich }, { 0, NULL } };
	*sample = (struct sample){ 0 };
	if (is_default)
		plan_fixture_default(&sample->fixture, machine, NULL);
	else
		plan_fixture_make(&sample->fixture, machine, layers);
	if (sample->fixture.status != 0) {
		fprintf(stderr, "%s\n", plan_fixture_says(&sample->fixture));
		return false;
	}
	sample->stored = (struct plan_stored){ .facts = { facts, 2 }, .blob = program, .blob_size = sizeof program };
	for (size_t i = 0; i < sample->fixture.plan.environment.count; i++)
		*(struct plan_variable *)arena_push(&sample->fixture.arena, &sample->stored.own_variables) =
			sample->fixture.plan.environment.items[i];
	sample->stored.passed = sample->fixture.policy.environment.pass;
	return plan_encode(&sample->fixture.plan, &sample->stored, &sample->encoded);
}

static void discard(struct sample *sample)
{
	text_free(&sample->encoded);
	plan_fixture_free(&sample->fixture);
}

/* What the stored bytes do not carry comes from the plan they were made from. */
static void complete(struct plan *plan, const struct sample *sample)
{
	plan->policy = sample->fixture.plan.policy;
	plan->context.fs = sample->fixture.plan.context.fs;
	plan->context.environment = sample->fixture.plan.context.environment;
	plan->environment = sample->fixture.plan.environment;
	plan->notes = sample->fixture.plan.notes;
}

static enum greatest_test_res returns_whole(bool is_default)
{
	struct arena arena = { 0 };
	struct plan_stored stored;
	struct plan plan;
	struct sample sample;
	struct text again = { 0 }, before = { 0 }, after = { 0 };
	ASSERT(make(&sample, is_default));
	ASSERT(plan_codec_fits(&sample.fixture.plan));
	ASSERT(plan_decode(&arena, sample.encoded.data, sample.encoded.length, &plan, &stored));
	ASSERT(plan_encode(&plan, &stored, &again));
	ASSERT_EQ(sample.encoded.length, again.length);
	ASSERT_EQ(0, memcmp(sample.encoded.data, again.data, again.length));
	/* The bytes could lack the same thing twice: what a reader sees of the plan is compared too. */
	complete(&plan, &sample);
	plan_json(&sample.fixture.plan, NULL, &before);
	plan_json(&plan, NULL, &after);
	ASSERT_STR_EQ(before.data, after.data);
	ASSERT_EQ(sample.fixture.plan.named.count, plan.named.count);
	for (size_t i = 0; i < plan.named.count; i++)
		ASSERT_STR_EQ(sample.fixture.plan.named.items[i].path, plan.named.items[i].path);
	ASSERT_EQ(sample.fixture.plan.searches.count, plan.searches.count);
	for (size_t i = 0; i < plan.searches.count; i++)
		ASSERT_EQ(sample.fixture.plan.searches.items[i].pattern, plan.searches.items[i].pattern);
	ASSERT_EQ(sample.fixture.plan.network.allow.count, plan.network.allow.count);
	for (size_t i = 0; i < plan.network.allow.count; i++) {
		const struct destination *one = &sample.fixture.plan.network.allow.items[i],
					 *other = &plan.network.allow.items[i];
		ASSERT_EQ(one->kind, other->kind);
		ASSERT_EQ(one->prefix, other->prefix);
		ASSERT_EQ(one->port_low, other->port_low);
		ASSERT_EQ(one->port_high, other->port_high);
		ASSERT_EQ(0, memcmp(&one->network, &other->network, sizeof one->network));
		ASSERT_STR_EQ(one->host ? one->host : "", other->host ? other->host : "");
		ASSERT_STR_EQ(one->rule->text, other->rule->text);
	}
	ASSERT_EQ(sample.fixture.plan.network.publish.count, plan.network.publish.count);
	for (size_t i = 0; i < plan.network.publish.count; i++) {
		ASSERT_EQ(sample.fixture.plan.network.publish.items[i].port, plan.network.publish.items[i].port);
		ASSERT_EQ(sample.fixture.plan.network.publish.items[i].host_port, plan.network.publish.items[i].host_port);
		ASSERT_EQ(sample.fixture.plan.network.publish.items[i].address.is_v6,
			  plan.network.publish.items[i].address.is_v6);
	}
	ASSERT_EQ(!sample.fixture.plan.git_user.config, !plan.git_user.config);
	ASSERT_EQ(sample.fixture.plan.git_user.files.count, plan.git_user.files.count);
	ASSERT_EQ(sizeof program, stored.blob_size);
	ASSERT_EQ(0, memcmp(program, stored.blob, sizeof program));
	ASSERT_EQ(2u, stored.facts.count);
	ASSERT_STR_EQ("/home/ann/app/berm.yml", stored.facts.items[1].path);
	ASSERT_EQ(sample.stored.own_variables.count, stored.own_variables.count);
	ASSERT_EQ(sample.stored.passed.count, stored.passed.count);
	text_free(&again);
	text_free(&before);
	text_free(&after);
	arena_free(&arena);
	discard(&sample);
	PASS();
}

/* The number of a pattern that the plan does not have would be read beyond the end of the list. */
TEST a_search_for_no_pattern_is_refused(void)
{
	struct plan_search stray = { .start = "/etc/ssh" };
	struct arena arena = { 0 };
	struct plan_stored stored;
	struct plan plan;
	struct sample sample;
	struct text bad = { 0 };
	ASSERT(make(&sample, true));
	stray.pattern = sample.fixture.plan.deny.count;
	sample.fixture.plan.searches.items = &stray;
	sample.fixture.plan.searches.count = 1;
	plan_encode(&sample.fixture.plan, &sample.stored, &bad);
	ASSERT(!plan_decode(&arena, bad.data, bad.length, &plan, &stored));
	stray.pattern--;
	text_free(&bad);
	ASSERT(plan_encode(&sample.fixture.plan, &sample.stored, &bad));
	ASSERT(plan_decode(&arena, bad.data, bad.length, &plan, &stored));
	text_free(&bad);
	arena_free(&arena);
	discard(&sample);
	PASS();
}

TEST a_rich_plan_returns_whole(void)
{
	CHECK_CALL(returns_whole(false));
	PASS();
}

TEST the_default_plan_returns_whole(void)
{
	CHECK_CALL(returns_whole(true));
	PASS();
}

/* A field that plan_codec.c does not know is lost on the way: whoever adds one to struct plan decides there and corrects this. */
TEST every_field_was_thought_of(void)
{
	if (sizeof(void *) != 8)
		SKIPm("sizes are those of 64-bit machines");
	ASSERT_EQ_FMT((size_t)PLAN_CODEC_PLAN_SIZE, sizeof(struct plan), "%zu");
	ASSERT_EQ_FMT((size_t)PLAN_CODEC_PATTERN_SIZE, sizeof(struct pattern), "%zu");
	ASSERT_EQ_FMT((size_t)PLAN_CODEC_CONTEXT_SIZE, sizeof(struct context), "%zu");
	PASS();
}

/* Questions that a run asks get the same answers. */
TEST decides_as_before(void)
{
	static const char *const paths[] = { "/home/ann/app",
					     "/home/ann/app/.env",
					     "/home/ann/app/src/main.c",
					     "/opt/data/secret",
					     "/opt/data/x",
					     "/home/ann/app/a/b/key.pem",
					     "/home/ann/app/private",
					     "/home/ann/app/public.pem",
					     "/etc/hosts",
					     "/usr/bin/sh",
					     "/home/ann/.local/state/berm/trust",
					     "/home/ann/app/.vscode/tasks.json" };
	struct arena arena = { 0 };
	struct plan_stored stored;
	struct plan plan;
	struct sample sample;
	ASSERT(make(&sample, false));
	ASSERT(plan_decode(&arena, sample.encoded.data, sample.encoded.length, &plan, &stored));
	complete(&plan, &sample);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		for (int access = ACCESS_READ; access <= ACCESS_EXECUTE; access++) {
			struct verdict before = plan_check_path(&sample.fixture.plan, (enum access)access, paths[i], false);
			struct verdict after = plan_check_path(&plan, (enum access)access, paths[i], false);
			ASSERT_EQm(paths[i], before.is_allowed, after.is_allowed);
			ASSERT_STR_EQ(before.reason, after.reason);
		}
	/* The evaluator knows this one by its address. */
	ASSERT_EQ(&rule_state, plan_denied_by(&plan, "/home/ann/.local/state/berm", true));
	arena_free(&arena);
	discard(&sample);
	PASS();
}

TEST decoded_lists_can_grow(void)
{
	struct arena arena = { 0 };
	struct plan_stored stored;
	struct plan plan;
	struct sample sample;
	ASSERT(make(&sample, false));
	ASSERT(plan_decode(&arena, sample.encoded.data, sample.encoded.length, &plan, &stored));
	for (int i = 0; i < 100; i++) {
		struct plan_grant *grant = arena_push(&arena, &plan.grants);
		grant->path = "/x";
		*(struct plan_pattern *)arena_push(&arena, &plan.deny) = (struct plan_pattern){ .rule = &rule_state };
	}
	ASSERT_STR_EQ("/x", plan.grants.items[plan.grants.count - 1].path);
	arena_free(&arena);
	discard(&sample);
	PASS();
}

TEST what_it_does_not_carry_is_not_stored(void)
{
	struct plan_fixture fixture;
	plan_fixture_make_for(&fixture, "os: macos\nuser: ann\nuid: 501\nhome: /Users/ann\nproject: /Users/ann/app\n",
			      (struct plan_layer[]){ { LAYER_USER, "files: {write: [.]}\n" }, { 0, NULL } });
	ASSERT_EQ(0, fixture.status);
	ASSERT_FALSE(plan_codec_fits(&fixture.plan));
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_plan_that_is_too_large_is_said_to_be(void)
{
	enum { TOO_MANY = (1 << 16) + 1 };
	struct sample sample;
	struct text out = { 0 };
	struct fact *facts = calloc(TOO_MANY, sizeof *facts);
	ASSERT(facts);
	ASSERT(make(&sample, false));
	for (size_t i = 0; i < TOO_MANY; i++)
		facts[i].path = "";
	sample.stored.facts = (struct facts_list){ facts, TOO_MANY };
	ASSERT_FALSE(plan_encode(&sample.fixture.plan, &sample.stored, &out));
	text_free(&out);
	free(facts);
	discard(&sample);
	PASS();
}

/* In memory of exactly this size, so that a sanitizer sees a read behind it. If it is taken for a plan, it has to be one that the
 * evaluator can live with. */
static bool try(const char *bytes, size_t length)
{
	struct arena arena = { 0 };
	struct plan_stored stored;
	struct plan plan;
	char *exact = malloc(length ? length : 1);
	bool is_taken;
	if (!exact)
		abort();
	memcpy(exact, bytes, length);
	is_taken = plan_decode(&arena, exact, length, &plan, &stored);
	if (is_taken) {
		plan.context.fs = filesystem_host();
		plan_check_path(&plan, ACCESS_READ, "/home/ann/app/a/.env", false);
		plan_check_path(&plan, ACCESS_WRITE, "/opt/data/x", true);
		facts_broken(stored.facts.items, stored.facts.count);
	}
	arena_free(&arena);
	free(exact);
	return is_taken;
}

TEST every_shorter_and_longer_one_is_refused(void)
{
	struct sample sample;
	ASSERT(make(&sample, false));
	ASSERT(try(sample.encoded.data, sample.encoded.length));
	for (size_t length = 0; length < sample.encoded.length; length++)
		if (try(sample.encoded.data, length))
			FAILm(arena_printf(&sample.fixture.arena, "%zu bytes are taken for a plan", length));
	text_add_n(&sample.encoded, "\0", 1);
	ASSERT_FALSE(try(sample.encoded.data, sample.encoded.length));
	discard(&sample);
	PASS();
}

TEST every_changed_byte_is_refused_or_harmless(void)
{
	static const unsigned char changes[] = { 0x01, 0x80, 0xff };
	struct sample sample;
	size_t refused = 0;
	ASSERT(make(&sample, false));
	for (size_t i = 0; i < sample.encoded.length; i++)
		for (size_t k = 0; k < sizeof changes; k++) {
			sample.encoded.data[i] = (char)((unsigned char)sample.encoded.data[i] ^ changes[k]);
			refused += !try(sample.encoded.data, sample.encoded.length);
			sample.encoded.data[i] = (char)((unsigned char)sample.encoded.data[i] ^ changes[k]);
		}
	ASSERT(refused > 0);
	ASSERT(try(sample.encoded.data, sample.encoded.length));
	discard(&sample);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_search_for_no_pattern_is_refused);
	RUN_TEST(a_rich_plan_returns_whole);
	RUN_TEST(the_default_plan_returns_whole);
	RUN_TEST(every_field_was_thought_of);
	RUN_TEST(decides_as_before);
	RUN_TEST(decoded_lists_can_grow);
	RUN_TEST(what_it_does_not_carry_is_not_stored);
	RUN_TEST(a_plan_that_is_too_large_is_said_to_be);
	RUN_TEST(every_shorter_and_longer_one_is_refused);
	RUN_TEST(every_changed_byte_is_refused_or_harmless);
	GREATEST_MAIN_END();
}

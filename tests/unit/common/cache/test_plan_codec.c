/* SPDX-License-Identifier: Apache-2.0 */
/* A decoded plan equals the encoded one; damaged bytes are refused or harmless. The second half
 * needs a sanitizer, which detects accesses outside of the bytes. */
#include <greatest.h>

#include <stdlib.h>
#include <string.h>

#include "common/plan/plan.h"
#include "common/cache/plan_codec.h"
#include "common/base/text.h"
#include "unit/support/plan_fixture.h"

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
	"  public: [\"*.pem\"]\n"
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

/* Encodes a plan with dependencies, variables and a filter. */
struct sample {
	struct plan_fixture fixture;
	struct cached_plan cached;
	struct text encoded;
};

static const unsigned char program[] = { 0, 1, 2, 3, 4, 5, 6, 7, 0, 255, 254, 253, 0, 0, 0, 0 };

static bool make(struct sample *sample, bool is_default)
{
	static struct dependency dependencies[] = {
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
	sample->cached =
		(struct cached_plan){ .dependencies = { dependencies, 2 }, .blob = program, .blob_size = sizeof program };
	for (size_t i = 0; i < sample->fixture.plan.environment.count; i++)
		*(struct plan_variable *)arena_push(&sample->fixture.arena, &sample->cached.own_variables) =
			sample->fixture.plan.environment.items[i];
	sample->cached.passed = sample->fixture.policy.environment.pass;
	return plan_encode(&sample->fixture.plan, &sample->cached, &sample->encoded);
}

static void discard(struct sample *sample)
{
	text_free(&sample->encoded);
	plan_fixture_free(&sample->fixture);
}

/* Takes the fields that are not encoded from the original plan. */
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
	struct cached_plan cached;
	struct plan plan;
	struct sample sample;
	struct text again = { 0 }, before = { 0 }, after = { 0 };
	ASSERT(make(&sample, is_default));
	ASSERT(plan_codec_fits(&sample.fixture.plan));
	ASSERT(plan_decode(&arena, sample.encoded.data, sample.encoded.length, &plan, &cached));
	ASSERT(plan_encode(&plan, &cached, &again));
	ASSERT_EQ(sample.encoded.length, again.length);
	ASSERT_EQ(0, memcmp(sample.encoded.data, again.data, again.length));
	/* Both encodings could lack the same field, so the printed plans are compared too. */
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
	ASSERT_EQ(sizeof program, cached.blob_size);
	ASSERT_EQ(0, memcmp(program, cached.blob, sizeof program));
	ASSERT_EQ(2u, cached.dependencies.count);
	ASSERT_STR_EQ("/home/ann/app/berm.yml", cached.dependencies.items[1].path);
	ASSERT_EQ(sample.cached.own_variables.count, cached.own_variables.count);
	ASSERT_EQ(sample.cached.passed.count, cached.passed.count);
	text_free(&again);
	text_free(&before);
	text_free(&after);
	arena_free(&arena);
	discard(&sample);
	PASS();
}

/* The index of a missing pattern would be read beyond the end of the list. */
TEST a_search_for_a_missing_pattern_is_refused(void)
{
	struct plan_search stray = { .start = "/etc/ssh" };
	struct arena arena = { 0 };
	struct cached_plan cached;
	struct plan plan;
	struct sample sample;
	struct text bad = { 0 };
	ASSERT(make(&sample, true));
	stray.pattern = sample.fixture.plan.deny.count;
	sample.fixture.plan.searches.items = &stray;
	sample.fixture.plan.searches.count = 1;
	plan_encode(&sample.fixture.plan, &sample.cached, &bad);
	ASSERT(!plan_decode(&arena, bad.data, bad.length, &plan, &cached));
	stray.pattern--;
	text_free(&bad);
	ASSERT(plan_encode(&sample.fixture.plan, &sample.cached, &bad));
	ASSERT(plan_decode(&arena, bad.data, bad.length, &plan, &cached));
	text_free(&bad);
	arena_free(&arena);
	discard(&sample);
	PASS();
}

TEST a_rich_plan_is_decoded_unchanged(void)
{
	CHECK_CALL(returns_whole(false));
	PASS();
}

TEST the_default_plan_is_decoded_unchanged(void)
{
	CHECK_CALL(returns_whole(true));
	PASS();
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define HAS_CLEAR_PADDING 1
#endif
#endif

#ifdef HAS_CLEAR_PADDING
/* Returns the offset of the first byte that no row of the table covers, or the struct's size. The
 * struct is filled with ones except for its padding. */
static size_t first_unlisted(const unsigned char *object, size_t size, const struct plan_codec_table *table)
{
	for (size_t at = 0; at < size; at++) {
		bool is_listed = object[at] == 0;
		for (size_t i = 0; i < table->count && !is_listed; i++)
			is_listed = at >= table->fields[i].offset && at < table->fields[i].offset + table->fields[i].size;
		if (!is_listed)
			return at;
	}
	return size;
}

#define ALL_LISTED(type, table)                                                                                                \
	do {                                                                                                                   \
		static type object;                                                                                            \
		memset(&object, 0xff, sizeof object);                                                                          \
		__builtin_clear_padding(&object);                                                                              \
		ASSERT_EQ_FMT(sizeof object, first_unlisted((unsigned char *)&object, sizeof object, (table)), "%zu");         \
	} while (0)
#endif

/* A field that is in no table would be lost in the cache. gcc 12 does not clear the padding after
 * an array of structs: such an array must be the last member. */
TEST every_field_is_listed(void)
{
#ifdef HAS_CLEAR_PADDING
	struct plan_codec_table shorter = plan_codec_plan;
	static struct plan plan;

	ALL_LISTED(struct plan, &plan_codec_plan);
	ALL_LISTED(struct context, &plan_codec_context);
	ALL_LISTED(struct pattern, &plan_codec_pattern);
	/* Control: a missing row is found. */
	shorter.count -= 2;
	memset(&plan, 0xff, sizeof plan);
	__builtin_clear_padding(&plan);
	ASSERT(first_unlisted((unsigned char *)&plan, sizeof plan, &shorter) < sizeof plan);
	PASS();
#else
	SKIPm("needs __builtin_clear_padding, which gcc has since version 11");
#endif
}

/* A decoded plan gives the same verdicts. */
TEST gives_the_same_verdicts(void)
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
	struct cached_plan cached;
	struct plan plan;
	struct sample sample;
	ASSERT(make(&sample, false));
	ASSERT(plan_decode(&arena, sample.encoded.data, sample.encoded.length, &plan, &cached));
	complete(&plan, &sample);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		for (int access = ACCESS_READ; access <= ACCESS_EXECUTE; access++) {
			struct verdict before = plan_check_path(&sample.fixture.plan, (enum access)access, paths[i], false);
			struct verdict after = plan_check_path(&plan, (enum access)access, paths[i], false);
			ASSERT_EQm(paths[i], before.is_allowed, after.is_allowed);
			ASSERT_STR_EQ(before.reason, after.reason);
		}
	/* plan/evaluate.c recognises this rule by its address. */
	ASSERT_EQ(&rule_state, plan_denied_by(&plan, "/home/ann/.local/state/berm", true));
	arena_free(&arena);
	discard(&sample);
	PASS();
}

TEST decoded_lists_can_grow(void)
{
	struct arena arena = { 0 };
	struct cached_plan cached;
	struct plan plan;
	struct sample sample;
	ASSERT(make(&sample, false));
	ASSERT(plan_decode(&arena, sample.encoded.data, sample.encoded.length, &plan, &cached));
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

TEST a_plan_for_macos_is_not_encoded(void)
{
	struct plan_fixture fixture;
	plan_fixture_make_for(&fixture, "os: macos\nuser: ann\nuid: 501\nhome: /Users/ann\nproject: /Users/ann/app\n",
			      (struct plan_layer[]){ { LAYER_USER, "files: {write: [.]}\n" }, { 0, NULL } });
	ASSERT_EQ(0, fixture.status);
	ASSERT_FALSE(plan_codec_fits(&fixture.plan));
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_plan_that_is_too_large_is_refused(void)
{
	enum { TOO_MANY = (1 << 16) + 1 };
	struct sample sample;
	struct text out = { 0 };
	struct dependency *dependencies = calloc(TOO_MANY, sizeof *dependencies);
	ASSERT(dependencies);
	ASSERT(make(&sample, false));
	for (size_t i = 0; i < TOO_MANY; i++)
		dependencies[i].path = "";
	sample.cached.dependencies = (struct dependency_list){ dependencies, TOO_MANY };
	ASSERT_FALSE(plan_encode(&sample.fixture.plan, &sample.cached, &out));
	text_free(&out);
	free(dependencies);
	discard(&sample);
	PASS();
}

/* Decodes from memory of exactly this size, so that a sanitizer detects a read behind it. An
 * accepted plan must be safe to evaluate. */
static bool try(const char *bytes, size_t length)
{
	struct arena arena = { 0 };
	struct cached_plan cached;
	struct plan plan;
	char *exact = malloc(length ? length : 1);
	bool is_taken;
	if (!exact)
		abort();
	memcpy(exact, bytes, length);
	is_taken = plan_decode(&arena, exact, length, &plan, &cached);
	if (is_taken) {
		plan.context.fs = filesystem_host();
		plan_check_path(&plan, ACCESS_READ, "/home/ann/app/a/.env", false);
		plan_check_path(&plan, ACCESS_WRITE, "/opt/data/x", true);
		dependencies_broken(cached.dependencies.items, cached.dependencies.count);
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
	RUN_TEST(a_search_for_a_missing_pattern_is_refused);
	RUN_TEST(a_rich_plan_is_decoded_unchanged);
	RUN_TEST(the_default_plan_is_decoded_unchanged);
	RUN_TEST(every_field_is_listed);
	RUN_TEST(gives_the_same_verdicts);
	RUN_TEST(decoded_lists_can_grow);
	RUN_TEST(a_plan_for_macos_is_not_encoded);
	RUN_TEST(a_plan_that_is_too_large_is_refused);
	RUN_TEST(every_shorter_and_longer_one_is_refused);
	RUN_TEST(every_changed_byte_is_refused_or_harmless);
	GREATEST_MAIN_END();
}

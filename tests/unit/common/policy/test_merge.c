/* SPDX-License-Identifier: Apache-2.0 */
/* Merging layers: lists unite, scalars replace, untrusted layers only narrow. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/policy/policy.h"
#include "common/policy/value.h"
#include "unit/support/policy_fixture.h"

/* Two layers, parsed and merged; `under` must live as long as the result. */
struct merged {
	struct policy_fixture under, over;
	struct policy *policy;
};

static int merge(struct merged *merged, enum layer under_layer, const char *under, enum layer over_layer, const char *over,
		 bool is_narrowing)
{
	fixture_parse(&merged->under, under_layer, under);
	fixture_parse(&merged->over, over_layer, over);
	if (merged->under.status < 0 || merged->over.status < 0) {
		printf("%s%s\n", fixture_complaints(&merged->under), fixture_complaints(&merged->over));
		return -1;
	}
	merged->policy = &merged->under.policy;
	policy_merge(&merged->under.arena, merged->policy, &merged->over.policy, is_narrowing);
	return 0;
}

static void release(struct merged *merged)
{
	fixture_free(&merged->under);
	fixture_free(&merged->over);
}

TEST lists_unite_without_repetition(void)
{
	struct merged m;

	ASSERT_EQ(0, merge(&m, LAYER_BASE, "version: 1\nfiles: {deny: [a, b, a], read: [x]}\nuse: [node]\n", LAYER_USER,
			   "version: 1\nfiles: {deny: [b, c]}\nenvironment: {pass: [LANG]}\n", false));
	/* Repetition inside one file stays as it was written; across layers the later one replaces
	 * the earlier. */
	ASSERT_EQ(4, m.policy->files.deny.count);
	ASSERT(fixture_rule(&m.policy->files.deny, "c"));
	ASSERT_EQ(LAYER_BASE, fixture_rule(&m.policy->files.deny, "a")->layer);
	ASSERT_EQ(LAYER_USER, fixture_rule(&m.policy->files.deny, "b")->layer);
	ASSERT_EQ(1, m.policy->files.read.count);
	ASSERT_EQ(1, m.policy->environment.pass.count);
	ASSERT_EQ(0, m.policy->ignored.count);
	release(&m);
	PASS();
}

TEST nothing_takes_the_floors_place(void)
{
	struct merged m;

	ASSERT_EQ(0, merge(&m, LAYER_FLOOR, "version: 1\nfiles: {deny: [a]}\n", LAYER_USER, "version: 1\nfiles: {deny: [a]}\n",
			   false));
	ASSERT_EQ(1, m.policy->files.deny.count);
	ASSERT_EQ(LAYER_FLOOR, m.policy->files.deny.items[0].layer);
	release(&m);
	PASS();
}

TEST scalars_are_replaced(void)
{
	struct merged m;

	ASSERT_EQ(0, merge(&m, LAYER_BASE, "version: 1\nhome: private\nnetwork: none\nlimits: {processes: 10, time: 5m}\n",
			   LAYER_USER, "version: 1\nhome: host\nnetwork: {allow: [a.example.org]}\nlimits: {processes: 20}\n",
			   false));
	ASSERT_EQ(HOME_HOST, m.policy->home.value);
	ASSERT_EQ(LAYER_USER, m.policy->home.rule.layer);
	ASSERT_EQ(NETWORK_ALLOW, m.policy->network.mode.value);
	ASSERT_EQ(20, m.policy->limits[LIMIT_PROCESSES].value);
	ASSERT_EQ(300000, m.policy->limits[LIMIT_TIME].value);
	ASSERT_EQ(LAYER_BASE, m.policy->limits[LIMIT_TIME].rule.layer);
	release(&m);
	PASS();
}

TEST assignments_are_replaced_by_name(void)
{
	struct merged m;

	ASSERT_EQ(0, merge(&m, LAYER_BASE, "version: 1\nenvironment: {set: {A: x, B: v}}\n", LAYER_USER,
			   "version: 1\nenvironment: {set: {B: z, C: w}}\n", false));
	ASSERT_EQ(3, m.policy->environment.set.count);
	ASSERT_STR_EQ("B", m.policy->environment.set.items[1].rule.text);
	ASSERT_STR_EQ("z", m.policy->environment.set.items[1].value);
	release(&m);
	PASS();
}

TEST required_levels_only_rise(void)
{
	struct merged m;

	ASSERT_EQ(0, merge(&m, LAYER_USER, "version: 1\nrequire: {limits: enforced}\n", LAYER_PROJECT,
			   "version: 1\nrequire: {limits: partial, kernel: enforced}\n", false));
	ASSERT_EQ(LEVEL_ENFORCED, m.policy->require[GUARANTEE_LIMITS].value);
	ASSERT_EQ(LEVEL_ENFORCED, m.policy->require[GUARANTEE_KERNEL].value);
	release(&m);
	PASS();
}

static const char wide_base[] = "version: 1\n"
				"extends: default\n"
				"files: {write: [.], deny: [a], except: [e]}\n"
				"home: private\ntmp: private\n"
				"network: {allow: [a.example.org], local: [80]}\n"
				"environment: {pass: [LANG], set: {A: x}}\n"
				"limits: {processes: 100}\n"
				"git: locked\n";

TEST what_narrows_is_taken(void)
{
	struct merged m;

	ASSERT_EQ(0, merge(&m, LAYER_BASE, wide_base, LAYER_PROJECT,
			   "version: 1\nfiles: {deny: [b], protect: [p]}\nhome: empty\ntmp: empty\nnetwork: none\n"
			   "limits: {processes: 50, time: 1m}\n",
			   true));
	ASSERT_EQ(0, m.policy->ignored.count);
	ASSERT_EQ(2, m.policy->files.deny.count);
	ASSERT_EQ(1, m.policy->files.protect.count);
	ASSERT_EQ(HOME_EMPTY, m.policy->home.value);
	ASSERT_EQ(TMP_EMPTY, m.policy->tmp.value);
	ASSERT_EQ(NETWORK_NONE, m.policy->network.mode.value);
	ASSERT_EQ(50, m.policy->limits[LIMIT_PROCESSES].value);
	ASSERT_EQ(60000, m.policy->limits[LIMIT_TIME].value);
	release(&m);

	ASSERT_EQ(0, merge(&m, LAYER_BASE, wide_base, LAYER_PROJECT, "version: 1\nnetwork: {deny: [b.example.org]}\n", true));
	ASSERT_EQ(1, m.policy->network.deny.count);
	ASSERT_EQ(NETWORK_ALLOW, m.policy->network.mode.value);
	release(&m);
	PASS();
}

TEST what_widens_is_ignored_and_kept_for_showing(void)
{
	static const struct {
		const char *over, *key, *text;
	} rows[] = {
		{ "files: {write: [/]}", "files.write", "/" },
		{ "files: {read: [~]}", "files.read", "~" },
		{ "files: {system: [/]}", "files.system", "/" },
		{ "files: {except: [\"**\"]}", "files.except", "**" },
		{ "files: {public: [id_rsa]}", "files.public", "id_rsa" },
		{ "files: {prune: [src]}", "files.prune", "src" },
		{ "home: host", "home", "host" },
		{ "network: all", "network", "all" },
		{ "network: {allow: [b.example.org]}", "network.allow", "b.example.org" },
		{ "network: {local: [5432]}", "network.local", "5432" },
		{ "network: {publish: [80]}", "network.publish", "80" },
		{ "sockets: [/run/docker.sock]", "sockets", "/run/docker.sock" },
		{ "devices: [gpu]", "devices", "gpu" },
		{ "environment: {pass: [AWS_SECRET_ACCESS_KEY]}", "environment.pass", "AWS_SECRET_ACCESS_KEY" },
		{ "environment: {set: {LD_PRELOAD: x.so}}", "environment.set", "LD_PRELOAD" },
		{ "environment: {set: {A: other}}", "environment.set", "A" },
		{ "limits: {processes: 101}", "limits.processes", "101" },
		{ "nesting: true", "nesting", "true" },
		{ "require: {limits: enforced}", "require.limits", "enforced" },
		{ "macos: {trustd: true}", "macos.trustd", "true" },
		{ "use: [node]", "use", "node" },
		{ "extends: none", "extends", "none" },
		{ "accept_weaker: [writes]", "accept_weaker", "writes" },
		{ "command_line: widen", "command_line", "widen" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct policy_fixture before;
		struct merged m;
		char over[256];

		snprintf(over, sizeof over, "version: 1\n%s\n", rows[i].over);
		/* As from the command line, which may use every key. */
		ASSERT_EQm(over, 0, merge(&m, LAYER_BASE, wide_base, LAYER_USER, over, true));
		ASSERT_EQm(over, 1, m.policy->ignored.count);
		ASSERT_STR_EQ(rows[i].key, m.policy->ignored.items[0].key);
		ASSERT_STR_EQ(rows[i].text, m.policy->ignored.items[0].text);
		ASSERT_EQ(2, m.policy->ignored.items[0].origin.line);
		/* And nothing else has changed. */
		fixture_parse(&before, LAYER_BASE, wide_base);
		for (size_t k = 0; k < policy_key_count; k++) {
			const struct key *key = &policy_keys[k];
			const void *old = (const char *)&before.policy + key->offset,
				   *new = (const char *)m.policy + key->offset;
			if (policy_key_storage(key) == STORAGE_RULES)
				ASSERT_EQm(key->path, ((const struct rules *)old)->count, ((const struct rules *)new)->count);
			else if (policy_key_storage(key) == STORAGE_SETTING)
				ASSERT_EQm(key->path, ((const struct setting *)old)->value,
					   ((const struct setting *)new)->value);
			else if (policy_key_storage(key) == STORAGE_ASSIGNMENTS)
				ASSERT_STR_EQ("x", ((const struct assignments *)new)->items[0].value);
		}
		fixture_free(&before);
		release(&m);
	}
	PASS();
}

/* `sessions: auto` is the short form of `sessions: {use: auto}`. */
static bool is_short_form(const struct key *key, const struct key *whole)
{
	size_t length = strlen(key->path);
	return (key->flags & KEY_ALSO_SCALAR) && strncmp(key->path, whole->path, length) == 0 && whole->path[length] == '.';
}

/* Covers every key of the table, also new ones: a key without KEY_NARROWS must not pass. */
TEST no_unmarked_key_narrows(void)
{
	static const char *const narrowing[] = {
		"files.deny",	     "files.protect",	 "files.guard",	     "home",	    "tmp",	   "network",
		"network.deny",	     "limits.memory",	 "limits.processes", "limits.cpus", "limits.time", "limits.disk",
		"limits.open_files", "limits.file_size", "workspace.copy"
	};

	for (size_t i = 0; i < policy_key_count; i++) {
		bool is_expected = false;
		for (size_t j = 0; j < sizeof narrowing / sizeof narrowing[0]; j++)
			is_expected |= strcmp(policy_keys[i].path, narrowing[j]) == 0;
		ASSERT_EQm(policy_keys[i].path, is_expected, (policy_keys[i].flags & KEY_NARROWS) != 0);
		if (policy_key_storage(&policy_keys[i]) != STORAGE_NONE)
			ASSERT(policy_keys[i].offset < sizeof(struct policy));
		/* Two keys in one field would overwrite each other. */
		for (size_t j = 0; j < i; j++) {
			if (policy_key_storage(&policy_keys[i]) != STORAGE_NONE &&
			    policy_key_storage(&policy_keys[j]) != STORAGE_NONE &&
			    !is_short_form(&policy_keys[j], &policy_keys[i]))
				ASSERTm(policy_keys[i].path, policy_keys[i].offset != policy_keys[j].offset);
			ASSERT(strcmp(policy_keys[i].path, policy_keys[j].path) != 0);
		}
	}
	PASS();
}

TEST asking_for_what_is_there_is_not_worth_a_note(void)
{
	struct merged m;

	ASSERT_EQ(0, merge(&m, LAYER_BASE, wide_base, LAYER_PROJECT,
			   "version: 1\nextends: default\nfiles: {write: [.], deny: [a], except: [e]}\nhome: private\n"
			   "network: {allow: [a.example.org]}\nenvironment: {pass: [LANG], set: {A: x}}\n"
			   "limits: {processes: 100}\ngit: locked\n",
			   true));
	ASSERT_EQ(0, m.policy->ignored.count);
	/* Nor does it take the rule over: an untrusted layer gains no authority. */
	ASSERT_EQ(LAYER_BASE, m.policy->files.write.items[0].layer);
	release(&m);
	PASS();
}

TEST an_empty_allow_list_that_is_ignored_is_shown(void)
{
	struct merged m;

	ASSERT_EQ(0, merge(&m, LAYER_BASE, "version: 1\nnetwork: all\n", LAYER_PROJECT, "version: 1\nnetwork: {allow: []}\n",
			   true));
	ASSERT_EQ(NETWORK_ALL, m.policy->network.mode.value);
	ASSERT_EQ(1, m.policy->ignored.count);
	release(&m);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(lists_unite_without_repetition);
	RUN_TEST(nothing_takes_the_floors_place);
	RUN_TEST(scalars_are_replaced);
	RUN_TEST(assignments_are_replaced_by_name);
	RUN_TEST(required_levels_only_rise);
	RUN_TEST(what_narrows_is_taken);
	RUN_TEST(what_widens_is_ignored_and_kept_for_showing);
	RUN_TEST(no_unmarked_key_narrows);
	RUN_TEST(asking_for_what_is_there_is_not_worth_a_note);
	RUN_TEST(an_empty_allow_list_that_is_ignored_is_shown);
	GREATEST_MAIN_END();
}

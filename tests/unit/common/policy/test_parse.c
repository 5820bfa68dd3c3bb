/* SPDX-License-Identifier: Apache-2.0 */
/* The policy parser: accepted and refused documents, positions of errors, hostile files. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/format/yaml.h"
#include "common/policy/policy.h"
#include "common/base/text.h"
#include "unit/support/policy_fixture.h"

TEST takes_every_key(void)
{
	static const char text[] =
		"version: 1\n"
		"extends: default              # built-in name or path\n"
		"use: [node, git]\n"
		"files:\n"
		"  system: [/usr]\n"
		"  write: [.]\n"
		"  read: [~/.config/gh/config.yml, ~, $HOME/x]\n"
		"  deny: [config/master.key, \"**/*.pem\"]\n"
		"  except: [\"**/.env.example\"]\n"
		"  protect: [.github/workflows]\n"
		"  prune: [node_modules]\n"
		"  guard: launch\n"
		"home: empty\n"
		"tmp: private\n"
		"network:\n"
		"  allow: [registry.example.org:443, \"*.example.com:443\", 10.1.2.3:5432, \"[2001:db8::]/32:443\"]\n"
		"  deny: [telemetry.example.com]\n"
		"  local: [5432, 8000-8100]\n"
		"  publish: [3000, \"127.0.0.1:8080:80\", 81:80, \"[::1]:82:80\"]\n"
		"sockets: [$SSH_AUTH_SOCK]\n"
		"devices: [gpu, /dev/kvm]\n"
		"environment:\n"
		"  pass: [LANG, \"LC_*\"]\n"
		"  set: {CI: \"true\", EMPTY: \"\"}\n"
		"limits: {memory: 4G, processes: 512, time: 30m, open_files: 4096}\n"
		"git: locked\n"
		"nesting: true\n"
		"require: {limits: enforced, secrets: repair}\n"
		"accept_weaker: [kernel]\n"
		"command_line: narrow\n"
		"macos: {trustd: false}\n";
	struct policy_fixture f;

	fixture_parse(&f, LAYER_USER, text);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT_EQ(0, f.diagnostics.count);
	ASSERT_STR_EQ("default", f.policy.extends.rule.text);
	ASSERT_EQ(2, f.policy.use.count);
	ASSERT_EQ(3, f.policy.files.read.count);
	ASSERT_STR_EQ("~", f.policy.files.read.items[1].text);
	ASSERT_EQ(LEVEL_LAUNCH, f.policy.files.guard.value);
	ASSERT_EQ(HOME_EMPTY, f.policy.home.value);
	ASSERT_EQ(NETWORK_ALLOW, f.policy.network.mode.value);
	ASSERT_EQ(4, f.policy.network.allow.count);
	ASSERT_EQ(4, f.policy.network.publish.count);
	ASSERT_EQ((uint64_t)4 << 30, f.policy.limits[LIMIT_MEMORY].value);
	ASSERT_EQ(512, f.policy.limits[LIMIT_PROCESSES].value);
	ASSERT_EQ(30 * 60 * 1000, f.policy.limits[LIMIT_TIME].value);
	ASSERT_FALSE(f.policy.limits[LIMIT_DISK].is_set);
	ASSERT(f.policy.nesting.is_set && f.policy.nesting.value == 1);
	ASSERT(f.policy.macos.trustd.is_set && f.policy.macos.trustd.value == 0);
	ASSERT_EQ(LEVEL_ENFORCED, f.policy.require[GUARANTEE_LIMITS].value);
	ASSERT_EQ(COMMAND_LINE_NARROW, f.policy.command_line.value);
	ASSERT_STR_EQ("CI", f.policy.environment.set.items[0].rule.text);
	ASSERT_STR_EQ("true", f.policy.environment.set.items[0].value);
	ASSERT_STR_EQ("", f.policy.environment.set.items[1].value);
	fixture_free(&f);
	PASS();
}

TEST every_value_knows_its_place(void)
{
	struct policy_fixture f;
	const struct rule *rule;

	fixture_parse(&f, LAYER_PROJECT, "version: 1\nfiles:\n  deny:\n    - gr\xc3\xbcn\n    - [\n");
	ASSERT_EQ(-1, f.status);
	fixture_free(&f);
	fixture_parse(&f, LAYER_PROJECT, "version: 1\nfiles:\n  deny:\n    - gr\xc3\xbcn\n    - x # y\nhome:   empty\n");
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	rule = &f.policy.files.deny.items[1];
	ASSERT_STR_EQ("files.deny", rule->key);
	ASSERT_STR_EQ("x", rule->text);
	ASSERT_STR_EQ("p.yml", rule->origin.source);
	ASSERT_EQ(5, rule->origin.line);
	ASSERT_EQ(7, rule->origin.column);
	ASSERT_EQ(LAYER_PROJECT, rule->layer);
	ASSERT_EQ(6, f.policy.home.rule.origin.line);
	ASSERT_EQ(9, f.policy.home.rule.origin.column);
	fixture_free(&f);
	PASS();
}

TEST a_network_mapping_that_only_denies_leaves_the_mode_open(void)
{
	static const struct {
		const char *text;
		bool is_set;
		enum network_mode mode;
	} rows[] = {
		{ "version: 1\n", false, NETWORK_NONE },
		{ "version: 1\nnetwork: none\n", true, NETWORK_NONE },
		{ "version: 1\nnetwork: all\n", true, NETWORK_ALL },
		{ "version: 1\nnetwork: {}\n", false, NETWORK_NONE },
		{ "version: 1\nnetwork: {deny: [a.example.org]}\n", false, NETWORK_NONE },
		{ "version: 1\nnetwork: {allow: []}\n", true, NETWORK_ALLOW },
		{ "version: 1\nnetwork: {deny: [b.example.org], local: [1]}\n", true, NETWORK_ALLOW },
		{ "version: 1\nnetwork: {publish: [80]}\n", true, NETWORK_ALLOW },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct policy_fixture f;
		fixture_parse(&f, LAYER_USER, rows[i].text);
		ASSERT_EQm(rows[i].text, 0, f.status);
		ASSERT_EQm(rows[i].text, rows[i].is_set, f.policy.network.mode.is_set);
		ASSERT_EQm(rows[i].text, rows[i].mode, f.policy.network.mode.value);
		fixture_free(&f);
	}
	PASS();
}

/* One error in a file, with the position and a part of the message. */
struct complaint_row {
	const char *text;
	unsigned line, column;
	const char *part;
};

static enum greatest_test_res check_rows(const struct complaint_row *rows, size_t count, enum layer layer)
{
	for (size_t i = 0; i < count; i++) {
		struct policy_fixture f;
		static char message[4096];

		fixture_parse(&f, layer, rows[i].text);
		snprintf(message, sizeof message, "%s=> wanted %u:%u %s, got%s", rows[i].text, rows[i].line, rows[i].column,
			 rows[i].part, fixture_complaints(&f));
		ASSERT_EQm(message, -1, f.status);
		ASSERTm(message, fixture_complained(&f, rows[i].line, rows[i].column, rows[i].part));
		fixture_free(&f);
	}
	PASS();
}

#define CHECK_ROWS(rows, layer) CHECK_CALL(check_rows((rows), sizeof(rows) / sizeof *(rows), (layer)))

TEST keys(void)
{
	static const struct complaint_row rows[] = {
		{ "version: 1\nfiles:\n  denny: [x]\n", 3, 3, "did you mean `deny`?" },
		{ "version: 1\nfile:\n  deny: [x]\n", 2, 1, "did you mean `files`?" },
		{ "version: 1\ndeny: [x]\n", 2, 1, "did you mean `files.deny`?" },
		{ "version: 1\nlimits:\n  memroy: 4G\n", 3, 3, "did you mean `memory`?" },
		{ "version: 1\nenv: {}\n", 2, 1, "did you mean `environment`?" },
		{ "version: 1\nfiles.deny: [x]\n", 2, 1, "unknown key `files.deny`" },
		{ "version: 1\nzzzzzz: 1\n", 2, 1, "unknown key `zzzzzz`" },
		{ "version: 1\n\"\": 1\n", 2, 1, "unknown key" },
		{ "version: 1\n<<: {}\n", 2, 1, "unknown key `<<`" },
		{ "version: 1\nFiles: {}\n", 2, 1, "did you mean `files`?" },
		{ "version: 1\nhome: empty\ntmp: empty\nhome: host\n", 4, 1, "in line 2" },
		{ "version: 1\nversion: 1\n", 2, 1, "in line 1" },
		{ "version: 1\nfiles: {deny: [a], read: [b], deny: [c]}\n", 2, 31, "is repeated" },
		{ "version: 1\n\"home\": empty\nhome: host\n", 3, 1, "in line 2" },
		{ "version: 1\nzzz: 1\nzzz: 2\n", 3, 1, "is repeated" },
		{ "version: 1\n? [a, b]\n: c\n", 2, 3, "a key must be a plain word" },
		{ "version: 1\n? {a: b}\n: c\n", 2, 3, "a key must be a plain word" },
		{ "version: 1\ncommands: {git: {}}\n", 2, 1, "not yet supported" },
		{ "version: 1\ncredentials: x\n", 2, 1, "not yet supported" },
		{ "version: 1\nworkspace: {copy: sometimes}\n", 2, 19, "sometimes" },
		{ "version: 1\naudit: {exec: true}\n", 2, 9, "not yet supported" },
		{ "version: 1\nrequire: {secrets: strict}\n", 2, 20, "not yet supported" },
		{ "version: 1\ngit: guarded\n", 2, 6, "not yet supported" },
	};
	CHECK_ROWS(rows, LAYER_USER);
	PASS();
}

TEST versions(void)
{
	static const struct complaint_row rows[] = {
		{ "", 1, 1, "`version` is missing" },
		{ "# nothing\n", 1, 1, "`version` is missing" },
		{ "---\n", 1, 1, "`version` is missing" },
		{ "home: empty\n", 1, 1, "`version` is missing" },
		{ "{}\n", 1, 1, "`version` is missing" },
		{ "version: 2\n", 1, 10, "version 2 is unknown" },
		{ "version: 0\n", 1, 10, "is unknown" },
		{ "version: \"1\"\n", 1, 10, "a number is expected" },
		{ "version: one\n", 1, 10, "a number is expected" },
		{ "version: 1.0\n", 1, 10, "a number is expected" },
		{ "version: 01\n", 1, 10, "a number is expected" },
		{ "version:\n", 1, 9, "a number is expected" },
		{ "version: [1]\n", 1, 10, "must be a number" },
		{ "- version: 1\n", 1, 1, "not a list" },
		{ "version 1\n", 1, 1, "not a single value" },
	};
	struct policy_fixture f;

	CHECK_ROWS(rows, LAYER_USER);
	fixture_parse(&f, LAYER_COMMAND_LINE, "");
	ASSERT_EQ(0, f.status);
	fixture_free(&f);
	fixture_parse(&f, LAYER_COMMAND_LINE, "home: empty\n");
	ASSERT_EQ(-1, f.status);
	fixture_free(&f);
	PASS();
}

TEST types(void)
{
	static const struct complaint_row rows[] = {
		{ "version: 1\nfiles: [x]\n", 2, 8, "`files` must be a mapping, not a list" },
		{ "version: 1\nfiles: x\n", 2, 8, "must be a mapping" },
		{ "version: 1\nfiles:\n", 2, 7, "not an empty value" },
		{ "version: 1\nfiles: ~\n", 2, 8, "not an empty value" },
		{ "version: 1\nfiles: {write: .}\n", 2, 16, "write `write: [\".\"]`" },
		{ "version: 1\nfiles: {read: ~}\n", 2, 15, "must be a list" },
		{ "version: 1\nfiles: {deny: {a: b}}\n", 2, 15, "not a mapping" },
		{ "version: 1\nfiles:\n  deny:\n", 3, 8, "must be a list" },
		{ "version: 1\nfiles: {deny: [[a]]}\n", 2, 16, "an entry must be a single value" },
		{ "version: 1\nfiles: {deny: [{a: b}]}\n", 2, 16, "an entry must be a single value" },
		{ "version: 1\nfiles: {deny: [a: b]}\n", 2, 16, "an entry must be a single value" },
		{ "version: 1\nhome: [empty]\n", 2, 7, "must be a single value" },
		{ "version: 1\nnetwork: [all]\n", 2, 10, "must be a mapping" },
		{ "version: 1\nenvironment: {set: [CI]}\n", 2, 20, "must be a mapping of names to values" },
		{ "version: 1\nenvironment: {set: {CI: [1]}}\n", 2, 25, "a value must be text" },
		{ "version: 1\nlimits: {memory: {}}\n", 2, 18, "must be a single value" },
		/* Text that has another type in YAML must be quoted. */
		{ "version: 1\nfiles: {deny: [1e3]}\n", 2, 16, "a number in YAML" },
		{ "version: 1\nfiles: {deny: [12]}\n", 2, 16, "quote it: \"12\"" },
		{ "version: 1\nfiles: {deny: [0x1F]}\n", 2, 16, "a number in YAML" },
		{ "version: 1\nfiles: {deny: [.5]}\n", 2, 16, "a number in YAML" },
		{ "version: 1\nfiles: {deny: [.inf]}\n", 2, 16, "a number in YAML" },
		{ "version: 1\nfiles: {deny: [no]}\n", 2, 16, "a boolean in YAML" },
		{ "version: 1\nfiles: {deny: [On]}\n", 2, 16, "a boolean in YAML" },
		{ "version: 1\nfiles: {deny: [null]}\n", 2, 16, "null in YAML" },
		{ "version: 1\nfiles: {deny: [\"\"]}\n", 2, 16, "empty" },
		{ "version: 1\nfiles:\n  deny:\n    -\n", 4, 6, "empty" },
		{ "version: 1\nuse: [~]\n", 2, 7, "null in YAML" },
		{ "version: 1\nextends: ~\n", 2, 10, "null in YAML" },
		{ "version: 1\nextends: 1\n", 2, 10, "a number in YAML" },
		{ "version: 1\nenvironment: {set: {CI: true}}\n", 2, 25, "quote it: \"true\"" },
		{ "version: 1\nenvironment: {set: {N: 1}}\n", 2, 24, "quote it: \"1\"" },
		{ "version: 1\nenvironment: {set: {N: }}\n", 2, 24, "empty" },
		{ "version: 1\nenvironment: {set: {N: ~}}\n", 2, 24, "null in YAML" },
		/* Numbers and booleans must not be quoted. */
		{ "version: 1\nnesting: yes\n", 2, 10, "not `true` or `false`" },
		{ "version: 1\nnesting: on\n", 2, 10, "not `true` or `false`" },
		{ "version: 1\nnesting: True\n", 2, 10, "not `true` or `false`" },
		{ "version: 1\nnesting: 1\n", 2, 10, "not `true` or `false`" },
		{ "version: 1\nnesting: ~\n", 2, 10, "not `true` or `false`" },
		{ "version: 1\nnesting: \"true\"\n", 2, 10, "without quotes" },
		{ "version: 1\nlimits: {processes: \"5\"}\n", 2, 21, "without quotes" },
		{ "version: 1\nhome: ~\n", 2, 7, "not one of private, empty or host" },
		{ "version: 1\nhome: on\n", 2, 7, "not one of" },
		{ "version: 1\nhome: privat\n", 2, 7, "did you mean `private`?" },
		{ "version: 1\nnetwork: off\n", 2, 10, "nor a mapping" },
		{ "version: 1\ncommand_line: Narrow\n", 2, 15, "did you mean `narrow`?" },
		{ "version: 1\naccept_weaker: [write]\n", 2, 17, "did you mean `writes`?" },
		{ "version: 1\nrequire: {writes: partial}\n", 2, 19, "is not enforced" },
		{ "version: 1\nrequire: {writs: enforced}\n", 2, 11, "did you mean `writes`?" },
	};
	CHECK_ROWS(rows, LAYER_USER);
	PASS();
}

TEST values(void)
{
	static const struct complaint_row rows[] = {
		{ "version: 1\nlimits: {memory: 4X}\n", 2, 18, "not a size" },
		{ "version: 1\nlimits: {memory: 4 G}\n", 2, 18, "not a size" },
		{ "version: 1\nlimits: {memory: -4G}\n", 2, 18, "not a size" },
		{ "version: 1\nlimits: {memory: 0}\n", 2, 18, "more than 0" },
		{ "version: 1\nlimits: {memory: 99999999999999T}\n", 2, 18, "not a size" },
		{ "version: 1\nlimits: {time: 30}\n", 2, 16, "not a duration" },
		{ "version: 1\nlimits: {time: 1h30m}\n", 2, 16, "not a duration" },
		{ "version: 1\nlimits: {time: 0s}\n", 2, 16, "more than 0" },
		{ "version: 1\nlimits: {processes: 1e3}\n", 2, 21, "not a whole number" },
		{ "version: 1\nlimits: {processes: 1_000}\n", 2, 21, "not a whole number" },
		{ "version: 1\nlimits: {processes: 0}\n", 2, 21, "more than 0" },
		{ "version: 1\nlimits: {processes: 4294967296}\n", 2, 21, "not a whole number" },
		{ "version: 1\nnetwork: {local: [0]}\n", 2, 19, "not a port" },
		{ "version: 1\nnetwork: {local: [65536]}\n", 2, 19, "not a port" },
		{ "version: 1\nnetwork: {local: [080]}\n", 2, 19, "not a port" },
		{ "version: 1\nnetwork: {local: [http]}\n", 2, 19, "not a port" },
		{ "version: 1\nnetwork: {local: [90-80]}\n", 2, 19, "ends before it begins" },
		{ "version: 1\nnetwork: {local: [80-]}\n", 2, 19, "not a port" },
		{ "version: 1\nnetwork: {local: [~]}\n", 2, 19, "not a port" },
		{ "version: 1\nnetwork: {publish: [\"80:\"]}\n", 2, 21, "after the last colon" },
		{ "version: 1\nnetwork: {publish: [\":80\"]}\n", 2, 21, "before the last colon" },
		{ "version: 1\nnetwork: {publish: [\"localhost:80:80\"]}\n", 2, 21, "not an address" },
		{ "version: 1\nnetwork: {publish: [\"::1:80:80\"]}\n", 2, 21, "not an address" },
		{ "version: 1\nnetwork: {publish: [\"127.1:80:80\"]}\n", 2, 21, "not an address" },
		{ "version: 1\nnetwork: {publish: [\"1.2.3.4:80:80:80\"]}\n", 2, 21, "not an address" },
		{ "version: 1\nnetwork: {publish: [\"\"]}\n", 2, 21, "not a port" },
		{ "version: 1\nnetwork: {allow: [\"10.0.0.0/33\"]}\n", 2, 19, "network.allow" },
		{ "version: 1\nnetwork: {allow: [\"10.0.0.1/8\"]}\n", 2, 19, "network.allow" },
		{ "version: 1\nnetwork: {allow: [\"example.org:99999\"]}\n", 2, 19, "network.allow" },
		{ "version: 1\nnetwork: {allow: [\"exa mple.org\"]}\n", 2, 19, "network.allow" },
		{ "version: 1\nnetwork: {allow: [\"a*.example.org\"]}\n", 2, 19, "network.allow" },
		{ "version: 1\nnetwork: {allow: [\"https://example.org/\"]}\n", 2, 19, "network.allow" },
		{ "version: 1\nnetwork: {allow: [\"0x7f000001\"]}\n", 2, 19, "network.allow" },
		{ "version: 1\nnetwork: {deny: [\"[::1\"]}\n", 2, 18, "network.deny" },
		{ "version: 1\nfiles: {deny: [\"a/../b\"]}\n", 2, 16, "files.deny" },
		{ "version: 1\nfiles: {deny: [\"a[b\"]}\n", 2, 16, "files.deny" },
		{ "version: 1\nfiles: {deny: [\"~/../x\"]}\n", 2, 16, "files.deny" },
		{ "version: 1\nfiles: {deny: ['a\\']}\n", 2, 16, "files.deny" },
		{ "version: 1\nfiles: {read: [~root/x]}\n", 2, 16, "another user" },
		{ "version: 1\nfiles: {deny: [~root/x]}\n", 2, 16, "another user" },
		{ "version: 1\nfiles: {read: [$FOO/x]}\n", 2, 16, "$XDG_RUNTIME_DIR" },
		{ "version: 1\nfiles: {read: [\"${HOME}/x\"]}\n", 2, 16, "unknown variable" },
		{ "version: 1\nfiles: {read: [$HOMEx]}\n", 2, 16, "unknown variable" },
		{ "version: 1\nfiles: {read: [$]}\n", 2, 16, "unknown variable" },
		{ "version: 1\nfiles: {read: [\"/usr/*\"]}\n", 2, 16, "not a path" },
		{ "version: 1\ndevices: [cpu]\n", 2, 11, "neither `gpu` nor" },
		{ "version: 1\ndevices: [/dev/../etc/shadow]\n", 2, 11, "neither `gpu` nor" },
		{ "version: 1\ndevices: [/dev/]\n", 2, 11, "neither `gpu` nor" },
		{ "version: 1\ndevices: [/etc/passwd]\n", 2, 11, "neither `gpu` nor" },
		{ "version: 1\nenvironment: {pass: [A=b]}\n", 2, 22, "environment.set" },
		{ "version: 1\nenvironment: {pass: [\"A B\"]}\n", 2, 22, "not a variable name" },
		{ "version: 1\nenvironment: {pass: [1A]}\n", 2, 22, "not a variable name" },
		{ "version: 1\nenvironment: {set: {\"A*\": x}}\n", 2, 21, "not a variable name" },
		{ "version: 1\nenvironment: {set: {\"\": x}}\n", 2, 21, "not a variable name" },
		{ "version: 1\nenvironment: {set: {A: x, A: y}}\n", 2, 27, "is repeated" },
	};
	CHECK_ROWS(rows, LAYER_USER);
	PASS();
}

TEST what_yaml_can_do_beyond_data(void)
{
	static const struct complaint_row rows[] = {
		{ "version: 1\nfiles: {deny: &a [x]}\n", 2, 15, "anchors" },
		{ "version: 1\nfiles: &a {}\n", 2, 8, "anchors" },
		{ "version: &a 1\n", 1, 10, "anchors" },
		{ "version: 1\nfiles: {deny: [*foo]}\n", 2, 16, "quote a pattern" },
		{ "version: 1\nfiles: {deny: [*.pem]}\n", 2, 17, "quote a pattern" },
		{ "version: 1\nfiles:\n  deny:\n    - **/*.pem\n", 4, 8, "quote a pattern" },
		{ "version: !!int 1\n", 1, 10, "tags" },
		{ "version: 1\nhome: !x empty\n", 2, 7, "tags" },
		{ "version: 1\nhome: ! empty\n", 2, 7, "tags" },
		{ "version: 1\nfiles: !!map {}\n", 2, 8, "tags" },
		{ "version: 1\nfiles: {deny: !!set {a, b}}\n", 2, 15, "tags" },
		{ "%YAML 1.1\n---\nversion: 1\n", 1, 1, "directives" },
		{ "%TAG ! tag:example.org,2000:\n---\nversion: 1\n", 1, 1, "directives" },
		{ "version: 1\n---\nversion: 1\n", 2, 1, "only one document" },
		{ "version: 1\n...\nversion: 1\n", 3, 1, "expected <document start>" },
		{ "version: 1\nhome: |\n  empty\n", 2, 7, "line break" },
		{ "version: 1\nhome: \"em\\0pty\"\n", 2, 7, "control character" },
		{ "version: 1\nhome: \"\\e[31m\"\n", 2, 7, "control character" },
		{ "version: 1\nhome: \"\\u202e\"\n", 2, 7, "invisible" },
		{ "version: 1\n\"ho\\nme\": empty\n", 2, 1, "line break" },
		{ "version: 1\n\tfiles: {}\n", 2, 1, "not with tabs" },
		{ "version: 1\nhome: @x\n", 2, 7, "quote a value" },
		{ "version: 1\nfiles: {deny: [a\n", 3, 1, "" },
		{ "version: 1\nhome: \"empty\n", 3, 1, "" },
		{ "version: 1\n  home: empty\n", 2, 7, "mapping values are not allowed" },
	};
	CHECK_ROWS(rows, LAYER_USER);
	PASS();
}

TEST bytes(void)
{
	static const struct complaint_row rows[] = {
		{ "version: 1\n# \x1b[31m\n", 2, 3, "U+001B" },
		{ "version: 1\n# \x7f\n", 2, 3, "U+007F" },
		{ "version: 1\n# \xc2\x85\n", 2, 3, "U+0085" },
		{ "version: 1\n# \xe2\x80\xae\n", 2, 3, "U+202E" },
		{ "version: 1\n# \xe2\x80\xa8\n", 2, 3, "U+2028" },
		{ "version: 1\n# \xef\xbf\xbf\n", 2, 3, "U+FFFF" },
		{ "\xef\xbb\xbfversion: 1\n", 1, 1, "byte-order mark" },
		{ "version: 1\n# gr\xc3\xbc \xff\n", 2, 7, "invalid UTF-8 (byte 0xff)" },
		{ "version: 1\n# \xc0\xaf\n", 2, 3, "invalid UTF-8" },
		{ "version: 1\n# \xed\xa0\x80\n", 2, 3, "invalid UTF-8" },
		{ "version: 1\rhome: host\n", 1, 11, "carriage return" },
		{ "version: 1\n# \xe2\x82", 2, 3, "invalid UTF-8" },
	};
	struct policy_fixture f;

	CHECK_ROWS(rows, LAYER_USER);
	fixture_parse_n(&f, LAYER_USER, "version: 1\n# \0\nhome: empty\n", 27);
	ASSERT_EQ(-1, f.status);
	ASSERT(fixture_complained(&f, 2, 3, "NUL"));
	fixture_free(&f);
	/* UTF-16 is full of NULs. */
	fixture_parse_n(&f, LAYER_USER, "\xff\xfev\0e\0r\0", 8);
	ASSERT_EQ(-1, f.status);
	fixture_free(&f);
	fixture_parse(&f, LAYER_USER, "version: 1\r\nhome: empty\r\n");
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT_STR_EQ("empty", f.policy.home.rule.text);
	fixture_free(&f);
	PASS();
}

/* `count` times `unit`, between a head and a tail. */
static char *repeated(const char *head, const char *unit, size_t count, const char *tail)
{
	struct text text = { 0 };

	text_add(&text, "%s", head);
	for (size_t i = 0; i < count; i++)
		text_add(&text, "%s", unit);
	text_add(&text, "%s", tail);
	return text.data;
}

TEST bounds(void)
{
	static const struct {
		const char *head, *unit;
		size_t count;
		const char *tail;
		const char *part; /* NULL: accepted */
	} rows[] = {
		{ "version: 1\nfiles: {deny: [", "x,", YAML_MAX_ITEMS, "]}\n", NULL },
		{ "version: 1\nfiles: {deny: [", "x,", YAML_MAX_ITEMS + 1, "]}\n", "more than 4096 entries" },
		{ "version: 1\nfiles: {deny: [\"", "x", YAML_MAX_SCALAR + 1, "\"]}\n", "longer than 4096 bytes" },
		{ "version: 1\nfiles: {deny: [", "[", YAML_MAX_DEPTH + 1, "", "more than 32 levels" },
		{ "version: 1\nfiles: ", "[", 500000, "", "more than 32 levels" },
		{ "version: 1\nfiles: ", "{a: ", 200000, "", "more than 32 levels" },
		{ "version: 1\nfiles:\n", "- ", 300000, "", "more than 32 levels" },
		{ "version: 1\nx: [", "[a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a],", 4000, "]\n",
		  "more than 65536 values" },
		{ "version: 1\n#", "x", YAML_MAX_BYTES, "\n", "larger than 1048576 bytes" },
		{ "version: 1\n#", "x", YAML_MAX_BYTES - 13, "\n", NULL },
		{ "version: 1\n", "\"", 500000, "", "" },
		{ "version: 1\n", "&a ", 300000, "", "" },
		{ "version: 1\n", "? ", 300000, "", "" },
		{ "version: 1\n", "- a\n", 200000, "", "" },
		{ "version: 1\n", "a: b\n", 4000, "", "is repeated" },
		{ "version: 1\n", "%", 500000, "", "" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *text = repeated(rows[i].head, rows[i].unit, rows[i].count, rows[i].tail);
		struct policy_fixture f;
		bool was_said = false;

		fixture_parse(&f, LAYER_USER, text);
		ASSERT_EQm(rows[i].part ? rows[i].part : rows[i].head, rows[i].part ? -1 : 0, f.status);
		ASSERT(f.diagnostics.count <= YAML_MAX_DIAGNOSTICS + 1);
		for (size_t j = 0; j < f.diagnostics.count; j++) {
			const struct diagnostic *diagnostic = &f.diagnostics.items[j];
			was_said |= rows[i].part && strstr(diagnostic->message, rows[i].part);
			ASSERT(!diagnostic->line || strlen(diagnostic->line) < 1024);
			ASSERT(strlen(diagnostic->message) < 8 * ERROR_MESSAGE_MAX);
		}
		ASSERT_EQm(rows[i].part ? rows[i].part : rows[i].head, rows[i].part != NULL, was_said);
		fixture_free(&f);
		free(text);
	}
	PASS();
}

TEST all_errors_at_once_in_order_with_their_lines(void)
{
	struct policy_fixture f;

	fixture_parse(&f, LAYER_PROJECT,
		      "version: 1\nfiles:\n  denny: [x]\n  deny: [*a, 12]\nhome: nowhere\naccept_weaker: [writes]\nlimits: "
		      "{time: 5}\n");
	ASSERT_EQ(-1, f.status);
	ASSERT_EQm(fixture_complaints(&f), 6, f.diagnostics.count);
	for (size_t i = 1; i < f.diagnostics.count; i++)
		ASSERT(f.diagnostics.items[i - 1].origin.line <= f.diagnostics.items[i].origin.line);
	ASSERT_STR_EQ("  denny: [x]", f.diagnostics.items[0].line);
	ASSERT_STR_EQ("p.yml", f.diagnostics.items[0].origin.source);
	ASSERT_STR_EQ("did you mean `deny`?", f.diagnostics.items[0].hint);
	ASSERT(fixture_complained(&f, 6, 1, "project's file"));
	fixture_free(&f);
	PASS();
}

TEST what_only_the_user_may_say(void)
{
	static const struct complaint_row rows[] = {
		{ "version: 1\naccept_weaker: [writes]\n", 2, 1, "not allowed in a project's file" },
		{ "version: 1\ncommand_line: widen\n", 2, 1, "not allowed in a project's file" },
	};
	CHECK_ROWS(rows, LAYER_PROJECT);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct policy_fixture f;
		fixture_parse(&f, LAYER_USER, rows[i].text);
		ASSERT_EQ(0, f.status);
		fixture_free(&f);
	}
	PASS();
}

TEST messages_cannot_act_on_a_terminal(void)
{
	struct policy_fixture f;

	fixture_parse(&f, LAYER_USER, "version: 1\n\"a\\e[31mb\": 1\nhome: \"x\\u009b\"\n");
	ASSERT_EQ(-1, f.status);
	for (size_t i = 0; i < f.diagnostics.count; i++) {
		ASSERT_FALSE(text_has_control(f.diagnostics.items[i].message, strlen(f.diagnostics.items[i].message)));
		ASSERT_FALSE(text_has_control(f.diagnostics.items[i].line, strlen(f.diagnostics.items[i].line)));
	}
	fixture_free(&f);
	PASS();
}

TEST plain_scalars_by_type(void)
{
	static const struct {
		const char *text, *type;
	} rows[] = {
		{ "~", "null" },	{ "", "null" },		 { "NULL", "null" },
		{ "yes", "a boolean" }, { "N", "a boolean" },	 { "FALSE", "a boolean" },
		{ "1", "a number" },	{ "-1", "a number" },	 { "+1.5", "a number" },
		{ "1e3", "a number" },	{ "1.", "a number" },	 { "0o17", "a number" },
		{ "0b1", "a number" },	{ "1_000", "a number" }, { ".NaN", "a number" },
		{ "1e", NULL },		{ "e3", NULL },		 { ".", NULL },
		{ "-", NULL },		{ "..", NULL },		 { "1.2.3", NULL },
		{ "4G", NULL },		{ "0xg", NULL },	 { "~/x", NULL },
		{ "nothing", NULL },	{ "1e+", NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *type = yaml_plain_type(rows[i].text);
		ASSERT_STR_EQm(rows[i].text, rows[i].type ? rows[i].type : "text", type ? type : "text");
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(takes_every_key);
	RUN_TEST(every_value_knows_its_place);
	RUN_TEST(a_network_mapping_that_only_denies_leaves_the_mode_open);
	RUN_TEST(keys);
	RUN_TEST(versions);
	RUN_TEST(types);
	RUN_TEST(values);
	RUN_TEST(what_yaml_can_do_beyond_data);
	RUN_TEST(bytes);
	RUN_TEST(bounds);
	RUN_TEST(all_errors_at_once_in_order_with_their_lines);
	RUN_TEST(what_only_the_user_may_say);
	RUN_TEST(messages_cannot_act_on_a_terminal);
	RUN_TEST(plain_scalars_by_type);
	GREATEST_MAIN_END();
}

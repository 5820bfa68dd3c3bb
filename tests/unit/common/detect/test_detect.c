/* SPDX-License-Identifier: Apache-2.0 */
/* Detection for `berm init` on machines described as text, and the resulting policy. In every file
 * the word SECRET replaces a credential; it must never appear in the output. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/detect/detect.h"
#include "common/policy/policy.h"
#include "common/base/text.h"
#include "unit/support/described_machine.h"

static struct arena arena;

static struct detection detect(const char *environment, const char *files)
{
	struct context context = described_machine(&arena, environment, files);
	struct detection detection;
	struct error err = { 0 };
	if (detect_project(&arena, &context, &detection, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	return detection;
}

static void list_registry(const struct registry *registry, struct text *out)
{
	text_add(out, "%s", out->length ? " " : "");
	if (registry->local_port)
		text_add(out, "local:%u", registry->local_port);
	else
		text_add(out, "%s", registry->destination ? registry->destination : "?");
	text_add(out, "<%s", registry->source);
	if (registry->line > 0)
		text_add(out, ":%u", registry->line);
}

/* "destination<source destination<source". */
static const char *listed(const struct detection *detection)
{
	struct text out = { 0 };
	for (int e = 0; e < ECOSYSTEM_COUNT; e++)
		for (size_t i = 0; i < detection->ecosystems[e].registries.count; i++)
			list_registry(&detection->ecosystems[e].registries.items[i], &out);
	const char *copy = arena_copy(&arena, out.data ? out.data : "");
	text_free(&out);
	return copy;
}

TEST projects_are_known_by_their_files(void)
{
	static const struct {
		const char *file;
		enum ecosystem ecosystem;
		const char *tool;
	} rows[] = {
		{ "package.json", ECOSYSTEM_NODE, "npm" },
		{ "Cargo.toml", ECOSYSTEM_RUST, "cargo" },
		{ "pyproject.toml", ECOSYSTEM_PYTHON, "pip" },
		{ "setup.py", ECOSYSTEM_PYTHON, "pip" },
		{ "requirements.txt", ECOSYSTEM_PYTHON, "pip" },
		{ "go.mod", ECOSYSTEM_GO, "go" },
		{ "pom.xml", ECOSYSTEM_JAVA, "maven" },
		{ "build.gradle", ECOSYSTEM_JAVA, "gradle" },
		{ "build.gradle.kts", ECOSYSTEM_JAVA, "gradle" },
		{ "Gemfile", ECOSYSTEM_RUBY, "bundler" },
		{ "composer.json", ECOSYSTEM_PHP, "composer" },
		{ "App.csproj", ECOSYSTEM_DOTNET, "nuget" },
		{ "App.sln", ECOSYSTEM_DOTNET, "nuget" },
		{ "Makefile", ECOSYSTEM_C, NULL },
		{ "CMakeLists.txt", ECOSYSTEM_C, NULL },
		{ ".git/", ECOSYSTEM_GIT, NULL },
		{ ".git", ECOSYSTEM_GIT, NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct detection detection = detect("", arena_printf(&arena, "  - /p/app/%s\n", rows[i].file));
		for (int e = 0; e < ECOSYSTEM_COUNT; e++)
			if (!detection.ecosystems[e].marker != (e != (int)rows[i].ecosystem))
				FAILm(rows[i].file);
		if (rows[i].tool)
			ASSERT_STR_EQ(rows[i].tool, detection.ecosystems[rows[i].ecosystem].tool);
	}
	struct detection none = detect("", "  - /p/app/src/package.json\n  - /p/app/go.mod/\n  - /p/app/csproj\n"
					   "  - /p/app/yarn.lock\n  - \"/p/app/Makefile -> /etc/passwd\"\n");
	for (int e = 0; e < ECOSYSTEM_COUNT; e++)
		ASSERT_EQ(NULL, none.ecosystems[e].marker);
	ASSERT_STR_EQ("", listed(&none));
	PASS();
}

TEST the_lock_file_tells_the_package_manager(void)
{
	static const struct {
		const char *file, *tool;
	} rows[] = {
		{ "package-lock.json", "npm" }, { "pnpm-lock.yaml", "pnpm" }, { "yarn.lock", "yarn" }, { "bun.lock", "bun" }
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct detection detection =
			detect("", arena_printf(&arena, "  - /p/app/package.json\n  - /p/app/%s\n", rows[i].file));
		ASSERT_STR_EQ(rows[i].tool, detection.ecosystems[ECOSYSTEM_NODE].tool);
	}
	PASS();
}

TEST the_policy_offers_the_users_registry_only_if_a_file_names_one(void)
{
	struct detection detection = detect("", "  - /p/app/package.json\n  - {path: /home/ann/.npmrc, text: "
						"\"registry=https://npm.example.org/\"}\n");
	struct text text = { 0 };
	detect_policy(&detection, true, &text);
	ASSERT(strstr(text.data, "use: [node, registry-npm]"));
	text_free(&text);
	detection = detect("", "  - /p/app/package.json\n");
	text = (struct text){ 0 };
	detection.ecosystems[ECOSYSTEM_NODE].unanswered = "no\nanswer: x";
	detect_policy(&detection, true, &text);
	ASSERT(strstr(text.data, "use: [node]"));
	ASSERT(strstr(text.data, "not known: no\\x0aanswer: x"));
	text_free(&text);
	PASS();
}

/* An address that was not accepted is a comment. */
TEST addresses_are_rules_only_if_accepted(void)
{
	struct detected_address addresses[] = {
		{ "npm.example.org:443", "10.1.2.3:443", "private", true, true },
		{ "npm.example.org:443", "169.254.169.254:443", "metadata service", false, false },
	};
	struct detection detection =
		detect("", "  - /p/app/package.json\n  - {path: /p/app/.npmrc, text: \"registry=https://npm.example.org/\"}\n");
	struct diagnostics diagnostics = { .arena = &arena };
	struct policy policy = { 0 };
	struct text text = { 0 };
	detection.addresses.items = addresses;
	detection.addresses.count = 2;
	detect_policy(&detection, true, &text);
	ASSERT_EQ(0, policy_parse(&arena, "berm.yml", LAYER_PROJECT, text.data, text.length, &policy, &diagnostics));
	ASSERT_EQ(2, policy.network.allow.count);
	ASSERT_STR_EQ("10.1.2.3:443", policy.network.allow.items[1].text);
	ASSERT(strstr(text.data, "#     - 169.254.169.254:443"));
	text_free(&text);
	PASS();
}

TEST registries_come_from_configuration(void)
{
	static const struct {
		const char *environment, *files, *wanted;
	} rows[] = {
		/* No host is built in. */
		{ "", "  - /p/app/package.json\n", "" },
		{ "", "  - /p/app/Cargo.toml\n", "" },
		{ "", "  - /p/app/go.mod\n", "" },
		/* One that replaces the default, one in addition to it. */
		{ "", "  - /p/app/package.json\n" FILE_TEXT("/p/app/.npmrc", "registry=https://u:SECRET@npm.example.org/%"),
		  "npm.example.org:443<.npmrc:1" },
		{ "", "  - /p/app/package.json\n" FILE_TEXT("/p/app/.npmrc", "@corp:registry=https://npm.example.org:8443/%"),
		  "npm.example.org:8443<.npmrc:1" },
		{ "",
		  "  - /p/app/package.json\n" FILE_TEXT(
			  "/home/ann/.npmrc", "//npm.example.org/:_authToken=SECRET%registry = http://localhost:4873%"),
		  "local:4873<~/.npmrc:2" },
		{ "", "  - /p/app/package.json\n" FILE_TEXT("/p/app/.npmrc", "registry=https://${SECRET}/%"), "?<.npmrc:1" },
		{ "",
		  "  - /p/app/package.json\n" FILE_TEXT(
			  "/p/app/.yarnrc.yml",
			  "npmScopes:%  corp:%    npmRegistryServer: https://npm.example.org%    npmAuthToken: SECRET%"),
		  "npm.example.org:443<.yarnrc.yml:3" },
		{ "",
		  "  - /p/app/package.json\n" FILE_TEXT(
			  "/p/app/bunfig.toml", "[install]%registry = { url = 'https://npm.example.org', token = 'SECRET' }%"),
		  "npm.example.org:443<bunfig.toml:2" },
		{ "npm_config_registry: \"https://SECRET@env.example.org\"", "  - /p/app/package.json\n",
		  "env.example.org:443<$npm_config_registry" },
		/* Duplicate hosts are listed once. */
		{ "",
		  "  - /p/app/package.json\n" FILE_TEXT("/p/app/.npmrc",
							"registry=https://a.example%@b:registry=https://a.example/b%"),
		  "a.example:443<.npmrc:1" },
		{ "",
		  "  - /p/app/Cargo.toml\n" FILE_TEXT("/home/ann/.cargo/config.toml",
						      "[source.crates-io]%replace-with = 'corp'%[source.corp]%registry = "
						      "'sparse+https://cargo.example.org/'%[registries.other]%index = "
						      "'https://other.example.org'%token = 'SECRET'%"),
		  "cargo.example.org:443<~/.cargo/config.toml:4 other.example.org:443<~/.cargo/config.toml:6" },
		{ "",
		  "  - /p/app/setup.py\n" FILE_TEXT(
			  "/home/ann/.config/pip/pip.conf",
			  "[global]%index-url = https://u:SECRET@pip.example.org/simple%extra-index-url =%  "
			  "https://a.example.org%  https://b.example.org%"),
		  "pip.example.org:443<~/.config/pip/pip.conf:2 a.example.org:443<~/.config/pip/pip.conf:4 "
		  "b.example.org:443<~/.config/pip/pip.conf:5" },
		{ "", FILE_TEXT("/p/app/requirements.txt", "--extra-index-url https://SECRET@pip.example.org%requests%"),
		  "pip.example.org:443<requirements.txt:1" },
		{ "",
		  FILE_TEXT("/p/app/pyproject.toml",
			    "[project]%name = 'x'%[[tool.uv.index]]%url = 'https://uv.example.org'%[project.urls]%home = "
			    "'https://home.example.org'%"),
		  "uv.example.org:443<pyproject.toml:4" },
		{ "PIP_INDEX_URL: \"https://u:SECRET@env.example.org/simple\"", "  - /p/app/setup.py\n",
		  "env.example.org:443<$PIP_INDEX_URL" },
		{ "GOPROXY: \"https://a.example.org,https://b.example.org|direct\"", "  - /p/app/go.mod\n",
		  "a.example.org:443<$GOPROXY b.example.org:443<$GOPROXY" },
		{ "GOPROXY: \"off\"", "  - /p/app/go.mod\n", "" },
		{ "", "  - /p/app/go.mod\n" FILE_TEXT("/home/ann/.config/go/env", "GOPROXY=https://go.example.org%"),
		  "go.example.org:443<~/.config/go/env:1" },
		{ "",
		  FILE_TEXT("/p/app/pom.xml", "<project><url>https://home.example.org</"
					      "url><distributionManagement><repository><url>https://upload.example.org</url></"
					      "repository></distributionManagement><repositories><repository>%<url>https://"
					      "mvn.example.org/x</url></repository></repositories></project>"),
		  "mvn.example.org:443<pom.xml:2" },
		{ "",
		  "  - /p/app/pom.xml\n" FILE_TEXT(
			  "/home/ann/.m2/settings.xml",
			  "<settings><servers><server><password>SECRET</password></server></"
			  "servers><mirrors><mirror><url>https://mirror.example.org</url></mirror></mirrors></settings>"),
		  "mirror.example.org:443<~/.m2/settings.xml:1" },
		{ "",
		  FILE_TEXT("/p/app/Gemfile",
			    "source 'https://SECRET@gems.example.org'%gem 'x', git: 'https://code.example.org/x'%"),
		  "gems.example.org:443<Gemfile:1" },
		{ "",
		  "  - /p/app/Gemfile\n" FILE_TEXT(
			  "/home/ann/.bundle/config",
			  "BUNDLE_GEMS__EXAMPLE__ORG: 'user:SECRET'%BUNDLE_MIRROR__ALL: 'https://mirror.example.org'%"),
		  "mirror.example.org:443<~/.bundle/config:2" },
		{ "", FILE_TEXT("/p/app/composer.json", "{'x': 1}"), "" },
		{ "",
		  "  - /p/app/App.csproj\n" FILE_TEXT(
			  "/p/app/NuGet.Config",
			  "<configuration><packageSources><clear /><add key='a' value='https://nuget.example.org/v3' "
			  "/></packageSources><packageSourceCredentials><a><add key='ClearTextPassword' value='https://SECRET' "
			  "/></a></packageSourceCredentials></configuration>"),
		  "nuget.example.org:443<NuGet.Config:1" },
		/* Lock files name further hosts. A JSON text has no quotes here, and needs none to
		 * be bounded. */
		{ "",
		  "  - /p/app/package.json\n" FILE_TEXT(
			  "/p/app/yarn.lock", "a@1:%  version '1.0.0'%  resolved 'https://SECRET@tgz.example.org/a.tgz#0123'%"),
		  "tgz.example.org:443<yarn.lock:3" },
		{ "",
		  "  - /p/app/package.json\n" FILE_TEXT(
			  "/p/app/pnpm-lock.yaml", "packages:%  a@1:%    resolution: {tarball: https://tgz.example.org/a}%"),
		  "tgz.example.org:443<pnpm-lock.yaml:3" },
		{ "",
		  "  - /p/app/Cargo.toml\n" FILE_TEXT(
			  "/p/app/Cargo.lock", "[[package]]%name = 'a'%source = 'registry+https://cargo.example.org/i'%"),
		  "cargo.example.org:443<Cargo.lock:3" },
		{ "",
		  "  - /p/app/pyproject.toml\n" FILE_TEXT(
			  "/p/app/uv.lock",
			  "[[package]]%name = 'a'%source = { registry = 'https://uv.example.org/s' }%wheels = [%"
			  "    { url = 'https://files.example.org/a.whl' },%]%"),
		  "uv.example.org:443<uv.lock:3 files.example.org:443<uv.lock:5" },
		{ "",
		  "  - /p/app/Gemfile\n" FILE_TEXT("/p/app/Gemfile.lock", "GEM%  remote: https://gems.example.org/%  specs:%"),
		  "gems.example.org:443<Gemfile.lock:2" },
		/* Reads nothing for absent ecosystems and follows no symlink out of the project. */
		{ "", FILE_TEXT("/p/app/.npmrc", "registry=https://npm.example.org/"), "" },
		{ "",
		  "  - /p/app/package.json\n  - \"/p/app/.npmrc -> /home/ann/secret\"\n" FILE_TEXT(
			  "/home/ann/secret", "registry=https://npm.example.org/"),
		  "" },
		{ "",
		  "  - /p/app/Cargo.toml\n  - \"/p/app/.cargo -> /home/ann/secret\"\n" FILE_TEXT(
			  "/home/ann/secret/config.toml", "[registries.a]%index = 'https://cargo.example.org'%"),
		  "" },
		/* The user's own files may be symlinks. */
		{ "",
		  "  - /p/app/package.json\n  - \"/home/ann/.npmrc -> dotfiles/npmrc\"\n" FILE_TEXT(
			  "/home/ann/dotfiles/npmrc", "registry=https://npm.example.org/"),
		  "npm.example.org:443<~/.npmrc:1" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct detection detection = detect(rows[i].environment, rows[i].files);
		const char *got = listed(&detection);
		struct text policy = { 0 };
		if (strcmp(got, rows[i].wanted) != 0) {
			fprintf(stderr, "row %zu\nwanted %s\ngot    %s\n", i, rows[i].wanted, got);
			FAIL();
		}
		detect_policy(&detection, true, &policy);
		ASSERT_FALSE(strstr(policy.data, "SECRET"));
		text_free(&policy);
	}
	PASS();
}

static bool parses(const struct text *text, struct policy *policy)
{
	struct diagnostics diagnostics = { .arena = &arena };
	*policy = (struct policy){ 0 };
	if (policy_parse(&arena, "berm.yml", LAYER_PROJECT, text->data, text->length, policy, &diagnostics) == 0)
		return true;
	fprintf(stderr, "%s\nline %u: %s\n", text->data, diagnostics.items[0].origin.line, diagnostics.items[0].message);
	return false;
}

/* Removes the comment marks from the line that starts the network section on. */
static void uncomment(const struct text *from, struct text *to)
{
	bool is_live = false;
	for (const char *line = from->data; *line; line += strcspn(line, "\n") + 1) {
		size_t length = strcspn(line, "\n");
		is_live |= strncmp(line, "# network:", 10) == 0;
		if (is_live && length >= 2) {
			text_add(to, "%.*s\n", (int)length - 2, line + 2);
			continue;
		}
		text_add(to, "%.*s\n", (int)length, line);
	}
}

TEST the_policy_is_one_live_and_with_its_comments_taken_off(void)
{
	struct detection detection = detect(
		"",
		"  - /p/app/.git/\n  - /p/app/package.json\n  - /p/app/yarn.lock\n  - \"/p/app/it's #1.csproj\"\n" FILE_TEXT(
			"/p/app/.npmrc", "registry=https://[2001:db8::1]:8443/%@a:registry=http://localhost:4873%"));
	struct text live = { 0 }, commented = { 0 }, uncommented = { 0 };
	struct policy policy;

	detect_policy(&detection, true, &live);
	/* No path of this machine. */
	ASSERT_FALSE(strstr(live.data, "schema="));
	ASSERT_FALSE(strstr(live.data, "/p/app"));
	ASSERT(parses(&live, &policy));
	ASSERT_EQ(3, policy.use.count);
	ASSERT_STR_EQ("git", policy.use.items[0].text);
	ASSERT_STR_EQ("dotnet", policy.use.items[2].text);
	ASSERT_EQ(1, policy.network.allow.count);
	ASSERT_STR_EQ("[2001:db8::1]:8443", policy.network.allow.items[0].text);
	ASSERT_EQ(1, policy.network.local.count);
	ASSERT_STR_EQ("4873", policy.network.local.items[0].text);
	ASSERT_FALSE(strstr(live.data, "#1"));

	detect_policy(&detection, false, &commented);
	ASSERT(parses(&commented, &policy));
	ASSERT_EQ(0, policy.network.allow.count);
	ASSERT_FALSE(policy.network.mode.is_set);
	uncomment(&commented, &uncommented);
	ASSERT(parses(&uncommented, &policy));
	ASSERT_EQ(1, policy.network.allow.count);
	ASSERT_EQ(1, policy.network.local.count);
	text_free(&live);
	text_free(&commented);
	text_free(&uncommented);
	PASS();
}

TEST an_empty_project_gets_a_policy_too(void)
{
	struct detection detection = detect("", "");
	struct text text = { 0 };
	struct policy policy;
	detect_policy(&detection, true, &text);
	ASSERT(parses(&text, &policy));
	ASSERT_EQ(0, policy.use.count);
	ASSERT_FALSE(policy.network.mode.is_set);
	text_free(&text);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(projects_are_known_by_their_files);
	RUN_TEST(the_lock_file_tells_the_package_manager);
	RUN_TEST(the_policy_offers_the_users_registry_only_if_a_file_names_one);
	RUN_TEST(addresses_are_rules_only_if_accepted);
	RUN_TEST(registries_come_from_configuration);
	RUN_TEST(the_policy_is_one_live_and_with_its_comments_taken_off);
	RUN_TEST(an_empty_project_gets_a_policy_too);
	GREATEST_MAIN_END();
}

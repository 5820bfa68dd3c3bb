/* SPDX-License-Identifier: Apache-2.0 */
/* What berm init finds out: addresses in every spelling that package managers take, on machines that exist only as text, and the
 * policy that comes of it. In every file here the word SECRET stands where a credential would; it must never come out. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/detect/detect.h"
#include "common/detect/config.h"
#include "common/detect/url.h"
#include "common/policy/policy.h"
#include "common/base/text.h"

static struct arena arena;

TEST urls_give_hosts_and_ports_and_nothing_else(void)
{
	static const struct {
		const char *text;
		const char *destination; /* NULL: none found; "?": found, not readable; "local N" */
	} rows[] = {
		{ "https://registry.example.org/", "registry.example.org:443" },
		{ "https://registry.example.org", "registry.example.org:443" },
		{ "http://registry.example.org/x", "registry.example.org:80" },
		{ "HTTPS://Registry.Example.ORG./", "registry.example.org:443" },
		{ "https://registry.example.org:8443/a", "registry.example.org:8443" },
		{ "https://registry.example.org:/a", "registry.example.org:443" },
		{ "https://user:SECRET@registry.example.org/", "registry.example.org:443" },
		{ "https://SECRET@registry.example.org:4873", "registry.example.org:4873" },
		{ "https://user:SEC@RET@registry.example.org/", "registry.example.org:443" },
		{ "https://${SECRET}@registry.example.org/", "registry.example.org:443" },
		{ "https://us%40er:SECRET@registry.example.org?x=1", "registry.example.org:443" },
		{ "sparse+https://cargo.example.org/index/", "cargo.example.org:443" },
		{ "git+ssh://git@code.example.org/x", "code.example.org:22" },
		{ "registry+https://cargo.example.org/index/", "cargo.example.org:443" },
		{ "git://code.example.org/x", "code.example.org:9418" },
		{ "\"https://registry.example.org\"", "registry.example.org:443" },
		{ "name=https://registry.example.org/simple", "registry.example.org:443" },
		{ "https://nexus:8081/repository", "nexus:8081" },
		{ "https://nexus/@scope/x", "nexus:443" },
		{ "https://10.1.2.3:8081/", "10.1.2.3:8081" },
		{ "https://[2001:db8::1]:8443/", "[2001:db8::1]:8443" },
		{ "https://[2001:DB8::1]/", "[2001:db8::1]:443" },
		{ "https://b\xc3\xbc"
		  "cher.example/",
		  "xn--bcher-kva.example:443" },
		{ "http://localhost:4873", "local 4873" },
		{ "http://127.0.0.1:3141/root", "local 3141" },
		{ "http://127.1:3141/root", "local 3141" },
		{ "http://[::1]:3141/root", "local 3141" },
		{ "http://app.localhost/", "local 80" },
		{ "file:///srv/packages", NULL },
		{ "s3://bucket/x", NULL },
		{ "registry.example.org", NULL },
		{ "", NULL },
		{ "://", NULL },
		{ "https://", "?" },
		{ "https:///x", "?" },
		{ "https://@/", "?" },
		{ "https://${HOST}/x", "?" },
		{ "https://registry.example.org:0/", "?" },
		{ "https://registry.example.org:65536/", "?" },
		{ "https://registry.example.org:SECRET/", "?" },
		{ "https://[2001:db8::1/", "?" },
		{ "https://exa mple.org/", "exa:443" },
		{ "https://-bad-.example.org/", "?" },
		/* What might be the first part of a password is no host. */
		{ "https://SECRET/more@registry.example.org/", "?" },
		{ "https://SECRET?more@registry.example.org/", "?" },
		{ "https://user,SECRET@registry.example.org/", "?" },
		{ "https://user.name|SECRET@registry.example.org/", "?" },
		{ "https://user\\SECRET@registry.example.org/", "?" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *at = rows[i].text;
		struct url url = { 0 };
		const char *got = NULL;
		if (url_next(&arena, &at, &url)) {
			got = url.destination ? url.destination : "?";
			if (url.destination && url.is_loopback)
				got = arena_printf(&arena, "local %u", url.port);
		}
		if (!got != !rows[i].destination || (got && strcmp(got, rows[i].destination) != 0)) {
			fprintf(stderr, "%s: %s\n", rows[i].text, got ? got : "none");
			FAIL();
		}
		ASSERT_FALSE(got && strstr(got, "secret"));
	}
	PASS();
}

TEST a_list_gives_each_of_its_urls(void)
{
	const char *at = "https://one.example.org,https://two.example.org|direct https://SECRET@three.example.org";
	static const char *const wanted[] = { "one.example.org:443", "two.example.org:443", "three.example.org:443" };
	struct url url;
	for (size_t i = 0; i < 3; i++) {
		ASSERT(url_next(&arena, &at, &url));
		ASSERT_STR_EQ(wanted[i], url.destination);
	}
	ASSERT_FALSE(url_next(&arena, &at, &url));
	PASS();
}

TEST keys_match_with_stars(void)
{
	static const struct {
		const char *pattern, *key;
		bool is_match;
	} rows[] = {
		{ "registry", "registry", true },
		{ "registry", "registry2", false },
		{ "registry", "registr", false },
		{ "*:registry", "@corp:registry", true },
		{ "*:registry", "registry", false },
		{ "source.*.registry", "source.corp.registry", true },
		{ "source.*.registry", "source..registry", true },
		{ "source.*.registry", "source.registry", false },
		{ "*", "", true },
		{ "*", "anything", true },
		{ "", "", true },
		{ "", "x", false },
		{ "*a*b", "xaxab", true },
		{ "*a*b", "xaxax", false },
		{ "a**b", "ab", true },
		{ "*.url", "x.url.url", true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (config_matches(rows[i].pattern, strlen(rows[i].pattern), rows[i].key) != rows[i].is_match)
			FAILm(rows[i].pattern);
	PASS();
}

static void collect(void *self, const char *key, const char *value, unsigned line)
{
	text_add(self, "%u %s=%s\n", line, key, value);
}

static const char *scan(enum config_style style, const char *text)
{
	struct text out = { 0 };
	struct config_scan config = { .style = style, .text = text, .visit = collect, .self = &out };
	config_scan(&config);
	const char *copy = arena_copy(&arena, out.data ? out.data : "");
	text_free(&out);
	return copy;
}

TEST each_format_gives_its_keys_and_values(void)
{
	static const struct {
		enum config_style style;
		const char *text, *wanted;
	} rows[] = {
		{ CONFIG_INI, "; note\n# note\nregistry=https://a/\n  @c:registry = https://b/\r\n",
		  "3 registry=https://a/\n4 @c:registry=https://b/\n" },
		{ CONFIG_INI, "[global]\nindex-url = https://c\n    https://d?x=y\n  other=x\ncolon: https://e\nalone\n\n",
		  "2 global.index-url=https://c\n3 global.index-url=https://d?x=y\n4 global.other=x\n5 "
		  "global.colon=https://e\n" },
		{ CONFIG_INI, "alone\n   https://no-key\n", "" },
		{ CONFIG_TOML, "top=\"x\"\n[a.\"b\".'c']\nk = \"https://a # b\" # note\n",
		  "1 top=\"x\"\n3 a.b.c.k=\"https://a # b\"\n" },
		{ CONFIG_TOML, "l = [ # note\n  \"https://c\", # ]\n]\nm = 1\n# n = 1\n",
		  "1 l=[\n2 l=\"https://c\",\n3 l=]\n4 m=1\n" },
		{ CONFIG_TOML, "[[t]]\nurl='u'\n\"q\" = 1\nin = { url = \"https://z\" }\n",
		  "2 t.url='u'\n3 t.q=1\n4 t.in={ url = \"https://z\" }\n" },
		{ CONFIG_YAML,
		  "server: \"https://a\"\nscopes:\n# c\n    server: https://b\n:sources:\n- https://c\n-  https://d\nno key\n",
		  "1 server=\"https://a\"\n2 scopes=\n4 .server=https://b\n5 :sources=\n6 :sources=https://c\n7 "
		  ":sources=https://d\n" },
		{ CONFIG_YAML, "M__HTTPS://R__ORG/: \"https://c\"\n", "1 M__HTTPS://R__ORG/=\"https://c\"\n" },
		{ CONFIG_PROPERTIES, "#x=1\ndistributionUrl=https\\://a.example/b\nnone\n",
		  "2 distributionUrl=https://a.example/b\n" },
		{ CONFIG_WORDS,
		  "registry \"https://a\"\n\"@c:registry\" \"https://b\"\n--index-url=https://c\n-i https://d\n# x y\n",
		  "1 registry=\"https://a\"\n2 @c:registry= \"https://b\"\n3 --index-url=https://c\n4 -i=https://d\n" },
		{ CONFIG_WORDS, "maven { url 'https://a' }\n// x y\nurl = uri(\"https://b\")\n",
		  "1 maven=\n1 url='https://a' }\n3 url== uri(\"https://b\")\n" },
		{ CONFIG_XML,
		  "<?xml?><!DOCTYPE a>\n<a><!-- <b>no</b> -->\n<b>\n yes\n</b><c x='1' y=\"2\"/><d><![CDATA[<e>]]></d></a>",
		  "5 a.b=yes\n\n5 a.c@x=1\n5 a.c@y=2\n5 a.c=\n5 a.d=<e>\n5 a=\n" },
		{ CONFIG_XML, "<a><b", "" },
		{ CONFIG_XML, "</a></b>text", "1 =\n1 =\n" },
		{ CONFIG_JSON, "{\"a\": [{\"url\": \"https:\\/\\/x\\u0041\"}],\n \"b\": {\"c\": {\"url\": \"y\"}}, \"d\": 1}",
		  "1 a..url=https://x 0041\n2 b.c.url=y\n" },
		{ CONFIG_JSON, "\"x\"", "1 =x\n" },
		{ CONFIG_JSON, "{\"a", "1 =a\n" },
		{ CONFIG_JSON, "]]}}", "" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *got = scan(rows[i].style, rows[i].text);
		if (strcmp(got, rows[i].wanted) != 0) {
			fprintf(stderr, "row %zu:\n%s", i, got);
			FAIL();
		}
	}
	PASS();
}

/* Long lines, deep nesting, missing ends: every prefix of every row in every format ends, and stays in its buffers. */
TEST no_text_is_too_odd(void)
{
	static const char *const odd[] = { "[[[[[[[[", "{{{{{{{{\"\"\"", "<a <b <c", "<!-- <!-- ",
					   "\"\\",     "=====",		 ":::: ",    "- - -" };
	struct text text = { 0 };
	for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
		for (int repeat = 0; repeat < 2000; repeat++)
			text_add(&text, "%s%s", odd[i], repeat % 700 == 699 ? "\n" : "");
		for (int style = 0; style < CONFIG_STYLE_COUNT; style++)
			ASSERT(scan((enum config_style)style, text.data));
	}
	text_free(&text);
	PASS();
}

/* Texts of described files have no line breaks; here % stands for one. */
static int (*read_described)(const struct filesystem *fs, struct arena *into, const char *path, size_t limit, char **text,
			     size_t *length);

static int read_lines(const struct filesystem *fs, struct arena *into, const char *path, size_t limit, char **text,
		      size_t *length)
{
	if (read_described(fs, into, path, limit, text, length) < 0)
		return -1;
	for (char *mark = strchr(*text, '%'); mark; mark = strchr(mark, '%'))
		*mark = '\n';
	return 0;
}

/* A machine as text. The project is /p/app, the home /home/ann. */
static struct context machine(const char *environment, const char *files)
{
	struct context context = { 0 };
	struct error err = { 0 };
	const char *text = arena_printf(&arena,
					"os: linux\nuser: ann\nuid: 1000\nhome: /home/ann\nproject: /p/app\ncwd: /p/app\n"
					"environment: {%s}\nfiles:\n  - /p/app/\n%s",
					environment, files);
	if (context_parse(&arena, "machine", text, strlen(text), &context, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	struct filesystem *fs = arena_alloc(&arena, sizeof *fs);
	*fs = *context.fs;
	read_described = fs->read_small;
	fs->read_small = read_lines;
	context.fs = fs;
	return context;
}

static struct detection detect(const char *environment, const char *files)
{
	struct context context = machine(environment, files);
	struct detection detection;
	struct error err = { 0 };
	if (detect_project(&arena, &context, &detection, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	return detection;
}

/* "destination<source destination<source", the usual ones without a source. */
static const char *listed(const struct detection *detection)
{
	struct text out = { 0 };
	for (size_t i = 0; i < detection->registries.count; i++) {
		const struct registry *registry = &detection->registries.items[i];
		text_add(&out, "%s", i ? " " : "");
		if (registry->local_port)
			text_add(&out, "local:%u", registry->local_port);
		else
			text_add(&out, "%s", registry->destination ? registry->destination : "?");
		if (registry->source)
			text_add(&out, "<%s", registry->source);
	}
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

#define FILE_TEXT(path, text) "  - {path: " path ", text: \"" text "\"}\n"

TEST registries_come_from_configuration(void)
{
	static const struct {
		const char *environment, *files, *wanted;
	} rows[] = {
		/* The usual ones, from the built-in pieces. */
		{ "", "  - /p/app/package.json\n", "registry.yarnpkg.com:443" },
		{ "", "  - /p/app/Cargo.toml\n", "crates.io:443 index.crates.io:443 static.crates.io:443" },
		{ "", "  - /p/app/go.mod\n", "proxy.golang.org:443 sum.golang.org:443" },
		/* One that replaces them, one beside them. */
		{ "", "  - /p/app/package.json\n" FILE_TEXT("/p/app/.npmrc", "registry=https://u:SECRET@npm.example.org/%"),
		  "npm.example.org:443<.npmrc:1" },
		{ "", "  - /p/app/package.json\n" FILE_TEXT("/p/app/.npmrc", "@corp:registry=https://npm.example.org:8443/%"),
		  "npm.example.org:8443<.npmrc:1 registry.yarnpkg.com:443" },
		{ "",
		  "  - /p/app/package.json\n" FILE_TEXT(
			  "/home/ann/.npmrc", "//npm.example.org/:_authToken=SECRET%registry = http://localhost:4873%"),
		  "local:4873<~/.npmrc:2" },
		{ "", "  - /p/app/package.json\n" FILE_TEXT("/p/app/.npmrc", "registry=https://${SECRET}/%"), "?<.npmrc:1" },
		{ "",
		  "  - /p/app/package.json\n" FILE_TEXT(
			  "/p/app/.yarnrc.yml",
			  "npmScopes:%  corp:%    npmRegistryServer: https://npm.example.org%    npmAuthToken: SECRET%"),
		  "npm.example.org:443<.yarnrc.yml:3 registry.yarnpkg.com:443" },
		{ "",
		  "  - /p/app/package.json\n" FILE_TEXT(
			  "/p/app/bunfig.toml", "[install]%registry = { url = 'https://npm.example.org', token = 'SECRET' }%"),
		  "npm.example.org:443<bunfig.toml:2" },
		{ "npm_config_registry: \"https://SECRET@env.example.org\"", "  - /p/app/package.json\n",
		  "env.example.org:443<$npm_config_registry" },
		/* Naming the usual one keeps all of its hosts. */
		{ "", "  - /p/app/package.json\n" FILE_TEXT("/p/app/.npmrc", "registry=https://registry.yarnpkg.com/%"),
		  "registry.yarnpkg.com:443<.npmrc:1" },
		/* The same host twice is one line. */
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
		  "pip.example.org:443<requirements.txt:1 files.pythonhosted.org:443 pypi.org:443" },
		{ "",
		  FILE_TEXT("/p/app/pyproject.toml",
			    "[project]%name = 'x'%[[tool.uv.index]]%url = 'https://uv.example.org'%[project.urls]%home = "
			    "'https://home.example.org'%"),
		  "uv.example.org:443<pyproject.toml:4 files.pythonhosted.org:443 pypi.org:443" },
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
		  "mvn.example.org:443<pom.xml:2 plugins-artifacts.gradle.org:443 plugins.gradle.org:443 "
		  "repo.maven.apache.org:443 "
		  "repo1.maven.org:443" },
		{ "",
		  "  - /p/app/pom.xml\n" FILE_TEXT(
			  "/home/ann/.m2/settings.xml",
			  "<settings><servers><server><password>SECRET</password></server></"
			  "servers><mirrors><mirror><url>https://mirror.example.org</url></mirror></mirrors></settings>"),
		  "mirror.example.org:443<~/.m2/settings.xml:1 plugins-artifacts.gradle.org:443 plugins.gradle.org:443 "
		  "repo.maven.apache.org:443 repo1.maven.org:443" },
		{ "",
		  FILE_TEXT("/p/app/Gemfile",
			    "source 'https://SECRET@gems.example.org'%gem 'x', git: 'https://code.example.org/x'%"),
		  "gems.example.org:443<Gemfile:1" },
		{ "",
		  "  - /p/app/Gemfile\n" FILE_TEXT(
			  "/home/ann/.bundle/config",
			  "BUNDLE_GEMS__EXAMPLE__ORG: 'user:SECRET'%BUNDLE_MIRROR__ALL: 'https://mirror.example.org'%"),
		  "mirror.example.org:443<~/.bundle/config:2 index.rubygems.org:443 rubygems.org:443" },
		{ "", FILE_TEXT("/p/app/composer.json", "{'x': 1}"), "packagist.org:443 repo.packagist.org:443" },
		{ "",
		  "  - /p/app/App.csproj\n" FILE_TEXT(
			  "/p/app/NuGet.Config",
			  "<configuration><packageSources><clear /><add key='a' value='https://nuget.example.org/v3' "
			  "/></packageSources><packageSourceCredentials><a><add key='ClearTextPassword' value='https://SECRET' "
			  "/></a></packageSourceCredentials></configuration>"),
		  "nuget.example.org:443<NuGet.Config:1" },
		/* Nothing is read for what is not here, nothing is followed out of the project. */
		{ "", FILE_TEXT("/p/app/.npmrc", "registry=https://npm.example.org/"), "" },
		{ "",
		  "  - /p/app/package.json\n  - \"/p/app/.npmrc -> /home/ann/secret\"\n" FILE_TEXT(
			  "/home/ann/secret", "registry=https://npm.example.org/"),
		  "registry.yarnpkg.com:443" },
		{ "",
		  "  - /p/app/Cargo.toml\n  - \"/p/app/.cargo -> /home/ann/secret\"\n" FILE_TEXT(
			  "/home/ann/secret/config.toml", "[registries.a]%index = 'https://cargo.example.org'%"),
		  "crates.io:443 index.crates.io:443 static.crates.io:443" },
		/* The user's own may be linked. */
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
		detect_policy(&detection, "/schema", true, &policy);
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

/* The comment marks taken off, from the line that starts the network on. */
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

	detect_policy(&detection, "/schema", true, &live);
	ASSERT(text_starts_with(live.data, "# yaml-language-server: $schema=/schema\n"));
	ASSERT(parses(&live, &policy));
	ASSERT_EQ(3, policy.use.count);
	ASSERT_STR_EQ("git", policy.use.items[0].text);
	ASSERT_STR_EQ("dotnet", policy.use.items[2].text);
	ASSERT_EQ(2, policy.network.allow.count);
	ASSERT_STR_EQ("[2001:db8::1]:8443", policy.network.allow.items[0].text);
	ASSERT_EQ(1, policy.network.local.count);
	ASSERT_STR_EQ("4873", policy.network.local.items[0].text);
	ASSERT_FALSE(strstr(live.data, "#1"));

	detect_policy(&detection, "/schema", false, &commented);
	ASSERT(parses(&commented, &policy));
	ASSERT_EQ(0, policy.network.allow.count);
	ASSERT_FALSE(policy.network.mode.is_set);
	uncomment(&commented, &uncommented);
	ASSERT(parses(&uncommented, &policy));
	ASSERT_EQ(2, policy.network.allow.count);
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
	detect_policy(&detection, "/schema", true, &text);
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
	RUN_TEST(urls_give_hosts_and_ports_and_nothing_else);
	RUN_TEST(a_list_gives_each_of_its_urls);
	RUN_TEST(keys_match_with_stars);
	RUN_TEST(each_format_gives_its_keys_and_values);
	RUN_TEST(no_text_is_too_odd);
	RUN_TEST(projects_are_known_by_their_files);
	RUN_TEST(the_lock_file_tells_the_package_manager);
	RUN_TEST(registries_come_from_configuration);
	RUN_TEST(the_policy_is_one_live_and_with_its_comments_taken_off);
	RUN_TEST(an_empty_project_gets_a_policy_too);
	GREATEST_MAIN_END();
}

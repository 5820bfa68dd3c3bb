/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses in every spelling that package managers accept, the formats of their files, and the
 * files of the user and the system. In every file the word SECRET replaces a credential; it must
 * never appear in the output. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/registry/config.h"
#include "common/registry/registry.h"
#include "common/registry/url.h"
#include "unit/support/described_machine.h"

static struct arena arena;

TEST urls_give_hosts_and_ports_and_nothing_else(void)
{
	static const struct {
		const char *text;
		const char *destination; /* NULL: none found; "?": found, not parsable; "local N" */
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
		/* The first part of a possible password is not a host. */
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

/* Long lines, deep nesting, missing ends: every prefix of every row in every format terminates and
 * stays in its buffers. */
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

/* What `use` reads: the user's and the system's files, never the project's or a variable. */
TEST files_of_the_user_and_the_system_name_registries(void)
{
	static const struct {
		enum ecosystem ecosystem;
		const char *files, *wanted; /* hosts, then settings */
		bool is_replaced;
	} rows[] = {
		{ ECOSYSTEM_NODE, "", "", false },
		{ ECOSYSTEM_NODE, FILE_TEXT("/p/app/.npmrc", "registry=https://project.example.org/"), "", false },
		{ ECOSYSTEM_NODE, FILE_TEXT("/home/ann/.npmrc", "registry=https://npm.example.org/npm/"),
		  "npm.example.org:443<~/.npmrc:1 npm_config_registry=https://npm.example.org/npm/ "
		  "YARN_NPM_REGISTRY_SERVER=https://npm.example.org/npm/",
		  true },
		{ ECOSYSTEM_NODE, FILE_TEXT("/home/ann/.npmrc", "@corp:registry=https://npm.example.org/"),
		  "npm.example.org:443<~/.npmrc:1", false },
		{ ECOSYSTEM_NODE, FILE_TEXT("/home/ann/.npmrc", "registry=https://u:SECRET@npm.example.org/"),
		  "npm.example.org:443<~/.npmrc:1 npm_config_registry withheld YARN_NPM_REGISTRY_SERVER withheld", true },
		{ ECOSYSTEM_NODE, FILE_TEXT("/home/ann/.npmrc", "registry=https://npm.example.org/0SECRET0SECRET0SECRET/npm/"),
		  "npm.example.org:443<~/.npmrc:1 npm_config_registry withheld YARN_NPM_REGISTRY_SERVER withheld", true },
		/* The global and the built-in file are readable inside: no variable is needed. */
		{ ECOSYSTEM_NODE, FILE_TEXT("/etc/npmrc", "registry=https://npm.example.org/"),
		  "npm.example.org:443</etc/npmrc:1", true },
		{ ECOSYSTEM_NODE, FILE_TEXT("/usr/share/nodejs/npm/npmrc", "registry=https://npm.example.org/"),
		  "npm.example.org:443</usr/share/nodejs/npm/npmrc:1", true },
		/* A user's file that leads into the project is the project's. */
		{ ECOSYSTEM_NODE,
		  "  - \"/home/ann/.npmrc -> /p/app/rc\"\n" FILE_TEXT("/p/app/rc", "registry=https://project.example.org/"), "",
		  false },
		{ ECOSYSTEM_PYTHON, FILE_TEXT("/etc/pip.conf", "[global]%index-url = http://localhost:3141/simple%"),
		  "local:3141</etc/pip.conf:2", true },
		{ ECOSYSTEM_PYTHON,
		  FILE_TEXT("/home/ann/.config/pip/pip.conf", "[global]%index-url = https://pip.example.org/s%"),
		  "pip.example.org:443<~/.config/pip/pip.conf:2 PIP_INDEX_URL=https://pip.example.org/s "
		  "UV_DEFAULT_INDEX=https://pip.example.org/s",
		  true },
		{ ECOSYSTEM_PYTHON, FILE_TEXT("/home/ann/.config/uv/uv.toml", "[[index]]%url = 'https://uv.example.org/s'%"),
		  "uv.example.org:443<~/.config/uv/uv.toml:2", false },
		{ ECOSYSTEM_GO,
		  FILE_TEXT("/home/ann/.config/go/env", "GOPROXY=https://go.example.org,direct%GOSUMDB=sum.example.org%"),
		  "go.example.org:443<~/.config/go/env:1 sum.example.org:443<~/.config/go/env:2 "
		  "GOPROXY=https://go.example.org,direct GOSUMDB=sum.example.org",
		  true },
		{ ECOSYSTEM_GO, FILE_TEXT("/home/ann/.config/go/env", "GOPROXY=off%GOSUMDB=off%"), "GOPROXY=off GOSUMDB=off",
		  true },
		{ ECOSYSTEM_JAVA,
		  FILE_TEXT("/home/ann/.m2/settings.xml", "<settings><mirrors><mirror><url>https://mirror.example.org/m</url>"
							  "</mirror></mirrors><servers><server><password>SECRET</password>"
							  "</server></servers></settings>"),
		  "mirror.example.org:443<~/.m2/settings.xml:1", true },
		{ ECOSYSTEM_DOTNET,
		  FILE_TEXT("/home/ann/.nuget/NuGet/NuGet.Config",
			    "<configuration><packageSources><add key='a' value='https://nuget.example.org/v3/index.json' "
			    "/></packageSources></configuration>"),
		  "nuget.example.org:443<~/.nuget/NuGet/NuGet.Config:1", false },
		{ ECOSYSTEM_RUBY, FILE_TEXT("/home/ann/.gemrc", ":sources:%- https://gems.example.org%"),
		  "gems.example.org:443<~/.gemrc:2", true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct context context =
			described_machine(&arena, "npm_config_registry: \"https://variable.example.org\"", rows[i].files);
		struct registries found = { 0 };
		struct text out = { 0 };
		registries_of_user(&arena, &context, rows[i].ecosystem, &found);
		for (size_t j = 0; j < found.count; j++) {
			const struct registry *registry = &found.items[j];
			if (registry->local_port)
				text_add(&out, "%slocal:%u", out.length ? " " : "", registry->local_port);
			else
				text_add(&out, "%s%s", out.length ? " " : "", registry->destination);
			text_add(&out, "<%s:%u", registry->source, registry->line);
		}
		for (size_t j = 0; j < found.settings.count; j++) {
			const struct registry_setting *setting = &found.settings.items[j];
			text_add(&out, "%s%s", out.length ? " " : "", setting->variable);
			text_add(&out, setting->is_withheld ? " withheld" : "=%s", setting->value);
		}
		if (strcmp(out.data ? out.data : "", rows[i].wanted) != 0 ||
		    (found.is_replaced[REGISTRY_USER] || found.is_replaced[REGISTRY_SYSTEM]) != rows[i].is_replaced) {
			fprintf(stderr, "row %zu\nwanted %s\ngot    %s\n", i, rows[i].wanted, out.data ? out.data : "");
			FAIL();
		}
		text_free(&out);
	}
	PASS();
}

TEST an_index_of_cargo_names_the_host_of_downloads(void)
{
	struct context context = described_machine(
		&arena, "",
		FILE_TEXT("/home/ann/.cargo/registry/index/cargo.example.org-0123456789abcdef/config.json",
			  "{\\\"dl\\\": \\\"https://dl.example.org/crates\\\"}")
			FILE_TEXT("/home/ann/.cargo/registry/index/other.example.org-0123456789abcdef/config.json",
				  "{\\\"dl\\\": \\\"https://unrelated.example.org/crates\\\"}"));
	struct registries found = { 0 };
	struct registry like = { .ecosystem = ECOSYSTEM_RUST, .origin = REGISTRY_CLIENT };
	registries_of_cargo_indexes(&arena, &context, &found);
	ASSERT_EQ(0, found.count);
	registries_add_text(&arena, &found, &like, "sparse+https://cargo.example.org/", false);
	registries_of_cargo_indexes(&arena, &context, &found);
	ASSERT_EQ(2, found.count);
	ASSERT_STR_EQ("dl.example.org:443", found.items[1].destination);
	PASS();
}

TEST hosts_beyond_the_limits_are_counted(void)
{
	struct registries found = { 0 };
	struct registry registry = { .ecosystem = ECOSYSTEM_NODE, .origin = REGISTRY_LOCK, .source = "yarn.lock" };
	for (int i = 0; i < 10000; i++)
		registries_add_text(&arena, &found, &registry, arena_printf(&arena, "https://h%d.example.org/", i), false);
	ASSERT(found.count <= 16);
	ASSERT_EQ(10000, found.count + found.left_out);
	registry.origin = REGISTRY_PROJECT;
	registries_add_text(&arena, &found, &registry, "https://project.example.org/", false);
	ASSERT_STR_EQ("project.example.org:443", found.items[found.count - 1].destination);
	PASS();
}

TEST answers_are_hosts_and_nothing_else(void)
{
	static const struct {
		const char *text, *wanted;
		bool is_bare;
	} rows[] = {
		{ "https://npm.example.org/\n", "npm.example.org:443 ", false },
		{ "undefined\n", "", false },
		{ "https://a.example.org,direct\nsum.example.org\n", "a.example.org:443 sum.example.org:443 ", true },
		{ "off\noff\n", "", true },
		{ "sum.example.org+033de0ae+Ac4zctda0e5eza https://mirror.example.org\n",
		  "mirror.example.org:443 sum.example.org:443 ", true },
		{ "https://npm.example.org\n  - evil.example.org:443 # \n", "npm.example.org:443 ", false },
		{ "https://npm.example.org\033[2K\n", "? ", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct registries found = { 0 };
		struct registry like = { .origin = REGISTRY_CLIENT };
		const char *got = "";
		registries_add_text(&arena, &found, &like, rows[i].text, rows[i].is_bare);
		for (size_t j = 0; j < found.count; j++)
			got = arena_printf(&arena, "%s%s ", got, found.items[j].destination ? found.items[j].destination : "?");
		if (strcmp(got, rows[i].wanted) != 0) {
			fprintf(stderr, "row %zu: %s\n", i, got);
			FAIL();
		}
	}
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
	RUN_TEST(files_of_the_user_and_the_system_name_registries);
	RUN_TEST(an_index_of_cargo_names_the_host_of_downloads);
	RUN_TEST(hosts_beyond_the_limits_are_counted);
	RUN_TEST(answers_are_hosts_and_nothing_else);
	GREATEST_MAIN_END();
}

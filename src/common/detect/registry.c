/* SPDX-License-Identifier: Apache-2.0 */
/* Where packages come from, by the configuration of the package managers: project, user, system, environment. Two tables say which
 * files and variables are read and which keys in them hold an address; only hosts and ports leave this file. */
#include "common/detect/detect.h"

#include <string.h>

#include "common/policy/builtin.h"
#include "common/detect/config.h"
#include "common/detect/url.h"
#include "common/policy/policy.h"
#include "common/base/text.h"

enum { CONFIG_BYTES_MAX = 256 * 1024, REGISTRIES_MAX = 64 };

enum place_root { IN_PROJECT, IN_HOME, IN_CONFIG /* ~/.config */, IN_SYSTEM };

/* Keys are separated by blanks; one that starts with `!` takes the place of the usual registry. */
static const char npm_keys[] = "!registry *:registry";
static const char yarn_keys[] = "!npmRegistryServer .npmRegistryServer";
static const char bun_keys[] = "!install.registry !install.registry.url install.scopes.*";
static const char cargo_keys[] = "!source.crates-io.replace-with source.*.registry registries.*.index";
static const char pyproject_keys[] = "!tool.uv.index-url tool.uv.extra-index-url tool.uv.index.url tool.poetry.source.url "
				     "tool.pdm.source.url";
static const char uv_keys[] = "!index-url extra-index-url index.url";
static const char pip_keys[] = "!*.index-url !*.index_url *.extra-index-url *.extra_index_url";
static const char maven_keys[] = "*mirrors.mirror.url *repositories.repository.url *pluginRepositories.pluginRepository.url";
static const char composer_keys[] = "repositories.*.url";
static const char nuget_keys[] = "!*packageSources.clear configuration.packageSources.add@value";

static const struct place {
	enum ecosystem ecosystem;
	enum place_root root;
	const char *path;
	enum config_style style;
	const char *keys;
} places[] = {
	{ ECOSYSTEM_NODE, IN_PROJECT, ".npmrc", CONFIG_INI, npm_keys },
	{ ECOSYSTEM_NODE, IN_HOME, ".npmrc", CONFIG_INI, npm_keys },
	{ ECOSYSTEM_NODE, IN_PROJECT, ".yarnrc", CONFIG_WORDS, npm_keys },
	{ ECOSYSTEM_NODE, IN_HOME, ".yarnrc", CONFIG_WORDS, npm_keys },
	{ ECOSYSTEM_NODE, IN_PROJECT, ".yarnrc.yml", CONFIG_YAML, yarn_keys },
	{ ECOSYSTEM_NODE, IN_HOME, ".yarnrc.yml", CONFIG_YAML, yarn_keys },
	{ ECOSYSTEM_NODE, IN_PROJECT, "bunfig.toml", CONFIG_TOML, bun_keys },
	{ ECOSYSTEM_NODE, IN_HOME, ".bunfig.toml", CONFIG_TOML, bun_keys },

	{ ECOSYSTEM_RUST, IN_PROJECT, ".cargo/config.toml", CONFIG_TOML, cargo_keys },
	{ ECOSYSTEM_RUST, IN_PROJECT, ".cargo/config", CONFIG_TOML, cargo_keys },
	{ ECOSYSTEM_RUST, IN_HOME, ".cargo/config.toml", CONFIG_TOML, cargo_keys },
	{ ECOSYSTEM_RUST, IN_HOME, ".cargo/config", CONFIG_TOML, cargo_keys },

	{ ECOSYSTEM_PYTHON, IN_PROJECT, "requirements.txt", CONFIG_WORDS, "!--index-url !-i --extra-index-url" },
	{ ECOSYSTEM_PYTHON, IN_PROJECT, "pyproject.toml", CONFIG_TOML, pyproject_keys },
	{ ECOSYSTEM_PYTHON, IN_PROJECT, "uv.toml", CONFIG_TOML, uv_keys },
	{ ECOSYSTEM_PYTHON, IN_CONFIG, "uv/uv.toml", CONFIG_TOML, uv_keys },
	{ ECOSYSTEM_PYTHON, IN_PROJECT, "Pipfile", CONFIG_TOML, "!source.url" },
	{ ECOSYSTEM_PYTHON, IN_PROJECT, "pip.conf", CONFIG_INI, pip_keys },
	{ ECOSYSTEM_PYTHON, IN_CONFIG, "pip/pip.conf", CONFIG_INI, pip_keys },
	{ ECOSYSTEM_PYTHON, IN_HOME, ".pip/pip.conf", CONFIG_INI, pip_keys },
	{ ECOSYSTEM_PYTHON, IN_HOME, "Library/Application Support/pip/pip.conf", CONFIG_INI, pip_keys },
	{ ECOSYSTEM_PYTHON, IN_SYSTEM, "/etc/pip.conf", CONFIG_INI, pip_keys },

	{ ECOSYSTEM_GO, IN_CONFIG, "go/env", CONFIG_INI, "!GOPROXY" },
	{ ECOSYSTEM_GO, IN_HOME, "Library/Application Support/go/env", CONFIG_INI, "!GOPROXY" },

	{ ECOSYSTEM_JAVA, IN_PROJECT, "pom.xml", CONFIG_XML, maven_keys },
	{ ECOSYSTEM_JAVA, IN_HOME, ".m2/settings.xml", CONFIG_XML, maven_keys },
	{ ECOSYSTEM_JAVA, IN_PROJECT, "build.gradle", CONFIG_WORDS, "url" },
	{ ECOSYSTEM_JAVA, IN_PROJECT, "build.gradle.kts", CONFIG_WORDS, "url" },
	{ ECOSYSTEM_JAVA, IN_PROJECT, "settings.gradle", CONFIG_WORDS, "url" },
	{ ECOSYSTEM_JAVA, IN_PROJECT, "settings.gradle.kts", CONFIG_WORDS, "url" },
	{ ECOSYSTEM_JAVA, IN_PROJECT, "gradle/wrapper/gradle-wrapper.properties", CONFIG_PROPERTIES, "distributionUrl" },
	{ ECOSYSTEM_JAVA, IN_PROJECT, ".mvn/wrapper/maven-wrapper.properties", CONFIG_PROPERTIES,
	  "distributionUrl wrapperUrl" },

	{ ECOSYSTEM_RUBY, IN_PROJECT, "Gemfile", CONFIG_WORDS, "!source" },
	{ ECOSYSTEM_RUBY, IN_PROJECT, ".bundle/config", CONFIG_YAML, "BUNDLE_MIRROR__*" },
	{ ECOSYSTEM_RUBY, IN_HOME, ".bundle/config", CONFIG_YAML, "BUNDLE_MIRROR__*" },
	{ ECOSYSTEM_RUBY, IN_HOME, ".gemrc", CONFIG_YAML, ":sources" },

	{ ECOSYSTEM_PHP, IN_PROJECT, "composer.json", CONFIG_JSON, composer_keys },
	{ ECOSYSTEM_PHP, IN_CONFIG, "composer/config.json", CONFIG_JSON, composer_keys },
	{ ECOSYSTEM_PHP, IN_HOME, ".composer/config.json", CONFIG_JSON, composer_keys },

	{ ECOSYSTEM_DOTNET, IN_PROJECT, "NuGet.Config", CONFIG_XML, nuget_keys },
	{ ECOSYSTEM_DOTNET, IN_PROJECT, "nuget.config", CONFIG_XML, nuget_keys },
	{ ECOSYSTEM_DOTNET, IN_HOME, ".nuget/NuGet/NuGet.Config", CONFIG_XML, nuget_keys },
	{ ECOSYSTEM_DOTNET, IN_CONFIG, "NuGet/NuGet.Config", CONFIG_XML, nuget_keys },
};

static const struct variable {
	enum ecosystem ecosystem;
	const char *name; /* a pattern */
	bool is_replacing;
} variables[] = {
	{ ECOSYSTEM_NODE, "npm_config_registry", true },
	{ ECOSYSTEM_NODE, "NPM_CONFIG_REGISTRY", true },
	{ ECOSYSTEM_NODE, "YARN_NPM_REGISTRY_SERVER", true },
	{ ECOSYSTEM_RUST, "CARGO_REGISTRIES_*_INDEX", false },
	{ ECOSYSTEM_PYTHON, "PIP_INDEX_URL", true },
	{ ECOSYSTEM_PYTHON, "PIP_EXTRA_INDEX_URL", false },
	{ ECOSYSTEM_PYTHON, "UV_DEFAULT_INDEX", true },
	{ ECOSYSTEM_PYTHON, "UV_INDEX_URL", true },
	{ ECOSYSTEM_PYTHON, "UV_INDEX", false },
	{ ECOSYSTEM_PYTHON, "UV_EXTRA_INDEX_URL", false },
	{ ECOSYSTEM_GO, "GOPROXY", true },
};

/* The search in one file or variable. */
struct search {
	struct arena *arena;
	struct registries *registries;
	enum ecosystem ecosystem;
	const char *keys;
	const char *source; /* without the line */
	bool *is_replaced;
};

static void add_registry(struct arena *arena, struct registries *registries, const struct registry *registry)
{
	for (size_t i = 0; i < registries->count; i++) {
		const struct registry *known = &registries->items[i];
		bool is_same =
			known->local_port == registry->local_port &&
			(known->destination && registry->destination ? strcmp(known->destination, registry->destination) == 0
								     : !known->destination && !registry->destination);
		/* Each place that could not be read is worth a line of its own. */
		if (is_same && (registry->destination || registry->local_port))
			return;
	}
	if (registries->count < REGISTRIES_MAX)
		*arena_push(arena, registries) = *registry;
}

static void add_urls(const struct search *search, const char *value, const char *source)
{
	struct url url;
	while (url_next(search->arena, &value, &url)) {
		struct registry registry = { .ecosystem = search->ecosystem, .source = source };
		if (url.destination && url.is_loopback)
			registry.local_port = url.port;
		else
			registry.destination = url.destination;
		add_registry(search->arena, search->registries, &registry);
	}
}

static void visit(void *self, const char *key, const char *value, unsigned line)
{
	const struct search *search = self;

	for (const char *at = search->keys; *at;) {
		bool is_replacing = *at == '!';
		const char *pattern = at + is_replacing;
		size_t length = strcspn(pattern, " ");
		at = pattern + length + strspn(pattern + length, " ");
		if (!config_matches(pattern, length, key))
			continue;
		*search->is_replaced |= is_replacing;
		add_urls(search, value, arena_printf(search->arena, "%s:%u", search->source, line));
		return;
	}
}

/* A path as the user would write it. */
static const char *shown_path(struct arena *arena, const struct context *context, const char *path)
{
	size_t length = strlen(context->home);
	if (length > 1 && path_is_within(path, context->home))
		return arena_printf(arena, "~%s", path + length);
	return path;
}

/* In the project nothing is followed: a link there may lead to a file that is none of its business. The user's own
 * configuration may be linked, as dotfiles often are. */
static const char *place_path(struct arena *arena, const struct context *context, const struct place *place, const char **shown)
{
	const char *path = place->path, *canonical;
	struct error ignored;

	if (place->root == IN_PROJECT) {
		*shown = place->path;
		path = path_join(arena, context->project, place->path);
		if (path_resolve(context->fs, arena, path, &canonical, NULL, NULL, &ignored) < 0 ||
		    strcmp(canonical, path) != 0)
			return NULL;
		return path;
	}
	if (place->root == IN_HOME)
		path = path_join(arena, context->home, place->path);
	else if (place->root == IN_CONFIG)
		path = path_join(arena, path_parent(arena, context->config_directory), place->path);
	*shown = shown_path(arena, context, path);
	return path_resolve(context->fs, arena, path, &canonical, NULL, NULL, &ignored) < 0 ? NULL : canonical;
}

static void search_place(struct arena *arena, const struct context *context, const struct place *place, struct search *search)
{
	const char *path = place_path(arena, context, place, &search->source);
	struct config_scan scan = { .style = place->style, .visit = visit, .self = search };
	struct file_info info;
	size_t length;
	char *text;

	if (!path || context->fs->inspect(context->fs, path, &info) < 0 || info.type != FILE_REGULAR ||
	    context->fs->read_small(context->fs, arena, path, CONFIG_BYTES_MAX, &text, &length) < 0)
		return;
	if (memchr(text, '\0', length))
		return;
	scan.text = text;
	config_scan(&scan);
	/* It may have held tokens. */
	memset(text, 0, length);
}

static void search_environment(const struct context *context, const struct variable *variable, const struct search *search)
{
	for (char *const *entry = context->environment; entry && *entry; entry++) {
		size_t length = strcspn(*entry, "=");
		const char *name = arena_copy_n(search->arena, *entry, length);
		if (!config_matches(variable->name, strlen(variable->name), name) || (*entry)[length] != '=')
			continue;
		*search->is_replaced |= variable->is_replacing;
		add_urls(search, *entry + length + 1, arena_printf(search->arena, "$%s", name));
	}
}

/* The hosts of the usual registry are what its built-in policy allows. */
static void find_usual(struct arena *arena, enum ecosystem ecosystem, struct rules *allow)
{
	struct diagnostics diagnostics = { .arena = arena };
	struct policy policy = { 0 };
	struct builtin builtin;

	if (ecosystem_table[ecosystem].registry && builtin_find(ecosystem_table[ecosystem].registry, &builtin) &&
	    policy_parse(arena, builtin.name, LAYER_BASE, builtin.text, builtin.length, &policy, &diagnostics) == 0)
		*allow = policy.network.allow;
}

static bool is_named(const struct registries *registries, const struct rules *allow)
{
	for (size_t i = 0; i < registries->count; i++)
		for (size_t j = 0; j < allow->count; j++)
			if (registries->items[i].destination &&
			    strcmp(registries->items[i].destination, allow->items[j].text) == 0)
				return true;
	return false;
}

/* One of its hosts alone is of no use, so that whoever names one gets all. */
static void add_usual(struct arena *arena, enum ecosystem ecosystem, bool is_replaced, struct registries *found)
{
	struct rules allow = { 0 };

	find_usual(arena, ecosystem, &allow);
	if (is_replaced && !is_named(found, &allow))
		return;
	for (size_t i = 0; i < allow.count; i++) {
		struct registry registry = { .ecosystem = ecosystem, .destination = allow.items[i].text };
		add_registry(arena, found, &registry);
	}
}

void detect_registries(struct arena *arena, const struct context *context, struct detection *detection)
{
	for (int i = 0; i < ECOSYSTEM_COUNT; i++) {
		enum ecosystem ecosystem = (enum ecosystem)i;
		struct registries found = { 0 };
		bool is_replaced = false;
		struct search search = { arena, &found, ecosystem, NULL, NULL, &is_replaced };

		if (!detection->ecosystems[i].marker)
			continue;
		for (size_t j = 0; j < sizeof places / sizeof places[0]; j++) {
			search.keys = places[j].keys;
			if (places[j].ecosystem == ecosystem)
				search_place(arena, context, &places[j], &search);
		}
		for (size_t j = 0; j < sizeof variables / sizeof variables[0]; j++)
			if (variables[j].ecosystem == ecosystem)
				search_environment(context, &variables[j], &search);
		add_usual(arena, ecosystem, is_replaced, &found);
		for (size_t j = 0; j < found.count; j++)
			add_registry(arena, &detection->registries, &found.items[j]);
	}
}

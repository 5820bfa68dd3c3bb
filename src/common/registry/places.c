/* SPDX-License-Identifier: Apache-2.0 */
/* Finds registries in the files and variables of package managers. Tables list the files, the
 * variables and the keys with an address. Only hosts and ports leave this file, and values of the
 * user's settings in which nothing looks like a credential. */
#include "common/registry/registry.h"

#include <string.h>

#include "common/base/text.h"
#include "common/registry/config.h"
#include "common/registry/url.h"

enum {
	CONFIG_BYTES_MAX = 256 * 1024,
	LOCK_BYTES_MAX = 16 * 1024 * 1024,
	REGISTRIES_MAX = 64,
	LOCK_HOSTS_MAX = 16, /* real lock files name few hosts, a hostile one can name thousands */
	TOKEN_LENGTH = 16, /* a part of a path with a digit and this length may be a token */
	SETTINGS_MAX = 32,
};

enum place_root { IN_PROJECT, IN_HOME, IN_CONFIG /* ~/.config */, IN_SYSTEM, IN_LOCK };

/* Separated by blanks. A key with `!` replaces the default registry; the value of one with `~` may
 * be a host without a scheme. */
static const char npm_keys[] = "!registry *:registry";
static const char yarn_keys[] = "!npmRegistryServer .npmRegistryServer";
static const char bun_keys[] = "!install.registry !install.registry.url install.scopes.*";
static const char cargo_keys[] = "!source.crates-io.replace-with source.*.registry registries.*.index";
static const char pyproject_keys[] = "!tool.uv.index-url tool.uv.extra-index-url tool.uv.index.url tool.poetry.source.url "
				     "tool.pdm.source.url";
static const char uv_keys[] = "!index-url extra-index-url index.url";
static const char pip_keys[] = "!*.index-url !*.index_url *.extra-index-url *.extra_index_url";
static const char go_keys[] = "!GOPROXY ~GOSUMDB";
static const char maven_keys[] = "!*mirrors.mirror.url *repositories.repository.url *pluginRepositories.pluginRepository.url";
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
	{ ECOSYSTEM_NODE, IN_SYSTEM, "/etc/npmrc", CONFIG_INI, npm_keys },
	{ ECOSYSTEM_NODE, IN_SYSTEM, "/usr/etc/npmrc", CONFIG_INI, npm_keys },
	{ ECOSYSTEM_NODE, IN_SYSTEM, "/usr/local/etc/npmrc", CONFIG_INI, npm_keys },
	{ ECOSYSTEM_NODE, IN_SYSTEM, "/opt/homebrew/etc/npmrc", CONFIG_INI, npm_keys },
	{ ECOSYSTEM_NODE, IN_SYSTEM, "/usr/lib/node_modules/npm/npmrc", CONFIG_INI, npm_keys },
	{ ECOSYSTEM_NODE, IN_SYSTEM, "/usr/local/lib/node_modules/npm/npmrc", CONFIG_INI, npm_keys },
	{ ECOSYSTEM_NODE, IN_SYSTEM, "/usr/share/nodejs/npm/npmrc", CONFIG_INI, npm_keys },
	{ ECOSYSTEM_NODE, IN_SYSTEM, "/opt/homebrew/lib/node_modules/npm/npmrc", CONFIG_INI, npm_keys },
	{ ECOSYSTEM_NODE, IN_LOCK, "package-lock.json", CONFIG_JSON, "*.resolved" },
	{ ECOSYSTEM_NODE, IN_LOCK, "npm-shrinkwrap.json", CONFIG_JSON, "*.resolved" },
	{ ECOSYSTEM_NODE, IN_LOCK, "pnpm-lock.yaml", CONFIG_YAML, ".resolution" },
	{ ECOSYSTEM_NODE, IN_LOCK, "yarn.lock", CONFIG_WORDS, "resolved" },
	{ ECOSYSTEM_NODE, IN_LOCK, "bun.lock", CONFIG_JSON, "packages.*" },

	{ ECOSYSTEM_RUST, IN_PROJECT, ".cargo/config.toml", CONFIG_TOML, cargo_keys },
	{ ECOSYSTEM_RUST, IN_PROJECT, ".cargo/config", CONFIG_TOML, cargo_keys },
	{ ECOSYSTEM_RUST, IN_HOME, ".cargo/config.toml", CONFIG_TOML, cargo_keys },
	{ ECOSYSTEM_RUST, IN_HOME, ".cargo/config", CONFIG_TOML, cargo_keys },
	{ ECOSYSTEM_RUST, IN_LOCK, "Cargo.lock", CONFIG_TOML, "package.source" },

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
	{ ECOSYSTEM_PYTHON, IN_SYSTEM, "/etc/xdg/pip/pip.conf", CONFIG_INI, pip_keys },
	{ ECOSYSTEM_PYTHON, IN_SYSTEM, "/etc/uv/uv.toml", CONFIG_TOML, uv_keys },
	{ ECOSYSTEM_PYTHON, IN_LOCK, "uv.lock", CONFIG_TOML, "package.source package.sdist package.wheels" },
	{ ECOSYSTEM_PYTHON, IN_LOCK, "poetry.lock", CONFIG_TOML, "package.source.url" },
	{ ECOSYSTEM_PYTHON, IN_LOCK, "Pipfile.lock", CONFIG_JSON, "_meta.sources..url" },

	{ ECOSYSTEM_GO, IN_CONFIG, "go/env", CONFIG_INI, go_keys },
	{ ECOSYSTEM_GO, IN_HOME, "Library/Application Support/go/env", CONFIG_INI, go_keys },
	{ ECOSYSTEM_GO, IN_SYSTEM, "/usr/local/go/go.env", CONFIG_INI, go_keys },
	{ ECOSYSTEM_GO, IN_SYSTEM, "/usr/lib/go/go.env", CONFIG_INI, go_keys },

	{ ECOSYSTEM_JAVA, IN_PROJECT, "pom.xml", CONFIG_XML, maven_keys },
	{ ECOSYSTEM_JAVA, IN_HOME, ".m2/settings.xml", CONFIG_XML, maven_keys },
	{ ECOSYSTEM_JAVA, IN_SYSTEM, "/etc/maven/settings.xml", CONFIG_XML, maven_keys },
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
	{ ECOSYSTEM_RUBY, IN_HOME, ".gemrc", CONFIG_YAML, "!:sources" },
	{ ECOSYSTEM_RUBY, IN_SYSTEM, "/etc/gemrc", CONFIG_YAML, "!:sources" },
	{ ECOSYSTEM_RUBY, IN_LOCK, "Gemfile.lock", CONFIG_YAML, ".remote" },

	{ ECOSYSTEM_PHP, IN_PROJECT, "composer.json", CONFIG_JSON, composer_keys },
	{ ECOSYSTEM_PHP, IN_CONFIG, "composer/config.json", CONFIG_JSON, composer_keys },
	{ ECOSYSTEM_PHP, IN_HOME, ".composer/config.json", CONFIG_JSON, composer_keys },
	{ ECOSYSTEM_PHP, IN_LOCK, "composer.lock", CONFIG_JSON, "packages..dist.url packages-dev..dist.url" },

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

/* Settings of the user that a command gets as variables. Not those that a variable cannot express,
 * such as a replaced source of cargo. */
static const struct passed {
	enum ecosystem ecosystem;
	const char *key; /* a pattern */
	const char *variables[3];
} passed[] = {
	{ ECOSYSTEM_NODE, "registry", { "npm_config_registry", "YARN_NPM_REGISTRY_SERVER" } },
	{ ECOSYSTEM_NODE, "npmRegistryServer", { "YARN_NPM_REGISTRY_SERVER" } },
	{ ECOSYSTEM_PYTHON, "*.index-url", { "PIP_INDEX_URL", "UV_DEFAULT_INDEX" } },
	{ ECOSYSTEM_PYTHON, "*.index_url", { "PIP_INDEX_URL", "UV_DEFAULT_INDEX" } },
	{ ECOSYSTEM_PYTHON, "*.trusted-host", { "PIP_TRUSTED_HOST" } },
	{ ECOSYSTEM_PYTHON, "index-url", { "UV_DEFAULT_INDEX" } },
	{ ECOSYSTEM_GO, "GOPROXY", { "GOPROXY" } },
	{ ECOSYSTEM_GO, "GOSUMDB", { "GOSUMDB" } },
	{ ECOSYSTEM_GO, "GONOSUMDB", { "GONOSUMDB" } },
	{ ECOSYSTEM_GO, "GONOPROXY", { "GONOPROXY" } },
	{ ECOSYSTEM_GO, "GOPRIVATE", { "GOPRIVATE" } },
	{ ECOSYSTEM_GO, "GOINSECURE", { "GOINSECURE" } },
};

/* State of the search in one file or variable. */
struct registry_search {
	struct arena *arena;
	struct registries *found;
	struct registry like; /* without an address */
	const char *keys;
};

static bool is_same(const struct registry *a, const struct registry *b)
{
	if (a->local_port || b->local_port)
		return a->local_port == b->local_port;
	/* Every unparsable place is reported. */
	return a->destination && b->destination && strcmp(a->destination, b->destination) == 0;
}

void registries_add(struct arena *arena, struct registries *found, const struct registry *registry)
{
	size_t locked = 0;

	for (size_t i = 0; i < found->count; i++) {
		if (is_same(&found->items[i], registry))
			return;
		locked += found->items[i].origin == REGISTRY_LOCK;
	}
	if (found->count >= REGISTRIES_MAX || (registry->origin == REGISTRY_LOCK && locked >= LOCK_HOSTS_MAX)) {
		found->left_out++;
		return;
	}
	*arena_push(arena, found) = *registry;
}

static void add_url(struct arena *arena, struct registries *found, const struct registry *like, const struct url *url)
{
	struct registry registry = *like;

	if (url->destination && url->is_loopback)
		registry.local_port = url->port;
	else
		registry.destination = url->destination;
	registries_add(arena, found, &registry);
}

/* A name such as that of Go's checksum database: its key and its address may follow. */
static void add_bare(struct arena *arena, struct registries *found, const struct registry *like, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " \t\r\n,|+"), word = strcspn(text, " \t\r\n,|");
		const char *host = arena_copy_n(arena, text, length), *address;
		struct url url;
		text += word + (text[word] != '\0');
		if (!strchr(host, '.') || strchr(host, '/'))
			continue;
		address = arena_printf(arena, "https://%s/", host);
		if (url_next(arena, &address, &url) && url.destination)
			add_url(arena, found, like, &url);
	}
}

void registries_add_text(struct arena *arena, struct registries *found, const struct registry *like, const char *text,
			 bool has_bare_hosts)
{
	const char *at = text;
	struct url url;

	while (url_next(arena, &at, &url))
		add_url(arena, found, like, &url);
	if (has_bare_hosts)
		add_bare(arena, found, like, text);
}

/* True if the value has no user, no variable and no part that may be a token. */
static bool is_plain(const char *value)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~:/,|+*-[]";

	if (value[strspn(value, allowed)] != '\0' || value[0] == '\0')
		return false;
	while (*value) {
		size_t length = strcspn(value, "/,|");
		bool is_host = memchr(value, '.', length) || memchr(value, ':', length);
		bool has_digit = strcspn(value, "0123456789") < length;
		if (length >= TOKEN_LENGTH && has_digit && !is_host)
			return false;
		value += length + (value[length] != '\0');
	}
	return true;
}

static const char *unquoted(struct arena *arena, const char *value)
{
	size_t length = strlen(value);

	if (length >= 2 && (value[0] == '"' || value[0] == '\'') && value[length - 1] == value[0])
		return arena_copy_n(arena, value + 1, length - 2);
	return arena_copy(arena, value);
}

static void add_setting(const struct registry_search *search, const char *variable, const char *value, unsigned line)
{
	struct registry_settings *settings = &search->found->settings;
	struct registry_setting setting = { .variable = variable, .source = search->like.source, .line = line };

	setting.value = unquoted(search->arena, value);
	setting.is_withheld = !is_plain(setting.value);
	if (setting.is_withheld)
		setting.value = NULL;
	/* The first file wins, as in the order of the table. */
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->items[i].variable, variable) == 0)
			return;
	if (settings->count < SETTINGS_MAX)
		*arena_push(search->arena, settings) = setting;
}

static void pass_setting(const struct registry_search *search, const char *key, const char *value, unsigned line)
{
	for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++) {
		if (passed[i].ecosystem != search->like.ecosystem || !config_matches(passed[i].key, strlen(passed[i].key), key))
			continue;
		for (size_t j = 0; j < 3 && passed[i].variables[j]; j++)
			add_setting(search, passed[i].variables[j], value, line);
		return;
	}
}

static void visit(void *self, const char *key, const char *value, unsigned line)
{
	const struct registry_search *search = self;
	struct registry like = search->like;

	if (like.origin == REGISTRY_USER)
		pass_setting(search, key, value, line);
	for (const char *at = search->keys; *at;) {
		bool is_bare = *at == '~';
		const char *pattern = at + (*at == '!' || is_bare);
		size_t length = strcspn(pattern, " ");
		like.is_default = *at == '!';
		at = pattern + length + strspn(pattern + length, " ");
		if (!config_matches(pattern, length, key))
			continue;
		search->found->is_replaced[like.origin] |= like.is_default;
		like.line = line;
		registries_add_text(search->arena, search->found, &like, value, is_bare);
		return;
	}
}

/* Returns the path with ~ for the home directory. */
static const char *shown_path(struct arena *arena, const struct context *context, const char *path)
{
	size_t length = strlen(context->home);
	if (length > 1 && path_is_within(path, context->home))
		return arena_printf(arena, "~%s", path + length);
	return path;
}

static bool is_in_project(const struct place *place)
{
	return place->root == IN_PROJECT || place->root == IN_LOCK;
}

/* Follows no symlinks in the project: they could lead to unrelated files. The user's own
 * configuration may be linked, as dot files often are, but not into the project. */
static const char *place_path(struct arena *arena, const struct context *context, const struct place *place, const char **shown)
{
	const char *path = place->path, *canonical;
	struct error ignored;

	if (is_in_project(place)) {
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
	if (path_resolve(context->fs, arena, path, &canonical, NULL, NULL, &ignored) < 0 ||
	    path_is_within(canonical, context->project) || context_is_enclosed(context, canonical))
		return NULL;
	return canonical;
}

static enum registry_origin place_origin(const struct place *place)
{
	switch (place->root) {
	case IN_PROJECT:
		return REGISTRY_PROJECT;
	case IN_LOCK:
		return REGISTRY_LOCK;
	case IN_SYSTEM:
		return REGISTRY_SYSTEM;
	case IN_HOME:
	case IN_CONFIG:
		break;
	}
	return REGISTRY_USER;
}

static void search_place(struct arena *arena, const struct context *context, const struct place *place,
			 struct registries *found)
{
	struct registry_search search = { arena, found, { .ecosystem = place->ecosystem }, place->keys };
	const char *path = place_path(arena, context, place, &search.like.source);
	struct config_scan scan = { .style = place->style, .visit = visit, .self = &search };
	size_t length, limit = place->root == IN_LOCK ? LOCK_BYTES_MAX : CONFIG_BYTES_MAX;
	struct file_info info;
	char *text;

	search.like.origin = place_origin(place);
	if (!path || context->fs->inspect(context->fs, path, &info) < 0 || info.type != FILE_REGULAR)
		return;
	if (context->fs->read_small(context->fs, arena, path, limit, &text, &length) < 0 || memchr(text, '\0', length)) {
		/* Without an address: it is reported as one that cannot be parsed. */
		registries_add(arena, found, &search.like);
		return;
	}
	scan.text = text;
	config_scan(&scan);
	/* The file may contain tokens. */
	memset(text, 0, length);
}

static void search_environment(struct arena *arena, const struct context *context, const struct variable *variable,
			       struct registries *found)
{
	struct registry like = { .ecosystem = variable->ecosystem,
				 .origin = REGISTRY_ENVIRONMENT,
				 .is_default = variable->is_replacing };

	for (char *const *entry = context->environment; entry && *entry; entry++) {
		size_t length = strcspn(*entry, "=");
		const char *name = arena_copy_n(arena, *entry, length);
		if (!config_matches(variable->name, strlen(variable->name), name) || (*entry)[length] != '=')
			continue;
		found->is_replaced[REGISTRY_ENVIRONMENT] |= variable->is_replacing;
		like.source = arena_printf(arena, "$%s", name);
		registries_add_text(arena, found, &like, *entry + length + 1, false);
	}
}

static void search_places(struct arena *arena, const struct context *context, enum ecosystem ecosystem, bool is_project,
			  struct registries *found)
{
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (places[i].ecosystem == ecosystem && is_in_project(&places[i]) == is_project)
			search_place(arena, context, &places[i], found);
}

void registries_of_user(struct arena *arena, const struct context *context, enum ecosystem ecosystem, struct registries *found)
{
	search_places(arena, context, ecosystem, false, found);
}

void registries_of_project(struct arena *arena, const struct context *context, enum ecosystem ecosystem,
			   struct registries *found)
{
	search_places(arena, context, ecosystem, true, found);
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
		if (variables[i].ecosystem == ecosystem)
			search_environment(arena, context, &variables[i], found);
}

bool registries_project_replaces(struct arena *arena, const struct context *context, enum ecosystem ecosystem)
{
	struct registries found = { 0 };

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (places[i].ecosystem == ecosystem && places[i].root == IN_PROJECT)
			search_place(arena, context, &places[i], &found);
	return found.is_replaced[REGISTRY_PROJECT];
}

const char *registry_user_file(struct arena *arena, enum ecosystem ecosystem, size_t index)
{
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		const struct place *place = &places[i];
		if (place->ecosystem != ecosystem || place_origin(place) != REGISTRY_USER || index-- > 0)
			continue;
		return arena_printf(arena, place->root == IN_HOME ? "~/%s" : "~/.config/%s", place->path);
	}
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the project by the names in its top directory. */
#include "common/detect/detect.h"

#include <string.h>

#include "common/registry/config.h"
#include "common/registry/registry.h"

/* The first existing marker of an ecosystem is the one that is reported. */
static const struct marker {
	enum ecosystem ecosystem;
	const char *pattern;
	const char *tool; /* that the file implies, or NULL */
} markers[] = {
	{ ECOSYSTEM_GIT, ".git", NULL },
	{ ECOSYSTEM_NODE, "package.json", NULL },
	{ ECOSYSTEM_RUST, "Cargo.toml", NULL },
	{ ECOSYSTEM_PYTHON, "pyproject.toml", NULL },
	{ ECOSYSTEM_PYTHON, "setup.py", NULL },
	{ ECOSYSTEM_PYTHON, "requirements.txt", NULL },
	{ ECOSYSTEM_PYTHON, "Pipfile", "pipenv" },
	{ ECOSYSTEM_GO, "go.mod", NULL },
	{ ECOSYSTEM_GO, "go.work", NULL },
	{ ECOSYSTEM_JAVA, "pom.xml", "maven" },
	{ ECOSYSTEM_JAVA, "build.gradle", "gradle" },
	{ ECOSYSTEM_JAVA, "build.gradle.kts", "gradle" },
	{ ECOSYSTEM_JAVA, "settings.gradle", "gradle" },
	{ ECOSYSTEM_JAVA, "settings.gradle.kts", "gradle" },
	{ ECOSYSTEM_RUBY, "Gemfile", NULL },
	{ ECOSYSTEM_RUBY, "*.gemspec", "gem" },
	{ ECOSYSTEM_PHP, "composer.json", NULL },
	{ ECOSYSTEM_DOTNET, "*.sln", NULL },
	{ ECOSYSTEM_DOTNET, "*.slnx", NULL },
	{ ECOSYSTEM_DOTNET, "*.csproj", NULL },
	{ ECOSYSTEM_DOTNET, "*.fsproj", NULL },
	{ ECOSYSTEM_DOTNET, "*.vbproj", NULL },
	{ ECOSYSTEM_C, "CMakeLists.txt", NULL },
	{ ECOSYSTEM_C, "meson.build", NULL },
	{ ECOSYSTEM_C, "configure.ac", NULL },
	{ ECOSYSTEM_C, "Makefile", NULL },
	{ ECOSYSTEM_C, "makefile", NULL },
	{ ECOSYSTEM_C, "GNUmakefile", NULL },
};

enum { MARKER_COUNT = sizeof markers / sizeof markers[0], MANIFEST_BYTES_MAX = 256 * 1024 };

/* A lock file selects one of several package managers; alone it does not make a project. */
static const struct marker locks[] = {
	{ ECOSYSTEM_NODE, "package-lock.json", "npm" }, { ECOSYSTEM_NODE, "npm-shrinkwrap.json", "npm" },
	{ ECOSYSTEM_NODE, "pnpm-lock.yaml", "pnpm" },	{ ECOSYSTEM_NODE, "yarn.lock", "yarn" },
	{ ECOSYSTEM_NODE, "bun.lock", "bun" },		{ ECOSYSTEM_NODE, "bun.lockb", "bun" },
	{ ECOSYSTEM_PYTHON, "uv.lock", "uv" },		{ ECOSYSTEM_PYTHON, "poetry.lock", "poetry" },
	{ ECOSYSTEM_PYTHON, "pdm.lock", "pdm" },	{ ECOSYSTEM_PYTHON, "Pipfile.lock", "pipenv" },
};

enum { LOCK_COUNT = sizeof locks / sizeof locks[0] };

struct marker_search {
	struct arena *arena;
	const char *found[MARKER_COUNT]; /* file names */
	bool has_lock[LOCK_COUNT];
};

/* Visits one level only; one thread delivers the names of a directory. */
static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type)
{
	struct marker_search *search = self;

	(void)directory;
	for (size_t i = 0; i < MARKER_COUNT; i++) {
		bool fits = type == FILE_REGULAR || (type == FILE_DIRECTORY && markers[i].ecosystem == ECOSYSTEM_GIT);
		if (fits && config_matches(markers[i].pattern, strlen(markers[i].pattern), name) &&
		    (!search->found[i] || strcmp(name, search->found[i]) < 0))
			search->found[i] = arena_copy(search->arena, name);
	}
	for (size_t i = 0; i < LOCK_COUNT; i++)
		search->has_lock[i] |= strcmp(name, locks[i].pattern) == 0;
	return WALK_SKIP;
}

static void conclude(const struct marker_search *search, struct detection *detection)
{
	for (size_t i = 0; i < MARKER_COUNT; i++) {
		struct detected *detected = &detection->ecosystems[markers[i].ecosystem];
		if (!search->found[i] || detected->marker)
			continue;
		detected->marker = search->found[i];
		detected->tool = markers[i].tool ? markers[i].tool : ecosystem_table[markers[i].ecosystem].tool;
	}
	/* From the end, so that the first row of the table wins. */
	for (size_t i = LOCK_COUNT; i-- > 0;)
		if (search->has_lock[i])
			detection->ecosystems[locks[i].ecosystem].tool = locks[i].tool;
}

static void take_package_manager(void *self, const char *key, const char *value, unsigned line)
{
	static const char *const known[] = { "npm", "pnpm", "yarn", "bun" };
	struct detection *detection = self;
	size_t length = strcspn(value, "@");

	(void)line;
	if (strcmp(key, "packageManager") != 0)
		return;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strlen(known[i]) == length && strncmp(value, known[i], length) == 0)
			detection->ecosystems[ECOSYSTEM_NODE].tool = known[i];
}

/* Reads `packageManager` in package.json, which decides before a lock file. */
static void find_package_manager(struct arena *arena, const struct context *context, struct detection *detection)
{
	struct config_scan scan = { .style = CONFIG_JSON, .visit = take_package_manager, .self = detection };
	const char *path = path_join(arena, context->project, "package.json");
	size_t length;
	char *text;

	if (!detection->ecosystems[ECOSYSTEM_NODE].marker ||
	    context->fs->read_small(context->fs, arena, path, MANIFEST_BYTES_MAX, &text, &length) < 0)
		return;
	scan.text = text;
	if (!memchr(text, '\0', length))
		config_scan(&scan);
}

/* The project's own files come first: the first source of a host is the one that is shown. */
static void find_registries(struct arena *arena, const struct context *context, struct detection *detection)
{
	for (int i = 0; i < ECOSYSTEM_COUNT; i++) {
		struct registries *found = &detection->ecosystems[i].registries;
		if (!detection->ecosystems[i].marker)
			continue;
		registries_of_project(arena, context, (enum ecosystem)i, found);
		registries_of_user(arena, context, (enum ecosystem)i, found);
	}
}

int detect_project(struct arena *arena, const struct context *context, struct detection *detection, struct error *err)
{
	struct marker_search search = { .arena = arena };

	*detection = (struct detection){ 0 };
	if (context->fs->walk(context->fs, context->project, visit, &search, err) < 0)
		return -1;
	conclude(&search, detection);
	find_package_manager(arena, context, detection);
	find_registries(arena, context, detection);
	return 0;
}

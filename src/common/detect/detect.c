/* SPDX-License-Identifier: Apache-2.0 */
/* The project by the names in its top directory. */
#include "common/detect/detect.h"

#include <string.h>

#include "common/detect/config.h"

const struct ecosystem_info ecosystem_table[ECOSYSTEM_COUNT] = {
	[ECOSYSTEM_GIT] = { "git", NULL, NULL },
	[ECOSYSTEM_NODE] = { "node", "registry-npm", "npm" },
	[ECOSYSTEM_RUST] = { "rust", "registry-crates", "cargo" },
	[ECOSYSTEM_PYTHON] = { "python", "registry-pypi", "pip" },
	[ECOSYSTEM_GO] = { "go", "registry-go", "go" },
	[ECOSYSTEM_JAVA] = { "java", "registry-maven", "maven" },
	[ECOSYSTEM_RUBY] = { "ruby", "registry-rubygems", "bundler" },
	[ECOSYSTEM_PHP] = { "php", "registry-packagist", "composer" },
	[ECOSYSTEM_DOTNET] = { "dotnet", "registry-nuget", "nuget" },
	[ECOSYSTEM_C] = { "c", NULL, NULL },
};

/* The first that is there is the one that is named. */
static const struct marker {
	enum ecosystem ecosystem;
	const char *pattern;
	const char *tool; /* that it tells, or NULL */
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

enum { MARKER_COUNT = sizeof markers / sizeof markers[0] };

/* A lock file says which of several package managers is used; alone it makes no project. */
static const struct marker locks[] = {
	{ ECOSYSTEM_NODE, "package-lock.json", "npm" }, { ECOSYSTEM_NODE, "npm-shrinkwrap.json", "npm" },
	{ ECOSYSTEM_NODE, "pnpm-lock.yaml", "pnpm" },	{ ECOSYSTEM_NODE, "yarn.lock", "yarn" },
	{ ECOSYSTEM_NODE, "bun.lock", "bun" },		{ ECOSYSTEM_NODE, "bun.lockb", "bun" },
	{ ECOSYSTEM_PYTHON, "uv.lock", "uv" },		{ ECOSYSTEM_PYTHON, "poetry.lock", "poetry" },
	{ ECOSYSTEM_PYTHON, "pdm.lock", "pdm" },	{ ECOSYSTEM_PYTHON, "Pipfile.lock", "pipenv" },
};

enum { LOCK_COUNT = sizeof locks / sizeof locks[0] };

struct search {
	struct arena *arena;
	const char *found[MARKER_COUNT]; /* names */
	bool has_lock[LOCK_COUNT];
};

/* One level only; the names of one directory come from one thread. */
static enum walk_step visit(void *self, const char *directory, const char *name, enum file_type type)
{
	struct search *search = self;

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

static void conclude(const struct search *search, struct detection *detection)
{
	for (size_t i = 0; i < MARKER_COUNT; i++) {
		struct detected *detected = &detection->ecosystems[markers[i].ecosystem];
		if (!search->found[i] || detected->marker)
			continue;
		detected->marker = search->found[i];
		detected->tool = markers[i].tool ? markers[i].tool : ecosystem_table[markers[i].ecosystem].tool;
	}
	/* From the end, so that the first of the table has the last word. */
	for (size_t i = LOCK_COUNT; i-- > 0;)
		if (search->has_lock[i])
			detection->ecosystems[locks[i].ecosystem].tool = locks[i].tool;
}

int detect_project(struct arena *arena, const struct context *context, struct detection *detection, struct error *err)
{
	struct search search = { .arena = arena };

	*detection = (struct detection){ 0 };
	if (context->fs->walk(context->fs, context->project, visit, &search, err) < 0)
		return -1;
	conclude(&search, detection);
	detect_registries(arena, context, detection);
	return 0;
}

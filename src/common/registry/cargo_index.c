/* SPDX-License-Identifier: Apache-2.0 */
/* Reads cargo's copies of the configuration of indexes, in ~/.cargo/registry/index/HOST-HASH. Only
 * the user's cargo writes there: inside, the home is another one. */
#include "common/registry/registry.h"

#include <string.h>

#include "common/base/text.h"
#include "common/registry/config.h"

enum { INDEXES_MAX = 32, COPY_BYTES_MAX = 16 * 1024 };

struct indexes {
	struct arena *arena;
	const char *directory;
	const char *names[INDEXES_MAX];
	size_t count;
};

/* Visits one level only; one thread delivers the names of a directory. */
static enum walk_step visit_index(void *self, const char *directory, const char *name, enum file_type type)
{
	struct indexes *indexes = self;

	if (type == FILE_DIRECTORY && strcmp(directory, indexes->directory) == 0 && indexes->count < INDEXES_MAX)
		indexes->names[indexes->count++] = arena_copy(indexes->arena, name);
	return WALK_SKIP;
}

/* True if the directory belongs to the index on one of the hosts that were found. */
static bool is_wanted(const struct registries *found, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		const char *host = found->items[i].destination;
		size_t length = host ? strcspn(host, ":") : 0;
		if (length > 0 && strncmp(name, host, length) == 0 && name[length] == '-')
			return true;
	}
	return false;
}

struct copy_search {
	struct arena *arena;
	struct registries *found;
	struct registry like;
};

static void visit_member(void *self, const char *key, const char *value, unsigned line)
{
	struct copy_search *search = self;

	search->like.line = line;
	if (strcmp(key, "dl") == 0)
		registries_add_text(search->arena, search->found, &search->like, value, false);
}

static void read_copy(struct arena *arena, const struct context *context, const char *path, struct registries *found)
{
	struct copy_search search = { arena, found, { .ecosystem = ECOSYSTEM_RUST, .origin = REGISTRY_CLIENT } };
	struct config_scan scan = { .style = CONFIG_JSON, .visit = visit_member, .self = &search };
	size_t length;
	char *text;

	if (context->fs->read_small(context->fs, arena, path, COPY_BYTES_MAX, &text, &length) < 0 || memchr(text, '\0', length))
		return;
	search.like.source = "~/.cargo/registry/index";
	scan.text = text;
	config_scan(&scan);
}

void registries_of_cargo_indexes(struct arena *arena, const struct context *context, struct registries *found)
{
	const char *path = path_join(arena, context->home, ".cargo/registry/index"), *directory;
	struct indexes indexes = { .arena = arena };
	struct file_info info;
	struct error ignored = { 0 };
	size_t count = found->count;

	if (path_resolve(context->fs, arena, path, &directory, NULL, &info, &ignored) < 0 || info.type != FILE_DIRECTORY)
		return;
	indexes.directory = directory;
	if (context->fs->walk(context->fs, directory, visit_index, &indexes, &ignored) < 0)
		return;
	for (size_t i = 0; i < indexes.count; i++)
		if (is_wanted(found, count, indexes.names[i]))
			read_copy(arena, context,
				  path_join(arena, path_join(arena, directory, indexes.names[i]), "config.json"), found);
}

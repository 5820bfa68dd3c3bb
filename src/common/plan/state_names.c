/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the private directories of a project. Only strings: state.c makes the directories. The names come from a cryptographic
 * hash, so that no project path can be chosen to share another project's home. */
#include "common/plan/build.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/sha256.h"

enum { KEY_HEX = 16, NAME_BYTES = 40 };

static const char *short_hash(struct arena *arena, struct sha256 *hash)
{
	char hex[SHA256_HEX + 1];
	sha256_finish_hex(hash, hex);
	return arena_copy_n(arena, hex, KEY_HEX);
}

/* The project's name for the reader, reduced to what needs no quoting anywhere; the hash tells projects apart. */
const char *plan_project_key(struct arena *arena, const char *project)
{
	const char *base = path_base_name(project);
	char name[NAME_BYTES + 1] = { 0 };
	struct sha256 hash;

	for (size_t i = 0; i < NAME_BYTES && base[i]; i++) {
		bool is_plain = (base[i] >= 'a' && base[i] <= 'z') || (base[i] >= 'A' && base[i] <= 'Z') ||
				(base[i] >= '0' && base[i] <= '9') || base[i] == '_' || base[i] == '-' ||
				(base[i] == '.' && i > 0);
		name[i] = is_plain ? base[i] : '_';
	}
	sha256_start(&hash);
	sha256_add(&hash, project, strlen(project));
	return arena_printf(arena, "%s-%s", name, short_hash(arena, &hash));
}

static int compare_strings(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

struct words {
	const char **items;
	size_t count;
};

static void add_word(const struct plan *plan, struct words *words, const char *kind, const char *text)
{
	*(const char **)arena_push(plan->arena, words) = arena_printf(plan->arena, "%s %s", kind, text);
}

/* Everything that reaches out of the sandbox, in one order whatever the files' order was. */
static struct words reach(const struct plan *plan)
{
	struct words words = { 0 };
	if (plan->network.mode == NETWORK_ALL)
		add_word(plan, &words, "network", "all");
	for (size_t i = 0; i < plan->network.allow.count; i++)
		add_word(plan, &words, "allow", plan->network.allow.items[i].rule->text);
	for (size_t i = 0; i < plan->network.local.count; i++)
		add_word(plan, &words, "local", plan->network.local.items[i].rule->text);
	for (size_t i = 0; i < plan->network.publish.count; i++)
		add_word(plan, &words, "publish", plan->network.publish.items[i].rule->text);
	for (size_t i = 0; i < plan->sockets.count; i++)
		add_word(plan, &words, "socket", plan->sockets.items[i].path);
	if (words.count > 0)
		qsort(words.items, words.count, sizeof *words.items, compare_strings);
	return words;
}

static const char *grant_class(const struct plan *plan)
{
	struct words words = reach(plan);
	struct sha256 hash;
	if (words.count == 0)
		return "offline";
	sha256_start(&hash);
	for (size_t i = 0; i < words.count; i++)
		sha256_add(&hash, words.items[i], strlen(words.items[i]) + 1);
	return arena_printf(plan->arena, "grants-%s", short_hash(plan->arena, &hash));
}

bool plan_has_mounts(const struct plan *plan)
{
	return plan->context.os == OS_LINUX && plan->context.tier == TIER_FULL;
}

void build_state(struct builder *builder)
{
	struct plan *plan = builder->plan;
	struct plan_state *state = &plan->state;

	state->project_key = plan_project_key(plan->arena, plan->context.project);
	state->grant_class = grant_class(plan);
	state->directory = arena_printf(plan->arena, "%s/projects/%s/%s", plan->context.state_directory, state->project_key,
					state->grant_class);
	state->home = path_join(plan->arena, state->directory, "home");
	state->tmp = path_join(plan->arena, state->directory, "tmp");
	state->documents = plan_has_mounts(plan) ? PLAN_DOCUMENTS : path_join(plan->arena, state->directory, "documents");
}

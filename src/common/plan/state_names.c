/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the private directories of a project; state.c creates them. The names contain a
 * cryptographic hash, so that no project path can be chosen to share another project's home. */
#include "common/plan/build.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/sha256.h"

enum { KEY_HEX = 16, NAME_BYTES = 40, SHORT_NAME = 12, SHORT_PATH = 60 };

static const char *short_hash(struct arena *arena, struct sha256 *hash)
{
	char hex[SHA256_HEX + 1];
	sha256_finish_hex(hash, hex);
	return arena_copy_n(arena, hex, KEY_HEX);
}

/* The readable part has only characters that need no quoting anywhere. */
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

/* Every session of a debugger has another socket. */
static const char *socket_word(const struct plan_item *socket)
{
	return strcmp(socket->rule->key, PLAN_DEBUGGER_KEY) == 0 ? "debugger" : socket->value;
}

/* True if a built-in policy passes the variable. */
static bool is_usual(const struct plan *plan, const char *name)
{
	const struct rule *rule = environment_passed_by(plan->policy, name);
	return rule && rule->layer < LAYER_USER;
}

/* By name and not by value: the home must be found again. Variables that a built-in policy passes
 * do not count, nor values in the project's policy, which every command of the project can read. */
static void add_variables(const struct plan *plan, struct words *words)
{
	const struct rules *pass = &plan->policy->environment.pass;
	const struct assignments *set = &plan->policy->environment.set;
	for (size_t i = 0; i < pass->count; i++)
		if (pass->items[i].layer >= LAYER_USER && !is_usual(plan, pass->items[i].text))
			add_word(plan, words, "variable", pass->items[i].text);
	for (size_t i = 0; i < set->count; i++)
		if ((set->items[i].rule.layer == LAYER_USER || set->items[i].rule.layer == LAYER_COMMAND_LINE) &&
		    !is_usual(plan, set->items[i].rule.text))
			add_word(plan, words, "variable", set->items[i].rule.text);
}

/* True if the exception may show a file of a grant outside of the project. */
static bool shows_outside(const struct plan *plan, const struct pattern *exception)
{
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		bool is_directory = grant->type == FILE_DIRECTORY, folds = plan_folds_case(plan);
		if (path_is_within(grant->path, plan->context.project) ||
		    (grant->kind == GRANT_SYSTEM && exception->is_anywhere))
			continue;
		if (pattern_covers(exception, grant->path, is_directory, folds) > 0 ||
		    (is_directory && pattern_may_match_below(exception, grant->path, folds)))
			return true;
	}
	return false;
}

/* Denied files that an exception makes readable. Those of the project do not count: every command
 * of the project can read them. */
static void add_exceptions(const struct plan *plan, struct words *words)
{
	const char *project = plan->context.project;
	for (size_t i = 0; i < plan->except.count; i++) {
		const struct plan_pattern *item = &plan->except.items[i];
		const struct pattern *pattern = &item->pattern;
		bool is_inside = !pattern->is_anywhere && path_is_within(pattern->text, project);
		if (item->rule->layer >= LAYER_USER && !is_inside && shows_outside(plan, pattern))
			add_word(plan, words, "file", item->rule->text);
	}
}

static void sort_words(struct words *words)
{
	size_t kept = 0;
	if (words->count == 0)
		return;
	qsort(words->items, words->count, sizeof *words->items, compare_strings);
	for (size_t i = 0; i < words->count; i++)
		if (kept == 0 || strcmp(words->items[kept - 1], words->items[i]) != 0)
			words->items[kept++] = words->items[i];
	words->count = kept;
}

/* Returns the grants that a prepared home could abuse, sorted, so that the order of the policy does
 * not matter. */
static struct words abusable(const struct plan *plan)
{
	struct words words = { 0 };
	for (size_t i = 0; i < plan->sockets.count; i++)
		add_word(plan, &words, "socket", socket_word(&plan->sockets.items[i]));
	for (size_t i = 0; i < plan->devices.count; i++)
		add_word(plan, &words, "device", plan->devices.items[i].value);
	add_variables(plan, &words);
	add_exceptions(plan, &words);
	sort_words(&words);
	return words;
}

static const char *hash_words(const struct plan *plan, const struct words *words)
{
	struct sha256 hash;
	sha256_start(&hash);
	for (size_t i = 0; i < words->count; i++)
		sha256_add(&hash, words->items[i], strlen(words->items[i]) + 1);
	return short_hash(plan->arena, &hash);
}

/* An agent's home is its own, whatever hosts are added for one run: its transcripts are in it. But
 * not with a socket, which what an earlier run left there could abuse. */
static const char *agent_class(const struct plan *plan)
{
	struct words words = { 0 };
	for (size_t i = 0; i < plan->sockets.count; i++)
		add_word(plan, &words, "socket", plan->sockets.items[i].value);
	if (words.count == 0)
		return arena_printf(plan->arena, "agent-%s", plan->context.agent);
	sort_words(&words);
	return arena_printf(plan->arena, "agent-%s-%s", plan->context.agent, hash_words(plan, &words));
}

static const char *grant_class(const struct plan *plan)
{
	struct words words;
	if (plan->context.agent)
		return agent_class(plan);
	words = abusable(plan);
	return words.count == 0 ? PLAN_ORDINARY_CLASS
				: arena_printf(plan->arena, PLAN_OWN_CLASS "%s", hash_words(plan, &words));
}

/* A socket's path has at most 104 bytes on macOS, and programs add 30 and more to TMPDIR. So the
 * name is short there: 60 bits of the hash of the names, in an alphabet of 32. */
const char *plan_short_name(struct arena *arena, const char *project_key, const char *grant_class)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	char hex[SHA256_HEX + 1], name[SHORT_NAME + 1] = { 0 };
	struct sha256 hash;

	sha256_start(&hash);
	sha256_add(&hash, project_key, strlen(project_key) + 1);
	sha256_add(&hash, grant_class, strlen(grant_class) + 1);
	sha256_finish_hex(&hash, hex);
	for (size_t i = 0; i < SHORT_NAME; i++) {
		const char byte[] = { hex[2 * i], hex[2 * i + 1], '\0' };
		name[i] = digits[strtoul(byte, NULL, 16) % 32];
	}
	return arena_copy(arena, name);
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
	if (plan->context.os == OS_MACOS)
		state->tmp = arena_printf(plan->arena, "%s/" PLAN_SHORT_TMP "/%s", plan->context.state_directory,
					  plan_short_name(plan->arena, state->project_key, state->grant_class));
	if (plan->context.os == OS_MACOS && strlen(state->tmp) > SHORT_PATH)
		build_note(builder, NOTE_OTHER, &rule_private_tmp,
			   "TMPDIR has %zu bytes: programs that create sockets there may fail, because a socket's path has at "
			   "most 104",
			   strlen(state->tmp));
	state->documents = plan_has_mounts(plan) ? PLAN_DOCUMENTS : path_join(plan->arena, state->directory, "documents");
}

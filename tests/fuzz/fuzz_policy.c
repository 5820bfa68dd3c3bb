/* SPDX-License-Identifier: Apache-2.0 */
/* YAML → policy. The input is a policy file. It is parsed for every layer, and loaded as the file
 * of a project that nobody trusts: whatever it says, the outcome must not grant more than a load
 * without it. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/format/yaml.h"
#include "common/policy/policy.h"
#include "common/policy/value.h"
#include "common/base/text.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const char *text;
	size_t length;
};

static void judge_diagnostics(const struct diagnostics *diagnostics, int status)
{
	PROPERTY((status < 0) == (diagnostics->count > 0));
	PROPERTY(diagnostics->count <= YAML_MAX_DIAGNOSTICS + 1);
	for (size_t i = 0; i < diagnostics->count; i++) {
		const struct diagnostic *diagnostic = &diagnostics->items[i];
		PROPERTY(diagnostic->origin.source && diagnostic->origin.line > 0 && diagnostic->origin.column > 0);
		PROPERTY(diagnostic->message[0] && !text_has_control(diagnostic->message, strlen(diagnostic->message)));
		PROPERTY(is_utf8(diagnostic->message, strlen(diagnostic->message)));
	}
}

static void judge_rule(const struct rule *rule, const struct key *key, enum layer layer)
{
	PROPERTY(strcmp(rule->key, key->path) == 0);
	PROPERTY(rule->layer == layer);
	PROPERTY(rule->origin.line > 0 && rule->origin.column > 0);
	PROPERTY(!text_has_control(rule->text, strlen(rule->text)));
}

/* Whatever was taken is well-formed by the key's own judgement, and nothing unbuilt was taken. */
static void judge_policy(struct arena *arena, const struct policy *policy, enum layer layer)
{
	struct error err;

	for (size_t i = 0; i < policy_key_count; i++) {
		const struct key *key = &policy_keys[i];
		const void *field = (const char *)policy + key->offset;

		if (policy_key_storage(key) == STORAGE_RULES) {
			const struct rules *rules = field;
			PROPERTY(rules->count <= YAML_MAX_ITEMS);
			PROPERTY(rules->count == 0 || !(key->flags & KEY_UNBUILT));
			for (size_t j = 0; j < rules->count; j++) {
				judge_rule(&rules->items[j], key, layer);
				PROPERTY(policy_value_check(arena, key, rules->items[j].text, false, NULL, &err) == 0);
			}
		} else if (policy_key_storage(key) == STORAGE_SETTING) {
			const struct setting *setting = field;
			if (!setting->is_set)
				continue;
			PROPERTY(!(key->flags & KEY_UNBUILT));
			judge_rule(&setting->rule, key, layer);
			PROPERTY(!(key->flags & KEY_USER_ONLY) || layer != LAYER_PROJECT);
		}
	}
}

static int parse(const struct input *input, enum layer layer)
{
	struct arena arena = { 0 };
	struct policy policy;
	struct diagnostics diagnostics = { .arena = &arena };
	int status = policy_parse(&arena, "input", layer, input->text, input->length, &policy, &diagnostics);

	judge_diagnostics(&diagnostics, status);
	if (status == 0)
		judge_policy(&arena, &policy, layer);
	arena_free(&arena);
	return status;
}

static int read_input(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err)
{
	const struct input *input = self;

	if (strcmp(path, "/project/berm.yml") != 0)
		return error_errno(err, ENOENT, "cannot open %s", path);
	*text = arena_copy_n(arena, input->text, input->length);
	*length = input->length;
	return 0;
}

static bool has_rule(const struct rules *rules, const struct rule *wanted)
{
	for (size_t i = 0; i < rules->count; i++) {
		if (strcmp(rules->items[i].text, wanted->text) == 0 && rules->items[i].layer == wanted->layer)
			return true;
	}
	return false;
}

static void judge_settings(const struct key *key, const struct setting *with, const struct setting *without)
{
	const struct key_choice *choice;

	if (with->is_set == without->is_set && with->value == without->value && with->rule.layer == without->rule.layer)
		return;
	PROPERTY(key->flags & KEY_NARROWS);
	if (key->kind == KEY_SIZE || key->kind == KEY_DURATION || key->kind == KEY_COUNT) {
		PROPERTY(!without->is_set || with->value < without->value);
		return;
	}
	choice = policy_value_choice(key, with->rule.text);
	PROPERTY(choice && choice->narrows);
}

/* Everything that grants is what it was without the file; everything that takes away is still
 * there. */
static void judge_narrowing(const struct policy *with, const struct policy *without)
{
	for (size_t i = 0; i < policy_key_count; i++) {
		const struct key *key = &policy_keys[i];
		const void *new = (const char *)with + key->offset, *old = (const char *)without + key->offset;

		if (policy_key_storage(key) == STORAGE_RULES) {
			const struct rules *new_rules = new, *old_rules = old;
			PROPERTY(new_rules->count >= old_rules->count);
			PROPERTY((key->flags & KEY_NARROWS) || new_rules->count == old_rules->count);
			for (size_t j = 0; j < old_rules->count; j++)
				PROPERTY(has_rule(new_rules, &old_rules->items[j]));
		} else if (policy_key_storage(key) == STORAGE_ASSIGNMENTS) {
			PROPERTY(((const struct assignments *)new)->count == ((const struct assignments *)old)->count);
		} else if (policy_key_storage(key) == STORAGE_SETTING) {
			judge_settings(key, new, old);
		}
	}
}

static void load_untrusted(struct input *input)
{
	static struct arena kept;
	static struct policy without;
	static struct diagnostics none;
	struct arena arena = { 0 };
	struct policy with;
	struct diagnostics diagnostics = { .arena = &arena };
	struct policy_request request = { .project_file = "/project/berm.yml", .read = read_input, .self = input };

	/* The outcome without the file is the same every time. */
	if (!kept.blocks)
		PROPERTY(policy_load(&kept, &(struct policy_request){ 0 }, &without, &none) == 0);
	if (policy_load(&arena, &request, &with, &diagnostics) == 0) {
		PROPERTY(diagnostics.count == 0);
		judge_narrowing(&with, &without);
	} else {
		PROPERTY(diagnostics.count > 0);
	}
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { (const char *)data, size };

	parse(&input, LAYER_USER);
	/* A load reads the built-in policies as well, which is slow: only where there is something
	 * to load. */
	if (parse(&input, LAYER_PROJECT) == 0)
		load_untrusted(&input);
	return 0;
}

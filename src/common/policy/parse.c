/* SPDX-License-Identifier: Apache-2.0 */
/* Parses one policy document into struct policy by the key table. Strict: everything unknown is an
 * error with its position, and all errors of a file are found in one pass. Reads no file and knows
 * no other layer. */
#include "common/policy/policy.h"

#include <stdlib.h>
#include <string.h>

#include "common/format/yaml.h"
#include "common/policy/value.h"
#include "common/base/text.h"

enum { KEY_COUNT_MAX = 128, HINTED_VALUE_MAX = 128 };

struct parse {
	struct yaml document;
	enum layer layer;
	struct policy *policy;
};

/* Returns the last part of a key's path: "deny" of "files.deny". */
static const char *key_name(const struct key *key)
{
	const char *dot = strrchr(key->path, '.');
	return dot ? dot + 1 : key->path;
}

/* True if key is a direct child of parent (NULL for the top). */
static bool is_child(const struct key *key, const struct key *parent)
{
	size_t length = parent ? strlen(parent->path) : 0;

	if (!parent)
		return !strchr(key->path, '.');
	return strncmp(key->path, parent->path, length) == 0 && key->path[length] == '.' &&
	       !strchr(key->path + length + 1, '.');
}

static const struct key *find_child(const struct key *parent, const char *name)
{
	for (size_t i = 0; i < policy_key_count; i++) {
		if (is_child(&policy_keys[i], parent) && strcmp(key_name(&policy_keys[i]), name) == 0)
			return &policy_keys[i];
	}
	return NULL;
}

static struct rule make_rule(struct parse *parse, const struct key *key, const struct yaml_node *node)
{
	return (struct rule){
		.key = key->path,
		.text = node->text,
		.origin = { parse->document.source, node->line, node->column },
		.layer = parse->layer,
	};
}

static void *field(struct parse *parse, const struct key *key)
{
	return (char *)parse->policy + key->offset;
}

static void complain_value(struct parse *parse, const struct key *key, const struct yaml_node *node, const struct error *err)
{
	yaml_complain(&parse->document, node->line, node->column, err->hint[0] ? err->hint : NULL, "`%s`: %s", key->path,
		      err->message);
}

/* Returns the child of parent with the nearest name, or any key with is_anywhere; NULL if none is
 * near. */
static const struct key *nearest_key(const struct key *parent, const char *name, bool is_anywhere)
{
	const char *names[KEY_COUNT_MAX] = { 0 };
	const struct key *keys[KEY_COUNT_MAX];
	const char *nearest;
	size_t count = 0;

	for (size_t i = 0; i < policy_key_count && count < KEY_COUNT_MAX; i++) {
		if (!is_anywhere && !is_child(&policy_keys[i], parent))
			continue;
		keys[count] = &policy_keys[i];
		names[count++] = key_name(&policy_keys[i]);
	}
	nearest = text_nearest(name, names, count);
	for (size_t i = 0; nearest && i < count; i++) {
		if (names[i] == nearest)
			return keys[i];
	}
	return NULL;
}

static void complain_unknown(struct parse *parse, const struct key *parent, const struct yaml_node *name)
{
	const struct key *sibling = nearest_key(parent, name->text, false);
	const struct key *nearest = sibling ? sibling : nearest_key(parent, name->text, true);
	const char *hint = NULL;

	if (nearest)
		hint = arena_printf(parse->document.arena, "did you mean `%s`?", sibling ? key_name(sibling) : nearest->path);
	yaml_complain(&parse->document, name->line, name->column, hint, "unknown key `%s`%s%s%s", name->text,
		      parent ? " in `" : "", parent ? parent->path : "", parent ? "`" : "");
}

static const char *shape(const struct yaml_node *node)
{
	if (node->kind == NODE_LIST)
		return "a list";
	if (node->kind == NODE_MAP)
		return "a mapping";
	return node->is_plain && yaml_plain_type(node->text) && strcmp(yaml_plain_type(node->text), "null") == 0
		       ? "an empty value"
		       : "a single value";
}

static void complain_shape(struct parse *parse, const struct key *key, const struct yaml_node *node, const char *expected)
{
	const char *hint = NULL;

	/* A single value is often the only entry of the intended list. */
	if (node->kind == NODE_SCALAR && node->text[0] && strlen(node->text) < HINTED_VALUE_MAX &&
	    policy_key_storage(key) == STORAGE_RULES)
		hint = arena_printf(parse->document.arena, "write `%s: [\"%s\"]`", key_name(key), node->text);
	yaml_complain(&parse->document, node->line, node->column, hint, "`%s` must be %s, not %s", key->path, expected,
		      shape(node));
}

static void take_list(struct parse *parse, const struct key *key, const struct yaml_node *node)
{
	struct rules *rules = field(parse, key);

	if (node->kind != NODE_LIST) {
		complain_shape(parse, key, node, "a list");
		return;
	}
	for (const struct yaml_node *item = node->first; item && !yaml_is_full(&parse->document); item = item->next) {
		struct error err;
		if (item->is_broken)
			continue;
		if (item->kind != NODE_SCALAR)
			yaml_complain(&parse->document, item->line, item->column, NULL,
				      "`%s`: an entry must be a single value, not %s", key->path, shape(item));
		else if (policy_value_check(parse->document.arena, key, item->text, item->is_plain, NULL, &err) < 0)
			complain_value(parse, key, item, &err);
		else
			*arena_push(parse->document.arena, rules) = make_rule(parse, key, item);
	}
}

static void take_setting(struct parse *parse, const struct key *key, const struct yaml_node *node)
{
	struct setting *setting = field(parse, key);
	struct error err;

	if (node->kind != NODE_SCALAR) {
		complain_shape(parse, key, node, "a single value");
		return;
	}
	if (policy_value_check(parse->document.arena, key, node->text, node->is_plain, &setting->value, &err) < 0) {
		complain_value(parse, key, node, &err);
		return;
	}
	setting->is_set = true;
	setting->rule = make_rule(parse, key, node);
}

/* True if the YAML reader has reported neither the name nor its value. */
static bool is_usable(const struct yaml_node *name)
{
	return name->kind == NODE_SCALAR && !name->is_broken && name->value && !name->value->is_broken;
}

/* True if the mapping already has this name; reports it. */
static bool is_repeated(struct parse *parse, const struct yaml_node *map, const struct yaml_node *name)
{
	for (const struct yaml_node *earlier = map->first; earlier != name; earlier = earlier->next) {
		if (earlier->kind != NODE_SCALAR || strcmp(earlier->text, name->text) != 0)
			continue;
		yaml_complain(&parse->document, name->line, name->column, NULL, "`%s` is repeated: first in line %u",
			      name->text, earlier->line);
		return true;
	}
	return false;
}

static void take_assignments(struct parse *parse, const struct key *key, const struct yaml_node *node)
{
	struct assignments *assignments = field(parse, key);

	if (node->kind != NODE_MAP) {
		complain_shape(parse, key, node, "a mapping of names to values");
		return;
	}
	for (const struct yaml_node *name = node->first; name && !yaml_is_full(&parse->document); name = name->next) {
		struct error err;
		if (!is_usable(name) || is_repeated(parse, node, name))
			continue;
		if (!policy_value_is_variable(name->text, strlen(name->text), false)) {
			yaml_complain(&parse->document, name->line, name->column, NULL, "`%s` is not a variable name",
				      name->text);
		} else if (name->value->kind != NODE_SCALAR) {
			yaml_complain(&parse->document, name->value->line, name->value->column, NULL,
				      "`%s`: a value must be text, not %s", key->path, shape(name->value));
		} else if (policy_value_check(parse->document.arena, key, name->value->text, name->value->is_plain, NULL,
					      &err) < 0) {
			complain_value(parse, key, name->value, &err);
		} else {
			struct assignment *assignment = arena_push(parse->document.arena, assignments);
			assignment->rule = make_rule(parse, key, name);
			assignment->value = name->value->text;
		}
	}
}

static void take_version(struct parse *parse, const struct key *key, const struct yaml_node *node)
{
	struct error err;

	if (node->kind != NODE_SCALAR)
		complain_shape(parse, key, node, "a number");
	else if (policy_value_check(parse->document.arena, key, node->text, node->is_plain, NULL, &err) < 0)
		complain_value(parse, key, node, &err);
}

/* A mapping that grants destinations sets the mode; one that only denies leaves it to other
 * layers. */
static void imply_network_mode(struct parse *parse, const struct yaml_node *map)
{
	struct setting *mode = &parse->policy->network.mode;

	for (const struct yaml_node *name = map->first; name; name = name->next) {
		if (name->kind != NODE_SCALAR || strcmp(name->text, "deny") == 0 ||
		    !find_child(policy_key_find("network"), name->text))
			continue;
		mode->is_set = true;
		mode->value = NETWORK_ALLOW;
		mode->rule = make_rule(parse, policy_key_find("network"), name);
		mode->rule.text = "allow";
		return;
	}
}

static void take_map(struct parse *parse, const struct key *parent, const struct yaml_node *map);

static void take_value(struct parse *parse, const struct key *key, const struct yaml_node *node)
{
	if (key->kind == KEY_VERSION) {
		take_version(parse, key, node);
	} else if (key->kind == KEY_MAP && node->kind == NODE_MAP) {
		take_map(parse, key, node);
		if (strcmp(key->path, "network") == 0)
			imply_network_mode(parse, node);
	} else if (key->kind == KEY_MAP && (node->kind == NODE_LIST || !(key->flags & KEY_ALSO_SCALAR))) {
		complain_shape(parse, key, node, "a mapping");
	} else if (policy_key_storage(key) == STORAGE_RULES) {
		take_list(parse, key, node);
	} else if (policy_key_storage(key) == STORAGE_ASSIGNMENTS) {
		take_assignments(parse, key, node);
	} else {
		take_setting(parse, key, node);
	}
}

static void take_map(struct parse *parse, const struct key *parent, const struct yaml_node *map)
{
	for (const struct yaml_node *name = map->first; name && !yaml_is_full(&parse->document); name = name->next) {
		const struct key *key;

		if (!is_usable(name) || is_repeated(parse, map, name))
			continue;
		key = find_child(parent, name->text);
		if (!key)
			complain_unknown(parse, parent, name);
		else if (key->kind == KEY_RESERVED || (key->flags & KEY_UNBUILT))
			yaml_complain(&parse->document, name->line, name->column, NULL, "`%s` is not yet supported", key->path);
		else if ((key->flags & KEY_USER_ONLY) && (parse->layer == LAYER_PROJECT || parse->layer == LAYER_ENCLOSING))
			yaml_complain(&parse->document, name->line, name->column, "set it in ~/.config/berm/berm.yml",
				      "`%s` is not allowed in a project's file", key->path);
		else
			take_value(parse, key, name->value);
	}
}

static bool has_version(const struct yaml_node *root)
{
	for (const struct yaml_node *name = root->first; name; name = name->next) {
		if (name->kind == NODE_SCALAR && strcmp(name->text, "version") == 0)
			return true;
	}
	return false;
}

/* True for an empty document. libyaml makes an empty plain scalar of one that has only `---`. */
static bool is_nothing(const struct yaml_node *root)
{
	return !root || (root->kind == NODE_SCALAR && root->is_plain && root->text[0] == '\0');
}

static void take_root(struct parse *parse, const struct yaml_node *root)
{
	static const char hint[] = "begin the file with `version: 1`";

	if (is_nothing(root)) {
		if (parse->layer != LAYER_COMMAND_LINE)
			yaml_complain(&parse->document, 1, 1, hint, "`version` is missing: the file is empty");
		return;
	}
	if (root->kind != NODE_MAP) {
		yaml_complain(&parse->document, root->line, root->column, hint, "a policy is a mapping of keys, not %s",
			      shape(root));
		return;
	}
	if (!has_version(root))
		yaml_complain(&parse->document, root->line, root->column, hint, "`version` is missing");
	take_map(parse, NULL, root);
}

static int compare_positions(const void *left, const void *right)
{
	const struct origin *a = &((const struct diagnostic *)left)->origin, *b = &((const struct diagnostic *)right)->origin;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->column > b->column) - (a->column < b->column);
}

int policy_parse(struct arena *arena, const char *source, enum layer layer, const char *text, size_t length,
		 struct policy *policy, struct diagnostics *diagnostics)
{
	struct parse parse = {
		.document = { .arena = arena, .source = source, .text = text, .length = length, .diagnostics = diagnostics },
		.layer = layer,
		.policy = policy,
	};
	const struct yaml_node *root;
	size_t first = diagnostics->count;

	*policy = (struct policy){ 0 };
	if (!diagnostics->arena)
		diagnostics->arena = arena;
	root = yaml_read(&parse.document);
	if (root || parse.document.complaints == 0)
		take_root(&parse, root);
	/* The YAML reader's errors precede those about keys: sort all by their position in the
	 * file. */
	if (diagnostics->count > first)
		qsort(diagnostics->items + first, diagnostics->count - first, sizeof *diagnostics->items, compare_positions);
	return parse.document.complaints > 0 ? -1 : 0;
}

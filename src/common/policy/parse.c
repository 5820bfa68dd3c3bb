/* SPDX-License-Identifier: Apache-2.0 */
/* One policy document → struct policy, by the key table. Strict: what the language does not know is an error at its place, and
 * all errors of a file are found in one go. Reads no file and knows no other layer. */
#include "common/policy/policy.h"

#include <stdlib.h>
#include <string.h>

#include "common/format/yaml.h"
#include "common/policy/value.h"
#include "common/base/text.h"

enum { KEY_COUNT_MAX = 128, HINTED_VALUE_MAX = 128 };

struct parse {
	struct document document;
	enum layer layer;
	struct policy *policy;
};

/* The last part of a key's path: "deny" of "files.deny". */
static const char *key_name(const struct key *key)
{
	const char *dot = strrchr(key->path, '.');
	return dot ? dot + 1 : key->path;
}

/* Is key a direct child of parent (NULL for the top)? */
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

static struct rule make_rule(struct parse *parse, const struct key *key, const struct node *node)
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

static void complain_value(struct parse *parse, const struct key *key, const struct node *node, const struct error *err)
{
	document_complain(&parse->document, node->line, node->column, err->hint[0] ? err->hint : NULL, "`%s`: %s", key->path,
			  err->message);
}

/* The nearest of the keys that could stand here, or of all keys with is_anywhere; NULL if none is near. */
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

static void complain_unknown(struct parse *parse, const struct key *parent, const struct node *name)
{
	const struct key *sibling = nearest_key(parent, name->text, false);
	const struct key *nearest = sibling ? sibling : nearest_key(parent, name->text, true);
	const char *hint = NULL;

	if (nearest)
		hint = arena_printf(parse->document.arena, "did you mean `%s`?", sibling ? key_name(sibling) : nearest->path);
	document_complain(&parse->document, name->line, name->column, hint, "unknown key `%s`%s%s%s", name->text,
			  parent ? " in `" : "", parent ? parent->path : "", parent ? "`" : "");
}

static const char *shape(const struct node *node)
{
	if (node->kind == NODE_LIST)
		return "a list";
	if (node->kind == NODE_MAP)
		return "a mapping";
	return node->is_plain && document_plain_type(node->text) && strcmp(document_plain_type(node->text), "null") == 0
		       ? "nothing"
		       : "a single value";
}

static void complain_shape(struct parse *parse, const struct key *key, const struct node *node, const char *expected)
{
	const char *hint = NULL;

	/* What is there is often the one entry of the list that was meant. */
	if (node->kind == NODE_SCALAR && node->text[0] && strlen(node->text) < HINTED_VALUE_MAX &&
	    policy_key_storage(key) == STORAGE_RULES)
		hint = arena_printf(parse->document.arena, "write `%s: [\"%s\"]`", key_name(key), node->text);
	document_complain(&parse->document, node->line, node->column, hint, "`%s` must be %s, and this is %s", key->path,
			  expected, shape(node));
}

static void take_list(struct parse *parse, const struct key *key, const struct node *node)
{
	struct rules *rules = field(parse, key);

	if (node->kind != NODE_LIST) {
		complain_shape(parse, key, node, "a list");
		return;
	}
	for (const struct node *item = node->first; item && !document_is_full(&parse->document); item = item->next) {
		struct error err;
		if (item->is_broken)
			continue;
		if (item->kind != NODE_SCALAR)
			document_complain(&parse->document, item->line, item->column, NULL,
					  "`%s`: an entry must be a single value, and this is %s", key->path, shape(item));
		else if (policy_value_check(parse->document.arena, key, item->text, item->is_plain, NULL, &err) < 0)
			complain_value(parse, key, item, &err);
		else
			*arena_push(parse->document.arena, rules) = make_rule(parse, key, item);
	}
}

static void take_setting(struct parse *parse, const struct key *key, const struct node *node)
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

/* A name and its value, neither of which the reader has complained about. */
static bool is_usable(const struct node *name)
{
	return name->kind == NODE_SCALAR && !name->is_broken && name->value && !name->value->is_broken;
}

/* Complains about a name that the mapping already has. */
static bool is_repeated(struct parse *parse, const struct node *map, const struct node *name)
{
	for (const struct node *earlier = map->first; earlier != name; earlier = earlier->next) {
		if (earlier->kind != NODE_SCALAR || strcmp(earlier->text, name->text) != 0)
			continue;
		document_complain(&parse->document, name->line, name->column, NULL, "`%s` is already there, in line %u",
				  name->text, earlier->line);
		return true;
	}
	return false;
}

static void take_assignments(struct parse *parse, const struct key *key, const struct node *node)
{
	struct assignments *assignments = field(parse, key);

	if (node->kind != NODE_MAP) {
		complain_shape(parse, key, node, "a mapping of names to values");
		return;
	}
	for (const struct node *name = node->first; name && !document_is_full(&parse->document); name = name->next) {
		struct error err;
		if (!is_usable(name) || is_repeated(parse, node, name))
			continue;
		if (!policy_value_is_variable(name->text)) {
			document_complain(&parse->document, name->line, name->column, NULL,
					  "`%s` is not the name of a variable", name->text);
		} else if (name->value->kind != NODE_SCALAR) {
			document_complain(&parse->document, name->value->line, name->value->column, NULL,
					  "`%s`: a value must be text, and this is %s", key->path, shape(name->value));
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

static void take_version(struct parse *parse, const struct key *key, const struct node *node)
{
	struct error err;

	if (node->kind != NODE_SCALAR)
		complain_shape(parse, key, node, "a number");
	else if (policy_value_check(parse->document.arena, key, node->text, node->is_plain, NULL, &err) < 0)
		complain_value(parse, key, node, &err);
}

/* A mapping that grants destinations is a mode of its own; one that only denies leaves the mode to other layers. */
static void imply_network_mode(struct parse *parse, const struct node *map)
{
	struct setting *mode = &parse->policy->network.mode;

	for (const struct node *name = map->first; name; name = name->next) {
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

static void take_map(struct parse *parse, const struct key *parent, const struct node *map);

static void take_value(struct parse *parse, const struct key *key, const struct node *node)
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

static void take_map(struct parse *parse, const struct key *parent, const struct node *map)
{
	for (const struct node *name = map->first; name && !document_is_full(&parse->document); name = name->next) {
		const struct key *key;

		if (!is_usable(name) || is_repeated(parse, map, name))
			continue;
		key = find_child(parent, name->text);
		if (!key)
			complain_unknown(parse, parent, name);
		else if (key->kind == KEY_RESERVED || (key->flags & KEY_UNBUILT))
			document_complain(&parse->document, name->line, name->column, NULL, "`%s` is not yet supported",
					  key->path);
		else if ((key->flags & KEY_USER_ONLY) && parse->layer == LAYER_PROJECT)
			document_complain(&parse->document, name->line, name->column,
					  "it is the user's to say, in ~/.config/berm/berm.yml",
					  "`%s` is not allowed in a project's file", key->path);
		else
			take_value(parse, key, name->value);
	}
}

static bool has_version(const struct node *root)
{
	for (const struct node *name = root->first; name; name = name->next) {
		if (name->kind == NODE_SCALAR && strcmp(name->text, "version") == 0)
			return true;
	}
	return false;
}

/* An empty plain scalar is what libyaml makes of a document that holds only `---`. */
static bool is_nothing(const struct node *root)
{
	return !root || (root->kind == NODE_SCALAR && root->is_plain && root->text[0] == '\0');
}

static void take_root(struct parse *parse, const struct node *root)
{
	static const char hint[] = "begin the file with `version: 1`";

	if (is_nothing(root)) {
		if (parse->layer != LAYER_COMMAND_LINE)
			document_complain(&parse->document, 1, 1, hint, "`version` is missing: the file is empty");
		return;
	}
	if (root->kind != NODE_MAP) {
		document_complain(&parse->document, root->line, root->column, hint,
				  "a policy is a mapping of keys, and this is %s", shape(root));
		return;
	}
	if (!has_version(root))
		document_complain(&parse->document, root->line, root->column, hint, "`version` is missing");
	take_map(parse, NULL, root);
}

static int compare_places(const void *left, const void *right)
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
	const struct node *root;
	size_t first = diagnostics->count;

	*policy = (struct policy){ 0 };
	if (!diagnostics->arena)
		diagnostics->arena = arena;
	root = document_read(&parse.document);
	if (root || parse.document.complaints == 0)
		take_root(&parse, root);
	/* The reader's complaints come before those about keys; the file's order is the one to work through. */
	if (diagnostics->count > first)
		qsort(diagnostics->items + first, diagnostics->count - first, sizeof *diagnostics->items, compare_places);
	return parse.document.complaints > 0 ? -1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Merging starts with the directories that have the most entries. */
#include "macos/profile/pin_tree.h"

#include <string.h>

#include "macos/profile/regex.h"

void pin_tree_add(struct arena *arena, struct pin_node *root, const char *path, const struct rule *rule)
{
	struct pin_node *node = root;
	while (*(path += strspn(path, "/"))) {
		size_t length = strcspn(path, "/");
		struct pin_node *child = node->child;
		while (child && (strncmp(child->name, path, length) != 0 || child->name[length] != '\0'))
			child = child->next;
		if (!child) {
			child = arena_alloc(arena, sizeof *child);
			*child = (struct pin_node){ .name = arena_copy_n(arena, path, length), .next = node->child };
			node->child = child;
		}
		node = child;
		path += length;
	}
	node->is_pinned = true;
	node->rule = node->rule ? node->rule : rule;
}

static bool is_same_name(const struct pin_node *left, const struct pin_node *right)
{
	return left->name == right->name || (left->name && right->name && strcmp(left->name, right->name) == 0);
}

static void unite(struct pin_node *kept, const struct pin_node *other);

/* Moves the children of one node to another; children of one name become one. */
static void move_children(struct pin_node *to, struct pin_node *child)
{
	while (child) {
		struct pin_node *next = child->next, *known = to->child;
		while (known && !is_same_name(known, child))
			known = known->next;
		if (known) {
			unite(known, child);
		} else {
			child->next = to->child;
			to->child = child;
		}
		child = next;
	}
}

static void unite(struct pin_node *kept, const struct pin_node *other)
{
	kept->is_pinned |= other->is_pinned;
	kept->rule = kept->rule ? kept->rule : other->rule;
	move_children(kept, other->child);
}

static void merge(struct pin_node *node, size_t most)
{
	size_t count = 0;
	for (const struct pin_node *child = node->child; child; child = child->next)
		count++;
	if (count > most) {
		struct pin_node *any = node->child, *rest = any->next;
		any->name = NULL;
		any->next = NULL;
		for (; rest; rest = rest->next)
			unite(any, rest);
	}
	for (struct pin_node *child = node->child; child; child = child->next)
		merge(child, most);
}

static size_t measure(const struct pin_node *node, size_t above)
{
	size_t length = above + 1 + (node->name ? strlen(node->name) : strlen("[^/]+"));
	size_t total = node->is_pinned ? length : 0;
	for (const struct pin_node *child = node->child; child; child = child->next)
		total += measure(child, length);
	return total;
}

void pin_tree_fit(struct pin_node *root, size_t most)
{
	static const size_t widths[] = { 256, 64, 16, 4, 1 };
	for (size_t i = 0; i < sizeof widths / sizeof widths[0] && measure(root, 0) > most; i++)
		merge(root, widths[i]);
}

struct walk {
	pin_tree_visit *visit;
	void *self;
};

static void add_name(struct text *out, const struct pin_node *node, bool is_any)
{
	text_add(out, "/");
	if (!node->name) {
		text_add(out, "[^/]+");
	} else if (is_any) {
		struct regex_part part = { .start = node->name, .end = node->name + strlen(node->name), .is_plain = true };
		regex_add_part(out, &part, REGEX_WIDE);
	} else {
		text_add(out, "%s", node->name);
	}
}

/* `plain` and `regex` are the same path in both spellings. */
static void visit_below(const struct walk *walk, const struct pin_node *node, const struct text *plain,
			const struct text *regex, bool is_any)
{
	for (const struct pin_node *child = node->child; child; child = child->next) {
		struct text path = { 0 }, expression = { 0 };
		bool has_any = is_any || !child->name;
		text_add(&path, "%s", plain->data ? plain->data : "");
		text_add(&expression, "%s", regex->data ? regex->data : "");
		add_name(&path, child, false);
		add_name(&expression, child, true);
		if (child->is_pinned)
			walk->visit(walk->self, has_any ? expression.data : path.data, has_any, child->rule);
		visit_below(walk, child, &path, &expression, has_any);
		text_free(&path);
		text_free(&expression);
	}
}

void pin_tree_walk(const struct pin_node *root, pin_tree_visit *visit, void *self)
{
	const struct walk walk = { visit, self };
	const struct text empty = { 0 };
	visit_below(&walk, root, &empty, &empty, false);
}

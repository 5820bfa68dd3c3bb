/* SPDX-License-Identifier: Apache-2.0 */
/* Symlinks on the path to a grant. In a directory that commands can write, an earlier run may have
 * planted the link: if it were followed, `write: [build]` would grant any target that the command
 * chose. Such a rule is refused, with the path to write instead; it never grants the target of the
 * link. */
#include "common/plan/build.h"

#include <string.h>

void build_followed(struct builder *builder, const struct rule *rule, const struct path_links *links, const char *canonical)
{
	for (size_t i = 0; i < links->count; i++) {
		struct followed_link *followed = arena_push(builder->plan->arena, &builder->followed);
		*followed = (struct followed_link){ .link = links->items[i].path, .canonical = canonical, .rule = rule };
	}
}

static void refuse(struct builder *builder, const struct followed_link *followed)
{
	if (followed->rule->layer <= LAYER_BASE)
		build_note(builder, NOTE_OTHER, followed->rule, "%s is left out: %s is a symlink that commands can replace",
			   followed->canonical, followed->link);
	else
		build_error(builder, followed->rule,
			    arena_printf(builder->plan->arena, "write the path itself: %s", followed->canonical),
			    "`%s` cannot be granted: %s is a symlink in a directory that commands can write, so they could "
			    "replace it",
			    followed->rule->text, followed->link);
}

bool build_refuses_link(struct builder *builder, const struct rule *rule, const struct path_links *links, const char *canonical)
{
	for (size_t i = 0; i < links->count; i++) {
		struct followed_link followed = { .link = links->items[i].path, .canonical = canonical, .rule = rule };
		if (!plan_is_below_writable(builder->plan, followed.link))
			continue;
		refuse(builder, &followed);
		return true;
	}
	return false;
}

static void drop_grant(struct plan_grants *grants, const struct followed_link *followed)
{
	size_t kept = 0;
	for (size_t i = 0; i < grants->count; i++) {
		const struct plan_grant *grant = &grants->items[i];
		if (grant->rule != followed->rule || strcmp(grant->path, followed->canonical) != 0)
			grants->items[kept++] = *grant;
	}
	grants->count = kept;
}

/* All links are checked before the first grant is dropped, so that the order of the grants does not
 * matter. */
void build_refuse_links(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct rule *refused = NULL;

	for (size_t i = 0; i < builder->followed.count; i++)
		builder->followed.items[i].is_plantable = plan_is_below_writable(plan, builder->followed.items[i].link);
	for (size_t i = 0; i < builder->followed.count; i++) {
		const struct followed_link *followed = &builder->followed.items[i];
		if (!followed->is_plantable || followed->rule == refused)
			continue;
		refuse(builder, followed);
		drop_grant(&plan->grants, followed);
		refused = followed->rule;
	}
}

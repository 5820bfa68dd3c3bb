/* SPDX-License-Identifier: Apache-2.0 */
/* `use: [registry-npm]` and the like: allows the registries that the files of the user and the
 * system name, never those of the project. These files are dependencies of the cached plan. Runs
 * nothing: where no file names a registry, the piece allows no host. */
#include "common/plan/build.h"

#include <string.h>

#include "common/registry/registry.h"

static struct rule *found_rule(const struct builder *builder, const struct rule *use, const char *key, const char *text,
			       const char *source, unsigned line)
{
	struct rule *rule = arena_alloc(builder->plan->arena, sizeof *rule);

	*rule = (struct rule){ .key = key, .text = text, .origin = { .source = source, .line = line }, .layer = use->layer };
	return rule;
}

static void add_rule(struct builder *builder, const struct rule *use, const struct registry *registry)
{
	struct arena *arena = builder->plan->arena;
	struct rule *rule;

	if (registry->local_port) {
		rule = found_rule(builder, use, "network.local", arena_printf(arena, "%u", registry->local_port),
				  registry->source, registry->line);
		*arena_push(arena, &builder->registries.local) = *rule;
	} else if (registry->destination) {
		rule = found_rule(builder, use, "network.allow", registry->destination, registry->source, registry->line);
		*arena_push(arena, &builder->registries.allow) = *rule;
	}
}

/* A setting of the project's own file wins in every client. */
static void add_settings(struct builder *builder, const struct rule *use, enum ecosystem ecosystem,
			 const struct registry_settings *settings)
{
	struct plan *plan = builder->plan;

	if (settings->count == 0 || registries_project_replaces(plan->arena, &plan->context, ecosystem))
		return;
	for (size_t i = 0; i < settings->count; i++) {
		const struct registry_setting *setting = &settings->items[i];
		const struct rule *rule =
			found_rule(builder, use, "environment.set", setting->variable, setting->source, setting->line);
		if (setting->is_withheld)
			build_note(builder, NOTE_OTHER, rule,
				   "the address in %s:%u may have a credential, so commands do not get it as %s",
				   setting->source, setting->line, setting->variable);
		else
			*arena_push(plan->arena, &builder->registries.settings) =
				(struct plan_variable){ setting->variable, setting->value, rule };
	}
}

/* `network: none` of the user, the project or the command line revokes the pieces; that of a base
 * policy is what they add to. */
static bool is_revoked(const struct policy *policy)
{
	const struct setting *mode = &policy->network.mode;
	return mode->is_set && mode->value == NETWORK_NONE && mode->rule.layer > LAYER_BASE;
}

void build_registries(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct rules *use = &plan->policy->use;

	for (size_t i = 0; i < use->count && !is_revoked(plan->policy); i++) {
		const struct rule *rule = &use->items[i];
		struct registries found = { 0 };
		enum ecosystem ecosystem;
		if (!ecosystem_of_registry(rule->text, &ecosystem))
			continue;
		registries_of_user(plan->arena, &plan->context, ecosystem, &found);
		for (size_t j = 0; j < found.count; j++)
			add_rule(builder, rule, &found.items[j]);
		add_settings(builder, rule, ecosystem, &found.settings);
		if (!found.is_replaced[REGISTRY_USER] && !found.is_replaced[REGISTRY_SYSTEM])
			build_note(
				builder, NOTE_OTHER, rule,
				"`use: %s`: no file of the user or the system names the registry of %s, so its default is not "
				"allowed; `berm init` finds it out",
				rule->text, ecosystem_table[ecosystem].tool);
		if (!builder->registries.rule && builder->registries.allow.count + builder->registries.local.count > 0)
			builder->registries.rule = rule;
	}
}

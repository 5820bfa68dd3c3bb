/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the network part of the plan: destinations, ports, and the files that name resolution
 * needs. */
#include "common/plan/build.h"

#include "common/policy/ports.h"

/* Files that the C library reads to resolve names and check certificates; on some systems they are
 * links to files outside /etc. */
static const char *const network_files[] = {
	"/etc/resolv.conf",
	"/etc/hosts",
	"/etc/nsswitch.conf",
	"/etc/host.conf",
	"/etc/services",
	"/etc/protocols",
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/ssl/cert.pem",
};

static void add_destinations(struct builder *builder, const struct rules *rules, struct destinations *destinations)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];
		struct destination destination = { 0 };
		struct error err;
		if (destination_parse(builder->plan->arena, rule->text, &destination, &err) < 0) {
			build_error(builder, rule, NULL, "`%s`: %s", rule->text, err.message);
			continue;
		}
		destination.rule = rule;
		*(struct destination *)arena_push(builder->plan->arena, destinations) = destination;
	}
}

static void add_local(struct builder *builder, const struct rule *rule)
{
	struct port_range range;
	struct error err;

	if (port_range_parse(rule->text, &range, &err) < 0) {
		build_error(builder, rule, NULL, "%s", err.message);
		return;
	}
	*(struct plan_port *)arena_push(builder->plan->arena, &builder->plan->network.local) =
		(struct plan_port){ range.low, range.high, rule };
}

static void add_publish(struct builder *builder, const struct rule *rule)
{
	struct published_port published;
	struct error err;

	if (published_port_parse(rule->text, &published, &err) < 0) {
		build_error(builder, rule, NULL, "%s", err.message);
		return;
	}
	*(struct plan_publish *)arena_push(builder->plan->arena, &builder->plan->network.publish) =
		(struct plan_publish){ published.address, published.host_port, published.port, rule };
}

/* Ports of the command line need no network mode. Returns the first such rule, or NULL. */
static const struct rule *add_asked(struct builder *builder)
{
	const struct rules *rules = &builder->plan->policy->network.publish;
	const struct rule *first = NULL;
	for (size_t i = 0; i < rules->count; i++) {
		if (rules->items[i].layer != LAYER_COMMAND_LINE)
			continue;
		add_publish(builder, &rules->items[i]);
		first = first ? first : &rules->items[i];
	}
	return first;
}

/* Grants read access without a rule in files.*, because `network: all` is useless without these
 * files. */
static void add_network_files(struct builder *builder)
{
	struct plan *plan = builder->plan;
	for (size_t i = 0; i < sizeof network_files / sizeof network_files[0]; i++) {
		struct file_info info;
		struct error ignored;
		const char *path;
		if (path_resolve(plan->context.fs, plan->arena, network_files[i], &path, NULL, &info, &ignored) < 0)
			continue;
		if (info.type == FILE_REGULAR && !plan_grant_for(plan, path))
			build_grant(builder, path, FILE_REGULAR, GRANT_READ, &rule_network_files);
	}
}

void build_network(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct policy *policy = plan->policy;
	const struct setting *mode = &policy->network.mode;

	plan->network.mode = mode->is_set ? (enum network_mode)mode->value : NETWORK_NONE;
	plan->network.rule = mode->is_set ? &mode->rule : &rule_no_network;
	build_registries(builder);
	if (builder->registries.rule && plan->network.mode == NETWORK_NONE) {
		plan->network.mode = NETWORK_ALLOW;
		plan->network.rule = builder->registries.rule;
	}
	add_destinations(builder, &policy->network.deny, &plan->network.deny);
	/* `network: none` of a later layer revokes the grants of earlier ones. A published port is
	 * no destination. */
	if (plan->network.mode == NETWORK_NONE) {
		const struct rule *asked = add_asked(builder);
		plan->network.mode = asked ? NETWORK_ALLOW : NETWORK_NONE;
		plan->network.rule = asked ? asked : plan->network.rule;
		return;
	}
	for (size_t i = 0; i < policy->network.publish.count; i++)
		add_publish(builder, &policy->network.publish.items[i]);
	for (size_t i = 0; i < policy->network.local.count; i++)
		add_local(builder, &policy->network.local.items[i]);
	for (size_t i = 0; i < builder->registries.local.count; i++)
		add_local(builder, &builder->registries.local.items[i]);
	if (plan->network.mode == NETWORK_ALLOW) {
		add_destinations(builder, &policy->network.allow, &plan->network.allow);
		add_destinations(builder, &builder->registries.allow, &plan->network.allow);
	}
	if (plan->network.mode == NETWORK_ALL)
		add_network_files(builder);
}

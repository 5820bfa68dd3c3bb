/* SPDX-License-Identifier: Apache-2.0 */
/* The network's part of the plan: destinations, ports, and the files that name resolution needs. */
#include "common/plan/build.h"

#include <string.h>

#include "common/base/text.h"

/* What the C library reads to resolve names and to check certificates; on some systems these lead out of /etc. */
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

static bool parse_port(const char *text, uint16_t *port)
{
	uint64_t value;
	if (!text_parse_u64(text, UINT16_MAX, &value) || value == 0)
		return false;
	*port = (uint16_t)value;
	return true;
}

static void add_local(struct builder *builder, const struct rule *rule)
{
	struct arena *arena = builder->plan->arena;
	struct plan_port port = { .rule = rule };
	size_t dash = strcspn(rule->text, "-");
	const char *low = arena_copy_n(arena, rule->text, dash);
	const char *high = rule->text[dash] ? rule->text + dash + 1 : low;

	if (!parse_port(low, &port.low) || !parse_port(high, &port.high) || port.low > port.high) {
		build_error(builder, rule, NULL, "`%s` is not a port or a range of ports", rule->text);
		return;
	}
	*(struct plan_port *)arena_push(arena, &builder->plan->network.local) = port;
}

/* PORT, HOSTPORT:PORT or ADDRESS:HOSTPORT:PORT, read from the end because an address may hold colons. */
static bool parse_publish(struct arena *arena, const char *text, struct plan_publish *publish)
{
	char *copy = arena_copy(arena, text);
	char *last = strrchr(copy, ':'), *middle;

	publish->address = (struct address){ .bytes = { 127, 0, 0, 1 } };
	if (!last) {
		if (!parse_port(copy, &publish->port))
			return false;
		publish->host_port = publish->port;
		return true;
	}
	*last = '\0';
	middle = strrchr(copy, ':');
	if (middle)
		*middle = '\0';
	return parse_port(last + 1, &publish->port) && parse_port(middle ? middle + 1 : copy, &publish->host_port) &&
	       (!middle || address_parse(copy, &publish->address));
}

static void add_publish(struct builder *builder, const struct rule *rule)
{
	struct plan_publish publish = { .rule = rule };
	if (!parse_publish(builder->plan->arena, rule->text, &publish)) {
		build_error(builder, rule, NULL, "`%s` is not PORT, HOSTPORT:PORT or ADDRESS:HOSTPORT:PORT", rule->text);
		return;
	}
	*(struct plan_publish *)arena_push(builder->plan->arena, &builder->plan->network.publish) = publish;
}

/* Readable although no rule of files.* says so, because the user's `network: all` is useless without them. */
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
	add_destinations(builder, &policy->network.deny, &plan->network.deny);
	/* `network: none` of a later layer takes back what earlier ones allowed. */
	if (plan->network.mode == NETWORK_NONE)
		return;
	for (size_t i = 0; i < policy->network.publish.count; i++)
		add_publish(builder, &policy->network.publish.items[i]);
	for (size_t i = 0; i < policy->network.local.count; i++)
		add_local(builder, &policy->network.local.items[i]);
	if (plan->network.mode == NETWORK_ALLOW)
		add_destinations(builder, &policy->network.allow, &plan->network.allow);
	if (plan->network.mode == NETWORK_ALL)
		add_network_files(builder);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The decision about a connection. Deny rules are checked first, by name and by address. A name
 * needs an allow rule that matches it, and each of its addresses must be public or named by an
 * address rule. Refuses whatever it cannot parse. Has no state. */
#include "common/net/destination.h"

#include <string.h>

#include "common/net/address.h"

/* Names with a fixed address, which need no resolver. */
static const struct {
	const char *name;
	bool has_subdomains;
	struct address address;
} fixed_names[] = {
	{ "localhost", true, { .bytes = { 127, 0, 0, 1 } } }, /* RFC 6761 */
	{ "localhost.localdomain", false, { .bytes = { 127, 0, 0, 1 } } },
	{ "ip6-localhost", false, { .is_v6 = true, .bytes = { [15] = 1 } } },
	{ "ip6-loopback", false, { .is_v6 = true, .bytes = { [15] = 1 } } },
	{ "metadata.google.internal", false, { .bytes = { 169, 254, 169, 254 } } },
	{ "metadata.goog", false, { .bytes = { 169, 254, 169, 254 } } },
	{ "instance-data.ec2.internal", false, { .bytes = { 169, 254, 169, 254 } } },
	{ "metadata.azure.internal", false, { .bytes = { 169, 254, 169, 254 } } },
	{ "metadata.tencentyun.com", false, { .bytes = { 169, 254, 0, 23 } } },
};

/* One decision. The host is in canonical form, a name or an address. */
struct question {
	const struct destination_policy *policy;
	const char *name; /* NULL: the host is an address */
	struct address address;
	uint16_t port;
};

struct answer {
	bool is_allowed;
	const struct rule *rule;
	const char *reason;
};

static struct answer refuse(const struct rule *rule, const char *reason)
{
	return (struct answer){ .rule = rule, .reason = reason };
}

static struct answer allow(const struct rule *rule, const char *reason)
{
	return (struct answer){ .is_allowed = true, .rule = rule, .reason = reason };
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), suffix_length = strlen(suffix);

	return length > suffix_length + 1 && name[length - suffix_length - 1] == '.' &&
	       strcmp(name + length - suffix_length, suffix) == 0;
}

static bool covers_port(const struct destination *destination, uint16_t port)
{
	return port >= destination->port_low && port <= destination->port_high;
}

static bool covers_name(const struct destination *destination, const char *name)
{
	switch (destination->kind) {
	case DESTINATION_NAME:
		return strcmp(name, destination->host) == 0;
	case DESTINATION_WILDCARD:
		return has_suffix(name, destination->host);
	case DESTINATION_ANY:
		return true;
	case DESTINATION_NETWORK:
		return false;
	}
	return false;
}

static bool covers_address(const struct destination *destination, const struct address *address)
{
	return destination->kind == DESTINATION_NETWORK && address_shares(&destination->network, address, destination->prefix);
}

/* A deny rule for 10.0.0.0/8 also matches these addresses embedded in IPv6. */
static bool denies_address(const struct destination *destination, const struct address *address)
{
	struct address v4;
	unsigned offset;

	if (destination->kind == DESTINATION_ANY || covers_address(destination, address))
		return true;
	return address_embedded(address, &v4, &offset) && covers_address(destination, &v4);
}

static const struct destination *denied_name(const struct question *question)
{
	for (size_t i = 0; i < question->policy->deny->count; i++) {
		const struct destination *item = &question->policy->deny->items[i];
		if (covers_port(item, question->port) && covers_name(item, question->name))
			return item;
	}
	return NULL;
}

static const struct destination *denied_address(const struct question *question, const struct address *address)
{
	for (size_t i = 0; i < question->policy->deny->count; i++) {
		const struct destination *item = &question->policy->deny->items[i];
		if (covers_port(item, question->port) && denies_address(item, address))
			return item;
	}
	return NULL;
}

static const struct destination *allowed_name(const struct question *question)
{
	for (size_t i = 0; i < question->policy->allow->count; i++) {
		const struct destination *item = &question->policy->allow->items[i];
		if (covers_port(item, question->port) && covers_name(item, question->name))
			return item;
	}
	return NULL;
}

/* Returns the rule that names an address: a network of at least `bits` bits around it. With the
 * bits of a special range the network is inside the range, so that 0.0.0.0/0 names no private
 * address and 169.254.0.0/16 no metadata service. */
static const struct destination *naming_rule(const struct question *question, const struct address *address, unsigned bits)
{
	for (size_t i = 0; i < question->policy->allow->count; i++) {
		const struct destination *item = &question->policy->allow->items[i];
		if (covers_port(item, question->port) && item->prefix >= bits && covers_address(item, address))
			return item;
	}
	return NULL;
}

static const struct destination *any_rule(const struct question *question)
{
	for (size_t i = 0; i < question->policy->allow->count; i++) {
		const struct destination *item = &question->policy->allow->items[i];
		if (item->kind == DESTINATION_ANY && covers_port(item, question->port))
			return item;
	}
	return NULL;
}

static bool is_own(const struct question *question, const struct address *address)
{
	for (size_t i = 0; i < question->policy->own_count; i++) {
		struct address own = address_unmapped(&question->policy->own[i]);
		if (address_shares(&own, address, address_width(address)))
			return true;
	}
	return false;
}

/* True if this address is refused unless a rule names it. */
static bool is_withheld(const struct question *question, const struct address *address, struct address_range *range)
{
	if (address_range(address, range))
		return !question->policy->is_all || range->is_metadata;
	if (question->policy->is_all || !is_own(question, address))
		return false;
	*range = (struct address_range){
		.named_reason = "this is an address of this machine, and no rule names it",
		.resolved_reason = "it resolves to an address of this machine, which no rule names",
		.bits = address_width(address),
	};
	return true;
}

/* Decides about an address that the command gave. */
static struct answer judge_address(const struct question *question)
{
	const struct destination *item = denied_address(question, &question->address);
	struct address_range range;

	if (item)
		return refuse(item->rule, "denied by a rule");
	if (is_withheld(question, &question->address, &range)) {
		item = naming_rule(question, &question->address, range.bits);
		return item ? allow(item->rule, "allowed by a rule that names the address") : refuse(NULL, range.named_reason);
	}
	item = naming_rule(question, &question->address, 0);
	if (!item)
		item = any_rule(question);
	if (item)
		return allow(item->rule, "allowed by a rule");
	return question->policy->is_all ? allow(NULL, "the policy allows all of the network")
					: refuse(NULL, "no rule allows this address");
}

/* Decides about an address of an allowed name. `by` is the answer for the name. */
static struct answer judge_resolved(const struct question *question, const struct address *resolved, struct answer by)
{
	struct address address = address_unmapped(resolved);
	const struct destination *item = denied_address(question, &address);
	struct address_range range;

	if (item)
		return refuse(item->rule, "it resolves to an address that a rule denies");
	if (is_withheld(question, &address, &range) && !naming_rule(question, &address, range.bits))
		return refuse(by.rule, range.resolved_reason);
	return by;
}

static struct answer judge_name_alone(const struct question *question)
{
	const struct destination *item = denied_name(question);

	if (item)
		return refuse(item->rule, "denied by a rule");
	item = allowed_name(question);
	if (item)
		return allow(item->rule, "allowed by a rule");
	return question->policy->is_all ? allow(NULL, "the policy allows all of the network")
					: refuse(NULL, "no rule allows this name");
}

static struct answer judge_name(const struct question *question, const struct address *resolved, size_t resolved_count)
{
	struct answer answer = judge_name_alone(question);

	for (size_t i = 0; answer.is_allowed && i < sizeof fixed_names / sizeof *fixed_names; i++) {
		if (strcmp(question->name, fixed_names[i].name) == 0 ||
		    (fixed_names[i].has_subdomains && has_suffix(question->name, fixed_names[i].name)))
			answer = judge_resolved(question, &fixed_names[i].address, answer);
	}
	for (size_t i = 0; answer.is_allowed && i < resolved_count; i++)
		answer = judge_resolved(question, &resolved[i], answer);
	return answer;
}

/* Decides about an address as host. The addresses in `resolved` are checked too. */
static struct answer judge_literal(struct question *question, const struct address *resolved, size_t resolved_count)
{
	struct answer answer;

	question->address = address_unmapped(&question->address);
	answer = judge_address(question);
	for (size_t i = 0; answer.is_allowed && i < resolved_count; i++) {
		question->address = address_unmapped(&resolved[i]);
		answer = judge_address(question);
	}
	return answer;
}

static struct answer judge(struct question *question, const char *host, const struct address *resolved, size_t resolved_count)
{
	struct arena arena = { 0 };
	struct error err = { 0 };
	struct answer answer;

	if (question->port == 0)
		return refuse(NULL, "port 0 cannot be connected");
	if (address_parse_any(host, &question->address))
		return judge_literal(question, resolved, resolved_count);
	if (host_canonical(&arena, host, strlen(host), &question->name, &err) < 0)
		answer = refuse(NULL, "this is neither a host name nor an address");
	else
		answer = judge_name(question, resolved, resolved_count);
	arena_free(&arena);
	return answer;
}

bool destination_judge(const struct destination_policy *policy, const char *host, uint16_t port, const struct address *resolved,
		       size_t resolved_count, const struct rule **rule, const char **reason)
{
	struct question question = { .policy = policy, .port = port };
	struct answer answer = judge(&question, host, resolved, resolved_count);

	if (rule)
		*rule = answer.rule;
	if (reason)
		*reason = answer.reason;
	return answer.is_allowed;
}

bool destination_allowed(const struct destinations *allow_list, const struct destinations *deny_list, bool is_all,
			 const char *host, uint16_t port, const struct address *resolved, size_t resolved_count,
			 const struct rule **rule, const char **reason)
{
	struct destination_policy policy = { .allow = allow_list, .deny = deny_list, .is_all = is_all };

	return destination_judge(&policy, host, port, resolved, resolved_count, rule, reason);
}

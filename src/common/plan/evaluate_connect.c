/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict about a connection: local ports and the mode of the network here, destinations by
 * destination_allowed. Never connects and never resolves a name. */
#include "common/plan/build.h"

#include <string.h>

static bool is_loopback(const char *host)
{
	struct address address;
	const char *special;
	if (strcmp(host, "localhost") == 0 || strcmp(host, "localhost.") == 0)
		return true;
	if (!address_parse_any(host, &address))
		return false;
	special = address_special(&address);
	return special && strcmp(special, "loopback") == 0;
}

static const struct rule *local_rule(const struct plan *plan, const char *host, uint16_t port)
{
	if (!is_loopback(host))
		return NULL;
	for (size_t i = 0; i < plan->network.local.count; i++)
		if (port >= plan->network.local.items[i].low && port <= plan->network.local.items[i].high)
			return plan->network.local.items[i].rule;
	return NULL;
}

bool plan_has_open_network(const struct plan *plan)
{
	return plan->network.mode == NETWORK_ALL && plan->network.deny.count == 0;
}

/* True if host and port are a valid destination on an open network. */
static bool is_open_to(const struct plan *plan, const char *host, uint16_t port)
{
	struct address address;
	struct error ignored;
	const char *name;
	if (!plan_has_open_network(plan) || port == 0)
		return false;
	return address_parse_any(host, &address) || host_canonical(plan->arena, host, strlen(host), &name, &ignored) == 0;
}

struct verdict plan_check_connect(const struct plan *plan, const char *host, uint16_t port)
{
	static const struct destinations nothing;
	struct verdict verdict = { 0 };
	const struct rule *local = local_rule(plan, host, port);

	if (plan->network.mode == NETWORK_NONE && !local)
		return verdict_deny(plan->network.rule, "there is no network");
	/* Deny wins over a local port too: checked as if every other destination were allowed. */
	if (local &&
	    !destination_allowed(&nothing, &plan->network.deny, true, host, port, NULL, 0, &verdict.rule, &verdict.reason) &&
	    verdict.rule)
		return verdict;
	if (local)
		return verdict_allow(local, "a local port that a rule names");
	if (is_open_to(plan, host, port))
		return verdict_allow(plan->network.rule, "the policy allows all of the network");
	verdict.is_allowed = destination_allowed(&plan->network.allow, &plan->network.deny, plan->network.mode == NETWORK_ALL,
						 host, port, NULL, 0, &verdict.rule, &verdict.reason);
	if (verdict.is_allowed && !verdict.rule)
		verdict.rule = plan->network.rule;
	return verdict;
}

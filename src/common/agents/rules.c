/* SPDX-License-Identifier: Apache-2.0 */
/* The part of an agent's policy that depends on the machine: where its program is, and the host
 * that the user's environment names as its API. The rules have the authority of a built-in piece:
 * denials of the user's policy stay in force. */
#include "common/agents/agents.h"

#include <string.h>

#include "common/net/address.h"

static void add(struct arena *arena, struct rules *rules, const char *key, const char *text, const char *source)
{
	*arena_push(arena, rules) =
		(struct rule){ .key = key, .text = text, .origin = { .source = source }, .layer = LAYER_BASE };
}

/* A package needs the others beside it: all of the outermost node_modules is software. A single
 * binary needs only itself. */
static const char *tree_of(struct arena *arena, const char *path)
{
	static const char part[] = "/node_modules/";
	const char *at = strstr(path, part);
	return at ? arena_copy_n(arena, path, (size_t)(at - path) + strlen(part) - 1) : path;
}

/* The authority of a URL: host and port. */
struct endpoint {
	const char *host; /* with brackets if it is an IPv6 address */
	const char *port;
};

static int parse_url(struct arena *arena, const char *name, const char *url, struct endpoint *endpoint, struct error *err)
{
	static const char http[] = "http://", https[] = "https://";
	bool is_plain = text_starts_with(url, http);
	const char *at = url + (is_plain ? strlen(http) : strlen(https)), *colon;
	size_t length;
	char *authority;

	if (!is_plain && !text_starts_with(url, https))
		return error_set(err, "%s is not a URL with http or https", name);
	length = strcspn(at, "/?#");
	authority = arena_copy_n(arena, at, length);
	if (length == 0 || authority[strcspn(authority, "@ ,\\\t")])
		return error_set(err, "%s does not name a host and a port alone", name);
	colon = authority[0] == '[' ? strchr(authority, ']') : authority;
	colon = colon ? strchr(colon, ':') : NULL;
	endpoint->port = colon ? colon + 1 : is_plain ? "80" : "443";
	endpoint->host = colon ? arena_copy_n(arena, authority, (size_t)(colon - authority)) : authority;
	return 0;
}

static bool is_loopback(const struct endpoint *endpoint)
{
	struct address address;
	const char *kind;
	if (strcmp(endpoint->host, "localhost") == 0)
		return true;
	if (!address_parse_any(endpoint->host, &address))
		return false;
	kind = address_special(&address);
	return kind && strcmp(kind, "loopback") == 0;
}

static int add_endpoint(struct arena *arena, const char *name, const char *url, struct policy *policy, struct error *err)
{
	const char *source = arena_printf(arena, "variable %s", name);
	struct endpoint endpoint = { .host = "", .port = "" };
	if (parse_url(arena, name, url, &endpoint, err) < 0)
		return -1;
	/* Qwen Code uses the proxy for loopback too, so that both need a rule. */
	if (is_loopback(&endpoint))
		add(arena, &policy->network.local, "network.local", endpoint.port, source);
	add(arena, &policy->network.allow, "network.allow", arena_printf(arena, "%s:%s", endpoint.host, endpoint.port), source);
	return 0;
}

/* The copies and the private directories are those of the default place. */
static int refuse_moved(struct arena *arena, const struct agent *agent, const struct context *context, const char *value,
			struct error *err)
{
	const char *usual = path_join(arena, context->home, agent->directories[0]), *moved, *real;
	if (value[0] == '/' &&
	    path_resolve(context->fs, arena, path_absolute(arena, "/", value), &moved, NULL, NULL, err) == 0 &&
	    path_resolve(context->fs, arena, usual, &real, NULL, NULL, err) == 0 && strcmp(moved, real) == 0)
		return 0;
	error_set(err, "%s names another directory than ~/%s, which `berm agent` does not support", agent->directory_variable,
		  agent->directories[0]);
	return error_hint(err, "unset %s", agent->directory_variable);
}

int agent_rules(struct arena *arena, const struct agent *agent, const struct context *context,
		const struct agent_program *program, struct policy *policy, struct error *err)
{
	const char *value = context_variable(context, agent->directory_variable);
	if (value && value[0] && refuse_moved(arena, agent, context, value, err) < 0)
		return -1;
	add(arena, &policy->files.system, "files.system", tree_of(arena, program->path), "the agent's program");
	if (program->interpreter)
		add(arena, &policy->files.system, "files.system", program->interpreter, "the agent's interpreter");
	for (size_t i = 0; agent->url_variables[i]; i++) {
		value = context_variable(context, agent->url_variables[i]);
		if (value && value[0] && add_endpoint(arena, agent->url_variables[i], value, policy, err) < 0)
			return -1;
	}
	return 0;
}

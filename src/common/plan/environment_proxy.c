/* SPDX-License-Identifier: Apache-2.0 */
/* How programs inside learn of the proxy: variables, in the spellings that programs know. Port and secret are known only when a run
 * starts; until then their places are marked. */
#include "common/plan/build.h"

#include <string.h>

#include "common/base/text.h"

#define PORT "{proxy-port}"
#define OPEN_PORT "{proxy-open-port}"
#define SECRET "{proxy-secret}"
#define LOGIN "berm:" SECRET "@127.0.0.1:" PORT
#define URL "http://" LOGIN
#define DIRECT "localhost,127.0.0.1,::1" /* the sandbox's own loopback */

/* A port that few programs want inside; the next one if the policy wants this one for something else. */
enum { PROXY_PORT = 23128 };

static const struct {
	const char *name, *value;
} variables[] = {
	{ "http_proxy", URL },
	{ "https_proxy", URL },
	{ "all_proxy", URL }, /* not socks5h: several Python clients fail on that scheme without a further package */
	{ "no_proxy", DIRECT },
	{ "HTTP_PROXY", URL },
	{ "HTTPS_PROXY", URL },
	{ "ALL_PROXY", URL },
	{ "NO_PROXY", DIRECT },
	{ "npm_config_proxy", URL },
	{ "npm_config_https_proxy", URL },
	{ "npm_config_noproxy", DIRECT },
	{ "PIP_PROXY", URL },
	{ "RSYNC_PROXY", LOGIN },
	{ "NODE_USE_ENV_PROXY", "1" }, /* node 24 and newer: fetch and http take the variables */
	{ "BERM_SOCKS_PROXY", "socks5h://" LOGIN }, /* for programs that are to be told by hand */
};

/* Java knows proxies, but no way to give it a password without code of its own. Where the loopback is the sandbox's alone, the next port
 * asks for none. Not by JAVA_TOOL_OPTIONS: with that every program prints a line. */
#define JAVA                                                                                                                   \
	"-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=" OPEN_PORT " -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=" OPEN_PORT   \
	" -Dhttp.nonProxyHosts=localhost|127.*|[::1]"
static const char *const java_variables[] = { "BERM_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS" };

static bool is_local(const struct plan *plan, unsigned port)
{
	for (size_t i = 0; i < plan->network.local.count; i++)
		if (port >= plan->network.local.items[i].low && port <= plan->network.local.items[i].high)
			return true;
	return false;
}

uint16_t plan_proxy_port(const struct plan *plan)
{
	for (unsigned port = PROXY_PORT; port < UINT16_MAX; port++)
		if (!is_local(plan, port) && !is_local(plan, port + 1))
			return (uint16_t)port;
	return PROXY_PORT;
}

static bool has_proxy(const struct plan *plan)
{
	return plan->network.mode == NETWORK_ALLOW && plan->network.allow.count > 0;
}

bool environment_is_for_java(const struct plan_variable *variable)
{
	for (size_t i = 0; i < sizeof java_variables / sizeof java_variables[0]; i++)
		if (!variable->rule && strcmp(variable->name, java_variables[i]) == 0)
			return true;
	return false;
}

/* Those that the caller passes hold more than a proxy. */
void environment_add_java(struct plan *plan)
{
	if (!has_proxy(plan))
		return;
	for (size_t i = 0; plan->context.os == OS_LINUX && i < sizeof java_variables / sizeof java_variables[0]; i++)
		if (!environment_has(plan, java_variables[i]))
			environment_put(plan, java_variables[i], JAVA);
}

void environment_add_proxy(struct plan *plan)
{
	if (!has_proxy(plan))
		return;
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
		environment_put(plan, variables[i].name, variables[i].value);
	environment_add_java(plan);
}

const char *environment_fill_proxy(struct arena *arena, const char *value, uint16_t port, const char *secret)
{
	struct text out = { 0 };
	const char *result;

	if (!strstr(value, PORT) && !strstr(value, OPEN_PORT) && !strstr(value, SECRET))
		return value;
	while (*value) {
		if (text_starts_with(value, PORT)) {
			text_add(&out, "%u", port);
			value += strlen(PORT);
		} else if (text_starts_with(value, OPEN_PORT)) {
			text_add(&out, "%u", port + 1u);
			value += strlen(OPEN_PORT);
		} else if (text_starts_with(value, SECRET)) {
			text_add(&out, "%s", secret);
			value += strlen(SECRET);
		} else {
			text_add_n(&out, value++, 1);
		}
	}
	result = arena_copy(arena, out.data);
	text_free(&out);
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that lead programs inside to the proxy, in the spellings that programs read. Port and
 * secret are known only when a run starts; until then the values have placeholders. */
#include "common/plan/build.h"

#include <string.h>

#include "common/base/text.h"

#define PORT "{proxy-port}"
#define OPEN_PORT "{proxy-open-port}"
#define SECRET "{proxy-secret}"
#define LOGIN "berm:" SECRET "@127.0.0.1:" PORT
#define URL "http://" LOGIN
#define DIRECT "localhost,127.0.0.1,::1" /* the sandbox's own loopback */

/* A port that few programs use. plan_proxy_port skips ports that the policy uses. */
enum { PROXY_PORT = 23128 };

static const struct {
	const char *name, *value;
} variables[] = {
	{ "http_proxy", URL },
	{ "https_proxy", URL },
	{ "all_proxy", URL }, /* not socks5h: Python clients need a further package for it */
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
	{ "BERM_SOCKS_PROXY", "socks5h://" LOGIN }, /* for programs that are configured by hand */
};

/* Java takes a proxy's password only from code. Where the loopback is private to the sandbox, the
 * port after the proxy's needs no password. JAVA_TOOL_OPTIONS is not used: with it every program
 * prints a line. */
#define JAVA                                                                                                                   \
	"-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=" OPEN_PORT " -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=" OPEN_PORT   \
	" -Dhttp.nonProxyHosts=localhost|127.*|[::1]"
static const char *const java_variables[] = { "BERM_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS" };

/* For the loopback of macOS, which every program shares: with the password. Only some programs take
 * it from these options: Gradle and Maven do. */
#define JAVA_LOGIN(scheme)                                                                                                     \
	"-D" scheme ".proxyHost=127.0.0.1 -D" scheme ".proxyPort=" PORT " -D" scheme ".proxyUser=berm -D" scheme               \
	".proxyPassword=" SECRET
static const char java_proxy[] = JAVA_LOGIN("http") " " JAVA_LOGIN("https") " -Djdk.http.auth.tunneling.disabledSchemes="
									    " -Dhttp.nonProxyHosts=localhost|127.*|[::1]";
/* gRPC connects to ::ffff:127.0.0.1 otherwise, which a profile cannot allow. */
static const char grpc_proxy[] = "http://berm:" SECRET "@[::1]:" PORT;

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

/* A variable that the caller passes has other options and is left alone. */
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
	if (plan->context.os == OS_MACOS)
		environment_put(plan, "grpc_proxy", grpc_proxy);
	environment_add_java(plan);
}

const char *environment_java_proxy(const struct plan *plan)
{
	return has_proxy(plan) ? java_proxy : NULL;
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

const char *environment_open_proxy(struct arena *arena, const char *value, uint16_t port)
{
	const char *at = strstr(value, LOGIN);
	if (!at)
		return strstr(value, SECRET) ? "" : NULL;
	if (text_starts_with(value, "socks"))
		return "";
	return arena_printf(arena, "%.*s127.0.0.1:%u%s", (int)(at - value), value, port + 1u, at + strlen(LOGIN));
}

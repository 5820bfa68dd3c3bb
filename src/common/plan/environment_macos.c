/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of berm's own on macOS. Many programs there ignore HOME and TMPDIR: each of these leads
 * one of them to the private directories. Later parts and the policy override them. */
#include "common/plan/build.h"

/* The tools in /usr/bin look up the real ones in a cache and do not work without one that they can
 * write. The host never reads this copy. */
static const struct {
	const char *name, *path;
	bool is_home; /* below the home; else below TMPDIR */
} paths[] = {
	{ "CFFIXED_USER_HOME", "", true }, /* CoreFoundation */
	{ "CLANG_MODULE_CACHE_PATH", ".cache/clang/ModuleCache", true },
	{ "SWIFTPM_MODULECACHE_OVERRIDE", ".cache/clang/ModuleCache", true },
	{ "TMPPREFIX", "zsh", false }, /* here-documents of zsh */
	{ "TMUX_TMPDIR", "", false },
	{ "xcrun_db", "xcrun_db", false },
};

/* Java connects to ::ffff:127.0.0.1 otherwise, which a profile cannot allow. It finds its temporary
 * directory without TMPDIR. */
#define JAVA "-Djava.net.preferIPv4Stack=true -Djava.io.tmpdir="
static const char *const java_variables[] = { "BERM_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS" };

void environment_add_macos(struct plan *plan)
{
	const char *home = plan->home == HOME_HOST ? plan->context.home : plan->state.home;
	const char *proxy = environment_java_proxy(plan);
	if (plan->context.os != OS_MACOS)
		return;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		const char *directory = paths[i].is_home ? home : plan->state.tmp;
		/* The module caches of the host are loaded by the host. */
		if (plan->home == HOME_HOST && paths[i].is_home && paths[i].path[0])
			directory = plan->state.tmp;
		environment_put(plan, paths[i].name,
				paths[i].path[0] ? path_join(plan->arena, directory, paths[i].path) : directory);
	}
	for (size_t i = 0; i < sizeof java_variables / sizeof java_variables[0]; i++)
		if (!environment_has(plan, java_variables[i]))
			environment_put(plan, java_variables[i],
					arena_printf(plan->arena, JAVA "%s%s%s", plan->state.tmp, proxy ? " " : "",
						     proxy ? proxy : ""));
}

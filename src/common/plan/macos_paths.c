/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that every program on macOS reads when it starts, although no rule names them: the
 * directories that every path starts with, without their contents, and the system's choice of tools
 * and time zone. One table for the verdicts and the profile. Holds no file of a user. */
#include "common/plan/build.h"

#include <string.h>

static const struct platform_path platform_paths[] = {
	{ "/", false },
	{ "/dev", false },
	{ "/dev/autofs_nowait", false },
	{ "/private", false },
	{ "/private/var", false },
	{ "/private/var/db/dyld", true },
	{ "/private/var/db/timezone", true },
	{ "/private/var/db/xcode_select_link", false },
	{ "/private/var/select", true },
};

const char plan_data_volume[] = "/System/Volumes/Data";

/* Homebrew keeps the user's databases and the settings of the user's services beside its programs.
 * Programs need certificates, and settings that hold no password, to start. */
static const char *const denied_paths[] = {
	"/opt/homebrew/var",
	"/opt/homebrew/etc/*",
	"/usr/local/var",
	"/usr/local/etc/*",
};
static const char *const excepted_names[] = {
	"bash_completion.d", "ca-certificates", "fonts", "gitconfig", "gnutls", "libressl", "openssl*", "php", "profile.d",
};
static const char *const excepted_directories[] = { "/opt/homebrew/etc", "/usr/local/etc" };

static const struct rule *own_rule(struct builder *builder, const char *key, const char *text)
{
	struct rule *rule = arena_alloc(builder->plan->arena, sizeof *rule);
	*rule = (struct rule){ .key = key, .text = text, .origin = { .source = "built-in macOS" }, .layer = LAYER_BASE };
	return rule;
}

void build_macos_patterns(struct builder *builder)
{
	struct plan *plan = builder->plan;
	if (plan->context.os != OS_MACOS)
		return;
	for (size_t i = 0; i < sizeof denied_paths / sizeof denied_paths[0]; i++)
		build_pattern(builder, &plan->deny, denied_paths[i], own_rule(builder, "files.deny", denied_paths[i]));
	for (size_t i = 0; i < sizeof excepted_directories / sizeof excepted_directories[0]; i++) {
		for (size_t k = 0; k < sizeof excepted_names / sizeof excepted_names[0]; k++) {
			const char *text = path_join(plan->arena, excepted_directories[i], excepted_names[k]);
			build_pattern(builder, &plan->except, text, own_rule(builder, "files.except", text));
		}
	}
}

const struct platform_path *plan_platform_at(size_t index)
{
	return index < sizeof platform_paths / sizeof platform_paths[0] ? &platform_paths[index] : NULL;
}

bool plan_is_platform(const struct plan *plan, const char *path)
{
	if (plan->context.os != OS_MACOS)
		return false;
	for (size_t i = 0; i < sizeof platform_paths / sizeof platform_paths[0]; i++) {
		const struct platform_path *platform = &platform_paths[i];
		bool is_within = platform->path[1] != '\0' && plan_is_within(plan, path, platform->path);
		if (is_within && (platform->is_tree || strlen(path) == strlen(platform->path)))
			return true;
		if (strcmp(path, platform->path) == 0)
			return true;
	}
	return false;
}

/* The data volume repeats the machine's files, so a grant above it does not reach into it. */
bool plan_is_on_data_volume(const struct plan *plan, const char *path)
{
	return plan->context.os == OS_MACOS && plan_is_within(plan, path, plan_data_volume);
}

bool plan_is_own_place(const struct plan *plan, const char *path)
{
	if (plan->context.os != OS_MACOS || !plan->state.home)
		return false;
	return plan_is_within(plan, path, plan->state.home) || plan_is_within(plan, path, plan->state.tmp);
}

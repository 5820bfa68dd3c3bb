/* SPDX-License-Identifier: Apache-2.0 */
/* One table: names of programs, and a sentence for each. */
#include "macos/profile/advice.h"

#include <string.h>

#include "common/base/text.h"

enum condition {
	ALWAYS,
	WITH_ARGUMENT, /* only with one of these first arguments */
	WITHOUT_TRUST, /* only with a list of destinations and without macos.trustd */
};

static const struct row {
	const char *programs; /* each between blanks */
	enum condition condition;
	const char *arguments;
	const char *sentence;
} rows[] = {
	{ " at atq batch crontab login newgrp ps quota su sudo top traceroute ", ALWAYS, NULL,
	  "is a setuid program, and macOS starts none in a sandbox" },
	{ " sandbox-exec ", ALWAYS, NULL, "cannot apply a second sandbox inside this one" },
	{ " swift ", WITH_ARGUMENT, " build package run test ",
	  "starts a sandbox of its own, which fails inside this one: add --disable-sandbox" },
	{ " bazel bazelisk ", ALWAYS, NULL,
	  "starts sandboxes of its own, which fail inside this one: add --spawn_strategy=local" },
	{ " nix nix-build nix-shell ", ALWAYS, NULL,
	  "builds in a sandbox of its own, which fails inside this one: set sandbox = false" },
	{ " brew ", WITH_ARGUMENT, " install postinstall reinstall test upgrade ",
	  "builds in a sandbox of its own and writes outside of the project: run it outside" },
	{ " xcodebuild ", ALWAYS, NULL, "runs script phases in a sandbox of its own: set ENABLE_USER_SCRIPT_SANDBOXING=NO" },
	{ " chromium electron google-chrome playwright ", ALWAYS, NULL,
	  "registers Mach services, which the profile denies: browsers do not start" },
	{ " postgres initdb pg_ctl ", ALWAYS, NULL, "needs System V shared memory, which the profile denies" },
	{ " gh go helm kubectl swift terraform tofu ", WITHOUT_TRUST, NULL,
	  "checks certificates through trustd, which this policy denies (x509: OSStatus -26276): write `macos: {trustd: "
	  "true}`" },
};

static bool is_listed(const char *list, struct arena *arena, const char *word)
{
	return word && word[0] && !strchr(word, ' ') && strstr(list, arena_printf(arena, " %s ", word));
}

static bool applies(const struct row *row, struct arena *arena, const struct plan *plan, char *const *argv)
{
	const struct setting *trustd = &plan->policy->macos.trustd;
	if (!is_listed(row->programs, arena, path_base_name(argv[0])))
		return false;
	switch (row->condition) {
	case ALWAYS:
		return true;
	case WITH_ARGUMENT:
		return is_listed(row->arguments, arena, argv[1]);
	case WITHOUT_TRUST:
		return plan->network.mode == NETWORK_ALLOW && !(trustd->is_set && trustd->value);
	}
	return false;
}

const char *advice_for(struct arena *arena, const struct plan *plan, char *const *argv)
{
	if (plan->context.os != OS_MACOS || !argv[0])
		return NULL;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (applies(&rows[i], arena, plan, argv))
			return arena_printf(arena, "%s %s", text_visible(arena, path_base_name(argv[0])), rows[i].sentence);
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ecosystems. */
#include "common/registry/registry.h"

#include <string.h>

const struct ecosystem_info ecosystem_table[ECOSYSTEM_COUNT] = {
	[ECOSYSTEM_GIT] = { "git", NULL, NULL },
	[ECOSYSTEM_NODE] = { "node", "registry-npm", "npm" },
	[ECOSYSTEM_RUST] = { "rust", "registry-crates", "cargo" },
	[ECOSYSTEM_PYTHON] = { "python", "registry-pypi", "pip" },
	[ECOSYSTEM_GO] = { "go", "registry-go", "go" },
	[ECOSYSTEM_JAVA] = { "java", "registry-maven", "maven" },
	[ECOSYSTEM_RUBY] = { "ruby", "registry-rubygems", "bundler" },
	[ECOSYSTEM_PHP] = { "php", "registry-packagist", "composer" },
	[ECOSYSTEM_DOTNET] = { "dotnet", "registry-nuget", "nuget" },
	[ECOSYSTEM_C] = { "c", NULL, NULL },
};

bool ecosystem_of_registry(const char *piece, enum ecosystem *ecosystem)
{
	for (int i = 0; i < ECOSYSTEM_COUNT; i++) {
		if (!ecosystem_table[i].registry || strcmp(ecosystem_table[i].registry, piece) != 0)
			continue;
		*ecosystem = (enum ecosystem)i;
		return true;
	}
	return false;
}

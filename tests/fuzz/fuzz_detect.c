/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration files that berm init reads, some of which a hostile project wrote. Input: one
 * byte for the format, then the file. Whatever comes out as a destination is one that the policy's
 * own parser takes, and goes into a berm.yml without changing anything else in it: an allow list of
 * exactly these entries. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/detect/detect.h"
#include "common/registry/config.h"
#include "common/registry/url.h"
#include "common/policy/policy.h"
#include "common/base/text.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FOUND_MAX = 32 };

struct search {
	struct arena arena;
	struct detection detection;
	size_t allowed, local;
};

static bool is_known(const struct search *search, const struct registry *registry)
{
	for (size_t i = 0; i < search->detection.ecosystems[ECOSYSTEM_NODE].registries.count; i++) {
		const struct registry *known = &search->detection.ecosystems[ECOSYSTEM_NODE].registries.items[i];
		if (known->local_port == registry->local_port &&
		    (registry->local_port || strcmp(known->destination, registry->destination) == 0))
			return true;
	}
	return false;
}

static void visit(void *self, const char *key, const char *value, unsigned line)
{
	struct search *search = self;
	struct url url;

	PROPERTY(line > 0 && strlen(key) < 4096);
	while (url_next(&search->arena, &value, &url)) {
		struct registry registry = {
			.ecosystem = ECOSYSTEM_NODE, .origin = REGISTRY_PROJECT, .source = ".npmrc", .line = 1
		};
		if (!url.destination)
			continue;
		PROPERTY(url.port != 0 && !strpbrk(url.destination, " \t\r\n\"'@/#,|$%\\"));
		if (url.is_loopback)
			registry.local_port = url.port;
		else
			registry.destination = url.destination;
		if (is_known(search, &registry) || search->detection.ecosystems[ECOSYSTEM_NODE].registries.count == FOUND_MAX)
			continue;
		*arena_push(&search->arena, &search->detection.ecosystems[ECOSYSTEM_NODE].registries) = registry;
		search->allowed += !url.is_loopback;
		search->local += url.is_loopback;
	}
}

static void check_policy(struct search *search)
{
	struct diagnostics diagnostics = { .arena = &search->arena };
	struct policy policy = { 0 };
	struct text text = { 0 };

	search->detection.ecosystems[ECOSYSTEM_NODE].marker = "package.json";
	search->detection.ecosystems[ECOSYSTEM_NODE].tool = "npm";
	detect_policy(&search->detection, true, &text);
	PROPERTY(policy_parse(&search->arena, "berm.yml", LAYER_PROJECT, text.data, text.length, &policy, &diagnostics) == 0);
	PROPERTY(policy.network.allow.count == search->allowed && policy.network.local.count == search->local);
	PROPERTY(policy.use.count == 1 && policy.files.read.count == 0 && policy.network.publish.count == 0);
	text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct search search = { 0 };
	struct config_scan scan = { .visit = visit, .self = &search };
	char *text;

	if (size < 1 || memchr(data + 1, '\0', size - 1))
		return -1;
	scan.style = (enum config_style)(data[0] % CONFIG_STYLE_COUNT);
	text = malloc(size);
	if (!text)
		return -1;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	scan.text = text;
	config_scan(&scan);
	check_policy(&search);
	free(text);
	arena_free(&search.arena);
	return 0;
}

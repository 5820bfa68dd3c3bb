/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the berm.yml of `berm init`. The only content from the project's files and from answers of
 * package managers is canonical hosts, ports and names from a fixed set, so neither can inject text
 * into the policy. No path of this machine is in it: other people read the file too. */
#include "common/detect/detect.h"

#include <stdio.h>
#include <string.h>

#include "common/policy/builtin.h"
#include "common/base/text.h"

static void add_head(struct text *out)
{
	text_add(out, "# The sandbox policy of this project: see berm-policy(5). `berm plan` shows its effect.\n"
		      "# It adds to the built-in default (`berm policies --show default`).\n"
		      "# Until you run `berm trust`, only its restrictions apply.\n"
		      "version: 1\n");
}

/* Shows the marker only if it is a plain name: the project chooses the name of a `*.csproj`. */
static void add_found(const struct detected *detected, const char *piece, struct text *out)
{
	bool is_plain = strspn(detected->marker, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
			strlen(detected->marker);
	text_add(out, "#   %-8s %s", piece, is_plain ? detected->marker : "by its files");
	if (detected->tool)
		text_add(out, ", %s", detected->tool);
	text_add(out, "\n");
}

/* True if a file in the home, which commands cannot read, names a registry: the piece passes the
 * setting. */
static bool needs_settings(const struct registries *registries)
{
	for (size_t i = 0; i < registries->count; i++)
		if (registries->items[i].origin == REGISTRY_USER)
			return true;
	return false;
}

static void add_use(const struct detection *detection, struct text *out)
{
	struct text found = { 0 }, use = { 0 };

	for (size_t i = 0; i < ECOSYSTEM_COUNT; i++) {
		const char *piece = ecosystem_table[i].piece;
		struct builtin builtin;
		if (!detection->ecosystems[i].marker || !builtin_find(piece, &builtin))
			continue;
		add_found(&detection->ecosystems[i], piece, &found);
		text_add(&use, "%s%s", use.length ? ", " : "", piece);
		if (needs_settings(&detection->ecosystems[i].registries))
			text_add(&use, ", %s", ecosystem_table[i].registry);
	}
	if (use.length)
		text_add(out, "\n# Detected here; `berm policies --show NAME` prints what each piece adds.\n%suse: [%s]\n",
			 found.data, use.data);
	text_free(&found);
	text_free(&use);
}

static void add_files(struct text *out)
{
	text_add(out, "\n"
		      "# The default hides .env files, keys and credentials, and protects git hooks, editor and agent\n"
		      "# settings. For more, remove the `# ` and adapt the values:\n"
		      "# files:\n"
		      "#   deny: [config/master.key, \"**/*.tfstate\"]   # hidden\n"
		      "#   protect: [.github/workflows]               # readable, never changed or created\n"
		      "#   read: [~/datasets]                         # readable besides the project\n");
}

static bool is_listed(const struct registry *registry, bool is_local)
{
	return is_local ? registry->local_port != 0 : registry->destination != NULL;
}

static size_t count_reachable(const struct detection *detection, bool is_local)
{
	size_t count = 0;
	for (size_t i = 0; i < ECOSYSTEM_COUNT; i++)
		for (size_t j = 0; j < detection->ecosystems[i].registries.count; j++)
			count += is_listed(&detection->ecosystems[i].registries.items[j], is_local);
	return count;
}

static void add_origin(const struct detected *detected, const struct registry *registry, struct text *out)
{
	text_add(out, " # %s", detected->tool ? detected->tool : ecosystem_table[registry->ecosystem].piece);
	text_add(out, registry->origin == REGISTRY_CLIENT ? ", asked: " : ", from ");
	text_add_visible(out, registry->source, strlen(registry->source));
	if (registry->line > 0)
		text_add(out, ":%u", registry->line);
	text_add(out, "\n");
}

static void add_destination(const char *mark, const char *destination, struct text *out)
{
	struct text entry = { 0 };
	text_add(&entry, destination[0] == '[' ? "\"%s\"" : "%s", destination);
	text_add(out, "%s    - %-34s", mark, entry.data);
	text_free(&entry);
}

/* True if another ecosystem has this host or port already. */
static bool is_repeated(const struct detection *detection, size_t ecosystem, size_t index, bool is_local)
{
	const struct registry *wanted = &detection->ecosystems[ecosystem].registries.items[index];

	for (size_t i = 0; i < ecosystem; i++) {
		const struct registries *registries = &detection->ecosystems[i].registries;
		for (size_t j = 0; j < registries->count; j++) {
			const struct registry *known = &registries->items[j];
			if (is_listed(known, is_local) && (is_local ? known->local_port == wanted->local_port
								    : strcmp(known->destination, wanted->destination) == 0))
				return true;
		}
	}
	return false;
}

static void add_list(const struct detection *detection, const char *mark, bool is_local, struct text *out)
{
	if (count_reachable(detection, is_local) == 0)
		return;
	text_add(out, "%s  %s:\n", mark, is_local ? "local" : "allow");
	for (size_t i = 0; i < ECOSYSTEM_COUNT; i++) {
		const struct detected *detected = &detection->ecosystems[i];
		for (size_t j = 0; j < detected->registries.count; j++) {
			const struct registry *registry = &detected->registries.items[j];
			char port[8];
			if (!is_listed(registry, is_local) || is_repeated(detection, i, j, is_local))
				continue;
			snprintf(port, sizeof port, "%u", registry->local_port);
			add_destination(mark, is_local ? port : registry->destination, out);
			add_origin(detected, registry, out);
		}
	}
}

static void add_addresses(const struct detection *detection, const char *mark, struct text *out)
{
	for (size_t i = 0; i < detection->addresses.count; i++) {
		const struct detected_address *address = &detection->addresses.items[i];
		text_add(out, "%s", address->is_accepted ? "" : "# ");
		add_destination(mark, address->destination, out);
		text_add(out, " # %s address of %s%s\n", address->kind, address->host,
			 address->is_accepted ? "" : ", not allowed: remove the first `# ` to allow it");
	}
}

/* Adds a comment for each unknown registry, where the user would add it. */
static void add_unknown(const struct detection *detection, struct text *out)
{
	for (size_t i = 0; i < ECOSYSTEM_COUNT; i++) {
		const struct detected *detected = &detection->ecosystems[i];
		if (detected->unanswered) {
			text_add(out, "# The default registry of %s is not known: ", detected->tool);
			text_add_visible(out, detected->unanswered, strlen(detected->unanswered));
			text_add(out, ".\n");
		}
		if (detected->registries.left_out > 0)
			text_add(out, "# %zu further addresses in the files of %s are left out: too many.\n",
				 detected->registries.left_out, detected->tool);
	}
}

static void add_network(const struct detection *detection, bool can_allow, struct text *out)
{
	const char *mark = can_allow ? "" : "# ";

	if (count_reachable(detection, false) + count_reachable(detection, true) == 0) {
		text_add(out, "\n# Commands have no network. `network: {allow: [HOST:PORT]}` allows destinations.\n");
		add_unknown(detection, out);
		return;
	}
	if (can_allow)
		text_add(out, "\n# The registries of this project's package managers. Commands can reach nothing else.\n");
	else
		text_add(out, "\n"
			      "# Commands have no network. The package managers of this project use the registries below, but\n"
			      "# berm cannot enforce a list of destinations on this system (see `berm plan`). Where it can,\n"
			      "# remove the `# ` from these lines. Until then, allow the whole network for a download:\n"
			      "# berm run --allow-net -- COMMAND\n");
	add_unknown(detection, out);
	text_add(out, "%snetwork:\n", mark);
	add_list(detection, mark, false, out);
	add_addresses(detection, mark, out);
	add_list(detection, mark, true, out);
}

void detect_policy(const struct detection *detection, bool can_allow, struct text *out)
{
	add_head(out);
	add_use(detection, out);
	add_files(out);
	add_network(detection, can_allow, out);
}

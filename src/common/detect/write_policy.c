/* SPDX-License-Identifier: Apache-2.0 */
/* The berm.yml that `berm init` writes. Nothing in it comes from a file of the project but canonical hosts, ports and the names of
 * a fixed set of files, so that no project can write into its own policy. */
#include "common/detect/detect.h"

#include <string.h>

#include "common/policy/builtin.h"
#include "common/base/text.h"

static void add_head(const char *schema, struct text *out)
{
	text_add(out,
		 "# yaml-language-server: $schema=%s\n"
		 "#\n"
		 "# What commands may touch in this project: see berm-policy(5), and `berm plan` for what it\n"
		 "# means here. It adds to the built-in default (`berm policies --show default`).\n"
		 "# Until you have run `berm trust`, only what this file takes away counts.\n"
		 "version: 1\n",
		 schema);
}

/* The marker is shown where it is one of the fixed names; `*.csproj` and the like are the project's to choose. */
static void add_found(const struct detected *detected, const char *piece, struct text *out)
{
	bool is_plain = strspn(detected->marker, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
			strlen(detected->marker);
	text_add(out, "#   %-8s %s", piece, is_plain ? detected->marker : "by its files");
	if (detected->tool)
		text_add(out, ", %s", detected->tool);
	text_add(out, "\n");
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
	}
	if (use.length)
		text_add(out,
			 "\n# What was found here; `berm policies --show NAME` prints what each piece adds.\n%suse: [%s]\n",
			 found.data, use.data);
	text_free(&found);
	text_free(&use);
}

static void add_files(struct text *out)
{
	text_add(out, "\n"
		      "# The default hides .env files, keys and credentials, and protects git hooks, editor and agent\n"
		      "# settings. For more, remove the `# ` and put in what fits:\n"
		      "# files:\n"
		      "#   deny: [config/master.key, \"**/*.tfstate\"]   # hidden\n"
		      "#   protect: [.github/workflows]               # readable, never changed or created\n"
		      "#   read: [~/datasets]                         # readable besides the project\n");
}

static size_t count_reachable(const struct registries *registries, bool is_local)
{
	size_t count = 0;
	for (size_t i = 0; i < registries->count; i++)
		count += is_local ? registries->items[i].local_port != 0 : registries->items[i].destination != NULL;
	return count;
}

static void add_origin(const struct detection *detection, const struct registry *registry, struct text *out)
{
	const char *tool = detection->ecosystems[registry->ecosystem].tool;
	text_add(out, " # %s", tool ? tool : ecosystem_table[registry->ecosystem].piece);
	text_add(out, registry->source ? ", from " : ", its usual registry");
	if (registry->source)
		text_add_visible(out, registry->source, strlen(registry->source));
	text_add(out, "\n");
}

static void add_list(const struct detection *detection, const char *mark, bool is_local, struct text *out)
{
	const struct registries *registries = &detection->registries;

	if (count_reachable(registries, is_local) == 0)
		return;
	text_add(out, "%s  %s:\n", mark, is_local ? "local" : "allow");
	for (size_t i = 0; i < registries->count; i++) {
		const struct registry *registry = &registries->items[i];
		struct text entry = { 0 };
		if (is_local ? !registry->local_port : !registry->destination)
			continue;
		if (is_local)
			text_add(&entry, "%u", registry->local_port);
		else
			text_add(&entry, registry->destination[0] == '[' ? "\"%s\"" : "%s", registry->destination);
		text_add(out, "%s    - %-34s", mark, entry.data);
		add_origin(detection, registry, out);
		text_free(&entry);
	}
}

static void add_network(const struct detection *detection, bool can_allow, struct text *out)
{
	const struct registries *registries = &detection->registries;
	const char *mark = can_allow ? "" : "# ";

	if (count_reachable(registries, false) + count_reachable(registries, true) == 0) {
		text_add(out, "\n# Commands have no network. `network: {allow: [HOST:PORT]}` names what they may reach.\n");
		return;
	}
	if (can_allow)
		text_add(out, "\n# Where the package managers of this project fetch from. Commands reach nothing else.\n");
	else
		text_add(out, "\n"
			      "# Commands have no network. The package managers of this project fetch from the places below,\n"
			      "# but this version of berm cannot hold a list of destinations on this system yet; when yours\n"
			      "# can (`berm plan` says), remove the `# ` from these lines. Until then, a command that has to\n"
			      "# download needs the whole network: berm run --allow-net -- COMMAND\n");
	text_add(out, "%snetwork:\n", mark);
	add_list(detection, mark, false, out);
	add_list(detection, mark, true, out);
}

void detect_policy(const struct detection *detection, const char *schema, bool can_allow, struct text *out)
{
	add_head(schema, out);
	add_use(detection, out);
	add_files(out);
	add_network(detection, can_allow, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `berm policies`: prints the built-in policies and the policy keys, from the parser's own tables.
 * Reads no file. */
#include "common/cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/backend.h"
#include "common/policy/builtin.h"
#include "common/policy/keys.h"
#include "common/record/record.h"
#include "common/cli/options.h"
#include "common/base/text.h"

static const char *const kind_titles[BUILTIN_KIND_COUNT] = {
	[BUILTIN_BASE] = "Base policies (extends: NAME)",
	[BUILTIN_PIECE] = "Toolchains (use: [NAME])",
	[BUILTIN_REGISTRY] = "Package registries (use: [NAME])",
	[BUILTIN_AGENT] = "Agents (berm agent NAME)",
	[BUILTIN_FLOOR] = "Part of every policy",
};

static int print_help(void)
{
	return report_help("berm policies [options]\n\n"
			   "Lists the built-in policies, or prints one, the JSON Schema or all keys.\n",
			   COMMAND_POLICIES, "");
}

/* Prints a page with bold headings, and frees it. */
static int print_page(struct text *out)
{
	report_headings(out->data);
	text_free(out);
	return 0;
}

static void add_builtin(struct text *out, const struct builtin *builtin)
{
	char summary[256];
	snprintf(summary, sizeof summary, "%.*s", builtin->summary_length, builtin->summary);
	text_add(out, "  %-18s ", builtin->name);
	text_add_wrapped(out, 21, summary);
}

static int print_list(void)
{
	struct text out = { .width = report_width(stdout) };
	struct builtin builtin;

	for (int kind = 0; kind < BUILTIN_KIND_COUNT; kind++) {
		text_add(&out, "%s%s:\n", kind > 0 ? "\n" : "", kind_titles[kind]);
		for (size_t i = 0; builtin_at(i, &builtin); i++)
			if (builtin.kind == (enum builtin_kind)kind)
				add_builtin(&out, &builtin);
	}
	print_page(&out);
	puts("\n`berm policies --show=NAME` prints one, `berm policies --keys` lists all keys.");
	return 0;
}

static int show(const char *name)
{
	struct text out = { 0 };
	const char *names[64] = { 0 };
	static struct builtin builtins[64];
	struct error err = { 0 };
	const char *nearest;
	size_t count = 0;

	if (builtin_find(name, &builtins[0])) {
		text_add_n(&out, builtins[0].text, builtins[0].length);
		return report_text(&out);
	}
	for (; count < 64 && builtin_at(count, &builtins[count]); count++)
		names[count] = builtins[count].name;
	error_set(&err, "no built-in policy `%s`", name);
	nearest = text_nearest(name, names, count);
	if (nearest)
		error_hint(&err, "did you mean `%s`?", nearest);
	else
		error_hint(&err, "`berm policies` lists them");
	return report_error(&err);
}

/* Returns the kind of value that the key takes. */
static const char *key_values(const struct key *key)
{
	static const char *const names[] = {
		[KEY_MAP] = "mapping",	       [KEY_PATHS] = "paths",
		[KEY_PATTERNS] = "patterns",   [KEY_NAMES] = "names",
		[KEY_VARIABLES] = "variables", [KEY_ASSIGNMENTS] = "name: value",
		[KEY_DESTINATIONS] = "hosts",  [KEY_PORTS] = "ports",
		[KEY_PUBLISH] = "ports",       [KEY_CHOICE] = "word",
		[KEY_SIZE] = "size",	       [KEY_DURATION] = "duration",
		[KEY_COUNT] = "number",	       [KEY_BOOLEAN] = "true or false",
		[KEY_VERSION] = "1",	       [KEY_NAME] = "name or path",
		[KEY_RESERVED] = "reserved",   [KEY_DEVICES] = "devices",
	};
	return key->flags & KEY_UNBUILT ? "not supported yet" : names[key->kind];
}

static void add_choices(struct text *out, const struct key *key)
{
	for (const struct key_choice *choice = key->choices; choice && choice->name; choice++) {
		struct text words = { 0 };
		if (!choice->help)
			continue;
		text_add(&words, "%s%s", choice->help, choice->is_unbuilt ? " (not yet supported)" : "");
		text_add(out, "    %-9s ", choice->name);
		text_add_wrapped(out, 14, words.data);
		text_free(&words);
	}
}

static int print_keys(void)
{
	struct text out = { .width = report_width(stdout) };

	for (size_t i = 0; i < policy_key_count; i++) {
		const struct key *key = &policy_keys[i];
		text_add(&out, "%s (%s)\n  ", key->path, key_values(key));
		text_add_wrapped(&out, 2, key->help);
		add_choices(&out, key);
	}
	return print_page(&out);
}

static int print_schema(const char *name)
{
	struct text out = { 0 };
	if (strcmp(name, "log") == 0)
		record_schema(&out);
	else
		policy_schema(&out);
	return report_text(&out);
}

int cmd_policies(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct options options = { 0 };
	struct error err = { 0 };
	int rest, status;

	if (options_parse(&arena, COMMAND_POLICIES, argc, argv, &options, &rest, &err) < 0)
		status = report_error(&err);
	else if (rest < argc) {
		error_set(&err, "`berm policies` takes no argument: %s", argv[rest]);
		error_hint(&err, "to print one: berm policies --show=%s", argv[rest]);
		status = report_error(&err);
	} else if (options.wants_help)
		status = print_help();
	else if (options.show)
		status = show(options.show);
	else if (options.schema)
		status = print_schema(options.schema);
	else if (options.wants_keys)
		status = print_keys();
	else
		status = print_list();
	arena_free(&arena);
	return status;
}

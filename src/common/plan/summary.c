/* SPDX-License-Identifier: Apache-2.0 */
/* The plan in plain words, for the command and the agent that runs it (PLAN_SUMMARY): what the
 * sandbox allows, and how the user can allow more. It is made and cached with the plan, so that a
 * launch only writes it out. It has names and patterns that can be seen inside anyway, never
 * contents of files. */
#include "common/plan/build.h"

#include <string.h>

#include "common/plan/names.h"
#include "common/base/text.h"

enum { WIDTH = 100, INDENT = 12 };

/* A title, and words that are wrapped in the column after it. */
struct paragraph {
	struct text *out;
	size_t column, count;
};

static void begin(struct paragraph *paragraph, struct text *out, const char *title)
{
	*paragraph = (struct paragraph){ .out = out, .column = INDENT };
	text_add(out, "%-*s", INDENT, title);
}

static void add_word(struct paragraph *paragraph, const char *word, bool is_listed)
{
	size_t length = strlen(word);
	if (paragraph->count > 0)
		text_add(paragraph->out, is_listed ? "," : "");
	if (paragraph->count > 0 && paragraph->column + length + 2 > WIDTH) {
		text_add(paragraph->out, "\n%*s", INDENT, "");
		paragraph->column = INDENT;
	} else if (paragraph->count > 0) {
		text_add(paragraph->out, " ");
		paragraph->column++;
	}
	text_add(paragraph->out, "%s", word);
	paragraph->column += length + is_listed;
	paragraph->count++;
}

static void add_item(struct paragraph *paragraph, const struct plan *plan, const char *item)
{
	add_word(paragraph, text_visible(plan->arena, item), true);
}

static void end(struct paragraph *paragraph)
{
	text_add(paragraph->out, "\n");
}

static void add_grants(struct text *out, const struct plan *plan, enum grant_kind kind, const char *title)
{
	struct paragraph paragraph = { 0 };
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (grant->kind != kind || strcmp(grant->path, plan->context.project) == 0)
			continue;
		if (!paragraph.out)
			begin(&paragraph, out, title);
		add_item(&paragraph, plan, grant->path);
	}
	if (paragraph.out)
		end(&paragraph);
}

/* Adds patterns as written. Built-in patterns for the home and the system are left out: their files
 * are not visible anyway. */
static void add_patterns(struct text *out, const struct plan *plan, const struct plan_patterns *patterns, const char *title)
{
	struct paragraph paragraph = { 0 };
	for (size_t i = 0; i < patterns->count; i++) {
		const struct rule *rule = patterns->items[i].rule;
		if ((i > 0 && patterns->items[i - 1].rule == rule) || rule->layer == LAYER_FLOOR)
			continue;
		if (rule->layer < LAYER_USER && strchr("~/$", rule->text[0]))
			continue;
		if (!paragraph.out)
			begin(&paragraph, out, title);
		add_item(&paragraph, plan, rule->text);
	}
	if (paragraph.out)
		end(&paragraph);
}

static void add_network(struct text *out, const struct plan *plan)
{
	const struct destinations *allow = &plan->network.allow;
	struct paragraph paragraph;

	begin(&paragraph, out, "network");
	if (plan->network.mode == NETWORK_NONE)
		add_item(&paragraph, plan, "none except the sandbox's own loopback");
	else if (plan->network.mode == NETWORK_ALL)
		add_item(&paragraph, plan, "every destination");
	for (size_t i = 0; plan->network.mode == NETWORK_ALLOW && i < allow->count; i++)
		add_item(&paragraph, plan, allow->items[i].rule->text);
	end(&paragraph);
	if (plan->sockets.count == 0)
		return;
	begin(&paragraph, out, "sockets");
	for (size_t i = 0; i < plan->sockets.count; i++)
		add_item(&paragraph, plan, plan->sockets.items[i].value);
	end(&paragraph);
}

static void add_limits(struct text *out, const struct plan *plan)
{
	struct paragraph paragraph = { 0 };
	for (int i = 0; i < LIMIT_COUNT; i++) {
		if (!plan->limits[i].is_set)
			continue;
		if (!paragraph.out)
			begin(&paragraph, out, "limits");
		add_item(&paragraph, plan, arena_printf(plan->arena, "%s %s", limit_names[i], plan->limits[i].rule.text));
	}
	if (paragraph.out)
		end(&paragraph);
}

static void add_places(struct text *out, const struct plan *plan)
{
	static const char *const homes[] = {
		[HOME_PRIVATE] = "a private home in place of the real one, kept for this project",
		[HOME_EMPTY] = "an empty home in place of the real one, new for each command",
		[HOME_HOST] = "the real home, read-only",
	};
	const char *home = text_visible(plan->arena, plan->context.home);
	text_add(out, "%-*s%s is %s\n", INDENT, "home", home, homes[plan->home]);
	text_add(out, "%-*s/tmp is private, %s\n", INDENT, "tmp",
		 plan->tmp == TMP_PRIVATE ? "kept for this project" : "new for each command");
}

void build_summary(struct builder *builder)
{
	struct plan *plan = builder->plan;
	struct text out = { 0 };

	text_add(&out,
		 "This command runs inside berm, a sandbox. Its rules are set outside, and nothing that runs in here can\n"
		 "change them.\n\n");
	text_add(&out, "%-*s%s: %s\n", INDENT, "project", text_visible(plan->arena, plan->context.project),
		 plan_is_writable(plan, plan->context.project) ? "read and write" : "not writable as a whole");
	if (plan_is_copy(plan))
		text_add(&out, "%-*s%s\n", INDENT, "copy",
			 plan_setting(plan, SETTING_COPY) == COPY_ALWAYS
				 ? "the project is a copy; the user looks at the changes and applies them, or not"
				 : "the project is a copy; its changes are applied when the command has ended");
	add_grants(&out, plan, GRANT_WRITE, "write");
	add_grants(&out, plan, GRANT_READ, "read");
	add_grants(&out, plan, GRANT_SYSTEM, "software");
	add_patterns(&out, plan, &plan->deny, "hidden");
	add_patterns(&out, plan, &plan->protect, "protected");
	add_places(&out, plan);
	add_network(&out, plan);
	add_limits(&out, plan);
	text_add(
		&out,
		"\nPaths under \"software\" and \"read\" are read-only. Files with a \"hidden\" name cannot be read, wherever\n"
		"they are. \"protected\" files can be read but not changed. Apart from /proc and a few devices, nothing else\n"
		"exists in here.\n\n"
		"\"Permission denied\", \"Read-only file system\", \"No such file or directory\" or \"Could not resolve "
		"host\"\n"
		"for something that should work may come from the sandbox. It cannot be changed from inside: tell the user\n"
		"what is needed. The user can allow it, outside of the sandbox:\n"
		"  berm check read PATH           which rule decides (also: write, exec, connect HOST:PORT, env NAME)\n"
		"  ~/.config/berm/berm.yml        files.read, files.write, files.except, network, environment.pass: "
		"permanently\n"
		"  berm.yml in the project        the same for this project, once the user has run `berm trust`\n"
		"  berm run --allow-read=PATH --allow-write=PATH --allow-net=HOST:PORT -- COMMAND    for one command\n"
		"More: man berm, man 5 berm-policy.\n");
	plan->summary = arena_copy(plan->arena, out.data);
	text_free(&out);
}

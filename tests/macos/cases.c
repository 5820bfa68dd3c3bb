/* SPDX-License-Identifier: Apache-2.0 */
/* Random machines, policies and paths from small vocabularies, so that rules often match paths. */
#include "macos/cases.h"
#include "common/scan/scan.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof(array)[0]))

/* File names, plain ones first. */
static const char *const names[] = {
	"a",
	"b",
	"sub",
	"lib",
	".env",
	".env.x",
	"k.pem",
	"secret",
	"Docs",
	"tool",
	"fixes",
	"a b",
	"it's",
	"x.y",
	"hooks",
	".git",
	"config",
	"a\"b)(allow default)",
	"x\\y",
	"[1]",
	"q{2}^",
	"caf\xc3\xa9",
	"cafe\xcc\x81",
	"\xc5\xbf"
	"ecret",
	"hoo\xe2\x84\xaas",
	"con\xef\xac\x81g",
	".e\xe2\x80\x8cnv",
};
enum { PLAIN_NAMES = 17 };

static const char *const globs[] = { "*.pem",
				     ".env*",
				     "s*",
				     "?",
				     "[ab]",
				     "[!a]*",
				     "*",
				     "*b*",
				     "[A-D]*",
				     "**",
				     "[]x]*",
				     "*.[xy]",
				     "[acegikmoqsuwy02468]*",
				     "[!acegikmoqsuwy02468]" };

static const char *const roots[] = { "/Users/ann/app", "/Users/ann/app", "/Users/ann/app", "/Users/ann/app", "/Users/ann",
				     "/opt/tool",      "/opt",		 "/usr",	   "/private/tmp",   "/Users/ann/lib" };

unsigned cases_below(struct cases *cases, unsigned end)
{
	cases->state ^= cases->state << 13;
	cases->state ^= cases->state >> 7;
	cases->state ^= cases->state << 17;
	return (unsigned)((cases->state >> 11) % end);
}

static bool chance(struct cases *cases, unsigned percent)
{
	return cases_below(cases, 100) < percent;
}

static const char *name(struct cases *cases)
{
	return names[cases_below(cases, chance(cases, 85) ? PLAIN_NAMES : COUNT(names))];
}

/* Returns the name with the case of some letters changed. */
static void add_name(struct cases *cases, struct text *out, const char *text)
{
	bool is_shouting = chance(cases, 6);
	for (; *text; text++)
		text_add(out, "%c", is_shouting && *text >= 'a' && *text <= 'z' ? *text - 32 : *text);
}

static void add_quoted_name(struct cases *cases, struct text *out)
{
	for (const char *at = name(cases); *at; at++)
		text_add(out, "%s%c", strchr("*?[\\", *at) ? "\\" : "", *at);
}

static const char *keep(struct cases *cases, struct text *text)
{
	const char *kept = arena_copy(&cases->arena, text->data);
	text_free(text);
	return kept;
}

static const char *random_path(struct cases *cases)
{
	struct text out = { 0 };
	unsigned depth = cases_below(cases, 4);
	text_add(&out, "%s", roots[cases_below(cases, COUNT(roots))]);
	for (unsigned i = 0; i < depth; i++) {
		text_add(&out, "/");
		add_name(cases, &out, name(cases));
	}
	return keep(cases, &out);
}

/* Returns a path to grant: often an existing directory. */
static const char *random_place(struct cases *cases)
{
	static const char *const places[] = { "/Users/ann/app/sub",
					      "/Users/ann/app/lib",
					      "/Users/ann/app/sub/a",
					      "/opt/tool",
					      "/Users/ann/lib",
					      "/usr",
					      "/etc",
					      "/opt/tool/bin" };
	return chance(cases, 60) ? places[cases_below(cases, COUNT(places))] : random_path(cases);
}

static const char *random_pattern(struct cases *cases)
{
	static const char *const starts[] = { "", "", "", "**/", "**/", "./", "/Users/ann/app/", "~/", "/opt/tool/", "/usr/" };
	struct text out = { 0 };
	const char *start = starts[cases_below(cases, COUNT(starts))];
	unsigned depth = 1 + (start[0] ? cases_below(cases, 3) : 0);
	text_add(&out, "%s", start);
	for (unsigned i = 0; i < depth; i++) {
		if (i > 0)
			text_add(&out, "/");
		if (chance(cases, 35))
			text_add(&out, "%s", globs[cases_below(cases, COUNT(globs))]);
		else
			add_quoted_name(cases, &out);
	}
	if (chance(cases, 8))
		text_add(&out, "/");
	return keep(cases, &out);
}

/* Adds a YAML scalar in single quotes. */
static void add_yaml(struct text *out, const char *text)
{
	text_add(out, "'");
	for (; *text; text++)
		text_add(out, "%s%c", *text == '\'' ? "'" : "", *text);
	text_add(out, "'");
}

static void add_list(struct cases *cases, struct text *out, const char *key, unsigned most,
		     const char *(*item)(struct cases *cases))
{
	unsigned count = cases_below(cases, most + 1);
	if (count == 0)
		return;
	text_add(out, "  %s: [", key);
	for (unsigned i = 0; i < count; i++) {
		text_add(out, "%s", i > 0 ? ", " : "");
		add_yaml(out, item(cases));
	}
	text_add(out, "]\n");
}

static const char *machine(struct cases *cases)
{
	struct text out = { 0 };
	text_add(&out, "os: macos\nuser: ann\nuid: 501\nhome: /Users/ann\nproject: /Users/ann/app\nfiles:\n"
		       "  - /opt/tool/bin/x\n  - /usr/bin/sh\n  - '/etc -> private/etc'\n  - /private/etc/hosts\n  - '/tmp -> "
		       "private/tmp'\n"
		       "  - /private/tmp/\n  - {path: /Users/ann/app/s.sock, type: socket}\n  - {path: /Users/ann/agent, type: "
		       "socket}\n"
		       "  - '/Users/ann/app/way -> sub'\n  - '/Users/ann/app/.env.l -> lib/innocent'\n  - "
		       "/Users/ann/app/lib/innocent\n  - /Users/ann/app/sub/a/\n  - /Users/ann/lib/\n"
		       "  - {path: /Users/ann/app/lib/twin, links: 2, inode: 7}\n  - {path: /Users/ann/app/lib/k.pem, links: "
		       "2, inode: 7}\n");
	for (unsigned i = 0, count = 4 + cases_below(cases, 14); i < count; i++) {
		text_add(&out, "  - {path: ");
		add_yaml(&out, random_path(cases));
		text_add(&out, ", type: %s}\n", chance(cases, 40) ? "directory" : "file");
	}
	return keep(cases, &out);
}

static const char *layer_text(struct cases *cases, enum layer layer)
{
	static const char *const networks[] = {
		"network: none\n", "network: all\n", "network: {allow: ['*.example.org:443'], local: [5432]}\n",
		"network: {allow: ['127.0.0.1:80'], local: ['5432-5433'], deny: ['localhost:5433']}\n", ""
	};
	struct text out = { 0 };
	text_add(&out, "version: 1\nfiles:\n");
	if (layer == LAYER_BASE)
		text_add(&out, "  write: [.]\n");
	if (layer >= LAYER_BASE) {
		add_list(cases, &out, "system", layer == LAYER_BASE ? 2 : 0, random_place);
		add_list(cases, &out, "read", 2, random_place);
		add_list(cases, &out, "write", layer == LAYER_USER ? 2 : 0, random_place);
	}
	add_list(cases, &out, "deny", 4, random_pattern);
	add_list(cases, &out, "except", 3, random_pattern);
	add_list(cases, &out, "protect", 3, random_pattern);
	text_add(&out, "  prune: [node_modules]\n");
	if (layer == LAYER_USER) {
		text_add(&out, "%s", networks[cases_below(cases, COUNT(networks))]);
		text_add(&out, "%s", chance(cases, 40) ? "sockets: [~/agent]\n" : "");
		text_add(&out, "%s", chance(cases, 15) ? "home: host\n" : "");
	}
	return keep(cases, &out);
}

/* A key may occur twice in a layer: the parser then refuses the text, and another one is made. */
static bool add_layer(struct cases *cases, enum layer layer, const char *text, struct diagnostics *diagnostics)
{
	struct policy *policy = arena_alloc(&cases->arena, sizeof *policy);
	if (policy_parse(&cases->arena, "p.yml", layer, text, strlen(text), policy, diagnostics) < 0)
		return false;
	policy_merge(&cases->arena, &cases->policy, policy, false);
	return true;
}

static bool start(struct cases *cases, const char *text)
{
	struct error err;
	if (context_parse(&cases->arena, "machine.yml", text, strlen(text), &cases->context, &err) == 0)
		return true;
	cases->refused++;
	return false;
}

static bool resolve(struct cases *cases, struct diagnostics *diagnostics)
{
	struct error err;
	if (plan_resolve(&cases->arena, &cases->policy, &cases->context, &cases->plan, diagnostics) == 0 &&
	    plan_scan(&cases->plan, &err) == 0)
		return true;
	cases->refused++;
	return false;
}

static void begin(struct cases *cases)
{
	arena_free(&cases->arena);
	cases->arena = (struct arena){ 0 };
	cases->policy = (struct policy){ 0 };
}

bool cases_make(struct cases *cases)
{
	static const enum layer layers[] = { LAYER_FLOOR, LAYER_BASE, LAYER_USER, LAYER_COMMAND_LINE };
	struct diagnostics diagnostics = { 0 };

	begin(cases);
	diagnostics.arena = &cases->arena;
	if (!start(cases, machine(cases)))
		return false;
	for (unsigned i = 0; i < COUNT(layers); i++) {
		if (layers[i] != LAYER_BASE && chance(cases, 40))
			continue;
		if (!add_layer(cases, layers[i], layer_text(cases, layers[i]), &diagnostics)) {
			cases->refused++;
			return false;
		}
	}
	return resolve(cases, &diagnostics);
}

/* Returns a path for the pattern, with names in place of the stars. */
static const char *path_from_pattern(struct cases *cases, const struct pattern *pattern)
{
	struct text out = { 0 };
	if (pattern->text[0] != '/' || pattern->is_anywhere)
		text_add(&out, "%s%s", roots[cases_below(cases, 5)], pattern->text[0] == '/' ? "" : "/");
	for (const char *at = pattern->text; *at; at++) {
		bool is_special = at >= pattern->text + pattern->literal_prefix;
		if (is_special && *at == '*') {
			at += at[1] == '*';
			text_add(&out, "%s", name(cases));
		} else if (is_special && *at == '?') {
			text_add(&out, "b");
		} else if (is_special && *at == '[') {
			at += strcspn(at, "]");
			text_add(&out, "a");
		} else {
			at += is_special && *at == '\\';
			text_add(&out, "%c", *at);
		}
	}
	for (unsigned more = cases_below(cases, 6); more > 3; more--) {
		text_add(&out, "/");
		add_name(cases, &out, name(cases));
	}
	return keep(cases, &out);
}

const char *cases_path(struct cases *cases)
{
	const struct plan_patterns *lists[] = { &cases->plan.deny, &cases->plan.protect, &cases->plan.except };
	const struct plan_patterns *list = lists[cases_below(cases, 3)];
	unsigned kind = cases_below(cases, 10);
	if (kind < 4 && list->count > 0)
		return path_absolute(&cases->arena, "/",
				     path_from_pattern(cases, &list->items[cases_below(cases, (unsigned)list->count)].pattern));
	if (kind == 4)
		return arena_printf(&cases->arena, "%s/%s", chance(cases, 50) ? cases->plan.state.home : cases->plan.state.tmp,
				    name(cases));
	if (kind == 5) {
		static const char *const known[] = { "/",
						     "/dev/null",
						     "/dev/ttys001",
						     "/private/var/select/sh",
						     "/Users/ann/agent",
						     "/Users/ann/app/s.sock",
						     "/Users/ann/app/way/a",
						     "/Users/ann/app/.env.l",
						     "/Users/ann/app/lib/twin",
						     "/Users/ann/.local/state/berm/plans/x",
						     "/Users/ann/.config/berm/berm.yml",
						     "/etc/hosts" };
		return known[cases_below(cases, COUNT(known))];
	}
	return random_path(cases);
}

/* Hostile values of one entry. The queried paths are none of these. */
static const char *const hostile_names[] = {
	"/Users/a\"b)(allow default)/x\\y",	   "/Users/ann/app/a\"b)(allow default)/x\\y",
	"/Users/ann/app/#\"|#(allow file-write*)", "/Users/ann/app/;\"))(allow default)",
	"/Users/ann/app/\xff\x01\xc3\x28",	   "/Users/ann/app/$(id)`id`%n%s"
};
static const char *const hostile_lists[] = { "deny", "protect", "except", "read", "system", "write" };

const char *const cases_plain_paths[] = { "/Users/ann/app",
					  "/Users/ann/app/a",
					  "/Users/ann/app/.env",
					  "/Users/ann/app/sub/.env/x",
					  "/Users/ann/app/.git/hooks/x",
					  "/Users/ann/app/lib/x",
					  "/Users/ann",
					  "/Users/ann/.ssh/id_rsa",
					  "/Users",
					  "/usr/bin/sh",
					  "/opt/tool/x",
					  "/etc/hosts",
					  "/private/etc/master.passwd",
					  "/",
					  "/System/x",
					  "/Users/a",
					  "/Users/bob/x",
					  "/Library/Keychains/login.keychain",
					  NULL };

/* Bypasses the parser, which refuses some of these: the profile must be safe by itself. */
static bool add_hostile_pattern(struct cases *cases, struct plan_patterns *patterns, const char *entry, const struct rule *rule)
{
	struct plan_pattern *item = arena_push(&cases->arena, patterns);
	struct error err;
	/* As a literal path, and as a pattern with a wildcard. */
	item->rule = rule;
	item->pattern = (struct pattern){ .text = entry, .is_literal = true, .literal_prefix = strlen(entry) };
	item = arena_push(&cases->arena, patterns);
	item->rule = rule;
	return pattern_compile(&cases->arena, arena_printf(&cases->arena, "%s*", pattern_quote(&cases->arena, entry)), "/",
			       &item->pattern, &err) == 0;
}

static bool add_hostile(struct cases *cases, const char *list, const char *entry)
{
	struct plan *plan = &cases->plan;
	struct rule *rule = arena_alloc(&cases->arena, sizeof *rule);
	struct plan_grant *grant;

	*rule = (struct rule){ "files.deny", entry, { "p.yml\"\n(allow default)\n", 3, 4 }, LAYER_USER, NULL };
	if (strcmp(list, "deny") == 0)
		return add_hostile_pattern(cases, &plan->deny, entry, rule);
	if (strcmp(list, "protect") == 0)
		return add_hostile_pattern(cases, &plan->protect, entry, rule);
	if (strcmp(list, "except") == 0)
		return add_hostile_pattern(cases, &plan->except, entry, rule);
	grant = arena_push(&cases->arena, &plan->grants);
	*grant = (struct plan_grant){ .path = entry, .type = FILE_DIRECTORY, .rule = rule, .kind = GRANT_WRITE };
	if (strcmp(list, "write") != 0)
		grant->kind = strcmp(list, "read") == 0 ? GRANT_READ : GRANT_SYSTEM;
	return true;
}

static bool make_listed(struct cases *cases, size_t index, bool is_hostile)
{
	static const char context[] = "os: macos\nuser: ann\nuid: 501\nhome: /Users/ann\nproject: /Users/ann/app\n"
				      "files: [/usr/bin/sh, /opt/tool/x, /Users/ann/app/.git/hooks/x, '/etc -> private/etc', "
				      "/private/etc/hosts]\n";
	static const char policy[] = "version: 1\nfiles: {system: [/usr, /etc], read: [/opt/tool], write: [.], "
				     "deny: [.env, ~/.ssh, /etc/master.passwd], protect: ['**/.git/hooks']}\n";
	struct diagnostics diagnostics = { .arena = &cases->arena };

	if (index >= COUNT(hostile_names) * COUNT(hostile_lists))
		return false;
	cases->arena = (struct arena){ 0 };
	cases->policy = (struct policy){ 0 };
	if (!start(cases, context) || !add_layer(cases, LAYER_USER, policy, &diagnostics) || !resolve(cases, &diagnostics))
		return false;
	return !is_hostile ||
	       add_hostile(cases, hostile_lists[index / COUNT(hostile_names)], hostile_names[index % COUNT(hostile_names)]);
}

bool cases_make_plain(struct cases *cases, size_t index)
{
	return make_listed(cases, index, false);
}

bool cases_make_hostile(struct cases *cases, size_t index)
{
	return make_listed(cases, index, true);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* policy → plan. The first byte chooses a machine; each further line is one rule: a letter for its
 * key, a digit for its layer, the value ("w2 ~/src" is files.write of the user's layer). Values
 * that the parser would refuse are left out. A plan never grants what no rule grants; what a rule
 * denies is answered with no; and the scan finds exactly what the evaluator denies. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/plan/plan.h"
#include "common/policy/value.h"
#include "common/base/text.h"
#include "fuzz/property.h"
#include "common/scan/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 2048, RULES_MAX = 64, PATHS_MAX = 128, PATH_BYTES = 4096 };

#define TREE(home)                                                                                                             \
	"files:\n"                                                                                                             \
	"  - /usr/bin/sh\n  - /usr/share/k.pem\n  - \"/bin -> usr/bin\"\n  - /etc/shadow\n  - /etc/ssh/ssh_host_rsa_key\n"     \
	"  - \"/etc/resolv.conf -> ../run/resolv.conf\"\n  - /run/resolv.conf\n  - {path: /run/s.sock, type: socket}\n"        \
	"  - {path: /dev/null, type: device}\n  - {path: /dev/sda, type: device}\n  - {path: /dev/kfd, type: device}\n"        \
	"  - {path: /etc/private, type: directory, mode: \"0700\"}\n  - /etc/private/x\n  - /opt/tool/bin/x\n  - /tmp/x/y\n"   \
	"  - " home "/.ssh/id_rsa\n  - " home "/.config/berm/berm.yml\n  - " home "/.local/state/berm/projects/x\n"            \
	"  - " home "/docs/a\n  - \"" home "/link -> /opt/tool\"\n  - \"" home "/loop -> loop\"\n"                             \
	"  - {path: " home "/app/.env, links: 2, inode: 7}\n  - {path: " home "/app/src/twin, links: 2, inode: 7}\n"           \
	"  - " home "/app/src/x.c\n  - " home "/app/.vscode/t\n  - " home "/app/sub/.git/config\n  - " home "/app/berm.yml\n"  \
	"  - " home "/app/node_modules/m/.env\n  - \"" home "/app/out -> /etc\"\n  - \"" home "/app/.secret -> src\"\n"        \
	"  - {path: " home "/app/.git, text: 'gitdir: " home "/main/.git/worktrees/app'}\n"                                    \
	"  - {path: " home "/main/.git/worktrees/app/gitdir, text: " home "/app/.git}\n"                                       \
	"  - {path: " home "/main/.git/worktrees/app/commondir, text: ../..}\n"                                                \
	"  - " home "/main/.git/HEAD\n  - " home "/main/.git/objects/\n  - " home "/main/.git/refs/\n"                         \
	"  - " home "/main/.git/hooks/x\n"

static const char *const machines[] = {
	"user: ann\nuid: 1000\nhome: /home/ann\nproject: /home/ann/app\nenvironment: {PATH: \"/usr/bin:/home/ann/app\", "
	"SSH_AUTH_SOCK: /run/s.sock}\n" TREE("/home/ann"),
	"user: root\nuid: 0\nhome: /root\nproject: /root/app\nenvironment: {XDG_CONFIG_HOME: /opt/tool, LD_PRELOAD: x}\n" TREE(
		"/root"),
	"os: macos\nuser: ann\nuid: 501\nhome: /Users/ann\nproject: /Users/ann/app\n" TREE("/Users/ann"),
};

static const struct {
	char letter;
	const char *key;
} letters[] = {
	{ 's', "files.system" },    { 'r', "files.read" },	 { 'w', "files.write" },  { 'd', "files.deny" },
	{ 'e', "files.except" },    { 'p', "files.protect" },	 { 'n', "files.prune" },  { 'k', "sockets" },
	{ 'v', "devices" },	    { 'a', "network.allow" },	 { 'x', "network.deny" }, { 'l', "network.local" },
	{ 'u', "network.publish" }, { 'o', "environment.pass" },
};

/* The patterns of one key, compiled once more. */
struct compiled {
	struct pattern patterns[RULES_MAX];
	const struct rule *rules[RULES_MAX];
	size_t count;
};

/* Everything that one run needs. */
struct run {
	struct compiled deny, except, prune;
	struct arena arena;
	struct context context;
	struct policy policy;
	struct plan plan;
	struct diagnostics diagnostics;
	const char *paths[PATHS_MAX]; /* that exist */
	enum file_type types[PATHS_MAX];
	size_t path_count, rule_count;
};

static void add_rule(struct run *run, const char *name, enum layer layer, const char *value)
{
	const struct key *key = policy_key_find(name);
	struct rules *rules = (struct rules *)(void *)((char *)&run->policy + key->offset);
	struct error err;
	uint64_t number;

	if (run->rule_count >= RULES_MAX || policy_value_check(&run->arena, key, value, false, &number, &err) < 0)
		return;
	*arena_push(&run->arena, rules) =
		(struct rule){ key->path, value, { "input", (unsigned)++run->rule_count, 1 }, layer, NULL };
}

static void add_setting(struct setting *setting, const char *key, const char *text, uint64_t value, enum layer layer)
{
	*setting = (struct setting){ true, value, { key, text, { "input", 1, 1 }, layer, NULL } };
}

static void add_line(struct run *run, const char *line)
{
	static const char *const names[] = { "none", "allow", "all" }, *const homes[] = { "private", "empty", "host" };
	enum layer layer;
	if (strlen(line) < 4 || line[1] < '0' || line[1] > '4' || line[2] != ' ')
		return;
	layer = (enum layer)(line[1] - '0');
	if (line[0] == 'h')
		add_setting(&run->policy.home, "home", homes[line[3] % 3], (uint64_t)(line[3] % 3), layer);
	else if (line[0] == 'm')
		add_setting(&run->policy.network.mode, "network", names[line[3] % 3], (uint64_t)(line[3] % 3), layer);
	for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
		if (line[0] == letters[i].letter)
			add_rule(run, letters[i].key, layer, line + 3);
}

static bool read_input(struct run *run, const uint8_t *data, size_t size)
{
	static struct context contexts[sizeof machines / sizeof machines[0]];
	static struct arena machine_arena; /* kept: the machines do not change */
	size_t number = data[0] % (sizeof machines / sizeof machines[0]);
	char *text = arena_copy_n(&run->arena, (const char *)data + 1, size - 1), *line;
	struct error err = { 0 };

	run->diagnostics.arena = &run->arena;
	if (!contexts[number].fs)
		PROPERTY(context_parse(&machine_arena, "machine", machines[number], strlen(machines[number]), &contexts[number],
				       &err) == 0);
	run->context = contexts[number];
	if (strlen(text) != size - 1 || !is_utf8(text, size - 1))
		return false;
	while ((line = strsep(&text, "\n"))) {
		if (text_has_control(line, strlen(line)))
			return false;
		add_line(run, line);
	}
	return true;
}

static enum walk_step collect(void *self, const char *directory, const char *name, enum file_type type)
{
	struct run *run = self;
	PROPERTY(run->path_count < PATHS_MAX);
	run->types[run->path_count] = type;
	run->paths[run->path_count++] = path_join(&run->arena, directory, name);
	return WALK_DESCEND;
}

/* As the language says it, written down a second time: nothing of plan_expand.c. */
static const char *expanded(struct run *run, const char *text, bool is_pattern)
{
	const char *home = is_pattern ? pattern_quote(&run->arena, run->context.home) : run->context.home;
	if (text[0] == '~')
		return arena_printf(&run->arena, "%s%s", home, text + 1);
	if (strncmp(text, "$HOME", 5) == 0 && (text[5] == '/' || text[5] == '\0'))
		return arena_printf(&run->arena, "%s%s", home, text + 5);
	return text;
}

static bool names_grant(struct run *run, const struct rule *rule, const char *path)
{
	const char *text = expanded(run, rule->text, false), *canonical;
	struct error err;
	/* Other variables depend on the environment: that they lead here is the plan's word. */
	if (text[0] == '$')
		return true;
	text = path_absolute(&run->arena, run->context.project, text);
	return path_resolve(run->context.fs, &run->arena, text, &canonical, NULL, NULL, &err) == 0 &&
	       strcmp(canonical, path) == 0;
}

static void judge_grant(struct run *run, const struct plan_grant *grant)
{
	const struct rule *rule = grant->rule;
	PROPERTY(rule && path_is_absolute_clean(grant->path));
	PROPERTY(strcmp(grant->path, "/") != 0);
	PROPERTY(!path_is_within(grant->path, "/proc") && !path_is_within(grant->path, "/dev"));
	PROPERTY(!path_is_within(grant->path, run->context.state_directory));
	PROPERTY(run->plan.home == HOME_HOST || !path_is_within(run->context.home, grant->path));
	PROPERTY(!plan_denied_by(&run->plan, grant->path, grant->type == FILE_DIRECTORY));
	if (strcmp(rule->key, "home") == 0) {
		PROPERTY(grant->kind == GRANT_READ && strcmp(grant->path, run->context.home) == 0);
	} else if (strcmp(rule->key, "network") == 0) {
		PROPERTY(grant->kind == GRANT_READ && run->plan.network.mode == NETWORK_ALL);
	} else if (strcmp(rule->text, "git worktree") == 0) {
		PROPERTY(text_ends_with(rule->origin.source, "/.git") && text_ends_with(grant->path, "/main/.git"));
	} else {
		PROPERTY(grant->kind != GRANT_WRITE || strcmp(rule->key, "files.write") == 0);
		PROPERTY(names_grant(run, rule, grant->path));
	}
	if (grant->kind == GRANT_WRITE)
		PROPERTY(!context_system_directory(grant->path) && !path_is_within(run->context.config_directory, grant->path));
}

static void compile(struct run *run, const struct rules *rules, struct compiled *compiled)
{
	for (size_t i = 0; i < rules->count; i++) {
		const char *text = expanded(run, rules->items[i].text, true);
		struct error err;
		if (text[0] == '$' ||
		    pattern_compile(&run->arena, text, run->context.project, &compiled->patterns[compiled->count], &err) < 0)
			continue;
		compiled->rules[compiled->count++] = &rules->items[i];
	}
}

/* Does the pattern match the path or an ancestor? */
static bool covers(const struct run *run, const struct pattern *pattern, const char *path, bool is_directory)
{
	char prefix[PATH_BYTES];
	size_t length = strlen(path);
	memcpy(prefix, path, length + 1);
	while (length > 1) {
		bool is_whole = path[length] == '\0';
		if (pattern_matches(pattern, prefix, !is_whole || is_directory, run->context.fs->is_case_insensitive))
			return true;
		while (prefix[--length] != '/')
			;
		prefix[length] = '\0';
	}
	return false;
}

static bool is_covered(const struct run *run, const struct compiled *compiled, const char *path, bool only_floor)
{
	for (size_t i = 0; i < compiled->count; i++)
		if ((!only_floor || compiled->rules[i]->layer == LAYER_FLOOR) &&
		    covers(run, &compiled->patterns[i], path, true))
			return true;
	return false;
}

/* What was matched may lie in a tree of software although the path below it does not. */
static bool is_in_system(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run->plan.grants.count; i++)
		if (run->plan.grants.items[i].kind == GRANT_SYSTEM && path_is_within(path, run->plan.grants.items[i].path))
			return true;
	return false;
}

static bool is_denied(const struct run *run, const char *path, bool is_directory)
{
	for (size_t i = 0; i < run->deny.count; i++) {
		const struct pattern *pattern = &run->deny.patterns[i];
		if (!covers(run, pattern, path, is_directory))
			continue;
		if (is_covered(run, &run->except, path, run->deny.rules[i]->layer == LAYER_FLOOR))
			continue;
		if (pattern->is_anywhere && (is_in_system(run, path) || is_covered(run, &run->prune, path, false)))
			continue;
		return true;
	}
	return path_is_within(path, run->context.state_directory);
}

static bool is_listed(const struct plan_matches *matches, const char *path)
{
	for (size_t i = 0; i < matches->count; i++)
		if (path_is_within(path, matches->items[i].path))
			return true;
	return false;
}

static void judge_allowed(struct run *run, enum access access, const char *path, const struct verdict *verdict)
{
	const struct plan_grant *grant = plan_grant_for(&run->plan, path);
	PROPERTY(verdict->rule);
	if (access == ACCESS_WRITE && grant && strcmp(verdict->rule->key, "sockets") != 0)
		PROPERTY(grant->kind == GRANT_WRITE);
	if (!grant)
		PROPERTY(verdict->rule == &rule_platform || plan_is_own_place(&run->plan, path) ||
			 strcmp(verdict->rule->key, "sockets") == 0 || path_is_within(path, "/dev") ||
			 path_is_within(path, "/proc"));
}

static void judge_path(struct run *run, const char *path, enum file_type type, bool is_scanned)
{
	const struct plan *plan = &run->plan;
	bool is_directory = type == FILE_DIRECTORY;
	for (int i = ACCESS_READ; i <= ACCESS_EXECUTE; i++) {
		struct verdict verdict = plan_check_path(plan, (enum access)i, path, is_directory);
		PROPERTY(verdict.reason);
		if (verdict.is_allowed)
			judge_allowed(run, (enum access)i, path, &verdict);
		if (type != FILE_ABSENT && is_denied(run, path, is_directory))
			PROPERTY(!verdict.is_allowed);
		if (is_scanned && is_listed(&plan->scan->masked, path))
			PROPERTY(!verdict.is_allowed);
	}
	/* What the evaluator denies and the view shows has been found; a symlink cannot be hidden,
	 * only what it leads to. On macOS a profile's rule holds by name in pruned trees too, which
	 * the scan leaves out there as on Linux. */
	if (is_scanned && type != FILE_ABSENT && type != FILE_SYMLINK && plan_grant_for(plan, path) &&
	    plan_denied_by(plan, path, is_directory) &&
	    !(plan->context.os == OS_MACOS && is_covered(run, &run->prune, path, false)))
		PROPERTY(is_listed(&plan->scan->masked, path));
}

static void judge_paths(struct run *run, bool is_scanned)
{
	for (size_t i = 0; i < run->path_count; i++) {
		judge_path(run, run->paths[i], run->types[i], is_scanned);
		judge_path(run, path_join(&run->arena, run->paths[i], "absent"), FILE_ABSENT, is_scanned);
	}
	judge_path(run, "/", FILE_DIRECTORY, is_scanned);
}

static void judge_list(const struct plan *plan, const struct plan_matches *matches)
{
	for (size_t i = 0; i < matches->count; i++) {
		PROPERTY(path_is_absolute_clean(matches->items[i].path) && matches->items[i].rule);
		PROPERTY(plan_grant_for(plan, matches->items[i].path));
		PROPERTY(i == 0 || strcmp(matches->items[i - 1].path, matches->items[i].path) < 0);
	}
}

static void judge_scan(struct run *run)
{
	struct plan *plan = &run->plan;
	struct error err = { 0 };
	PROPERTY(plan_scan(plan, &err) == 0);
	judge_list(plan, &plan->scan->masked);
	judge_list(plan, &plan->scan->locked);
	judge_list(plan, &plan->scan->pinned);
	for (size_t i = 0; i < plan->scan->masked.count; i++)
		for (size_t k = 0; k < plan->scan->masked.count; k++)
			PROPERTY(i == k || !path_is_within(plan->scan->masked.items[i].path, plan->scan->masked.items[k].path));
	for (size_t i = 0; i < plan->scan->pinned.count; i++)
		PROPERTY(plan_grant_for(plan, plan->scan->pinned.items[i].path)->kind == GRANT_WRITE);
	for (size_t i = 0; i < plan->scan->locked.count; i++)
		for (size_t k = 0; k < plan->scan->locked.count; k++)
			PROPERTY(i == k || !path_is_within(plan->scan->locked.items[i].path, plan->scan->locked.items[k].path));
	for (size_t i = 0; i < plan->scan->locked.count; i++)
		PROPERTY(plan_grant_for(plan, plan->scan->locked.items[i].path)->kind == GRANT_WRITE);
}

static void judge_plan(struct run *run)
{
	struct text page = { 0 }, json = { 0 };
	struct error err;
	for (size_t i = 0; i < run->plan.grants.count; i++) {
		judge_grant(run, &run->plan.grants.items[i]);
		PROPERTY(i == 0 || strcmp(run->plan.grants.items[i - 1].path, run->plan.grants.items[i].path) < 0);
	}
	compile(run, &run->policy.files.deny, &run->deny);
	compile(run, &run->policy.files.except, &run->except);
	compile(run, &run->policy.files.prune, &run->prune);
	PROPERTY(run->context.fs->walk(run->context.fs, "/", collect, run, &err) == 0);
	judge_paths(run, false);
	judge_scan(run);
	judge_paths(run, true);
	plan_print(&run->plan, NULL, true, &page);
	plan_json(&run->plan, NULL, &json);
	PROPERTY(is_utf8(page.data, page.length) && is_utf8(json.data, json.length));
	text_free(&page);
	text_free(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct run run;
	run = (struct run){ 0 };
	if (size < 2 || size > INPUT_MAX)
		return 0;
	if (read_input(&run, data, size)) {
		int status = plan_resolve(&run.arena, &run.policy, &run.context, &run.plan, &run.diagnostics);
		PROPERTY((status < 0) == (run.diagnostics.count > 0));
		if (status == 0)
			judge_plan(&run);
	}
	arena_free(&run.arena);
	return 0;
}

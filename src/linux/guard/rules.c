/* SPDX-License-Identifier: Apache-2.0 */
/* Decides by the path alone. That is exact, because the command cannot change which directory a
 * place's path leads to: places and spines are never renamed, symlinks and moved directories are
 * never put where a holder, a place or a spine belongs, and a directory that is made there is
 * checked by the same path. */
#include "linux/guard/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"
#include "common/plan/planting.h"

enum { ROLE_ROOT = 1, ROLE_POINTER = 2, ROLE_GIT = 4, ROLE_SPINE = 8, ROLE_GRANT = 16, ROLE_BORN = 32 };
enum { SHORT_BYTES = 4096, TABLE_MIN = 64 };

/* Names that git obeys in a git directory, from that directory. */
static const struct git_name {
	const char *name;
	size_t length;
} git_names[] = {
	{ "/config", 7 }, { "/config.worktree", 16 }, { "/commondir", 10 }, { "/hooks", 6 }, { "/info/attributes", 16 },
};
static const char git_info[] = "/info";

static uint32_t hash_more(uint32_t hash, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u; /* FNV-1a */
	return hash;
}

enum { HASH_START = (int)0x811c9dc5u };

static struct guard_role *slot(const struct guard_rules *rules, uint32_t hash, const char *path, size_t length)
{
	size_t at = hash & rules->mask;
	while (rules->table[at].path && (rules->table[at].length != length || memcmp(rules->table[at].path, path, length) != 0))
		at = (at + 1) & rules->mask;
	return &rules->table[at];
}

static unsigned roles_of(const struct guard_rules *rules, uint32_t hash, const char *path, size_t length)
{
	const struct guard_role *role = slot(rules, hash, path, length);
	return role->path ? role->roles : 0;
}

static void add_role(const struct guard_rules *rules, const char *path, size_t length, unsigned roles)
{
	struct guard_role *role = slot(rules, hash_more((uint32_t)HASH_START, path, length), path, length);
	role->path = path;
	role->length = length;
	role->roles |= roles;
}

/* The place itself, and the directories above it. */
static void add_place(const struct guard_rules *rules, const struct plan_place *place)
{
	static const unsigned roles[] = { [PLACE_ROOT] = ROLE_ROOT,
					  [PLACE_POINTER] = ROLE_ROOT | ROLE_POINTER,
					  [PLACE_GIT] = ROLE_GIT,
					  [PLACE_BORN] = ROLE_BORN };
	add_role(rules, place->path, strlen(place->path), roles[place->kind]);
	if (place->kind == PLACE_BORN)
		return;
	for (size_t at = strlen(place->path); at-- > 1;)
		if (place->path[at] == '/')
			add_role(rules, place->path, at, ROLE_SPINE);
}

static size_t count_components(const struct plan_places *places, size_t grants)
{
	size_t count = grants;
	for (size_t i = 0; i < places->count; i++)
		for (const char *at = places->items[i].path; *at; at++)
			count += *at == '/';
	return count;
}

/* Components of a pattern that matches anywhere, after its leading stars; 0 if it has stars for
 * directories inside too. */
static unsigned components_of(const struct pattern *pattern)
{
	unsigned count = 0;
	const char *text;
	if (!pattern->is_anywhere)
		return 0;
	if (pattern->is_base_name)
		return 1;
	text = pattern->text + sizeof "/**" - 1;
	if (strstr(text, "**") || strchr(text, '['))
		return 0;
	for (; *text; text++)
		count += text[0] == '/' && text[1] && text[1] != '/';
	return count;
}

enum leading { LEADING_EVERYWHERE, LEADING_ANYWHERE, LEADING_FIXED, LEADING_NONE };

static enum leading leading_of(const struct guard_pattern *pattern)
{
	const struct pattern *text = &pattern->item->pattern;
	if (text->is_base_name)
		return LEADING_NONE;
	if (!text->is_anywhere)
		return LEADING_FIXED;
	if (planting_is_of_modules(pattern->item))
		return LEADING_NONE;
	return pattern->is_everywhere ? LEADING_EVERYWHERE : LEADING_ANYWHERE;
}

static void add_leading(struct guard_rules *rules, enum leading kind)
{
	for (size_t i = 0; i < rules->plan->protect.count; i++)
		if (leading_of(&rules->patterns[i]) == kind)
			rules->leading[rules->leading_count++] = &rules->patterns[i];
}

/* Whatever a judgement asks of a pattern, asked once. */
static void prepare_patterns(struct guard_rules *rules)
{
	const struct plan_patterns *protect = &rules->plan->protect;
	rules->patterns = arena_alloc(rules->plan->arena, (protect->count + 1) * sizeof *rules->patterns);
	rules->leading = arena_alloc(rules->plan->arena, (protect->count + 1) * sizeof *rules->leading);
	name_filter_prepare(&rules->names, rules->plan->arena, protect->count);
	for (size_t i = 0; i < protect->count; i++) {
		rules->patterns[i] = (struct guard_pattern){ &protect->items[i], components_of(&protect->items[i].pattern),
							     planting_is_everywhere(&protect->items[i]) };
		if (!planting_is_of_modules(&protect->items[i]))
			name_filter_add(&rules->names, i, &protect->items[i].pattern, rules->case_fold);
	}
	add_leading(rules, LEADING_EVERYWHERE);
	rules->leading_everywhere = rules->leading_count;
	add_leading(rules, LEADING_ANYWHERE);
	rules->leading_anywhere = rules->leading_count;
	add_leading(rules, LEADING_FIXED);
}

void guard_rules_build(struct guard_rules *rules, const struct plan *plan)
{
	const struct plan_places *places = &plan->scan->places;
	size_t size = TABLE_MIN;

	*rules = (struct guard_rules){ .plan = plan, .case_fold = plan_folds_case(plan) };
	while (size < 2 * count_components(places, plan->grants.count) + 2)
		size *= 2;
	rules->table = arena_alloc(plan->arena, size * sizeof *rules->table);
	rules->mask = size - 1;
	for (size_t i = 0; i < places->count; i++)
		add_place(rules, &places->items[i]);
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE)
			add_role(rules, plan->grants.items[i].path, strlen(plan->grants.items[i].path), ROLE_GRANT);
	rules->free_count = guard_free_directories(plan, rules->free);
	prepare_patterns(rules);
}

/* A path, split. */
struct subject {
	const struct guard_rules *rules;
	const char *path;
	enum guard_thing thing;
	uint16_t *ends; /* of each component */
	uint8_t *roles; /* of each prefix */
	char *prefix; /* a copy of the path, which is cut for a moment */
	unsigned depth;
	unsigned grant; /* the index of the outermost write grant; depth if there is none */
	unsigned born; /* the index of a born git directory that contains the path; depth if none does */
};

static void split(struct subject *subject)
{
	uint32_t hash = (uint32_t)HASH_START;
	const char *path = subject->path;
	size_t at = 0;
	subject->depth = 0;
	while (path[at] == '/' && path[at + 1]) {
		size_t end = at + 1 + strcspn(path + at + 1, "/");
		hash = hash_more(hash, path + at, end - at);
		subject->ends[subject->depth] = (uint16_t)end;
		subject->roles[subject->depth++] = (uint8_t)roles_of(subject->rules, hash, path, end);
		at = end;
	}
	for (subject->grant = 0; subject->grant < subject->depth; subject->grant++)
		if (subject->roles[subject->grant] & ROLE_GRANT)
			break;
	for (subject->born = 0; subject->born < subject->depth; subject->born++)
		if (subject->born + 1 < subject->depth && (subject->roles[subject->born] & ROLE_BORN))
			break;
}

static bool is_plain_root(const struct subject *subject, unsigned index)
{
	return index <= subject->grant || (subject->roles[index] & ROLE_ROOT);
}

/* True if hosts look from the prefix: it is a root, or at or above a write grant, of which every
 * part was named by the user, or .config in one of these, in which mise and fish look too. */
static bool is_root(const struct subject *subject, unsigned index)
{
	static const char config[] = "/.config";
	return is_plain_root(subject, index) ||
	       (is_plain_root(subject, index - 1) && subject->ends[index] - subject->ends[index - 1] == sizeof config - 1 &&
		memcmp(subject->path + subject->ends[index - 1], config, sizeof config - 1) == 0);
}

/* True if a host that looks from the prefix with this index finds the one that ends with `last`. */
static bool is_found_from(const struct subject *subject, const struct pattern *pattern, unsigned root, unsigned last,
			  bool is_directory)
{
	char *end = subject->prefix + subject->ends[last], cut = *end;
	bool is_match;
	*end = '\0';
	is_match =
		planting_matches_from(pattern, subject->prefix, subject->ends[root], is_directory, subject->rules->case_fold);
	*end = cut;
	return is_match;
}

/* The number of a pattern's components determines the root: a path of thousands of directories is
 * not searched for each of them. */
static bool is_found(const struct subject *subject, const struct guard_pattern *pattern, unsigned last, bool is_directory)
{
	if (pattern->components)
		return pattern->components <= last &&
		       (pattern->is_everywhere || is_root(subject, last - pattern->components)) &&
		       is_found_from(subject, &pattern->item->pattern, last - pattern->components, last, is_directory);
	for (unsigned i = 0; i < last; i++)
		if (is_root(subject, i) && is_found_from(subject, &pattern->item->pattern, i, last, is_directory))
			return true;
	return false;
}

/* True if the prefix that ends with this component is where the pattern is refused. */
static bool is_refused(const struct subject *subject, const struct guard_pattern *pattern, unsigned last)
{
	bool is_directory = last + 1 < subject->depth || subject->thing != GUARD_FILE;
	/* A pattern that is everywhere may also match from the top, which is no prefix. */
	if ((!pattern->is_everywhere || (pattern->components && pattern->components <= last)) &&
	    !is_found(subject, pattern, last, is_directory))
		return false;
	return plan_protect_covers(subject->rules->plan, pattern->item, subject->path, subject->ends[last],
				   subject->thing != GUARD_FILE);
}

/* The rule by which the prefix that ends with this component protects the path. A symlink counts as
 * a directory: it may lead to one. */
static const struct rule *protected_at(const struct subject *subject, unsigned last)
{
	const struct guard_rules *rules = subject->rules;
	size_t start = last > 0 ? subject->ends[last - 1] + 1u : 1, length = subject->ends[last] - start;
	const char *name = subject->path + start;
	for (size_t word = 0; word < rules->names.words; word++) {
		uint64_t bits =
			name_filter_candidates(&rules->names, word, (unsigned char)name[0], (unsigned char)name[length - 1]);
		for (; bits; bits &= bits - 1) {
			size_t number = word * 64 + (size_t)__builtin_ctzll(bits);
			if (name_filter_agrees(&rules->names, number, name, length) &&
			    is_refused(subject, &rules->patterns[number], last))
				return rules->patterns[number].item->rule;
		}
	}
	return NULL;
}

/* True if the path is one of the names that git obeys in a git directory, or below one. */
static bool is_git_name(const struct subject *subject)
{
	for (unsigned i = 0; i + 1 < subject->depth; i++) {
		const char *rest = subject->path + subject->ends[i];
		if (!(subject->roles[i] & ROLE_GIT))
			continue;
		for (size_t k = 0; k < sizeof git_names / sizeof git_names[0]; k++)
			if (strncmp(rest, git_names[k].name, git_names[k].length) == 0 &&
			    (rest[git_names[k].length] == '/' || rest[git_names[k].length] == '\0'))
				return true;
	}
	return false;
}

/* True for .git in a root below or at a write grant. */
static bool is_marker(const struct subject *subject)
{
	return subject->depth > 1 && (subject->roles[subject->depth - 2] & ROLE_ROOT) &&
	       strcmp(subject->path + subject->ends[subject->depth - 2], "/.git") == 0;
}

/* True if a pattern that matches anywhere leads below the path from this prefix: built-in ones from
 * a root, the user's own from everywhere. */
static bool leads_from(const struct subject *subject, unsigned index)
{
	const struct guard_rules *rules = subject->rules;
	size_t count = is_root(subject, index) ? rules->leading_anywhere : rules->leading_everywhere;
	for (size_t k = 0; k < count; k++)
		if (planting_leads_below(&rules->leading[k]->item->pattern, subject->path, subject->ends[index],
					 rules->case_fold))
			return true;
	return false;
}

/* True if a pattern that begins at a fixed directory leads below the path. */
static bool leads_from_above(const struct subject *subject)
{
	const struct guard_rules *rules = subject->rules;
	for (size_t k = rules->leading_anywhere; k < rules->leading_count; k++)
		if (pattern_may_match_below(&rules->leading[k]->item->pattern, subject->path, rules->case_fold))
			return true;
	return false;
}

/* True if a host looks for names below the path. */
static bool is_holder(const struct subject *subject)
{
	unsigned last = subject->depth - 1;
	if ((subject->roles[last] & (ROLE_ROOT | ROLE_GIT | ROLE_SPINE)) || is_marker(subject))
		return true;
	for (unsigned i = 0; i < last; i++)
		if (((subject->roles[i] & ROLE_GIT) && strcmp(subject->path + subject->ends[i], git_info) == 0) ||
		    leads_from(subject, i))
			return true;
	return leads_from_above(subject);
}

/* The shape of places: where a directory is looked into, only mkdir makes one. A file there is no
 * directory, so it does no harm, except for a .git that leads elsewhere. */
static int judge_shape(const struct subject *subject, bool has_moved)
{
	if (subject->thing == GUARD_FILE)
		return is_marker(subject) && !(subject->roles[subject->depth - 2] & ROLE_POINTER) ? EACCES : 0;
	if (subject->thing == GUARD_DIRECTORY && !has_moved)
		return 0;
	if (!is_holder(subject))
		return 0;
	return subject->thing == GUARD_DIRECTORY ? EXDEV : EACCES;
}

static struct guard_verdict judge(struct subject *subject, bool has_moved)
{
	struct guard_verdict verdict = { 0, NULL };

	split(subject);
	if (subject->grant >= subject->depth)
		return verdict; /* not writable, or private to the sandbox: no host looks there */
	for (unsigned i = subject->grant; i < subject->depth && i <= subject->born && !verdict.rule; i++)
		verdict.rule = protected_at(subject, i);
	if (!verdict.rule && subject->born < subject->depth)
		return verdict;
	if (!verdict.rule && is_git_name(subject))
		verdict.rule = &rule_git_names;
	if (verdict.rule) {
		verdict.error = EACCES;
		return verdict;
	}
	verdict.error = judge_shape(subject, has_moved);
	if (verdict.error == EACCES)
		verdict.rule = &rule_git_pointer;
	return verdict;
}

/* Also in doubt: the path is too long for the table, or there is no memory. */
static const struct guard_verdict unknown = { EACCES, &rule_unsearchable };

/* A component has at least two bytes, its slash among them. */
static struct guard_verdict judge_long(struct subject *subject, size_t length, bool has_moved)
{
	size_t components = length / 2 + 1;
	struct guard_verdict verdict = unknown;
	subject->ends = calloc(components, sizeof *subject->ends);
	subject->roles = calloc(components, sizeof *subject->roles);
	subject->prefix = strdup(subject->path);
	if (subject->ends && subject->roles && subject->prefix)
		verdict = judge(subject, has_moved);
	free(subject->ends);
	free(subject->roles);
	free(subject->prefix);
	return verdict;
}

struct guard_verdict guard_judge(const struct guard_rules *rules, const char *path, enum guard_thing thing, bool has_moved)
{
	struct subject subject = { .rules = rules, .path = path, .thing = thing };
	uninitialised uint16_t ends[SHORT_BYTES / 2];
	uninitialised uint8_t roles[SHORT_BYTES / 2];
	uninitialised char prefix[SHORT_BYTES];
	size_t length = strlen(path);

	if (length >= GUARD_PATH_BYTES)
		return unknown;
	if (length >= SHORT_BYTES)
		return judge_long(&subject, length, has_moved);
	memcpy(prefix, path, length + 1);
	subject.ends = ends;
	subject.roles = roles;
	subject.prefix = prefix;
	return judge(&subject, has_moved);
}

bool guard_is_fixed(const struct guard_rules *rules, const char *path)
{
	size_t length = strlen(path);
	uint32_t hash = hash_more((uint32_t)HASH_START, path, length);
	return roles_of(rules, hash, path, length) & (ROLE_ROOT | ROLE_GIT | ROLE_SPINE | ROLE_GRANT);
}

bool guard_is_git(const struct guard_rules *rules, const char *path)
{
	size_t length = strlen(path);
	return roles_of(rules, hash_more((uint32_t)HASH_START, path, length), path, length) & ROLE_GIT;
}

static bool has_write_grant(const struct plan *plan, const char *directory)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && path_is_within(plan->grants.items[i].path, directory))
			return true;
	return false;
}

/* True if a name at or below the path may be refused wherever the path is. */
static bool is_everywhere_below(const struct guard_rules *rules, const char *path)
{
	for (size_t i = 0; i < rules->plan->protect.count; i++)
		if (rules->patterns[i].is_everywhere &&
		    pattern_may_match_below(&rules->patterns[i].item->pattern, path, rules->case_fold))
			return true;
	return false;
}

/* A directory may be moved to the path only if no host looks below it: such a directory brings
 * names that were never checked. The same holds for a directory in which names are not checked. It
 * cannot be moved to a place, and no place can be moved into it. */
bool guard_may_be_tree(const struct guard_rules *rules, const char *path)
{
	const struct plan *plan = rules->plan;
	bool is_writable = false;
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (path_is_within(grant->path, path))
			return false;
		is_writable |= grant->kind == GRANT_WRITE && path_is_within(path, grant->path);
	}
	return is_writable && guard_judge(rules, path, GUARD_DIRECTORY, true).error == 0 && !guard_is_fixed(rules, path) &&
	       !is_everywhere_below(rules, path);
}

size_t guard_free_directories(const struct plan *plan, const char *directories[GUARD_FREE_MAX])
{
	const char *const own[GUARD_FREE_MAX] = { "/dev", "/tmp", plan->home == HOME_HOST ? NULL : plan->context.home };
	size_t count = 0;
	for (size_t i = 0; i < GUARD_FREE_MAX; i++)
		if (own[i] && !has_write_grant(plan, own[i]))
			directories[count++] = own[i];
	return count;
}

bool guard_is_free(const struct guard_rules *rules, const char *path)
{
	for (size_t i = 0; i < rules->free_count; i++)
		if (path_is_within(path, rules->free[i]))
			return true;
	return false;
}

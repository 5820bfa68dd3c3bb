/* SPDX-License-Identifier: Apache-2.0 */
/* One function per type, for both directions. Decoded strings point into the bytes.
 *
 * A struct is a table of its fields: each is coded, or has a reason why not. unit-cache-plan_codec
 * checks that the table covers every byte of the struct, so a new field cannot be forgotten. */
#include "common/cache/plan_codec.h"

#include <stddef.h>
#include <string.h>

#include "common/cache/codec.h"
#include "common/plan/plan.h"

static void rule_value(struct codec *codec, struct rule *rule)
{
	codec_repeated_string(codec, &rule->key, &codec->key);
	codec_required_string(codec, &rule->text);
	codec_repeated_string(codec, &rule->origin.source, &codec->source);
	codec_bytes(codec, &rule->origin.line, sizeof rule->origin.line);
	codec_bytes(codec, &rule->origin.column, sizeof rule->origin.column);
	rule->layer = (enum layer)codec_choice(codec, rule->layer, LAYER_COMMAND_LINE);
}

/* plan/evaluate.c recognises the rule of berm's own state by its address. */
enum rule_kind { RULE_NONE, RULE_CODED, RULE_STATE };

static void rule_pointer(struct codec *codec, const struct rule **rule)
{
	enum rule_kind kind = !*rule ? RULE_NONE : *rule == &rule_state ? RULE_STATE : RULE_CODED;
	struct rule written = { 0 };
	struct rule *value = &written;

	if (*rule)
		written = **rule;
	kind = (enum rule_kind)codec_choice(codec, kind, RULE_STATE);
	if (kind != RULE_CODED) {
		*rule = kind == RULE_STATE ? &rule_state : NULL;
		return;
	}
	if (!codec->is_writing)
		*rule = value = arena_alloc(codec->arena, sizeof *value);
	rule_value(codec, value);
}

/* Codes a rule that plan/evaluate.c expects to be set. */
static void required_rule(struct codec *codec, const struct rule **rule)
{
	rule_pointer(codec, rule);
	if (!*rule) {
		codec->has_failed = true;
		*rule = &rule_state;
	}
}

static void setting(struct codec *codec, struct setting *value)
{
	codec_boolean(codec, &value->is_set);
	if (!value->is_set)
		return;
	codec_number(codec, &value->value);
	rule_value(codec, &value->rule);
}

DEFINE_FIELD(string_field, const char *, codec_string)
DEFINE_FIELD(required_string_field, const char *, codec_required_string)
DEFINE_FIELD(boolean_field, bool, codec_boolean)
DEFINE_FIELD(rule_field, const struct rule *, rule_pointer)
DEFINE_FIELD(setting_field, struct setting, setting)

static void raw_uid(struct codec *codec, void *field)
{
	codec_bytes(codec, field, sizeof(uid_t));
}

static void raw_gid(struct codec *codec, void *field)
{
	codec_bytes(codec, field, sizeof(gid_t));
}

static void grant(struct codec *codec, struct plan_grant *value)
{
	codec_required_string(codec, &value->path);
	value->kind = (enum grant_kind)codec_choice(codec, value->kind, GRANT_WRITE);
	value->type = (enum file_type)codec_choice(codec, value->type, FILE_UNKNOWN);
	required_rule(codec, &value->rule);
}

static void literal_prefix(struct codec *codec, void *field)
{
	size_t *value = field;
	uint64_t length = *value;
	codec_number(codec, &length);
	*value = (size_t)length;
}

static const struct plan_codec_field pattern_fields[] = {
	CODED(struct pattern, text, required_string_field), CODED(struct pattern, literal_prefix, literal_prefix),
	CODED(struct pattern, is_base_name, boolean_field), CODED(struct pattern, is_literal, boolean_field),
	CODED(struct pattern, is_anywhere, boolean_field),  CODED(struct pattern, is_directory_only, boolean_field),
};
const struct plan_codec_table plan_codec_pattern = { pattern_fields, sizeof pattern_fields / sizeof pattern_fields[0] };

static void pattern(struct codec *codec, struct plan_pattern *value)
{
	codec_fields(codec, &plan_codec_pattern, &value->pattern);
	if (value->pattern.literal_prefix > strlen(value->pattern.text))
		codec->has_failed = true;
	if (codec->has_failed)
		value->pattern.literal_prefix = 0;
	required_rule(codec, &value->rule);
}

static void match(struct codec *codec, struct plan_match *value)
{
	codec_required_string(codec, &value->path);
	value->type = (enum file_type)codec_choice(codec, value->type, FILE_UNKNOWN);
	required_rule(codec, &value->rule);
}

/* For init, which needs no rules. Accepts absolute paths only. */
static void match_without_rule(struct codec *codec, struct plan_match *value)
{
	codec_required_string(codec, &value->path);
	value->type = (enum file_type)codec_choice(codec, value->type, FILE_UNKNOWN);
	if (value->path[0] != '/')
		codec->has_failed = true;
}

static void place_without_rule(struct codec *codec, struct plan_place *value)
{
	codec_required_string(codec, &value->path);
	value->kind = (enum place_kind)codec_choice(codec, value->kind, PLACE_BORN);
	if (value->path[0] != '/')
		codec->has_failed = true;
}

static void search(struct codec *codec, struct plan_search *value)
{
	uint64_t pattern = value->pattern;
	codec_required_string(codec, &value->start);
	codec_number(codec, &pattern);
	value->pattern = pattern;
}

static void link_value(struct codec *codec, struct path_link *value)
{
	codec_required_string(codec, &value->path);
	codec_required_string(codec, &value->target);
}

static void item(struct codec *codec, struct plan_item *value)
{
	codec_required_string(codec, &value->value);
	required_rule(codec, &value->rule);
}

static void variable(struct codec *codec, struct plan_variable *value)
{
	codec_required_string(codec, &value->name);
	codec_required_string(codec, &value->value);
	rule_pointer(codec, &value->rule);
}

static void document(struct codec *codec, struct plan_document *value)
{
	codec_required_string(codec, &value->path);
	codec_required_string(codec, &value->text);
}

static void port(struct codec *codec, uint16_t *value)
{
	codec_bytes(codec, value, sizeof *value);
}

static void address_value(struct codec *codec, struct address *value)
{
	codec_boolean(codec, &value->is_v6);
	codec_bytes(codec, value->bytes, sizeof value->bytes);
}

static void destination(struct codec *codec, struct destination *value)
{
	uint64_t prefix = value->prefix;
	value->kind = (enum destination_kind)codec_choice(codec, value->kind, DESTINATION_ANY);
	codec_string(codec, &value->host);
	address_value(codec, &value->network);
	codec_number(codec, &prefix);
	/* net/destination.c compares `host` if the kind has one, and `prefix` bits of the
	 * address. */
	if (prefix > (value->network.is_v6 ? 128 : 32) ||
	    (!value->host && (value->kind == DESTINATION_NAME || value->kind == DESTINATION_WILDCARD)))
		codec->has_failed = true;
	value->prefix = codec->has_failed ? 0 : (unsigned)prefix;
	if (codec->has_failed)
		value->host = "";
	port(codec, &value->port_low);
	port(codec, &value->port_high);
	required_rule(codec, &value->rule);
}

static void local_port(struct codec *codec, struct plan_port *value)
{
	port(codec, &value->low);
	port(codec, &value->high);
	required_rule(codec, &value->rule);
}

static void published_port(struct codec *codec, struct plan_publish *value)
{
	address_value(codec, &value->address);
	port(codec, &value->host_port);
	port(codec, &value->port);
	required_rule(codec, &value->rule);
}

static void dependency(struct codec *codec, struct dependency *value)
{
	codec_required_string(codec, &value->path);
	codec_boolean(codec, &value->is_content);
	codec_bytes(codec, &value->mode, sizeof value->mode);
	codec_bytes(codec, &value->uid, sizeof value->uid);
	codec_number(codec, &value->device);
	codec_number(codec, &value->inode);
	codec_number(codec, &value->size);
	codec_bytes(codec, &value->changed_s, sizeof value->changed_s);
	codec_bytes(codec, &value->changed_ns, sizeof value->changed_ns);
	codec_bytes(codec, &value->prover, sizeof value->prover);
	codec_bytes(codec, &value->listed_s, sizeof value->listed_s);
	codec_bytes(codec, &value->listed_ns, sizeof value->listed_ns);
}

static void state(struct codec *codec, void *field)
{
	struct plan_state *value = field;
	codec_required_string(codec, &value->directory);
	codec_required_string(codec, &value->home);
	codec_required_string(codec, &value->tmp);
	codec_required_string(codec, &value->documents);
	codec_required_string(codec, &value->project_key);
	codec_required_string(codec, &value->grant_class);
}

DEFINE_ENUM(tier, enum tier, TIER_LANDLOCK)

static const struct plan_codec_field context_fields[] = {
	NOT_CODED(struct context, os, "plan_codec_fits: Linux"),
	CODED(struct context, uid, raw_uid),
	CODED(struct context, gid, raw_gid),
	NOT_CODED(struct context, is_narrowing, "only for making a plan"),
	NOT_CODED(struct context, agent, "only for making a plan; such a plan is not cached"),
	CODED(struct context, tier, tier),
	CODED(struct context, user, required_string_field),
	CODED(struct context, home, required_string_field),
	CODED(struct context, project, required_string_field),
	NOT_CODED(struct context, enclosing, "only for making a plan"),
	CODED(struct context, working_directory, string_field),
	CODED(struct context, config_directory, required_string_field),
	CODED(struct context, state_directory, required_string_field),
	NOT_CODED(struct context, executable, "only for making a plan"),
	NOT_CODED(struct context, environment, "the caller's, at every launch"),
	NOT_CODED(struct context, has_terminal, "the caller's, at every launch"),
	NOT_CODED(struct context, fs, "the host's"),
};
const struct plan_codec_table plan_codec_context = { context_fields, sizeof context_fields / sizeof context_fields[0] };

static void context(struct codec *codec, void *field)
{
	codec_fields(codec, &plan_codec_context, field);
}

DEFINE_VECTOR(grants, struct plan_grants, grant)
DEFINE_VECTOR(links, struct path_links, link_value)
DEFINE_VECTOR(patterns, struct plan_patterns, pattern)
DEFINE_VECTOR(matches, struct plan_matches, match)
DEFINE_VECTOR(paths, struct plan_matches, match_without_rule)
DEFINE_VECTOR(places, struct plan_places, place_without_rule)
DEFINE_VECTOR(searches, struct plan_searches, search)
DEFINE_VECTOR(items, struct plan_items, item)
DEFINE_VECTOR(destinations, struct destinations, destination)
DEFINE_VECTOR(local_ports, struct plan_ports, local_port)
DEFINE_VECTOR(published_ports, struct plan_published, published_port)
DEFINE_VECTOR(git_files, struct plan_git_files, document)
DEFINE_VECTOR(variables, struct plan_variables, variable)
DEFINE_VECTOR(rules, struct rules, rule_value)
DEFINE_VECTOR(dependencies, struct dependency_list, dependency)
DEFINE_ENUM(home_mode, enum home_mode, HOME_HOST)
DEFINE_ENUM(tmp_mode, enum tmp_mode, TMP_EMPTY)
DEFINE_ENUM(network_mode, enum network_mode, NETWORK_ALL)
DEFINE_ENUM(level, enum level, LEVEL_ENFORCED)

static void settings(struct codec *codec, void *field)
{
	struct setting *items = field;
	for (size_t i = 0; i < SETTING_COUNT; i++)
		setting(codec, &items[i]);
}

static void limits(struct codec *codec, void *field)
{
	struct setting *items = field;
	for (size_t i = 0; i < LIMIT_COUNT; i++)
		setting(codec, &items[i]);
}

static void required_levels(struct codec *codec, void *field)
{
	enum level *items = field;
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		level(codec, &items[i]);
}

static void accepted_weaker(struct codec *codec, void *field)
{
	bool *items = field;
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		codec_boolean(codec, &items[i]);
}

static const struct plan_codec_field plan_fields[] = {
	NOT_CODED(struct plan, arena, "the reader's"),
	NOT_CODED(struct plan, policy, "only environment.pass of it is needed: cached_plan.passed"),
	CODED(struct plan, context, context),
	CODED(struct plan, grants, grants),
	CODED(struct plan, links, links),
	CODED(struct plan, deny, patterns),
	CODED(struct plan, except, patterns),
	CODED(struct plan, protect, patterns),
	CODED(struct plan, unprotect, patterns),
	CODED(struct plan, prune, patterns),
	CODED(struct plan, public, patterns),
	CODED(struct plan, lifted, patterns),
	CODED(struct plan, named, matches),
	CODED(struct plan, searches, searches),
	CODED(struct plan, projects, paths),
	NOT_CODED(struct plan, scan, "of the moment"),
	CODED(struct plan, home, home_mode),
	CODED(struct plan, tmp, tmp_mode),
	CODED(struct plan, home_setting, setting_field),
	CODED(struct plan, tmp_setting, setting_field),
	CODED(struct plan, state, state),
	CODED(struct plan, network.mode, network_mode),
	CODED(struct plan, network.rule, rule_field),
	NOT_CODED(struct plan, environment, "cached_plan.own_variables, and the caller's at every launch"),
	CODED(struct plan, guard, level),
	CODED(struct plan, guards_creation, boolean_field),
	CODED(struct plan, is_guarded, boolean_field),
	CODED(struct plan, sweeps_names, boolean_field),
	CODED(struct plan, required, required_levels),
	CODED(struct plan, accepted_weaker, accepted_weaker),
	CODED(struct plan, git_user.config, string_field),
	CODED(struct plan, git_user.files, git_files),
	CODED(struct plan, git_user.ignores, string_field),
	CODED(struct plan, untrusted, string_field),
	CODED(struct plan, unmet, string_field),
	CODED(struct plan, summary, string_field),
	CODED(struct plan, held, string_field),
	CODED(struct plan, policies, string_field),
	NOT_CODED(struct plan, added, "the run's own"),
	NOT_CODED(struct plan, commands, "the run's own"),
	NOT_CODED(struct plan, notes, "printed when the plan is made"),
	CODED(struct plan, settings, settings),
	CODED(struct plan, limits, limits),
#define CODED_NETWORK_LIST(field, type, kind) CODED(struct plan, network.field, kind),
	NETWORK_LISTS(CODED_NETWORK_LIST)
#undef CODED_NETWORK_LIST
#define CODED_LIST(field, ...) CODED(struct plan, field, items),
		PLAN_LISTS(CODED_LIST)
#undef CODED_LIST
};
const struct plan_codec_table plan_codec_plan = { plan_fields, sizeof plan_fields / sizeof plan_fields[0] };

static void blob(struct codec *codec, struct cached_plan *cached)
{
	size_t size = codec_count(codec, cached->blob_size);
	if (codec->is_writing) {
		text_add_n(codec->out, cached->blob, size);
		return;
	}
	cached->blob = size > 0 ? codec_take(codec, size) : NULL;
	cached->blob_size = cached->blob ? size : 0;
}

static void everything(struct codec *codec, struct plan *plan, struct cached_plan *cached)
{
	dependencies(codec, &cached->dependencies);
	codec_fields(codec, &plan_codec_plan, plan);
	for (size_t i = 0; i < plan->searches.count; i++)
		if (plan->searches.items[i].pattern >= plan->deny.count)
			codec->has_failed = true;
	variables(codec, &cached->own_variables);
	rules(codec, &cached->passed);
	blob(codec, cached);
}

bool plan_codec_fits(const struct plan *plan)
{
	return plan->context.os == OS_LINUX;
}

bool plan_encode(const struct plan *plan, const struct cached_plan *cached, struct text *out)
{
	struct codec codec = { .is_writing = true, .out = out };
	/* Encoding does not change them; the functions take pointers that are not const. */
	struct plan plan_copy = *plan;
	struct cached_plan cached_copy = *cached;
	everything(&codec, &plan_copy, &cached_copy);
	return !codec.has_failed;
}

bool plan_decode(struct arena *arena, const char *data, size_t length, struct plan *plan, struct cached_plan *cached)
{
	struct codec codec = { .arena = arena, .data = data, .left = length };
	*plan = (struct plan){ .arena = arena, .scan = &plan_not_scanned };
	*cached = (struct cached_plan){ 0 };
	everything(&codec, plan, cached);
	return !codec.has_failed && codec.left == 0;
}

static void git_directory(struct codec *codec, struct plan_git_directory *directory)
{
	codec_required_string(codec, &directory->path);
	codec_required_string(codec, &directory->common);
	if (directory->path[0] != '/' || directory->common[0] != '/')
		codec->has_failed = true;
	directory->kind = (enum git_kind)codec_choice(codec, directory->kind, GIT_BARE);
	codec_boolean(codec, &directory->is_born);
}
DEFINE_VECTOR(git_directories, struct plan_git_directories, git_directory)

static void lists(struct codec *codec, struct scan_results *results)
{
	paths(codec, &results->masked);
	paths(codec, &results->locked);
	paths(codec, &results->opened);
	paths(codec, &results->pinned);
	git_directories(codec, &results->git_directories);
	places(codec, &results->places);
}

void scan_results_encode(const struct scan_results *results, struct text *out)
{
	struct codec codec = { .is_writing = true, .out = out };
	struct scan_results copy = *results;
	lists(&codec, &copy);
}

bool scan_results_decode(struct arena *arena, const char *data, size_t length, struct scan_results *results)
{
	struct codec codec = { .arena = arena, .data = data, .left = length };
	struct scan_results decoded = { 0 };
	lists(&codec, &decoded);
	if (codec.has_failed || codec.left > 0)
		return false;
	*results = decoded;
	return true;
}

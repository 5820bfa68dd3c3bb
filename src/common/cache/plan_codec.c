/* SPDX-License-Identifier: Apache-2.0 */
/* One function per type, each doing both directions. Strings are read in place. */
#include "common/cache/plan_codec.h"

#include <string.h>

#include "common/plan/build.h"

enum { COUNT_MAX = 1 << 16 };

struct codec {
	bool is_writing, has_failed;
	struct text *out;
	struct arena *arena;
	const char *data;
	size_t left;
	const char *key, *source; /* of the rule before: most have them in common */
};

static inline const char *take(struct codec *codec, size_t size)
{
	const char *at = codec->data;
	if (codec->has_failed || size > codec->left) {
		codec->has_failed = true;
		return NULL;
	}
	codec->data += size;
	codec->left -= size;
	return at;
}

static inline void bytes(struct codec *codec, void *value, size_t size)
{
	const char *at;
	if (codec->is_writing) {
		text_add_n(codec->out, value, size);
		return;
	}
	at = take(codec, size);
	if (at)
		memcpy(value, at, size);
	else
		memset(value, 0, size);
}

static void number(struct codec *codec, uint64_t *value)
{
	bytes(codec, value, sizeof *value);
}

static void boolean(struct codec *codec, bool *value)
{
	unsigned char byte = *value;
	bytes(codec, &byte, 1);
	if (byte > 1)
		codec->has_failed = true;
	*value = byte == 1;
}

/* Every enum of the plan starts at 0 and fits a byte. */
static unsigned choice(struct codec *codec, unsigned value, unsigned last)
{
	unsigned char byte = (unsigned char)value;
	bytes(codec, &byte, 1);
	if (byte > last) {
		codec->has_failed = true;
		return 0;
	}
	return byte;
}

static void string(struct codec *codec, const char **value)
{
	uint32_t length = codec->is_writing && *value ? (uint32_t)strlen(*value) : UINT32_MAX;
	bytes(codec, &length, sizeof length);
	if (codec->is_writing) {
		if (*value)
			text_add_n(codec->out, *value, (size_t)length + 1);
		return;
	}
	*value = NULL;
	if (length == UINT32_MAX || codec->has_failed)
		return;
	*value = take(codec, (size_t)length + 1);
	if (!*value || memchr(*value, '\0', (size_t)length + 1) != *value + length)
		codec->has_failed = true;
	if (codec->has_failed)
		*value = "";
}

static void required_string(struct codec *codec, const char **value)
{
	string(codec, value);
	if (!*value) {
		codec->has_failed = true;
		*value = "";
	}
}

/* One that is the same as that of the rule before is not written again. */
static void repeated_string(struct codec *codec, const char **value, const char **before)
{
	bool is_same = codec->is_writing && *value && *before && strcmp(*value, *before) == 0;
	boolean(codec, &is_same);
	if (!is_same) {
		required_string(codec, value);
		/* Nobody writes the same one in full: one plan has one form. */
		if (!codec->is_writing && *before && strcmp(*value, *before) == 0)
			codec->has_failed = true;
	} else if (*before)
		*value = *before;
	else {
		codec->has_failed = true;
		*value = "";
	}
	*before = *value;
}

static size_t count(struct codec *codec, size_t value)
{
	uint32_t stored = (uint32_t)value;
	bytes(codec, &stored, sizeof stored);
	if (stored > COUNT_MAX || codec->has_failed) {
		codec->has_failed = true;
		return 0;
	}
	return stored;
}

static void rule_value(struct codec *codec, struct rule *rule)
{
	repeated_string(codec, &rule->key, &codec->key);
	required_string(codec, &rule->text);
	repeated_string(codec, &rule->origin.source, &codec->source);
	bytes(codec, &rule->origin.line, sizeof rule->origin.line);
	bytes(codec, &rule->origin.column, sizeof rule->origin.column);
	rule->layer = (enum layer)choice(codec, rule->layer, LAYER_COMMAND_LINE);
}

/* The evaluator knows the rule of berm's own state by its address. */
enum rule_place { RULE_NONE, RULE_STORED, RULE_STATE };

static void rule_pointer(struct codec *codec, const struct rule **rule)
{
	enum rule_place place = !*rule ? RULE_NONE : *rule == &rule_state ? RULE_STATE : RULE_STORED;
	struct rule written = { 0 };
	struct rule *value = &written;

	if (*rule)
		written = **rule;
	place = (enum rule_place)choice(codec, place, RULE_STATE);
	if (place != RULE_STORED) {
		*rule = place == RULE_STATE ? &rule_state : NULL;
		return;
	}
	if (!codec->is_writing)
		*rule = value = arena_alloc(codec->arena, sizeof *value);
	rule_value(codec, value);
}

/* What the evaluator looks at without asking. */
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
	boolean(codec, &value->is_set);
	if (!value->is_set)
		return;
	number(codec, &value->value);
	rule_value(codec, &value->rule);
}

/* What arena_push would have come to, so that decoded vectors can grow like others. */
static size_t capacity(size_t length)
{
	size_t room = 1;
	while (room < length)
		room *= 2;
	return room;
}

/* A vector of the plan, element by element. */
#define VECTOR(codec, vector, element)                                                                                         \
	do {                                                                                                                   \
		size_t vector_count = count((codec), (vector)->count);                                                         \
		if (!(codec)->is_writing) {                                                                                    \
			(vector)->items = arena_alloc((codec)->arena, capacity(vector_count) * sizeof *(vector)->items);       \
			(vector)->count = vector_count;                                                                        \
		}                                                                                                              \
		for (size_t vector_i = 0; vector_i < vector_count && !(codec)->has_failed; vector_i++)                         \
			element((codec), &(vector)->items[vector_i]);                                                          \
	} while (0)

static void grant(struct codec *codec, struct plan_grant *value)
{
	required_string(codec, &value->path);
	value->kind = (enum grant_kind)choice(codec, value->kind, GRANT_WRITE);
	value->type = (enum file_type)choice(codec, value->type, FILE_UNKNOWN);
	required_rule(codec, &value->rule);
}

static void pattern(struct codec *codec, struct plan_pattern *value)
{
	struct pattern *p = &value->pattern;
	uint64_t prefix = p->literal_prefix;
	required_string(codec, &p->text);
	boolean(codec, &p->is_base_name);
	boolean(codec, &p->is_literal);
	boolean(codec, &p->is_anywhere);
	boolean(codec, &p->is_directory_only);
	number(codec, &prefix);
	if (prefix > strlen(p->text))
		codec->has_failed = true;
	p->literal_prefix = codec->has_failed ? 0 : (size_t)prefix;
	required_rule(codec, &value->rule);
}

static void match(struct codec *codec, struct plan_match *value)
{
	required_string(codec, &value->path);
	value->type = (enum file_type)choice(codec, value->type, FILE_UNKNOWN);
	required_rule(codec, &value->rule);
}

static void search(struct codec *codec, struct plan_search *value)
{
	uint64_t pattern = value->pattern;
	required_string(codec, &value->start);
	number(codec, &pattern);
	value->pattern = pattern;
}

/* Numbers of patterns, of which the plan must have that many. */
static void searches(struct codec *codec, struct plan *plan)
{
	VECTOR(codec, &plan->searches, search);
	for (size_t i = 0; i < plan->searches.count; i++)
		if (plan->searches.items[i].pattern >= plan->deny.count)
			codec->has_failed = true;
}

static void link_value(struct codec *codec, struct path_link *value)
{
	required_string(codec, &value->path);
	required_string(codec, &value->target);
}

static void socket_value(struct codec *codec, struct plan_socket *value)
{
	required_string(codec, &value->path);
	required_rule(codec, &value->rule);
}

static void device(struct codec *codec, struct plan_device *value)
{
	required_string(codec, &value->path);
	required_rule(codec, &value->rule);
}

static void variable(struct codec *codec, struct plan_variable *value)
{
	required_string(codec, &value->name);
	required_string(codec, &value->value);
	rule_pointer(codec, &value->rule);
}

static void document(struct codec *codec, struct plan_document *value)
{
	required_string(codec, &value->path);
	required_string(codec, &value->text);
}

static void port(struct codec *codec, uint16_t *value)
{
	bytes(codec, value, sizeof *value);
}

static void address_value(struct codec *codec, struct address *value)
{
	boolean(codec, &value->is_v6);
	bytes(codec, value->bytes, sizeof value->bytes);
}

static void destination(struct codec *codec, struct destination *value)
{
	uint64_t prefix = value->prefix;
	value->kind = (enum destination_kind)choice(codec, value->kind, DESTINATION_ANY);
	string(codec, &value->host);
	address_value(codec, &value->network);
	number(codec, &prefix);
	/* The evaluator compares a name where the kind has one, and that many bits of an address. */
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

static void fact(struct codec *codec, struct fact *value)
{
	required_string(codec, &value->path);
	boolean(codec, &value->is_content);
	bytes(codec, &value->mode, sizeof value->mode);
	bytes(codec, &value->uid, sizeof value->uid);
	number(codec, &value->device);
	number(codec, &value->inode);
	number(codec, &value->size);
	bytes(codec, &value->changed_s, sizeof value->changed_s);
	bytes(codec, &value->changed_ns, sizeof value->changed_ns);
}

static void state(struct codec *codec, struct plan_state *value)
{
	required_string(codec, &value->directory);
	required_string(codec, &value->home);
	required_string(codec, &value->tmp);
	required_string(codec, &value->documents);
	required_string(codec, &value->project_key);
	required_string(codec, &value->grant_class);
}

/* The strings of the context; environment and file system are the reader's own. */
static void context(struct codec *codec, struct context *value)
{
	bytes(codec, &value->uid, sizeof value->uid);
	bytes(codec, &value->gid, sizeof value->gid);
	value->tier = (enum tier)choice(codec, value->tier, TIER_LANDLOCK);
	required_string(codec, &value->user);
	required_string(codec, &value->home);
	required_string(codec, &value->project);
	string(codec, &value->working_directory);
	required_string(codec, &value->config_directory);
	required_string(codec, &value->state_directory);
}

static void files(struct codec *codec, struct plan *plan)
{
	VECTOR(codec, &plan->grants, grant);
	VECTOR(codec, &plan->links, link_value);
	VECTOR(codec, &plan->deny, pattern);
	VECTOR(codec, &plan->except, pattern);
	VECTOR(codec, &plan->protect, pattern);
	VECTOR(codec, &plan->prune, pattern);
	VECTOR(codec, &plan->lifted, pattern);
	VECTOR(codec, &plan->named, match);
	searches(codec, plan);
	VECTOR(codec, &plan->sockets, socket_value);
	VECTOR(codec, &plan->devices, device);
}

static void modes(struct codec *codec, struct plan *plan)
{
	plan->home = (enum home_mode)choice(codec, plan->home, HOME_HOST);
	plan->tmp = (enum tmp_mode)choice(codec, plan->tmp, TMP_EMPTY);
	setting(codec, &plan->home_setting);
	setting(codec, &plan->tmp_setting);
	state(codec, &plan->state);
	plan->network.mode = (enum network_mode)choice(codec, plan->network.mode, NETWORK_ALL);
	rule_pointer(codec, &plan->network.rule);
	VECTOR(codec, &plan->network.allow, destination);
	VECTOR(codec, &plan->network.deny, destination);
	VECTOR(codec, &plan->network.local, local_port);
	VECTOR(codec, &plan->network.publish, published_port);
	boolean(codec, &plan->has_nesting);
	for (size_t i = 0; i < LIMIT_COUNT; i++)
		setting(codec, &plan->limits[i]);
	plan->guard = (enum level)choice(codec, plan->guard, LEVEL_ENFORCED);
	for (size_t i = 0; i < GUARANTEE_COUNT; i++) {
		plan->required[i] = (enum level)choice(codec, plan->required[i], LEVEL_ENFORCED);
		boolean(codec, &plan->accepted_weaker[i]);
	}
	string(codec, &plan->summary);
}

static void blob(struct codec *codec, struct plan_stored *stored)
{
	size_t size = count(codec, stored->blob_size);
	if (codec->is_writing) {
		text_add_n(codec->out, stored->blob, size);
		return;
	}
	stored->blob = size > 0 ? take(codec, size) : NULL;
	stored->blob_size = stored->blob ? size : 0;
}

static void everything(struct codec *codec, struct plan *plan, struct plan_stored *stored)
{
	VECTOR(codec, &stored->facts, fact);
	context(codec, &plan->context);
	files(codec, plan);
	modes(codec, plan);
	string(codec, &plan->git_user.config);
	VECTOR(codec, &plan->git_user.files, document);
	string(codec, &plan->git_user.ignores);
	VECTOR(codec, &stored->own_variables, variable);
	VECTOR(codec, &stored->passed, rule_value);
	blob(codec, stored);
}

bool plan_codec_fits(const struct plan *plan)
{
	return plan->context.os == OS_LINUX;
}

bool plan_encode(const struct plan *plan, const struct plan_stored *stored, struct text *out)
{
	struct codec codec = { .is_writing = true, .out = out };
	/* Writing only reads; the copies keep that visible to the compiler. */
	struct plan plan_copy = *plan;
	struct plan_stored stored_copy = *stored;
	everything(&codec, &plan_copy, &stored_copy);
	return !codec.has_failed;
}

bool plan_decode(struct arena *arena, const char *data, size_t length, struct plan *plan, struct plan_stored *stored)
{
	struct codec codec = { .arena = arena, .data = data, .left = length };
	*plan = (struct plan){ .arena = arena };
	*stored = (struct plan_stored){ 0 };
	everything(&codec, plan, stored);
	return !codec.has_failed && codec.left == 0;
}

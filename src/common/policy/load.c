/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of one run, in their order: floor, base, pieces, user, project, command line. What a project's file or a narrowed
 * command line may not grant is left out here, before anything downstream can see it as a rule. Files are read through the
 * request only; everything that is wrong with any of them is told at once. */
#include "common/policy/policy.h"

#include <errno.h>
#include <string.h>

#include "common/policy/builtin.h"
#include "common/format/yaml.h"
#include "common/policy/value.h"
#include "common/base/text.h"

/* A chain of policies that extend each other is short; a longer one is a cycle in disguise. */
enum { EXTENDS_MAX = 8, BUILT_IN_MAX = 64 };

/* One policy that was read. */
struct source {
	bool is_present;
	const char *path; /* NULL for a built-in one */
	const char *shown;
	enum layer layer;
	const char *text;
	size_t length;
	struct policy policy;
};

struct loader {
	struct arena *arena;
	const struct policy_request *request;
	struct policy *policy;
	struct diagnostics *diagnostics;
	const char *chain[EXTENDS_MAX]; /* paths and built-in names on the way to the base */
	size_t chain_length;
};

/* A complaint about a value of a source that has been parsed already. */
static int complain(struct loader *loader, const struct source *source, const struct rule *rule, const char *hint,
		    const char *message)
{
	struct document document = { .arena = loader->arena,
				     .source = source->shown,
				     .text = source->text,
				     .length = source->length,
				     .diagnostics = loader->diagnostics };

	document_complain(&document, rule->origin.line, rule->origin.column, hint, "%s", message);
	return -1;
}

static int complain_error(struct loader *loader, const char *source, const struct error *err)
{
	struct diagnostic *diagnostic = arena_push(loader->diagnostics->arena, loader->diagnostics);

	diagnostic->origin.source = source;
	diagnostic->message = arena_copy(loader->arena, err->message);
	diagnostic->hint = err->hint[0] ? arena_copy(loader->arena, err->hint) : NULL;
	return -1;
}

/* ~/… where the home is known: what the user would write. */
static const char *shown_path(struct loader *loader, const char *path)
{
	const char *home = loader->request->home;
	size_t length = home ? strlen(home) : 0;

	if (length > 1 && strncmp(path, home, length) == 0 && path[length] == '/')
		return arena_printf(loader->arena, "~%s", path + length);
	return path;
}

static void note_source(struct loader *loader, const struct source *source, bool is_trusted)
{
	struct policy *policy = loader->policy;
	struct {
		struct policy_source *items;
		size_t count;
	} vector = { policy->sources, policy->source_count };

	*arena_push(loader->arena, &vector) = (struct policy_source){ source->path, source->shown, source->layer, is_trusted };
	policy->sources = vector.items;
	policy->source_count = vector.count;
}

static int parse_source(struct loader *loader, struct source *source)
{
	source->is_present = true;
	return policy_parse(loader->arena, source->shown, source->layer, source->text, source->length, &source->policy,
			    loader->diagnostics);
}

static int read_built_in(struct loader *loader, const char *name, enum layer layer, struct source *source)
{
	struct builtin builtin;
	struct error err;

	if (!builtin_find(name, &builtin)) {
		error_set(&err, "the built-in policy `%s` is missing from this binary", name);
		return complain_error(loader, "built-in", &err);
	}
	source->path = NULL;
	source->shown = arena_printf(loader->arena, "built-in %s", name);
	source->layer = layer;
	source->text = builtin.text;
	source->length = builtin.length;
	return parse_source(loader, source);
}

/* An absent file is no error unless it is required: then its name was given by somebody. */
static int read_file(struct loader *loader, const char *path, enum layer layer, bool is_required, struct source *source)
{
	const struct policy_request *request = loader->request;
	struct error err = { 0 };
	char *text;

	*source = (struct source){ .path = path, .shown = shown_path(loader, path), .layer = layer };
	if (!request->read) {
		error_set(&err, "cannot be read here");
		return complain_error(loader, source->shown, &err);
	}
	if (request->read(request->self, loader->arena, path, &text, &source->length, &err) < 0)
		return err.number == ENOENT && !is_required ? 0 : complain_error(loader, source->shown, &err);
	source->text = text;
	return parse_source(loader, source);
}

static bool is_path(const char *name)
{
	return strchr(name, '/') || text_ends_with(name, ".yml") || text_ends_with(name, ".yaml");
}

/* Relative to the file that names it. */
static const char *extends_path(struct loader *loader, const struct source *from, const char *name)
{
	const char *slash = from->path ? strrchr(from->path, '/') : NULL;

	if (name[0] == '/')
		return name;
	if (text_starts_with(name, "~/") && loader->request->home)
		return arena_printf(loader->arena, "%s%s", loader->request->home, name + 1);
	while (text_starts_with(name, "./"))
		name += 2;
	if (!slash)
		return name;
	return arena_printf(loader->arena, "%.*s/%s", (int)(slash - from->path), from->path, name);
}

static int push_chain(struct loader *loader, const struct source *from, const struct rule *rule, const char *name)
{
	for (size_t i = 0; i < loader->chain_length; i++) {
		if (strcmp(loader->chain[i], name) == 0)
			return complain(loader, from, rule, NULL,
					arena_printf(loader->arena, "`extends`: `%s` leads back to itself", name));
	}
	if (loader->chain_length == EXTENDS_MAX)
		return complain(loader, from, rule, NULL,
				arena_printf(loader->arena, "`extends`: more than %d policies extend each other", EXTENDS_MAX));
	loader->chain[loader->chain_length++] = name;
	return 0;
}

static bool is_base(const char *name)
{
	struct builtin builtin;
	return builtin_find(name, &builtin) && builtin.kind == BUILTIN_BASE;
}

static bool is_piece(const char *name)
{
	struct builtin builtin;
	return builtin_find(name, &builtin) && (builtin.kind == BUILTIN_PIECE || builtin.kind == BUILTIN_REGISTRY);
}

/* The nearest built-in name that would have been right, or NULL. */
static const char *nearest_builtin(struct loader *loader, const char *name, bool wants_base)
{
	const char *names[BUILT_IN_MAX] = { 0 };
	struct builtin builtin;
	size_t count = 0;

	for (size_t i = 0; count < BUILT_IN_MAX && builtin_at(i, &builtin); i++) {
		if (wants_base ? is_base(builtin.name) : is_piece(builtin.name))
			names[count++] = arena_copy(loader->arena, builtin.name);
	}
	return text_nearest(name, names, count);
}

static int complain_base(struct loader *loader, const struct source *from, const struct rule *rule)
{
	const char *nearest = nearest_builtin(loader, rule->text, true);
	const char *hint = "write default, strict, none, or a path with a slash: ./base.yml";

	if (is_piece(rule->text))
		hint = arena_printf(loader->arena, "`%s` is a piece: `use: [%s]`", rule->text, rule->text);
	else if (nearest)
		hint = arena_printf(loader->arena, "did you mean `%s`?", nearest);
	return complain(loader, from, rule, hint,
			arena_printf(loader->arena, "`extends`: no built-in policy `%s`", rule->text));
}

/* Some keys speak for the user in person and must not come in by way of another file. */
static int judge_extended(struct loader *loader, const struct source *source)
{
	if (!source->policy.command_line.is_set || !source->path)
		return 0;
	return complain(loader, source, &source->policy.command_line.rule, "write it in ~/.config/berm/berm.yml itself",
			"`command_line` is not allowed in a file that another one extends");
}

static int load_base(struct loader *loader, const struct source *from, const struct rule *rule);
static int load_pieces(struct loader *loader, const struct source *from);

/* What `extends` of a source leads to; `default` where it says nothing. */
static int load_base_of(struct loader *loader, const struct source *source)
{
	static const struct rule implied = { .key = "extends", .text = "default" };
	return load_base(loader, source, source->policy.extends.is_set ? &source->policy.extends.rule : &implied);
}

static int load_base(struct loader *loader, const struct source *from, const struct rule *rule)
{
	struct source source = { 0 };
	const char *name = rule->text;
	int status;

	if (strcmp(name, "none") == 0)
		return 0;
	if (is_path(name)) {
		name = extends_path(loader, from, name);
		if (push_chain(loader, from, rule, name) < 0)
			return -1;
		/* The authority of a file is that of the file that names it. */
		status = read_file(loader, name, from->layer, true, &source);
	} else if (!is_base(name)) {
		return complain_base(loader, from, rule);
	} else {
		if (push_chain(loader, from, rule, name) < 0)
			return -1;
		status = read_built_in(loader, name, LAYER_BASE, &source);
	}
	if (status < 0 || judge_extended(loader, &source) < 0 || load_base_of(loader, &source) < 0)
		return -1;
	policy_merge(loader->arena, loader->policy, &source.policy, false);
	note_source(loader, &source, true);
	return load_pieces(loader, &source);
}

static int complain_piece(struct loader *loader, const struct source *from, const struct rule *rule)
{
	const char *nearest = nearest_builtin(loader, rule->text, false);
	const char *hint = "`berm policies` lists them";

	if (is_base(rule->text))
		hint = arena_printf(loader->arena, "`%s` is no piece: `extends: %s`", rule->text, rule->text);
	else if (nearest)
		hint = arena_printf(loader->arena, "did you mean `%s`?", nearest);
	return complain(loader, from, rule, hint, arena_printf(loader->arena, "`use`: no built-in piece `%s`", rule->text));
}

static int load_piece(struct loader *loader, const char *name)
{
	struct source piece = { 0 };

	if (read_built_in(loader, name, LAYER_BASE, &piece) < 0)
		return -1;
	policy_merge(loader->arena, loader->policy, &piece.policy, false);
	note_source(loader, &piece, true);
	return 0;
}

static int load_pieces(struct loader *loader, const struct source *from)
{
	int status = 0;

	for (size_t i = 0; i < from->policy.use.count; i++) {
		const struct rule *rule = &from->policy.use.items[i];

		if (!is_piece(rule->text)) {
			status = complain_piece(loader, from, rule);
			continue;
		}
		if (load_piece(loader, rule->text) < 0)
			return -1;
	}
	return status;
}

/* Options went round the parser: their values are judged here, by the same rules. */
static int judge_command_line(struct loader *loader, const struct policy *policy)
{
	int status = 0;

	for (size_t i = 0; i < policy_key_count; i++) {
		const struct key *key = &policy_keys[i];
		const void *field = (const char *)policy + key->offset;
		const struct rules *rules = policy_key_storage(key) == STORAGE_RULES ? field : &(const struct rules){ 0 };
		const struct setting *setting = key->kind == KEY_CHOICE ? field : &(const struct setting){ 0 };
		struct error err, shown;

		for (size_t j = 0; j < rules->count; j++) {
			if (policy_value_check(loader->arena, key, rules->items[j].text, false, NULL, &err) == 0)
				continue;
			error_set(&shown, "`%s`: %s", key->path, err.message);
			if (err.hint[0])
				error_hint(&shown, "%s", err.hint);
			status = complain_error(loader, rules->items[j].origin.source, &shown);
		}
		if (setting->is_set && policy_value_check(loader->arena, key, setting->rule.text, false, NULL, &err) < 0) {
			error_set(&shown, "`%s`: %s", key->path, err.message);
			status = complain_error(loader, setting->rule.origin.source, &shown);
		}
	}
	return status;
}

/* Trust covers the content of the project's own file, so that file cannot hand its authority to one that may change. */
static int judge_project(struct loader *loader, const struct source *project)
{
	const struct setting *extends = &project->policy.extends;

	if (project->layer != LAYER_PROJECT || !extends->is_set || !is_path(extends->rule.text))
		return 0;
	return complain(loader, project, &extends->rule,
			"name a built-in one (default, strict), or extend the file in the user's policy",
			"`extends`: a project's file can extend built-in policies only");
}

/* The user's file and the project's (or the one of --policy). All are parsed before the first failure counts. */
static int read_sources(struct loader *loader, struct source *user, struct source *project)
{
	const struct policy_request *request = loader->request;
	int status = 0;

	if (request->user_file && read_file(loader, request->user_file, LAYER_USER, false, user) < 0)
		status = -1;
	if (request->explicit_file) {
		/* The user's own word, although it stands where a project's file would. */
		if (read_file(loader, request->explicit_file, LAYER_USER, true, project) < 0)
			status = -1;
	} else if (request->project_file && read_file(loader, request->project_file, LAYER_PROJECT, false, project) < 0) {
		status = -1;
	}
	if (status == 0)
		status = judge_project(loader, project);
	if (request->command_line && judge_command_line(loader, request->command_line) < 0)
		status = -1;
	return status;
}

static bool is_narrow(const struct loader *loader, const struct policy *policy)
{
	return loader->request->is_narrowing ||
	       (policy->command_line.is_set && policy->command_line.value == COMMAND_LINE_NARROW);
}

/* Chooses the base, follows it, and leaves in policy->extends what was chosen. */
static int load_bottom(struct loader *loader, const struct source *user, const struct source *project, bool is_trusted)
{
	const struct source *chooser = is_trusted && project->policy.extends.is_set ? project : user;
	int status = 0;

	if (chooser->path && push_chain(loader, chooser, &chooser->policy.extends.rule, chooser->path) < 0)
		return -1;
	if (load_base_of(loader, chooser) < 0)
		return -1;
	loader->policy->extends = chooser->policy.extends;
	if (!chooser->policy.extends.is_set)
		loader->policy->extends = (struct setting){
			.is_set = true,
			.rule = { .key = "extends", .text = "default", .origin.source = "built-in", .layer = LAYER_BASE }
		};
	if (loader->request->piece && load_piece(loader, loader->request->piece) < 0)
		return -1;
	if (load_pieces(loader, user) < 0)
		status = -1;
	if (is_trusted && load_pieces(loader, project) < 0)
		status = -1;
	return status;
}

static void merge_source(struct loader *loader, const struct source *source, bool is_trusted)
{
	if (!source->is_present)
		return;
	policy_merge(loader->arena, loader->policy, &source->policy, !is_trusted);
	note_source(loader, source, is_trusted);
}

int policy_load(struct arena *arena, const struct policy_request *request, struct policy *policy,
		struct diagnostics *diagnostics)
{
	struct loader loader = { .arena = arena, .request = request, .policy = policy, .diagnostics = diagnostics };
	struct source floor = { 0 }, user = { 0 }, project = { 0 };
	bool is_trusted;

	*policy = (struct policy){ 0 };
	if (!diagnostics->arena)
		diagnostics->arena = arena;
	if (read_built_in(&loader, "floor", LAYER_FLOOR, &floor) < 0 || read_sources(&loader, &user, &project) < 0)
		return -1;
	merge_source(&loader, &floor, true);
	is_trusted = request->explicit_file ? !is_narrow(&loader, &user.policy) : request->project_is_trusted;
	if (load_bottom(&loader, &user, &project, is_trusted) < 0)
		return -1;
	merge_source(&loader, &user, true);
	merge_source(&loader, &project, is_trusted);
	if (request->command_line)
		policy_merge(arena, policy, request->command_line, is_narrow(&loader, policy));
	return 0;
}

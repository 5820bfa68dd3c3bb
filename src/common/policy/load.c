/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the layers of one run in order: floor, base, pieces, user, project, enclosing projects,
 * command line. Grants that a project's file or a narrowed command line may not make are dropped
 * here, before any later stage can see them as rules. Files are read through the request only. The
 * errors of all files are reported together. */
#include "common/policy/policy.h"

#include <errno.h>
#include <string.h>

#include "common/policy/builtin.h"
#include "common/format/yaml.h"
#include "common/fs/pattern.h"
#include "common/policy/value.h"
#include "common/base/sha256.h"
#include "common/base/text.h"

/* A real chain of policies that extend each other is short. */
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
	struct {
		struct source *items;
		size_t count;
	} enclosing;
};

/* Adds an error about a value of a source that has been parsed. Returns -1. */
static int complain(struct loader *loader, const struct source *source, const struct rule *rule, const char *hint,
		    const char *message)
{
	struct yaml document = { .arena = loader->arena,
				 .source = source->shown,
				 .text = source->text,
				 .length = source->length,
				 .diagnostics = loader->diagnostics };

	yaml_complain(&document, rule->origin.line, rule->origin.column, hint, "%s", message);
	return -1;
}

/* Adds an error about a whole source. Returns -1. */
static int complain_error(struct loader *loader, const char *source, const struct error *err)
{
	struct diagnostic *diagnostic = arena_push(loader->diagnostics->arena, loader->diagnostics);

	diagnostic->origin.source = source;
	diagnostic->message = arena_copy(loader->arena, err->message);
	diagnostic->hint = err->hint[0] ? arena_copy(loader->arena, err->hint) : NULL;
	return -1;
}

/* Returns the path with ~ for the home, as the user would write it. */
static const char *shown_path(struct loader *loader, const char *path)
{
	const char *home = loader->request->home;
	size_t length = home ? strlen(home) : 0;

	if (length > 1 && strncmp(path, home, length) == 0 && path[length] == '/')
		return arena_printf(loader->arena, "~%s", path + length);
	return path;
}

static const char *hash_of(struct loader *loader, const struct source *source)
{
	char *hex = arena_alloc(loader->arena, SHA256_HEX + 1);
	struct sha256 hash;

	sha256_start(&hash);
	sha256_add(&hash, source->text, source->length);
	sha256_finish_hex(&hash, hex);
	return hex;
}

static void note_source(struct loader *loader, const struct source *source, bool is_trusted)
{
	struct policy *policy = loader->policy;
	struct {
		struct policy_source *items;
		size_t count;
	} vector = { policy->sources, policy->source_count };

	*arena_push(loader->arena, &vector) = (struct policy_source){ source->path, source->shown, source->layer, is_trusted,
								      source->path ? hash_of(loader, source) : NULL };
	policy->sources = vector.items;
	policy->source_count = vector.count;
}

/* Relative patterns of a project's file mean its own directory, whichever project a run is in. */
static void set_base(struct rules *rules, const char *directory)
{
	for (size_t i = 0; i < rules->count; i++) {
		const char *text = rules->items[i].text;
		bool is_home = text[0] == '~' && (text[1] == '/' || text[1] == '\0');
		if (!is_home && text[0] != '$' && pattern_uses_base(text))
			rules->items[i].base = directory;
	}
}

static void set_bases(struct loader *loader, struct source *source)
{
	const char *slash = source->path ? strrchr(source->path, '/') : NULL;
	const char *directory;

	if ((source->layer != LAYER_PROJECT && source->layer != LAYER_ENCLOSING) || !slash || slash == source->path)
		return;
	directory = arena_copy_n(loader->arena, source->path, (size_t)(slash - source->path));
	set_base(&source->policy.files.deny, directory);
	set_base(&source->policy.files.except, directory);
	set_base(&source->policy.files.protect, directory);
	set_base(&source->policy.files.unprotect, directory);
	set_base(&source->policy.files.prune, directory);
}

static int parse_source(struct loader *loader, struct source *source)
{
	source->is_present = true;
	if (policy_parse(loader->arena, source->shown, source->layer, source->text, source->length, &source->policy,
			 loader->diagnostics) < 0)
		return -1;
	set_bases(loader, source);
	return 0;
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

/* An absent file is an error only if it is required, because a user or a policy names it. */
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

/* Returns the path that `extends` means: relative to the file that contains it. */
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

/* Returns the built-in base or piece with the nearest name, or NULL. */
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
		hint = arena_printf(loader->arena, "`%s` is a piece: write `use: [%s]`", rule->text, rule->text);
	else if (nearest)
		hint = arena_printf(loader->arena, "did you mean `%s`?", nearest);
	return complain(loader, from, rule, hint,
			arena_printf(loader->arena, "`extends`: no built-in policy `%s`", rule->text));
}

/* Refuses keys that only the user's own file may set in files that it extends. */
static int check_extended(struct loader *loader, const struct source *source)
{
	if (!source->policy.command_line.is_set || !source->path)
		return 0;
	return complain(loader, source, &source->policy.command_line.rule, "write it in ~/.config/berm/berm.yml itself",
			"`command_line` is not allowed in a file that another one extends");
}

/* Adds the place of `extends` to every error in the file that it names. */
static void name_referrer(struct loader *loader, const struct source *from, const struct rule *rule, size_t first)
{
	const char *place =
		arena_printf(loader->arena, "extended by %s:%u:%u", from->shown, rule->origin.line, rule->origin.column);
	for (size_t i = first; i < loader->diagnostics->count; i++) {
		struct diagnostic *diagnostic = &loader->diagnostics->items[i];
		diagnostic->hint = diagnostic->hint ? arena_printf(loader->arena, "%s\n%s", diagnostic->hint, place) : place;
	}
}

/* Reads a file that another one extends, with the authority of that one. */
static int read_extended(struct loader *loader, const struct source *from, const struct rule *rule, const char *path,
			 struct source *source)
{
	const struct policy_request *request = loader->request;
	size_t before = loader->diagnostics->count;
	struct error err = { 0 };
	char *text;

	*source = (struct source){ .path = path, .shown = shown_path(loader, path), .layer = from->layer };
	if (!request->read)
		error_set(&err, "%s cannot be read here", source->shown);
	if (!request->read || request->read(request->self, loader->arena, path, &text, &source->length, &err) < 0)
		return complain(loader, from, rule, err.hint[0] ? arena_copy(loader->arena, err.hint) : NULL,
				arena_printf(loader->arena, "`extends`: %s", err.message));
	source->text = text;
	if (parse_source(loader, source) == 0)
		return 0;
	name_referrer(loader, from, rule, before);
	return -1;
}

static int load_base(struct loader *loader, const struct source *from, const struct rule *rule);
static int load_pieces(struct loader *loader, const struct source *from);

/* Loads the policy that a source extends: `default` if it has no `extends`. */
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
		status = read_extended(loader, from, rule, name, &source);
	} else if (!is_base(name)) {
		return complain_base(loader, from, rule);
	} else {
		if (push_chain(loader, from, rule, name) < 0)
			return -1;
		status = read_built_in(loader, name, LAYER_BASE, &source);
	}
	if (status < 0 || check_extended(loader, &source) < 0 || load_base_of(loader, &source) < 0)
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
		hint = arena_printf(loader->arena, "`%s` is not a piece: write `extends: %s`", rule->text, rule->text);
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

/* Checks the values of options, which do not pass through the parser, by the same rules. */
static int check_command_line(struct loader *loader, const struct policy *policy)
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

/* Trust covers the content of the project's file only, so that file must not extend another one,
 * which could change later. */
static int check_project(struct loader *loader, const struct source *project)
{
	const struct setting *extends = &project->policy.extends;

	if (project->layer != LAYER_PROJECT || !extends->is_set || !is_path(extends->rule.text))
		return 0;
	return complain(loader, project, &extends->rule,
			"name a built-in one (default, strict), or extend the file in the user's policy",
			"`extends`: a project's file can extend built-in policies only");
}

static int read_enclosing(struct loader *loader)
{
	const char *const *path = loader->request->enclosing_files;
	int status = 0;

	for (; path && *path; path++) {
		struct source *source = arena_push(loader->arena, &loader->enclosing);
		if (read_file(loader, *path, LAYER_ENCLOSING, false, source) < 0)
			status = -1;
	}
	return status;
}

/* Reads the user's file, those of enclosing projects, and the project's file or the one of
 * --policy. Parses all of them before it returns an error. */
static int read_sources(struct loader *loader, struct source *user, struct source *project)
{
	const struct policy_request *request = loader->request;
	int status = 0;

	if (request->user_file && read_file(loader, request->user_file, LAYER_USER, false, user) < 0)
		status = -1;
	if (request->explicit_file) {
		/* Replaces the project's file but has the user's authority. */
		if (read_file(loader, request->explicit_file, LAYER_USER, true, project) < 0)
			status = -1;
	} else if (request->project_file && read_file(loader, request->project_file, LAYER_PROJECT, false, project) < 0) {
		status = -1;
	}
	if (status == 0)
		status = check_project(loader, project);
	if (read_enclosing(loader) < 0)
		status = -1;
	if (request->command_line && check_command_line(loader, request->command_line) < 0)
		status = -1;
	return status;
}

static bool is_narrow(const struct loader *loader, const struct policy *policy)
{
	return loader->request->is_narrowing ||
	       (policy->command_line.is_set && policy->command_line.value == COMMAND_LINE_NARROW);
}

/* Chooses the base, loads its chain and the pieces, and stores the choice in policy->extends. */
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
	if (loader->request->piece_rules)
		policy_merge(loader->arena, loader->policy, loader->request->piece_rules, false);
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
	/* After the project's file, which does not undo them even if it is trusted. */
	for (size_t i = 0; i < loader.enclosing.count; i++)
		merge_source(&loader, &loader.enclosing.items[i], false);
	if (request->command_line)
		policy_merge(arena, policy, request->command_line, is_narrow(&loader, policy));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Grants: the canonical paths of files.system, files.read and files.write, each once. Refuses a
 * grant that would defeat the sandbox: the whole disk, the home, /proc, a directory of sockets.
 * Never grants a path that no rule names. */
#include "common/plan/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"

/* Directories that are not granted whole, and the reason. Paths below them may be granted unless
 * is_below is set. */
struct ungrantable {
	const char *path;
	bool is_below;
	const char *why, *hint;
};

static const char own_proc[] = "the command has its own /proc";
static const char full_of_sockets[] = "it holds sockets of other programs";
static const char name_sockets[] = "list the sockets under `sockets`, or name the directory in it that is needed";
static const char own_tmp[] = "it is shared with every other program";
static const char name_in_tmp[] = "the command has its own /tmp; name the files that it needs from this one";

static const struct ungrantable ungrantable[] = {
	{ "/", false, "it is the whole file system", "name the directories that are needed" },
	{ "/proc", true, own_proc, NULL },
	{ "/dev", true, "devices are not ordinary files", "list them under `devices`" },
	{ "/sys", false, "it is the kernel's interface", "name the directory in it that is needed" },
	{ "/run", false, full_of_sockets, name_sockets },
	{ "/run/user", false, full_of_sockets, name_sockets },
	{ "/var/run", false, full_of_sockets, name_sockets },
	{ "/private/var/run", false, full_of_sockets, name_sockets },
	{ "/tmp", false, own_tmp, name_in_tmp },
	{ "/var/tmp", false, own_tmp, name_in_tmp },
	{ "/private/tmp", false, own_tmp, name_in_tmp },
	{ "/private/var/tmp", false, own_tmp, name_in_tmp },
};

struct refusal {
	const char *why, *hint;
};

static bool is_runtime_directory(const struct plan *plan, const char *path)
{
	char own[64];
	snprintf(own, sizeof own, "/run/user/%lu", (unsigned long)plan->context.uid);
	return strcmp(path, own) == 0;
}

static struct refusal refuse_place(const struct plan *plan, const char *path)
{
	const struct context *context = &plan->context;
	for (size_t i = 0; i < sizeof ungrantable / sizeof ungrantable[0]; i++) {
		const struct ungrantable *row = &ungrantable[i];
		if (strcmp(path, row->path) == 0 || (row->is_below && path_is_within(path, row->path)))
			return (struct refusal){ row->why, row->hint };
	}
	if (is_runtime_directory(plan, path))
		return (struct refusal){ full_of_sockets, name_sockets };
	if (path_is_within(context->home, path))
		return (struct refusal){ strcmp(path, context->home) == 0 ? "it is your home" : "it contains your home",
					 "name the files that are needed; `home: host` shows the whole home, read-only" };
	if (path_is_within(path, context->state_directory))
		return (struct refusal){ "berm keeps its own state there", NULL };
	return (struct refusal){ 0 };
}

static struct refusal refuse_writing(const struct plan *plan, const char *path)
{
	const struct context *context = &plan->context;
	if (context_system_directory(path) || path_is_within(path, "/sys"))
		return (struct refusal){ "it belongs to the system", "to make it readable, list it under files.read" };
	if (path_is_within(context->state_directory, path))
		return (struct refusal){ "it contains berm's own state", NULL };
	if (path_is_within(path, context->config_directory) || path_is_within(context->config_directory, path))
		return (struct refusal){ "it holds your own policy for berm", NULL };
	return (struct refusal){ 0 };
}

static struct refusal refuse_type(enum file_type type)
{
	switch (type) {
	case FILE_SOCKET:
		return (struct refusal){ "it is a socket", "list it under `sockets`" };
	case FILE_DEVICE:
		return (struct refusal){ "it is a device", "list it under `devices`" };
	case FILE_FIFO:
		return (struct refusal){ "it is a named pipe: another program is at its other end", NULL };
	case FILE_ABSENT:
	case FILE_REGULAR:
	case FILE_DIRECTORY:
	case FILE_SYMLINK:
	case FILE_UNKNOWN:
		break;
	}
	return (struct refusal){ 0 };
}

/* Paths of a built-in policy may have any type on this machine. There an unfit path is left out
 * with a note, not an error. */
static bool is_refused(struct builder *builder, const char *path, enum file_type type, enum grant_kind kind,
		       const struct rule *rule)
{
	struct refusal refusal = refuse_place(builder->plan, path);
	if (!refusal.why && kind == GRANT_WRITE)
		refusal = refuse_writing(builder->plan, path);
	if (!refusal.why)
		refusal = refuse_type(type);
	if (!refusal.why)
		return false;
	if (rule->layer <= LAYER_BASE)
		build_note(builder, NOTE_OTHER, rule, "%s is left out: %s", path, refusal.why);
	else
		build_error(builder, rule, refusal.hint, "`%s` cannot be granted: %s is refused because %s", rule->text, path,
			    refusal.why);
	return true;
}

void build_grant(struct builder *builder, const char *canonical, enum file_type type, enum grant_kind kind,
		 const struct rule *rule)
{
	struct plan_grant *grant = arena_push(builder->plan->arena, &builder->plan->grants);
	*grant = (struct plan_grant){ .path = canonical, .kind = kind, .type = type, .rule = rule };
}

bool build_judged_grant(struct builder *builder, const char *canonical, enum file_type type, enum grant_kind kind,
			const struct rule *rule)
{
	if (is_refused(builder, canonical, type, kind, rule))
		return false;
	build_grant(builder, canonical, type, kind, rule);
	return true;
}

/* True if the user can write the directory. It may then hold the user's files, so it is searched
 * for denied names and not treated as a tree of software. Toolchains in the home are the known
 * exception. macOS has no search. */
static bool is_users_own(const struct plan *plan, const char *path, const struct file_info *info)
{
	const struct context *context = &plan->context;
	if (context->os != OS_LINUX || context->uid == 0 || path_is_within(path, context->home))
		return false;
	return (info->uid == context->uid && (info->mode & 0200)) || ((info->mode & 0002) && !(info->mode & 01000));
}

/* xcode-select names a directory in the application, and the tools there need the rest of it. */
static const char *whole_application(const struct plan *plan, const char *path)
{
	static const char inside[] = ".app/Contents/Developer";
	if (plan->context.os != OS_MACOS || !text_ends_with(path, inside))
		return path;
	return arena_copy_n(plan->arena, path, strlen(path) - strlen("/Contents/Developer"));
}

static void add_resolved(struct builder *builder, const char *canonical, const struct file_info *info, enum grant_kind kind,
			 const struct rule *rule)
{
	if (info->type == FILE_ABSENT || info->type == FILE_UNKNOWN) {
		build_note(builder, NOTE_MISSING, rule, "%s %s%s", canonical,
			   info->type == FILE_ABSENT ? "does not exist" : "cannot be inspected",
			   rule->layer < LAYER_USER ? "" : ", so nothing is granted: create it first, or remove the rule");
		if (info->type == FILE_ABSENT && kind == GRANT_WRITE)
			*(struct plan_grant *)arena_push(builder->plan->arena, &builder->absent) =
				(struct plan_grant){ canonical, kind, FILE_DIRECTORY, rule };
		return;
	}
	if (kind == GRANT_SYSTEM && is_users_own(builder->plan, canonical, info)) {
		build_note(builder, NOTE_OTHER, rule,
			   "%s is writable by %s, so it is searched for denied names like other files", canonical,
			   builder->plan->context.user);
		kind = GRANT_READ;
	}
	if (kind == GRANT_SYSTEM)
		canonical = whole_application(builder->plan, canonical);
	build_judged_grant(builder, canonical, info->type, kind, rule);
}

static void add_rule(struct builder *builder, const struct rule *rule, enum grant_kind kind)
{
	struct path_links links;
	struct file_info info;
	const char *canonical = build_resolve(builder, rule, &links, &info);

	if (!canonical)
		return;
	add_resolved(builder, canonical, &info, kind, rule);
	build_followed(builder, rule, &links, canonical);
	for (size_t i = 0; i < links.count; i++)
		*(struct path_link *)arena_push(builder->plan->arena, &builder->links) = links.items[i];
}

static void add_rules(struct builder *builder, const struct rules *rules, enum grant_kind kind)
{
	for (size_t i = 0; i < rules->count; i++)
		add_rule(builder, &rules->items[i], kind);
}

void build_grants(struct builder *builder)
{
	struct plan *plan = builder->plan;
	add_rules(builder, &plan->policy->files.system, GRANT_SYSTEM);
	add_rules(builder, &plan->policy->files.read, GRANT_READ);
	add_rules(builder, &plan->policy->files.write, GRANT_WRITE);
	if (plan->home == HOME_HOST)
		build_grant(builder, plan->context.home, FILE_DIRECTORY, GRANT_READ, &plan->home_setting.rule);
}

/* Orders by path. Of grants of one path the widest comes first, then the one of the latest layer.
 * */
static int compare_grants(const void *left, const void *right)
{
	const struct plan_grant *a = left, *b = right;
	int order = strcmp(a->path, b->path);
	if (order)
		return order;
	if (a->kind != b->kind)
		return a->kind > b->kind ? -1 : 1;
	return (a->rule->layer < b->rule->layer) - (a->rule->layer > b->rule->layer);
}

static void sort_grants(struct plan_grants *grants)
{
	size_t kept = 0;
	if (grants->count == 0)
		return;
	qsort(grants->items, grants->count, sizeof *grants->items, compare_grants);
	for (size_t i = 0; i < grants->count; i++)
		if (kept == 0 || strcmp(grants->items[kept - 1].path, grants->items[i].path) != 0)
			grants->items[kept++] = grants->items[i];
	grants->count = kept;
}

/* Lifts the protection from an exact files.write entry of the user or a later layer. */
static void lift(struct builder *builder, const struct plan_grant *grant)
{
	struct plan *plan = builder->plan;
	bool is_directory = grant->type == FILE_DIRECTORY;
	const struct rule *protected_by;
	if (grant->kind != GRANT_WRITE)
		return;
	protected_by = plan_protected_by(plan, grant->path, is_directory);
	if (!protected_by || !plan_may_lift(grant->rule, protected_by))
		return;
	build_literal(builder, &plan->lifted, grant->path, grant->rule);
	if (plan_protected_by(plan, grant->path, is_directory)) {
		/* The floor, or a directory above, protects it as well. */
		plan->lifted.count--;
		return;
	}
	build_note(builder, NOTE_LIFTED, grant->rule, "%s may be changed although `%s` protects it", grant->path,
		   protected_by->text);
}

static bool is_project(const struct plan *plan, const struct plan_grant *grant)
{
	return strcmp(grant->path, plan->context.project) == 0;
}

/* Adds a note with the rule that would show the path. No rule does if the floor denies it. */
static void note_denied(struct builder *builder, const struct plan_grant *grant, const struct rule *denied_by)
{
	if (denied_by->layer == LAYER_FLOOR)
		build_note(builder, NOTE_DENIED, grant->rule,
			   "%s stays hidden: `%s` denies it for every policy, and no option or rule lifts that", grant->path,
			   denied_by->text);
	else
		build_note(builder, NOTE_DENIED, grant->rule,
			   "%s stays hidden: `%s` denies it; to show it, in ~/.config/berm/berm.yml: files: {except: [%s]}",
			   grant->path, denied_by->text, pattern_quote(builder->plan->arena, grant->path));
}

/* Deny wins over a grant of the same or a deeper path. Returns false, with a note or an error, if
 * the grant is dropped. */
static bool survives_deny(struct builder *builder, const struct plan_grant *grant)
{
	const struct rule *denied_by = plan_denied_by(builder->plan, grant->path, grant->type == FILE_DIRECTORY);
	if (!denied_by)
		return true;
	if (is_project(builder->plan, grant))
		build_error(builder, denied_by,
			    "use another --project, or list the path that the pattern matches under files.except",
			    "`%s` denies the project itself: %s", denied_by->text, grant->path);
	else
		note_denied(builder, grant, denied_by);
	/* A literal pattern: without its own grant the path may be in a tree that is not searched,
	 * and would become visible. */
	build_literal(builder, &builder->plan->deny, grant->path, denied_by);
	return false;
}

static void apply_protect(struct builder *builder, struct plan_grant *grant)
{
	const struct rule *protected_by;
	if (grant->kind != GRANT_WRITE)
		return;
	protected_by = plan_protected_by(builder->plan, grant->path, grant->type == FILE_DIRECTORY);
	if (!protected_by)
		return;
	grant->kind = GRANT_READ;
	build_note(builder, NOTE_OTHER, grant->rule, "%s is read-only: `%s` protects it", grant->path, protected_by->text);
}

static int compare_links(const void *left, const void *right)
{
	return strcmp(((const struct path_link *)left)->path, ((const struct path_link *)right)->path);
}

/* A link inside a grant is visible with it. Only links outside have to be created in the view. */
static void keep_outer_links(struct builder *builder)
{
	struct plan *plan = builder->plan;
	if (builder->links.count == 0)
		return;
	qsort(builder->links.items, builder->links.count, sizeof *builder->links.items, compare_links);
	for (size_t i = 0; i < builder->links.count; i++) {
		const struct path_link *link = &builder->links.items[i];
		if (i > 0 && strcmp(link->path, builder->links.items[i - 1].path) == 0)
			continue;
		if (!plan_grant_for(plan, link->path))
			*(struct path_link *)arena_push(plan->arena, &plan->links) = *link;
	}
}

static void keep(struct plan *plan, struct plan_grants *kept, const struct plan_grant *grant)
{
	*(struct plan_grant *)arena_push(plan->arena, kept) = *grant;
}

/* Deny and protect are checked against all grants, so that dropping one does not change the verdict
 * on the next. */
static void drop_denied(struct builder *builder)
{
	struct plan *plan = builder->plan;
	struct plan_grants kept = { 0 };
	for (size_t i = 0; i < plan->grants.count; i++)
		if (survives_deny(builder, &plan->grants.items[i]))
			keep(plan, &kept, &plan->grants.items[i]);
	for (size_t i = 0; i < kept.count; i++)
		apply_protect(builder, &kept.items[i]);
	plan->grants = kept;
}

static bool is_lifted(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->lifted.count; i++)
		if (strcmp(plan->lifted.items[i].pattern.text, path) == 0)
			return true;
	return false;
}

/* A grant inside another of its kind adds nothing, and a separate mount would make renames across
 * it fail (EXDEV). A dropped one of the user still lifts a protection that only the scan knows:
 * what a setting of git names. */
static void drop_redundant(struct builder *builder)
{
	struct plan *plan = builder->plan;
	struct plan_grants kept = { 0 };
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i], *outer = NULL;
		for (size_t k = 0; k < kept.count; k++)
			if (path_is_within(grant->path, kept.items[k].path))
				outer = &kept.items[k];
		if (!outer || outer->kind != grant->kind)
			keep(plan, &kept, grant);
		else if (grant->kind == GRANT_WRITE && grant->rule->layer >= LAYER_USER && !is_project(plan, grant) &&
			 !is_lifted(plan, grant->path))
			build_literal(builder, &plan->lifted, grant->path, grant->rule);
	}
	plan->grants = kept;
}

void build_grants_finish(struct builder *builder)
{
	struct plan *plan = builder->plan;
	build_refuse_links(builder);
	sort_grants(&plan->grants);
	for (size_t i = 0; i < plan->grants.count; i++)
		lift(builder, &plan->grants.items[i]);
	/* An absent name may be created then, as a file or as a directory. */
	for (size_t i = 0; i < builder->absent.count; i++)
		if (plan_is_writable(plan, builder->absent.items[i].path))
			lift(builder, &builder->absent.items[i]);
	drop_denied(builder);
	drop_redundant(builder);
	keep_outer_links(builder);
}
